/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every scheme of keeping timers has in common
 *
 * A scheme is arithmetic on lists: it knows ticks, slots and nodes, and
 * nothing of clocks, CPUs, locks or callbacks. Its caller serialises all
 * calls on one struct twheel_scheme and owns the nodes. It allocates nothing.
 *
 * The terms: a tick is a number on the wheel's clock. @clock is the last tick
 * whose processing has begun. A node is due at tick node->expires. A slot is
 * a list of nodes. What must hold between any two calls:
 *
 *  - @pending is the number of nodes in all slots.
 *
 *  - The bit of a slot in @occupied is set if the slot has a node. In a hierarchical
 *    wheel it may also be set if the slot had one.
 *
 *  - Until it overflows a slot's @count is at least the number of its nodes.
 *
 *  - No node is due at a tick before @clock except those that were started
 *    late, and these are in the slot that is popped next.
 *
 * FIFO: nodes with the same expiry tick are popped in the order in which they
 * were started. A pending node that is restarted to the same tick or a later
 * one need not move. Among those of its new tick it takes a place as if it were
 * started at some time. That is not before its first start, and not after the
 * wheel has brought it to its new slot. One that is restarted to an
 * earlier tick counts as started then.
 */
#ifndef _TWHEEL_SCHEME_H
#define _TWHEEL_SCHEME_H

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "twheel_hier.h"
#include "twheel_slot.h"

struct twheel_node *twheel_hier_pop(struct twheel_scheme *s, u64 target,
				    int *work);
u64 twheel_hier_next(struct twheel_scheme *s);
u64 twheel_hier_wakeup(const struct twheel_scheme *s,
		       const struct twheel_node *node);

void twheel_hashed_start(struct twheel_scheme *s, struct twheel_node *node);
void twheel_hashed_restart(struct twheel_scheme *s, struct twheel_node *node,
			   u64 expires);
void twheel_hashed_stop(struct twheel_scheme *s, struct twheel_node *node);
struct twheel_node *twheel_hashed_pop(struct twheel_scheme *s, u64 target,
				      int *work);
u64 twheel_hashed_next(const struct twheel_scheme *s);

/**
 * twheel_scheme_slots - number of slots that a scheme needs
 * @type: the scheme
 * @slots: slots asked for, a power of two, for hashed wheels only
 *
 * Return: that number.
 */
static inline u32 twheel_scheme_slots(enum twheel_scheme_type type, u32 slots)
{
	return type == TWHEEL_HIER ? TWHEEL_HIER_SLOTS : slots;
}

/* The clock was set: the next step looks at everything again. */
static inline void twheel_scheme_set_window(struct twheel_scheme *s)
{
	if (s->type != TWHEEL_HIER)
		return;
	twheel_hier_set_window(s);
	s->window = s->clock;
	s->recheck = s->clock;
}

/**
 * twheel_scheme_init - make an empty scheme
 * @s: the scheme
 * @type: which one
 * @slots: memory for twheel_scheme_slots() slots
 * @occupied: memory for a zeroed bitmap of as many bits
 * @nr_slots: how many these are
 * @clock: the tick to begin after
 */
static inline void twheel_scheme_init(struct twheel_scheme *s,
				      enum twheel_scheme_type type,
				      struct twheel_slot *slots,
				      unsigned long *occupied, u32 nr_slots,
				      u64 clock)
{
	u32 i;

	*s = (struct twheel_scheme) {
		.clock = clock,
		.type = type,
		.nr_slots = nr_slots,
		.occupied = occupied,
		.slots = slots,
	};
	twheel_scheme_set_window(s);
	for (i = 0; i < nr_slots; i++) {
		INIT_LIST_HEAD(&slots[i].nodes);
		slots[i].count = 0;
		slots[i].stale = 0;
		slots[i].first = U64_MAX;
	}
}

/*
 * The interface that twheel_main.c and the tests use. A branch on the type
 * and a direct call: an indirect call costs more than a start (retpolines).
 */

/**
 * twheel_scheme_start_at - start a node that is not pending
 * @s: the scheme
 * @node: the node
 * @tick: its expiry tick, which is in @node->expires too. One at or before the
 *	clock is due at the next tick
 */
