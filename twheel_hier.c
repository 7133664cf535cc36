// SPDX-License-Identifier: GPL-2.0 OR MIT
/**
 * DOC: Scheme 7, the hierarchical wheel
 *
 * See section 6.2 of Varghese and Lauck, "Hashed and Hierarchical Timing
 * Wheels" (1987, 1997). A tick is a number with digits of TWHEEL_HIER_BITS
 * bits, one for each level. A slot of level l is as wide as a window of level l
 * - 1::
 *
 *   level  slot width (ticks)   one window (ticks)   with ticks of 1 ms
 *     0                     1                  256               256 ms
 *     1                   256                65536                66 s
 *     2                 65536             16777216               4.7 h
 *     3              16777216                 2^32                50 days
 *     4                  2^32                 2^40                35 years
 *    ...
 *     7                  2^56      the whole range
 *
 * The width of a digit was measured. With more slots per level nodes move less
 * often, and with a million timers moving is the main cost. notes/wheel.md has
 * figures for other widths.
 *
 * Two windows per level. The textbook wheel moves a whole outer slot down when
 * the inner level wraps around. With a million timers in the slot this is one
 * very late tick. Here each level is a ring of two windows, the current and the
 * next one. While the inner level is in its current window, each tick moves
 * some nodes of the next outer slot into the other window. Their number is the
 * number of nodes left divided by the number of ticks left, so that the outer
 * slot is empty when it is due.
 *
 * A node is kept at the lowest level whose two windows reach its tick. The FIFO
 * order follows from that. For the nodes of one expiry tick:
 *
 *  - As the clock advances, the level of their tick only becomes lower. Of two
 *    of these nodes at different levels the outer one started first.
 *  - An outer slot is moved down from its tail. Each node joins its inner slot
 *    at the head, before nodes that were started there in the meantime.
 *  - Nodes move down one level at a time, and outer levels move before inner
 *    ones. No node overtakes another.
 *
 * So the order is FIFO at every level, in every state between two moves. When
 * moves are made does not matter, as long as the slot is empty in time.
 *
 * A restart to a later tick writes the tick and moves nothing. The node is then
 * in a slot that is too early, and the tick that moves or expires the slot
 * moves the node to the right slot. Before a caller sleeps, such nodes are
 * moved out of the next slots of level 0, so that it need not wake up for these
 * slots. A slot of level 0 must be moved in one tick, so the number of such
 * nodes in it is limited.
 *
 * The state between two ticks:
 *
 *  - No level has a node to move down before tick @recheck.
 *  - No start uses the next slot of an outer level, because the level below
 *    reaches it. Only a cascade from above adds to it.
 *  - @reach holds the ends of the three lowest levels' windows.
 *  - A node in level 0 without TWHEEL_SLOT_MAY_STAY is in the slot of its tick,
 *    or of the tick after the clock if it was started late.
 */
#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/prefetch.h>

#include "twheel_hier.h"

/*
 * A tickless wheel wakes up before an outer slot is due, early enough to empty
 * the slot with this many moves per tick. The library for programs uses a
 * larger number, because wake-ups cost more there.
 */
#ifndef MOVES_PER_WAKEUP
#define MOVES_PER_WAKEUP	512
#endif

/*
 * Limit of nodes that are moved for several ticks at once. Checking the levels
 * costs as much as some moves, so the small shares of a few ticks are moved
 * together.
 */
#define CASCADE_MOVES		32

/* A slot with at least this many refreshed nodes is requeued in bulk. */
#define CROWD			64

/*
 * Add a node to an empty slot. The addresses in @slot->recent are outdated, so
 * the address of @node replaces each of them.
 */
void twheel_hier_join_first(struct twheel_scheme *s, struct twheel_slot *slot,
			    struct twheel_node *node, u32 flags)
{
	u32 nr = slot - s->slots, i;

	for (i = 0; i < TWHEEL_SLOT_HINTS; i++)
		slot->recent[i] = twheel_slot_address(node);
	__set_bit(nr, s->occupied);
	s->levels |= BIT(nr / TWHEEL_HIER_RING);
	twheel_link(&node->link, &slot->nodes, &slot->nodes);
	node->hint = flags;
	slot->count = 1;
	slot->lazy = 0;
	slot->prepended = false;
}

/*
 * Returns the lowest level whose current and next window reach @tick, which is
 * after the clock. The distance between them gives a level that reaches it. The
 * level below reaches it too if @tick is in the next outer slot.
 */
