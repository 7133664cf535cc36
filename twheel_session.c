// SPDX-License-Identifier: GPL-2.0
/*
 * What the commands on a /dev/twheel descriptor do
 *
 * A timer of a session is free, armed or unread. Starting arms it. Its
 * callback, in softirq context, puts it at the end of the session's queue of
 * events: unread. Reading the event frees it, or arms it again if it is
 * periodic. Stopping frees it while it is armed.
 *
 * An armed timer whose callback waits for the session's lock is expired for
 * everybody who holds that lock: the wheel says so (twheel_stop() and
 * twheel_restart_at() return 0), the timer is left alone, and the callback
 * queues it when it gets the lock. So no timer is freed while its callback is
 * on the way, and every started timer is either stopped once or queued once.
 *
 * A periodic timer is armed again when its event is read, as timerfd does:
 * however short its period, it costs no more than its reader takes. Its
 * deadlines stay on the grid of the first.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "twheel_compat.h"
#include "twheel_session.h"

/* Events copied under one hold of a session's lock. */
#define EVENTS_PER_LOCK		64

static unsigned int max_timers = 1U << 22;

/* At load and later: what is out of range is refused, and nothing changes. */
static int set_max_timers(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, 1, TWHEEL_TIMERS_MAX);
}

static const struct kernel_param_ops max_timers_ops = {
	.set = set_max_timers,
	.get = param_get_uint,
};

module_param_cb(max_timers, &max_timers_ops, &max_timers, 0644);
MODULE_PARM_DESC(max_timers, "Most timers of a session, up to 2^24");

static unsigned int max_sessions = 4096;
module_param(max_sessions, uint, 0644);
MODULE_PARM_DESC(max_sessions, "Most sessions");

static LIST_HEAD(sessions);		/* guarded by sessions_lock */
static unsigned int nr_sessions;	/* guarded by sessions_lock */
static DEFINE_MUTEX(sessions_lock);

static u32 timers_limit(void)
{
	return READ_ONCE(max_timers);
}

static struct twheel_session *session_of(struct twheel_utimer *ut)
{
	return twheel_chunk_of(ut)->session;
}

/* Expiry. */

static void session_expired(struct twheel_timer *timer)
{
	struct twheel_utimer *ut = container_of(timer, struct twheel_utimer,
						timer);
	struct twheel_session *s = session_of(ut);

	spin_lock(&s->lock);
	ut->expired_ns = ktime_get_ns();
	ut->state = TWHEEL_UNREAD;
	s->stats.expired++;
	s->stats.pending--;
	if (!s->closing) {
		list_add_tail(&timer->node.link, &s->events);
		s->stats.unread++;
		twheel_add_tail(timer, &s->tail);
	}
	spin_unlock(&s->lock);
}

static void session_wake(struct twheel_tail *tail)
{
	struct twheel_session *s = container_of(tail, struct twheel_session,
						tail);

	spin_lock(&s->lock);
	s->stats.wakeups++;
	spin_unlock(&s->lock);
	wake_up_interruptible_poll(&s->wait, EPOLLIN | EPOLLRDNORM);
	kill_fasync(&s->fasync, SIGIO, POLL_IN);
}

/**
 * twheel_session_readable - whether there is an event to read
 * @s: the session
 *
 * Return: true if there is.
 */
bool twheel_session_readable(struct twheel_session *s)
{
	/* Pairs with the list operations under the session's lock. */
	return !list_empty_careful(&s->events);
}

/**
 * twheel_session_pass_on - wake up another reader for what is left
 * @s: the session
 *
 * A tick wakes up one of the readers that sleep. Who has read and leaves
 * events behind passes the word on.
 */
void twheel_session_pass_on(struct twheel_session *s)
{
	if (twheel_session_readable(s))
		wake_up_interruptible_poll(&s->wait, EPOLLIN | EPOLLRDNORM);
}

/*
 * Starting. Two errors are internal: -EAGAIN asks for twheel_table_grow(),
 * -EINPROGRESS says that the timer's callback is on its way: those who are told
 * that a timer has expired are to find its event in the queue.
 */

