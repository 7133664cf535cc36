// SPDX-License-Identifier: GPL-2.0
/*
 * Scheme 2, a list sorted by expiry tick
 *
 * Section 3.2 of Varghese and Lauck: a tick looks only at the head, and a start
 * searches its place from the tail.
 */
#include <linux/slab.h>

#include "schemes.h"

struct sorted {
	struct twheel_test_scheme t;
	struct list_head nodes;
};

static struct list_head *sorted_nodes(struct twheel_test_scheme *t)
{
	return &container_of(t, struct sorted, t)->nodes;
}

static struct twheel_test_scheme *sorted_create(u64 clock, u32 slots,
						u32 capacity)
{
	struct sorted *list = kvzalloc(sizeof(*list), GFP_KERNEL);

	if (!list)
		return NULL;
	INIT_LIST_HEAD(&list->nodes);
	twheel_test_init(&list->t, &twheel_test_sorted_list, clock);
	return &list->t;
}

static void sorted_destroy(struct twheel_test_scheme *t)
{
	kvfree(container_of(t, struct sorted, t));
}

/* Late nodes are due at the next tick, after the nodes that wait for it. */
static void sorted_start(struct twheel_test_scheme *t,
			 struct twheel_node *node)
{
	u64 tick = twheel_test_due_tick(t, node->expires);
	struct twheel_node *pos;

	list_for_each_entry_reverse(pos, sorted_nodes(t), link)
		if (pos->expires <= tick)
			break;
	list_add(&node->link, &pos->link);
	t->s.pending++;
}

static void sorted_stop(struct twheel_test_scheme *t, struct twheel_node *node)
{
	twheel_test_unlink(node);
	t->s.pending--;
}

static void sorted_restart(struct twheel_test_scheme *t,
			   struct twheel_node *node, u64 expires)
{
	sorted_stop(t, node);
	node->expires = expires;
	sorted_start(t, node);
}

static struct twheel_node *sorted_first(struct twheel_test_scheme *t)
{
	return list_first_entry_or_null(sorted_nodes(t), struct twheel_node,
					link);
}

static u64 sorted_next(struct twheel_test_scheme *t)
{
	struct twheel_node *node = sorted_first(t);

	if (!list_empty(&t->due))
		return t->s.clock;
	return node ? twheel_test_due_tick(t, node->expires) : U64_MAX;
}

static void sorted_collect(struct twheel_test_scheme *t)
{
	struct twheel_node *node;

	while ((node = sorted_first(t)) && node->expires <= t->s.clock)
		list_move_tail(&node->link, &t->due);
}

static struct twheel_node *sorted_pop(struct twheel_test_scheme *t, u64 target,
				      int *work)
{
	while (list_empty(&t->due) && twheel_test_step(t, target))
		sorted_collect(t);
	return twheel_test_take_due(t);
}

const struct twheel_test_scheme_ops twheel_test_sorted_list = {
	.name = "sorted_list",
	.create = sorted_create,
	.destroy = sorted_destroy,
	.start = sorted_start,
	.restart = sorted_restart,
	.stop = sorted_stop,
	.pop = sorted_pop,
	.next = sorted_next,
};
