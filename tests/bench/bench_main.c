// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmark module: the runs
 *
 * All measurements happen while the module is being loaded. Results are lines of the kernel log:
 * rows of build/bench/kernel.csv after "csv:". tests/bench/run collects them. The mode says which
 * figures are measured:
 *
 *  icount
 *  The operations on one CPU, in a machine that counts instructions
 *  (tests/vm/run -i). Times are numbers of instructions.
 *  worst
 *  How long a million timers that are due at once keep the CPU busy.
 *
 * A run lasts from create() to destroy(). It has a facility of its own, whose timers
 * it uses in random order.
 */
#define pr_fmt(fmt) "twheel-bench: " fmt

#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "bench.h"

static char *mode = "icount";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "icount or worst");

static bool quick;
module_param(quick, bool, 0444);
MODULE_PARM_DESC(quick, "Only 1,000 and 100,000 timers, one distribution");

static char *impl = "";
module_param(impl, charp, 0444);
MODULE_PARM_DESC(impl, "Only these implementations, with + between them");

static uint timers;
module_param(timers, uint, 0444);
MODULE_PARM_DESC(timers, "Only this number of timers");

/* Random numbers, the same in every run. */
static struct rnd_state state;

u32 bench_random_below(u32 end)
{
	return (u64)prandom_u32_state(&state) * end >> 32;
}

static u64 random_ns(u64 end)
{
	return mul_u64_u32_shr(end, prandom_u32_state(&state), 32);
}

static u64 draw_uniform(void)
{
	return random_ns(BENCH_SECONDS(60));
}

static u64 draw_idle(void)
{
	return BENCH_SECONDS(30) + random_ns(BENCH_SECONDS(30));
}

static const struct bench_dist dists[] = {
	{ "uniform", BENCH_SECONDS(30), draw_uniform },
	{ "idle", BENCH_SECONDS(45), draw_idle },
};

static const struct bench_impl * const impls[] = {
	&bench_hier,
	&bench_timer_list,
	&bench_hrtimer,
	&bench_hashed,
};

/* Implementations that are measured with mode=worst. */
static const struct bench_impl * const worst_impls[] = {
	&bench_hier,
	&bench_timer_list,
	&bench_timer_list_irqsafe,
	&bench_hrtimer,
};

#define CROWD	1000000

static const u32 sizes[] = { 100, 1000, 10000, 100000, 1000000 };

/* Print a row. @hundredths is the value, times 100. */
void bench_row(const struct bench *b, const char *operation, const char *dist, u64 hundredths)
{
	u32 rest = do_div(hundredths, 100);

	pr_info("csv:kernel,icount,%s,%s,%s,1,1,%u,ns,%llu.%02u\n",
		b->impl->name, operation, dist, b->pending, hundredths, rest);
}