static unsigned int level_of(u64 clock, u64 tick)
{
	unsigned int bit = fls64(tick - clock) - 1;
	unsigned int level = bit / TWHEEL_HIER_BITS;
	unsigned int shift = twheel_hier_shift(level);

	if (level && (tick >> shift) - (clock >> shift) <= 1)
		level--;
	return level;
}

/*
 * Add a node to a slot beyond the three lowest levels: the rare case of
 * twheel_hier_place().
 */
void twheel_hier_place_far(struct twheel_scheme *s, struct twheel_node *node)
{
	u64 tick = twheel_scheme_tick(s, node->expires);
	unsigned int level = level_of(s->clock, tick);

	if (TWHEEL_HIER_ON_DEMAND && s->ready <= level)
		twheel_hier_init_levels(s, level);
	twheel_hier_join(s, twheel_hier_slot(s, level, tick), node,
			 TWHEEL_SLOT_MAY_STAY, false);
}

/* Returns the tick at which the next window of @level ends, at most U64_MAX. */
static u64 window_end(const struct twheel_scheme *s, unsigned int level)
{
	unsigned int shift = twheel_hier_shift(level + 1);
	u64 end = ((s->clock >> shift) + 2) << shift;

	return end > s->clock ? end : U64_MAX;
}

/*
 * Returns the number of the slot of @level to empty next, if the slots of the
 * level are counted from tick 0 on and never reused.
 */
static u64 next_outer(const struct twheel_scheme *s, unsigned int level)
{
	return (s->clock >> twheel_hier_shift(level)) + 1;
}

/*
 * Returns the number of nodes to move down from @level at this tick. Most nodes
 * are stopped before their move if the moves start late. So they start when no
 * more ticks are left than the slot has nodes, and the number for each tick is
 * rounded down. With one tick left, returns a number that is enough for all
 * nodes, because the count of the slot may have overflowed.
 */
static u32 cascade_share(struct twheel_scheme *s, unsigned int level)
{
	/*
	 * A @due of 2^64 wraps to 0, and everything below is correct modulo
	 * 2^64.
	 */
	u64 due = next_outer(s, level) << twheel_hier_shift(level);
	struct twheel_slot *slot = twheel_hier_slot(s, level, due);
	u64 left = due - s->clock, count, ticks = 1;
	u32 share = U32_MAX;

	if (!test_bit(slot - s->slots, s->occupied))
		return 0;
	count = clamp_t(u64, slot->count, 1, s->pending);
	if (left > count) {
		ticks = left - count;
		share = 0;
	} else if (left > 1) {
		share = (u32)count / (u32)left;
		ticks = clamp_t(u32, CASCADE_MOVES / share, 1, left / 2);
		share = min(share * (u32)ticks, (u32)count);
	}
	s->recheck = min(s->recheck, s->clock + ticks);
	return share;
}

/* Select the next level with nodes to move. Outer levels come first. */
static void next_level(struct twheel_scheme *s)
{
	do {
		s->level--;
		s->quota = s->level ? cascade_share(s, s->level) : 0;
	} while (s->level && !s->quota);
}

/*
 * Set @reach and @recheck for the current window of level 0. The last window
 * before the clock wraps around ends at U64_MAX.
 */
static void set_window(struct twheel_scheme *s)
{
	u64 last = s->clock | (TWHEEL_HIER_WINDOW - 1);

	s->reach[0] = twheel_scheme_deadline(s, window_end(s, 0));
	s->reach[1] = twheel_scheme_deadline(s, window_end(s, 1));
	s->reach[2] = twheel_scheme_deadline(s, window_end(s, 2));
	if (TWHEEL_HIER_ON_DEMAND && s->ready <= 2)
		s->reach[2] = s->reach[1];
	s->recheck = last == U64_MAX ? U64_MAX : last + 1;
}

/*
 * Find out what the levels have to do at this tick, after the clock reached
 * @recheck or was set. Where a window of level 0 ends, each level may have
 * another slot to empty next. So the levels are checked again there at the
 * latest.
 */
void twheel_hier_check_levels(struct twheel_scheme *s)
{
	set_window(s);
	s->level = max(fls64(s->levels), 1);
	next_level(s);
}

/*
 * Move up to @most nodes out of the next outer slot, the last ones first. A
 * node moves one level down, or to the slot of its new tick if it was restarted
 * to a tick after the outer slot. @s->quota may count nodes that were stopped.
 *
 * Unlinks the nodes from the slot together, after they joined other slots.
 */
