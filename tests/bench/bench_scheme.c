// SPDX-License-Identifier: GPL-2.0
/*
 * Schemes 1 to 5, the textbook's 7 and Lawn as implementations
 *
 * The minimum that makes a timer facility of a scheme: one lock, deadlines
 * rounded up to ticks, and an hrtimer. The hrtimer fires in softirq context
 * every tick and runs callbacks without the lock. There are no statistics, no
 * CPUs, and no stop that waits. Their cost is what twheel.ko adds to its
 * schemes.
 */
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../wheel/schemes/schemes.h"
#include "bench.h"
#include "core/compat.h"

/* The plain wheel has a slot for each tick of the longest interval. */
#define PLAIN_SLOTS	262144U

struct facility {
	raw_spinlock_t lock;
	const struct twheel_test_scheme_ops *ops;
	struct twheel_test_scheme *scheme;
	struct hrtimer hrtimer;
};

/* Benchmarks run one after the other. */
static struct facility *facility;

static u64 to_tick(u64 ns)
{
	return div_u64(ns + BENCH_TICK_NS - 1, BENCH_TICK_NS);
}

static void start_node(struct twheel_node *node, u64 ns)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&facility->lock, flags);
	node->expires = to_tick(ns);
	facility->ops->start(facility->scheme, node);
	raw_spin_unlock_irqrestore(&facility->lock, flags);
}

static struct twheel_node *pop_node(u64 tick)
{
	struct twheel_node *node;
	int work = INT_MAX;

	raw_spin_lock_irq(&facility->lock);
	node = facility->ops->pop(facility->scheme, tick, &work);
	raw_spin_unlock_irq(&facility->lock);
	return node;
}

static void expired(struct twheel_node *node)
{
	struct bench_timer *bt = container_of(node, struct bench_timer, node);
	u64 delay = bench_next_delay();

	if (!bench_expiry->restart)
		return;
	if (bench_expiry->from_now) {
		start_node(node, ktime_get() + delay);
	} else {
		bt->deadline += delay;
		start_node(node, bt->deadline);
	}
}

static enum hrtimer_restart one_tick(struct hrtimer *hrtimer)
{
	u64 tick = div_u64(ktime_get(), BENCH_TICK_NS);
	struct twheel_node *node;

	while ((node = pop_node(tick)))
		expired(node);
	hrtimer_set_expires(hrtimer, ns_to_ktime((tick + 1) * BENCH_TICK_NS));
	return HRTIMER_RESTART;
}

static void scheme_destroy(struct bench *b)
{
	hrtimer_cancel(&facility->hrtimer);
	facility->ops->destroy(facility->scheme);
	kfree(facility);
	facility = NULL;
}

static int scheme_create(struct bench *b,
			 const struct twheel_test_scheme_ops *ops, u32 slots)
{
	u64 tick = div_u64(ktime_get(), BENCH_TICK_NS);

	facility = kzalloc(sizeof(*facility), GFP_KERNEL);
	if (!facility)
		return -ENOMEM;
	raw_spin_lock_init(&facility->lock);
	facility->ops = ops;
	facility->scheme = ops->create(tick, slots, b->pending);
	if (!facility->scheme) {
		kfree(facility);
		return -ENOMEM;
	}
	twheel_hrtimer_setup(&facility->hrtimer, one_tick,
			     CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT);
	hrtimer_start(&facility->hrtimer,
		      ns_to_ktime((tick + 1) * BENCH_TICK_NS),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	return 0;
}

static int list_create(struct bench *b)
{
	return scheme_create(b, &twheel_test_list, 0);
}

static int sorted_list_create(struct bench *b)
{
	return scheme_create(b, &twheel_test_sorted_list, 0);
}

static int heap_create(struct bench *b)
{
	return scheme_create(b, &twheel_test_heap, 0);
}

static int plain_create(struct bench *b)
{
	return scheme_create(b, &twheel_test_plain, PLAIN_SLOTS);
}

static int hashed_sorted_create(struct bench *b)
{
	return scheme_create(b, &twheel_test_hashed_sorted, BENCH_SLOTS);
}

static int textbook_create(struct bench *b)
{
	return scheme_create(b, &twheel_test_textbook, 0);
}

static int lawn_create(struct bench *b)
{
	return scheme_create(b, &twheel_test_lawn, 0);
}

static void scheme_setup(struct bench *b, struct bench_timer *timer)
{
	timer->node.link.next = NULL;
}

static u64 scheme_ns(u64 ns)
{
	return ns;
}

static void scheme_start(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		start_node(&b->batch[i]->node, ktime_get() + b->when[i]);
}

static void scheme_start_at(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		start_node(&b->batch[i]->node, b->when[i]);
}

static void restart_node(struct twheel_node *node, u64 ns)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&facility->lock, flags);
	facility->ops->restart(facility->scheme, node, to_tick(ns));
	raw_spin_unlock_irqrestore(&facility->lock, flags);
}

static void scheme_restart(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		restart_node(&b->batch[i]->node, b->when[i]);
}

static void stop_node(struct twheel_node *node)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&facility->lock, flags);
	if (node->link.next)
		facility->ops->stop(facility->scheme, node);
	raw_spin_unlock_irqrestore(&facility->lock, flags);
}

static void scheme_stop(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		stop_node(&b->batch[i]->node);
}

static void scheme_started(struct bench *b)
{
	u32 i;

	for (i = 0; i < b->nr; i++)
		b->batch[i]->deadline = b->when[i];
}

#define SCHEME(scheme, most)			\
	.name = #scheme,			\
	.top = most,				\
	.create = scheme ## _create,		\
	.destroy = scheme_destroy,		\
	.setup = scheme_setup,			\
	.absolute = scheme_ns,			\
	.relative = scheme_ns,			\
	.start = scheme_start,			\
	.start_at = scheme_start_at,		\
	.restart = scheme_restart,		\
	.stop = scheme_stop,			\
	.started = scheme_started

const struct bench_impl bench_list = { SCHEME(list, 10000) };
const struct bench_impl bench_sorted_list = { SCHEME(sorted_list, 10000) };
const struct bench_impl bench_heap = { SCHEME(heap, 1000000) };
const struct bench_impl bench_plain = { SCHEME(plain, 1000000) };
const struct bench_impl bench_hashed_sorted = {
	SCHEME(hashed_sorted, U32_MAX)
};

const struct bench_impl bench_textbook = { SCHEME(textbook, U32_MAX) };

/* The intervals are of many lengths. */
const struct bench_impl bench_lawn = { SCHEME(lawn, 10000) };
