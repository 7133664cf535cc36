// SPDX-License-Identifier: GPL-2.0
/*
 * Scheme 7, the hierarchical wheel
 *
 * After section 6.2 of Varghese and Lauck, "Hashed and Hierarchical Timing
 * Wheels" (1987, 1997). A tick is read as a number of digits of
 * TWHEEL_HIER_BITS bits, one level a digit. A slot of level l is as wide as a
 * window of level l - 1:
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
 * The width of a digit is what measuring gave. The more slots a level has the
 * more rarely a node is moved, and at a million timers moving is what costs.
 * Documentation/design.rst has the figures of other widths.
 *
 * Two windows a level. In the textbook wheel a slot of the outer level is
 * moved down in one go when the inner level has gone round. A million timers
 * in it make one very late tick. Here each level is a ring of two windows,
 * the current one and the next. While the inner level is in its current
 * window, the next outer slot is moved into the other window. Each tick moves
 * as many nodes as are left divided by the ticks that are left, and the slot
 * is empty when it is due.
 *
 * A node is kept at the lowest level whose two windows reach its tick. The
 * order follows from that. For one expiry tick:
 *
 *  - As the clock goes on that level only gets lower. Of two nodes with this
 *    tick the one further out was started first.
 *
 *  - An outer slot is moved down from its tail. Each node goes to the head of
 *    its inner slot, ahead of those that were started there meanwhile.
 *
 *  - Nodes go down one level at a time, and outer levels move before inner
 *    ones. No node passes another.
 *
 * Hence FIFO at every level, in every state between two moves. Nothing depends
 * on when the moves are made, as long as the slot is empty in time.
 *
 * A restart to a later tick writes the tick and moves nothing. The node is then
 * in a slot that comes too early. The tick that moves or expires the slot finds
 * it there and puts it where it belongs. What is in level 0 has to be moved
 * in one tick, so that only a number of nodes of a slot may stay like that.
 *
 * What is remembered between two ticks:
 *
 *  - No level has a node to move down before tick @recheck, and no level above
 *    @top before tick @window.
 *
 *  - Nothing is started into the outer slot that comes next, because the level
 *    below reaches it. Only a cascade from above joins it.
 *
 *  - @reach has the ends of what the three lowest levels reach from the clock.
 *
 *  - A slot whose last node was stopped or restarted keeps its bit in @occupied, until
 *    has_nodes() looks at it. To find the slot is more than a fifth of a stop.
 *
 *  - A node in level 0 without TWHEEL_SLOT_MAY_STAY is in the slot of its tick,
 *    or of the tick after the clock if it was started late.
 */
#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/prefetch.h>

#include "twheel_scheme.h"

/*
 * A tickless wheel wakes so long before an outer slot is due that moving this
 * many nodes per tick empties it in time.
 */
#define MOVES_PER_WAKEUP	64

/*
 * Small shares of a cascade, of at most so many nodes, are moved together: so many
 * nodes, and those of so many ticks, at most.
 */
#define CASCADE_SMALL		16U
#define CASCADE_MOVES		64U
#define CASCADE_TICKS		16U

/* So many nodes that were refreshed in one slot are a crowd. */
#define CROWD			64

/* Groups of 64 slots that a level has. */
#define GROUPS		(TWHEEL_HIER_RING / 64)
#define GROUPS_MASK	(BIT(GROUPS) - 1)

static u32 first_bit(u64 bits)
{
	u32 low = bits;

	if (BITS_PER_LONG == 64)
		return __ffs(bits);
	return low ? __ffs(low) : 32 + __ffs((u32)(bits >> 32));
}

/**
 * twheel_hier_join_empty - put a node into an empty slot
 * @s: the scheme
 * @slot: the slot
 * @node: a node that is in no slot
 * @flags: TWHEEL_SLOT_MAY_STAY or 0
 *
 * The slot's hints are from another time: until they are replaced they lead to
 * @node.
 */
void twheel_hier_join_empty(struct twheel_scheme *s, struct twheel_slot *slot,
			    struct twheel_node *node, u32 flags)
{
	u32 i;

