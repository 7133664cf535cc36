// SPDX-License-Identifier: GPL-2.0
/*
 * What a session hands to its user: events that are read, timers that are
 * drained
 *
 * Copying to user space with the session's lock held: what is copied and what
 * is taken out of the session stay the same, with no state in between that
 * others could meet. A page that is not there makes the copy fail; then the
 * lock is let go, the page is fetched, and all is tried again; not for ever,
 * since there are pages that can be fetched and never be written.
 *
 * A periodic timer is armed again when its event is read, as timerfd does:
 * however short its period, it costs no more than its reader takes. Its
 * deadlines stay on the grid of the first.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "timer.h"

/* Events copied under one hold of a session's lock. */
#define EVENTS_PER_LOCK		64

/* How often a page is fetched for the same thing. */
#define FETCH_TRIES	16

static int fetch_page(void __user *to, size_t size, int *tries)
{
	if (!--*tries || fatal_signal_pending(current) ||
	    fault_in_safe_writeable((char __user *)to, size))
		return -EFAULT;
	cond_resched();
	return 0;
}

/* Waking readers. */

/**
 * twheel_session_wake - wake up who waits for events, once per tick
 * @end: that of the session and this CPU
 *
 * Context: Softirq.
 */
void twheel_session_wake(struct twheel_tick_end *end)
{
	struct twheel_session *s = container_of(end, struct twheel_session_end,
						tick_end)->session;

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
	twheel_utimer_arm(s, ut, min_t(u64, next, KTIME_MAX));
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
	unsigned int i;
	int ret;

	if (*index >= table->nr_indexes)
		return -ENOENT;
	chunk = twheel_table_next(table, index);
	if (!chunk)
		return 0;
	used = ~chunk->free;
	for_each_set_bit(i, &used, TWHEEL_CHUNK_TIMERS) {
		if (*count == room)
			return -ENOSPC;
		ret = drain_one(s, &chunk->timers[i], to + *count);
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
