/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/**
 * DOC: Ticks, slots and nodes: the rules of every scheme
 *
 * A scheme is arithmetic on lists: it knows ticks, slots and nodes, but no
 * clocks, CPUs, locks or callbacks. The caller serialises all calls on a struct
 * twheel_scheme and owns the nodes. Nothing is allocated.
 *
 * A tick is a number on the wheel's clock. @clock is the last tick whose
 * processing began. A node is due at tick node->expires. A slot is a list of
 * nodes. These rules hold between any two calls:
 *
 *  - @pending is the number of nodes in all slots.
 *  - The bit of a slot in @occupied is set if and only if the slot has a node.
 *  - The @count of a slot is at least the number of its nodes, until it
 *    overflows.
 *  - No node is due before @clock, except nodes that were started late, and
 *    these are in the slot that is popped next.
 *
 * A scheme does work only at ticks that twheel_scheme_next() returned, and in
 * twheel_scheme_next_due() before its caller sleeps. A dozing wheel is not called
 * at any other tick, and the outcome must not depend on the tick mode.
 *
 * FIFO: nodes with the same expiry tick are popped in the order in which they
 * were started. A pending node that is restarted to the same tick or a later
 * one need not move. It is popped like a node with a start at some time between
 * its first start and its move to the new slot. A restart to an earlier
 * tick counts as a start at that time.
 */
#ifndef _TWHEEL_SCHEME_H
#define _TWHEEL_SCHEME_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "twheel_hier.h"
#include "twheel_slot.h"

void twheel_hashed_start(struct twheel_scheme *s, struct twheel_node *node);
bool twheel_hashed_restart(struct twheel_scheme *s, struct twheel_node *node,
			   u64 expires);
void twheel_hashed_leave(struct twheel_scheme *s, struct twheel_node *node);
struct twheel_node *twheel_hashed_pop(struct twheel_scheme *s, u64 target,
				      int *work);
u64 twheel_hashed_next(const struct twheel_scheme *s);

/*
 * Initialise an empty scheme whose first tick is @clock + 1. @slots is memory
 * for twheel_scheme_slots() slots, @occupied a zeroed bitmap with a bit for
 * each slot.
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
	for (i = 0; i < nr_slots; i++) {
		slots[i] = (struct twheel_slot) {};
		INIT_LIST_HEAD(&slots[i].nodes);
	}
	if (type == TWHEEL_HIER)
		twheel_hier_check_levels(s);
}

/*
 * The interface of the schemes
 *
 * Branches on the type to make a direct call. With retpolines an indirect call
 * costs more than a start. The fast path of a start is always inlined.
 */

/*
 * Start a node that is not pending. @tick is its expiry tick, equal to
 * @node->expires. A node whose tick is not after the clock is due at the next
 * tick.
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

/* Like twheel_scheme_start_at(), for callers that do not have the tick. */
static inline void
twheel_scheme_start(struct twheel_scheme *s, struct twheel_node *node)
{
	twheel_scheme_start_at(s, node, node->expires);
}

/*
 * Restart a pending node without moving it, the usual case. Returns false, with
 * nothing done, if the caller has to use twheel_scheme_restart().
 */
static inline bool twheel_scheme_refresh(struct twheel_scheme *s,
					 struct twheel_node *node, u64 expires)
{
	if (unlikely(expires < node->expires ||
		     !(node->hint & TWHEEL_SLOT_MAY_STAY)))
		return false;
	/* Pairs with restart_in_tick(), which takes no lock. */
	WRITE_ONCE(node->expires, expires);
	return true;
}

/*
 * Restart a pending node that twheel_scheme_refresh() refused. Returns whether
 * the node moved. If not, the next tick with work is the same as before.
 */
static __always_inline bool
twheel_scheme_restart(struct twheel_scheme *s, struct twheel_node *node,
		      u64 expires)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_restart(s, node, expires);
	return twheel_hashed_restart(s, node, expires);
}

/* Take out a pending node. twheel_pending() keeps returning true. */
static inline void
twheel_scheme_leave(struct twheel_scheme *s, struct twheel_node *node)
{
	if (likely(s->type == TWHEEL_HIER))
		twheel_slot_leave(s, node);
	else
		twheel_hashed_leave(s, node);
	s->pending--;
}

/* Stop a pending node. */
static inline void
twheel_scheme_stop(struct twheel_scheme *s, struct twheel_node *node)
{
	twheel_scheme_leave(s, node);
	/* See twheel_link(). */
	WRITE_ONCE(node->link.next, NULL);
}

/*
 * Advance the clock to @target, which is not before it, and take out the next
 * due node. Processes ticks in order and skips none with work, but passes all
 * ticks without work in one step. Nodes may be started, restarted and stopped
 * between any two calls. *@work is decremented for each node moved or visited,
 * except nodes returned.
 *
 * Returns a node that is due, taken out, or NULL. With NULL and *@work greater
 * than 0 the clock is @target and all due nodes are out. With NULL and no work
 * left the caller should call again after letting others run.
 */
