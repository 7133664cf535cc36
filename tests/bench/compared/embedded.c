// SPDX-License-Identifier: GPL-2.0
/*
 * twheel's timers in the program's own structures: <twheel_timer.h>
 *
 * UNIT is the program's unit of time in ns, and WIDTH the width of a slot in units, as a power
 * of two. The figures of Documentation/compared.rst are for 1 ms, with a constant width.
 */
#include <limits.h>

#include <twheel_timer.h>

#include "replay.h"

#ifndef UNIT
#define UNIT	MS
#define WIDTH	0
#endif

struct connection {
	struct twheel_timer idle;
};

static struct twheel_timers *wheel;
static struct connection *all;

static void on_idle(struct twheel_timer *timer)
{
	replay_expired(twheel_timer_container(timer, struct connection, idle) - all);
}

void adapter_open(unsigned int connections)
{
	all = allocate(connections, sizeof(*all));
	wheel = twheel_timers_new(now_ns() / UNIT);
	if (!wheel)
		err(1, "twheel_timers_new");
#ifndef TWHEEL_TIMERS_WIDTH
	twheel_timers_width(wheel, WIDTH);
#endif
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	all[connection].idle.fn = on_idle;
	twheel_timer_start(wheel, &all[connection].idle, (deadline_ns + UNIT - 1) / UNIT);
}

void adapter_refresh(unsigned int connection, uint64_t deadline_ns)
{
	twheel_timer_push(wheel, &all[connection].idle, (deadline_ns + UNIT - 1) / UNIT);
}

void adapter_stop(unsigned int connection)
{
	twheel_timer_stop(wheel, &all[connection].idle);
}

uint64_t adapter_first(void)
{
	uint64_t next = twheel_timers_next(wheel);

	return next == TWHEEL_TIMERS_NEVER ? UINT64_MAX : next * UNIT;
}

void adapter_expire(uint64_t now)
{
	twheel_timers_advance(wheel, now / UNIT, UINT_MAX);
}
