/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Slots: the lists that a scheme consists of */
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
 * The nodes of a slot form a chain: each has to be loaded from memory before
 * the address of the next one is known. So each node remembers the node that
 * joined the slot TWHEEL_SLOT_HINTS joins earlier. A tick walks the slot from
 * the last node that joined, and prefetches the remembered nodes well ahead.
 * With a million timers an expiry takes 45 ns with hints, and 220 ns without.
 *
 * The remembered node may be gone: stopped, in another slot, or freed. A hint
 * is an address to prefetch, which is harmless even if nothing is there. It
 * must never be followed, nor be prefetched for writing: that would take the
 * cache line from a CPU that owns the memory by now.
 *
 * A hint is a distance in units of 4 bytes, modulo 2^32: it reaches 8 GiB in
 * both directions. Nodes are aligned, so the lowest bit of a hint is free for
 * TWHEEL_SLOT_MAY_STAY. While this bit is set, a refresh to a later tick leaves
 * the node in its slot without a look at the slot.
 */
#define TWHEEL_SLOT_HINTS	8
#define TWHEEL_SLOT_HINT_SHIFT	2
#define TWHEEL_SLOT_MAY_STAY	BIT(0)

/* Limit of nodes in a slot that may be refreshed without being moved. */
#ifndef TWHEEL_SLOT_LAZY_MAX
#define TWHEEL_SLOT_LAZY_MAX	4096
#endif

/**
 * struct twheel_slot - a slot
 * @nodes: nodes in the slot, in the order of their starts
 * @count: number of joins since the slot was last empty, minus moves by a
 *	cascade. At least the length of @nodes
 * @lazy: number of nodes refreshed in this slot without being moved, see
 *	twheel_slot_may_stay()
 * @prepended: hierarchical: true after a cascade added nodes at the head of @nodes
 * @recent: hierarchical: addresses of the last nodes to join, as from
 *	twheel_slot_address(). The node that joined as number n is in entry
 *	n % TWHEEL_SLOT_HINTS
 * @first: hashed: lower bound of the ticks of @nodes
 *
 * A stopped node does not access its slot, so the slot still counts it. Only
 * the pace of a cascade may depend on @count and @lazy.
 */
struct twheel_slot {
	struct list_head nodes;
	u32 count;
	u32 lazy;
	bool prepended;
	union {
		u32 recent[TWHEEL_SLOT_HINTS];
		u64 first;
	};
};

/**
 * struct twheel_scheme - the timers of one base
 * @clock: tick in progress, or the last one
 * @pending: number of nodes in the slots
 * @cascaded: number of moves within the wheel since its creation
 * @type: the scheme
 * @nr_slots: number of entries of @slots
 * @level: hierarchical: level to move nodes down from, 0 if there is nothing
 *	left to move at this tick
 * @quota: hierarchical: number of nodes of @level left to move at this tick, 0
 *	if and only if @level is 0
 * @levels: hierarchical: bitmap of levels with a bit set in @occupied
 * @ready: timers in a program: number of levels whose slots are initialised, at
 *	least 2
 * @shift: timers in a program: a tick is 2^@shift units of twheel_node::expires
 * @recheck: hierarchical: before this tick no level has nodes to move, and no
 *	window of level 0 ends
 * @reach: hierarchical: deadlines at which the next windows of levels 0, 1 and
 *	2 end. While level 2 is not @ready, its windows end with the windows of
 *	level 1
 * @hand: hashed: next node to visit in the slot of this tick, or the head of
 *	the slot if none is left. NULL: the hand is in no slot
 * @skip_until: hashed: no slot needs the hand before this tick, see twheel_hashed.c
 * @occupied: bitmap of slots with nodes
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
	u32 ready;
	u32 shift;
	u64 recheck;
	u64 reach[3];
	struct list_head *hand;
	u64 skip_until;
	unsigned long *occupied;
	struct twheel_slot *slots;
};

/*
 * The unit of node->expires. In the module it is a tick. Timers in a program
 * have a finer unit, and define this as s->shift or a constant: see
 * tools/libtwheel/timers/names.h.
 */
#ifndef TWHEEL_SCHEME_SHIFT
#define TWHEEL_SCHEME_SHIFT	0
#endif

static inline u32 twheel_scheme_shift(const struct twheel_scheme *s)
{
	return TWHEEL_SCHEME_SHIFT;
}

/* Returns the tick of a deadline. */
static inline u64 twheel_scheme_tick(const struct twheel_scheme *s, u64 expires)
{
	return expires >> twheel_scheme_shift(s);
}

/* Returns the first deadline of a tick, at most U64_MAX. */
static inline u64 twheel_scheme_deadline(const struct twheel_scheme *s, u64 tick)
{
	u32 shift = twheel_scheme_shift(s);

	return tick > U64_MAX >> shift ? U64_MAX : tick << shift;
}

/*
 * Returns whether a list is corrupted, and reports it. Checked in kernels that
 * check their own lists. Tests define this macro themselves.
 */
#ifndef TWHEEL_SLOT_CORRUPTED
#define TWHEEL_SLOT_CORRUPTED(condition)			\
	((IS_ENABLED(CONFIG_LIST_HARDENED) ||		\
	  IS_ENABLED(CONFIG_DEBUG_LIST)) &&		\
	 unlikely(condition) && WARN_ON_ONCE(true))