static __always_inline void
twheel_scheme_start_at(struct twheel_scheme *s, struct twheel_node *node,
		       u64 tick)
{
	if (likely(s->type == TWHEEL_HIER))
		twheel_hier_start(s, node, tick);
	else
		twheel_hashed_start(s, node);
}

/* The same for a caller that has not just written the tick. */
static __always_inline void
twheel_scheme_start(struct twheel_scheme *s, struct twheel_node *node)
{
	twheel_scheme_start_at(s, node, node->expires);
}

/**
 * twheel_scheme_refresh - the usual restart: to a later tick, nothing moves
 * @s: the scheme
 * @node: a pending node
 * @expires: its new expiry tick
 *
 * Return: false if it takes a twheel_scheme_restart(). Then nothing was done.
 */
static __always_inline bool twheel_scheme_refresh(struct twheel_scheme *s,
						  struct twheel_node *node,
						  u64 expires)
{
	if (unlikely(expires < node->expires ||
		     !(node->hint & TWHEEL_SLOT_MAY_STAY)))
		return false;
	/* Pairs with restart_after(), which takes no lock. */
	WRITE_ONCE(node->expires, expires);
	return true;
}

/**
 * twheel_scheme_restart - give a pending node another expiry tick
 * @s: the scheme
 * @node: a pending node
 * @expires: its new expiry tick
 *
 * For a tick that twheel_scheme_refresh() has refused.
 */
static __always_inline void
twheel_scheme_restart(struct twheel_scheme *s, struct twheel_node *node,
		      u64 expires)
{
	if (likely(s->type == TWHEEL_HIER))
		twheel_hier_restart(s, node, expires);
	else
		twheel_hashed_restart(s, node, expires);
}

/**
 * twheel_scheme_stop - take a pending node out
 * @s: the scheme
 * @node: a pending node
 */
static __always_inline void
twheel_scheme_stop(struct twheel_scheme *s, struct twheel_node *node)
{
	if (likely(s->type == TWHEEL_HIER))
		twheel_hier_stop(s, node);
	else
		twheel_hashed_stop(s, node);
}

/**
 * twheel_scheme_leave - take a pending node out that is to join another scheme
 * @s: the scheme
 * @node: a pending node. twheel_pending() goes on to say that it is pending
 */
static __always_inline void
twheel_scheme_leave(struct twheel_scheme *s, struct twheel_node *node)
{
	twheel_slot_free_cursor(s, node);
	twheel_slot_leave(s, node);
	s->pending--;
}

/**
 * twheel_scheme_pop - move the clock on and take out the next due node
 * @s: the scheme
 * @target: the tick to go on to, not before the clock
 * @work: how many nodes may be moved or looked at beside those returned. Is
 *	counted down
 *
 * Ticks are processed in order and none is skipped, though runs of ticks at
 * which nothing is to be done are passed in one step. Nodes may be started,
 * restarted and stopped between any two calls.
 *
 * Return: a node that is due, taken out, or NULL. With NULL and *@work greater
 * than 0 the clock is @target and all that was due is out. With NULL and no work
 * left the caller should call again when it has let others run.
 */
static inline struct twheel_node *twheel_scheme_pop(struct twheel_scheme *s,
						    u64 target, int *work)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_pop(s, target, work);
	return twheel_hashed_pop(s, target, work);
}

/**
 * twheel_scheme_due_slot - what twheel_scheme_due() needs
 * @s: the scheme
 *
 * Return: the slot of the clock's tick, good until the clock moves. NULL if
 * there is no shorter way in this scheme.
 */
static __always_inline struct twheel_slot *
twheel_scheme_due_slot(const struct twheel_scheme *s)
{
	return likely(s->type == TWHEEL_HIER) ? twheel_hier_due_slot(s) : NULL;
}

/**
 * twheel_scheme_moves - whether the clock's tick has nodes to move
 * @s: the scheme
 *
 * Return: true if it has. Once false it is false until the clock moves.
 */
static __always_inline bool twheel_scheme_moves(const struct twheel_scheme *s)
{
	return s->quota;
}

