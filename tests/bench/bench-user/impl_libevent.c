// SPDX-License-Identifier: GPL-2.0
/*
 * libevent's timers, a heap in the process
 *
 * Programs arm timers in callbacks of the event loop, where libevent knows the time without a
 * system call. So the benchmark calls libevent in a callback, too. An expiry is a callback.
 */
#include <event2/event.h>
#include <stddef.h>

#include "bench.h"

struct arming {
	struct event *event;
	struct timeval delay;
};

static struct event_base *base;
static struct event **events;
static struct arming args[EXTRA];
static unsigned int expired;

static void on_timeout(evutil_socket_t fd, short what, void *data)
{
	expired++;
}

static void libevent_open(unsigned int timers)
{
	events = allocate(timers + EXTRA, sizeof(*events));
	base = event_base_new();
	if (!base)
		err(1, "event_base_new");
}

static void libevent_create(unsigned int first, unsigned int nr)
{
	unsigned int i;

	for (i = first; i < first + nr; i++) {
		events[i] = evtimer_new(base, on_timeout, NULL);
		if (!events[i])
			err(1, "evtimer_new");
	}
}

static void libevent_prepare(enum operation op, unsigned int i, const struct request *r)
{
	args[i].event = events[r->id];
	args[i].delay.tv_sec = r->delay_ns / SECOND;
	args[i].delay.tv_usec = r->delay_ns % SECOND / 1000;
}

static void libevent_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (op == STOP ? evtimer_del(args[i].event) :
				 evtimer_add(args[i].event, &args[i].delay))
			err(1, "evtimer");
}

static unsigned int libevent_collect(unsigned int nr, unsigned int batch)
{
	while (expired < nr)
		if (event_base_loop(base, EVLOOP_ONCE) < 0)
			err(1, "event_base_loop");
	/* One pass of the loop may run more than @nr callbacks. */
	expired -= nr;
	return nr;
}

struct call {
	void (*fn)(void *data);
	void *data;
};

static void on_call(evutil_socket_t fd, short what, void *data)
{
	struct call *call = data;

	call->fn(call->data);
}

static void libevent_inside(void (*fn)(void *data), void *data)
{
	struct timeval at_once = {};
	struct call call = { fn, data };

	if (event_base_once(base, -1, EV_TIMEOUT, on_call, &call, &at_once) ||
	    event_base_loop(base, EVLOOP_ONCE) < 0)
		err(1, "event_base_once");
}

static const unsigned int any_number[] = { EXTRA, 0 };

const struct impl impl_libevent = {
	.name		= "libevent",
	.reads		= any_number,
	.open		= libevent_open,
	.create		= libevent_create,
	.prepare	= libevent_prepare,
	.run		= libevent_run,
	.collect	= libevent_collect,
	.inside		= libevent_inside,
};
