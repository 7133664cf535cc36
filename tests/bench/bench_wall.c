// SPDX-License-Identifier: GPL-2.0
/*
 * bench_wall.c - two CPUs at once
 *
 * One thread on a CPU, or one on each of two, starts and stops timers of its
 * own in one facility, as fast as it can for a while; then the other number
 * of threads, in turns. Turns are many and short, so that what the host does
 * beside the guest hits both of a pair, or one pair of many: the figures are
 * those of the pair that is the median by the ratio of its rates. Nothing is
 * shared but the facility: with per-CPU bases two CPUs should do twice what one
 * does.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "bench.h"

#define TURNS		100
#define TURN_MS		30
#define FAR_NS		BENCH_SECONDS(3600)

struct worker {
	struct bench *b;
	struct completion done;
	u64 rate;
};

/* Operations per second of one CPU, and just after that of two. */
struct pair {
	u64 one;
	u64 two;
};

static struct pair pairs[TURNS];
static DECLARE_COMPLETION(go);
static bool running;

static u64 work(struct bench *b)
{
	u64 operations = 0;
	u32 from = 0;

	while (READ_ONCE(running)) {
		bench_pick(b, from, BENCH_BATCH);
		b->impl->start_at(b);
		b->impl->stop(b);
		operations += 2 * b->nr;
		from = (from + b->nr) % b->pending;
		cond_resched();
	}
	return operations;
}

static int worker_fn(void *arg)
{
	struct worker *w = arg;
	u64 begin, operations;

	wait_for_completion(&go);
	begin = ktime_get();
	operations = work(w->b);
	w->rate = div64_u64(operations * NSEC_PER_SEC, ktime_get() - begin);
	complete(&w->done);
	return 0;
}

static int start_worker(struct worker *w, u32 cpu)
{
	struct task_struct *task;

	init_completion(&w->done);
	task = kthread_create_on_cpu(worker_fn, w, cpu, "twheel_bench/%u");
	if (IS_ERR(task))
		return PTR_ERR(task);
	wake_up_process(task);
	return 0;
}

/* Operations per second of all threads together, or 0. */
static u64 one_turn(struct worker *workers, u32 cpus)
{
	u32 i, started;
	u64 rate = 0;

	reinit_completion(&go);
	for (started = 0; started < cpus; started++)
		if (start_worker(&workers[started], started))
			break;
	WRITE_ONCE(running, true);
	complete_all(&go);
	msleep(TURN_MS);
	WRITE_ONCE(running, false);
	for (i = 0; i < started; i++) {
		wait_for_completion(&workers[i].done);
		rate += workers[i].rate;
	}
	return started == cpus ? rate : 0;
}

static void report(const struct bench *b, u32 cpus, u64 rate)
{
	bench_row(b, "start_stop", b->dist->name, cpus, "per_s", 100 * rate);
}

static int compare(const void *a, const void *b)
{
	const struct pair *p = a, *q = b;
	u64 x = p->two * q->one, y = q->two * p->one;

	return (x > y) - (x < y);
}

static void measure(struct worker *workers)
{
	const struct pair *median = &pairs[TURNS / 2];
	int i;

	for (i = 0; i < TURNS; i++) {
		pairs[i].one = one_turn(workers, 1);
		pairs[i].two = one_turn(workers, 2);
	}
	sort(pairs, TURNS, sizeof(*pairs), compare, NULL);
	report(workers[0].b, 1, median->one);
	report(workers[0].b, 2, median->two);
}

static void destroy(struct worker *workers)
{
	if (workers[1].b)
		bench_destroy(workers[1].b);
	if (workers[0].b)
		bench_destroy(workers[0].b);
}

static int create(struct worker *workers, const struct bench_impl *impl,
		  const struct bench_dist *dist, u32 pending)
{
	int i;

	workers[0].b = bench_create(impl, dist, pending);
	if (!workers[0].b)
		return -ENOMEM;
	workers[1].b = bench_create_more(workers[0].b);
	if (!workers[1].b)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		bench_pick(workers[i].b, 0, BENCH_BATCH);
		bench_at(workers[i].b, FAR_NS);
	}
	return 0;
}

/**
 * bench_wall - the rate of one CPU and of two
 * @impl: the implementation
 * @dist: distribution of intervals
 * @pending: number of timers of each CPU
 *
 * Return: 0, or a negative error number.
 */
int bench_wall(const struct bench_impl *impl, const struct bench_dist *dist,
	       u32 pending)
{
	struct worker *workers = kcalloc(2, sizeof(*workers), GFP_KERNEL);
	int ret;

	if (!workers)
		return -ENOMEM;
	ret = create(workers, impl, dist, pending);
	if (!ret)
		measure(workers);
	destroy(workers);
	kfree(workers);
	return ret;
}