	for (i = 0; i < TWHEEL_SLOT_HINTS; i++)
		slot->where[i] = twheel_slot_where(node);
	twheel_slot_occupy_hier(s, slot, slot - s->slots);
	twheel_link(&node->link, &slot->nodes, &slot->nodes);
	node->hint = flags;
	slot->count = 1;
}

/**
 * twheel_hier_join_torn - put a node into a slot whose list is torn
 * @s: the scheme
 * @slot: the slot
 * @node: a node that is in no slot
 * @flags: TWHEEL_SLOT_MAY_STAY or 0
 * @tail: at the tail, not the head
 */
void twheel_hier_join_torn(struct twheel_scheme *s, struct twheel_slot *slot,
			   struct twheel_node *node, u32 flags, bool tail)
{
	struct list_head *head = &slot->nodes;

	twheel_slot_mend(s, slot);
	if (list_empty(head)) {
		twheel_hier_join_empty(s, slot, node, flags);
		return;
	}
	node->hint = flags;
	slot->count++;
	if (tail)
		twheel_link(&node->link, head->prev, head);
	else
		twheel_link(&node->link, head, head->next);
}

/**
 * twheel_hier_place_far - put a node where the three lowest levels do not reach
 * @s: the scheme
 * @node: a node that is in no slot
 *
 * The part of twheel_hier_place() that is not inlined.
 */
void twheel_hier_place_far(struct twheel_scheme *s, struct twheel_node *node)
{
	unsigned int level = twheel_hier_level(s->clock, node->expires);
	u32 nr = twheel_hier_slot(level, node->expires);

	twheel_hier_join_tail(s, &s->slots[nr], node, TWHEEL_SLOT_MAY_STAY);
}

/* Whether slot @nr has nodes. Its last one may have been stopped or restarted. */
static bool has_nodes(struct twheel_scheme *s, u32 nr)
{
	struct twheel_slot *slot = &s->slots[nr];

	if (!test_bit(nr, s->occupied))
		return false;
	if (!list_empty(&slot->nodes))
		return true;
	twheel_slot_vacate_hier(s, slot, nr);
	return false;
}

/* The slot of @level that is to be empty when the inner level goes round. */
static u32 next_outer_slot(const struct twheel_scheme *s, unsigned int level)
{
	u64 next = (s->clock >> twheel_hier_shift(level)) + 1;

	return level * TWHEEL_HIER_RING + (next & TWHEEL_HIER_MASK);
}

/* Ticks from the clock until the next slot of @level is due, at least 1. */
static u64 ticks_left(const struct twheel_scheme *s, unsigned int level)
{
	unsigned int shift = twheel_hier_shift(level);

	return (((s->clock >> shift) + 1) << shift) - s->clock;
}

/*
 * This tick's share of what has to be moved down from @level. Rounding down
 * starts as late as one node per tick allows, for most nodes are stopped
 * before that. With one tick left the share is all, whatever the slot's count
 * says: it may have overflowed. Looking costs as much as some moves, so that small
 * shares of a few ticks are moved in the first of these.
 */
static u32 cascade_share(struct twheel_scheme *s, unsigned int level)
{
	u32 nr = next_outer_slot(s, level), share, ticks;
	u64 left, count, recheck = s->recheck;

	if (!has_nodes(s, nr))
		return 0;
	left = ticks_left(s, level);
	count = clamp_t(u64, s->slots[nr].count, 1, s->pending);
	if (left > count) {
		s->recheck = min(s->recheck, s->clock + (left - count));
		return 0;
	}
	s->recheck = s->clock + 1;
	if (left == 1)
		return U32_MAX;
	share = (u32)count / (u32)left;
	ticks = min(CASCADE_MOVES / share, CASCADE_TICKS);
	if (share > CASCADE_SMALL || ticks >= left)
		return share;
	s->recheck = min(recheck, s->clock + ticks);
	return ticks * share;
}

/**
 * twheel_hier_next_level - go on to the next level that has nodes to move
 * @s: the scheme
 *
 * Outer levels come first. The first node to be moved is asked for now.
 */
