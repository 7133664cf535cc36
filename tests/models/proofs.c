// SPDX-License-Identifier: GPL-2.0
/*
 * The arithmetic of the wheels, for all values
 *
 * Each prove_*() is called with any arguments and must return true. ASSUME()
 * says which arguments count. tests/models/prove compiles this file with the
 * module's own sources and has Z3 look for arguments with which one returns false.
 *
 * What a proof takes for granted of a state, twheel_scheme.h, twheel_hier.c and
 * twheel_share.c say of every state. Those are the invariants that the suites in
 * tests/kunit check.
 *
 * BROKEN_BY(proof, file, old, new): with that change of the file, the proof fails.
 */
#define TWHEEL_SLOT_CHECKED	0
#define TWHEEL_SLOT_REPORT(...)	do { } while (0)
#include "twheel_hier.c"
#include "twheel_share.c"

#include <linux/ktime.h>
#include <linux/math64.h>

#define ASSUME(condition)	do { if (!(condition)) return true; } while (0)
#define BROKEN_BY(...)

/* Ticks and deadlines: functions of files that need a kernel. */

/* struct twheel_base, as far as they look at it. */
struct twheel_base {
	u32 tick_ns;
};

static ktime_t the_time;
#define ktime_get()	the_time

/* CUT twheel_base.h twheel_tick_of */
#include "cut/twheel_tick_of.h"
/* CUT twheel_base.h twheel_time_of */
#include "cut/twheel_time_of.h"
/* CUT twheel_base.h twheel_tick_above */
#include "cut/twheel_tick_above.h"
/* CUT twheel_timer.c round_up_to_tick */
#include "cut/round_up_to_tick.h"
/* CUT twheel_timer.c deadline_after */
#include "cut/deadline_after.h"

/* A timer is due at the first tick that is not before its deadline. */
BROKEN_BY(rounding, "twheel_timer.c", "above(base, deadline + base->tick_ns - 1",
	  "above(base, deadline + base->tick_ns")
bool prove_rounding(u64 deadline, u32 tick_ns)
{
	struct twheel_base base = { .tick_ns = tick_ns };
	u32 offset_ns;
	u64 time;

	ASSUME(tick_ns && deadline <= KTIME_MAX);
	time = round_up_to_tick(&base, deadline, &offset_ns) * tick_ns;
	return time >= deadline && time - deadline < tick_ns;
}

/* twheel_deadline() returns what the timer was started with. */
BROKEN_BY(deadline, "include/linux/twheel.h", "node.offset_ns) + 1",
	  "node.offset_ns)")
bool prove_deadline(u64 deadline, u32 tick_ns)
{
	struct twheel_base base = { .tick_ns = tick_ns };
	struct twheel_timer timer;
	u32 offset_ns;

	ASSUME(tick_ns && deadline && deadline <= KTIME_MAX);
	timer.node.expires = round_up_to_tick(&base, deadline, &offset_ns);
	timer.node.offset_ns = offset_ns;
	return twheel_expired_deadline(&timer, tick_ns) == deadline;
}

/* The tick that the clock has reached is not one that is still to come. */
BROKEN_BY(tick_of_time, "twheel_base.h", "div_u64(now, base->tick_ns)",
	  "div_u64(now, base->tick_ns) + 1")
bool prove_tick_of_time(u64 now, u32 tick_ns)
{
	struct twheel_base base = { .tick_ns = tick_ns };
	u64 tick;

	ASSUME(tick_ns && now <= KTIME_MAX);
	tick = twheel_tick_of(&base, now);
	return tick * tick_ns <= now && now - tick * tick_ns < tick_ns;
}

/* A delay never wraps to a time that has passed. */
BROKEN_BY(delay, "twheel_timer.c", "(s64)(deadline | delay_ns) < 0",
	  "(s64)deadline < 0")
bool prove_delay(u64 now, u64 delay_ns)
{
	u64 deadline;

	ASSUME(now <= KTIME_MAX);
	the_time = now;
	deadline = deadline_after(delay_ns);
	if (delay_ns > KTIME_MAX - now)
		return deadline == KTIME_MAX;
	return deadline == now + delay_ns;
}

