// SPDX-License-Identifier: GPL-2.0
/*
 * Scheme 3, a binary heap
 *
 * Section 3.3 of Varghese and Lauck leaves the choice of the tree open. This
 * one is a heap in an array, as in java.util.Timer and
 * ScheduledThreadPoolExecutor. Each node also knows its place in the array, as
 * in the latter, so that a stop need not search. Each start has a number, by
 * which nodes of one tick come out in the order of their starts.
 */
#include <linux/slab.h>

#include "schemes.h"

struct heap_entry {
	u64 tick;
	u64 start;
	struct twheel_node *node;
};

/* node->hint is the index of the node's entry, or HEAP_DUE once the node is in the list @due. */
#define HEAP_DUE	U32_MAX

struct heap {
	struct twheel_test_scheme t;
	u64 starts;
	u32 nr;
	struct heap_entry *entries;
};

static struct heap *to_heap(struct twheel_test_scheme *t)
{
	return container_of(t, struct heap, t);
}

static struct twheel_test_scheme *heap_create(u64 clock, u32 slots,
					      u32 capacity)
{
	struct heap *heap = kvzalloc(sizeof(*heap), GFP_KERNEL);

	if (!heap)
		return NULL;
	heap->entries = kvcalloc(capacity, sizeof(*heap->entries), GFP_KERNEL);
	if (!heap->entries) {
		kvfree(heap);
		return NULL;
	}
	twheel_test_init(&heap->t, &twheel_test_heap, clock);
	return &heap->t;
}

static void heap_destroy(struct twheel_test_scheme *t)
{
	struct heap *heap = to_heap(t);

	kvfree(heap->entries);
	kvfree(heap);
}

static bool heap_before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->tick < b->tick || (a->tick == b->tick && a->start < b->start);
}

static void heap_put(struct heap *heap, u32 i, const struct heap_entry *entry)
{
	heap->entries[i] = *entry;
	entry->node->hint = i;
}

static void heap_up(struct heap *heap, u32 i, const struct heap_entry *entry)
{
	u32 parent;

	for (; i; i = parent) {
		parent = (i - 1) / 2;
		if (!heap_before(entry, &heap->entries[parent]))
			break;
		heap_put(heap, i, &heap->entries[parent]);
	}
	heap_put(heap, i, entry);
}

static void heap_down(struct heap *heap, u32 i, const struct heap_entry *entry)
{
	u32 child;

	for (; (child = 2 * i + 1) < heap->nr; i = child) {
		if (child + 1 < heap->nr &&
		    heap_before(&heap->entries[child + 1],
				&heap->entries[child]))
			child++;
		if (!heap_before(&heap->entries[child], entry))
			break;
		heap_put(heap, i, &heap->entries[child]);
	}
	heap_put(heap, i, entry);
}

/* Put @entry at place @i, then move it up or down as needed. */
static void heap_settle(struct heap *heap, u32 i,
			const struct heap_entry *entry)
{
	if (i && heap_before(entry, &heap->entries[(i - 1) / 2]))
		heap_up(heap, i, entry);
	else
		heap_down(heap, i, entry);
}

/* Remove entry @i and move the last one to its place. */
static void heap_remove(struct heap *heap, u32 i)
{
	struct heap_entry last = heap->entries[--heap->nr];

	if (i < heap->nr)
		heap_settle(heap, i, &last);
}

static void heap_start(struct twheel_test_scheme *t, struct twheel_node *node)
{
	struct heap *heap = to_heap(t);
	struct heap_entry entry = {
		.tick = twheel_test_due_tick(t, node->expires),
		.start = heap->starts++,
		.node = node,
	};

	/* The node is pending, but in no list: this pointer must not be followed. */
	node->link.next = LIST_POISON1;
	heap_up(heap, heap->nr++, &entry);
	t->s.pending++;
}

static void heap_stop(struct twheel_test_scheme *t, struct twheel_node *node)
{
	if (node->hint == HEAP_DUE)
		list_del(&node->link);
	else
		heap_remove(to_heap(t), node->hint);
	node->link.next = NULL;
	t->s.pending--;
}

static void heap_restart(struct twheel_test_scheme *t,
			 struct twheel_node *node, u64 expires)
{
	struct heap *heap = to_heap(t);
	struct heap_entry entry = {
		.tick = twheel_test_due_tick(t, expires),
		.start = heap->starts++,
		.node = node,
	};

	node->expires = expires;
	if (node->hint != HEAP_DUE) {
		heap_settle(heap, node->hint, &entry);
	} else {
		heap_stop(t, node);
		heap_start(t, node);
	}
}

static u64 heap_next(struct twheel_test_scheme *t)
{
	struct heap *heap = to_heap(t);

	if (!list_empty(&t->due))
		return t->s.clock;
	return heap->nr ? heap->entries[0].tick : U64_MAX;
}

static void heap_collect(struct twheel_test_scheme *t)
{
	struct heap *heap = to_heap(t);
	struct twheel_node *node;

	while (heap->nr && heap->entries[0].tick <= t->s.clock) {
		node = heap->entries[0].node;
		heap_remove(heap, 0);
		node->hint = HEAP_DUE;
		list_add_tail(&node->link, &t->due);
	}
}

const struct twheel_test_scheme_ops twheel_test_heap = {
	.name = "heap",
	.create = heap_create,
	.destroy = heap_destroy,
	.start = heap_start,
	.restart = heap_restart,
	.stop = heap_stop,
	.pop = twheel_test_pop,
	.next = heap_next,
	.collect = heap_collect,
};