void twheel_hier_next_level(struct twheel_scheme *s)
{
	u32 level = s->level, quota = 0;

	while (--level && !(quota = cascade_share(s, level)))
		;
	s->level = level;
	s->quota = quota;
	if (!level)
		return;
	s->from = &s->slots[next_outer_slot(s, level)];
	/* What would be 2^64 moves its last nodes by the longer way. */
	s->from_end = level == 1 ? s->clock + ticks_left(s, 1) +
				   TWHEEL_HIER_WINDOW : 0;
	prefetchw(s->from->nodes.prev);
}

/**
 * twheel_hier_move_far - move a node down to level 1 or further out
 * @s: the scheme
 * @node: a node that was taken out of @s->from, or is about to be
 *
 * The part of twheel_hier_move() that is not inlined.
 */
void twheel_hier_move_far(struct twheel_scheme *s, struct twheel_node *node)
{
	u64 slot = node->expires >> twheel_hier_shift(s->level);
	u32 nr;

	if (slot != (s->clock >> twheel_hier_shift(s->level)) + 1) {
		twheel_hier_place(s, node, node->expires);
		return;
	}
	nr = twheel_hier_slot(s->level - 1, node->expires);
	twheel_hier_join_head(s, &s->slots[nr], node,
			      s->level > 1 ? TWHEEL_SLOT_MAY_STAY : 0, true);
}

/* The last @moved nodes of the slot that is being emptied are in others now. */
static void leave_from(struct twheel_scheme *s, struct list_head *last,
		       u32 moved)
{
	struct twheel_slot *from = s->from;

	if (!moved)
		return;
	from->count -= moved;
	s->quota -= moved;
	s->cascaded += moved;
	twheel_unlink(last, &from->nodes);
	if (last == &from->nodes)
		twheel_slot_vacate_hier(s, from, from - s->slots);
}

/*
 * Move the last nodes of the outer slot that is being emptied, as twheel_hier_move()
 * does for one. They leave the slot all at once, when they are in other slots. Those
 * that go to level 0 are so few in each slot there that hints would gain nothing.
 */
static noinline void cascade(struct twheel_scheme *s, int *work)
{
	struct twheel_slot *from = s->from, *slots = s->slots;
	struct list_head *head = &from->nodes, *last = head->prev, *prev;
	u32 most = min_t(u32, s->quota, *work), left = most;
	bool torn = !twheel_slot_mutual(last, head);
	u64 end = s->from_end;
	struct twheel_node *node;
	struct twheel_slot *to;

	for (; left && last != head && likely(!torn); left--) {
		prev = last->prev;
		if (unlikely(!twheel_slot_mutual(prev, last))) {
			torn = true;
			break;
		}
		node = list_entry(last, struct twheel_node, link);
		twheel_slot_take_hint(node);
		if (likely(node->expires < end)) {
			to = &slots[node->expires & TWHEEL_HIER_MASK];
			twheel_hier_join_head(s, to, node, 0, false);
		} else {
			twheel_hier_move_far(s, node);
		}
		last = prev;
	}
	leave_from(s, last, most - left);
	*work -= most - left;
	if (unlikely(torn))
		twheel_slot_mend(s, from);
	if (!s->quota || list_empty(head))
		twheel_hier_next_level(s);
}

/*
 * What the levels have to do at this tick, and when to look again. The next slot
 * of a level is another one only where a window of level 0 ends.
 */
static void look_at_levels(struct twheel_scheme *s)
{
	u32 top;

	if (s->clock >= s->window) {
		top = TWHEEL_HIER_LEVELS - 1;
		while (top && !test_bit(next_outer_slot(s, top), s->occupied))
			top--;
		s->top = top;
		twheel_hier_set_window(s);
	}
	s->recheck = s->window;
	s->level = s->top + 1;
	twheel_hier_next_level(s);
}

/*
 * A node of the clock's slot was restarted to a later tick. Of a crowd the last
 * to join goes first, unless it is due, because hints lead on from it. A few go
 * in the order of their starts.
 */
