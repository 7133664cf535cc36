// SPDX-License-Identifier: GPL-2.0
/*
 * libev: an ev_timer for each connection
 *
 * Documents: ev(3), "ev_timer" and in it "Be smart about timeouts", which has four ways. LAZY not
 * set is the third: ev_timer_again() for each heartbeat, "repeat" is the timeout. LAZY set is the
 * fourth, for timeouts that are often pushed back: a heartbeat notes the time, and the callback
 * starts the timer again for the rest. Times are from the clock of the loop, ev_now().
 */
#include <ev.h>

#include "replay.h"

static struct ev_loop *ev;
static ev_io step;

static struct timer {
	ev_timer timer;
	ev_tstamp deadline;	/* by the loop's time */
} *timers;

static void on_timeout(struct ev_loop *l, ev_timer *watcher, int revents)
{
	struct timer *timer = (struct timer *)watcher;
	ev_tstamp left = timer->deadline - ev_now(l);

	if (LAZY && left > 0) {
		watcher->repeat = left;
		ev_timer_again(l, watcher);
		return;
	}
	ev_timer_stop(l, watcher);
	replay_expired(timer - timers);
}

void adapter_open(unsigned int connections)
{
	timers = allocate(connections, sizeof(*timers));
	ev = ev_default_loop(EVFLAG_AUTO);
	if (!ev)
		err(1, "ev_default_loop");
}

void adapter_refresh(unsigned int connection, uint64_t deadline_ns)
{
	struct timer *timer = &timers[connection];
	ev_tstamp length = (deadline_ns - replay_now()) / 1e9;

	timer->deadline = ev_now(ev) + length;
	if (LAZY && ev_is_active(&timer->timer))
		return;
	timer->timer.repeat = length;
	ev_timer_again(ev, &timer->timer);
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	ev_init(&timers[connection].timer, on_timeout);
	adapter_refresh(connection, deadline_ns);
}

void adapter_stop(unsigned int connection)
{
	ev_timer_stop(ev, &timers[connection].timer);
}

static void on_step(struct ev_loop *l, ev_io *watcher, int revents)
{
	if (!replay_steps())
		ev_break(l, EVBREAK_ALL);
}

void adapter_loop(void)
{
	ev_io_init(&step, on_step, replay_fd(), EV_READ);
	ev_io_start(ev, &step);
	ev_run(ev, 0);
}
