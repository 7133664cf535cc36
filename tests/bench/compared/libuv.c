// SPDX-License-Identifier: GPL-2.0
/*
 * libuv: a uv_timer_t for each connection
 *
 * Follows docs.libuv.org, "uv_timer_t" and "uv_loop_t": uv_timer_init() in the program's own
 * structure, uv_timer_start() to move an active timer, uv_timer_stop(). Times are in milliseconds,
 * from the loop's own time, which is rounded down to a millisecond: a timer may expire up to a
 * millisecond before its deadline.
 */
#include <uv.h>

#include "replay.h"

static uv_loop_t uv;
static uv_timer_t *timers;
static uv_poll_t step;

static void on_timeout(uv_timer_t *timer)
{
	replay_expired(timer - timers);
}

void adapter_open(unsigned int connections)
{
	timers = allocate(connections, sizeof(*timers));
	if (uv_loop_init(&uv))
		err(1, "uv_loop_init");
}

void adapter_refresh(unsigned int connection, uint64_t deadline_ns)
{
	if (uv_timer_start(&timers[connection], on_timeout,
			   (deadline_ns - replay_now()) / MS, 0))
		err(1, "uv_timer_start");
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	if (uv_timer_init(&uv, &timers[connection]))
		err(1, "uv_timer_init");
	adapter_refresh(connection, deadline_ns);
}

void adapter_stop(unsigned int connection)
{
	if (uv_timer_stop(&timers[connection]))
		err(1, "uv_timer_stop");
}

static void on_step(uv_poll_t *poll, int status, int events)
{
	if (!replay_steps())
		uv_stop(&uv);
}

void adapter_loop(void)
{
	if (uv_poll_init(&uv, &step, replay_fd()) || uv_poll_start(&step, UV_READABLE, on_step))
		err(1, "uv_poll_start");
	uv_run(&uv, UV_RUN_DEFAULT);
}
