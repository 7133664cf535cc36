/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Slots: what a scheme consists of, and how nodes get in and out
 */
#ifndef _TWHEEL_SLOT_H
#define _TWHEEL_SLOT_H

#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/list.h>
#include <linux/prefetch.h>
#include <linux/types.h>

#include <linux/twheel.h>

/**
 * DOC: Hints
 *
 * The nodes of a slot are a chain: each of them has to come from memory
 * before the address of the next one is known. So each node remembers where the
 * node is that joined the slot TWHEEL_SLOT_HINTS joins before it. A tick that
 * goes through the slot from the last to join asks for that node in good time.
 *
 * That node may be gone by now: stopped, in another slot, or freed. A hint is
 * an address to prefetch, which harms nobody even if nothing is there. It must
 * never be followed.
 *
 * A hint is the distance in units of 4 bytes, modulo 2^32: it reaches 8 GiB to
 * both sides. Its lowest bit, which the alignment of nodes leaves free, says
 * whether a refresh need not look further: see twheel_slot_may_stay().
 */
#define TWHEEL_SLOT_HINTS	8
#define TWHEEL_SLOT_HINT_SHIFT	2
#define TWHEEL_SLOT_MAY_STAY	BIT(0)

/* Nodes of a slot that may be refreshed without moving. */
#define TWHEEL_SLOT_STALE	4096

/**
 * struct twheel_slot - a slot
 * @nodes: the nodes in it, with the first that was started at the head
 * @count: nodes that have joined since the slot was last empty, less those
 *	that a cascade has moved: at least as many as there are in @nodes
 * @stale: nodes that were refreshed in this slot and have stayed, as
 *	twheel_slot_may_stay() counts them
 * @headed: hierarchical: a cascade has put nodes at the head of @nodes
 * @where: hierarchical: the addresses of the nodes that joined last, as
 *	twheel_slot_where() has them. The address of the node that joins as number
 *	n is entry n modulo the size
 * @first: hashed: no node in @nodes is due before this tick
 *
 * A node that is stopped does not reach for its slot, which goes on counting the
 * node. Only the pace of a cascade may depend on @count and @stale.
 */
struct twheel_slot {
	struct list_head nodes;
	u32 count;
	u32 stale;
	bool headed;
	union {
		u32 where[TWHEEL_SLOT_HINTS];
		u64 first;
	};
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
 * @quota: hierarchical: nodes of @level that this tick has still to move, 0
 *	if and only if @level is
 * @levels: hierarchical: a bit for each level, set if a slot of it has its bit in
 *	@occupied
 * @recheck: hierarchical: no level has nodes to move before this tick, and no
 *	window of level 0 ends
 * @reach: hierarchical: the ticks at which the next windows of levels 0, 1 and 2
 *	end
 * @cursor: hashed: next node to look at in the slot of this tick, or that
 *	slot's head
 * @leap: hashed: no slot needs the hand before this tick, see twheel_hashed.c
 * @occupied: a bit for each slot, set while it has a node. Hierarchical: set also
 *	after that, until twheel_slot_has_nodes() looks at it
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
	u32 levels;
	u64 recheck;
	u64 reach[3];
	struct list_head *cursor;
	u64 leap;
	unsigned long *occupied;
	struct twheel_slot *slots;
};

/*
 * Returns whether a list is torn, and reports it. Lists are checked where the kernel
 * checks its own. Tests define this differently.
 */
#ifndef TWHEEL_SLOT_TORN
#define TWHEEL_SLOT_TORN(condition)			\
	((IS_ENABLED(CONFIG_LIST_HARDENED) ||		\
	  IS_ENABLED(CONFIG_DEBUG_LIST)) &&		\
	 unlikely(condition) && WARN_ON_ONCE(true))
#endif

/*
 * list_add() and list_del() without the calls that CONFIG_LIST_HARDENED adds to them.
 * Callers that take a node out check its links inline.
 *
 * Each store to a node's link.next pairs with READ_ONCE() in twheel_pending(),
 * which takes no lock: it must see the old value or the new one.
 */
