// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmark module: the runs
 *
 * Everything happens while the module is being loaded. Results are lines of the
 * kernel log: rows of build/bench/kernel.csv after "twheel-bench: ".
 * tests/bench/run collects them. The mode says which figures are measured:
 *
 *  icount
 *	The operations on one CPU, in a machine that counts instructions
 *	(tests/vm/run -i). Times are numbers of instructions.
 *  wall
 *	The same by the clock: with one CPU the time of each operation, with
 *	two the rate of both together.
 *  um
 *	Operations and expiries in ns, in a user-mode kernel (tests/bench/um),
 *	where they run at the speed of the CPU and its caches.
 *  crossover
 *	Schemes 6 and 7 against interval and slots, counting instructions.
 *  bounded
 *	What a million due timers do to the CPU: with one CPU, counting
 *	instructions, how long they keep it; with two, by the clock, how late
 *	they make a periodic timer.
 *  worst
 *	The same with one CPU for the worst starts, and of the wheel of textbooks.
 *
 * A run lasts from bench_create() to bench_destroy(). It has a facility of its
 * own with all timers set up, which it uses in random order.
 */
#define pr_fmt(fmt) "twheel-bench: " fmt

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "bench.h"
#include "crossover.h"

static char *mode = "icount";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "icount, wall, um, crossover, bounded or worst");

static bool quick;
module_param(quick, bool, 0444);
MODULE_PARM_DESC(quick, "Only 1,000 and 100,000 timers, one distribution");

static char *impl = "";
module_param(impl, charp, 0444);
MODULE_PARM_DESC(impl, "Only these implementations, with + between them");

static uint timers;
module_param(timers, uint, 0444);
MODULE_PARM_DESC(timers, "Only this number of timers");

static const struct bench_impl * const impls[] = {
	&bench_hier,
	&bench_timer_list,
	&bench_hrtimer,
	&bench_hashed,
	&bench_hashed_sorted,
	&bench_list,
	&bench_sorted_list,
	&bench_heap,
	&bench_plain,
	&bench_lawn,
};

/* The implementations for mode=bounded. */
static const struct bench_impl * const burst_impls[] = {
	&bench_hier,
	&bench_timer_list,
	&bench_timer_list_irqsafe,
	&bench_hrtimer,
	&bench_hashed,
	&bench_hashed_sorted,
};

/* For mode=worst. */
static const struct bench_impl * const worst_impls[] = {
	&bench_hier,
	&bench_textbook,
	&bench_timer_list,
	&bench_timer_list_irqsafe,
	&bench_hrtimer,
};

#define BURST	1000000

static const u32 sizes[] = { 100, 1000, 10000, 100000, 1000000 };

/* Called by crossover.c. */

u64 crossover_begin(void)
{
	local_irq_disable();
	return ktime_get();
}

u64 crossover_end(u64 begin)
{
	u64 end = ktime_get();

	local_irq_enable();
	cond_resched();
	return end - begin;
}

u32 crossover_random(u32 end)
{
	return bench_random_below(end);
}

void crossover_row(const char *text)
{
	pr_info("crossover,icount,%s\n", text);
}

/* The mode for the results. */
static const char *measure(void)
{
	if (strcmp(mode, "bounded") && strcmp(mode, "worst"))
		return mode;
	return num_online_cpus() > 1 ? "wall" : "icount";
}

/* @hundredths: the value, times 100. */
void bench_row(const struct bench *b, const char *operation, const char *dist,
	       u32 cpus, const char *unit, u64 hundredths)
{
	u32 rest = do_div(hundredths, 100);

	pr_info("kernel,%s,%s,%s,%s,1,%u,%u,%s,%llu.%02u\n", measure(),
		b->impl->name, operation, dist, cpus, b->pending, unit,
		hundredths, rest);
}

/* Makes a batch of @nr timers, from place @from in the random order on. */
void bench_pick(struct bench *b, u32 from, u32 nr)
{
	u32 i;

	b->nr = min(nr, b->pending);
	for (i = 0; i < b->nr; i++)
		b->batch[i] = bench_timer_at(b, b->order[(from + i) % b->pending]);
}

static void set_up_timers(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->pending; i++) {
		b->impl->setup(b, bench_timer_at(b, i));
		b->order[i] = i;
		if (i % 1024 == 0)
			cond_resched();
	}
	bench_shuffle(b->order, b->pending);
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

static void destroy_timers(struct bench *b)
{
	u32 i;

	for (i = 0; b->chunks && i < nr_chunks(b); i++)
		kvfree(b->chunks[i]);
	kfree(b->chunks);
	vfree(b->order);
	kfree(b);
}

void bench_destroy(struct bench *b)
{
	if (b->impl->destroy && !b->borrowed)
		b->impl->destroy(b);
	destroy_timers(b);
}

