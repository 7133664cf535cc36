/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: what a scheme consists of, and how nodes get in and out
 *
 * Here list, count, bitmap and totals of a slot are kept in step. The schemes
 * only choose the slot.
 */
#ifndef _TWHEEL_SLOT_H
#define _TWHEEL_SLOT_H

#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/prefetch.h>
#include <linux/types.h>

#include <linux/twheel.h>

/*
 * Hints. The nodes of a slot are a chain: each of them has to come from memory
 * before the address of the next one is known. So each node remembers where the
 * node is that joined the slot TWHEEL_SLOT_HINTS joins before it. A tick that
 * goes through the slot from the last to join asks for that one in good time.
 *
 * That node may be gone by now: stopped, in another slot, or freed. A hint is
 * an address to prefetch, which harms nobody whatever is there. It must never
 * be followed.
 *
 * Slots of a few nodes have no use for hints. So those that a small share of a
 * cascade brings to level 0 get none: theirs is 0, and leads to themselves.
 *
 * A hint is the distance in units of 4 bytes, modulo 2^32: it reaches 8 GiB to
 * both sides. Its lowest bit, which the alignment of nodes leaves free, says
 * whether a refresh need not look further: see twheel_slot_may_stay().
 */
#define TWHEEL_SLOT_HINTS	4
#define TWHEEL_SLOT_HINT_SHIFT	2
#define TWHEEL_SLOT_MAY_STAY	BIT(0)

/* Nodes of a slot that may be refreshed without moving. */
#define TWHEEL_SLOT_STALE	4096

/**
 * struct twheel_slot - a slot
 * @nodes: the nodes in it, the one that was started first at the head
 * @count: nodes that have joined since the slot was last empty, less those
 *	that a cascade has moved: at least as many as there are in @nodes
 * @stale: nodes that were refreshed in this slot and have stayed, as
 *	twheel_slot_may_stay() counts them
 * @where: hierarchical: the addresses of the nodes that joined last, as
 *	twheel_slot_where() has them. That of the node that joins as number n is
 *	entry n modulo the size
 * @first: hashed: no node in @nodes is due before this tick
 *
 * A node that is stopped does not reach for its slot, so that it is counted until
 * the slot is empty and another node joins. Only the pace of a cascade may depend
 * on @count and @stale.
 */
struct twheel_slot {
	struct list_head nodes;
	u32 count;
	u32 stale;
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
 * @from: hierarchical: the slot of @level that they come from
 * @from_end: hierarchical: the tick after the last of @from, if @level is 1,
 *	else 0
 * @cursor: hashed: next node to look at in the slot of this tick, or that
 *	slot's head
 * @behind: hashed: the entry before @cursor
 * @leap: hashed: no slot needs the hand before this tick, see twheel_hashed.c
 * @top: hierarchical: before @window no level above this one has nodes to move
 * @window: hierarchical: the tick at which @top has to be found again
 * @reach: hierarchical: the ticks at which the next windows of levels 0, 1 and 2
 *	end
 * @recheck: hierarchical: no level has nodes to move before this tick
 * @groups: hierarchical: a bit for each 64 bits of @occupied, set if and only
 *	if one of them is
 * @occupied: a bit for each slot, set while it has a node. Hierarchical: set also
 *	after that, until somebody looks at it
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
	u64 from_end;
	struct list_head *cursor;
	struct list_head *behind;
	u64 leap;
	u32 top;
	u64 window;
	u64 reach[3];
	u64 recheck;
	u64 groups;
	unsigned long *occupied;
	struct twheel_slot *slots;
};

/*
 * Links are checked where the kernel checks those of its own lists. Tests say
 * themselves whether, and how what is found is reported.
 */
#ifndef TWHEEL_SLOT_CHECKED
#define TWHEEL_SLOT_CHECKED	(IS_ENABLED(CONFIG_LIST_HARDENED) || \
				 IS_ENABLED(CONFIG_DEBUG_LIST))
#define TWHEEL_SLOT_REPORT(...)	WARN(1, __VA_ARGS__)
#endif

/*
 * Nodes are linked by hand. Debian's kernels have CONFIG_DEBUG_LIST, with which
 * list_add() and list_del() call a checking function. That is 15 to 25
 * instructions of the 100 that a start takes. struct hlist, which timer_list
 * uses, is not checked either, but has no tail. Here a start checks in 2
 * instructions that the slot's tail is the tail, a stop in 4 that both neighbours
 * know the node.
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
 * Where a node is, as far as 32 bits can tell. The lowest bit is 0, and so it is
 * in the difference of two.
 */
static __always_inline u32 twheel_slot_where(const struct twheel_node *node)
{
	u32 where = (unsigned long)node >> TWHEEL_SLOT_HINT_SHIFT;

	return __alignof__(*node) % (2 << TWHEEL_SLOT_HINT_SHIFT) ?
	       where & ~(u32)TWHEEL_SLOT_MAY_STAY : where;
}

