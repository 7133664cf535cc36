/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of twheel_hier.c that starts, restarts and stops a node
 *
 * It is inlined into the API functions of twheel_timer.c: as functions of
 * their own these calls made up a fifth of a start. The idea and the rules are
 * in twheel_hier.c.
 */
#ifndef _TWHEEL_HIER_H
#define _TWHEEL_HIER_H

#include <linux/bitops.h>
#include <linux/prefetch.h>

#include "twheel_slot.h"

#define TWHEEL_HIER_MASK	(TWHEEL_HIER_RING - 1)

static __always_inline unsigned int twheel_hier_shift(unsigned int level)
{
	return level * TWHEEL_HIER_BITS;
}

static __always_inline u32 twheel_hier_slot(unsigned int level, u64 tick)
{
	return level * TWHEEL_HIER_RING +
	       ((tick >> twheel_hier_shift(level)) & TWHEEL_HIER_MASK);
}

/*
 * The lowest level whose current and next window reach @tick. The distance
 * from the clock gives a level that does; the one below reaches it too if
 * @tick is in the outer slot that comes next.
 */
static __always_inline unsigned int twheel_hier_level(u64 clock, u64 tick)
{
	u64 distance = tick - clock;
	/* Never 0, so that __fls() will do where it takes 64 bits. */
	unsigned int bit = BITS_PER_LONG == 64 ? __fls(distance) :
						 fls64(distance) - 1;
	unsigned int level = bit / TWHEEL_HIER_BITS;
	unsigned int shift = twheel_hier_shift(level);

	if (likely(level) &&
	    unlikely((tick >> shift) - (clock >> shift) <= 1))
		level--;
	return level;
}

/**
 * twheel_hier_start - start a node; see twheel_scheme_start()
 * @s: the scheme
 * @node: a node that is not pending
 */
static __always_inline void twheel_hier_start(struct twheel_scheme *s,
					      struct twheel_node *node)
{
	u64 clock = s->clock;
	u64 tick = node->expires > clock ? node->expires : clock + 1;
	unsigned int level = twheel_hier_level(clock, tick);

	twheel_slot_add_tail(s, twheel_hier_slot(level, tick), node);
}

/**
 * twheel_hier_stop - stop a node; see twheel_scheme_stop()
 * @s: the scheme
 * @node: a pending node
 */
static __always_inline void twheel_hier_stop(struct twheel_scheme *s,
					     struct twheel_node *node)
{
	twheel_slot_del(s, node);
}

/**
 * twheel_hier_restart - restart a node; see twheel_scheme_restart()
 * @s: the scheme
 * @node: a pending node
 * @expires: its new expiry tick
 */
static __always_inline void twheel_hier_restart(struct twheel_scheme *s,
						struct twheel_node *node,
						u64 expires)
{
	bool later = expires >= node->expires;

	node->expires = expires;
	if (likely(later))
		return;
	twheel_slot_leave(s, node);
	twheel_hier_start(s, node);
}

/**
 * twheel_hier_due - take out the next node of the clock's own slot
 * @s: the scheme
 *
 * The first thing that twheel_hier_pop() would do if the tick's cascade is
 * done and the slot's first node is due.
 *
 * Return: a node that is due, or NULL: then twheel_hier_pop() knows more.
 */
static __always_inline struct twheel_node *
twheel_hier_due(struct twheel_scheme *s)
{
	struct twheel_slot *slot = &s->slots[twheel_hier_slot(0, s->clock)];
	struct twheel_node *node;

	if (s->level || !slot->count)
		return NULL;
	node = list_first_entry(&slot->nodes, struct twheel_node, link);
	if (node->expires > s->clock)
		return NULL;
	twheel_slot_del(s, node);
	prefetchw(slot->nodes.next);
	return node;
}

#endif /* _TWHEEL_HIER_H */