static void arm(struct twheel_session *s, struct twheel_utimer *ut,
		ktime_t deadline)
{
	ut->state = TWHEEL_ARMED;
	s->stats.pending++;
	twheel_start_at(&ut->timer, deadline);
}

static int start_new(struct twheel_session *s, struct twheel_utimer *ut,
		     struct twheel_start *args, ktime_t now)
{
	if (args->id & TWHEEL_ID_KERNEL && args->id != TWHEEL_ID_ANY)
		return -ENOENT;
	if (s->timers >= s->max_timers)
		return -ENOSPC;
	ut = twheel_table_take(s, ut, args->id);
	if (!ut)
		return -EAGAIN;
	args->id = ut->id;
	twheel_utimer_set_up(ut, args);
	s->stats.started++;
	arm(s, ut, twheel_session_deadline(args, now));
	return 0;
}

static int start_armed(struct twheel_utimer *ut,
		       const struct twheel_start *args, ktime_t now)
{
	if (!twheel_restart_at(&ut->timer, twheel_session_deadline(args, now)))
		return -EINPROGRESS;
	twheel_utimer_set_up(ut, args);
	session_of(ut)->stats.restarted++;
	return 1;
}

static int start_unread(struct twheel_session *s, struct twheel_utimer *ut,
			const struct twheel_start *args, ktime_t now)
{
	if (!(args->flags & TWHEEL_START_REPLACE))
		return -EALREADY;
	list_del_init(&ut->timer.node.link);
	s->stats.unread--;
	s->stats.replaced++;
	s->stats.started++;
	twheel_utimer_set_up(ut, args);
	arm(s, ut, twheel_session_deadline(args, now));
	return 0;
}

static int start_locked(struct twheel_session *s, struct twheel_start *args,
			ktime_t now)
{
	struct twheel_utimer *ut;
	int ret = twheel_session_check_start(s, args);

	lockdep_assert_held(&s->lock);
	if (ret)
		return ret;
	if (args->id == TWHEEL_ID_ANY)
		return start_new(s, NULL, args, now);
	ut = twheel_table_place(s->tables, args->id);
	if (!ut || ut->state == TWHEEL_FREE || ut->id != args->id)
		return start_new(s, ut, args, now);
	if (ut->state == TWHEEL_ARMED)
		return start_armed(ut, args, now);
	return start_unread(s, ut, args, now);
}

static bool is_internal(int ret)
{
	return unlikely(ret == -EAGAIN || ret == -EINPROGRESS);
}

/**
 * twheel_session_start_locked - start a timer, and make room for it
 * @s: the session
 * @args: as in TWHEEL_IOC_START; @args->id is set to the id that was started
 * @now: what a relative start counts from, ns
 *
 * Context: Process, may sleep. Session's lock held; it is let go meanwhile if
 * memory is needed, or the timer's callback is on its way.
 * Return: as twheel_session_start().
 */
int twheel_session_start_locked(struct twheel_session *s,
				struct twheel_start *args, ktime_t now)
	__must_hold(&s->lock)
{
	int ret = start_locked(s, args, now);
	int error = 0;

	if (!is_internal(ret))
		return ret;
	s->growing++;
	while (is_internal(ret)) {
		spin_unlock_bh(&s->lock);
		if (ret == -EAGAIN)
			error = twheel_table_grow(s, args->id,
						  session_expired);
		else
			usleep_range(10, 50);
		spin_lock_bh(&s->lock);
		ret = error ?: start_locked(s, args, now);
	}
	s->growing--;
	return ret;
}

/**
 * twheel_session_start - TWHEEL_IOC_START
 * @s: the session
 * @args: as in the command; @args->id is set to the id that was started
 *
 * Context: Process, may sleep.
 * Return: 1 if the timer was pending, else 0; -EINVAL, -ENOENT, -EALREADY,
 * -ENOSPC, -ENOMEM as documented with the command.
 */
int twheel_session_start(struct twheel_session *s, struct twheel_start *args)
{
	ktime_t now = args->flags & TWHEEL_START_ABS ? 0 : ktime_get();
	int ret;

	spin_lock_bh(&s->lock);
	ret = twheel_session_start_locked(s, args, now);
	spin_unlock_bh(&s->lock);
	return ret;
}

