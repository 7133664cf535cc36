// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of one start, stop, restart and refresh
 *
 * While all timers are pending, a batch of random timers is stopped and started again in various
 * ways. Interrupts are off during a batch, so that nothing else is counted, and a batch is too
 * short to miss a tick. All deadlines are computed in advance. The figure is the median of
 * BENCH_BATCHES batches, less the median of an empty loop, per operation.
 *
 * There are three ranges of deadlines, all beyond the end of the benchmark. Timers wait in the
 * middle one. A restart moves them to the early one, a refresh to the late one.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/sched.h>

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
	NR_OPERATIONS,
};

static const char * const names[NR_OPERATIONS] = {
	[STOP]		= "stop",
	[START]		= "start",
	[START_AT]	= "start_at",
	[REFRESH]	= "refresh",
	[RESTART]	= "restart",
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

/* Choose a deadline for each timer of the batch, at least @from ns ahead. */
static void at(struct bench *b, u64 from)
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

static void one_batch(struct bench *b, struct times *times, u32 i)
{
	const struct bench_impl *impl = b->impl;

	bench_pick(b, i * BENCH_BATCH, BENCH_BATCH);
	times->ns[NOTHING][i] = timed(b, do_nothing);
	times->ns[STOP][i] = timed(b, impl->stop);
	after(b, MIDDLE_NS);
	times->ns[START][i] = timed(b, impl->start);
	impl->stop(b);
	at(b, MIDDLE_NS);
	times->ns[START_AT][i] = timed(b, impl->start_at);
	at(b, LATE_NS);
	times->ns[REFRESH][i] = timed(b, impl->restart);
	impl->stop(b);
	at(b, MIDDLE_NS);
	impl->start_at(b);
	at(b, EARLY_NS);
	times->ns[RESTART][i] = timed(b, impl->restart);
	impl->stop(b);
	at(b, MIDDLE_NS);
	impl->start_at(b);
}

/* Start all timers in the middle range. */
void bench_fill(struct bench *b)
{
	u32 from;

	for (from = 0; from < b->pending; from += BENCH_BATCH) {
		bench_pick(b, from, min(b->pending - from, BENCH_BATCH + 0U));
		at(b, MIDDLE_NS);
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

void bench_operations(struct bench *b)
{
	static struct times times;
	u32 i, empty, nr;

	bench_fill(b);
	for (i = 0; i < BENCH_BATCHES; i++)
		one_batch(b, &times, i);
	nr = b->nr;
	bench_empty(b);
	empty = bench_median(times.ns[NOTHING], BENCH_BATCHES);
	for (i = NOTHING + 1; i < NR_OPERATIONS; i++)
		bench_row(b, names[i], b->dist->name,
			  100 * (bench_median(times.ns[i], BENCH_BATCHES) - empty) / nr);
}
