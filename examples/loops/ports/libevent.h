/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The timeouts of libevent on <twheel_timer.h>, for event.c of libevent
 *
 * event_wheel_NAME_() replaces min_heap_NAME_(). Times are in microseconds, as in a struct timeval.
 * A struct event has a struct twheel_timer in addition. Common timeouts of libevent, which have a
 * queue for each length, are not changed.
 */

static inline uint64_t event_wheel_us_(const struct timeval *tv)
{
	return tv->tv_sec < 0 ? 0 : tv->tv_sec * 1000000ULL + tv->tv_usec;
}

static inline void event_wheel_ctor_(struct event_base *base)
{
	base->timewheel = twheel_timers_new(0);
	if (!base->timewheel)
		event_err(1, "twheel_timers_new");
}

static inline void event_wheel_dtor_(struct event_base *base)
{
	twheel_timers_free(base->timewheel);
}

static inline void event_wheel_elem_init_(struct event *ev)
{
	twheel_timer_init(&ev->ev_wheel, NULL);
}

static inline int event_wheel_empty_(struct event_base *base)
{
	return !twheel_timers_count(base->timewheel);
}

static inline int event_wheel_push_(struct event_base *base, struct event *ev)
{
	twheel_timer_push(base->timewheel, &ev->ev_wheel, event_wheel_us_(&ev->ev_timeout));
	return 0;
}

static inline void event_wheel_adjust_(struct event_base *base, struct event *ev)
{
	event_wheel_push_(base, ev);
}

static inline void event_wheel_erase_(struct event_base *base, struct event *ev)
{
	twheel_timer_stop(base->timewheel, &ev->ev_wheel);
}

/* A wheel allocates nothing for its timers, so there is no room to reserve. */
static inline int event_wheel_size_(struct event_base *base)
{
	(void)base;
	return 0;
}

static inline int event_wheel_reserve_(struct event_base *base, int size)
{
	(void)base;
	return size - size;
}

/*
 * Returns whether a thread that added the event must wake up the loop, because the loop sleeps for
 * too long otherwise.
 */
static inline int event_wheel_elt_is_top_(const struct event *ev)
{
	struct event_base *base = ev->ev_base;

	return EVBASE_NEED_NOTIFY(base) &&
	       ev->ev_wheel.expires <= twheel_timers_next(base->timewheel);
}

static inline struct event *event_wheel_each_(struct event_base *base, struct event *ev)
{
	struct twheel_timer *timer = twheel_timers_each(base->timewheel, ev ? &ev->ev_wheel : NULL);

	return timer ? twheel_timer_container(timer, struct event, ev_wheel) : NULL;
}

static inline struct event *event_wheel_top_(struct event_base *base)
{
	return event_wheel_each_(base, NULL);
}
