// SPDX-License-Identifier: GPL-2.0
/*
 * Scheme 4, a plain timing wheel with a list for the rest
 *
 * Section 5 of Varghese and Lauck: a ring of MaxInterval slots, one for each of
 * the coming ticks. Timers further away wait in an unsorted list, which is
 * searched whenever the hand is at slot 0.
 *
 * Of two nodes with one tick, the node in the list was started first, when its
 * tick was still further away. Nodes from the list therefore join the head of
 * their slot, the last one first.
 */
#include <linux/slab.h>

#include "schemes.h"

struct plain {
	struct twheel_test_scheme t;
	struct list_head rest;
};

/* node->hint of a node that is in the list, or due. */
#define PLAIN_NO_SLOT	U32_MAX

static struct list_head *plain_rest(struct twheel_test_scheme *t)
{
	return &container_of(t, struct plain, t)->rest;
}

static u32 plain_mask(const struct twheel_test_scheme *t)
{
	return t->s.nr_slots - 1;
}

static void plain_destroy(struct twheel_test_scheme *t)
{
	kvfree(t->s.slots);
	bitmap_free(t->s.occupied);
	kvfree(container_of(t, struct plain, t));
}

static struct twheel_test_scheme *plain_create(u64 clock, u32 slots,
					       u32 capacity)
{
	struct plain *plain = kvzalloc(sizeof(*plain), GFP_KERNEL);
	struct twheel_scheme *s;
	u32 i;

	if (!plain)
		return NULL;
	INIT_LIST_HEAD(&plain->rest);
	twheel_test_init(&plain->t, &twheel_test_plain, clock);
	s = &plain->t.s;
	s->type = TWHEEL_HASHED;
	s->nr_slots = slots;
	s->slots = kvcalloc(slots, sizeof(*s->slots), GFP_KERNEL);
	s->occupied = bitmap_zalloc(slots, GFP_KERNEL);
	if (!s->slots || !s->occupied) {
		plain_destroy(&plain->t);
		return NULL;
	}
	for (i = 0; i < slots; i++)
		INIT_LIST_HEAD(&s->slots[i].nodes);
	return &plain->t;
}

/* Into the slot of @tick. */
static void plain_join(struct twheel_test_scheme *t, struct twheel_node *node,
		       u64 tick, bool tail)
{
	u32 nr = tick & plain_mask(t);
	struct list_head *nodes = &t->s.slots[nr].nodes;

	node->hint = 0;
	__set_bit(nr, t->s.occupied);
	if (tail)
		list_add_tail(&node->link, nodes);
	else
		list_add(&node->link, nodes);
}

static void plain_start(struct twheel_test_scheme *t, struct twheel_node *node)
{
	u64 tick = twheel_test_due_tick(t, node->expires);

	if (tick - t->s.clock <= plain_mask(t)) {
		plain_join(t, node, tick, true);
	} else {
		node->hint = PLAIN_NO_SLOT;
		list_add_tail(&node->link, plain_rest(t));
	}
	t->s.pending++;
}

static void plain_stop(struct twheel_test_scheme *t, struct twheel_node *node)
{
	struct list_head *prev = node->link.prev;

	twheel_test_unlink(node);
	t->s.pending--;
	if (node->hint != PLAIN_NO_SLOT && list_empty(prev))
		__clear_bit(list_entry(prev, struct twheel_slot, nodes) -
			    t->s.slots, t->s.occupied);
}

static void plain_restart(struct twheel_test_scheme *t,
			  struct twheel_node *node, u64 expires)
{
	plain_stop(t, node);
	node->expires = expires;
	plain_start(t, node);
}

/* Distance to the next occupied slot of the ring, or 0 if all are empty. */
static u32 plain_distance(const struct twheel_test_scheme *t)
{
	u32 from = (t->s.clock + 1) & plain_mask(t);
	u32 nr = find_next_bit(t->s.occupied, t->s.nr_slots, from);

	if (nr >= t->s.nr_slots)
		nr = find_first_bit(t->s.occupied, t->s.nr_slots);
	return nr < t->s.nr_slots ? (nr - (u32)t->s.clock) & plain_mask(t) : 0;
}

/* When to search the list so that its first node is in time. */
static u64 plain_rest_tick(struct twheel_test_scheme *t)
{
	struct twheel_node *node;
	u64 first = U64_MAX;

	list_for_each_entry(node, plain_rest(t), link)
		first = min(first, node->expires);
	return max(first & ~(u64)plain_mask(t), t->s.clock + 1);
}

static u64 plain_next(struct twheel_test_scheme *t)
{
	u32 distance = plain_distance(t);
	u64 next = distance ? t->s.clock + distance : U64_MAX;

	if (!list_empty(&t->due))
		return t->s.clock;
	if (!list_empty(plain_rest(t)))
		next = min(next, plain_rest_tick(t));
	return next;
}

static void plain_search_rest(struct twheel_test_scheme *t)
{
	struct twheel_node *node, *tmp;

	list_for_each_entry_safe_reverse(node, tmp, plain_rest(t), link) {
		if (node->expires - t->s.clock > plain_mask(t))
			continue;
		list_del(&node->link);
		plain_join(t, node, node->expires, false);
	}
}

static void plain_collect(struct twheel_test_scheme *t)
{
	u32 nr = t->s.clock & plain_mask(t);
	struct twheel_slot *slot = &t->s.slots[nr];
	struct twheel_node *node;

	if (!nr)
		plain_search_rest(t);
	list_for_each_entry(node, &slot->nodes, link)
		node->hint = PLAIN_NO_SLOT;
	list_splice_tail_init(&slot->nodes, &t->due);
	__clear_bit(nr, t->s.occupied);
}

static struct twheel_node *plain_pop(struct twheel_test_scheme *t, u64 target,
				     int *work)
{
	while (list_empty(&t->due) && twheel_test_step(t, target))
		plain_collect(t);
	return twheel_test_take_due(t);
}

const struct twheel_test_scheme_ops twheel_test_plain = {
	.name = "plain",
	.create = plain_create,
	.destroy = plain_destroy,
	.start = plain_start,
	.restart = plain_restart,
	.stop = plain_stop,
	.pop = plain_pop,
	.next = plain_next,
};
