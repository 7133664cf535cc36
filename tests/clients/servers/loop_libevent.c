// SPDX-License-Identifier: GPL-2.0
/*
 * libevent's loop, and its timers: a heap in the process
 */
#include <event2/event.h>
#include <stdint.h>

#include "servers.h"

static struct event_base *base;
static struct event *events[CONNECTIONS];

static void on_timeout(evutil_socket_t fd, short what, void *data)
{
	server_timeout((uintptr_t)data);
	(void)fd;
	(void)what;
}

static void on_readable(evutil_socket_t fd, short what, void *data)
{
	(*(void (**)(void))data)();
	if (server_done())
		event_base_loopbreak(base);
	(void)fd;
	(void)what;
}

static void libevent_open(void)
{
	uintptr_t i;

	base = event_base_new();
	if (!base)
		fail("event_base_new");
	for (i = 0; i < CONNECTIONS; i++) {
		events[i] = evtimer_new(base, on_timeout, (void *)i);
		if (!events[i])
			fail("evtimer_new");
	}
}

/* Two at most: the packets and the wheel. */
static void libevent_watch(int fd, void (*fn)(void))
{
	static void (*watchers[2])(void);
	static unsigned int nr;
	struct event *event;

	watchers[nr] = fn;
	event = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, &watchers[nr++]);
	if (!event || event_add(event, NULL))
		fail("event_add");
}

static void libevent_start(unsigned int connection, __u64 delay_ns)
{
	const struct timeval timeout = {
		.tv_sec		= delay_ns / SECOND,
		.tv_usec	= delay_ns % SECOND / US,
	};

	if (evtimer_add(events[connection], &timeout))
		fail("evtimer_add");
}

static void libevent_run(void)
{
	if (event_base_dispatch(base) < 0)
		fail("event_base_dispatch");
}

const struct loop loop_libevent = {
	.name	= "libevent",
	.open	= libevent_open,
	.watch	= libevent_watch,
	.start	= libevent_start,
	.run	= libevent_run,
};