/**
 * twheel_scheme_due - a shorter way to the next due node of a tick
 * @s: the scheme
 * @slot: twheel_scheme_due_slot()
 * @moves: twheel_scheme_moves(), now or earlier in this tick
 * @node: set to the node, taken out
 *
 * The clock stays where it is. With @moves this moves one node beside that taken
 * out, if there is one to move.
 *
 * Return: true if there is one. If not twheel_scheme_pop() has to be called to know.
 */
static __always_inline bool twheel_scheme_due(struct twheel_scheme *s,
					      struct twheel_slot *slot, bool moves,
					      struct twheel_node **node)
{
	return likely(slot) && twheel_hier_due(s, slot, moves, node);
}

/**
 * twheel_scheme_next - the next tick that has to be processed
 * @s: the scheme
 *
 * Never later than the expiry tick of any pending node. May be earlier, where
 * nodes have to be moved first. Not after the clock if the tick at the clock
 * is not finished.
 *
 * Return: a tick, or U64_MAX if no node is pending.
 */
static inline u64 twheel_scheme_next(struct twheel_scheme *s)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_next(s);
	return twheel_hashed_next(s);
}

/**
 * twheel_scheme_wakeup - until when a tickless wheel can sleep for a node
 * @s: the scheme
 * @node: a node that was started or restarted just now
 *
 * The least of what this returned for all nodes is not later than
 * twheel_scheme_next(). It may be earlier than that was before the start even
 * if the node's tick is later: a fuller outer slot takes longer to move.
 *
 * Return: a tick.
 */
static inline u64 twheel_scheme_wakeup(const struct twheel_scheme *s,
				       const struct twheel_node *node)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_wakeup(s, node);
	return node->expires;
}

/**
 * twheel_scheme_skip - move the clock of an empty scheme
 * @s: a scheme with no pending node
 * @clock: the new clock, not before the old one
 */
static inline void twheel_scheme_skip(struct twheel_scheme *s, u64 clock)
{
	s->clock = clock;
	s->level = 0;
	s->quota = 0;
	twheel_scheme_set_window(s);
	s->cursor = NULL;
	s->leap = 0;
}

/**
 * twheel_scheme_levels - levels of a scheme
 * @type: the scheme
 *
 * Return: their number. A hashed wheel has one.
 */
static inline unsigned int twheel_scheme_levels(enum twheel_scheme_type type)
{
	return type == TWHEEL_HIER ? TWHEEL_HIER_LEVELS : 1;
}

/**
 * twheel_scheme_occupied - occupied slots of a level
 * @s: the scheme
 * @level: the level
 *
 * Return: their number, with those that had a node and have not been looked at.
 */
static inline unsigned int twheel_scheme_occupied(const struct twheel_scheme *s,
						  unsigned int level)
{
	u32 slots = s->nr_slots / twheel_scheme_levels(s->type);

	return bitmap_weight(s->occupied + level * BITS_TO_LONGS(slots), slots);
}

/**
 * twheel_scheme_any - a pending node, for those who want them all out
 * @s: the scheme
 * @slot: where to go on. The caller sets it to @s->nr_slots before the first
 *	call
 *
 * Slots are emptied from the highest number down, each from its head: nodes
 * of one expiry tick come out in the order in which they would expire.
 *
 * Return: a node, still pending, or NULL if there is none.
 */
static inline struct twheel_node *
twheel_scheme_any(struct twheel_scheme *s, u32 *slot)
{
	struct twheel_node *node;
	u32 nr;

	do {
		if (!s->pending)
			return NULL;
		nr = find_last_bit(s->occupied, min(*slot, s->nr_slots));
		if (nr >= *slot)
			nr = find_last_bit(s->occupied, s->nr_slots);
		/* The rest has been lost, see twheel_slot_mend(). */
		if (unlikely(nr >= s->nr_slots))
			return NULL;
		*slot = nr + 1;
		node = twheel_slot_first(s, &s->slots[nr]);
		if (!node)
			twheel_slot_vacate(s, &s->slots[nr].nodes);
	} while (!node);
	return node;
}

#endif /* _TWHEEL_SCHEME_H */
