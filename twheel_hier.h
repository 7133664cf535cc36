/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of twheel_hier.c that starts, restarts and stops a node, moves one
 * down a level and takes out one that is due
 *
 * It is inlined into the API functions of twheel_timer.c and the loop of
 * twheel_tick.c. Calls would be a fifth of a start and a third of an expiry.
 * The idea and the rules are in twheel_hier.c.
 */
#ifndef _TWHEEL_HIER_H
#define _TWHEEL_HIER_H

#include <linux/bitops.h>
#include <linux/prefetch.h>

#include "twheel_slot.h"

/* Slots per window of a level of the hierarchical wheel, as a power of two. */
#define TWHEEL_HIER_BITS	8
#define TWHEEL_HIER_WINDOW	BIT(TWHEEL_HIER_BITS)
/* Two windows a level: the current one, and the next one being filled. */
#define TWHEEL_HIER_RING	(2 * TWHEEL_HIER_WINDOW)
/* Enough levels for 64 bits. */
#define TWHEEL_HIER_LEVELS	DIV_ROUND_UP(64, TWHEEL_HIER_BITS)
#define TWHEEL_HIER_SLOTS	(TWHEEL_HIER_LEVELS * TWHEEL_HIER_RING)
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
 * from the clock gives a level that does. The one below reaches it too if
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

/* The tick at which the next window of @level ends, or the end of time. */
static inline u64 twheel_hier_reach(const struct twheel_scheme *s,
				    unsigned int level)
{
	unsigned int shift = twheel_hier_shift(level + 1);
	u64 end = ((s->clock >> shift) + 2) << shift;

	return end > s->clock ? end : U64_MAX;
}

/* The clock has come to a new window. */
static inline void twheel_hier_set_window(struct twheel_scheme *s)
{
	s->window = (s->clock | (TWHEEL_HIER_WINDOW - 1)) + 1;
	s->reach[0] = twheel_hier_reach(s, 0);
	s->reach[1] = twheel_hier_reach(s, 1);
	s->reach[2] = twheel_hier_reach(s, 2);
}

void twheel_hier_join_empty(struct twheel_scheme *s, struct twheel_slot *slot,
			    struct twheel_node *node, u32 flags);
void twheel_hier_join_torn(struct twheel_scheme *s, struct twheel_slot *slot,
			   struct twheel_node *node, u32 flags, bool tail);

/* @node joins @slot as number @nr: give it a hint, and remember where it is. */
static __always_inline void twheel_hier_hint(struct twheel_slot *slot,
					     struct twheel_node *node, u32 flags,
					     u32 nr)
{
	u32 here = twheel_slot_where(node);

	nr %= TWHEEL_SLOT_HINTS;
	node->hint = flags + (slot->where[nr] - here);
	slot->where[nr] = here;
}

/*
 * Between @prev and @next of a slot. @flags is TWHEEL_SLOT_MAY_STAY or 0. @hint is
 * false for a node that needs no hint. What an empty slot needs is a call, made
 * last: the usual path must not save registers for it, since stores are what limits
 * a start.
 */
static __always_inline void
twheel_hier_join(struct twheel_scheme *s, struct twheel_slot *slot,
		 struct twheel_node *node, u32 flags, bool hint,
		 struct list_head *prev, struct list_head *next)
{
	u32 nr;

	if (unlikely(prev == next)) {
		twheel_hier_join_empty(s, slot, node, flags);
		return;
	}
	if (unlikely(!twheel_slot_mutual(prev, next))) {
		twheel_hier_join_torn(s, slot, node, flags,
				      next == &slot->nodes);
		return;
	}
	nr = slot->count++;
	if (hint)
		twheel_hier_hint(slot, node, flags, nr);
	else
		node->hint = flags;
	twheel_link(&node->link, prev, next);
}

static __always_inline void
twheel_hier_join_tail(struct twheel_scheme *s, struct twheel_slot *slot,
		      struct twheel_node *node, u32 flags)
{
	twheel_hier_join(s, slot, node, flags, true, slot->nodes.prev,
			 &slot->nodes);
}

static __always_inline void
twheel_hier_join_head(struct twheel_scheme *s, struct twheel_slot *slot,
		      struct twheel_node *node, u32 flags, bool hint)
{
	twheel_hier_join(s, slot, node, flags, hint, &slot->nodes,
			 slot->nodes.next);
}

void twheel_hier_place_far(struct twheel_scheme *s, struct twheel_node *node);

/* Put a node that is in no slot where it belongs. @tick is its tick. */
static __always_inline void twheel_hier_place(struct twheel_scheme *s,
					      struct twheel_node *node,
					      u64 tick)
{
	struct twheel_slot *slot;

	if (unlikely(tick < s->reach[0])) {
		slot = &s->slots[max(tick, s->clock + 1) & TWHEEL_HIER_MASK];
		twheel_hier_join_tail(s, slot, node, 0);
	} else if (likely(tick < s->reach[1])) {
		slot = &s->slots[twheel_hier_slot(1, tick)];
		twheel_hier_join_tail(s, slot, node, TWHEEL_SLOT_MAY_STAY);
	} else if (tick < s->reach[2]) {
		slot = &s->slots[twheel_hier_slot(2, tick)];
		twheel_hier_join_tail(s, slot, node, TWHEEL_SLOT_MAY_STAY);
	} else {
		twheel_hier_place_far(s, node);
	}
}

