// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Functions that replace two functions of event.c of libevent: see libevent.h */

static int timeout_next(struct event_base *base, struct timeval **tv_p)
{
	uint64_t next = twheel_timers_next(base->timewheel), us;
	struct timeval now;

	if (next == TWHEEL_TIMERS_NEVER) {
		*tv_p = NULL;
		return 0;
	}
	if (gettime(base, &now) == -1)
		return -1;
	us = event_wheel_us_(&now);
	us = next > us ? next - us : 0;
	(*tv_p)->tv_sec = us / 1000000;
	(*tv_p)->tv_usec = us % 1000000;
	return 0;
}

static void timeout_process(struct event_base *base)
{
	struct twheel_timer *timer;
	struct timeval now;
	struct event *ev;

	if (event_wheel_empty_(base))
		return;
	gettime(base, &now);
	while ((timer = twheel_timers_expired(base->timewheel, event_wheel_us_(&now)))) {
		ev = twheel_timer_container(timer, struct event, ev_wheel);
		event_del_nolock_(ev, EVENT_DEL_NOBLOCK);
		event_active_nolock_(ev, EV_TIMEOUT, 1);
	}
}