struct bench *bench_create(const struct bench_impl *which,
			   const struct bench_dist *dist, u32 pending)
{
	struct bench *b = kzalloc(sizeof(*b), GFP_KERNEL);

	if (!b)
		return NULL;
	b->impl = which;
	b->dist = dist;
	b->pending = pending;
	bench_random_seed(4711);
	if (which->create && which->create(b)) {
		kfree(b);
		return NULL;
	}
	if (create_timers(b)) {
		bench_destroy(b);
		return NULL;
	}
	return b;
}

/* As many timers again, in the same facility. */
struct bench *bench_create_more(const struct bench *like)
{
	struct bench *b = kmemdup(like, sizeof(*b), GFP_KERNEL);

	if (!b)
		return NULL;
	b->borrowed = true;
	b->chunks = NULL;
	b->order = NULL;
	if (create_timers(b)) {
		destroy_timers(b);
		return NULL;
	}
	return b;
}

static int one_run(const struct bench_impl *which,
		   const struct bench_dist *dist, u32 pending, bool wall)
{
	struct bench *b;
	int ret;

	if (wall && num_online_cpus() > 1)
		return bench_wall(which, dist, pending);
	b = bench_create(which, dist, pending);
	if (!b)
		return -ENOMEM;
	ret = bench_operations(b);
	if (!ret && !wall)
		ret = bench_ticks(b);
	bench_destroy(b);
	return ret;
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
	if (pending > which->top || !named(which->name))
		return false;
	if (timers)
		return timers == pending;
	return !quick || pending == 1000 || pending == 100000;
}

static int all_dists(const struct bench_impl *which, u32 pending)
{
	const struct bench_dist *dist;
	int ret = 0;

	for (dist = bench_dists; dist->name && !ret; dist++) {
		ret = one_run(which, dist, pending, false);
		if (quick)
			break;
	}
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

/* twheel beside the kernel's own, and with two CPUs beside the machine. */
static const struct bench_impl * const wall_impls[] = {
	&bench_hier,
	&bench_timer_list,
	&bench_hrtimer,
	&bench_none,
};

static int run_wall(void)
{
	u32 nr = ARRAY_SIZE(wall_impls) - (num_online_cpus() == 1);
	u32 i, size;
	int ret = 0;

	for (size = 0; size < ARRAY_SIZE(sizes); size++)
		for (i = 0; i < nr && !ret; i++)
			if (wanted(wall_impls[i], sizes[size]))
				ret = one_run(wall_impls[i], bench_dists,
					      sizes[size], true);
	return ret;
}

/* Runs on CPU 0, which will have the timers. */
static int run_bounded(void)
{
	int ret = 0;
	u32 i;

	set_cpus_allowed_ptr(current, cpumask_of(0));
	for (i = 0; i < ARRAY_SIZE(burst_impls) && !ret; i++) {
		const struct bench_impl *which = burst_impls[i];

		if (!named(which->name))
			continue;
		if (num_online_cpus() > 1)
			ret = bench_late(which, timers ?: BURST);
		else
			ret = bench_bounded(which, timers ?: BURST, bench_loads);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	return ret;
}

static int run_worst(void)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(worst_impls) && !ret; i++)
		if (named(worst_impls[i]->name))
			ret = bench_bounded(worst_impls[i], timers ?: BURST,
					    bench_worst);
	return ret;
}

/* The first size is too small for random batches. */
static int run_um(void)
{
	const struct bench_impl *which[ARRAY_SIZE(wall_impls)];
	u32 size, i, nr;
	int ret = 0;

	for (size = 1; size < ARRAY_SIZE(sizes) && !ret; size++) {
		nr = 0;
		for (i = 0; wall_impls[i] != &bench_none; i++)
			if (wanted(wall_impls[i], sizes[size]))
				which[nr++] = wall_impls[i];
		if (nr)
			ret = bench_um(which, nr, sizes[size]);
	}
	return ret;
}

static int run(void)
{
	if (!strcmp(mode, "icount"))
		return run_icount();
	if (!strcmp(mode, "wall"))
		return run_wall();
	if (IS_ENABLED(CONFIG_TRACEPOINTS) && !strcmp(mode, "bounded"))
		return run_bounded();
	if (IS_ENABLED(CONFIG_TRACEPOINTS) && !strcmp(mode, "worst"))
		return run_worst();
	if (IS_ENABLED(CONFIG_UML) && !strcmp(mode, "um"))
		return run_um();
	if (!strcmp(mode, "crossover")) {
		bench_random_seed(4711);
		return crossover();
	}
	return -EINVAL;
}

static int __init bench_init(void)
{
	int ret;

	/* Let leftover work of the boot finish. */
	msleep(3000);
	bench_expiry = vzalloc(sizeof(*bench_expiry));
	if (!bench_expiry)
		return -ENOMEM;
	ret = run();
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
