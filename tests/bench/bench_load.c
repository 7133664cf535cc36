// SPDX-License-Identifier: GPL-2.0
/*
 * A million timers that are due at once, or nearly so
 *
 * The loads are a crowd on one deadline, a crowd in one slot of the hierarchical
 * wheel's second level, 256 ticks, both near and far, and a crowd that is
 * refreshed just before it is due. All are started far ahead, so that they first
 * come down through outer slots. Callbacks only count.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sched.h>

#include "bench.h"

/* Ticks of an outer slot. Deadlines begin at the edge of one. */
#define SLOT_NS		(256 * (u64)BENCH_TICK_NS)
/* Ticks of a slot of the third level, about a minute. */
#define FAR_SLOT_NS	(256 * SLOT_NS)
/* All due timers must expire within this time. */
#define PATIENCE_NS	BENCH_SECONDS(300)

const struct bench_load bench_loads[] = {
	{ "deadline", .ahead_ns = BENCH_SECONDS(3) },
	{ "slot", .ahead_ns = BENCH_SECONDS(3), .width_ns = SLOT_NS },
	{ "refreshed", .ahead_ns = BENCH_SECONDS(3), .refreshed = true },
	{ "far_deadline", .ahead_ns = BENCH_SECONDS(100), .far = true },
	{ "far_slot", .ahead_ns = BENCH_SECONDS(100),
	  .width_ns = FAR_SLOT_NS, .far = true },
	{ }
};

/* msleep() would not do: its timer is late itself, and may be among the million. */
static void sleep_until(ktime_t at)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
}

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
	u64 slot = max(load->width_ns, SLOT_NS);
	u64 begin = slot * DIV64_U64_ROUND_UP(ktime_get() + load->ahead_ns, slot);
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

/* All timers of a run, which are pending, get another deadline. */
static void restart_all(struct bench *b, u64 deadline)
{
	u64 same = b->impl->absolute(deadline);
	u32 from, i;

	for (from = 0; from < b->pending; from += BENCH_BATCH) {
		bench_pick(b, from, min(b->pending - from, BENCH_BATCH + 0U));
		for (i = 0; i < b->nr; i++)
			b->when[i] = same;
		b->impl->restart(b);
		cond_resched();
	}
}

/**
 * bench_load_refresh - push a crowd back just before it is due
 * @b: the run
 * @deadline: its deadline, which changes
 *
 * The first time shows how long it takes to push all back. The second time begins
 * three times as long before the deadline: a wheel moves nothing the first time.
 *
 * Return: 0, or -ETIME if some expired meanwhile.
 */
int bench_load_refresh(struct bench *b, u64 *deadline)
{
	u64 begin = ktime_get(), took;

	*deadline += SLOT_NS;
	restart_all(b, *deadline);
	took = ktime_get() - begin;
	sleep_until(*deadline - 3 * took);
	*deadline += BENCH_SECONDS(3);
	restart_all(b, *deadline);
	return bench_expiry->expired ? -ETIME : 0;
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
