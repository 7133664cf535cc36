// SPDX-License-Identifier: GPL-2.0
/*
 * A million timers that are due at once, or nearly so
 *
 * A facility should survive that all its timers are due in one tick, or in one
 * slot of the hierarchical wheel's second level, 256 ticks. All are started far
 * ahead, so that they first come down through outer slots. Callbacks only
 * count.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sched.h>

#include "bench.h"

/* Ticks of an outer slot. Deadlines begin at the edge of one. */
#define SLOT_NS		(256 * (u64)BENCH_TICK_NS)
/* All due timers must expire within this time. */
#define PATIENCE_NS	BENCH_SECONDS(300)

/* Loads that are too far ahead to wait for come last. */
const struct bench_load bench_loads[] = {
	{ "one_tick", .ahead_ns = BENCH_SECONDS(3) },
	{ "outer_slot", .ahead_ns = BENCH_SECONDS(3), .width_ns = SLOT_NS },
	/* down from the third level, then the second, all to one tick */
	{ "far_tick", .ahead_ns = BENCH_SECONDS(100), .far = true },
	{ }
};

static u64 deadline(struct bench *b, const struct bench_load *load, u64 begin)
{
	u64 width = div_u64(load->width_ns, NSEC_PER_USEC);

	return begin + (u64)bench_random_below(width) * NSEC_PER_USEC;
}

/**
 * bench_load_start - start all timers of a run
 * @b: the run
 * @load: their deadlines
 *
 * Return: the first deadline, CLOCK_MONOTONIC, ns.
 */
u64 bench_load_start(struct bench *b, const struct bench_load *load)
{
	u64 begin = roundup(ktime_get() + load->ahead_ns, SLOT_NS);
	/* Convert it only once: timer_list's conversion is inexact. */
	u64 same = b->impl->absolute(begin);
	u32 from, i;

	bench_expiry->restart = false;
	bench_expiry->expired = 0;
	for (from = 0; from < b->pending; from += BENCH_BATCH) {
		bench_pick(b, from, min(b->pending - from, BENCH_BATCH + 0U));
		for (i = 0; i < b->nr; i++)
			b->when[i] = !load->width_ns ? same :
				b->impl->absolute(deadline(b, load, begin));
		b->impl->start_at(b);
		cond_resched();
	}
	return begin;
}

/**
 * bench_load_wait - wait until all timers of a run have expired
 * @b: the run
 *
 * Return: 0, or -ETIMEDOUT.
 */
int bench_load_wait(const struct bench *b)
{
	u64 end = ktime_get() + PATIENCE_NS;

	while (READ_ONCE(bench_expiry->expired) < b->pending) {
		if (ktime_get() > end)
			return -ETIMEDOUT;
		msleep(20);
	}
	return 0;
}
