// SPDX-License-Identifier: GPL-2.0
/*
 * Scheme 1, an unsorted list
 *
 * Section 3.1 of Varghese and Lauck: start and stop are O(1), and every tick
 * looks at every timer.
 */
#include <linux/slab.h>

#include "schemes.h"

struct unsorted {
	struct twheel_test_scheme t;
	struct list_head nodes;
};

static struct list_head *unsorted_nodes(struct twheel_test_scheme *t)
{
	return &container_of(t, struct unsorted, t)->nodes;
}

static struct twheel_test_scheme *unsorted_create(u64 clock, u32 slots,
						  u32 capacity)
{
	struct unsorted *list = kvzalloc(sizeof(*list), GFP_KERNEL);

	if (!list)
		return NULL;
	INIT_LIST_HEAD(&list->nodes);
	twheel_test_init(&list->t, &twheel_test_list, clock);
	return &list->t;
}

static void unsorted_destroy(struct twheel_test_scheme *t)
{
	kvfree(container_of(t, struct unsorted, t));
}

static void unsorted_start(struct twheel_test_scheme *t,
			   struct twheel_node *node)
{
	list_add_tail(&node->link, unsorted_nodes(t));
	t->s.pending++;
}

static void unsorted_stop(struct twheel_test_scheme *t,
			  struct twheel_node *node)
{
	twheel_test_unlink(node);
	t->s.pending--;
}

static void unsorted_restart(struct twheel_test_scheme *t,
			     struct twheel_node *node, u64 expires)
{
	node->expires = expires;
	list_move_tail(&node->link, unsorted_nodes(t));
}

static u64 unsorted_next(struct twheel_test_scheme *t)
{
	struct twheel_node *node;
	u64 next = U64_MAX;

	if (!list_empty(&t->due))
		return t->s.clock;
	list_for_each_entry(node, unsorted_nodes(t), link)
		next = min(next, twheel_test_due_tick(t, node->expires));
	return next;
}

static void unsorted_collect(struct twheel_test_scheme *t)
{
	struct twheel_node *node, *tmp;

	list_for_each_entry_safe(node, tmp, unsorted_nodes(t), link)
		if (node->expires <= t->s.clock)
			list_move_tail(&node->link, &t->due);
}

static struct twheel_node *unsorted_pop(struct twheel_test_scheme *t, u64 target,
					int *work)
{
	while (list_empty(&t->due) && twheel_test_step(t, target))
		unsorted_collect(t);
	return twheel_test_take_due(t);
}

const struct twheel_test_scheme_ops twheel_test_list = {
	.name = "list",
	.create = unsorted_create,
	.destroy = unsorted_destroy,
	.start = unsorted_start,
	.restart = unsorted_restart,
	.stop = unsorted_stop,
	.pop = unsorted_pop,
	.next = unsorted_next,
};
