/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Steps shared by timer.c, read.c, list.c and open.c */
#ifndef _TWHEEL_SESSION_TIMER_H
#define _TWHEEL_SESSION_TIMER_H

#include "core/compat.h"
#include "session.h"

/* Attempts to fault in a page for one copy. */
#define TWHEEL_FAULT_TRIES	16

bool twheel_session_copy_out(struct iov_iter *to, const void *from, size_t size);
int twheel_session_fault_in(const struct iov_iter *to, size_t size, int *tries);

/*
 * The queue of events is a singly linked list of expired timers. The link is in
 * the owner's field of a timer's node, which only a pending timer needs, and
 * which twheel_pending() does not read. @before leads to the previous timer, to
 * remove a timer from the middle, which is rare.
 */
#define TWHEEL_EVENTS_KERNEL	BIT(31)

/*
 * Returns the id of @ut in 32 bits, for @before of the next timer in the queue.
 */
static inline u32 twheel_events_place(const struct twheel_utimer *ut)
{
	/*
	 * A part of the generation is lost, and not needed to find the timer.
	 */
	return (ut->id & ~TWHEEL_EVENTS_KERNEL) | (ut->id >> 32 & TWHEEL_EVENTS_KERNEL);
}

static inline struct twheel_utimer **twheel_events_next(struct twheel_utimer *ut)
{
	return (struct twheel_utimer **)&ut->timer.node.owner;
}

static inline void twheel_events_add(struct twheel_events *events,
				     struct twheel_utimer *ut)
{
	*twheel_events_next(ut) = NULL;
	if (events->first) {
		ut->before = twheel_events_place(events->last);
		*twheel_events_next(events->last) = ut;
	} else {
		/* Pairs with twheel_session_readable(). */
		WRITE_ONCE(events->first, ut);
	}
	events->last = ut;
}

static inline void twheel_events_take_first(struct twheel_events *events)
{
	/* Pairs with twheel_session_readable(). */
	WRITE_ONCE(events->first, *twheel_events_next(events->first));
}

/* Returns whether @id is an id of the kernel, or within the session's limit. */
static inline bool twheel_session_has_number(const struct twheel_session *s,
					     u64 id)
{
	return id & TWHEEL_ID_KERNEL || id < s->max_timers;
}

/*
 * Convert a time of CLOCK_MONOTONIC to the session's clock. May be called
 * without the session's lock: SETUP may change the clock before the first
 * start, but until then there are no events to read.
 */
static inline ktime_t twheel_session_time(const struct twheel_session *s,
					  ktime_t monotonic)
{
	/* Pairs with twheel_session_wheel_attach(). */
	return twheel_clock_time(READ_ONCE(s->clock), monotonic);
}

/* Returns the offset of the wheel's clock in the caller's time namespace, ns. */
static inline s64 twheel_session_offset(const struct twheel_session *s)
{
	/* Pairs with twheel_session_wheel_attach(). */
	return twheel_time_ns_offset(READ_ONCE(s->clock));
}

/* Convert @time from the caller's clock, @offset ns ahead, to the host's clock. */
static inline ktime_t twheel_session_to_ours(u64 time, s64 offset)
{
	if (likely(!offset))
		return time;
	if (offset > 0 && time < offset)
		return 0;
	return min_t(u64, time - offset, KTIME_MAX);
}

/* Convert @time from the host's clock to the caller's clock, @offset ns ahead. */
static inline u64 twheel_session_to_caller(u64 time, s64 offset)
{
	if (likely(!offset))
		return time;
	if (offset < 0 && time < -offset)
		return 0;
	/* Cannot overflow: both are less than 2^63. */
	return min_t(u64, time + offset, KTIME_MAX);
}

/* Returns the deadline in a word on the session's clock, at most KTIME_MAX. */
static inline ktime_t twheel_session_word_deadline(const struct twheel_session *s, u64 word)
{
	return twheel_session_to_ours(min_t(u64, word, KTIME_MAX), s->words->offset);
}

/*
 * Returns whether a timer has a word to check. Ids of the kernel are larger
 * than those of words. A session that is being closed ignores its words.
 */
static inline bool twheel_utimer_has_word(const struct twheel_session *s,
					  const struct twheel_utimer *ut)
{
	return unlikely(ut->id < s->shared_ids) && !s->closing;
}

extern const struct twheel_source twheel_session_source;

/*
 * Arm a timer after its expiry. @step enters TWHEEL_ARMED. Session's lock held, as
 * for the functions below.
 */
static inline void twheel_utimer_arm(struct twheel_utimer *ut, struct twheel_step step,
				     ktime_t deadline)
{
	ut->asked.source = &twheel_session_source;
	twheel_set_state(&ut->state, step);
	twheel_start_at(&ut->timer, deadline);
}

/*
 * Free a timer, so that its place in the table can be taken again. @step enters
 * TWHEEL_FREE.
 */
static inline void twheel_utimer_free(struct twheel_utimer *ut, struct twheel_step step)
{
	twheel_set_state(&ut->state, step);
	twheel_table_free(ut);
}

/*
 * Count a stop, and free the timer. It is no longer in the wheel, and the tick
 * does not access it any more.
 */
static inline void twheel_utimer_end(struct twheel_session *s, struct twheel_utimer *ut,
				     struct twheel_step step)
{
	s->stats.stopped++;
	twheel_utimer_free(ut, step);
}

void twheel_session_withdraw(struct twheel_session *s, struct twheel_utimer *ut,
			     struct twheel_step step)
	__must_hold(&s->lock);

#endif /* _TWHEEL_SESSION_TIMER_H */
