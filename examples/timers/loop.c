// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The timers of an event loop, with the names and rules of libuv
 *
 * A timeout of 0 expires in the next iteration. Timers of one deadline expire in the order of
 * their last starts. A timer with a repeat starts itself again before its callback is
 * called. The time of the loop does not change during an iteration.
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

static void start_again(struct handle *handle, uint64_t timeout)
{
	uint64_t deadline = handle->loop->now + timeout;

	/* A push would be faster, but would not keep the order of timers with the same deadline. */
	twheel_timer_stop(handle->loop->wheel, &handle->timer);
	twheel_timer_start(handle->loop->wheel, &handle->timer,
			   deadline < timeout ? TWHEEL_TIMERS_NEVER : deadline);
}

static void on_timer(struct twheel_timer *timer)
{
	struct handle *handle = twheel_timer_container(timer, struct handle, timer);

	if (handle->repeat)
		start_again(handle, handle->repeat);
	handle->callback(handle);
}

static void timer_init(struct loop *loop, struct handle *handle)
{
	twheel_timer_init(&handle->timer, on_timer);
	handle->loop = loop;
	handle->repeat = 0;
	handle->callback = NULL;
}

static void timer_start(struct handle *handle, void (*callback)(struct handle *), uint64_t timeout,
			uint64_t repeat)
{
	handle->callback = callback;
	handle->repeat = repeat;
	start_again(handle, timeout);
}

static void timer_stop(struct handle *handle)
{
	twheel_timer_stop(handle->loop->wheel, &handle->timer);
}

/* Returns the number of milliseconds that the loop may sleep, -1 if no timer is pending. */
static int backend_timeout(struct loop *loop)
{
	uint64_t next = twheel_timers_next(loop->wheel);

	if (!twheel_timers_count(loop->wheel))
		return -1;
	if (next <= loop->now)
		return 0;
	return next - loop->now < INT_MAX ? (int)(next - loop->now) : INT_MAX;
}

static void run_timers(struct loop *loop)
{
	update_time(loop);
	twheel_timers_advance(loop->wheel, loop->now, UINT_MAX);
}

/* Run until no timer is pending. A loop with descriptors passes them to poll() here. */
static void loop_run(struct loop *loop)
{
	int timeout;

	while ((timeout = backend_timeout(loop)) >= 0) {
		poll(NULL, 0, timeout);
		run_timers(loop);
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
	struct handle once, repeat;
	struct loop loop;

	update_time(&loop);
	loop.wheel = twheel_timers_new(loop.now);
	if (!loop.wheel)
		return 1;
	timer_init(&loop, &repeat);
	timer_init(&loop, &once);
	timer_start(&repeat, on_repeat, 20, 10);
	timer_start(&once, on_once, 0, 0);
	loop_run(&loop);
	twheel_timers_free(loop.wheel);
	return 0;
}
