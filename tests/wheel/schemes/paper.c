// SPDX-License-Identifier: GPL-2.0
/*
 * Schemes 1, 2, 4 and 5: a single list, or a ring of lists
 *
 * In the sections of Varghese and Lauck:
 *
 *  3.1	list: one list in no order. A start appends, and a tick looks at every timer.
 *  3.2	sorted_list: one list in the order of ticks. A tick looks only at the head, and a
 *	start looks for its place from the tail.
 *  5	plain: a ring of MaxInterval slots, one for each of the coming ticks. Timers
 *	further away wait in an unsorted list, which is searched whenever the hand is at
 *	slot 0. Of two nodes with one tick, the node in that list was started first, when
 *	its tick was still further away. Nodes from it therefore join the head of their
 *	slot, the last one first.
 *  6.1.1 hashed_sorted: the low bits of a tick pick one of the sorted lists. That is O(1)
 *	on average if there are more slots than nodes.
 */
#include <linux/slab.h>

#include "schemes.h"

struct paper {
	struct twheel_test_scheme t;
	u32 mask;
	struct list_head rest;
	struct list_head slots[];
};

static struct paper *paper_of(struct twheel_test_scheme *t)
{
	return container_of(t, struct paper, t);
}

static struct list_head *paper_slot(struct twheel_test_scheme *t, u64 tick)
{
	struct paper *paper = paper_of(t);

	return &paper->slots[tick & paper->mask];
}

static void paper_destroy(struct twheel_test_scheme *t)
{
	bitmap_free(t->s.occupied);
	kvfree(paper_of(t));
}

static struct twheel_test_scheme *paper_create(const struct twheel_test_scheme_ops *ops,
					       u64 clock, u32 slots)
{
	struct paper *paper = kvzalloc(sizeof(*paper) + slots * sizeof(paper->slots[0]),
				       GFP_KERNEL);
	u32 i;

	if (!paper)
		return NULL;
	paper->t.s.type = TWHEEL_HASHED;
	paper->mask = slots - 1;
	INIT_LIST_HEAD(&paper->rest);
	for (i = 0; i < slots; i++)
		INIT_LIST_HEAD(&paper->slots[i]);
	paper->t.s.occupied = bitmap_zalloc(slots, GFP_KERNEL);
	if (!paper->t.s.occupied) {
		paper_destroy(&paper->t);
		return NULL;
	}
	twheel_test_init(&paper->t, ops, clock);
	return &paper->t;
}

static void paper_stop(struct twheel_test_scheme *t, struct twheel_node *node)
{
	twheel_test_unlink(node);
	t->s.pending--;
}

/* Scheme 1. */

static void unsorted_start(struct twheel_test_scheme *t, struct twheel_node *node)
{
	list_add_tail(&node->link, paper_of(t)->slots);
	t->s.pending++;
}

static void unsorted_restart(struct twheel_test_scheme *t, struct twheel_node *node, u64 expires)
{
	node->expires = expires;
	list_move_tail(&node->link, paper_of(t)->slots);
}

static u64 unsorted_next(struct twheel_test_scheme *t)
{
	struct twheel_node *node;
	u64 next = U64_MAX;

	if (!list_empty(&t->due))
		return t->s.clock;
	list_for_each_entry(node, paper_of(t)->slots, link)
		next = min(next, twheel_test_due_tick(t, node->expires));
	return next;
}

static void unsorted_collect(struct twheel_test_scheme *t)
{
	struct twheel_node *node, *tmp;

	list_for_each_entry_safe(node, tmp, paper_of(t)->slots, link)
		if (node->expires <= t->s.clock)
			list_move_tail(&node->link, &t->due);
}

/* Schemes 2 and 5. */

/* Start a node. A late one is due at the next tick, behind the nodes that wait for it. */
static void sorted_start(struct twheel_test_scheme *t, struct twheel_node *node)
{
	u64 tick = twheel_test_due_tick(t, node->expires);
	struct twheel_node *pos;

	list_for_each_entry_reverse(pos, paper_slot(t, tick), link)
		if (pos->expires <= tick)
			break;
	list_add(&node->link, &pos->link);
	t->s.pending++;
}

static void sorted_restart(struct twheel_test_scheme *t, struct twheel_node *node, u64 expires)
{
	paper_stop(t, node);
	node->expires = expires;
	sorted_start(t, node);
}

static u64 sorted_next(struct twheel_test_scheme *t)
{
	struct twheel_node *node;
	u64 next = U64_MAX;
	u32 i;

	if (!list_empty(&t->due))
		return t->s.clock;
	for (i = 0; t->s.pending && i <= paper_of(t)->mask; i++) {
		node = list_first_entry_or_null(paper_slot(t, i), struct twheel_node, link);
		if (node)
			next = min(next, twheel_test_due_tick(t, node->expires));
	}
	return next;
}

