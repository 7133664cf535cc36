/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Starting a session's timer: the steps that timer.c, batch.c and read.c share
 */
#ifndef _TWHEEL_SESSION_TIMER_H
#define _TWHEEL_SESSION_TIMER_H

#include "session.h"

static inline bool twheel_session_has_number(const struct twheel_session *s,
					     u64 id)
{
	return id & TWHEEL_ID_KERNEL || id < s->max_timers;
}

static inline int twheel_session_check_start(const struct twheel_session *s,
					     const struct twheel_start *args)
{
	if (args->flags & ~(TWHEEL_START_ABS | TWHEEL_START_REPLACE) ||
	    args->reserved)
		return -EINVAL;
	if (args->expires_ns > KTIME_MAX || args->period_ns > KTIME_MAX)
		return -EINVAL;
	return twheel_session_has_number(s, args->id) ? 0 : -EINVAL;
}

static inline ktime_t twheel_session_deadline(const struct twheel_start *args,
					      ktime_t now)
{
	if (args->flags & TWHEEL_START_ABS)
		return args->expires_ns;
	/* No overflow of 64 bits: both are less than 2^63. */
	return min_t(u64, now + args->expires_ns, KTIME_MAX);
}

static inline void twheel_utimer_set_up(struct twheel_utimer *ut,
					const struct twheel_start *args)
{
	ut->user_data = args->user_data;
	ut->period_ns = args->period_ns;
}

/* Session's lock held, as for all that follows with __must_hold(). */
static inline void twheel_utimer_arm(struct twheel_session *s,
				     struct twheel_utimer *ut, ktime_t deadline)
{
	ut->state = TWHEEL_ARMED;
	s->stats.pending++;
	twheel_start_at(&ut->timer, deadline);
}

#endif /* _TWHEEL_SESSION_TIMER_H */