static void move_refreshed(struct twheel_scheme *s, int *work)
{
	struct twheel_slot *slot = twheel_hier_due_slot(s);
	struct list_head *last = slot->nodes.prev;
	struct twheel_node *node = list_entry(last, struct twheel_node, link);

	if (unlikely(!twheel_slot_first(s, slot) ||
		     !twheel_slot_mutual(last, &slot->nodes) ||
		     !twheel_slot_mutual(last->prev, last))) {
		twheel_slot_mend(s, slot);
		return;
	}
	if (slot->stale < CROWD || node->expires <= s->clock)
		node = list_first_entry(&slot->nodes, struct twheel_node, link);
	twheel_slot_take_hint(node);
	twheel_slot_leave(s, node);
	twheel_hier_place(s, node, node->expires);
	s->cascaded++;
	--*work;
}

/* Ask for the first two nodes of the next tick, the second by the first. */
static __always_inline void expect_next_tick(const struct twheel_scheme *s)
{
	u32 next = twheel_hier_slot(0, s->clock + 1);
	u32 after = twheel_hier_slot(0, s->clock + 2);

	prefetchw(s->slots[next].nodes.next->next);
	prefetchw(s->slots[after].nodes.next);
}

/*
 * On to the next tick, or to the next but @target at which there is work.
 * Returns the slot of that tick.
 */
static struct twheel_slot *step(struct twheel_scheme *s, u64 target)
{
	if (target - s->clock > 1) {
		s->clock = min(twheel_hier_next(s), target);
		s->window = s->clock;
		s->recheck = s->clock;
	} else {
		s->clock = target;
	}
	if (s->clock >= s->recheck)
		look_at_levels(s);
	expect_next_tick(s);
	return twheel_hier_due_slot(s);
}

/* Whether this tick moves the share of the next ones too. */
static bool is_small(const struct twheel_scheme *s)
{
	return s->recheck - s->clock > 1;
}

static noinline struct twheel_node *pop(struct twheel_scheme *s, u64 target,
					int *work)
{
	struct twheel_slot *slot = twheel_hier_due_slot(s);
	struct twheel_node *node;
	u64 moved;

	while (*work > 0) {
		while (s->quota && is_small(s) && *work > 0)
			cascade(s, work);
		if (*work <= 0)
			return NULL;
		if (s->quota || !list_empty(&slot->nodes)) {
			moved = s->cascaded;
			if (!twheel_hier_due(s, slot, true, &node))
				node = NULL;
			*work -= s->cascaded - moved;
			if (node || *work <= 0)
				return node;
		}
		if (!list_empty(&slot->nodes))
			move_refreshed(s, work);
		else if (s->quota)
			continue;
		else if (s->clock < target)
			slot = step(s, target);
		else
			return NULL;
	}
	return NULL;
}

/* The clock has just come to a tick with nothing to move, whose slot is @slot. */
static noinline struct twheel_node *pop_first(struct twheel_scheme *s,
					      struct twheel_slot *slot,
					      int *work)
{
	struct twheel_node *node;

	expect_next_tick(s);
	if (likely(twheel_hier_due(s, slot, false, &node)))
		return node;
	return pop(s, s->clock, work);
}

/* As list_empty(), without READ_ONCE(): that costs an empty tick two instructions. */
static bool is_empty(const struct twheel_slot *slot)
{
	return slot->nodes.next == &slot->nodes;
}

/**
 * twheel_hier_pop - take out the next due node, see twheel_scheme_pop()
 * @s: the scheme
 * @target: the tick to go on to
 * @work: how many nodes may be moved
 *
 * PER_TICK_BOOKKEEPING and the first half of EXPIRY_PROCESSING of the paper.
 *
 * A slot to be moved and a slot to expire are two chains of nodes. With many timers
 * these come from memory. Then they are taken in turn, one node of each, so that
 * both wait at the same time. A small share is moved in one go: that takes fewer
 * instructions.
 *
 * Return: a node, or NULL.
 */