/* Stopping. */

static int stop_unread(struct twheel_utimer *ut)
{
	/* The event stays; a periodic timer does not go on after it. */
	ut->period_ns = 0;
	return -EALREADY;
}

static int stop_locked(struct twheel_session *s, u64 id)
{
	struct twheel_utimer *ut;

	lockdep_assert_held(&s->lock);
	ut = twheel_table_find(s->tables, id);
	if (!ut)
		return twheel_table_was_read(s->tables, id) ? -EALREADY :
							      -ENOENT;
	if (ut->state == TWHEEL_UNREAD)
		return stop_unread(ut);
	if (!twheel_stop(&ut->timer))
		return -EINPROGRESS;
	s->stats.stopped++;
	s->stats.pending--;
	twheel_table_free(ut, false);
	return 0;
}

/**
 * twheel_session_stop_locked - stop a timer
 * @s: the session
 * @id: the timer, a number of this session's
 *
 * Context: Process, may sleep. Session's lock held; it is let go meanwhile if
 * the timer's callback is on its way.
 * Return: as twheel_session_stop().
 */
int twheel_session_stop_locked(struct twheel_session *s, u64 id)
	__must_hold(&s->lock)
{
	int ret;

	while ((ret = stop_locked(s, id)) == -EINPROGRESS) {
		spin_unlock_bh(&s->lock);
		usleep_range(10, 50);
		spin_lock_bh(&s->lock);
	}
	return ret;
}

/**
 * twheel_session_stop - TWHEEL_IOC_STOP
 * @s: the session
 * @id: the timer
 *
 * Context: Process.
 * Return: 0; -EINVAL, -ENOENT, -EALREADY as documented with the command.
 */
int twheel_session_stop(struct twheel_session *s, u64 id)
{
	int ret = -EINVAL;

	spin_lock_bh(&s->lock);
	if (twheel_session_has_number(s, id))
		ret = twheel_session_stop_locked(s, id);
	spin_unlock_bh(&s->lock);
	return ret;
}

/* Looking. */

static void get_utimer(struct twheel_utimer *ut, struct twheel_get *get)
{
	get->user_data = ut->user_data;
	get->period_ns = ut->period_ns;
	get->remaining_ns = 0;
	get->state = TWHEEL_STATE_EXPIRED;
	if (ut->state == TWHEEL_ARMED) {
		get->state = TWHEEL_STATE_PENDING;
		get->remaining_ns = twheel_remaining(&ut->timer);
	}
}

/**
 * twheel_session_get - TWHEEL_IOC_GET
 * @s: the session
 * @get: as in the command
 *
 * Context: Process.
 * Return: 0; -EINVAL, -ENOENT as documented with the command.
 */
int twheel_session_get(struct twheel_session *s, struct twheel_get *get)
{
	struct twheel_utimer *ut;
	int ret = -EINVAL;

	spin_lock_bh(&s->lock);
	if (twheel_session_has_number(s, get->id)) {
		ut = twheel_table_find(s->tables, get->id);
		ret = ut ? 0 : -ENOENT;
		if (ut)
			get_utimer(ut, get);
	}
	spin_unlock_bh(&s->lock);
	return ret;
}

/**
 * twheel_session_stats - TWHEEL_IOC_STATS
 * @s: the session
 * @stats: receives the counters
 *
 * Context: Process.
 */
void twheel_session_stats(struct twheel_session *s, struct twheel_stats *stats)
{
	spin_lock_bh(&s->lock);
	*stats = s->stats;
	spin_unlock_bh(&s->lock);
}

/*
 * Copying to user space with the session's lock held: what is copied and what
 * is taken out of the session stay the same, with no state in between that
 * others could meet. A page that is not there makes the copy fail; then the
 * lock is let go, the page is fetched, and all is tried again; not for ever,
 * since there are pages that can be fetched and never be written.
 */
#define FETCH_TRIES	16

static int fetch_page(void __user *to, size_t size, int *tries)
{
	if (!--*tries || fatal_signal_pending(current) ||
	    fault_in_safe_writeable((char __user *)to, size))
		return -EFAULT;
	cond_resched();
	return 0;
}