static void hier_cascade(struct twheel_scheme *s, u32 most, int *work)
{
	unsigned int inner = s->level - 1, shift = twheel_hier_shift(s->level);
	u64 outer = next_outer(s, s->level), tick;
	struct twheel_slot *to, *from = twheel_hier_slot(s, s->level, outer << shift);
	struct list_head *head = &from->nodes, *last = head->prev, *next = head, *prev;
	u32 flags = inner ? TWHEEL_SLOT_MAY_STAY : 0, moved;
	struct twheel_node *node;

	most = min_t(u32, min(most, s->quota), *work);
	for (moved = 0; moved < most && last != head; moved++, next = last, last = prev) {
		if (TWHEEL_SLOT_CORRUPTED(last->next != next)) {
			/* See twheel_slot_drop(). */
			last = head;
			break;
		}
		prev = last->prev;
		node = list_entry(last, struct twheel_node, link);
		twheel_slot_take_hint(node);
		tick = twheel_scheme_tick(s, node->expires);
		if (likely(tick >> shift == outer) && likely(!TWHEEL_SLOT_ASK(node))) {
			to = twheel_hier_slot(s, inner, tick);
			twheel_hier_join(s, to, node, flags, true);
			to->prepended = true;
		} else {
			twheel_hier_place(s, node, node->expires);
		}
	}
	twheel_unlink(last, head);
	from->count -= moved;
	if (list_empty(head))
		twheel_slot_vacate(s, from);
	s->cascaded += moved;
	s->quota -= moved;
	*work -= moved;
	if (!s->quota || list_empty(head))
		next_level(s);
}

/*
 * Requeue a node of level 0 whose tick is now later than @tick, the tick of the
 * slot. If only a few nodes of the slot were refreshed, requeue nodes in the
 * order of their starts. If many were refreshed, take the last node that joined,
 * because hints lead from there to the others. After a cascade this is the head,
 * otherwise the tail, unless the tail is due.
 */
static void hier_requeue(struct twheel_scheme *s, struct twheel_slot *slot, u64 tick)
{
	struct list_head *last = slot->nodes.prev;
	struct twheel_node *node = list_entry(last, struct twheel_node, link);

	if (slot->lazy < CROWD || slot->prepended || node->expires <= tick)
		node = list_first_entry(&slot->nodes, struct twheel_node, link);
	if (!twheel_slot_is_intact(&node->link)) {
		twheel_slot_drop(s, slot);
		return;
	}
	twheel_slot_take_hint(node);
	twheel_slot_leave(s, node);
	twheel_hier_place(s, node, node->expires);
	s->cascaded++;
}

/* list_empty() without READ_ONCE(), for callers under the lock. */
static bool is_empty(const struct twheel_slot *slot)
{
	return slot->nodes.next == &slot->nodes;
}

/*
 * Prefetch the second node of the next tick, and the first node of the tick
 * after that.
 */
static void expect_next_tick(const struct twheel_scheme *s)
{
	prefetch(twheel_hier_slot(s, 0, s->clock + 1)->nodes.next->next);
	prefetch(twheel_hier_slot(s, 0, s->clock + 2)->nodes.next);
}

/*
 * Advance to the next tick or, if @target is later, to the next tick with work.
 */
static void hier_advance(struct twheel_scheme *s, u64 target)
{
	if (target - s->clock > 1) {
		s->clock = min(twheel_hier_next(s), target);
		s->recheck = s->clock;
	} else {
		s->clock = target;
	}
	if (s->clock >= s->recheck)
		twheel_hier_check_levels(s);
	expect_next_tick(s);
}

/*
 * Advance the clock and take out the next due node.
 *
 * A slot to move and a slot to expire are two chains of nodes, which many
 * timers fetch from memory. Process them alternately, as many nodes as hints
 * lead ahead: the nodes that one chain prefetches arrive while the other is
 * processed. Small shares that belong to several ticks are moved without a
 * pause, which takes fewer instructions.
 *
 * Out of line to keep the frame off the fast path of twheel_hier_pop().
 */
static noinline struct twheel_node *hier_pop(struct twheel_scheme *s, u64 target,
					     int *work)
{
	struct twheel_slot *slot = twheel_hier_due_slot(s);
	struct twheel_node *node;
	bool alternate;

	while (*work > 0) {
		alternate = s->recheck - s->clock <= 1 && !is_empty(slot);
		if (s->quota)
			hier_cascade(s, alternate ? TWHEEL_HIER_TURN : U32_MAX, work);
		node = twheel_hier_due(s, slot);
		if (node || *work <= 0)
			return node;
		if (!is_empty(slot)) {
			hier_requeue(s, slot, s->clock);
			--*work;
		} else if (!s->quota) {
			if (s->clock == target)
				return NULL;
			hier_advance(s, target);
			slot = twheel_hier_due_slot(s);
		}
	}
	return NULL;
}

