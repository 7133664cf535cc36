// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Functions of ev.c of libev: see libev.h */

/*
 * Queue the callbacks of the timers that are due. For libev a timer is due after its deadline, for
 * the wheel at its deadline, hence the - 1.
 */
inline_size void timers_reify(EV_P)
{
	struct twheel_timer *timer;
	int any = 0;
	ev_timer *w;

	while ((timer = twheel_timers_expired(timers, timers_ns(mn_now) - 1))) {
		w = twheel_timer_container(timer, ev_timer, wheel_timer);
		if (w->repeat) {
			ev_at(w) += w->repeat;
			if (ev_at(w) < mn_now)
				ev_at(w) = mn_now;
			twheel_timer_start(timers, timer, timers_ns(ev_at(w)));
		} else {
			ev_timer_stop(EV_A_ w);
		}
		feed_reverse(EV_A_(W)w);
		any = 1;
	}
	if (any)
		feed_reverse_done(EV_A_ EV_TIMER);
}

static void timers_reschedule(EV_P_ ev_tstamp adjust)
{
	ev_timer *w = NULL;

	while ((w = timers_each(timers, w)))
		ev_at(w) += adjust;
	twheel_timers_shift(timers, (int64_t)(adjust * 1e9));
}

void ev_timer_start(EV_P_ ev_timer *w) EV_NOEXCEPT
{
	if (ev_is_active(w))
		return;
	ev_at(w) += mn_now;
	ev_start(EV_A_(W)w, 1);
	/* Initialize the member here, because the macro ev_timer_init() does not. */
	twheel_timer_init(&w->wheel_timer, NULL);
	twheel_timer_start(timers, &w->wheel_timer, timers_ns(ev_at(w)));
}

void ev_timer_stop(EV_P_ ev_timer *w) EV_NOEXCEPT
{
	clear_pending(EV_A_(W)w);
	if (!ev_is_active(w))
		return;
	twheel_timer_stop(timers, &w->wheel_timer);
	ev_at(w) -= mn_now;
	ev_stop(EV_A_(W)w);
}

void ev_timer_again(EV_P_ ev_timer *w) EV_NOEXCEPT
{
	clear_pending(EV_A_(W)w);
	if (!w->repeat) {
		ev_timer_stop(EV_A_ w);
	} else if (ev_is_active(w)) {
		ev_at(w) = mn_now + w->repeat;
		twheel_timer_push(timers, &w->wheel_timer, timers_ns(ev_at(w)));
	} else {
		ev_at(w) = w->repeat;
		ev_timer_start(EV_A_ w);
	}
}