static inline struct twheel_node *twheel_scheme_pop(struct twheel_scheme *s,
						    u64 target, int *work)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_pop(s, target, work);
	return twheel_hashed_pop(s, target, work);
}

/*
 * Returns the slot of the clock's tick, for twheel_scheme_due(). Valid until
 * the clock moves. Returns NULL if the scheme cannot use twheel_scheme_due().
 */
static inline struct twheel_slot *
twheel_scheme_due_slot(const struct twheel_scheme *s)
{
	return likely(s->type == TWHEEL_HIER) ? twheel_hier_due_slot(s) : NULL;
}

/*
 * Returns how many nodes to take with twheel_scheme_due(), at most @most,
 * before calling twheel_scheme_pop() again, which may have nodes to move.
 */
static inline int twheel_scheme_turn(const struct twheel_scheme *s, int most)
{
	return s->quota ? min(most, TWHEEL_HIER_TURN) : most;
}

/*
 * Take out the next due node of a tick. Cheaper than twheel_scheme_pop(),
 * because it never advances the clock or moves a node. Returns NULL if only
 * twheel_scheme_pop() can tell whether a node is due.
 */
static inline struct twheel_node *
twheel_scheme_due(struct twheel_scheme *s, struct twheel_slot *slot)
{
	return likely(slot) ? twheel_hier_due(s, slot) : NULL;
}

/*
 * Returns the next tick that has to be processed, or U64_MAX if no node is
 * pending. It is never later than the expiry tick of a pending node. It may be
 * earlier if nodes have to be moved first. It is not after the clock if the
 * clock's tick is unfinished.
 */
static inline u64 twheel_scheme_next(struct twheel_scheme *s)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_next(s);
	return twheel_hashed_next(s);
}

/*
 * Like twheel_scheme_next(), and never earlier, for a caller that is about to
 * sleep. A node with a later tick may remain in the slot of its old tick. A
 * wake-up for the slot costs much more than a move. So up to @most such nodes
 * move to the slots of their ticks, up to the first slot with a node that is due
 * there.
 */
static inline u64 twheel_scheme_next_due(struct twheel_scheme *s, int most)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_next_due(s, most);
	return twheel_hashed_next(s);
}

/*
 * Returns the tick that a sleeping wheel must wake up for because of a node that
 * was just added.
 *
 * The minimum of this over all nodes is not later than twheel_scheme_next(). A
 * start may make the next tick earlier even if its node is due later: a fuller
 * outer slot takes longer to move.
 */
static inline u64 twheel_scheme_next_for(const struct twheel_scheme *s,
					 const struct twheel_node *node)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_next_for(s, node);
	return node->expires;
}

/*
 * Returns whether a wheel that sleeps until @until may keep sleeping when a
 * node is started for @tick, because twheel_scheme_next_for() the node is not
 * earlier. Returns false if the answer takes more than a comparison.
 */
static __always_inline bool
twheel_scheme_can_wait(const struct twheel_scheme *s, u64 tick, u64 until)
{
	return likely(s->type == TWHEEL_HIER) ?
	       twheel_hier_can_wait(s, tick, until) : tick >= until;
}

/* Advance the clock of a scheme without pending nodes to @clock. */
static inline void twheel_scheme_skip(struct twheel_scheme *s, u64 clock)
{
	s->clock = clock;
	s->hand = NULL;
	s->skip_until = 0;
	if (s->type == TWHEEL_HIER)
		twheel_hier_check_levels(s);
}

/*
 * Returns any pending node, or NULL, for callers that take out all nodes. The
 * cursor *@slot is @s->nr_slots before the first call. Slots are emptied from
 * the highest number down, each from its head, so that nodes of one expiry tick
 * come in the order in which they would expire.
 */
static inline struct twheel_node *
twheel_scheme_any(struct twheel_scheme *s, u32 *slot)
{
	struct list_head *first;
	u32 nr;

	while (s->pending) {
		nr = find_last_bit(s->occupied, min(*slot, s->nr_slots));
		if (nr >= *slot)
			nr = find_last_bit(s->occupied, s->nr_slots);
		/* Corrupted slots lost their nodes, see twheel_slot_drop(). */
		if (unlikely(nr >= s->nr_slots))
			break;
		*slot = nr + 1;
		first = s->slots[nr].nodes.next;
		if (twheel_slot_is_intact(first))
			return list_entry(first, struct twheel_node, link);
		twheel_slot_drop(s, &s->slots[nr]);
	}
	return NULL;
}

#endif /* _TWHEEL_SCHEME_H */