/* The 64 bits of @occupied that @nr, below 4096, is among. */
static __always_inline u64 twheel_slot_group(const struct twheel_scheme *s,
					     u32 nr)
{
	const unsigned long *words = s->occupied + BIT_WORD(nr & ~63U);

	return BITS_PER_LONG == 64 ? words[0] :
				     words[0] | (u64)words[1] << 32;
}

/* Slot @nr of a hierarchical wheel gets its first node. */
static __always_inline void twheel_slot_occupy_hier(struct twheel_scheme *s,
						    struct twheel_slot *slot,
						    u32 nr)
{
	slot->stale = 0;
	__set_bit(nr, s->occupied);
	s->groups |= BIT_ULL(nr / 64);
}

/* A slot of a wheel without levels gets its first node. */
static __always_inline void twheel_slot_occupy(struct twheel_scheme *s,
					       struct twheel_slot *slot)
{
	slot->stale = 0;
	__set_bit(slot - s->slots, s->occupied);
}

/* Slot @nr of a hierarchical wheel has lost its last node. */
static __always_inline void twheel_slot_vacate_hier(struct twheel_scheme *s,
						    struct twheel_slot *slot,
						    u32 nr)
{
	slot->count = 0;
	__clear_bit(nr, s->occupied);
	if (!twheel_slot_group(s, nr))
		s->groups &= ~BIT_ULL(nr / 64);
}

/* The slot with the list @head has lost its last node. */
static __always_inline void twheel_slot_vacate(struct twheel_scheme *s,
					       struct list_head *head)
{
	struct twheel_slot *slot = list_entry(head, struct twheel_slot, nodes);
	u32 nr = slot - s->slots;

	if (likely(s->type == TWHEEL_HIER)) {
		twheel_slot_vacate_hier(s, slot, nr);
	} else {
		slot->count = 0;
		__clear_bit(nr, s->occupied);
	}
}

/* Whether two neighbours in a slot agree. */
static __always_inline bool twheel_slot_mutual(const struct list_head *prev,
					       const struct list_head *next)
{
	return !TWHEEL_SLOT_CHECKED ||
	       likely(prev->next == next && next->prev == prev);
}

/* The same of a node that may not be pending any more. */
static __always_inline bool twheel_slot_goes_on(const struct list_head *entry)
{
	return !TWHEEL_SLOT_CHECKED ||
	       likely(entry->next && entry->next->prev == entry);
}

/* Whether both neighbours of a node know it. */
static __always_inline bool twheel_slot_holds(const struct list_head *entry,
					      const struct list_head *prev,
					      const struct list_head *next)
{
	return !TWHEEL_SLOT_CHECKED ||
	       likely(prev->next == entry && next->prev == entry);
}

/*
 * A slot's list is torn: somebody has overwritten, freed or set up anew a timer
 * that was pending. The nodes that can be reached from the head in either
 * direction, over links that agree, stay. What is between goes: it would never
 * come out of the slot. Such a timer looks pending until it is stopped. One whose
 * @next is NULL is not pending, and not ours to link.
 *
 * Walking forward ends: a node has one @prev, so that none is come to twice. The
 * way back never comes to a node of the way forward, or the links between would
 * agree.
 */
static noinline __maybe_unused void twheel_slot_mend(struct twheel_scheme *s,
						     struct twheel_slot *slot)
{
	struct list_head *head = &slot->nodes, *first = head, *last = head;

	while (twheel_slot_goes_on(first) && first->next != head &&
	       first->next->next)
		first = first->next;
	if (twheel_slot_mutual(first, head))
		return;
	while (last->prev && twheel_slot_mutual(last->prev, last) &&
	       last->prev != head)
		last = last->prev;
	TWHEEL_SLOT_REPORT("twheel: slot %u torn: %p->next is %p, %p->prev is %p\n",
			   (u32)(slot - s->slots), first, first->next, last,
			   last->prev);
	last->prev = first;
	/* As in twheel_link(). */
	WRITE_ONCE(first->next, last);
	if (first == last)
		twheel_slot_vacate(s, head);
	/* The hand looks at what is left. */
	if (s->cursor && slot == &s->slots[s->clock & (s->nr_slots - 1)]) {
		s->cursor = head->next;
		s->behind = head;
	}
}

/* A node's neighbours do not know it: they are left alone. */
static noinline __maybe_unused void
twheel_slot_refuse(const struct list_head *entry, const struct list_head *prev,
		   const struct list_head *next)
{
	TWHEEL_SLOT_REPORT("twheel: unlinking %p refused: %p->next is %p, %p->prev is %p\n",
			   entry, prev, prev->next, next, next->prev);
}

/*
 * Into a slot, and out of it into another one: "join" and "leave". Out of the
 * wheel: "del", which counts @pending too.
 */

