/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Starting, restarting, stopping and expiring a node of the hierarchical wheel
 *
 * These functions are inlined into the API of core/timer.c and the loop of
 * core/tick.c. Calls would take a fifth of a start and a third of an expiry
 * there. See twheel_hier.c for the idea and the rules.
 */
#ifndef _TWHEEL_HIER_H
#define _TWHEEL_HIER_H

#include <linux/bitops.h>

#include "twheel_slot.h"

/*
 * Slots per window of a level, as a power of two. Programs may define a smaller
 * one.
 */
#ifndef TWHEEL_HIER_BITS
#define TWHEEL_HIER_BITS	8
#endif
#define TWHEEL_HIER_WINDOW	BIT(TWHEEL_HIER_BITS)
/*
 * Each level has two windows: the current one, and the next one, which is being
 * filled.
 */
#define TWHEEL_HIER_RING	(2 * TWHEEL_HIER_WINDOW)
/* Enough levels for 64 bits. */
#define TWHEEL_HIER_LEVELS	DIV_ROUND_UP(64, TWHEEL_HIER_BITS)
#define TWHEEL_HIER_SLOTS	(TWHEEL_HIER_LEVELS * TWHEEL_HIER_RING)
#define TWHEEL_HIER_MASK	(TWHEEL_HIER_RING - 1)

/*
 * Number of nodes to expire before some are moved, and to move before some
 * expire: as many as hints reach ahead.
 */
#define TWHEEL_HIER_TURN	TWHEEL_SLOT_HINTS

struct twheel_node *twheel_hier_pop(struct twheel_scheme *s, u64 target,
				    int *work);
u64 twheel_hier_next(struct twheel_scheme *s);
u64 twheel_hier_next_due(struct twheel_scheme *s, int most);
u64 twheel_hier_next_for(const struct twheel_scheme *s,
			 const struct twheel_node *node);
void twheel_hier_check_levels(struct twheel_scheme *s);
void twheel_hier_join_first(struct twheel_scheme *s, struct twheel_slot *slot,
			    struct twheel_node *node, u32 flags);
void twheel_hier_place_far(struct twheel_scheme *s, struct twheel_node *node);

/*
 * 1: initialise the slots of an outer level when it is first used. Programs do
 * so, because most of their wheels never use the memory of outer levels.
 */
#ifndef TWHEEL_HIER_ON_DEMAND
#define TWHEEL_HIER_ON_DEMAND	0
#endif

/* Initialise the slots of further levels, up to @level. */
static inline void twheel_hier_init_levels(struct twheel_scheme *s,
					   unsigned int level)
{
	struct twheel_slot *slot = s->slots + s->ready * TWHEEL_HIER_RING;

	s->ready = level + 1;
	for (; slot < s->slots + s->ready * TWHEEL_HIER_RING; slot++)
		INIT_LIST_HEAD(&slot->nodes);
}

static inline unsigned int twheel_hier_shift(unsigned int level)
{
	return level * TWHEEL_HIER_BITS;
}

static inline struct twheel_slot *
twheel_hier_slot(const struct twheel_scheme *s, unsigned int level, u64 tick)
{
	return &s->slots[level * TWHEEL_HIER_RING +
			 ((tick >> twheel_hier_shift(level)) & TWHEEL_HIER_MASK)];
}

/*
 * Add a node to a slot, at the @head or at the tail. @flags is
 * TWHEEL_SLOT_MAY_STAY or 0. For an empty slot this is a tail call, so that the
 * usual path need not save registers, which takes stores. The number of its
 * stores limits the speed of a start.
 */
static __always_inline void
twheel_hier_join(struct twheel_scheme *s, struct twheel_slot *slot,
		 struct twheel_node *node, u32 flags, bool head)
{
	struct list_head *prev = head ? &slot->nodes : slot->nodes.prev;
	struct list_head *next = head ? slot->nodes.next : &slot->nodes;
	u32 here = twheel_slot_address(node), nr;

	if (unlikely(prev == next)) {
		twheel_hier_join_first(s, slot, node, flags);
		return;
	}
	nr = slot->count++ % TWHEEL_SLOT_HINTS;
	node->hint = flags + (slot->recent[nr] - here);
	slot->recent[nr] = here;
	twheel_link(&node->link, prev, next);
}