/* Draining. */

/*
 * Returns 1 if @ut was stopped and returned, 0 if it is not armed, -EFAULT, or
 * -EINPROGRESS: who is told that nothing is pending is to find the event of a
 * timer that was just expiring in the queue.
 */
static int drain_one(struct twheel_session *s, struct twheel_utimer *ut,
		     struct twheel_drained __user *to)
{
	struct twheel_drained before, drained = {
		.id		= ut->id,
		.user_data	= ut->user_data,
		.period_ns	= ut->period_ns,
	};

	if (ut->state != TWHEEL_ARMED)
		return 0;
	if (!twheel_pending(&ut->timer))
		return -EINPROGRESS;
	drained.remaining_ns = twheel_remaining(&ut->timer);
	if (copy_from_user_nofault(&before, to, sizeof(before)) ||
	    copy_to_user_nofault(to, &drained, sizeof(drained)))
		return -EFAULT;
	if (!twheel_stop(&ut->timer)) {
		/* Expired just now. If this fails nobody can see it. */
		if (copy_to_user_nofault(to, &before, sizeof(before)))
			return -EFAULT;
		return -EINPROGRESS;
	}
	s->stats.stopped++;
	s->stats.pending--;
	twheel_table_free(ut, false);
	return 1;
}

/*
 * Drain the chunk at @index or, within its page of pointers, after it, and move
 * @index on; -ENOENT if that was the last page, -ENOSPC if the room is used
 * up. The chunk goes when its last timer is freed: what is left to do is kept
 * here.
 */
static int drain_chunk(struct twheel_session *s, struct twheel_table *table,
		       u32 *index, struct twheel_drained __user *to, u32 room,
		       u32 *count)
{
	struct twheel_chunk *chunk;
	unsigned long used;
	int ret;

	if (*index >= table->nr_indexes)
		return -ENOENT;
	chunk = twheel_table_next(table, index);
	if (!chunk)
		return 0;
	for (used = ~chunk->free & TWHEEL_CHUNK_FULL; used; used &= used - 1) {
		if (*count == room)
			return -ENOSPC;
		ret = drain_one(s, &chunk->timers[__ffs(used)], to + *count);
		if (ret < 0)
			return ret;
		*count += ret;
	}
	++*index;
	return 0;
}

static int drain_table(struct twheel_session *s, struct twheel_table *table,
		       struct twheel_drained __user *to, u32 room, u32 *count)
{
	int tries = FETCH_TRIES;
	u32 index = 0;
	int ret;

	for (;;) {
		spin_lock_bh(&s->lock);
		ret = drain_chunk(s, table, &index, to, room, count);
		spin_unlock_bh(&s->lock);
		if (ret == -EFAULT &&
		    !fetch_page(to + *count, sizeof(*to), &tries))
			continue;
		if (ret == -EINPROGRESS)
			usleep_range(10, 50);
		else if (ret)
			return ret == -ENOENT ? 0 : ret;
		tries = FETCH_TRIES;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
}

/**
 * twheel_session_drain - TWHEEL_IOC_DRAIN
 * @s: the session
 * @to: receives the timers that were stopped
 * @room: how many fit
 * @count: set to how many were stopped
 *
 * Context: Process, may sleep.
 * Return: 0, or -EFAULT if @to could not be written; the timers of which
 * nothing could be written are pending as before.
 */
int twheel_session_drain(struct twheel_session *s,
			 struct twheel_drained __user *to, u32 room, u32 *count)
{
	int i, ret = 0;

