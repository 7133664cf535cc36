// SPDX-License-Identifier: GPL-2.0 OR MIT
/**
 * DOC: The timers of a session: starting, expiring, stopping, looking
 *
 * A timer of a session is free, armed or unread. Starting arms it. Its
 * callback, in softirq context, appends it to the session's queue of events:
 * unread. Reading the event frees the timer, or arms it again if it is
 * periodic. Stopping frees an armed timer, and an unread one if its event is
 * withdrawn.
 *
 * An id may have a word, in which the program stores a deadline. The callback
 * reads the word first, and may arm the timer again or free it.
 *
 * An armed timer whose callback waits for the session's lock counts as expired
 * for the holder of the lock: twheel_stop() and twheel_restart_at() return 0.
 * The holder leaves it alone, and the callback then queues the timer or obeys
 * its word. So no timer is freed while its callback is about to run, and every
 * started timer is either stopped once or queued once.
 *
 * A timer with a socket is watching instead of armed, so that other timers do
 * not pay for it. When it is due, its socket may delay it, as a word does.
 * After the expiry it is like all others, and no longer holds the socket.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/smp.h>

#include "core/compat.h"
#include "core/trace.h"
#include "timer.h"

/**
 * twheel_session_from_caller - convert a time from the caller's clock
 * @s: the session
 * @time: the time, at most KTIME_MAX, ns
 *
 * A time before the begin of the caller's time namespace becomes 0.
 *
 * Context: Process.
 * Return: the time on the clock of the initial time namespace, ns.
 */
ktime_t twheel_session_from_caller(const struct twheel_session *s, u64 time)
{
	return twheel_session_to_ours(time, twheel_session_offset(s));
}

static struct twheel_session *session_of(struct twheel_utimer *ut)
{
	return twheel_chunk_of(ut)->session;
}

/* Expiry */

/*
 * Read the word of a timer that is due at @time. Returns whether the word
 * delays or stops the timer. @pending is true if the timer is not due yet.
 * Inlined into the callback, which holds the session's lock.
 */
static __always_inline bool heed_word(struct twheel_session *s,
				      struct twheel_utimer *ut, ktime_t time,
				      bool pending)
{
	u64 word = twheel_session_words_read(s->words, ut->id);
	ktime_t deadline = twheel_session_word_deadline(s, word);

	if (deadline <= time)
		return false;
	trace_twheel_word(&ut->timer, s->number, ut->id, word);
	if (word == TWHEEL_WORD_STOP) {
		s->stats.stopped_by_store++;
		if (pending)
			twheel_stop(&ut->timer);
		twheel_utimer_end_quietly(s, ut);
	} else {
		s->stats.carried++;
		twheel_again_at(&ut->timer, deadline);
	}
	return true;
}

/*
 * Returns the tick at which the timer is due. A later word is at least a tick
 * away, so extending the timer does not need the clock. In a late run the timer
 * may be due once more, at a tick that has passed too.
 */
static ktime_t due_time(const struct twheel_session *s,
			const struct twheel_utimer *ut)
{
	return ut->timer.node.expires * s->tick_ns;
}

/* Nonzero if the host reads the session's clock once for a run of the wheel. */
#ifndef TWHEEL_RUN_NS
#define TWHEEL_RUN_NS(s)	((void)(s), 0)
#endif

static u64 expiry_time(const struct twheel_session *s)
{
	return TWHEEL_RUN_NS(s) ?: twheel_session_time(s, ktime_get_ns());
}

/* Queue the event of an expired timer. @state is its state from now on. */
static __always_inline void queue_event(struct twheel_session *s,
					struct twheel_utimer *ut, u64 now,
					enum twheel_utimer_state state)
{
	ut->expired_ns = now;
	ut->state = state;
	s->stats.expired++;
	s->stats.unread++;
	if (!s->closing) {
		twheel_events_add(&s->events, ut);
		if (likely(!s->wake_ns))
			twheel_session_wake_at_tick_end(s, &ut->timer, 1);
		else
			twheel_session_wake_later(s, &ut->timer, now);
	}
}

/*
 * A timer with a socket checks it every 34 s, counted back from the deadline,
 * so that a closed socket is released within a minute. As a shift, of ns.
 */
#define CHECK_SHIFT	35

/* Returns the first time after @now at which the timer checks its socket. */
static ktime_t next_check(struct twheel_utimer *ut, ktime_t now, ktime_t deadline)
{
	ut->checks = deadline > now ? (u64)(deadline - now - 1) >> CHECK_SHIFT : 0;
	return deadline - ((s64)ut->checks << CHECK_SHIFT);
}