/* Between @prev and @next, in a wheel without hints. */
static __always_inline void
twheel_slot_join(struct twheel_scheme *s, struct twheel_slot *slot,
		 struct twheel_node *node, struct list_head *prev,
		 struct list_head *next)
{
	/* An empty list's head is its own neighbour on both sides. */
	if (unlikely(prev == next))
		twheel_slot_occupy(s, slot);
	node->hint = 0;
	twheel_link(&node->link, prev, next);
	slot->count++;
}

static __always_inline void
twheel_slot_join_tail(struct twheel_scheme *s, struct twheel_slot *slot,
		      struct twheel_node *node)
{
	if (unlikely(!twheel_slot_mutual(slot->nodes.prev, &slot->nodes)))
		twheel_slot_mend(s, slot);
	twheel_slot_join(s, slot, node, slot->nodes.prev, &slot->nodes);
}

static __always_inline void
twheel_slot_join_head(struct twheel_scheme *s, struct twheel_slot *slot,
		      struct twheel_node *node)
{
	if (unlikely(!twheel_slot_mutual(&slot->nodes, slot->nodes.next)))
		twheel_slot_mend(s, slot);
	twheel_slot_join(s, slot, node, &slot->nodes, slot->nodes.next);
}

/* The address that is @hint away from @node. */
static __always_inline void *twheel_slot_hinted(const struct twheel_node *node,
						u32 hint)
{
	return (void *)((unsigned long)node +
			((unsigned long)(s32)hint << TWHEEL_SLOT_HINT_SHIFT));
}

/* @node is about to leave its slot for good: ask for those after it. */
static __always_inline void
twheel_slot_take_hint(const struct twheel_node *node)
{
	prefetchw(twheel_slot_hinted(node, node->hint));
}

/* For a node whose neighbours are known to know it. */
static __always_inline void twheel_unlink(struct list_head *prev,
					  struct list_head *next)
{
	next->prev = prev;
	/* As in twheel_link(). */
	WRITE_ONCE(prev->next, next);
}

static __always_inline void twheel_slot_unlink(struct twheel_scheme *s,
					       struct list_head *prev,
					       struct list_head *next)
{
	twheel_unlink(prev, next);
	/* Both are the head. */
	if (unlikely(prev == next))
		twheel_slot_vacate(s, prev);
}

/* The first of a slot that is not empty, whose list may have to be mended. */
static inline struct twheel_node *twheel_slot_first(struct twheel_scheme *s,
						    struct twheel_slot *slot)
{
	struct list_head *first = slot->nodes.next;

	if (unlikely(!twheel_slot_mutual(&slot->nodes, first) ||
		     !twheel_slot_goes_on(first)))
		twheel_slot_mend(s, slot);
	return list_first_entry_or_null(&slot->nodes, struct twheel_node, link);
}

/*
 * Out of its slot and about to join another. The node's own links stay as they
 * are: twheel_pending(), which takes no lock, must not see a timer as stopped
 * because the wheel is moving it.
 */
static __always_inline void
twheel_slot_leave(struct twheel_scheme *s, struct twheel_node *node)
{
	struct list_head *prev = node->link.prev, *next = node->link.next;

	if (unlikely(!twheel_slot_holds(&node->link, prev, next)))
		twheel_slot_refuse(&node->link, prev, next);
	else
		twheel_slot_unlink(s, prev, next);
}

/*
 * Whether a node may stay in @slot when it is restarted to a later tick.
 *
 * What stays in a slot of level 0 or of a hashed wheel has to be moved in one
 * tick, when the slot is due. When too many have stayed the others move now. A
 * node that has stayed once is counted, and free to stay again.
 */
static __always_inline bool twheel_slot_may_stay(struct twheel_slot *slot,
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

/* A node is about to leave its place: the hand must not wait at it. */
static inline void twheel_slot_free_cursor(struct twheel_scheme *s,
					   const struct twheel_node *node)
{
	if (s->cursor == &node->link)
		s->cursor = node->link.next;
	if (s->behind == &node->link)
		s->behind = node->link.prev;
}

/* Out of its slot: out of the wheel too. */
static __always_inline void
twheel_slot_leave_wheel(struct twheel_scheme *s, struct twheel_node *node)
{
	s->pending--;
	/* As in twheel_link(). */
	WRITE_ONCE(node->link.next, NULL);
}

/* Out of its slot, whose bit stays set even if it was the last. */
static __always_inline void twheel_slot_take_out(struct twheel_node *node)
{
	struct list_head *prev = node->link.prev, *next = node->link.next;

	if (unlikely(!twheel_slot_holds(&node->link, prev, next)))
		twheel_slot_refuse(&node->link, prev, next);
	else
		twheel_unlink(prev, next);
}

/* Out of its slot and out of the wheel. */
static __always_inline void
twheel_slot_del(struct twheel_scheme *s, struct twheel_node *node)
{
	twheel_slot_leave(s, node);
	twheel_slot_leave_wheel(s, node);
}

#endif /* _TWHEEL_SLOT_H */