#endif

/*
 * Like list_add() and list_del(), but without the calls that
 * CONFIG_LIST_HARDENED adds. Callers that take a node out check its links
 * inline.
 *
 * Each store to a node's link.next pairs with READ_ONCE() in twheel_pending(),
 * which takes no lock and must see either the old or the new value.
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
	/* See twheel_link(). */
	WRITE_ONCE(prev->next, next);
}

/* Mark a slot as empty. */
static inline void twheel_slot_vacate(struct twheel_scheme *s,
				      struct twheel_slot *slot)
{
	__clear_bit(slot - s->slots, s->occupied);
	slot->count = 0;
}

/* Returns whether the neighbours of an entry point back to it. */
static inline bool twheel_slot_is_intact(const struct list_head *entry)
{
	return !TWHEEL_SLOT_CORRUPTED(!entry->next ||
				      entry->next->prev != entry ||
				      entry->prev->next != entry);
}

/*
 * Drop all nodes of a corrupted slot, or the tick would never end. The nodes
 * look pending until they are stopped.
 */
static inline void twheel_slot_drop(struct twheel_scheme *s,
				    struct twheel_slot *slot)
{
	twheel_unlink(&slot->nodes, &slot->nodes);
	twheel_slot_vacate(s, slot);
}

/*
 * Unlink a node from its slot, and note a slot that becomes empty. A node does
 * not know its slot. But if it is the last node there, both of its neighbours
 * are the list head of the slot. The links of the node itself remain: lockless
 * callers of twheel_pending() must not see a timer as stopped while the wheel
 * moves it.
 * Like list_del(), refuses to unlink a node that its neighbours do not point
 * to.
 */
static inline void twheel_slot_leave(struct twheel_scheme *s,
				     struct twheel_node *node)
{
	struct list_head *prev = node->link.prev, *next = node->link.next;

	if (TWHEEL_SLOT_CORRUPTED(prev->next != &node->link ||
				  next->prev != &node->link))
		return;
	twheel_unlink(prev, next);
	if (unlikely(prev == next))
		twheel_slot_vacate(s, list_entry(prev, struct twheel_slot, nodes));
}

/* Make a node that left its slot look stopped. */
static inline void
twheel_slot_leave_wheel(struct twheel_scheme *s, struct twheel_node *node)
{
	s->pending--;
	/* See twheel_link(). */
	WRITE_ONCE(node->link.next, NULL);
}

/*
 * Returns the address of a node, as far as 32 bits can hold it. The lowest bit
 * is 0, and therefore also in the difference of two addresses.
 */
static inline u32 twheel_slot_address(const struct twheel_node *node)
{
	u32 where = (uintptr_t)node >> TWHEEL_SLOT_HINT_SHIFT;

	return __alignof__(*node) % (2 << TWHEEL_SLOT_HINT_SHIFT) ?
	       where & ~(u32)TWHEEL_SLOT_MAY_STAY : where;
}

/* Returns the address that @hint of @node stands for. */
static inline void *twheel_slot_hinted(const struct twheel_node *node, u32 hint)
{
	return (void *)((uintptr_t)node +
			((uintptr_t)(s32)hint << TWHEEL_SLOT_HINT_SHIFT));
}

/* Prefetch the node that the hint of @node, which leaves its slot, leads to. */
static inline void twheel_slot_take_hint(const struct twheel_node *node)
{
	prefetch(twheel_slot_hinted(node, node->hint));
}

/*
 * Returns whether a node may remain in @slot when it is restarted to a later
 * tick.
 *
 * Nodes that remain in a slot of level 0 or of a hashed wheel must all be moved
 * in one tick, when the slot is due. So their number is limited, and further
 * nodes move at once. A node that remained once is already counted, and may
 * remain again.
 */
static inline bool twheel_slot_may_stay(struct twheel_slot *slot,
					struct twheel_node *node)
{
	if (node->hint & TWHEEL_SLOT_MAY_STAY)
		return true;
	if (unlikely(slot->lazy >= TWHEEL_SLOT_LAZY_MAX))
		return false;
	slot->lazy++;
	node->hint |= TWHEEL_SLOT_MAY_STAY;
	return true;
}

/*
 * Ask the owner of a node for a later deadline. Returns whether the node has a
 * later tick now, and TWHEEL_SLOT_MAY_STAY like a node that was refreshed.
 * Tests, whose nodes are in no timer, define this macro themselves.
 */
#ifndef TWHEEL_SLOT_ASK
#define TWHEEL_SLOT_ASK(node)	twheel_slot_ask(node)

static __always_inline bool twheel_slot_ask(struct twheel_node *node)
{
	struct twheel_timer *timer = container_of(node, struct twheel_timer, node);

	return unlikely(timer->fn == twheel_asked_expired) && twheel_timer_ask(timer);
}
#endif

/* Returns whether a node is due at @tick, after asking its owner if the tick says so. */
static __always_inline bool twheel_slot_is_due(struct twheel_node *node, u64 tick)
{
	return likely(node->expires <= tick) &&
	       (likely(!TWHEEL_SLOT_ASK(node)) || node->expires <= tick);
}

#endif /* _TWHEEL_SLOT_H */