/* Returns the deadline of a timer whose next check is at @look. */
static ktime_t after_checks(const struct twheel_utimer *ut, ktime_t look)
{
	return look + ((s64)ut->checks << CHECK_SHIFT);
}

/* Returns whether the socket delays or ends the timer. Else releases it. Rare. */
static noinline bool heed_socket(struct twheel_session *s, struct twheel_utimer *ut)
{
	ktime_t look = twheel_expired_deadline(&ut->timer, s->tick_ns);
	ktime_t due = after_checks(ut, look);
	ktime_t deadline = twheel_session_deadline_of(s, ut, due);

	if (!deadline) {
		twheel_utimer_end_quietly(s, ut);
		return true;
	}
	if (deadline > look) {
		s->stats.carried += deadline != due;
		twheel_again_at(&ut->timer, next_check(ut, look, deadline));
		return true;
	}
	twheel_utimer_let_go(s, ut);
	return false;
}

/*
 * Read the word again after reading the clock. A word stored before that
 * counts, whenever the timer was due.
 */
static void session_expired(struct twheel_timer *timer)
{
	struct twheel_utimer *ut = container_of(timer, struct twheel_utimer,
						timer);
	struct twheel_session *s = session_of(ut);
	enum twheel_utimer_state state = TWHEEL_UNREAD;
	u64 now;

	spin_lock(&s->lock);
	if (unlikely(ut->state == TWHEEL_WATCHING)) {
		if (heed_socket(s, ut))
			goto unlock;
		state = TWHEEL_ENDED;
		now = expiry_time(s);
	} else {
		if (twheel_utimer_has_word(s, ut) &&
		    heed_word(s, ut, due_time(s, ut), false))
			goto unlock;
		now = expiry_time(s);
		if (!TWHEEL_RUN_NS(s) && twheel_utimer_has_word(s, ut) &&
		    heed_word(s, ut, now, false))
			goto unlock;
	}
	queue_event(s, ut, now, state);
unlock:
	spin_unlock(&s->lock);
}

/*
 * Starting
 *
 * Two errors are internal. -EAGAIN asks for make_room(). -EINPROGRESS says that
 * the timer's callback is about to run: a caller must not learn of an expiry
 * before the event is in the queue.
 */

/* Take a free timer, and return it in *@ut. */
static __always_inline int take_new(struct twheel_session *s,
				    struct twheel_utimer **ut,
				    struct twheel_start *args)
{
	if (args->id & TWHEEL_ID_KERNEL && args->id != TWHEEL_ID_ANY)
		return -ENOENT;
	if (s->timers >= s->max_timers)
		return -ENOSPC;
	*ut = twheel_session_take(s, *ut, args->id);
	if (!*ut)
		return -EAGAIN;
	args->id = (*ut)->id;
	return 0;
}

static int start_new(struct twheel_session *s, struct twheel_utimer *ut,
		     struct twheel_start *args, ktime_t now)
{
	int ret = take_new(s, &ut, args);

	if (ret)
		return ret;
	twheel_utimer_set_up(ut, args);
	twheel_utimer_arm(ut, twheel_session_deadline(s, args, now));
	return 0;
}

static int start_armed(struct twheel_session *s, struct twheel_utimer *ut,
		       const struct twheel_start *args, ktime_t now)
{
	if (!twheel_restart_at(&ut->timer, twheel_session_deadline(s, args, now)))
		return -EINPROGRESS;
	twheel_utimer_set_up(ut, args);
	s->stats.restarted++;
	return 1;
}

static struct twheel_utimer *event_before(struct twheel_session *s,
					  const struct twheel_utimer *ut)
{
	u64 id = ut->before & ~TWHEEL_EVENTS_KERNEL;

	if (ut->before & TWHEEL_EVENTS_KERNEL)
		id |= TWHEEL_ID_KERNEL;
	return twheel_table_place(s->tables, id);
}

/* Remove an event that will not be read. */
static void take_back_event(struct twheel_session *s, struct twheel_utimer *ut)
{
	struct twheel_utimer *next = *twheel_events_next(ut), *before;

	s->stats.unread--;
	if (ut == s->events.first) {
		twheel_events_take_first(&s->events);
		return;
	}
	before = event_before(s, ut);
	*twheel_events_next(before) = next;
	if (next)
		next->before = ut->before;
	else
		s->events.last = before;
}