/* Levels and slots. */

/* Whether the current window of @level and the next one reach @tick. */
static bool reaches(u64 clock, unsigned int level, u64 tick)
{
	unsigned int shift = twheel_hier_shift(level + 1);

	return shift > 63 || (tick >> shift) - (clock >> shift) <= 1;
}

/* The level is the lowest one that reaches the tick. */
BROKEN_BY(level, "twheel_hier.h", "<= 1))\n\t\tlevel--", "<= 2))\n\t\tlevel--")
bool prove_level(u64 clock, u64 tick)
{
	unsigned int level;

	ASSUME(tick > clock);
	level = twheel_hier_level(clock, tick);
	return level < TWHEEL_HIER_LEVELS && reaches(clock, level, tick) &&
	       (!level || !reaches(clock, level - 1, tick));
}

/* Two ticks that one level reaches have one slot only if they have one width. */
BROKEN_BY(slot, "twheel_hier.h", "(2 * TWHEEL_HIER_WINDOW)", "TWHEEL_HIER_WINDOW")
bool prove_slot(u64 clock, unsigned int level, u64 one, u64 other)
{
	unsigned int shift = twheel_hier_shift(level);
	u32 nr;

	ASSUME(level < TWHEEL_HIER_LEVELS && one >= clock && other >= clock);
	ASSUME(reaches(clock, level, one) && reaches(clock, level, other));
	nr = twheel_hier_slot(level, one);
	return nr / TWHEEL_HIER_RING == level &&
	       (nr == twheel_hier_slot(level, other)) ==
	       (one >> shift == other >> shift);
}

/* What is remembered of the reach holds until the window ends. */
BROKEN_BY(reach, "twheel_hier.h", "+ 2) << shift", "+ 1) << shift")
bool prove_reach(u64 begin, u64 clock, u64 tick)
{
	struct twheel_scheme s = { .clock = begin };
	unsigned int level;

	twheel_hier_set_window(&s);
	/* The last window of all has no end. */
	ASSUME(clock >= begin && (clock < s.window || !s.window));
	ASSUME(tick >= clock && tick != U64_MAX);
	for (level = 0; level < 3; level++) {
		bool reached = tick < s.reach[level];

		if (reached != reaches(clock, level, tick))
			return false;
	}
	return true;
}

/* Where twheel_hier_place() puts a node. */
static struct twheel_slot *the_slot;

#define twheel_hier_place		place
#define twheel_hier_place_far		place_far
#define twheel_hier_join_tail(s, slot, ...)	(the_slot = (slot))
/* CUT twheel_hier.c twheel_hier_place_far */
#include "cut/twheel_hier_place_far.h"
/* CUT twheel_hier.h twheel_hier_place */
#include "cut/twheel_hier_place.h"
#undef twheel_hier_place
#undef twheel_hier_place_far
#undef twheel_hier_join_tail

/* A node that is started comes to the lowest level that reaches its tick. */
BROKEN_BY(place, "twheel_hier.h", "tick < s->reach[1]", "tick <= s->reach[1]")
bool prove_place(struct twheel_slot *slots, u64 clock, u64 tick)
{
	struct twheel_scheme s = { .clock = clock, .slots = slots };
	struct twheel_node node = { .expires = tick };
	u64 due = max(tick, clock + 1);
	unsigned int level = 0;

	ASSUME(clock < KTIME_MAX && tick <= KTIME_MAX);
	twheel_hier_set_window(&s);
	place(&s, &node, tick);
	while (!reaches(clock, level, due))
		level++;
	return the_slot == &slots[twheel_hier_slot(level, due)];
}

/* What a cascade moves into level 0 has a slot there, and the clock's is another. */
BROKEN_BY(ticks_left, "twheel_hier.c", "shift) + 1) << shift) - s->clock",
	  "shift) + 2) << shift) - s->clock")
