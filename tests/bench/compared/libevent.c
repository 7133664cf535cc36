// SPDX-License-Identifier: GPL-2.0
/*
 * libevent: an event with a timeout for each connection
 *
 * Follows event2/event.h and the book of libevent, "Working with events": evtimer_assign() in the
 * program's own structure, evtimer_add() to move a pending event, evtimer_del(). The base has
 * EVENT_BASE_FLAG_PRECISE_TIMER, because otherwise the loop's clock is coarse, and its ticks of
 * 4 ms would make timers expire early.
 */
#include <event2/event.h>
#include <event2/event_struct.h>

#include "replay.h"

static struct event_base *base;
static struct event *events;
static struct event step;

static void on_timeout(evutil_socket_t fd, short what, void *data)
{
	replay_expired((struct event *)data - events);
}

void adapter_open(unsigned int connections)
{
	struct event_config *config = event_config_new();

	events = allocate(connections, sizeof(*events));
	if (!config || event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER))
		err(1, "event_config_new");
	base = event_base_new_with_config(config);
	if (!base)
		err(1, "event_base_new_with_config");
	event_config_free(config);
}

static struct timeval delay(uint64_t deadline_ns)
{
	uint64_t us = (deadline_ns - replay_now()) / US;

	return (struct timeval) { us / 1000000, us % 1000000 };
}

void adapter_refresh(unsigned int connection, uint64_t deadline_ns)
{
	struct timeval length = delay(deadline_ns);

	if (evtimer_add(&events[connection], &length))
		err(1, "evtimer_add");
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	if (evtimer_assign(&events[connection], base, on_timeout, &events[connection]))
		err(1, "evtimer_assign");
	adapter_refresh(connection, deadline_ns);
}

void adapter_stop(unsigned int connection)
{
	if (evtimer_del(&events[connection]))
		err(1, "evtimer_del");
}

static void on_step(evutil_socket_t fd, short what, void *data)
{
	if (!replay_steps())
		event_base_loopbreak(base);
}

void adapter_loop(void)
{
	if (event_assign(&step, base, replay_fd(), EV_READ | EV_PERSIST, on_step, NULL) ||
	    event_add(&step, NULL) || event_base_dispatch(base) < 0)
		err(1, "event_base_dispatch");
}