static int compare(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

/* Sort @values and return the median, or 0 if @nr is 0. */
u32 bench_median(u32 *values, u32 nr)
{
	sort(values, nr, sizeof(*values), compare, NULL);
	return nr ? values[nr / 2] : 0;
}

/* Make a batch of @nr timers, from index @from of the random order on. */
void bench_pick(struct bench *b, u32 from, u32 nr)
{
	u32 i;

	b->nr = min(nr, b->pending);
	for (i = 0; i < b->nr; i++)
		b->batch[i] = bench_timer_at(b, b->order[(from + i) % b->pending]);
}

static void set_up_timers(struct bench *b)
{
	u32 i, other;

	for (i = 0; i < b->pending; i++) {
		b->impl->setup(b, bench_timer_at(b, i));
		b->order[i] = i;
		if (i % 1024 == 0)
			cond_resched();
	}
	for (i = b->pending; i > 1; i--) {
		other = bench_random_below(i);
		swap(b->order[i - 1], b->order[other]);
	}
}

static u32 nr_chunks(const struct bench *b)
{
	return DIV_ROUND_UP(b->pending, BENCH_CHUNK);
}

static int create_chunks(struct bench *b)
{
	u32 size, i;

	b->chunks = kcalloc(nr_chunks(b), sizeof(*b->chunks), GFP_KERNEL);
	if (!b->chunks)
		return -ENOMEM;
	for (i = 0; i < nr_chunks(b); i++) {
		size = min(b->pending - i * BENCH_CHUNK, BENCH_CHUNK);
		b->chunks[i] = kvcalloc(size, sizeof(**b->chunks), GFP_KERNEL);
		if (!b->chunks[i])
			return -ENOMEM;
	}
	return 0;
}

static int create_timers(struct bench *b)
{
	int ret = create_chunks(b);

	if (ret)
		return ret;
	b->order = vzalloc(array_size(b->pending, sizeof(*b->order)));
	if (!b->order)
		return -ENOMEM;
	set_up_timers(b);
	return 0;
}

static void destroy(struct bench *b)
{
	u32 i;

	if (b->facility)
		b->impl->destroy(b);
	for (i = 0; b->chunks && i < nr_chunks(b); i++)
		kvfree(b->chunks[i]);
	kfree(b->chunks);
	vfree(b->order);
	kfree(b);
}

static struct bench *create(const struct bench_impl *which,
			    const struct bench_dist *dist, u32 pending)
{
	struct bench *b = kzalloc(sizeof(*b), GFP_KERNEL);

	if (!b)
		return NULL;
	b->impl = which;
	b->dist = dist;
	b->pending = pending;
	prandom_seed_state(&state, 4711);
	if ((which->create && which->create(b)) || create_timers(b)) {
		destroy(b);
		return NULL;
	}
	return b;
}

static int one_run(const struct bench_impl *which, const struct bench_dist *dist, u32 pending,
		   int (*measure)(struct bench *b))
{
	struct bench *b = create(which, dist, pending);
	int ret;

	if (!b)
		return -ENOMEM;
	ret = measure(b);
	destroy(b);
	return ret;
}

static int operations_and_ticks(struct bench *b)
{
	bench_operations(b);
	return bench_ticks(b);
}

static bool named(const char *name)
{
	size_t length = strlen(name);
	const char *p;

	for (p = strstr(impl, name); p; p = strstr(p + 1, name))
		if ((p == impl || p[-1] == '+') &&
		    (p[length] == '+' || !p[length]))
			return true;
	return !*impl;
}

static bool wanted(const struct bench_impl *which, u32 pending)
{
	if (!named(which->name))
		return false;
	if (timers)
		return timers == pending;
	return !quick || pending == 1000 || pending == 100000;
}

static int all_dists(const struct bench_impl *which, u32 pending)
{
	u32 i, nr = quick ? 1 : ARRAY_SIZE(dists);
	int ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = one_run(which, &dists[i], pending, operations_and_ticks);
	return ret;
}

static int run_icount(void)
{
	int ret = 0;
	u32 i, size;

	for (i = 0; i < ARRAY_SIZE(impls); i++)
		for (size = 0; size < ARRAY_SIZE(sizes) && !ret; size++)
			if (wanted(impls[i], sizes[size]))
				ret = all_dists(impls[i], sizes[size]);
	return ret;
}

static int run_worst(void)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(worst_impls) && !ret; i++)
		if (named(worst_impls[i]->name))
			ret = one_run(worst_impls[i], dists, timers ?: CROWD,
				      bench_worst);
	return ret;
}

static int __init bench_init(void)
{
	int ret = -EINVAL;

	/* Wait until the kernel has finished the work of its boot. */
	msleep(3000);
	bench_expiry = vzalloc(sizeof(*bench_expiry));
	if (!bench_expiry)
		return -ENOMEM;
	if (!strcmp(mode, "icount"))
		ret = run_icount();
	else if (!strcmp(mode, "worst"))
		ret = run_worst();
	vfree(bench_expiry);
	pr_info("end %d\n", ret);
	return ret;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_AUTHOR("The twheel developers");
MODULE_DESCRIPTION("Benchmarks of twheel beside the kernel's own timers");
MODULE_LICENSE("GPL");