/* PER_TICK_BOOKKEEPING and half of EXPIRY_PROCESSING: see twheel_scheme_pop(). */
struct twheel_node *twheel_hier_pop(struct twheel_scheme *s, u64 target,
				    int *work)
{
	/* The end of a tick with expiries: nothing is left. */
	if (s->clock == target && !s->quota && is_empty(twheel_hier_due_slot(s)))
		return NULL;
	/* Most ticks have nothing to move and, with few timers, nothing due. */
	if (target - s->clock == 1 && target < s->recheck && !s->quota &&
	    is_empty(twheel_hier_due_slot(s))) {
		s->clock = target;
		if (is_empty(twheel_hier_due_slot(s)))
			return NULL;
		expect_next_tick(s);
	}
	return hier_pop(s, target, work);
}

/*
 * Returns the number of slots of @level from the clock's slot to the next one
 * with nodes, or 0 if the level has none.
 */
static u32 next_occupied(struct twheel_scheme *s, unsigned int level)
{
	u32 first = level * TWHEEL_HIER_RING, nr;
	u32 here = (s->clock >> twheel_hier_shift(level)) & TWHEEL_HIER_MASK;
	const unsigned long *row = s->occupied + BIT_WORD(first);
	struct twheel_slot *slot;

	nr = find_next_bit(row, TWHEEL_HIER_RING, here + 1);
	if (nr >= TWHEEL_HIER_RING)
		nr = find_first_bit(row, TWHEEL_HIER_RING);
	if (nr >= TWHEEL_HIER_RING) {
		s->levels &= ~BIT(level);
		return 0;
	}
	/* The count includes stopped nodes. */
	slot = &s->slots[first + nr];
	slot->count = min_t(u64, slot->count, s->pending);
	return (nr - here) & TWHEEL_HIER_MASK;
}

/*
 * Returns the tick at which to begin to move down @slot, which is counted from
 * tick 0 in slots of @level. The slot must be empty one tick before it is due,
 * because expiries come first at the tick when it is due.
 */
static u64 cascade_tick(const struct twheel_scheme *s, unsigned int level,
			u64 slot)
{
	unsigned int shift = twheel_hier_shift(level);
	u64 due = slot << shift;
	u64 lead = min_t(u64, twheel_hier_slot(s, level, due)->count / MOVES_PER_WAKEUP,
			 (1ULL << shift) - 1);

	return max(due - 1 - lead, s->clock + 1);
}

/* See twheel_scheme_next(). */
u64 twheel_hier_next(struct twheel_scheme *s)
{
	u64 next = U64_MAX, tick;
	unsigned int level;
	u32 distance;

	if (s->level || !list_empty(&twheel_hier_due_slot(s)->nodes))
		return s->clock;
	for (level = 0; s->levels >> level; level++) {
		distance = next_occupied(s, level);
		if (!distance)
			continue;
		tick = (s->clock >> twheel_hier_shift(level)) + distance;
		if (level)
			tick = cascade_tick(s, level, tick);
		next = min(next, tick);
	}
	return next;
}

/*
 * See twheel_scheme_next_due(). No outer level has work before @recheck, so an
 * earlier tick belongs to a slot of level 0.
 */
u64 twheel_hier_next_due(struct twheel_scheme *s, int most)
{
	struct twheel_node *first;
	struct twheel_slot *slot;
	u64 next, tick;

	if (s->level || !is_empty(twheel_hier_due_slot(s)))
		return s->clock;
	for (;;) {
		next = s->clock + next_occupied(s, 0);
		if (next == s->clock || next >= s->recheck) {
			tick = twheel_hier_next(s);
			if (tick != next)
				return tick;
		}
		slot = twheel_hier_slot(s, 0, next);
		do {
			first = list_first_entry(&slot->nodes, struct twheel_node, link);
			if (twheel_slot_is_due(first, next) || !most--)
				return next;
			hier_requeue(s, slot, next);
		} while (!is_empty(slot));
	}
}

/* See twheel_scheme_next_for(). */
u64 twheel_hier_next_for(const struct twheel_scheme *s,
			 const struct twheel_node *node)
{
	u64 tick = max(node->expires, s->clock + 1);
	unsigned int level = level_of(s->clock, tick);

	if (!level)
		return node->expires;
	return cascade_tick(s, level,
			    node->expires >> twheel_hier_shift(level));
}