	*count = 0;
	for (i = 0; i < TWHEEL_NR_TABLES && !ret; i++)
		ret = drain_table(s, &s->tables[i], to, room, count);
	return *count ? 0 : ret;
}

/* Reading. */

static u64 overruns_of(const struct twheel_utimer *ut, u64 deadline,
		       ktime_t now)
{
	if (likely(!ut->period_ns) || now < deadline)
		return 0;
	return div64_u64(now - deadline, ut->period_ns);
}

/*
 * Field by field: a copy of 48 bytes through the stack takes twice as long. The
 * last field first: nothing is written of an event that ends in a page that is
 * not there.
 */
static bool put_event(struct twheel_event __user *to,
		      const struct twheel_utimer *ut, u64 deadline,
		      u64 overruns)
{
	u32 flags = ut->period_ns ? TWHEEL_EVENT_PERIODIC : 0;

	if (!user_write_access_begin(to, sizeof(*to)))
		return false;
	unsafe_put_user(0, &to->reserved, fault);
	unsafe_put_user(flags, &to->flags, fault);
	unsafe_put_user(overruns, &to->overruns, fault);
	unsafe_put_user(ut->expired_ns, &to->expired_ns, fault);
	unsafe_put_user(deadline, &to->deadline_ns, fault);
	unsafe_put_user(ut->user_data, &to->user_data, fault);
	unsafe_put_user(ut->id, &to->id, fault);
	user_write_access_end();
	return true;
fault:
	user_write_access_end();
	return false;
}

/* list_del_init() of Debian's kernels checks first: 20 instructions of 120. */
static void take_out_event(struct twheel_utimer *ut)
{
	struct list_head *link = &ut->timer.node.link;

	__list_del(link->prev, link->next);
	INIT_LIST_HEAD(link);
}

/* The event has reached its reader. */
static void finish_event(struct twheel_session *s, struct twheel_utimer *ut,
			 u64 deadline, u64 overruns)
{
	u64 next;

	take_out_event(ut);
	s->stats.unread--;
	s->stats.delivered++;
	if (likely(!ut->period_ns)) {
		twheel_table_free(ut, true);
		return;
	}
	s->stats.overruns += overruns;
	s->stats.rearmed++;
	/* No overflow: now is less than 2^63, and so is the period. */
	next = deadline + (overruns + 1) * ut->period_ns;
	arm(s, ut, min_t(u64, next, KTIME_MAX));
}

/*
 * Read up to @room events that have expired by @now: what a reader arms again
 * while it reads is for its next read, or a short period would keep it here.
 * Returns how many were read, or -EFAULT if not even one could be.
 */
static int read_events(struct twheel_session *s, struct twheel_event __user *to,
		       int room, ktime_t now)
{
	struct twheel_utimer *ut;
	u64 deadline, overruns;
	int count;

	lockdep_assert_held(&s->lock);
	for (count = 0; count < room; count++) {
		ut = list_first_entry_or_null(&s->events, struct twheel_utimer,
					      timer.node.link);
		if (!ut || ut->expired_ns > now)
			break;
		deadline = twheel_expired_deadline(&ut->timer, s->tick_ns);
		overruns = overruns_of(ut, deadline, now);
		if (!put_event(to + count, ut, deadline, overruns))
			return count ?: -EFAULT;
		finish_event(s, ut, deadline, overruns);
	}
	return count;
}

/**
 * twheel_session_read - read(2) without waiting
 * @s: the session
 * @to: where to
 * @room: how many events fit
 *
 * Context: Process, may sleep.
 * Return: how many events were read; 0 if there was none; -EFAULT, with all
 * events still there.
 */
ssize_t twheel_session_read(struct twheel_session *s,
			    struct twheel_event __user *to, size_t room)
{
	ktime_t now = ktime_get();
	int tries = FETCH_TRIES;
	size_t done = 0;
	int ret;

	while (done < room) {
		spin_lock_bh(&s->lock);
		pagefault_disable();
		ret = read_events(s, to + done, min_t(size_t, room - done,
						      EVENTS_PER_LOCK), now);
		pagefault_enable();
		spin_unlock_bh(&s->lock);
		if (!ret)
			break;
		if (ret > 0) {
			done += ret;
			tries = FETCH_TRIES;
			if (signal_pending(current))
				break;
			cond_resched();
		} else if (fetch_page(to + done, sizeof(*to), &tries)) {
			return done ?: -EFAULT;
		}
	}
	return done;
}

/* Setting up. */

static int check_setup(const struct twheel_setup *setup)
{
	if (setup->flags & ~TWHEEL_SETUP_PRIVATE ||
	    setup->max_timers > timers_limit())
		return -EINVAL;
	if (!(setup->flags & TWHEEL_SETUP_PRIVATE) &&
	    (setup->scheme || setup->mode || setup->slots || setup->tick_ns))
		return -EINVAL;
	return 0;
}

static struct twheel_shared_wheel *setup_wheel(const struct twheel_setup *setup)
{
	struct twheel_config config = {
		.name		= "private",
		.scheme		= setup->scheme,
		.mode		= setup->mode,
		.tick_ns	= setup->tick_ns,
		.slots		= setup->slots,
	};

