/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/**
 * DOC: Ticks, slots and nodes: the rules of every scheme
 *
 * A scheme is arithmetic on lists: it knows ticks, slots and nodes, and
 * nothing of clocks, CPUs, locks or callbacks. Its caller serialises all
 * calls on one struct twheel_scheme and owns the nodes. It allocates nothing.
 *
 * The terms: a tick is a number on the wheel's clock. @clock is the last tick
 * whose processing has begun. A node is due at tick node->expires. A slot is a
 * list of nodes. These rules hold between any two calls:
 *
 *  - @pending is the number of nodes in all slots.
 *
 *  - The bit of a slot in @occupied is set if the slot has a node. In a hierarchical
 *    wheel it may also be set if the slot had one.
 *
 *  - Until it overflows a slot's @count is at least the number of its nodes.
 *
 *  - No node is due at a tick before @clock except nodes that were started
 *    late, and these are in the slot that is popped next.
 *
 * A scheme works only at ticks that twheel_scheme_next() has named, and before its caller
 * sleeps, in twheel_scheme_next_due(). A wheel that dozes is not called at other ticks, so
 * that work there would depend on the tick mode.
 *
 * FIFO: nodes with the same expiry tick are popped in the order in which they
 * were started. A pending node that is restarted to the same tick or a later
 * one need not move. Among the nodes of its new tick it takes a place as if it
 * were started at some time. That is not before its first start, and not after
 * the wheel has brought it to its new slot. One that is restarted to an earlier
 * tick counts as started then.
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
 * Make an empty scheme whose first tick is the one after @clock. @slots is memory for
 * twheel_scheme_slots() slots, @occupied for a zeroed bitmap of as many bits.
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
		twheel_hier_look(s);
}

/*
 * The interface that the engine and the tests use. A branch on the type and a
 * direct call: an indirect call costs more than a start (retpolines).
 */

/*
 * Start a node that is not pending. @tick is its expiry tick, which is in
 * @node->expires too. One at or before the clock is due at the next tick.
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
static inline void
twheel_scheme_start(struct twheel_scheme *s, struct twheel_node *node)
{
	twheel_scheme_start_at(s, node, node->expires);
}

/*
 * The usual restart of a pending node: to a later tick, nothing moves. False if it takes
 * a twheel_scheme_restart(). Then nothing was done.
 */
static inline bool twheel_scheme_refresh(struct twheel_scheme *s,
					 struct twheel_node *node, u64 expires)
{
	if (unlikely(expires < node->expires ||
		     !(node->hint & TWHEEL_SLOT_MAY_STAY)))
		return false;
	/* Pairs with restart_after(), which takes no lock. */
	WRITE_ONCE(node->expires, expires);
	return true;
}

/*
 * Give a pending node a tick that twheel_scheme_refresh() has refused. Returns whether the
 * node moved. If it stays in its slot, the next tick is the same as before.
 */
static inline bool twheel_scheme_restart(struct twheel_scheme *s,
					 struct twheel_node *node, u64 expires)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_restart(s, node, expires);
	return twheel_hashed_restart(s, node, expires);
}

/*
 * Take a pending node out that is to join another scheme. twheel_pending() goes on to
 * say that it is pending.
 */
static inline void
twheel_scheme_leave(struct twheel_scheme *s, struct twheel_node *node)
{
	if (likely(s->type == TWHEEL_HIER))
		twheel_slot_leave(node);
	else
		twheel_hashed_leave(s, node);
	s->pending--;
}

/* Take a pending node out. */
static inline void
twheel_scheme_stop(struct twheel_scheme *s, struct twheel_node *node)
{
	twheel_scheme_leave(s, node);
	/* As in twheel_link(). */
	WRITE_ONCE(node->link.next, NULL);
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

/*
 * The slot of the clock's tick, for twheel_scheme_due(). Good until the clock moves.
 * NULL if there is no shorter way in this scheme.
 */
static inline struct twheel_slot *
twheel_scheme_due_slot(const struct twheel_scheme *s)
{
	return likely(s->type == TWHEEL_HIER) ? twheel_hier_due_slot(s) : NULL;
}

/*
 * How many nodes may be taken by twheel_scheme_due(), at most @most, until it is the
 * turn of twheel_scheme_pop(), which may have nodes to move.
 */
static inline int twheel_scheme_turn(const struct twheel_scheme *s, int most)
{
	return s->quota ? min(most, TWHEEL_HIER_TURN) : most;
}

/*
 * A shorter way to the next due node of a tick, taken out. The clock stays where it
 * is, and no node is moved. NULL if twheel_scheme_pop() has to be called to know.
 */
static inline struct twheel_node *
twheel_scheme_due(struct twheel_scheme *s, struct twheel_slot *slot)
{
	return likely(slot) ? twheel_hier_due(s, slot) : NULL;
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
 * twheel_scheme_next_due - requeue before sleeping: the next tick to wake up for
 * @s: the scheme
 * @most: nodes that may be moved
 *
 * A node that was restarted to a later tick may still be in the slot of its old tick. To
 * wake up for that slot costs much more than to move the node. So a caller that is about to
 * sleep calls this instead of twheel_scheme_next(): it looks at the slots ahead, moves
 * such nodes to the slots of their ticks, and stops at the first slot with a node that is
 * due there. Moves count in @s->cascaded.
 *
 * Return: as twheel_scheme_next(), not earlier than that would have returned.
 */
static inline u64 twheel_scheme_next_due(struct twheel_scheme *s, int most)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_next_due(s, most);
	return twheel_hashed_next(s);
}

/*
 * Until when a tickless wheel can sleep for a node that was placed just now.
 *
 * The least of what this returned for all nodes is not later than
 * twheel_scheme_next(). A start may make the next tick earlier although its node is
 * due later: a fuller outer slot takes longer to move.
 */
static inline u64 twheel_scheme_wakeup(const struct twheel_scheme *s,
				       const struct twheel_node *node)
{
	if (likely(s->type == TWHEEL_HIER))
		return twheel_hier_wakeup(s, node);
	return node->expires;
}

/*
 * Returns whether a wheel that sleeps until @until can sleep on when a node is started for
 * @tick: twheel_scheme_wakeup() is not earlier then. False if that is not known at once.
 */
static __always_inline bool
twheel_scheme_can_wait(const struct twheel_scheme *s, u64 tick, u64 until)
{
	return likely(s->type == TWHEEL_HIER) ?
	       twheel_hier_can_wait(s, tick, until) : tick >= until;
}

/* Move the clock of a scheme with no pending node on to @clock. */
static inline void twheel_scheme_skip(struct twheel_scheme *s, u64 clock)
{
	s->clock = clock;
	s->cursor = NULL;
	s->leap = 0;
	if (s->type == TWHEEL_HIER)
		twheel_hier_look(s);
}

/**
 * twheel_scheme_any - a pending node, for a caller that wants them all out
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
	struct list_head *first;
	u32 nr;

	while (s->pending) {
		nr = find_last_bit(s->occupied, min(*slot, s->nr_slots));
		if (nr >= *slot)
			nr = find_last_bit(s->occupied, s->nr_slots);
		/* The rest is lost, see twheel_slot_drop(). */
		if (unlikely(nr >= s->nr_slots))
			break;
		*slot = nr + 1;
		if (!twheel_slot_has_nodes(s, nr))
			continue;
		first = s->slots[nr].nodes.next;
		if (twheel_slot_is_whole(first))
			return list_entry(first, struct twheel_node, link);
		twheel_slot_drop(s, &s->slots[nr]);
	}
	return NULL;
}

#endif /* _TWHEEL_SCHEME_H */