struct twheel_node *twheel_hier_pop(struct twheel_scheme *s, u64 target,
				    int *work)
{
	struct twheel_slot *slot = twheel_hier_due_slot(s);
	u64 ahead = target - s->clock;

	if (s->quota || !is_empty(slot))
		return pop(s, target, work);
	/* Most ticks: nothing to move. With few timers nothing is due either. */
	if (ahead == 1 && target < s->recheck) {
		s->clock = target;
		slot = twheel_hier_due_slot(s);
		if (is_empty(slot))
			return NULL;
		return pop_first(s, slot, work);
	}
	/* The end of a tick at which timers have expired. */
	if (!ahead)
		return NULL;
	return pop(s, target, work);
}

/* Distance from the clock's slot of @level to the next with its bit set, or 0. */
static unsigned int next_set(const struct twheel_scheme *s, unsigned int level)
{
	u32 here = twheel_hier_slot(level, s->clock);
	u32 first = level * TWHEEL_HIER_RING;
	u32 from = first + ((here + 1) & TWHEEL_HIER_MASK);
	u64 bits = twheel_slot_group(s, from) & (U64_MAX << (from % 64));
	u32 groups, group = from / 64;

	if (!bits) {
		/* The groups after that of @from, and it again, in the ring. */
		groups = (s->groups >> (first / 64)) & GROUPS_MASK;
		groups |= groups << GROUPS;
		groups >>= group % GROUPS + 1;
		if (!(groups & GROUPS_MASK))
			return 0;
		group = first / 64 +
			((group + 1 + __ffs(groups)) & (GROUPS - 1));
		bits = twheel_slot_group(s, group * 64);
	}
	return (group * 64 + first_bit(bits) - here) & TWHEEL_HIER_MASK;
}

/* Distance from the clock's slot of @level to the next that has nodes, or 0. */
static unsigned int next_occupied(struct twheel_scheme *s, unsigned int level)
{
	u32 here = twheel_hier_slot(level, s->clock), distance;

	do {
		distance = next_set(s, level);
	} while (distance &&
		 !has_nodes(s, level * TWHEEL_HIER_RING +
			       ((here + distance) & TWHEEL_HIER_MASK)));
	return distance;
}

/*
 * When moving down has to begin with @slot, counted from tick 0 in slots of
 * @level. It is to be empty one tick before it is due, whose expiries come
 * first in that tick.
 */
static u64 cascade_tick(const struct twheel_scheme *s, unsigned int level,
			u64 slot)
{
	unsigned int shift = twheel_hier_shift(level);
	u32 nr = level * TWHEEL_HIER_RING + (slot & TWHEEL_HIER_MASK);
	u64 lead = min_t(u64, s->slots[nr].count / MOVES_PER_WAKEUP,
			 (1ULL << shift) - 1);

	return max((slot << shift) - 1 - lead, s->clock + 1);
}

/**
 * twheel_hier_next - the next tick with work, see twheel_scheme_next()
 * @s: the scheme
 *
 * Return: a tick, or U64_MAX if nothing is pending.
 */
u64 twheel_hier_next(struct twheel_scheme *s)
{
	unsigned int level, distance;
	u64 next = U64_MAX, slot;

	if (s->level || !list_empty(&twheel_hier_due_slot(s)->nodes))
		return s->clock;
	if (s->groups & GROUPS_MASK) {
		distance = next_occupied(s, 0);
		if (distance)
			next = s->clock + distance;
	}
	for (level = 1; level < TWHEEL_HIER_LEVELS &&
	     s->groups >> (level * GROUPS); level++) {
		if (!((s->groups >> (level * GROUPS)) & GROUPS_MASK))
			continue;
		slot = s->clock >> twheel_hier_shift(level);
		distance = next_occupied(s, level);
		if (distance)
			next = min(next, cascade_tick(s, level, slot + distance));
	}
	return next;
}

/**
 * twheel_hier_wakeup - until when a node can wait, see twheel_scheme_wakeup()
 * @s: the scheme
 * @node: a node that was placed just now
 *
 * Return: a tick.
 */
u64 twheel_hier_wakeup(const struct twheel_scheme *s,
		       const struct twheel_node *node)
{
	u64 tick = max(node->expires, s->clock + 1);
	unsigned int level = twheel_hier_level(s->clock, tick);

	if (!level)
		return node->expires;
	return cascade_tick(s, level,
			    node->expires >> twheel_hier_shift(level));
}
