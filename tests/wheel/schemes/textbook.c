// SPDX-License-Identifier: GPL-2.0
/*
 * Scheme 7 as in textbooks: a hierarchical wheel that cascades a slot at once
 *
 * Section 6.2 of Varghese and Lauck, with 256 slots a level: the distance of a tick
 * picks the level, the digits of the tick pick the slot. At each end of a round of a
 * level, all nodes of the next slot of the level above move down, in that one tick.
 *
 * Of two nodes with one tick, the node in the higher level was started first, when
 * its tick was still further away. Nodes that move down therefore join the head of
 * their slot, the last one first, and the lowest level is the first to get some.
 */
#include <linux/bitops.h>
#include <linux/slab.h>

#include "schemes.h"

#define TEXTBOOK_BITS	8
#define TEXTBOOK_SLOTS	(1U << TEXTBOOK_BITS)
/* Enough for 64 bits. */
#define TEXTBOOK_LEVELS	(64U / TEXTBOOK_BITS)

struct textbook {
	struct twheel_test_scheme t;
	struct list_head slots[TEXTBOOK_LEVELS][TEXTBOOK_SLOTS];
};

static struct list_head *textbook_slot(struct twheel_test_scheme *t,
				       u32 level, u64 tick)
{
	struct textbook *wheel = container_of(t, struct textbook, t);

	return &wheel->slots[level][(tick >> level * TEXTBOOK_BITS) %
				    TEXTBOOK_SLOTS];
}

/* Returns the slot of @tick, at or after the clock. */
static struct list_head *textbook_place(struct twheel_test_scheme *t, u64 tick)
{
	u32 level = (fls64((tick - t->s.clock) | 1) - 1) / TEXTBOOK_BITS;

	return textbook_slot(t, level, tick);
}

static struct twheel_test_scheme *textbook_create(u64 clock, u32 slots,
						  u32 capacity)
{
	struct textbook *wheel = kvzalloc(sizeof(*wheel), GFP_KERNEL);
	u32 level, i;

	if (!wheel)
		return NULL;
	for (level = 0; level < TEXTBOOK_LEVELS; level++)
		for (i = 0; i < TEXTBOOK_SLOTS; i++)
			INIT_LIST_HEAD(&wheel->slots[level][i]);
	twheel_test_init(&wheel->t, &twheel_test_textbook, clock);
	return &wheel->t;
}

static void textbook_destroy(struct twheel_test_scheme *t)
{
	kvfree(container_of(t, struct textbook, t));
}

static void textbook_start(struct twheel_test_scheme *t,
			   struct twheel_node *node)
{
	u64 tick = twheel_test_due_tick(t, node->expires);

	list_add_tail(&node->link, textbook_place(t, tick));
	t->s.pending++;
}

static void textbook_stop(struct twheel_test_scheme *t,
			  struct twheel_node *node)
{
	twheel_test_unlink(node);
	t->s.pending--;
}

static void textbook_restart(struct twheel_test_scheme *t,
			     struct twheel_node *node, u64 expires)
{
	textbook_stop(t, node);
	node->expires = expires;
	textbook_start(t, node);
}

/* Returns the next tick at which a level has a slot to expire or to bring down. */
static u64 textbook_next_of(struct twheel_test_scheme *t, u32 level)
{
	u64 now = t->s.clock >> level * TEXTBOOK_BITS;
	u32 i;

	for (i = 1; i <= TEXTBOOK_SLOTS; i++) {
		u64 tick = (now + i) << level * TEXTBOOK_BITS;

		if (!list_empty(textbook_slot(t, level, tick)))
			return tick;
	}
	return U64_MAX;
}

static u64 textbook_next(struct twheel_test_scheme *t)
{
	u64 next = U64_MAX;
	u32 level;

	if (!list_empty(&t->due))
		return t->s.clock;
	for (level = 0; level < TEXTBOOK_LEVELS; level++)
		next = min(next, textbook_next_of(t, level));
	return next;
}

static void textbook_cascade(struct twheel_test_scheme *t, u32 level)
{
	struct list_head *slot = textbook_slot(t, level, t->s.clock);
	struct twheel_node *node, *tmp;

	list_for_each_entry_safe_reverse(node, tmp, slot, link)
		list_move(&node->link, textbook_place(t, node->expires));
}

static void textbook_collect(struct twheel_test_scheme *t)
{
	u32 level = 0;

	while (++level < TEXTBOOK_LEVELS &&
	       !(t->s.clock << (64 - level * TEXTBOOK_BITS)))
		textbook_cascade(t, level);
	list_splice_tail_init(textbook_slot(t, 0, t->s.clock), &t->due);
}

const struct twheel_test_scheme_ops twheel_test_textbook = {
	.name = "textbook",
	.create = textbook_create,
	.destroy = textbook_destroy,
	.start = textbook_start,
	.restart = textbook_restart,
	.stop = textbook_stop,
	.pop = twheel_test_pop,
	.next = textbook_next,
	.collect = textbook_collect,
};
