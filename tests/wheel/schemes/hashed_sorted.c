// SPDX-License-Identifier: GPL-2.0
/*
 * Scheme 5, a hashed wheel whose slots are sorted by expiry tick
 *
 * Section 6.1.1 of Varghese and Lauck: the low bits of a tick pick the slot. A
 * tick looks at the head of its slot only, and start looks for its place from
 * the tail. That is O(1) on average if there are more slots than nodes.
 */
#include <linux/slab.h>

#include "schemes.h"

struct hashed_sorted {
	struct twheel_test_scheme t;
	u32 mask;
	struct list_head slots[];
};

static struct hashed_sorted *hashed_sorted_of(struct twheel_test_scheme *t)
{
	return container_of(t, struct hashed_sorted, t);
}

static struct list_head *hashed_sorted_slot(struct twheel_test_scheme *t,
					    u64 tick)
{
	struct hashed_sorted *wheel = hashed_sorted_of(t);

	return &wheel->slots[tick & wheel->mask];
}

static struct twheel_test_scheme *hashed_sorted_create(u64 clock, u32 slots,
						       u32 capacity)
{
	struct hashed_sorted *wheel;
	u32 i;

	wheel = kvzalloc(sizeof(*wheel) + slots * sizeof(wheel->slots[0]),
			 GFP_KERNEL);
	if (!wheel)
		return NULL;
	wheel->mask = slots - 1;
	for (i = 0; i < slots; i++)
		INIT_LIST_HEAD(&wheel->slots[i]);
	twheel_test_init(&wheel->t, &twheel_test_hashed_sorted, clock);
	return &wheel->t;
}

static void hashed_sorted_destroy(struct twheel_test_scheme *t)
{
	kvfree(hashed_sorted_of(t));
}

/* A late node is due at the next tick, behind the nodes that wait for it. */
static void hashed_sorted_start(struct twheel_test_scheme *t,
				struct twheel_node *node)
{
	u64 tick = twheel_test_due_tick(t, node->expires);
	struct twheel_node *pos;

	list_for_each_entry_reverse(pos, hashed_sorted_slot(t, tick), link)
		if (pos->expires <= tick)
			break;
	list_add(&node->link, &pos->link);
	t->s.pending++;
}

static void hashed_sorted_stop(struct twheel_test_scheme *t,
			       struct twheel_node *node)
{
	twheel_test_unlink(node);
	t->s.pending--;
}

static void hashed_sorted_restart(struct twheel_test_scheme *t,
				  struct twheel_node *node, u64 expires)
{
	hashed_sorted_stop(t, node);
	node->expires = expires;
	hashed_sorted_start(t, node);
}

static u64 hashed_sorted_next(struct twheel_test_scheme *t)
{
	struct hashed_sorted *wheel = hashed_sorted_of(t);
	struct twheel_node *node;
	u64 next = U64_MAX;
	u32 i;

	if (!list_empty(&t->due))
		return t->s.clock;
	if (!t->s.pending)
		return U64_MAX;
	for (i = 0; i <= wheel->mask; i++) {
		node = list_first_entry_or_null(&wheel->slots[i],
						struct twheel_node, link);
		if (node)
			next = min(next, twheel_test_due_tick(t, node->expires));
	}
	return next;
}

static void hashed_sorted_collect(struct twheel_test_scheme *t)
{
	struct list_head *slot = hashed_sorted_slot(t, t->s.clock);
	struct twheel_node *node, *next;

	list_for_each_entry_safe(node, next, slot, link) {
		if (node->expires > t->s.clock)
			break;
		list_move_tail(&node->link, &t->due);
	}
}

static struct twheel_node *hashed_sorted_pop(struct twheel_test_scheme *t,
					     u64 target, int *work)
{
	while (list_empty(&t->due) && twheel_test_step(t, target))
		hashed_sorted_collect(t);
	return twheel_test_take_due(t);
}

const struct twheel_test_scheme_ops twheel_test_hashed_sorted = {
	.name = "hashed_sorted",
	.create = hashed_sorted_create,
	.destroy = hashed_sorted_destroy,
	.start = hashed_sorted_start,
	.restart = hashed_sorted_restart,
	.stop = hashed_sorted_stop,
	.pop = hashed_sorted_pop,
	.next = hashed_sorted_next,
};
