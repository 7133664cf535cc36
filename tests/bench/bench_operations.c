// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of one start, stop, restart and refresh
 *
 * With all timers pending, a batch of random ones is stopped and started again
 * in various ways. Interrupts are off during a batch, so that nothing else is
 * counted. A batch is also too short to miss a tick. All times are looked up in
 * advance. The figure is the median of BENCH_BATCHES batches, less the median
 * of an empty loop, per operation.
 *
 * There are three ranges of deadlines, none of which comes up during the
 * benchmark. Timers wait in the middle one. A restart moves them to the early
 * one, a refresh to the late one. A refresh_same is a relative restart to the tick
 * that the timer has already.
 *
 * bench_operations() uses one batch for all operations, whose timers are in the
 * cache from the second operation on. bench_operations_cold() uses other timers
 * for each operation.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include "bench.h"

#define EARLY_NS	BENCH_SECONDS(10)
#define MIDDLE_NS	BENCH_SECONDS(70)
#define LATE_NS		BENCH_SECONDS(130)

enum operation {
	NOTHING,
	STOP,
	START,
	START_AT,
	REFRESH,
	RESTART,
	REFRESH_SAME,
	NR_OPERATIONS,
};

static const char * const names[NR_OPERATIONS] = {
	[STOP]		= "stop",
	[START]		= "start",
	[START_AT]	= "start_at",
	[REFRESH]	= "refresh",
	[RESTART]	= "restart",
	[REFRESH_SAME]	= "refresh_same",
};

/* Nanoseconds that each batch of each operation took. */
struct times {
	u32 ns[NR_OPERATIONS][BENCH_BATCHES];
};

static void do_nothing(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		asm volatile("" : : "r" (b->batch[i]), "r" (b->when[i]));
}

static u32 timed(struct bench *b, void (*fn)(struct bench *b))
{
	unsigned long flags;
	ktime_t begin, end;

	cond_resched();
	local_irq_save(flags);
	begin = ktime_get();
	fn(b);
	end = ktime_get();
	local_irq_restore(flags);
	return end - begin;
}

/* A deadline for each timer of the batch, at least @from from now. */
void bench_at(struct bench *b, u64 from)
{
	u64 now = ktime_get();
	u32 i;

	for (i = 0; i < b->nr; i++)
		b->when[i] = b->impl->absolute(now + from + b->dist->draw());
}

static void after(struct bench *b, u64 from)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		b->when[i] = b->impl->relative(from + b->dist->draw());
}

/*
 * Relative delays to deadlines in the middle of a tick of wheels and of jiffies, so
 * that restarts after the same delays come to the same ticks for some time.
 */
static void after_mid_tick(struct bench *b, u64 from)
{
	u64 now = ktime_get(), at;
	u32 i, rest;

	for (i = 0; i < b->nr; i++) {
		at = now + from + b->dist->draw();
		div_u64_rem(at, BENCH_TICK_NS, &rest);
		b->when[i] = b->impl->relative(at - rest + BENCH_TICK_NS / 2 -
					       now);
	}
}

/* Each timer of the batch once more after the same delay. */
static u32 refresh_same(struct bench *b)
{
	if (!b->impl->restart_after)
		return 0;
	after_mid_tick(b, MIDDLE_NS);
	b->impl->restart_after(b);
	return timed(b, b->impl->restart_after);
}

static void one_batch(struct bench *b, struct times *times, u32 i)
{
	const struct bench_impl *impl = b->impl;

	bench_pick(b, i * BENCH_BATCH, BENCH_BATCH);
	times->ns[NOTHING][i] = timed(b, do_nothing);
	times->ns[STOP][i] = timed(b, impl->stop);
	after(b, MIDDLE_NS);
	times->ns[START][i] = timed(b, impl->start);
	impl->stop(b);
	bench_at(b, MIDDLE_NS);
	times->ns[START_AT][i] = timed(b, impl->start_at);
	bench_at(b, LATE_NS);
	times->ns[REFRESH][i] = timed(b, impl->restart);
	impl->stop(b);
	bench_at(b, MIDDLE_NS);
	impl->start_at(b);
	bench_at(b, EARLY_NS);
	times->ns[RESTART][i] = timed(b, impl->restart);
	times->ns[REFRESH_SAME][i] = refresh_same(b);
	impl->stop(b);
	bench_at(b, MIDDLE_NS);
	impl->start_at(b);
}

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

