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

static struct twheel_session *session_of(struct twheel_utimer *ut)
{
	return twheel_chunk_of(ut)->session;
}

/* Expiry */

/*
 * The source of a timer, its word or its socket, says when it is due: at @deadline,
 * later than now, or never. @pending is true if the timer is not due yet.
 */
static __always_inline void put_off(struct twheel_session *s, struct twheel_utimer *ut,
				    u64 deadline, bool pending)
{
	if (deadline != TWHEEL_WORD_STOP) {
		twheel_again_at(&ut->timer, deadline);
		return;
	}
	if (pending)
		twheel_stop(&ut->timer);
	twheel_utimer_end(s, ut, twheel_next(ut->state, TWHEEL_DO_STOP, 0));
}

/*
 * Read the word of a timer that is due at @time. Returns whether the word
 * delays or stops the timer. Inlined into the callback, which holds the
 * session's lock.
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
		put_off(s, ut, word, pending);
	} else {
		s->stats.carried++;
		put_off(s, ut, deadline, pending);
	}
	return true;
}

/* Nonzero if the host reads the session's clock once for a run of the wheel. */
#ifndef TWHEEL_RUN_NS
#define TWHEEL_RUN_NS(s)	((void)(s), 0)
#endif

static u64 expiry_time(const struct twheel_session *s)
{
	return TWHEEL_RUN_NS(s) ?: twheel_session_time(s, ktime_get_ns());
}

/* Queue the event of an expired timer. */
static __always_inline void queue_event(struct twheel_session *s, struct twheel_utimer *ut,
					struct twheel_step step, u64 now)
{
	ut->expired_ns = now;
	twheel_enter(&ut->state, step);
	s->stats.expired++;
	s->stats.unread++;
	if (s->closing)
		return;
	twheel_events_add(&s->events, ut);
	if (likely(!s->wake_ns))
		twheel_session_wake_at_tick_end(s, &ut->timer, 1);
	else
		twheel_session_wake_later(s, &ut->timer, now);
}

/* The timer is due, unless its socket delays or stops it. Rare. */
static noinline void ask_socket(struct twheel_session *s, struct twheel_utimer *ut,
				struct twheel_step step)
{
	ktime_t look = twheel_expired_deadline(&ut->timer, s->tick_ns);
	u64 next = twheel_session_next_look(s, ut, look);

	if (next > look) {
		put_off(s, ut, next, false);
		return;
	}
	twheel_utimer_let_go(s, ut);
	queue_event(s, ut, step, expiry_time(s));
}

/*
 * The timer is due, unless its word delays or stops it. A word later than the
 * tick at which it was due needs no clock. In a late run the timer may be due
 * once more, at a tick that has passed too. Read the word again after reading
 * the clock: a word stored before that counts, whenever the timer was due.
 */
static __always_inline void ask_word(struct twheel_session *s, struct twheel_utimer *ut,
				     struct twheel_step step)
{
	u64 now;

	if (twheel_utimer_has_word(s, ut) &&
	    heed_word(s, ut, twheel_due_time(&ut->timer, s->tick_ns), false))
		return;
	now = expiry_time(s);
	if (!TWHEEL_RUN_NS(s) && twheel_utimer_has_word(s, ut) &&
	    heed_word(s, ut, now, false))
		return;
	queue_event(s, ut, step, now);
}

static void session_expired(struct twheel_timer *timer)
{
	struct twheel_utimer *ut = container_of(timer, struct twheel_utimer,
						timer);
	struct twheel_session *s = session_of(ut);
	struct twheel_step step;

	spin_lock(&s->lock);
	step = twheel_next(ut->state, TWHEEL_DO_EXPIRE, 0);
	if (unlikely(step.action == TWHEEL_LET_GO))
		ask_socket(s, ut, step);
	else
		ask_word(s, ut, step);
	spin_unlock(&s->lock);
}

/* Starting */

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

/* Carry out the first half of a START of a timer that is not free. Rare. */
static noinline struct twheel_step take_out(struct twheel_session *s, struct twheel_utimer *ut,
					    struct twheel_step step)
{
	if (step.action == TWHEEL_REFUSE)
		return step;
	if (!twheel_session_is_prepared(s))
		return twheel_step(TWHEEL_GROW, step.state, 0);
	if (step.action == TWHEEL_UNQUEUE) {
		take_back_event(s, ut);
		s->stats.replaced++;
		return step;
	}
	if (!twheel_stop(&ut->timer))
		return twheel_step(TWHEEL_WAIT, step.state, 0);
	if (step.action == TWHEEL_LET_GO)
		twheel_utimer_let_go(s, ut);
	s->stats.restarted++;
	return step;
}

static struct twheel_step try_idle(struct twheel_session *s, struct twheel_start *args)
{
	struct twheel_utimer *ut;
	struct twheel_step step;
	struct sock *sk;

	if (args->flags & ~(TWHEEL_START_IDLE | TWHEEL_START_REPLACE) ||
	    args->period_ns || args->expires_ns > TWHEEL_IDLE_MAX_NS ||
	    !twheel_session_has_number(s, args->id))
		return twheel_step(TWHEEL_REFUSE, TWHEEL_FREE, -EINVAL);
	sk = twheel_session_hold_sock(s, args->fd);
	if (IS_ERR(sk))
		return twheel_step(TWHEEL_REFUSE, TWHEEL_FREE, PTR_ERR(sk));
	ut = twheel_table_place(s->tables, args->id);
	step = twheel_next(twheel_utimer_state(ut, args->id), TWHEEL_DO_START, args->flags);
	step = step.action == TWHEEL_TAKE ? twheel_session_take(s, &ut, args, step) :
					    take_out(s, ut, step);
	if (step.action >= TWHEEL_REFUSE) {
		twheel_session_put_sock(s, sk);
		return step;
	}
	ut->user_data = args->user_data;
	twheel_utimer_arm(ut, step, twheel_session_watch(s, ut, sk, args->expires_ns));
	return step;
}

