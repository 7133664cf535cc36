// SPDX-License-Identifier: GPL-2.0
/*
 * In a user-mode kernel: the speed of the CPU, and its caches
 *
 * A user-mode kernel is a program of the host: its code runs as fast as any
 * other kernel's. The differences have to be made up for:
 *
 *  - The host maps its memory in small pages. A kernel maps its own in large
 *    pages, so collapse_memory() asks the host for these.
 *  - An interrupt is a signal, whose cost is not an interrupt's in other
 *    kernels. With interrupts off for a jiffy at a time, one of them brings all
 *    expiries of that jiffy. The cost of one with nothing due is subtracted.
 *  - Other programs run on the host. The implementations take turns in one run,
 *    and expiries are measured in CPU time of this program.
 *  - Its spinlocks are nothing. tests/vm/um_locks.h has their cost elsewhere.
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/sort.h>

#include <asm/page.h>
#include <asm/unistd.h>

#include "bench.h"

#define ROUNDS		5
/* A window of a second: a jiffy with interrupts off, over and over. */
#define HOLDS		100
#define HOLD_NS		(10 * NSEC_PER_MSEC)
#define SETTLE_MS	300

/* The host's names of these. */
#define HOST_THREAD_CPUTIME	3
#define HOST_POPULATE_WRITE	23
#define HOST_COLLAPSE		25

/* The host's C library, as a user-mode kernel exports it. */
long syscall(long number, ...);
extern unsigned long high_physmem;

/**
 * struct window - what the interruptions of some time have cost
 * @lost: their sum, ns
 * @expired: timers that have expired in them
 * @ns: each of them
 */
struct window {
	u64 lost;
	u32 expired;
	u32 ns[HOLDS];
};

/**
 * struct um_run - an implementation, and what its rounds have given
 * @b: the run
 * @each: hundredths of ns per expiry
 */
struct um_run {
	struct bench *b;
	u32 each[ROUNDS];
};

/* CPU time of this program: others that run on the host do not count. */
static u64 cpu_ns(void)
{
	u64 time[2];

	syscall(__NR_clock_gettime, HOST_THREAD_CPUTIME, time);
	return time[0] * NSEC_PER_SEC + time[1];
}

/* With interrupts off, so that all that comes due meanwhile waits for the end. */
static void hold(void)
{
	u64 end = ktime_get() + HOLD_NS;

	while (ktime_get() < end)
		cpu_relax();
}

/* Each interruption comes at local_irq_enable(), and has returned after it. */
static void watch(struct window *w)
{
	u32 expired = READ_ONCE(bench_expiry->expired), i;
	u64 begin;

	w->lost = 0;
	for (i = 0; i < HOLDS; i++) {
		local_irq_disable();
		hold();
		begin = cpu_ns();
		local_irq_enable();
		w->ns[i] = cpu_ns() - begin;
		w->lost += w->ns[i];
		cond_resched();
	}
	w->expired = READ_ONCE(bench_expiry->expired) - expired;
}

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

static u32 median(u32 *values, u32 nr)
{
	sort(values, nr, sizeof(*values), compare, NULL);
	return values[nr / 2];
}

/* An interruption with all timers pending and none due. */
static u32 empty_ns(struct bench *b, struct window *w)
{
	bench_expiry->restart = false;
	bench_fill(b);
	msleep(SETTLE_MS);
	watch(w);
	bench_empty(b);
	return median(w->ns, HOLDS);
}

/* Hundredths of ns per expiry. */
static u32 one_round(struct bench *b)
{
	static struct window w;
	u64 empty = (u64)HOLDS * empty_ns(b, &w);

	bench_expiry->from_now = false;
	bench_expiries_begin(b);
	msleep(SETTLE_MS);
	watch(&w);
	bench_expiries_end(b);
	return div_u64(100 * (max(w.lost, empty) - empty), max(w.expired, 1U));
}

static void measure_expiries(struct um_run *runs, u32 nr)
{
	struct um_run *run;
	u32 round;

	for (round = 0; round < ROUNDS; round++)
		for (run = runs; run < runs + nr; run++)
			run->each[round] = one_round(run->b);
	for (run = runs; run < runs + nr; run++)
		bench_row(run->b, "expire_restart", run->b->dist->name, 1, "ns",
			  median(run->each, ROUNDS));
}

/*
 * A relative start of a wheel reads the clock, a start of timer_list does not.
 */
static void measure_clock(const struct bench *b)
{
	u32 each[101], i, j;
	u64 begin;

	for (i = 0; i < ARRAY_SIZE(each); i++) {
		begin = cpu_ns();
		for (j = 0; j < 1000; j++)
			ktime_get();
		each[i] = (cpu_ns() - begin) / 10;
	}
	bench_row(b, "clock", "none", 1, "ns", median(each, ARRAY_SIZE(each)));
}

/*
 * A page has to be there to become part of a large one. Memory that is not the
 * kernel's, or not to be had in large pages, is left as it is.
 */
static void collapse_memory(void)
{
	unsigned long page, pages = 0, large = 0;

	for (page = round_up(PAGE_OFFSET, SZ_2M);
	     page + SZ_2M <= high_physmem; page += SZ_2M) {
		pages++;
		if (!syscall(__NR_madvise, page, SZ_2M, HOST_POPULATE_WRITE) &&
		    !syscall(__NR_madvise, page, SZ_2M, HOST_COLLAPSE))
			large++;
	}
	pr_info("%lu of %lu large pages\n", large, pages);
}

static void destroy(struct um_run *runs, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (runs[i].b)
			bench_destroy(runs[i].b);
}

static int create(struct um_run *runs, const struct bench_impl * const *impls,
		  u32 nr, u32 pending)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		runs[i].b = bench_create(impls[i], bench_dists, pending);
		if (!runs[i].b)
			return -ENOMEM;
	}
	return 0;
}

static int measure(struct um_run *runs, u32 nr)
{
	struct bench *b[BENCH_UM_IMPLS];
	u32 i;

	for (i = 0; i < nr; i++)
		b[i] = runs[i].b;
	measure_expiries(runs, nr);
	return bench_operations_cold(b, nr);
}

/**
 * bench_um - all operations of some implementations, side by side
 * @impls: the implementations
 * @nr: their number, at most %BENCH_UM_IMPLS
 * @pending: number of timers of each
 *
 * Return: 0, or a negative error number.
 */
int bench_um(const struct bench_impl * const *impls, u32 nr, u32 pending)
{
	struct um_run runs[BENCH_UM_IMPLS] = { };
	int ret = create(runs, impls, nr, pending);

	if (!ret) {
		collapse_memory();
		measure_clock(runs[0].b);
		ret = measure(runs, nr);
	}
	destroy(runs, nr);
	return ret;
}