static u32 median(u32 *values)
{
	sort(values, BENCH_BATCHES, sizeof(*values), compare, NULL);
	return values[BENCH_BATCHES / 2];
}

/* Fills the facility: all timers are pending in the middle range. */
void bench_fill(struct bench *b)
{
	u32 from;

	for (from = 0; from < b->pending; from += BENCH_BATCH) {
		bench_pick(b, from, min(b->pending - from, BENCH_BATCH + 0U));
		bench_at(b, MIDDLE_NS);
		b->impl->start_at(b);
		cond_resched();
	}
}

void bench_empty(struct bench *b)
{
	u32 from;

	for (from = 0; from < b->pending; from += BENCH_BATCH) {
		bench_pick(b, from, min(b->pending - from, BENCH_BATCH + 0U));
		b->impl->stop(b);
		cond_resched();
	}
}

int bench_operations(struct bench *b)
{
	static struct times times;
	u32 i, empty, ns, nr;

	bench_fill(b);
	for (i = 0; i < BENCH_BATCHES; i++)
		one_batch(b, &times, i);
	nr = b->nr;
	bench_empty(b);
	empty = median(times.ns[NOTHING]);
	for (i = NOTHING + 1; i < NR_OPERATIONS; i++) {
		if (i == REFRESH_SAME && !b->impl->restart_after)
			continue;
		ns = median(times.ns[i]) - empty;
		bench_row(b, names[i], b->dist->name, 1, "ns",
			  100 * ns / nr);
	}
	return 0;
}

/*
 * Cold: a timer comes from memory at each operation, and so do its neighbours in
 * its slot.
 *
 * The random order of a run is a ring of quarters. A quarter has the timers that
 * wait for the same step of their life. A batch takes random ones of these,
 * carries out the step, and hands them on to the next quarter. Timers that joined
 * a slot one after the other are used at quite different times.
 */

#define SAMPLES		2048
#define VISIT		4
/* A timer may have to wait so much longer until it is used again. */
#define WAIT_NS		BENCH_SECONDS(30)

static const enum operation life[] = { REFRESH, RESTART, STOP, START };

#define STEPS		ARRAY_SIZE(life)

/**
 * struct cold - a run whose operations are cold
 * @b: the run
 * @batch: timers in a batch
 * @end: where in the ring each quarter ends
 * @nr: number of samples of each operation
 * @each: hundredths of ns per operation, of each batch
 */
struct cold {
	struct bench *b;
	u32 batch;
	u32 end[STEPS];
	u32 nr[NR_OPERATIONS];
	u32 each[NR_OPERATIONS][SAMPLES];
};

static u32 cold_batch(struct bench *b, enum operation op)
{
	const struct bench_impl *impl = b->impl;

	switch (op) {
	case STOP:
		return timed(b, impl->stop);
	case START:
		after(b, WAIT_NS + MIDDLE_NS);
		return timed(b, impl->start);
	case START_AT:
		bench_at(b, WAIT_NS + MIDDLE_NS);
		return timed(b, impl->start_at);
	case REFRESH:
		bench_at(b, WAIT_NS + LATE_NS);
		return timed(b, impl->restart);
	case RESTART:
		bench_at(b, WAIT_NS + EARLY_NS);
		return timed(b, impl->restart);
	default:
		return timed(b, do_nothing);
	}
}

static void note_sample(struct cold *c, enum operation op)
{
	u64 ns = cold_batch(c->b, op);

	if (c->nr[op] < SAMPLES)
		c->each[op][c->nr[op]++] = div_u64(100 * ns, c->b->nr);
}