static inline void twheel_link(struct list_head *new, struct list_head *prev,
			       struct list_head *next)
{
	next->prev = new;
	WRITE_ONCE(new->next, next);
	new->prev = prev;
	WRITE_ONCE(prev->next, new);
}

static inline void twheel_unlink(struct list_head *prev, struct list_head *next)
{
	next->prev = prev;
	/* As in twheel_link(). */
	WRITE_ONCE(prev->next, next);
}

/* A slot has lost its last node. */
static inline void twheel_slot_vacate(struct twheel_scheme *s,
				      struct twheel_slot *slot)
{
	__clear_bit(slot - s->slots, s->occupied);
	slot->count = 0;
}

/* A stop in a hierarchical wheel leaves the bit of a slot to the next look. */
static inline bool twheel_slot_has_nodes(struct twheel_scheme *s, u32 nr)
{
	if (!test_bit(nr, s->occupied))
		return false;
	if (list_empty(&s->slots[nr].nodes))
		twheel_slot_vacate(s, &s->slots[nr]);
	return !list_empty(&s->slots[nr].nodes);
}

/* Returns whether the neighbours of an entry know it. */
static inline bool twheel_slot_is_whole(const struct list_head *entry)
{
	return !TWHEEL_SLOT_TORN(!entry->next || entry->next->prev != entry ||
				 entry->prev->next != entry);
}

/*
 * Give up all nodes of a slot whose list is torn, or the tick would never end. They look
 * pending until they are stopped.
 */
static inline void twheel_slot_drop(struct twheel_scheme *s,
				    struct twheel_slot *slot)
{
	twheel_unlink(&slot->nodes, &slot->nodes);
	twheel_slot_vacate(s, slot);
}

/*
 * Out of its slot. The node's own links stay as they are: twheel_pending(), which
 * takes no lock, must not see a timer as stopped because the wheel is moving it.
 * As list_del() it refuses if the neighbours do not know the node, and returns false.
 */
static inline bool twheel_slot_leave(struct twheel_node *node)
{
	struct list_head *prev = node->link.prev, *next = node->link.next;

	if (TWHEEL_SLOT_TORN(prev->next != &node->link || next->prev != &node->link))
		return false;
	twheel_unlink(prev, next);
	return true;
}

/* Out of its slot: out of the wheel too. */
static inline void
twheel_slot_leave_wheel(struct twheel_scheme *s, struct twheel_node *node)
{
	s->pending--;
	/* As in twheel_link(). */
	WRITE_ONCE(node->link.next, NULL);
}

/*
 * Where a node is, as far as 32 bits can tell. The lowest bit is 0, and so it is
 * in the difference of two.
 */
static inline u32 twheel_slot_where(const struct twheel_node *node)
{
	u32 where = (unsigned long)node >> TWHEEL_SLOT_HINT_SHIFT;

	return __alignof__(*node) % (2 << TWHEEL_SLOT_HINT_SHIFT) ?
	       where & ~(u32)TWHEEL_SLOT_MAY_STAY : where;
}

/* The address that is @hint away from @node. */
static inline void *twheel_slot_hinted(const struct twheel_node *node, u32 hint)
{
	return (void *)((unsigned long)node +
			((unsigned long)(s32)hint << TWHEEL_SLOT_HINT_SHIFT));
}

/* @node is about to leave its slot for good: ask for those after it. */
static inline void twheel_slot_take_hint(const struct twheel_node *node)
{
	prefetchw(twheel_slot_hinted(node, node->hint));
}

/*
 * Returns whether a node may stay in @slot when it is restarted to a later
 * tick.
 *
 * Nodes that stay in a slot of level 0 or of a hashed wheel have to be moved in
 * one tick, when the slot is due. When too many have stayed the others move
 * now. A node that has stayed once is counted, and free to stay again.
 */
static inline bool twheel_slot_may_stay(struct twheel_slot *slot,
					struct twheel_node *node)
{
	if (node->hint & TWHEEL_SLOT_MAY_STAY)
		return true;
	if (unlikely(slot->stale >= TWHEEL_SLOT_STALE))
		return false;
	slot->stale++;
	node->hint |= TWHEEL_SLOT_MAY_STAY;
	return true;
}

#endif /* _TWHEEL_SLOT_H */
