/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The relative timers of libev on <twheel_timer.h>, for ev.c of libev
 *
 * A wheel replaces the heap of timers in struct ev_loop. Periodic watchers keep their heap. An
 * ev_timer has a struct twheel_timer in addition. Times of libev are floating-point seconds, and
 * times of the wheel are nanoseconds.
 */
#include "twheel_timer.c"

static inline uint64_t timers_ns(ev_tstamp at)
{
	if (at <= 0)
		return 0;
	/* Times beyond 285 years would overflow, and count as never. */
	return at < 9e9 ? (uint64_t)(int64_t)(at * 1e9) : TWHEEL_TIMERS_NEVER;
}

static inline struct twheel_timers *timers_new(ev_tstamp now)
{
	struct twheel_timers *w = twheel_timers_new(timers_ns(now));

	if (!w)
		abort();
	return w;
}

static inline ev_timer *timers_each(struct twheel_timers *w, const ev_timer *after)
{
	struct twheel_timer *timer = twheel_timers_each(w, after ? &after->wheel_timer : NULL);

	return timer ? twheel_timer_container(timer, ev_timer, wheel_timer) : NULL;
}

/* Returns the time that the loop may sleep, in seconds. */
static inline ev_tstamp timers_wait(struct twheel_timers *w, ev_tstamp mn_now)
{
	uint64_t next = twheel_timers_next(w), now = timers_ns(mn_now);

	return next > now ? (ev_tstamp)(next - now) / 1e9 : 0;
}
