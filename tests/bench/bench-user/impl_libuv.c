// SPDX-License-Identifier: GPL-2.0
/*
 * libuv's timers, a heap in the process
 *
 * Times are in milliseconds. An expiry is a callback.
 */
#include <errno.h>
#include <stdlib.h>
#include <uv.h>

#include "bench.h"

struct arming {
	uv_timer_t *timer;
	uint64_t delay_ms;
};

static uv_loop_t loop;
static uv_timer_t **timers;
static struct arming args[BATCH_MAX];
static unsigned int expired;

static void on_timeout(uv_timer_t *timer)
{
	expired++;
	(void)timer;
}

static void libuv_open(unsigned int nr)
{
	timers = allocate(nr + EXTRA, sizeof(*timers));
	if (uv_loop_init(&loop))
		fail("uv_loop_init");
}

static unsigned int libuv_create(unsigned int first, unsigned int nr)
{
	unsigned int i;

	for (i = first; i < first + nr; i++) {
		timers[i] = malloc(sizeof(*timers[i]));
		if (!timers[i])
			break;
		uv_timer_init(&loop, timers[i]);
	}
	return i - first;
}

static void libuv_prepare(enum operation op, const struct request *requests,
			  unsigned int nr, unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		args[i].timer = timers[requests[i].id];
		args[i].delay_ms = requests[i].delay_ns / MS;
	}
	/* As the loop does before its callbacks. */
	uv_update_time(&loop);
	(void)op;
	(void)batch;
}

static void libuv_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (op == STOP ? uv_timer_stop(args[i].timer) :
				 uv_timer_start(args[i].timer, on_timeout,
						args[i].delay_ms, 0))
			fail("uv_timer");
	(void)batch;
}

static unsigned int libuv_collect(unsigned int nr, unsigned int batch)
{
	while (expired < nr)
		uv_run(&loop, UV_RUN_ONCE);
	/* The loop may have found more. */
	expired -= nr;
	(void)batch;
	return nr;
}

static const unsigned int any_number[] = { EXTRA, 0 };

const struct impl impl_libuv = {
	.name		= "libuv",
	.reads		= any_number,
	.in_process	= true,
	.open		= libuv_open,
	.create		= libuv_create,
	.prepare	= libuv_prepare,
	.run		= libuv_run,
	.collect	= libuv_collect,
};