bool prove_ticks_left(u64 clock, u64 tick)
{
	struct twheel_scheme s = { .clock = clock };
	u64 next = (clock >> TWHEEL_HIER_BITS) + 1;

	ASSUME(clock < KTIME_MAX && tick >= next << TWHEEL_HIER_BITS);
	if (tick >= clock + ticks_left(&s, 1) + TWHEEL_HIER_WINDOW)
		return tick >> TWHEEL_HIER_BITS != next;
	return tick >> TWHEEL_HIER_BITS == next && reaches(clock, 0, tick);
}

/* Hints: what one node says of another leads there. */
BROKEN_BY(hint, "twheel_slot.h", "unsigned long)(s32)hint", "unsigned long)hint")
bool prove_hint(u64 one, u64 other)
{
	const struct twheel_node *node = (void *)one, *target = (void *)other;
	u32 hint;

	ASSUME(one % sizeof(long) == 0 && other % sizeof(long) == 0);
	ASSUME(other - one + (1ULL << 33) < 1ULL << 34);
	hint = twheel_slot_where(target) - twheel_slot_where(node);
	return !(hint & TWHEEL_SLOT_MAY_STAY) &&
	       twheel_slot_hinted(node, hint) == target;
}

/* Moving down. */

/*
 * A slot is empty when it is due. Its last tick moves all, and no look at it comes
 * later than that.
 */
BROKEN_BY(share_of_a_tick, "twheel_hier.c", "s->clock + (left - count)",
	  "s->clock + (left - count) + 1")
bool prove_share_of_a_tick(struct twheel_slot *slots, unsigned long *occupied,
			   u64 clock, unsigned int level, u64 pending, u64 recheck)
{
	struct twheel_scheme s = {
		.clock = clock, .slots = slots, .occupied = occupied,
		.pending = pending, .recheck = recheck,
	};
	u64 left, shift;
	u32 nr, share;

	ASSUME(level && level < TWHEEL_HIER_LEVELS && pending);
	ASSUME(recheck > clock);
	shift = level * TWHEEL_HIER_BITS;
	/* There is a next slot. */
	ASSUME((clock >> shift) < (U64_MAX >> shift));
	left = (((clock >> shift) + 1) << shift) - clock;
	nr = level * TWHEEL_HIER_RING + ((clock >> shift) + 1) % TWHEEL_HIER_RING;
	ASSUME(occupied[nr / 64] & (1UL << nr % 64));
	ASSUME(slots[nr].nodes.next != &slots[nr].nodes);
	ASSUME(slots[nr].count);
	share = cascade_share(&s, level);
	if (left == 1)
		return share == U32_MAX;
	return s.recheck > clock && s.recheck <= clock + left - 1 &&
	       share <= slots[nr].count;
}

/*
 * A base that dozes wakes before an outer slot is due, and so early that moving
 * MOVES_PER_WAKEUP nodes a tick empties it. If that is more than a window it has
 * the whole window.
 */
BROKEN_BY(wakes_for_a_slot, "twheel_hier.c", "(slot << shift) - 1 - lead, s->clock + 1",
	  "(slot << shift) - 1, s->clock + 1")
bool prove_wakes_for_a_slot(struct twheel_slot *slots, u64 clock,
			    unsigned int level, u64 slot)
{
	struct twheel_scheme s = { .clock = clock, .slots = slots };
	u64 shift = level * TWHEEL_HIER_BITS, tick, due, moves;

	ASSUME(level && level < TWHEEL_HIER_LEVELS);
	ASSUME(slot <= (U64_MAX >> shift) && slot > (clock >> shift));
	due = slot << shift;
	tick = cascade_tick(&s, level, slot);
	if (tick <= clock || tick > max(due - 1, clock + 1))
		return false;
	moves = slots[level * TWHEEL_HIER_RING + slot % TWHEEL_HIER_RING].count;
	return tick == clock + 1 || tick == due - (1ULL << shift) ||
	       (due - tick) * MOVES_PER_WAKEUP >= moves;
}

