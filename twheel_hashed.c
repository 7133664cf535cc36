// SPDX-License-Identifier: GPL-2.0 OR MIT
/**
 * DOC: Scheme 6, the hashed wheel
 *
 * After section 6.1.2 of Varghese and Lauck, "Hashed and Hierarchical Timing
 * Wheels" (1987, 1997). The wheel is one ring of slots, a power of two of
 * them. The low bits of a node's expiry tick pick its slot. The high bits
 * would be the number of rounds that the paper stores and counts down. Here
 * they follow from the tick itself, and nothing has to be counted.
 *
 * A slot is in no order. When the hand comes to it every node in it is looked
 * at, and due nodes leave. Start is O(1), however many nodes the slot holds.
 *
 * Three things are added.
 *
 * Lazy refresh: a restart to a later tick only writes the tick.
 * The hand comes to the old slot before that tick, finds a node that belongs
 * into another slot, and carries it there.
 *
 * slot->first: no node of the slot is due before this tick. It is exact after
 * the hand has looked at the slot, and may be too low when nodes have been
 * stopped or refreshed since. The hand passes a slot of which it says that it
 * holds later rounds only without touching a node.
 *
 * The leap: no slot at all needs the hand before this tick. It is gathered
 * while the hand goes once from slot 0 to the last one. Each slot that the hand
 * passes and each start lower it. At slot 0 it is used: rounds in which nothing
 * would happen are left out. So the cost of a
 * jump of the clock depends on the slots that are in use, not on its length.
 *
 * The order. The hand goes from tick to tick, and within a slot from head to
 * tail. Nodes that are started, or carried to their slots by the hand, join the
 * tail. Nodes of one tick are in one slot, except nodes that are still to be
 * carried there. Hence FIFO.
 */
#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/prefetch.h>

#include "twheel_scheme.h"

/* Occupied slots that twheel_hashed_next() looks at before it gives up. */
#define LOOK_AHEAD	64

static u32 slot_mask(const struct twheel_scheme *s)
{
	return s->nr_slots - 1;
}

/* The tick at which a node comes out if it is started now. */
static u64 due_tick(const struct twheel_scheme *s, u64 expires)
{
	return expires > s->clock ? expires : s->clock + 1;
}

static u32 slot_for(const struct twheel_scheme *s, u64 expires)
{
	return due_tick(s, expires) & slot_mask(s);
}

/*
 * The first tick at which the hand has to look at an occupied slot. This
 * cannot overflow: the slot holds a node that was placed there for such a
 * tick, at or after @first.
 */
static u64 slot_tick(const struct twheel_scheme *s, u32 nr)
{
	u64 first = s->slots[nr].first;

	return first + ((nr - (u32)first) & slot_mask(s));
}

static void limit_leap(struct twheel_scheme *s, u64 tick)
{
	if (tick < s->leap)
		s->leap = tick;
}

static void place(struct twheel_scheme *s, struct twheel_node *node)
{
	u32 nr = slot_for(s, node->expires);
	struct twheel_slot *slot = &s->slots[nr];
	struct list_head *head = &slot->nodes;

	if (list_empty(head)) {
		__set_bit(nr, s->occupied);
		slot->stale = 0;
		slot->first = U64_MAX;
	}
	slot->first = min(slot->first, node->expires);
	limit_leap(s, node->expires);
	node->hint = 0;
	slot->count++;
	twheel_link(&node->link, head->prev, head);
}

/**
 * twheel_hashed_start - start a node, see twheel_scheme_start()
 * @s: the scheme
 * @node: a node that is not pending
 */
void twheel_hashed_start(struct twheel_scheme *s, struct twheel_node *node)
{
	place(s, node);
	s->pending++;
}

/**
 * twheel_hashed_leave - take a node out of its slot, see twheel_scheme_leave()
 * @s: the scheme
 * @node: a pending node
 *
 * The hand must not wait at the node. The bit of a slot that loses its last node is
 * cleared at once: there may be a million slots, too many to look at later.
 */
void twheel_hashed_leave(struct twheel_scheme *s, struct twheel_node *node)
{
	struct list_head *prev = node->link.prev;

	if (s->cursor == &node->link)
		s->cursor = node->link.next;
	if (twheel_slot_leave(node) && list_empty(prev))
		twheel_slot_vacate(s, list_entry(prev, struct twheel_slot, nodes));
}

/**
 * twheel_hashed_restart - restart a node, see twheel_scheme_restart()
 * @s: the scheme
 * @node: a pending node
 * @expires: its new expiry tick
 *
 * Return: whether the node moved.
 */
bool twheel_hashed_restart(struct twheel_scheme *s, struct twheel_node *node,
			   u64 expires)
{
	u32 nr = slot_for(s, node->expires);
	bool stays = expires >= node->expires &&
		     twheel_slot_may_stay(&s->slots[nr], node);

	/* As in twheel_scheme_refresh(). */
	WRITE_ONCE(node->expires, expires);
	if (stays)
		return false;
	twheel_hashed_leave(s, node);
	place(s, node);
	return true;
}

/* The hand leaves slot @nr, whose nodes are all of later rounds. */
static void leave_slot(struct twheel_scheme *s, u32 nr)
{
	s->cursor = NULL;
	if (!list_empty(&s->slots[nr].nodes))
		limit_leap(s, slot_tick(s, nr));
}

