// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's own timers as implementations
 *
 * Both are used as a driver would use them. For timer_list that means
 * add_timer(), mod_timer() and timer_delete(). hrtimer is in its default mode,
 * and its callback moves its expiry on. Every delayed_work uses TIMER_IRQSAFE,
 * where callbacks run with interrupts off.
 */
#include <linux/jiffies.h>

#include "bench.h"
#include "core/compat.h"

/* timer_list */

static void list_expired(struct timer_list *timer)
{
	u64 delay = bench_next_delay();

	if (bench_expiry->restart)
		mod_timer(timer, timer->expires + delay);
}

static void list_setup(struct bench *b, struct bench_timer *timer)
{
	timer_setup(&timer->list, list_expired, 0);
}

static void list_irqsafe_setup(struct bench *b, struct bench_timer *timer)
{
	timer_setup(&timer->list, list_expired, TIMER_IRQSAFE);
}

static u64 list_relative(u64 ns)
{
	return nsecs_to_jiffies(ns);
}

static u64 list_absolute(u64 ns)
{
	return jiffies + nsecs_to_jiffies(ns - ktime_get());
}

static void list_start(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++) {
		b->batch[i]->list.expires = jiffies + b->when[i];
		add_timer(&b->batch[i]->list);
	}
}

static void list_start_at(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++) {
		b->batch[i]->list.expires = b->when[i];
		add_timer(&b->batch[i]->list);
	}
}

static void list_restart(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		mod_timer(&b->batch[i]->list, b->when[i]);
}

static void list_restart_after(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		mod_timer(&b->batch[i]->list, jiffies + b->when[i]);
}

static void list_stop(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		timer_delete(&b->batch[i]->list);
}

#define LIST(variant)				\
	.name = "timer_" #variant,		\
	.setup = variant ## _setup,		\
	.absolute = list_absolute,		\
	.relative = list_relative,		\
	.start = list_start,			\
	.start_at = list_start_at,		\
	.restart = list_restart,		\
	.restart_after = list_restart_after,	\
	.stop = list_stop

const struct bench_impl bench_timer_list = { LIST(list) };
const struct bench_impl bench_timer_list_irqsafe = { LIST(list_irqsafe) };

/* hrtimer */

static enum hrtimer_restart hr_expired(struct hrtimer *timer)
{
	u64 delay = bench_next_delay();

	if (!bench_expiry->restart)
		return HRTIMER_NORESTART;
	hrtimer_add_expires_ns(timer, delay);
	return HRTIMER_RESTART;
}

static void hr_setup(struct bench *b, struct bench_timer *timer)
{
	twheel_hrtimer_setup(&timer->hr, hr_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}

static u64 hr_ns(u64 ns)
{
	return ns;
}

static void hr_start(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		hrtimer_start(&b->batch[i]->hr, b->when[i], HRTIMER_MODE_REL);
}

static void hr_start_at(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		hrtimer_start(&b->batch[i]->hr, b->when[i], HRTIMER_MODE_ABS);
}

static void hr_stop(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		hrtimer_cancel(&b->batch[i]->hr);
}

const struct bench_impl bench_hrtimer = {
	.name = "hrtimer",
	.setup = hr_setup,
	.absolute = hr_ns,
	.relative = hr_ns,
	.start = hr_start,
	.start_at = hr_start_at,
	.restart = hr_start_at,
	.restart_after = hr_start,
	.stop = hr_stop,
};
