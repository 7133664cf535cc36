// SPDX-License-Identifier: GPL-2.0
/*
 * libev: an ev_timer for each connection
 *
 * Follows ev(3), "ev_timer" and in it "Be smart about timeouts", which has four ways. This is
 * the third way: ev_timer_again() for each heartbeat, and "repeat" is the timeout.
 */
#include <ev.h>

#include "replay.h"

static struct ev_loop *ev;
static ev_io step;

static ev_timer *timers;

static void on_timeout(struct ev_loop *l, ev_timer *watcher, int revents)
{
	ev_timer_stop(l, watcher);
	replay_expired(watcher - timers);
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
	timers[connection].repeat = (deadline_ns - replay_now()) / 1e9;
	ev_timer_again(ev, &timers[connection]);
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	ev_init(&timers[connection], on_timeout);
	adapter_refresh(connection, deadline_ns);
}

void adapter_stop(unsigned int connection)
{
	ev_timer_stop(ev, &timers[connection]);
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