/* A node that is not due stays where it is or is carried to its own slot. */
static void pass_node(struct twheel_scheme *s, u32 nr,
		      struct twheel_node *node)
{
	struct twheel_slot *slot = &s->slots[nr];

	if (nr == (node->expires & slot_mask(s))) {
		slot->first = min(slot->first, node->expires);
		node->hint = 0;
		return;
	}
	twheel_hashed_leave(s, node);
	place(s, node);
	s->cascaded++;
}

/*
 * Look at the rest of the slot. Starts into it join the tail and
 * are looked at too, but none of them is due at this tick.
 */
static struct twheel_node *scan_slot(struct twheel_scheme *s, int *work)
{
	u32 nr = s->clock & slot_mask(s);
	struct twheel_node *node;

	while (s->cursor != &s->slots[nr].nodes) {
		if (*work <= 0)
			return NULL;
		if (!twheel_slot_is_whole(s->cursor)) {
			twheel_slot_drop(s, &s->slots[nr]);
			break;
		}
		node = list_entry(s->cursor, struct twheel_node, link);
		s->cursor = node->link.next;
		prefetch(s->cursor);
		if (node->expires <= s->clock) {
			twheel_hashed_leave(s, node);
			twheel_slot_leave_wheel(s, node);
			return node;
		}
		pass_node(s, nr, node);
		--*work;
	}
	leave_slot(s, nr);
	return NULL;
}

/* The hand is at an occupied slot: pass it, or begin to look at its nodes. */
static void enter_slot(struct twheel_scheme *s, u32 nr, int *work)
{
	struct twheel_slot *slot = &s->slots[nr];

	if (slot->first > s->clock) {
		leave_slot(s, nr);
		--*work;
	} else {
		slot->first = U64_MAX;
		slot->stale = 0;
		s->cursor = slot->nodes.next;
	}
}

/* The tick at which the round begins that has something for the hand. */
static u64 next_round(const struct twheel_scheme *s, u64 tick)
{
	return max(tick, s->leap & ~(u64)slot_mask(s));
}

/*
 * On to the next occupied slot, but not beyond @target nor beyond this round.
 * The leap is used up, and gathered anew, where a round begins. As long as it
 * lies beyond @target it remains true.
 */
static void advance(struct twheel_scheme *s, u64 target, int *work)
{
	u64 from = s->clock + 1, last;
	u32 mask = slot_mask(s), nr;

	if (!(from & mask)) {
		from = next_round(s, from);
		if (from > target) {
			s->clock = target;
			return;
		}
		s->leap = U64_MAX;
	}
	last = min(from | mask, target);
	nr = find_next_bit(s->occupied, (u32)(last & mask) + 1, from & mask);
	if (nr > (last & mask)) {
		s->clock = last;
		return;
	}
	s->clock = from + (nr - (from & mask));
	enter_slot(s, nr, work);
}

/**
 * twheel_hashed_pop - take out the next due node, see twheel_scheme_pop()
 * @s: the scheme
 * @target: the tick to go on to
 * @work: how many nodes may be looked at, or slots of later rounds passed
 *
 * PER_TICK_BOOKKEEPING and the first half of EXPIRY_PROCESSING of the paper.
 *
 * Return: a node, or NULL.
 */
struct twheel_node *twheel_hashed_pop(struct twheel_scheme *s, u64 target,
				      int *work)
{
	struct twheel_node *node;

	while (*work > 0) {
		if (s->cursor) {
			node = scan_slot(s, work);
			if (node)
				return node;
		} else if (s->clock >= target) {
			return NULL;
		} else if (!s->pending) {
			s->clock = target;
		} else {
			advance(s, target, work);
		}
	}
	return NULL;
}

/* The next occupied slot at @nr or after it, in the ring. */
static u32 next_occupied_slot(const struct twheel_scheme *s, u32 nr)
{
	u32 found = find_next_bit(s->occupied, s->nr_slots, nr);

	if (found >= s->nr_slots)
		found = find_first_bit(s->occupied, s->nr_slots);
	return found;
}

/**
 * twheel_hashed_next - the next tick with work, see twheel_scheme_next()
 * @s: the scheme
 *
 * Looks at up to %LOOK_AHEAD occupied slots. If none of them is due in the
 * coming round, and there are more, the answer is the tick of the next one. The
 * wheel then wakes up every so many slots and may find nothing.
 *
 * Return: a tick, or U64_MAX if nothing is pending.
 */
u64 twheel_hashed_next(const struct twheel_scheme *s)
{
	u64 tick = s->clock, next = U64_MAX;
	u32 mask = slot_mask(s), looked, nr;

	if (!s->pending)
		return U64_MAX;
	if (s->cursor || s->clock == U64_MAX)
		return s->clock;
	for (looked = 0; looked <= LOOK_AHEAD; looked++) {
		nr = next_occupied_slot(s, (tick + 1) & mask);
		/* All that was pending is lost, see twheel_slot_drop(). */
		if (unlikely(nr >= s->nr_slots))
			return U64_MAX;
		tick += 1 + ((nr - (u32)(tick + 1)) & mask);
		if (tick - s->clock > s->nr_slots)
			return next;
		if (s->slots[nr].first <= tick)
			return tick;
		next = min(next, slot_tick(s, nr));
	}
	return tick;
}