/**
 * twheel_hier_start - start a node, see twheel_scheme_start()
 * @s: the scheme
 * @node: a node that is not pending
 * @tick: its tick, which is in @node->expires too
 */
static __always_inline void twheel_hier_start(struct twheel_scheme *s,
					      struct twheel_node *node,
					      u64 tick)
{
	s->pending++;
	twheel_hier_place(s, node, tick);
}

/**
 * twheel_hier_stop - stop a node, see twheel_scheme_stop()
 * @s: the scheme
 * @node: a pending node
 *
 * A slot that loses its last node keeps its bit: see has_nodes().
 */
static __always_inline void twheel_hier_stop(struct twheel_scheme *s,
					     struct twheel_node *node)
{
	twheel_slot_take_out(node);
	twheel_slot_leave_wheel(s, node);
}

/**
 * twheel_hier_restart - restart a node
 * @s: the scheme
 * @node: a pending node
 * @expires: its new expiry tick
 *
 * See twheel_scheme_restart().
 */
static __always_inline void twheel_hier_restart(struct twheel_scheme *s,
						struct twheel_node *node,
						u64 expires)
{
	u64 tick = max(node->expires, s->clock + 1);
	bool stays = expires >= node->expires &&
		     twheel_slot_may_stay(&s->slots[tick & TWHEEL_HIER_MASK],
					  node);

	/* As in twheel_scheme_refresh(). */
	WRITE_ONCE(node->expires, expires);
	if (stays)
		return;
	twheel_slot_take_out(node);
	twheel_hier_place(s, node, node->expires);
}

void twheel_hier_next_level(struct twheel_scheme *s);
void twheel_hier_move_far(struct twheel_scheme *s, struct twheel_node *node);

/*
 * Move the last node of the outer slot that is being emptied one level down. If
 * it was restarted to a tick beyond that slot it goes where it belongs now. What
 * was to be moved may have been stopped since.
 */
static __always_inline void twheel_hier_move(struct twheel_scheme *s)
{
	struct twheel_slot *from = s->from;
	struct twheel_node *node = list_last_entry(&from->nodes,
						   struct twheel_node, link);
	struct twheel_slot *to;

	if (unlikely(&node->link == &from->nodes)) {
		twheel_hier_next_level(s);
		return;
	}
	if (unlikely(!twheel_slot_mutual(&node->link, &from->nodes) ||
		     !twheel_slot_mutual(node->link.prev, &node->link))) {
		twheel_slot_mend(s, from);
		return;
	}
	twheel_slot_take_hint(node);
	from->count--;
	twheel_slot_unlink(s, node->link.prev, &from->nodes);
	if (likely(node->expires < s->from_end)) {
		to = &s->slots[node->expires & TWHEEL_HIER_MASK];
		twheel_hier_join_head(s, to, node, 0, true);
	} else {
		twheel_hier_move_far(s, node);
	}
	s->cascaded++;
	if (!--s->quota)
		twheel_hier_next_level(s);
}

/* The clock's own slot. */
static __always_inline struct twheel_slot *
twheel_hier_due_slot(const struct twheel_scheme *s)
{
	return &s->slots[twheel_hier_slot(0, s->clock)];
}

/**
 * twheel_hier_due - take out the next node of the clock's own slot
 * @s: the scheme
 * @slot: that slot
 * @moves: false if this tick has nothing to move
 * @node: set to the node
 *
 * One step of this tick's cascade, if that takes turns with the expiry, and one of
 * its expiry: all that most calls of twheel_hier_pop() would do.
 *
 * Return: true if there is one that is due. If not twheel_hier_pop() knows more.
 */
static __always_inline bool twheel_hier_due(struct twheel_scheme *s,
					    struct twheel_slot *slot, bool moves,
					    struct twheel_node **node)
{
	struct list_head *first, *next;
	struct twheel_node *due;

	if (moves && s->quota)
		twheel_hier_move(s);
again:
	first = slot->nodes.next;
	due = list_entry(first, struct twheel_node, link);
	if (first == &slot->nodes || unlikely(due->expires > s->clock))
		return false;
	next = first->next;
	if (unlikely(!twheel_slot_mutual(&slot->nodes, first) ||
		     !twheel_slot_goes_on(first))) {
		twheel_slot_mend(s, slot);
		goto again;
	}
	twheel_slot_take_hint(due);
	twheel_unlink(&slot->nodes, next);
	if (unlikely(next == &slot->nodes))
		twheel_slot_vacate_hier(s, slot, twheel_hier_slot(0, s->clock));
	twheel_slot_leave_wheel(s, due);
	*node = due;
	return true;
}

#endif /* _TWHEEL_HIER_H */
