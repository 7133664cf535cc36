// SPDX-License-Identifier: GPL-2.0
/*
 * Two CPUs at once
 *
 * A thread on each CPU starts and stops its own timers as fast as it can. The
 * threads share only the facility, so with per-CPU bases two CPUs should do
 * twice the work of one. A round has three turns: the first CPU alone, both,
 * the second CPU alone. Its figure is the rate of both, compared with the mean
 * rate of the two alone.
 *
 * Thus a machine whose CPUs differ, or that gets slower, does not favour one
 * side. A disturbance by the host hits a whole round or only one of many, and
 * the median of the rounds is reported.
 *
 * "none" only writes to the timers, and shows what the machine itself gains
 * from a second CPU.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "bench.h"

#define ROUNDS		100
#define TURN_MS		10
#define FAR_NS		BENCH_SECONDS(3600)

/**
 * struct worker - a thread on a CPU
 * @cpu: the CPU
 * @from: place in the random order at which to go on
 * @b: its timers
 * @rate: operations per second of its last turn
 * @done: completed at the end of its last turn
 */
struct worker {
	u32 cpu;
	u32 from;
	struct bench *b;
	u64 rate;
	struct completion done;
};

/* Operations per second: mean of each CPU alone, and both together. */
struct round {
	u64 one;
	u64 two;
};

static struct round rounds[ROUNDS];
static DECLARE_COMPLETION(go);
static bool running;

/*
 * Repeated so that the accesses to timers dominate the loop around them. It is
 * still faster than starts and stops of twheel, and so sooner bound by memory.
 */
#define TOUCHES		8

static void touch(struct bench *b)
{
	u32 i, times;

	for (times = 0; times < TOUCHES; times++)
		for (i = 0; i < b->nr; i++)
			WRITE_ONCE(b->batch[i]->deadline, b->when[i]);
}

static void none_setup(struct bench *b, struct bench_timer *timer)
{
}

static u64 none_absolute(u64 ns)
{
	return ns;
}

const struct bench_impl bench_none = {
	.name = "none",
	.top = U32_MAX,
	.setup = none_setup,
	.absolute = none_absolute,
	.start_at = touch,
	.stop = touch,
};

static u64 work(struct worker *w)
{
	struct bench *b = w->b;
	u64 operations = 0;

	while (READ_ONCE(running)) {
		bench_pick(b, w->from, BENCH_BATCH);
		b->impl->start_at(b);
		b->impl->stop(b);
		operations += 2 * b->nr;
		w->from = (w->from + b->nr) % b->pending;
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
	operations = work(w);
	w->rate = div64_u64(operations * NSEC_PER_SEC, ktime_get() - begin);
	complete(&w->done);
	return 0;
}

static int start_worker(struct worker *w)
{
	struct task_struct *task;

	init_completion(&w->done);
	task = kthread_create_on_cpu(worker_fn, w, w->cpu, "twheel_bench/%u");
	if (IS_ERR(task))
		return PTR_ERR(task);
	wake_up_process(task);
	return 0;
}

/* Operations per second of @nr threads together, or 0. */
static u64 one_turn(struct worker *workers, u32 nr)
{
	u32 i, started;
	u64 rate = 0;

	reinit_completion(&go);
	WRITE_ONCE(running, true);
	for (started = 0; started < nr; started++)
		if (start_worker(&workers[started]))
			break;
	complete_all(&go);
	msleep(TURN_MS);
	WRITE_ONCE(running, false);
	for (i = 0; i < started; i++) {
		wait_for_completion(&workers[i].done);
		rate += workers[i].rate;
	}
	return started == nr ? rate : 0;
}

static int one_round(struct worker *workers, struct round *round)
{
	u64 first, second;

	first = one_turn(&workers[0], 1);
	round->two = one_turn(workers, 2);
	second = one_turn(&workers[1], 1);
	round->one = (first + second) / 2;
	return first && second && round->two ? 0 : -EAGAIN;
}

static void report(const struct bench *b, u32 cpus, u64 rate)
{
	bench_row(b, "start_stop", b->dist->name, cpus, "per_s", 100 * rate);
}

static int compare(const void *a, const void *b)
{
	const struct round *p = a, *q = b;
	u64 x = p->two * q->one, y = q->two * p->one;

	return (x > y) - (x < y);
}

static int measure(struct worker *workers)
{
	const struct round *median = &rounds[ROUNDS / 2];
	int i, ret;

	for (i = 0; i < ROUNDS; i++) {
		ret = one_round(workers, &rounds[i]);
		if (ret)
			return ret;
	}
	sort(rounds, ROUNDS, sizeof(*rounds), compare, NULL);
	report(workers[0].b, 1, median->one);
	report(workers[0].b, 2, median->two);
	return 0;
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
		workers[i].cpu = i;
		bench_pick(workers[i].b, 0, BENCH_BATCH);
		bench_at(workers[i].b, FAR_NS);
	}
	return 0;
}

/**
 * bench_wall - the rates of one CPU and of two
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
		ret = measure(workers);
	destroy(workers);
	kfree(workers);
	return ret;
}