static void sorted_collect(struct twheel_test_scheme *t)
{
	struct twheel_node *node, *next;

	list_for_each_entry_safe(node, next, paper_slot(t, t->s.clock), link) {
		if (node->expires > t->s.clock)
			break;
		list_move_tail(&node->link, &t->due);
	}
}

/* Scheme 4. */

/* node->hint of a node that is in the unsorted list, or due. */
#define PLAIN_NO_SLOT	U32_MAX

static void plain_start(struct twheel_test_scheme *t, struct twheel_node *node)
{
	u64 tick = twheel_test_due_tick(t, node->expires);
	struct paper *plain = paper_of(t);

	if (tick - t->s.clock <= plain->mask) {
		node->hint = 0;
		__set_bit(tick & plain->mask, t->s.occupied);
		list_add_tail(&node->link, paper_slot(t, tick));
	} else {
		node->hint = PLAIN_NO_SLOT;
		list_add_tail(&node->link, &plain->rest);
	}
	t->s.pending++;
}

static void plain_stop(struct twheel_test_scheme *t, struct twheel_node *node)
{
	struct list_head *prev = node->link.prev;

	paper_stop(t, node);
	if (node->hint != PLAIN_NO_SLOT && list_empty(prev))
		__clear_bit(prev - paper_of(t)->slots, t->s.occupied);
}

static void plain_restart(struct twheel_test_scheme *t, struct twheel_node *node, u64 expires)
{
	plain_stop(t, node);
	node->expires = expires;
	plain_start(t, node);
}

/* Returns the tick of the next occupied slot of the ring. */
static u64 plain_next_slot(struct twheel_test_scheme *t)
{
	u32 mask = paper_of(t)->mask, nr;

	nr = find_next_bit(t->s.occupied, mask + 1, (t->s.clock + 1) & mask);
	if (nr > mask)
		nr = find_first_bit(t->s.occupied, mask + 1);
	return nr > mask ? U64_MAX : t->s.clock + ((nr - (u32)t->s.clock) & mask);
}

static u64 plain_next(struct twheel_test_scheme *t)
{
	struct paper *plain = paper_of(t);
	struct twheel_node *node;
	u64 next = plain_next_slot(t), first = U64_MAX;

	if (!list_empty(&t->due))
		return t->s.clock;
	if (list_empty(&plain->rest))
		return next;
	/*
	 * Wake up at the beginning of the revolution in which the earliest node of the list is due,
	 * when the list is searched.
	 */
	list_for_each_entry(node, &plain->rest, link)
		first = min(first, node->expires);
	return min(next, max(first & ~(u64)plain->mask, t->s.clock + 1));
}

static void plain_collect(struct twheel_test_scheme *t)
{
	struct list_head *slot = paper_slot(t, t->s.clock);
	struct paper *plain = paper_of(t);
	struct twheel_node *node, *tmp;

	if (slot == plain->slots)
		list_for_each_entry_safe_reverse(node, tmp, &plain->rest, link) {
			if (node->expires - t->s.clock > plain->mask)
				continue;
			node->hint = 0;
			__set_bit(node->expires & plain->mask, t->s.occupied);
			list_move(&node->link, paper_slot(t, node->expires));
		}
	list_for_each_entry(node, slot, link)
		node->hint = PLAIN_NO_SLOT;
	list_splice_tail_init(slot, &t->due);
	__clear_bit(slot - plain->slots, t->s.occupied);
}

#define PAPER(scheme, nr_slots, kind, how_to_stop)				\
	static struct twheel_test_scheme *					\
	scheme ## _create(u64 clock, u32 slots, u32 capacity)			\
	{									\
		return paper_create(&twheel_test_ ## scheme, clock, nr_slots);	\
	}									\
										\
	const struct twheel_test_scheme_ops twheel_test_ ## scheme = {		\
		.name = #scheme,						\
		.create = scheme ## _create,					\
		.destroy = paper_destroy,					\
		.start = kind ## _start,					\
		.restart = kind ## _restart,					\
		.stop = how_to_stop,						\
		.pop = twheel_test_pop,						\
		.next = kind ## _next,						\
		.collect = kind ## _collect,					\
	}

PAPER(list, 1, unsorted, paper_stop);
PAPER(sorted_list, 1, sorted, paper_stop);
PAPER(plain, slots, plain, plain_stop);
PAPER(hashed_sorted, slots, sorted, paper_stop);