/* Bring random ones of a quarter to its end, and hand them on. */
static void pick_random(struct cold *c, u32 step)
{
	u32 *order = c->b->order, nr = c->b->pending, i, last, other;

	for (i = 0; i < c->batch; i++) {
		last = (c->end[step] + nr - 1) % nr;
		other = (last + nr - bench_random_below(nr / STEPS - i)) % nr;
		swap(order[last], order[other]);
		c->end[step] = last;
	}
	bench_pick(c->b, c->end[step], c->batch);
}

/* Every other start is a start_at. */
static void cold_step(struct cold *c, u32 step)
{
	enum operation op = life[step];

	if (op == START && c->nr[START] > c->nr[START_AT])
		op = START_AT;
	pick_random(c, step);
	note_sample(c, NOTHING);
	note_sample(c, op);
}

/*
 * Steps are taken from the last one to the first, so that none finds its quarter
 * smaller than it was.
 */
static void cold_visit(struct cold *c)
{
	u32 step, i;

	for (i = 0; i < VISIT; i++)
		for (step = STEPS; step > 0; step--)
			cold_step(c, step - 1);
}

/* The state in which the steps before its own leave the timers of a quarter. */
static void cold_begin_quarter(struct cold *c, u32 quarter)
{
	u32 size = c->b->pending / STEPS, from, step;

	for (from = 0; from < size; from += c->batch) {
		bench_pick(c->b, quarter * size + from,
			   min(c->batch, size - from));
		for (step = 0; step < quarter; step++)
			cold_batch(c->b, life[step]);
	}
	c->end[quarter] = (quarter + 1) * size % c->b->pending;
}

static void cold_begin(struct cold *c, struct bench *b)
{
	u32 quarter;

	c->b = b;
	c->batch = min(b->pending / (2 * (u32)STEPS), BENCH_BATCH + 0U);
	bench_fill(b);
	for (quarter = 0; quarter < STEPS; quarter++)
		cold_begin_quarter(c, quarter);
}

/* Mean of the middle half: a median has the resolution of the clock. */
static u32 middle(u32 *values, u32 nr)
{
	u32 first = nr / 4, i;
	u64 sum = 0;

	sort(values, nr, sizeof(*values), compare, NULL);
	for (i = first; i < nr - first; i++)
		sum += values[i];
	return div_u64(sum, nr - 2 * first);
}

static void cold_report(struct cold *c)
{
	u32 op, empty, each;

	empty = middle(c->each[NOTHING], c->nr[NOTHING]);
	for (op = NOTHING + 1; op <= RESTART; op++) {
		each = middle(c->each[op], c->nr[op]);
		bench_row(c->b, names[op], c->b->dist->name, 1, "ns",
			  max(each, empty) - empty);
	}
}

/**
 * bench_operations_cold - what each operation costs when timers are not cached
 * @runs: a run of each implementation, all with as many timers
 * @nr: number of runs
 *
 * The runs take turns, so that a machine that gets slower for some time speaks
 * for none of them.
 *
 * Return: 0, or a negative error number. -ETIME if the machine was so slow that
 * timers have expired meanwhile.
 */
int bench_operations_cold(struct bench **runs, u32 nr)
{
	struct cold *colds = vzalloc(array_size(nr, sizeof(*colds)));
	u32 i;

	if (!colds)
		return -ENOMEM;
	bench_expiry->restart = false;
	bench_expiry->expired = 0;
	for (i = 0; i < nr; i++)
		cold_begin(&colds[i], runs[i]);
	while (colds->nr[START] < SAMPLES / 4)
		for (i = 0; i < nr; i++)
			cold_visit(&colds[i]);
	for (i = 0; i < nr; i++) {
		cold_report(&colds[i]);
		bench_empty(runs[i]);
	}
	vfree(colds);
	return bench_expiry->expired ? -ETIME : 0;
}