	if (!(setup->flags & TWHEEL_SETUP_PRIVATE))
		return NULL;
	return twheel_shared_get(&config);
}

static void use_wheel(struct twheel_session *s,
		      struct twheel_shared_wheel *shared)
{
	struct twheel_config config;

	s->shared = shared;
	s->wheel = shared ? shared->wheel : twheel_default();
	twheel_get_config(s->wheel, &config);
	s->tick_ns = config.tick_ns;
}

/*
 * A start that failed for want of memory may have left parts of a table, made
 * for another limit.
 */
static void take_tables(struct twheel_session *s, struct twheel_table *tables)
{
	int i;

	for (i = 0; i < TWHEEL_NR_TABLES; i++) {
		tables[i] = s->tables[i];
		twheel_table_init(&s->tables[i]);
	}
}

static void destroy_tables(struct twheel_table *tables)
{
	int i;

	for (i = 0; i < TWHEEL_NR_TABLES; i++)
		twheel_table_destroy(&tables[i]);
}

/**
 * twheel_session_setup - TWHEEL_IOC_SETUP
 * @s: the session
 * @setup: as in the command
 *
 * Context: Process, may sleep.
 * Return: 0; -EBUSY after the first start; -EINVAL, -ENOSPC, -ENOMEM.
 */
int twheel_session_setup(struct twheel_session *s,
			 const struct twheel_setup *setup)
{
	struct twheel_table old[TWHEEL_NR_TABLES] = {};
	struct twheel_shared_wheel *shared;
	int ret = check_setup(setup);

	if (ret)
		return ret;
	shared = setup_wheel(setup);
	if (IS_ERR(shared))
		return PTR_ERR(shared);
	spin_lock_bh(&s->lock);
	if (s->stats.started || s->growing) {
		ret = -EBUSY;
	} else {
		take_tables(s, old);
		swap(s->shared, shared);
		use_wheel(s, s->shared);
		s->max_timers = setup->max_timers ?: timers_limit();
	}
	spin_unlock_bh(&s->lock);
	destroy_tables(old);
	twheel_shared_put(shared);
	return ret;
}

/**
 * twheel_session_info - TWHEEL_IOC_INFO
 * @s: the session
 * @info: receives what the command returns
 *
 * Context: Process.
 */
void twheel_session_info(struct twheel_session *s, struct twheel_info *info)
{
	struct twheel_config config;

	spin_lock_bh(&s->lock);
	twheel_get_config(s->wheel, &config);
	info->max_timers = s->max_timers;
	spin_unlock_bh(&s->lock);
	info->scheme = config.scheme;
	info->mode = config.mode;
	info->slots = config.slots;
	info->tick_ns = config.tick_ns;
	info->max_interval_ns = KTIME_MAX;
}

/* Opening and closing. */

static int count_session(struct twheel_session *s)
{
	int ret = 0;

	mutex_lock(&sessions_lock);
	if (nr_sessions >= READ_ONCE(max_sessions)) {
		ret = -ENOSPC;
	} else {
		nr_sessions++;
		list_add_tail(&s->list, &sessions);
	}
	mutex_unlock(&sessions_lock);
	return ret;
}

/**
 * twheel_session_open - make a session on the default wheel
 *
 * Context: Process, may sleep.
 * Return: the session, or ERR_PTR() of -ENOMEM or -ENOSPC.
 */
struct twheel_session *twheel_session_open(void)
{
	struct twheel_session *s = kzalloc(sizeof(*s), GFP_SESSION);
	int i, ret;

