// SPDX-License-Identifier: GPL-2.0
/*
 * Lawn, a plain queue for each length
 *
 * Lev-Libfeld, "Lawn: an unbound low latency timer data structure for large
 * scale, high throughput systems" (2019). The length of a timer is its distance
 * to the clock at its start. The clock never moves back, so that timers of
 * one length are due in the order of their starts. Each length has a queue,
 * and a tick looks at the head of each. There is nothing to search as long as
 * there are few lengths.
 *
 * Of two nodes with one tick, the node in the queue of the greater length
 * started earlier. A tick therefore takes the queues from the greatest length
 * down.
 *
 * A queue is in use while a node is in it. There are as many queues as nodes,
 * so that a start never allocates.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "schemes.h"

/**
 * struct lawn_queue - the timers of one length
 * @nodes: the timers, the earliest one first
 * @length: the length in ticks
 * @chain: link in the chain of the length's hash, or in the list of unused queues
 * @sorted: link in the list of all queues in use, the greatest length first
 */
struct lawn_queue {
	struct list_head nodes;
	u64 length;
	struct list_head chain;
	struct list_head sorted;
};

struct lawn {
	struct twheel_test_scheme t;
	u32 mask;
	struct list_head *chains;
	struct lawn_queue *queues;
	struct list_head unused;
	struct list_head sorted;
};

static struct lawn *to_lawn(struct twheel_test_scheme *t)
{
	return container_of(t, struct lawn, t);
}

static void lawn_destroy(struct twheel_test_scheme *t)
{
	struct lawn *lawn = to_lawn(t);

	kvfree(lawn->queues);
	kvfree(lawn->chains);
	kvfree(lawn);
}

static struct twheel_test_scheme *lawn_create(u64 clock, u32 slots,
					      u32 capacity)
{
	struct lawn *lawn = kvzalloc(sizeof(*lawn), GFP_KERNEL);
	u32 i;

	if (!lawn)
		return NULL;
	twheel_test_init(&lawn->t, &twheel_test_lawn, clock);
	INIT_LIST_HEAD(&lawn->unused);
	INIT_LIST_HEAD(&lawn->sorted);
	lawn->mask = roundup_pow_of_two(capacity) - 1;
	lawn->chains = kvcalloc(lawn->mask + 1, sizeof(*lawn->chains), GFP_KERNEL);
	lawn->queues = kvcalloc(capacity, sizeof(*lawn->queues), GFP_KERNEL);
	if (!lawn->chains || !lawn->queues) {
		lawn_destroy(&lawn->t);
		return NULL;
	}
	for (i = 0; i <= lawn->mask; i++)
		INIT_LIST_HEAD(&lawn->chains[i]);
	for (i = 0; i < capacity; i++) {
		INIT_LIST_HEAD(&lawn->queues[i].nodes);
		list_add_tail(&lawn->queues[i].chain, &lawn->unused);
	}
	return &lawn->t;
}

/* Take an unused queue for @length into @chain. */
static struct lawn_queue *lawn_open(struct lawn *lawn, struct list_head *chain,
				    u64 length)
{
	struct lawn_queue *queue, *pos;

	queue = list_first_entry(&lawn->unused, struct lawn_queue, chain);
	queue->length = length;
	list_move_tail(&queue->chain, chain);
	list_for_each_entry_reverse(pos, &lawn->sorted, sorted)
		if (pos->length > length)
			break;
	list_add(&queue->sorted, &pos->sorted);
	return queue;
}

static void lawn_close(struct lawn *lawn, struct lawn_queue *queue)
{
	list_del(&queue->sorted);
	list_move(&queue->chain, &lawn->unused);
}

static struct lawn_queue *lawn_queue(struct lawn *lawn, u64 length)
{
	struct list_head *chain = &lawn->chains[length & lawn->mask];
	struct lawn_queue *queue;

	list_for_each_entry(queue, chain, chain)
		if (queue->length == length)
			return queue;
	return lawn_open(lawn, chain, length);
}

static void lawn_start(struct twheel_test_scheme *t, struct twheel_node *node)
{
	u64 length = twheel_test_due_tick(t, node->expires) - t->s.clock;

	list_add_tail(&node->link, &lawn_queue(to_lawn(t), length)->nodes);
	t->s.pending++;
}

static void lawn_stop(struct twheel_test_scheme *t, struct twheel_node *node)
{
	struct list_head *prev = node->link.prev;

	twheel_test_unlink(node);
	t->s.pending--;
	if (list_empty(prev) && prev != &t->due)
		lawn_close(to_lawn(t), list_entry(prev, struct lawn_queue, nodes));
}

static void lawn_restart(struct twheel_test_scheme *t,
			 struct twheel_node *node, u64 expires)
{
	lawn_stop(t, node);
	node->expires = expires;
	lawn_start(t, node);
}

static u64 lawn_next(struct twheel_test_scheme *t)
{
	struct lawn_queue *queue;
	struct twheel_node *node;
	u64 next = U64_MAX;

	if (!list_empty(&t->due))
		return t->s.clock;
	list_for_each_entry(queue, &to_lawn(t)->sorted, sorted) {
		node = list_first_entry(&queue->nodes, struct twheel_node, link);
		next = min(next, twheel_test_due_tick(t, node->expires));
	}
	return next;
}

static void lawn_collect(struct twheel_test_scheme *t)
{
	struct lawn_queue *queue, *next_queue;
	struct twheel_node *node, *next;

	list_for_each_entry_safe(queue, next_queue, &to_lawn(t)->sorted, sorted) {
		list_for_each_entry_safe(node, next, &queue->nodes, link) {
			if (node->expires > t->s.clock)
				break;
			list_move_tail(&node->link, &t->due);
		}
		if (list_empty(&queue->nodes))
			lawn_close(to_lawn(t), queue);
	}
}

const struct twheel_test_scheme_ops twheel_test_lawn = {
	.name = "lawn",
	.create = lawn_create,
	.destroy = lawn_destroy,
	.start = lawn_start,
	.restart = lawn_restart,
	.stop = lawn_stop,
	.pop = twheel_test_pop,
	.next = lawn_next,
	.collect = lawn_collect,
};
