// SPDX-License-Identifier: GPL-2.0 OR MIT
/**
 * DOC: Scheme 6, the hashed wheel
 *
 * See section 6.1.2 of Varghese and Lauck, "Hashed and Hierarchical Timing
 * Wheels" (1987, 1997). The wheel is one ring of slots, a power of two of them.
 * The low bits of a node's expiry tick select its slot. The paper stores the
 * high bits as a number of rounds and counts it down. Here a node stores the
 * tick, and nothing is counted.
 *
 * A slot is unordered. When the hand reaches it, the hand visits each node, and
 * due nodes expire. A start is O(1), however many nodes the slot holds.
 *
 * There are three extensions:
 *
 * Lazy refresh. A restart to a later tick only writes the tick. The hand
 * reaches the old slot before that tick, and moves the node to its new slot.
 *
 * slot->first: no node of the slot is due before this tick. It is exact after a
 * visit of the hand, and may be too low after stops and refreshes. If it shows
 * that all nodes belong to later rounds, the hand passes the slot without
 * touching any of the nodes.
 *
 * skip_until: no slot needs the hand before this tick. It is computed in each
 * round, from slot 0 to the last one: each slot that the hand passes, and each
 * start, lowers it. At slot 0 the hand skips all rounds before that tick. So
 * the cost of a jump of the clock depends on the occupied slots, not on the
 * length of the jump.
 *
 * FIFO. The hand goes from tick to tick, and within a slot from head to tail.
 * Nodes that are started, or moved by the hand, join at the tail. Nodes of one
 * tick are in one slot, except nodes that the hand did not move there yet.
 */
#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/prefetch.h>

#include "twheel_scheme.h"

/*
 * Number of occupied slots that twheel_hashed_next() checks before it gives up.
 */
#define SLOTS_AHEAD	64

/*
 * Number of slots that one search for an occupied slot passes, because a wheel
 * may have a million. A multiple of the bits of a word.
 */
#define SLOTS_SEARCHED	4096

static u32 slot_mask(const struct twheel_scheme *s)
{
	return s->nr_slots - 1;
}

/* Returns the tick at which a node expires if it is started now. */
static u64 due_tick(const struct twheel_scheme *s, u64 expires)
{
	return expires > s->clock ? expires : s->clock + 1;
}

static u32 slot_for(const struct twheel_scheme *s, u64 expires)
{
	return due_tick(s, expires) & slot_mask(s);
}

/*
 * Returns the first tick at which the hand has to visit an occupied slot. Does
 * not overflow: a node joined the slot for this tick or for a later round.
 */
static u64 slot_tick(const struct twheel_scheme *s, u32 nr)
{
	u64 first = s->slots[nr].first;

	return first + ((nr - (u32)first) & slot_mask(s));
}

static void limit_skip(struct twheel_scheme *s, u64 tick)
{
	if (tick < s->skip_until)
		s->skip_until = tick;
}

static void hashed_insert(struct twheel_scheme *s, struct twheel_node *node)
{
	u32 nr = slot_for(s, node->expires);
	struct twheel_slot *slot = &s->slots[nr];
	struct list_head *head = &slot->nodes;

	if (list_empty(head)) {
		__set_bit(nr, s->occupied);
		slot->lazy = 0;
		slot->first = U64_MAX;
	}
	slot->first = min(slot->first, node->expires);
	limit_skip(s, node->expires);
	node->hint = 0;
	slot->count++;
	twheel_link(&node->link, head->prev, head);
}

/* See twheel_scheme.h for this function and others without a comment. */
void twheel_hashed_start(struct twheel_scheme *s, struct twheel_node *node)
{
	hashed_insert(s, node);
	s->pending++;
}

/* Take a node out of its slot, and move the hand on if it waits at the node. */
void twheel_hashed_leave(struct twheel_scheme *s, struct twheel_node *node)
{
	if (s->hand == &node->link)
		s->hand = node->link.next;
	twheel_slot_leave(s, node);
}

bool twheel_hashed_restart(struct twheel_scheme *s, struct twheel_node *node,
			   u64 expires)
{
	u32 nr = slot_for(s, node->expires);
	bool stays = expires >= node->expires &&
		     twheel_slot_may_stay(&s->slots[nr], node);

	/* See twheel_scheme_refresh(). */
	WRITE_ONCE(node->expires, expires);
	if (stays)
		return false;
	twheel_hashed_leave(s, node);
	hashed_insert(s, node);
	return true;
}

/* Let the hand leave slot @nr, all nodes of which belong to later rounds. */
static void leave_slot(struct twheel_scheme *s, u32 nr)
{
	s->hand = NULL;
	if (!list_empty(&s->slots[nr].nodes))
		limit_skip(s, slot_tick(s, nr));
}

/*
 * Leave a node that is not due in slot @nr, or move it if its tick has another
 * slot.
 */
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
	hashed_insert(s, node);
	s->cascaded++;
}

