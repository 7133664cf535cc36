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
 * The queue of events. A timer that is not pending lends only its owner's field, so
 * that twheel_pending() is correct at any time. The result is a singly linked
 * list. A timer is removed from the middle, which is rare, through @before.
 */
#define TWHEEL_EVENTS_KERNEL	BIT(31)

/*
 * Returns the id of @ut in 32 bits. The next timer of the queue has it in @before, to find its
 * predecessor.
 */
static inline u32 twheel_events_place(const struct twheel_utimer *ut)
{
	/* The number and, for an id of the kernel, a part of the generation. */
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

/* Returns whether an id is valid. */
static inline bool twheel_session_has_number(const struct twheel_session *s,
					     u64 id)
{
	return id & TWHEEL_ID_KERNEL || id < s->max_timers;
}

/*
 * Convert CLOCK_MONOTONIC to the session's clock. The clock may change until
 * the first start: a lockless reader does not find an event yet.
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

/* Returns the deadline in a word, limited to the latest deadline. */
static inline ktime_t twheel_session_word_deadline(const struct twheel_session *s, u64 word)
{
	return twheel_session_to_ours(min_t(u64, word, KTIME_MAX), s->words->offset);
}

/* Returns whether a timer has a word. Ids of the kernel are above all words. */
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
 * Free a timer whose @step enters TWHEEL_FREE, so that its place in the table can be taken again.
 */
static inline void twheel_utimer_free(struct twheel_utimer *ut, struct twheel_step step)
{
	twheel_set_state(&ut->state, step);
	twheel_table_free(ut);
}

/* Stop a timer that is out of the wheel. The tick does not access it any more. */
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
