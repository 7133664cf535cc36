// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The timers of an event loop, with the names and rules of libuv
 *
 * A timeout of 0 expires in the next iteration. A timer with a repeat starts itself
 * again. The time of the loop does not change during an iteration.
 */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include <twheel_timer.h>

struct loop {
	struct twheel_timers *wheel;
	uint64_t now;
};

struct handle {
	struct twheel_timer timer;
	struct loop *loop;
	uint64_t repeat;
	void (*callback)(struct handle *handle);
};

static void update_time(struct loop *loop)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	loop->now = ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void on_timer(struct twheel_timer *timer)
{
	struct handle *handle = twheel_timer_container(timer, struct handle, timer);

	if (handle->repeat)
		twheel_timer_start(handle->loop->wheel, timer, handle->loop->now + handle->repeat);
	handle->callback(handle);
}

static void timer_start(struct loop *loop, struct handle *handle, void (*callback)(struct handle *),
			uint64_t timeout, uint64_t repeat)
{
	handle->loop = loop;
	handle->repeat = repeat;
	handle->callback = callback;
	handle->timer.fn = on_timer;
	twheel_timer_start(loop->wheel, &handle->timer, loop->now + timeout);
}

static void timer_stop(struct handle *handle)
{
	twheel_timer_stop(handle->loop->wheel, &handle->timer);
}

/* Run until no timer is pending. A loop with descriptors polls them here. */
static void loop_run(struct loop *loop)
{
	uint64_t next;

	while ((next = twheel_timers_next(loop->wheel)) != TWHEEL_TIMERS_NEVER) {
		update_time(loop);
		if (next > loop->now)
			poll(NULL, 0, next - loop->now < INT_MAX ? next - loop->now : INT_MAX);
		update_time(loop);
		twheel_timers_advance(loop->wheel, loop->now, UINT_MAX);
	}
}

static void on_repeat(struct handle *handle)
{
	static int calls;

	printf("repeat %d\n", ++calls);
	if (calls == 3)
		timer_stop(handle);
}

static void on_once(struct handle *handle)
{
	(void)handle;
	printf("once\n");
}

int main(void)
{
	struct handle once = { 0 }, repeat = { 0 };
	struct loop loop;

	update_time(&loop);
	loop.wheel = twheel_timers_new(loop.now);
	if (!loop.wheel)
		return 1;
	timer_start(&loop, &repeat, on_repeat, 20, 10);
	timer_start(&loop, &once, on_once, 0, 0);
	loop_run(&loop);
	twheel_timers_free(loop.wheel);
	return 0;
}