/*
 * Visit the rest of the slot of this tick, up to the next due node. Take out
 * and return that node. Nodes that are started into the slot join at the tail
 * and are visited too, but none of them is due at this tick.
 */
static struct twheel_node *scan_slot(struct twheel_scheme *s, int *work)
{
	u32 nr = s->clock & slot_mask(s);
	struct twheel_node *node;

	while (s->hand != &s->slots[nr].nodes) {
		if (*work <= 0)
			return NULL;
		if (!twheel_slot_is_intact(s->hand)) {
			twheel_slot_drop(s, &s->slots[nr]);
			break;
		}
		node = list_entry(s->hand, struct twheel_node, link);
		s->hand = node->link.next;
		prefetch(s->hand);
		if (twheel_slot_is_due(node, s->clock)) {
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

/*
 * Let the hand pass an occupied slot if its nodes belong to later rounds.
 * Otherwise let it begin to visit them.
 */
static void enter_slot(struct twheel_scheme *s, u32 nr, int *work)
{
	struct twheel_slot *slot = &s->slots[nr];

	if (slot->first > s->clock) {
		leave_slot(s, nr);
		--*work;
	} else {
		slot->first = U64_MAX;
		slot->lazy = 0;
		s->hand = slot->nodes.next;
	}
}

/*
 * Returns @tick, or the begin of the next round with work for the hand if that
 * is later.
 */
static u64 next_round(const struct twheel_scheme *s, u64 tick)
{
	return max(tick, s->skip_until & ~(u64)slot_mask(s));
}

/*
 * Move the hand to the next occupied slot, but not beyond @target or this
 * round. At the begin of a round use skip_until, and compute it again. It
 * remains valid as long as it is beyond @target.
 */
static void hashed_advance(struct twheel_scheme *s, u64 target, int *work)
{
	u64 from = s->clock + 1, last;
	u32 mask = slot_mask(s), nr;

	if (!(from & mask)) {
		from = next_round(s, from);
		if (from > target) {
			s->clock = target;
			return;
		}
		s->skip_until = U64_MAX;
	}
	last = min(from | min(mask, SLOTS_SEARCHED - 1U), target);
	nr = find_next_bit(s->occupied, (u32)(last & mask) + 1, from & mask);
	if (nr > (last & mask)) {
		s->clock = last;
		if (last < min(from | mask, target))
			--*work;
		return;
	}
	s->clock = from + (nr - (from & mask));
	enter_slot(s, nr, work);
}

/*
 * PER_TICK_BOOKKEEPING and the first half of EXPIRY_PROCESSING of the paper.
 * Slots of later rounds that the hand passes, and searches that find no
 * occupied slot, count as @work, too.
 */
struct twheel_node *twheel_hashed_pop(struct twheel_scheme *s, u64 target,
				      int *work)
{
	struct twheel_node *node;

	while (*work > 0) {
		if (s->hand) {
			node = scan_slot(s, work);
			if (node)
				return node;
		} else if (s->clock >= target) {
			return NULL;
		} else if (!s->pending) {
			s->clock = target;
		} else {
			hashed_advance(s, target, work);
		}
	}
	return NULL;
}

/*
 * Returns the number of slots from @nr on, around the ring, before the next
 * occupied slot, but SLOTS_SEARCHED at most. Returns the number of all slots if
 * none is occupied.
 */
static u32 free_slots_from(const struct twheel_scheme *s, u32 nr)
{
	u32 end = min_t(u32, nr + SLOTS_SEARCHED, s->nr_slots);
	u32 found = find_next_bit(s->occupied, end, nr);

	if (found < end || end < s->nr_slots)
		return found - nr;
	return end - nr +
	       find_first_bit(s->occupied,
			      min_t(u32, nr, SLOTS_SEARCHED - (end - nr)));
}

/*
 * Look for a slot that is due in the coming round. Give up after SLOTS_AHEAD
 * occupied slots or SLOTS_SEARCHED slots, and return the tick reached by then:
 * the wheel wakes up there, and may find nothing to do.
 */
u64 twheel_hashed_next(const struct twheel_scheme *s)
{
	u64 tick = s->clock, next = U64_MAX;
	u32 mask = slot_mask(s), checked, nr;

	if (!s->pending)
		return U64_MAX;
	if (s->hand || s->clock == U64_MAX)
		return s->clock;
	for (checked = 0; checked <= SLOTS_AHEAD; checked++) {
		tick += 1 + free_slots_from(s, (tick + 1) & mask);
		if (tick - s->clock > s->nr_slots)
			return next;
		nr = tick & mask;
		if (!test_bit(nr, s->occupied))
			return tick;
		if (s->slots[nr].first <= tick || tick - s->clock > SLOTS_SEARCHED)
			return tick;
		next = min(next, slot_tick(s, nr));
	}
	return tick;
}
