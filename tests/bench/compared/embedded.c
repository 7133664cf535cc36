// SPDX-License-Identifier: GPL-2.0
/*
 * twheel's timers in the program's own structures: <twheel_timer.h>, with ticks of 1 ms
 */
#include <limits.h>
#include <time.h>

#include <twheel_timer.h>

#include "loop.h"
#include "replay.h"

struct connection {
	struct twheel_timer idle;
};

static struct twheel_timers *wheel;
static struct connection *all;

static void on_idle(struct twheel_timer *timer)
{
	replay_expired(twheel_timer_container(timer, struct connection, idle) - all);
}

static void open_wheel(unsigned int connections)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	all = allocate(connections, sizeof(*all));
	wheel = twheel_timers_new((ts.tv_sec * SECOND + ts.tv_nsec) / MS);
	if (!wheel)
		fail("twheel_timers_new");
}

static void start(unsigned int connection, uint64_t deadline_ns)
{
	all[connection].idle.fn = on_idle;
	twheel_timer_start(wheel, &all[connection].idle, (deadline_ns + MS - 1) / MS);
}

static void refresh(unsigned int connection, uint64_t deadline_ns)
{
	twheel_timer_push(wheel, &all[connection].idle, (deadline_ns + MS - 1) / MS);
}

static void stop(unsigned int connection)
{
	twheel_timer_stop(wheel, &all[connection].idle);
}

static uint64_t first(void)
{
	uint64_t next = twheel_timers_next(wheel);

	return next == TWHEEL_TIMERS_NEVER ? UINT64_MAX : next * MS;
}

static void expire(uint64_t now)
{
	twheel_timers_advance(wheel, now / MS, UINT_MAX);
}

static void loop(void)
{
	loop_with_timeout(first, expire);
}

const struct adapter adapter = {
	.open		= open_wheel,
	.start		= start,
	.refresh	= refresh,
	.stop		= stop,
	.loop		= loop,
};