/* Remove a timer that is not free. Returns 1 if it was pending. */
static int take_out(struct twheel_session *s, struct twheel_utimer *ut, u32 flags)
{
	bool armed = twheel_utimer_is_armed(ut);

	if (!armed && !(flags & TWHEEL_START_REPLACE))
		return -EALREADY;
	if (!twheel_session_wheel_ready(s))
		return -EAGAIN;
	if (!armed) {
		take_back_event(s, ut);
		s->stats.replaced++;
		return 0;
	}
	if (!twheel_stop(&ut->timer))
		return -EINPROGRESS;
	if (ut->state == TWHEEL_WATCHING)
		twheel_utimer_let_go(s, ut);
	s->stats.restarted++;
	return 1;
}

/* Start a timer that is unread or watching. */
static int start_other(struct twheel_session *s, struct twheel_utimer *ut,
		       const struct twheel_start *args, ktime_t now)
{
	int ret = take_out(s, ut, args->flags);

	if (ret < 0)
		return ret;
	twheel_utimer_set_up(ut, args);
	twheel_utimer_arm(ut, twheel_session_deadline(s, args, now));
	return ret;
}

static int check_idle(const struct twheel_session *s, const struct twheel_start *args)
{
	if (args->flags & ~(TWHEEL_START_IDLE | TWHEEL_START_REPLACE) ||
	    args->period_ns || args->expires_ns > TWHEEL_IDLE_MAX_NS)
		return -EINVAL;
	return twheel_session_check_numbers(s, args);
}

static noinline int start_idle(struct twheel_session *s, struct twheel_start *args)
{
	struct twheel_utimer *ut;
	int ret = check_idle(s, args);
	struct sock *sk;
	ktime_t now;

	if (ret)
		return ret;
	sk = twheel_session_hold_sock(s, args->fd);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	ut = twheel_table_place(s->tables, args->id);
	if (ut && ut->state != TWHEEL_FREE && ut->id == args->id)
		ret = take_out(s, ut, args->flags);
	else
		ret = take_new(s, &ut, args);
	if (ret < 0) {
		twheel_session_put_sock(s, sk);
		return ret;
	}
	ut->user_data = args->user_data;
	ut->state = TWHEEL_WATCHING;
	twheel_session_watch(ut, sk, args->expires_ns);
	now = twheel_session_time(s, ktime_get());
	twheel_start_at(&ut->timer, next_check(ut, now, now + args->expires_ns));
	return ret;
}

static int start_locked(struct twheel_session *s, struct twheel_start *args,
			ktime_t now)
{
	struct twheel_utimer *ut;
	int ret;

	lockdep_assert_held(&s->lock);
	if (unlikely(args->flags & TWHEEL_START_IDLE))
		return start_idle(s, args);
	ret = twheel_session_check_start(s, args);
	if (ret)
		return ret;
	if (args->id == TWHEEL_ID_ANY)
		return start_new(s, NULL, args, now);
	ut = twheel_table_place(s->tables, args->id);
	if (!ut || ut->state == TWHEEL_FREE || ut->id != args->id)
		return start_new(s, ut, args, now);
	if (ut->state == TWHEEL_ARMED)
		return start_armed(s, ut, args, now);
	return start_other(s, ut, args, now);
}

static int make_room(struct twheel_session *s, u64 id)
{
	int ret = twheel_session_wheel_need(s);

	return ret ?: twheel_table_grow(s, id, session_expired);
}

/* Resolve whatever blocked the start, then retry. Rare. */
static noinline int start_slowly(struct twheel_session *s,
				 struct twheel_start *args, ktime_t now, int ret)
	__must_hold(&s->lock)
{
	int error = 0;

	s->making_room++;
	while (ret == -EAGAIN || ret == -EINPROGRESS) {
		spin_unlock_bh(&s->lock);
		if (ret == -EAGAIN)
			error = make_room(s, args->id);
		else
			usleep_range(10, 50);
		spin_lock_bh(&s->lock);
		ret = error ?: start_locked(s, args, now);
	}
	s->making_room--;
	return ret;
}

/**
 * twheel_session_start_locked - start a timer, and make room for it
 * @s: the session
 * @args: argument of TWHEEL_IOC_START. @args->id is set to the id that was started
 * @now: begin of a relative time, on CLOCK_MONOTONIC, ns
 *
 * Context: Process, may sleep. Session's lock held. Releases the lock
 * temporarily if memory is needed, or the timer's callback is about to run.
 * Return: as twheel_session_start().
 */
int twheel_session_start_locked(struct twheel_session *s,
				struct twheel_start *args, ktime_t now)
	__must_hold(&s->lock)
{
	int ret = start_locked(s, args, now);

	if (likely(ret >= 0))
		return ret;
	return start_slowly(s, args, now, ret);
}

