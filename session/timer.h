/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Steps shared by timer.c, batch.c, read.c and list.c */
#ifndef _TWHEEL_SESSION_TIMER_H
#define _TWHEEL_SESSION_TIMER_H

#include "core/compat.h"
#include "session.h"

/* Attempts to fault in a page for one copy. */
#define TWHEEL_FETCH_TRIES	16

bool twheel_session_put(struct iov_iter *to, const void *from, size_t size,
			size_t usize);
int twheel_session_fetch(const struct iov_iter *to, size_t size, int *tries);
ktime_t twheel_session_from_caller(const struct twheel_session *s, u64 time);
void twheel_session_entry(struct twheel_session *s, struct twheel_utimer *ut,
			  struct twheel_entry *entry);

/*
 * The queue of events. A timer that is not pending lends only its link.prev, so
 * that twheel_pending() is correct at any time. The result is a singly linked
 * list. A timer is removed from the middle, which is rare, through @before.
 */
#define TWHEEL_EVENTS_KERNEL	BIT(31)

/* Returns the id of @ut as a u32, for @before of the next timer. */
static inline u32 twheel_events_place(const struct twheel_utimer *ut)
{
	/* The number and, for an id of the kernel, a part of the generation. */
	return (ut->id & ~TWHEEL_EVENTS_KERNEL) | (ut->id >> 32 & TWHEEL_EVENTS_KERNEL);
}

static inline struct twheel_utimer **twheel_events_next(struct twheel_utimer *ut)
{
	return (struct twheel_utimer **)&ut->timer.node.link.prev;
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

static inline bool twheel_session_has_number(const struct twheel_session *s,
					     u64 id)
{
	return id & TWHEEL_ID_KERNEL || id < s->max_timers;
}

/**
 * twheel_session_take - take a free timer
 * @s: the session, below its limit of timers
 * @ut: free place of @id, or NULL if there is no such place
 * @id: id of the caller's choice, or %TWHEEL_ID_ANY
 *
 * Context: Session's lock held, so it remains on this CPU.
 * Return: the timer, with its id, to be armed at once. NULL if the caller has
 * to call twheel_session_wheel_need() and twheel_table_grow() first.
 */
static inline struct twheel_utimer *
twheel_session_take(struct twheel_session *s, struct twheel_utimer *ut, u64 id)
{
	if (unlikely(!twheel_session_wheel_ready(s)))
		return NULL;
	if (id == TWHEEL_ID_ANY)
		ut = twheel_table_take_any(s);
	else if (ut)
		twheel_table_take_this(ut, id);
	if (ut)
		s->timers++;
	return ut;
}

static inline int twheel_session_check_numbers(const struct twheel_session *s,
					       const struct twheel_start *args)
{
	if (args->expires_ns > KTIME_MAX || args->period_ns > KTIME_MAX)
		return -EINVAL;
	return twheel_session_has_number(s, args->id) ? 0 : -EINVAL;
}

/* Check a start without a socket. See check_idle() for the others. */
static inline int twheel_session_check_start(const struct twheel_session *s,
					     const struct twheel_start *args)
{
	if ((args->flags & ~(TWHEEL_START_ABS | TWHEEL_START_REPLACE)) | args->fd)
		return -EINVAL;
	return twheel_session_check_numbers(s, args);
}

/*
 * Convert CLOCK_MONOTONIC to the session's clock. The clock may change until
 * the first start: a lockless reader does not find an event yet.
 */
static inline ktime_t twheel_session_time(const struct twheel_session *s,
					  ktime_t monotonic)
{
	/* Pairs with twheel_session_wheel_use(). */
	return twheel_clock_time(READ_ONCE(s->clock), monotonic);
}

/* Returns the offset of that clock in the caller's time namespace, ns. */
static inline s64 twheel_session_offset(const struct twheel_session *s)
{
	/* Pairs with twheel_session_wheel_use(). */
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

/* Returns the deadline of a start. @now is on CLOCK_MONOTONIC. */
static inline ktime_t twheel_session_deadline(const struct twheel_session *s,
					      const struct twheel_start *args,
					      ktime_t now)
{
	if (args->flags & TWHEEL_START_ABS)
		return twheel_session_from_caller(s, args->expires_ns);
	/* Cannot overflow: both are less than 2^63. */
	return min_t(u64, twheel_session_time(s, now) + args->expires_ns, KTIME_MAX);
}

static inline void twheel_utimer_set_up(struct twheel_utimer *ut,
					const struct twheel_start *args)
{
	ut->user_data = args->user_data;
	ut->period_ns = args->period_ns;
}

/* Arm a timer. Session's lock held, as for the functions below. */
static inline void twheel_utimer_arm(struct twheel_utimer *ut, ktime_t deadline)
{
	ut->state = TWHEEL_ARMED;
	twheel_start_at(&ut->timer, deadline);
}

/* Release the socket of a timer. */
static inline void twheel_utimer_let_go(struct twheel_session *s, struct twheel_utimer *ut)
{
	twheel_session_put_sock(s, ut->sk);
	ut->period_ns = 0;
}

/* End a timer that is not pending, without an event. */
static inline void twheel_utimer_end_quietly(struct twheel_session *s,
					     struct twheel_utimer *ut)
{
	s->stats.stopped++;
	if (unlikely(ut->state == TWHEEL_WATCHING))
		twheel_utimer_let_go(s, ut);
	/* The tick does not access a timer whose callback has returned. */
	twheel_table_free(ut);
}

/* Stop a timer. Returns false if its callback is about to run. */
static inline bool twheel_utimer_stop(struct twheel_session *s,
				      struct twheel_utimer *ut)
{
	if (!twheel_stop(&ut->timer))
		return false;
	twheel_utimer_end_quietly(s, ut);
	return true;
}

/* Returns whether a timer will expire or be stopped. */
static inline bool twheel_utimer_is_armed(const struct twheel_utimer *ut)
{
	return ut->state == TWHEEL_ARMED || ut->state == TWHEEL_WATCHING;
}

/* End a timer whose event is unread. The event remains, as its last one. */
static inline void twheel_utimer_end(struct twheel_utimer *ut)
{
	ut->state = TWHEEL_ENDED;
}

/* Returns whether reading the event arms the timer for its next period. */
static inline bool twheel_utimer_goes_on(const struct twheel_utimer *ut)
{
	return unlikely(ut->period_ns) && ut->state != TWHEEL_ENDED;
}

#endif /* _TWHEEL_SESSION_TIMER_H */
