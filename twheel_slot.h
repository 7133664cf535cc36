/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: what a scheme consists of, and how nodes get in and out
 *
 * Here list, count, bitmap and totals of a slot are kept in step; the schemes
 * only choose the slot.
 */
#ifndef _TWHEEL_SLOT_H
#define _TWHEEL_SLOT_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/types.h>

#include <linux/twheel.h>

/**
 * struct twheel_slot - a slot
 * @nodes: the nodes in it, the one that was started first at the head
 * @count: number of nodes in @nodes
 * @first: hashed wheels: no node in @nodes is due before this tick
 */
struct twheel_slot {
	struct list_head nodes;
	u32 count;
	u64 first;
};

/**
 * struct twheel_scheme - the timers of one base
 * @clock: the last tick whose processing has begun
 * @pending: number of nodes in the slots
 * @cascaded: nodes that the wheel has moved, ever
 * @type: which scheme this is
 * @nr_slots: number of entries in @slots
 * @level: hierarchical: level that is being moved down from, 0 when the tick
 *	has nothing left to move
 * @quota: hierarchical: nodes of @level that this tick has still to move; 0
 *	if and only if @level is
 * @from: hierarchical: the slot of @level that they come from
 * @from_last: hierarchical: the last tick of @from
 * @cursor: hashed: next node to look at in the slot of this tick, or that
 *	slot's head
 * @leap: hashed: no slot needs the hand before this tick; see twheel_hashed.c
 * @occupied: a bit for each slot, set while it has a node
 * @slots: the slots
 */
struct twheel_scheme {
	u64 clock;
	u64 pending;
	u64 cascaded;
	enum twheel_scheme_type type;
	u32 nr_slots;
	u32 level;
	u32 quota;
	struct twheel_slot *from;
	u64 from_last;
	struct list_head *cursor;
	u64 leap;
	unsigned long *occupied;
	struct twheel_slot *slots;
};

/*
 * Nodes are linked by hand: Debian's kernels have CONFIG_DEBUG_LIST, with
 * which list_add() and list_del() call a checking function, 15 to 25
 * instructions of the 100 that a start takes. struct hlist, which timer_list
 * uses, is not checked either, but has no tail.
 *
 * Each store to a node's link.next pairs with READ_ONCE() in twheel_pending(),
 * which takes no lock: it must see the old value or the new one.
 */
static __always_inline void
twheel_link(struct list_head *new, struct list_head *prev,
	    struct list_head *next)
{
	next->prev = new;
	WRITE_ONCE(new->next, next);
	new->prev = prev;
	WRITE_ONCE(prev->next, new);
}

/*
 * Into a slot, and out of it into another one: "join" and "leave". Out of the
 * wheel: "del", which counts @pending too.
 */

static __always_inline void
twheel_slot_join(struct twheel_scheme *s, u32 nr, struct twheel_slot *slot,
		 struct twheel_node *node, struct list_head *prev,
		 struct list_head *next)
{
	/* An empty list's head is its own neighbour on both sides. */
	if (unlikely(prev == next))
		__set_bit(nr, s->occupied);
	twheel_link(&node->link, prev, next);
	node->slot = nr;
	slot->count++;
}

static __always_inline void
twheel_slot_join_tail(struct twheel_scheme *s, u32 nr, struct twheel_node *node)
{
	struct twheel_slot *slot = &s->slots[nr];

	twheel_slot_join(s, nr, slot, node, slot->nodes.prev, &slot->nodes);
}

static __always_inline void
twheel_slot_join_head(struct twheel_scheme *s, u32 nr, struct twheel_node *node)
{
	struct twheel_slot *slot = &s->slots[nr];

	twheel_slot_join(s, nr, slot, node, &slot->nodes, slot->nodes.next);
}

/* Out of @slot, whose number is @nr. */
static __always_inline void
twheel_slot_unlink(struct twheel_scheme *s, u32 nr, struct twheel_slot *slot,
		   struct list_head *prev, struct list_head *next)
{
	next->prev = prev;
	/* As in twheel_link(). */
	WRITE_ONCE(prev->next, next);
	if (!--slot->count)
		__clear_bit(nr, s->occupied);
}

/*
 * Out of its slot and about to join another: the node's own links stay as they
 * are, so that twheel_pending(), which takes no lock, never sees a pending
 * timer as stopped because the wheel is moving it.
 */
static __always_inline void
twheel_slot_leave(struct twheel_scheme *s, struct twheel_node *node)
{
	u32 nr = node->slot;

	twheel_slot_unlink(s, nr, &s->slots[nr], node->link.prev,
			   node->link.next);
}

/* A node is about to leave its place: the hand must not wait at it. */
static inline void twheel_slot_free_cursor(struct twheel_scheme *s,
					   const struct twheel_node *node)
{
	if (s->cursor == &node->link)
		s->cursor = node->link.next;
}

/* Out of its slot: out of the wheel too. */
static __always_inline void
twheel_slot_leave_wheel(struct twheel_scheme *s, struct twheel_node *node)
{
	s->pending--;
	/* As in twheel_link(). */
	WRITE_ONCE(node->link.next, &node->link);
}

/* Out of its slot and out of the wheel. */
static __always_inline void
twheel_slot_del(struct twheel_scheme *s, struct twheel_node *node)
{
	twheel_slot_leave(s, node);
	twheel_slot_leave_wheel(s, node);
}

#endif /* _TWHEEL_SLOT_H */
