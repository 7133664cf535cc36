// SPDX-License-Identifier: GPL-2.0
/*
 * How late a periodic timer is beside a million due ones
 *
 * Runs on a machine with two CPUs and a clock. A timer with a period of a
 * millisecond runs on each CPU. It is in the same wheel as the million timers
 * of CPU 0, or beside timer_list in the default wheel. The lateness of every
 * period is counted from the time when these timers are due until all have
 * expired. Periods that were missed and caught up count too.
 *
 * 99.9 % of the periods are at most lateness_p99_9 late, and lateness_max is
 * the maximum. "none" is the same with the million pending but none due, for
 * about as long.
 *
 * Each of ROUNDS rounds has every load once, and none, so that a slow machine
 * slows all of them. lateness_p99_9 is the median over the rounds. A single
 * pause of the guest by the host thus does not count.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "bench.h"

#define PERIOD_NS	NSEC_PER_MSEC
#define ROUNDS		7
/* None, and the loads of bench_loads[] that a run can wait for: the first. */
#define LOADS		3
#define NONE_MS		1000
/* Until a timer that was delayed by the load has expired too. */
#define SETTLE_MS	20
/* Lateness is counted in steps of 10 us, up to 10 s. */
#define BUCKET_NS	(10 * NSEC_PER_USEC)
#define BUCKETS		(1U << 20)

/**
 * struct beat - the periodic timer of a CPU
 * @timer: the timer
 * @counted: whether its periods count
 * @longest: longest lateness of this load in this round, ns
 * @periods: number of periods of this load in this round
 * @buckets: number of periods by lateness
 * @most: lateness of all but one in a thousand periods, for each round
 * @longest_of: longest lateness of all rounds, ns
 */
struct beat {
	struct twheel_timer timer;
	bool counted;
	u64 longest;
	u32 periods;
	u32 buckets[BUCKETS];
	u64 most[LOADS][ROUNDS];
	u64 longest_of[LOADS];
};

static const char * const where[] = { "same_cpu", "other_cpu" };

static void count_period(struct beat *beat, u64 late)
{
	beat->periods++;
	beat->longest = max(beat->longest, late);
	beat->buckets[min_t(u64, late / BUCKET_NS, BUCKETS - 1)]++;
}

static void beat_fn(struct twheel_timer *timer)
{
	struct beat *beat = container_of(timer, struct beat, timer);
	u64 now = ktime_get();
	u64 late = now - twheel_expired_deadline(timer, BENCH_TICK_NS);
	u64 periods = twheel_forward(timer, PERIOD_NS), i;

	if (!READ_ONCE(beat->counted))
		return;
	count_period(beat, late);
	for (i = 1; i < periods && late >= i * PERIOD_NS; i++)
		count_period(beat, late - i * PERIOD_NS);
}

static void count(struct beat **beats, bool on)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(where); i++)
		WRITE_ONCE(beats[i]->counted, on);
}

/* The lateness of all but one in a thousand: the end of its bucket. */
static u64 most(const struct beat *beat)
{
	u32 left = beat->periods / 1000 + 1, i = BUCKETS;

	while (i > 0 && beat->buckets[i - 1] < left)
		left -= beat->buckets[--i];
	return min_t(u64, i * (u64)BUCKET_NS, beat->longest);
}

static void begin_counting(struct beat **beats)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(where); i++) {
		beats[i]->longest = 0;
		beats[i]->periods = 0;
		memset(beats[i]->buckets, 0, sizeof(beats[i]->buckets));
	}
	count(beats, true);
}

static void end_counting(struct beat **beats, u32 load, u32 round)
{
	u32 i;

	count(beats, false);
	for (i = 0; i < ARRAY_SIZE(where); i++) {
		struct beat *beat = beats[i];

		beat->most[load][round] = most(beat);
		beat->longest_of[load] = max(beat->longest_of[load],
					     beat->longest);
	}
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static u64 median_round(struct beat *beat, u32 load)
{
	u64 *rounds = beat->most[load];

	sort(rounds, ROUNDS, sizeof(*rounds), compare, NULL);
	return rounds[ROUNDS / 2];
}

/* Load 0 is none, the others are in bench_loads[]. */
static const char *name_of(u32 load)
{
	return load ? bench_loads[load - 1].name : "none";
}

static void report(const struct bench *b, struct beat **beats, u32 load)
{
	char dist[32];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(where); i++) {
		snprintf(dist, sizeof(dist), "%s_%s", name_of(load), where[i]);
		bench_row(b, "lateness_p99_9", dist, 2, "ns",
			  100 * median_round(beats[i], load));
		bench_row(b, "lateness_max", dist, 2, "ns",
			  100 * beats[i]->longest_of[load]);
	}
}

static int late_none(struct bench *b, struct beat **beats)
{
	bench_fill(b);
	begin_counting(beats);
	msleep(NONE_MS);
	return 0;
}

static int late_load(struct bench *b, struct beat **beats,
		     const struct bench_load *load)
{
	int ret;

	bench_sleep_until(bench_load_start(b, load) - PERIOD_NS);
	begin_counting(beats);
	ret = bench_load_wait(b);
	msleep(SETTLE_MS);
	return ret;
}

static int one_round(struct bench *b, struct beat **beats, u32 round)
{
	int ret = 0;
	u32 load;

	for (load = 0; load < LOADS && !ret; load++) {
		ret = load ? late_load(b, beats, &bench_loads[load - 1]) :
			     late_none(b, beats);
		end_counting(beats, load, round);
		bench_empty(b);
	}
	return ret;
}

static int late_rounds(struct bench *b, struct beat **beats)
{
	u32 round, load;
	int ret = 0;

	for (round = 0; round < ROUNDS && !ret; round++)
		ret = one_round(b, beats, round);
	for (load = 0; load < LOADS && !ret; load++)
		report(b, beats, load);
	return ret;
}

static int start_beats(struct bench *b, struct beat **beats)
{
	struct twheel *wheel = b->impl->wheel ? b->facility : NULL;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(where); i++) {
		beats[i] = vzalloc(sizeof(*beats[i]));
		if (!beats[i])
			return -ENOMEM;
		twheel_timer_setup(&beats[i]->timer, wheel, beat_fn, 0);
		twheel_start_on(&beats[i]->timer, PERIOD_NS, i);
	}
	return 0;
}

static void stop_beats(struct beat **beats)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(where) && beats[i]; i++) {
		twheel_shutdown_sync(&beats[i]->timer);
		vfree(beats[i]);
	}
}

/**
 * bench_late - lateness of a periodic timer beside many due ones
 * @impl: the implementation of the due timers
 * @pending: their number
 *
 * Context: on CPU 0.
 * Return: 0, or a negative error number.
 */
int bench_late(const struct bench_impl *impl, u32 pending)
{
	struct bench *b = bench_create(impl, bench_dists, pending);
	struct beat *beats[ARRAY_SIZE(where)] = { };
	int ret;

	if (!b)
		return -ENOMEM;
	ret = start_beats(b, beats);
	if (!ret)
		ret = late_rounds(b, beats);
	stop_beats(beats);
	bench_destroy(b);
	return ret;
}
