// SPDX-License-Identifier: GPL-2.0
/*
 * The implementations: wheels of twheel.ko, and the timers of the kernel
 *
 * The kernel's timers are used as a driver would use them. timer_list is started and stopped by
 * add_timer(), mod_timer() and timer_delete(). hrtimer is in its default mode, and its callback
 * moves its expiry on. timer_list_irqsafe uses TIMER_IRQSAFE, as every delayed_work does: its
 * callbacks run with interrupts off.
 */
#include <linux/err.h>
#include <linux/jiffies.h>

#include "bench.h"
#include "core/compat.h"

/* Define a function that makes @call for each timer of a batch, with the timer's time in @when. */
#define BENCH_EACH(name, call)						\
static void name(struct bench *b)					\
{									\
	u32 i;								\
									\
	for (i = 0; i < b->nr; i++) {					\
		struct bench_timer *timer = b->batch[i];		\
		u64 when __maybe_unused = b->when[i];			\
									\
		call;							\
	}								\
}

static u64 same_ns(u64 ns)
{
	return ns;
}

/* Wheels */

static int wheel_create(struct bench *b, enum twheel_scheme_type scheme,
			unsigned int slots)
{
	struct twheel_config config = {
		.name = "bench",
		.scheme = scheme,
		.tick_ns = BENCH_TICK_NS,
		.slots = slots,
	};
	struct twheel *wheel = twheel_create(&config);

	if (IS_ERR(wheel))
		return PTR_ERR(wheel);
	b->facility = wheel;
	return 0;
}

static int hier_create(struct bench *b)
{
	return wheel_create(b, TWHEEL_HIER, 0);
}

static int hashed_create(struct bench *b)
{
	return wheel_create(b, TWHEEL_HASHED, BENCH_SLOTS);
}

static void wheel_destroy(struct bench *b)
{
	twheel_destroy(b->facility);
}

static void wheel_expired(struct twheel_timer *timer)
{
	struct bench_timer *bt = container_of(timer, struct bench_timer, wheel);
	u64 delay = bench_next_delay();

	if (!bench_expiry->restart)
		return;
	bt->deadline += delay;
	if (bench_expiry->again)
		twheel_again_at(timer, bt->deadline);
	else
		twheel_start_at(timer, bt->deadline);
}

static void wheel_setup(struct bench *b, struct bench_timer *timer)
{
	twheel_timer_setup(&timer->wheel, b->facility, wheel_expired, 0);
}

BENCH_EACH(wheel_start, twheel_start(&timer->wheel, when))
BENCH_EACH(wheel_start_at, twheel_start_at(&timer->wheel, when))
BENCH_EACH(wheel_stop, twheel_stop(&timer->wheel))

#define WHEEL(scheme)				\
	.name = #scheme,			\
	.wheel = true,				\
	.create = scheme ## _create,		\
	.destroy = wheel_destroy,		\
	.setup = wheel_setup,			\
	.absolute = same_ns,			\
	.relative = same_ns,			\
	.start = wheel_start,			\
	.start_at = wheel_start_at,		\
	.restart = wheel_start_at,		\
	.stop = wheel_stop

const struct bench_impl bench_hier = { WHEEL(hier) };
const struct bench_impl bench_hashed = { WHEEL(hashed) };

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

static inline void list_begin(struct timer_list *timer, unsigned long expires)
{
	timer->expires = expires;
	add_timer(timer);
}

BENCH_EACH(list_start, list_begin(&timer->list, jiffies + when))
BENCH_EACH(list_start_at, list_begin(&timer->list, when))
BENCH_EACH(list_restart, mod_timer(&timer->list, when))
BENCH_EACH(list_stop, timer_delete(&timer->list))

#define LIST(variant)				\
	.name = "timer_" #variant,		\
	.setup = variant ## _setup,		\
	.absolute = list_absolute,		\
	.relative = list_relative,		\
	.start = list_start,			\
	.start_at = list_start_at,		\
	.restart = list_restart,		\
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

BENCH_EACH(hr_start, hrtimer_start(&timer->hr, when, HRTIMER_MODE_REL))
BENCH_EACH(hr_start_at, hrtimer_start(&timer->hr, when, HRTIMER_MODE_ABS))
BENCH_EACH(hr_stop, hrtimer_cancel(&timer->hr))

const struct bench_impl bench_hrtimer = {
	.name = "hrtimer",
	.setup = hr_setup,
	.absolute = same_ns,
	.relative = same_ns,
	.start = hr_start,
	.start_at = hr_start_at,
	.restart = hr_start_at,
	.stop = hr_stop,
};