/* Carry out a START, unless something has to come first. */
static __always_inline struct twheel_step
try_start(struct twheel_session *s, struct twheel_start *args, ktime_t now)
{
	struct twheel_utimer *ut = NULL;
	struct twheel_step step;

	lockdep_assert_held(&s->lock);
	if (unlikely(args->flags & TWHEEL_START_IDLE))
		return try_idle(s, args);
	if (unlikely(twheel_session_bad_start(s, args)))
		return twheel_step(TWHEEL_REFUSE, TWHEEL_FREE, -EINVAL);
	if (args->id != TWHEEL_ID_ANY)
		ut = twheel_table_place(s->tables, args->id);
	step = twheel_next(twheel_utimer_state(ut, args->id), TWHEEL_DO_START,
			   args->flags);
	switch (step.action) {
	case TWHEEL_MOVE:
		if (!twheel_restart_at(&ut->timer, twheel_session_deadline(s, args, now)))
			return twheel_step(TWHEEL_WAIT, step.state, 0);
		twheel_utimer_set_up(ut, args);
		s->stats.restarted++;
		return step;
	case TWHEEL_TAKE:
		step = twheel_session_take(s, &ut, args, step);
		break;
	default:
		step = take_out(s, ut, step);
	}
	if (step.action >= TWHEEL_REFUSE)
		return step;
	twheel_utimer_set_up(ut, args);
	twheel_utimer_arm(ut, step, twheel_session_deadline(s, args, now));
	return step;
}

static int make_room(struct twheel_session *s, u64 id)
{
	int ret = twheel_session_wheel_need(s);

	return ret ?: twheel_table_grow(s, id, session_expired);
}

/* Let come first what @step says, then try again. Rare. */
static noinline int start_slowly(struct twheel_session *s,
				 struct twheel_start *args, ktime_t now,
				 struct twheel_step step)
	__must_hold(&s->lock)
{
	s->making_room++;
	do {
		int error = 0;

		spin_unlock_bh(&s->lock);
		if (step.action == TWHEEL_GROW)
			error = make_room(s, args->id);
		else
			usleep_range(10, 50);
		spin_lock_bh(&s->lock);
		step = error ? twheel_step(TWHEEL_REFUSE, step.state, error) :
			       try_start(s, args, now);
	} while (twheel_is_put_off(step));
	s->making_room--;
	return step.result;
}

/*
 * Start a timer, with an interval that begins at @now, on CLOCK_MONOTONIC.
 * Releases the lock temporarily, and may sleep, if memory is needed or the
 * callback is about to run.
 */
int twheel_session_start_locked(struct twheel_session *s,
				struct twheel_start *args, ktime_t now)
	__must_hold(&s->lock)
{
	struct twheel_step step = try_start(s, args, now);

	if (unlikely(twheel_is_put_off(step)))
		return start_slowly(s, args, now, step);
	return step.result;
}

/* TWHEEL_IOC_START. @args->id is set to the id that was started. May sleep. */
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

/* Carry out a STOP, unless the timer's callback has to come first. */
static struct twheel_step try_stop(struct twheel_session *s, u64 id, u32 flags)
{
	struct twheel_utimer *ut = twheel_table_place(s->tables, id);
	struct twheel_step step = twheel_next(twheel_utimer_state(ut, id), TWHEEL_DO_STOP,
					      flags);

	lockdep_assert_held(&s->lock);
	switch (step.action) {
	case TWHEEL_HALT:
	case TWHEEL_LET_GO:
		if (!twheel_stop(&ut->timer))
			return twheel_step(TWHEEL_WAIT, step.state, 0);
		twheel_utimer_end(s, ut, step);
		break;
	case TWHEEL_UNQUEUE:
		take_back_event(s, ut);
		s->stats.withdrawn++;
		twheel_utimer_free(ut, step);
		break;
	case TWHEEL_NOTHING:
		/* The event remains, as the timer's last one. */
		twheel_enter(&ut->state, step);
		break;
	}
	return step;
}

/*
 * Stop a timer, with a valid number. Releases the lock temporarily, and may
 * sleep, if the timer's callback is about to run.
 */
int twheel_session_stop_locked(struct twheel_session *s, u64 id, u32 flags)
	__must_hold(&s->lock)
{
	struct twheel_step step;

	while (twheel_is_put_off(step = try_stop(s, id, flags))) {
		spin_unlock_bh(&s->lock);
		usleep_range(10, 50);
		spin_lock_bh(&s->lock);
	}
	return step.result;
}

/* TWHEEL_IOC_STOP. May sleep. */
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

/* Describe a timer that is not free. Session's lock held. */
void twheel_session_entry(struct twheel_session *s, struct twheel_utimer *ut,
			  struct twheel_entry *entry)
{
	bool armed = twheel_utimer_is_armed(ut);
	ktime_t now = twheel_session_time(s, ktime_get());
	ktime_t deadline = armed ? twheel_deadline(&ut->timer) :
			   twheel_expired_deadline(&ut->timer, s->tick_ns);

	if (ut->state == TWHEEL_WATCHING)
		deadline = twheel_session_after_checks(ut, deadline);
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

/* TWHEEL_IOC_GET */
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