/* Whether slot @nr has nodes. */
static bool has(const unsigned long *occupied, u32 nr)
{
	return occupied[nr / 64] & (1UL << nr % 64);
}

/* @groups says of each word of one level whether it has a bit set. */
static bool groups_are_right(const unsigned long *occupied, u64 groups,
			     unsigned int level)
{
	unsigned int i;

	for (i = level * GROUPS; i < (level + 1) * GROUPS; i++)
		if ((groups >> i & 1) != !!occupied[i])
			return false;
	return true;
}

/* The next slot of a level with its bit set is found, and there is none before it. */
BROKEN_BY(next_set, "twheel_hier.c", "groups >>= group % GROUPS + 1",
	  "groups >>= group % GROUPS")
bool prove_next_set(unsigned long *occupied, u64 groups, u64 clock,
		    unsigned int level, u32 before)
{
	struct twheel_scheme s = {
		.clock = clock, .occupied = occupied, .groups = groups,
	};
	u32 first, here, distance;

	ASSUME(level < TWHEEL_HIER_LEVELS);
	ASSUME(groups_are_right(occupied, groups, level));
	first = level * TWHEEL_HIER_RING;
	here = (clock >> level * TWHEEL_HIER_BITS) % TWHEEL_HIER_RING;
	distance = next_set(&s, level);
	if (distance &&
	    !has(occupied, first + (here + distance) % TWHEEL_HIER_RING))
		return false;
	ASSUME(before && before < (distance ?: TWHEEL_HIER_RING));
	return !has(occupied, first + (here + before) % TWHEEL_HIER_RING);
}

/* The account of a CPU. */

static bool account_is_right(ktime_t now)
{
	return shares.credit <= CREDIT_NS_MAX && shares.credit >= -CREDIT_NS_MAX &&
	       shares.stamp <= now &&
	       (!shares.joined || shares.round <= now + WAIT_NS_MAX);
}

/* More wheels than there can be. */
#define WHEELS_MAX	(1 << 20)

#define ACCOUNT(now)	do {						\
	shares = (struct twheel_share) {				\
		.stamp = stamp, .round = round, .credit = credit,	\
		.joined = joined, .expected = expected,			\
	};								\
	ASSUME((now) >= 0 && (now) < KTIME_MAX / 2 && stamp >= 0 &&	\
	       joined < WHEELS_MAX && expected < WHEELS_MAX &&		\
	       account_is_right(stamp) && account_is_right(now));	\
} while (0)

/* A wheel that waits runs again after now, and within a millisecond. */
BROKEN_BY(pause, "twheel_share.c", "now + clamp(2 * missing",
	  "now + 1 + clamp(2 * missing")
bool prove_pause(s64 stamp, s64 round, int credit, u32 joined, u32 expected)
{
	ktime_t next;

	ACCOUNT(stamp);
	next = twheel_share_wait(stamp);
	return next > stamp && next - stamp <= NSEC_PER_MSEC &&
	       account_is_right(stamp + 1);
}

/* A wheel gets no more than there is, and never nothing if it has waited. */
BROKEN_BY(part, "twheel_share.c", "(int)(others + 1), PART_NS_MIN)",
	  "(int)(others + 1), 0)")
bool prove_part(s64 stamp, s64 round, int credit, u32 joined, u32 expected,
		s64 now, bool waited)
{
	u32 part;

	ACCOUNT(now);
	part = twheel_share_begin(now, waited);
	return part <= CREDIT_NS_MAX && (!waited || part >= PART_NS_MIN) &&
	       account_is_right(now);
}

/* However long a run takes, the account is in order after it. */
BROKEN_BY(debt, "twheel_share.c", "ns, -CREDIT_NS_MAX,", "ns, -2 * CREDIT_NS_MAX,")
bool prove_debt(s64 stamp, s64 round, int credit, u32 joined, u32 expected,
		s64 now)
{
	ACCOUNT(now);
	twheel_share_end(now);
	return account_is_right(now) && shares.stamp == now;
}
