// SPDX-License-Identifier: GPL-2.0
/*
 * libuv's loop, and its timers: a heap in the process
 */
#include <uv.h>

#include "servers.h"

static uv_loop_t loop;
static uv_timer_t timers[CONNECTIONS];

static void on_timeout(uv_timer_t *timer)
{
	server_timeout(timer - timers);
}

static void on_readable(uv_poll_t *poll, int status, int what)
{
	(*(void (**)(void))poll->data)();
	if (server_done())
		uv_stop(&loop);
	(void)status;
	(void)what;
}

static void libuv_open(void)
{
	unsigned int i;

	if (uv_loop_init(&loop))
		fail("uv_loop_init");
	for (i = 0; i < CONNECTIONS; i++)
		uv_timer_init(&loop, &timers[i]);
}

/* Two at most: the packets and the wheel. */
static void libuv_watch(int fd, void (*fn)(void))
{
	static struct {
		uv_poll_t poll;
		void (*fn)(void);
	} watchers[2], *watcher = watchers;

	watcher->fn = fn;
	watcher->poll.data = &watcher->fn;
	if (uv_poll_init(&loop, &watcher->poll, fd) ||
	    uv_poll_start(&watcher->poll, UV_READABLE, on_readable))
		fail("uv_poll");
	watcher++;
}

/* It counts in milliseconds. */
static void libuv_start(unsigned int connection, __u64 delay_ns)
{
	if (uv_timer_start(&timers[connection], on_timeout, (delay_ns + MS - 1) / MS, 0))
		fail("uv_timer_start");
}

static void libuv_run(void)
{
	uv_run(&loop, UV_RUN_DEFAULT);
}

const struct loop loop_libuv = {
	.name	= "libuv",
	.open	= libuv_open,
	.watch	= libuv_watch,
	.start	= libuv_start,
	.run	= libuv_run,
};