/**
 * twheel_session_start - TWHEEL_IOC_START
 * @s: the session
 * @args: argument of the command. @args->id is set to the id that was started
 *
 * Context: Process, may sleep.
 * Return: 1 if the timer was pending, else 0. -EINVAL, -ENOENT, -EALREADY,
 * -ENOSPC, -ENOMEM, and with a descriptor -EBADF, -ENOTSOCK, -EOPNOTSUPP,
 * -ENOTCONN as documented for the command.
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

/* Stopping */

static int stop_unread(struct twheel_session *s, struct twheel_utimer *ut,
		       u32 flags)
{
	if (!(flags & TWHEEL_STOP_WITHDRAW)) {
		twheel_utimer_end(ut);
		return -EALREADY;
	}
	take_back_event(s, ut);
	s->stats.withdrawn++;
	twheel_table_free(ut);
	return 1;
}

static int stop_locked(struct twheel_session *s, u64 id, u32 flags)
{
	struct twheel_utimer *ut;

	lockdep_assert_held(&s->lock);
	ut = twheel_table_find(s->tables, id);
	if (!ut)
		return -ENOENT;
	if (!twheel_utimer_is_armed(ut))
		return stop_unread(s, ut, flags);
	return twheel_utimer_stop(s, ut) ? 0 : -EINPROGRESS;
}

/**
 * twheel_session_stop_locked - stop a timer
 * @s: the session
 * @id: the timer, with a valid number
 * @flags: TWHEEL_STOP_*
 *
 * Context: Process, may sleep. Session's lock held. Releases the lock
 * temporarily if the timer's callback is about to run.
 * Return: as twheel_session_stop().
 */
int twheel_session_stop_locked(struct twheel_session *s, u64 id, u32 flags)
	__must_hold(&s->lock)
{
	int ret;

	while ((ret = stop_locked(s, id, flags)) == -EINPROGRESS) {
		spin_unlock_bh(&s->lock);
		usleep_range(10, 50);
		spin_lock_bh(&s->lock);
	}
	return ret;
}

/**
 * twheel_session_stop - TWHEEL_IOC_STOP
 * @s: the session
 * @stop: argument of the command
 *
 * Context: Process, may sleep.
 * Return: 0 if the timer was pending, 1 if its event was withdrawn. -EINVAL,
 * -ENOENT, -EALREADY as documented for the command.
 */
int twheel_session_stop(struct twheel_session *s, const struct twheel_stop *stop)
{
	int ret = -EINVAL;

	if ((stop->flags & ~TWHEEL_STOP_WITHDRAW) | stop->reserved)
		return ret;
	spin_lock_bh(&s->lock);
	if (twheel_session_has_number(s, stop->id))
		ret = twheel_session_stop_locked(s, stop->id, stop->flags);
	spin_unlock_bh(&s->lock);
	return ret;
}

/* Looking */

/**
 * twheel_session_entry - describe a timer
 * @s: the session
 * @ut: a timer, not free
 * @entry: result
 *
 * Context: Process. Session's lock held.
 */
void twheel_session_entry(struct twheel_session *s, struct twheel_utimer *ut,
			  struct twheel_entry *entry)
{
	bool armed = twheel_utimer_is_armed(ut);
	ktime_t now = twheel_session_time(s, ktime_get());
	ktime_t deadline = armed ? twheel_deadline(&ut->timer) :
			   twheel_expired_deadline(&ut->timer, s->tick_ns);

	if (ut->state == TWHEEL_WATCHING)
		deadline = after_checks(ut, deadline);
	*entry = (struct twheel_entry) {
		.id		= ut->id,
		.user_data	= ut->user_data,
		.deadline_ns	= twheel_session_to_caller(deadline,
							   twheel_session_offset(s)),
		.remaining_ns	= armed && deadline > now ? deadline - now : 0,
		.period_ns	= ut->state == TWHEEL_ENDED ||
				  ut->state == TWHEEL_WATCHING ? 0 : ut->period_ns,
		.state		= armed ? TWHEEL_STATE_PENDING :
					  TWHEEL_STATE_EXPIRED,
	};
}

/**
 * twheel_session_get - TWHEEL_IOC_GET
 * @s: the session
 * @entry: argument of the command
 *
 * Context: Process.
 * Return: 0, -EINVAL, -ENOENT as documented for the command.
 */
int twheel_session_get(struct twheel_session *s, struct twheel_entry *entry)
{
	struct twheel_utimer *ut;
	int ret = -EINVAL;

	spin_lock_bh(&s->lock);
	if (twheel_session_has_number(s, entry->id)) {
		ut = twheel_table_find(s->tables, entry->id);
		ret = ut ? 0 : -ENOENT;
		if (ut)
			twheel_session_entry(s, ut, entry);
	}
	spin_unlock_bh(&s->lock);
	return ret;
}