	if (!s)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->events);
	init_waitqueue_head(&s->wait);
	s->tail.fn = session_wake;
	s->max_timers = timers_limit();
	s->pid = task_tgid_nr(current);
	use_wheel(s, NULL);
	for (i = 0; i < TWHEEL_NR_TABLES; i++)
		twheel_table_init(&s->tables[i]);
	ret = count_session(s);
	if (ret) {
		kfree(s);
		return ERR_PTR(ret);
	}
	return s;
}

/* Nothing is queued any more: what is armed is stopped or expires in vain. */
static void stop_chunk(struct twheel_chunk *chunk)
{
	unsigned int i;

	for (i = 0; i < TWHEEL_CHUNK_TIMERS; i++)
		if (!(chunk->free & BIT(i)) &&
		    READ_ONCE(chunk->timers[i].state) == TWHEEL_ARMED)
			twheel_stop_sync(&chunk->timers[i].timer);
}

static void stop_table(struct twheel_table *table)
{
	struct twheel_chunk *chunk;
	u32 index = 0;

	while (index < table->nr_indexes) {
		chunk = twheel_table_next(table, &index);
		if (chunk) {
			stop_chunk(chunk);
			index++;
		}
		cond_resched();
	}
}

/**
 * twheel_session_close - stop everything and free the session
 * @s: the session, which nobody else uses any more but its callbacks
 *
 * Context: Process, may sleep.
 */
void twheel_session_close(struct twheel_session *s)
{
	int i;

	mutex_lock(&sessions_lock);
	list_del(&s->list);
	nr_sessions--;
	mutex_unlock(&sessions_lock);

	spin_lock_bh(&s->lock);
	s->closing = true;
	spin_unlock_bh(&s->lock);
	for (i = 0; i < TWHEEL_NR_TABLES; i++)
		stop_table(&s->tables[i]);
	/*
	 * Unread timers are not pending, and the callback that queued the
	 * last of them has let the session's lock go: take it once more.
	 */
	spin_lock_bh(&s->lock);
	spin_unlock_bh(&s->lock);
	destroy_tables(s->tables);
	twheel_shared_put(s->shared);
	/* The tail that such a callback added runs within its softirq. */
	kfree_rcu(s, rcu);
}

/* For /proc/twheel. */

/**
 * twheel_session_count - number of open sessions
 *
 * Return: that.
 */
unsigned int twheel_session_count(void)
{
	return READ_ONCE(nr_sessions);
}

static void show_session(struct seq_file *seq, struct twheel_session *s)
{
	struct twheel_stats stats;

	twheel_session_stats(s, &stats);
	seq_printf(seq, "session %d\n", s->pid);
	seq_printf(seq, "  started %llu\n", stats.started);
	seq_printf(seq, "  restarted %llu\n", stats.restarted);
	seq_printf(seq, "  stopped %llu\n", stats.stopped);
	seq_printf(seq, "  expired %llu\n", stats.expired);
	seq_printf(seq, "  pending %llu\n", stats.pending);
	seq_printf(seq, "  rearmed %llu\n", stats.rearmed);
	seq_printf(seq, "  delivered %llu\n", stats.delivered);
	seq_printf(seq, "  replaced %llu\n", stats.replaced);
	seq_printf(seq, "  unread %llu\n", stats.unread);
	seq_printf(seq, "  overruns %llu\n", stats.overruns);
	seq_printf(seq, "  wakeups %llu\n", stats.wakeups);
}

/**
 * twheel_session_show_all - the sessions' part of /proc/twheel
 * @seq: where to
 */
void twheel_session_show_all(struct seq_file *seq)
{
	struct twheel_session *s;

	mutex_lock(&sessions_lock);
	list_for_each_entry(s, &sessions, list)
		show_session(seq, s);
	mutex_unlock(&sessions_lock);
}

/**
 * twheel_session_init - what sessions need
 *
 * Return: 0 or -ENOMEM.
 */
int twheel_session_init(void)
{
	return twheel_table_cache_init();
}

/**
 * twheel_session_exit - undo twheel_session_init()
 */
void twheel_session_exit(void)
{
	twheel_table_cache_exit();
}