/* Add a node, beyond the windows of level 0, to the slot for its deadline. */
static __always_inline void
twheel_hier_place_outer(struct twheel_scheme *s, struct twheel_node *node,
			u64 expires)
{
	struct twheel_slot *slot;

	if (likely(expires < s->reach[1])) {
		slot = twheel_hier_slot(s, 1, twheel_scheme_tick(s, expires));
		twheel_hier_join(s, slot, node, TWHEEL_SLOT_MAY_STAY, false);
	} else if (expires < s->reach[2]) {
		slot = twheel_hier_slot(s, 2, twheel_scheme_tick(s, expires));
		twheel_hier_join(s, slot, node, TWHEEL_SLOT_MAY_STAY, false);
	} else {
		twheel_hier_place_far(s, node);
	}
}

/* Add a node to the slot for its deadline. */
static __always_inline void twheel_hier_place(struct twheel_scheme *s,
					      struct twheel_node *node,
					      u64 expires)
{
	u64 tick;

	if (unlikely(expires < s->reach[0])) {
		tick = max(twheel_scheme_tick(s, expires), s->clock + 1);
		twheel_hier_join(s, twheel_hier_slot(s, 0, tick), node, 0, false);
	} else {
		twheel_hier_place_outer(s, node, expires);
	}
}

/* See twheel_scheme.h for the functions below. */

static __always_inline void
twheel_hier_start(struct twheel_scheme *s, struct twheel_node *node, u64 tick)
{
	s->pending++;
	twheel_hier_place(s, node, tick);
}

/*
 * Returns whether a node may remain in its slot when it is restarted to
 * @expires.
 */
static __always_inline bool twheel_hier_stays(struct twheel_scheme *s,
					      struct twheel_node *node,
					      u64 expires)
{
	u64 tick;

	if (expires < node->expires)
		return false;
	tick = max(node->expires, s->clock + 1);
	return twheel_slot_may_stay(twheel_hier_slot(s, 0, tick), node);
}

static __always_inline bool twheel_hier_restart(struct twheel_scheme *s,
						struct twheel_node *node,
						u64 expires)
{
	bool stays = twheel_hier_stays(s, node, expires);

	/* As in twheel_scheme_refresh(). */
	WRITE_ONCE(node->expires, expires);
	if (stays)
		return false;
	twheel_slot_leave(s, node);
	twheel_hier_place(s, node, expires);
	return true;
}

/*
 * Returns whether a node at @tick needs no attention until @until. A slot of
 * level 0 needs attention at its tick, an outer slot up to two of its widths
 * before.
 */
static __always_inline bool twheel_hier_can_wait(const struct twheel_scheme *s,
						 u64 tick, u64 until)
{
	u64 ahead = tick - until;
	u32 level = (ahead >= 2 << TWHEEL_HIER_BITS) +
		    (ahead >= 2 << 2 * TWHEEL_HIER_BITS);

	return tick >= until && tick < s->reach[level];
}

static inline struct twheel_slot *
twheel_hier_due_slot(const struct twheel_scheme *s)
{
	return twheel_hier_slot(s, 0, s->clock);
}

/* Take out the next node of the clock's slot. Returns NULL if none is due. */
static inline struct twheel_node *
twheel_hier_due(struct twheel_scheme *s, struct twheel_slot *slot)
{
	struct list_head *head = &slot->nodes, *first = head->next, *next;
	struct twheel_node *node = list_entry(first, struct twheel_node, link);

	if (first == head || !twheel_slot_is_due(node, s->clock))
		return NULL;
	next = first->next;
	if (TWHEEL_SLOT_CORRUPTED(!next || next->prev != first ||
				  first->prev != head)) {
		twheel_slot_drop(s, slot);
		return NULL;
	}
	twheel_slot_take_hint(node);
	twheel_unlink(head, next);
	if (unlikely(next == head))
		twheel_slot_vacate(s, slot);
	twheel_slot_leave_wheel(s, node);
	return node;
}

#endif /* _TWHEEL_HIER_H */
