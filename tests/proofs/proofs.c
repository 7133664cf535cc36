// SPDX-License-Identifier: GPL-2.0
/*
 * Proofs of the arithmetic of the wheels, for all values
 *
 * Each prove_*() must return true for any arguments. ASSUME() returns true at once for arguments
 * outside of the claim. tests/proofs/prove compiles this file with the module's own sources, and Z3
 * searches for arguments with which a function returns false.
 *
 * Some proofs assume that the state of a wheel or throttle is valid. These assumptions are the
 * invariants that twheel_scheme.h, twheel_hier.c and core/throttle.c state, and the suites in
 * tests/wheel/kunit check them.
 *
 * BROKEN_BY(proof, file, old, new): the proof must fail if @old in the file is replaced by @new.
 */
#define TWHEEL_SLOT_CORRUPTED(condition)	false
#define TWHEEL_SLOT_ASK(node)	((void)(node), false)
#include "twheel_hier.c"
#include "core/throttle.c"

#include <linux/ktime.h>
#include <linux/math64.h>

#define ASSUME(condition)	do { if (!(condition)) return true; } while (0)
#define BROKEN_BY(...)

/*
 * Ticks and deadlines. The functions are cut out of their files, because the rest of these files
 * needs a kernel.
 */

/* The part of struct twheel_base that these functions use. */
struct twheel_base {
	u32 tick_ns;
};

static ktime_t the_time;
#define ktime_get()	the_time

/* CUT core/base.h twheel_tick_of */
#include "cut/twheel_tick_of.h"
/* CUT core/base.h twheel_time_of */
#include "cut/twheel_time_of.h"
/* CUT core/base.h twheel_tick_above */
#include "cut/twheel_tick_above.h"
/* CUT core/timer.c round_up_to_tick */
#include "cut/round_up_to_tick.h"
/* CUT core/timer.c deadline_after */
#include "cut/deadline_after.h"

/* Prove that a timer is due at the first tick that is not before its deadline. */
BROKEN_BY(rounding, "core/timer.c", "above(base, deadline + base->tick_ns - 1",
	  "above(base, deadline + base->tick_ns")
bool prove_rounding(u64 deadline, u32 tick_ns)
{
	struct twheel_base base = { .tick_ns = tick_ns };
	struct twheel_timer timer;
	u32 offset_ns;
	u64 time;

	ASSUME(tick_ns && deadline <= KTIME_MAX);
	timer.node.expires = round_up_to_tick(&base, deadline, &offset_ns);
	time = twheel_due_time(&timer, tick_ns);
	return time >= deadline && time - deadline < tick_ns;
}

/* Prove that twheel_deadline() returns the deadline that the timer was started with. */
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

/* Prove that the tick of a time is the last tick at or before that time. */
BROKEN_BY(tick_of_time, "core/base.h", "div_u64(now, base->tick_ns)",
	  "div_u64(now, base->tick_ns) + 1")
bool prove_tick_of_time(u64 now, u32 tick_ns)
{
	struct twheel_base base = { .tick_ns = tick_ns };
	u64 tick;

	ASSUME(tick_ns && now <= KTIME_MAX);
	tick = twheel_tick_of(&base, now);
	return tick * tick_ns <= now && now - tick * tick_ns < tick_ns;
}

/* Prove that a deadline is now plus the delay, and KTIME_MAX if that sum is later. */
BROKEN_BY(delay, "core/timer.c", "(s64)(deadline | delay_ns) < 0",
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

/* Return true if the current window of @level or the next window contains @tick. */
static bool reaches(u64 clock, unsigned int level, u64 tick)
{
	unsigned int shift = twheel_hier_shift(level + 1);

	return shift > 63 || (tick >> shift) - (clock >> shift) <= 1;
}

/* Prove that a timer's level is the lowest level that reaches its tick. */
BROKEN_BY(level, "twheel_hier.c", "<= 1)\n\t\tlevel--", "<= 2)\n\t\tlevel--")
bool prove_level(u64 clock, u64 tick)
{
	unsigned int level;

	ASSUME(tick > clock);
	level = level_of(clock, tick);
	return level < TWHEEL_HIER_LEVELS && reaches(clock, level, tick) &&
	       (!level || !reaches(clock, level - 1, tick));
}

/*
 * Prove that a level's slot for a tick is one of the slots of the level, and that two ticks that
 * the level reaches share a slot if and only if they are in the same span.
 */
BROKEN_BY(slot, "twheel_hier.h", "(2 * TWHEEL_HIER_WINDOW)", "TWHEEL_HIER_WINDOW")
bool prove_slot(u64 clock, unsigned int level, u64 one, u64 other)
{
	unsigned int shift = twheel_hier_shift(level);
	struct twheel_scheme s = { .slots = NULL };
	struct twheel_slot *slot;

	ASSUME(level < TWHEEL_HIER_LEVELS && one >= clock && other >= clock);
	ASSUME(reaches(clock, level, one) && reaches(clock, level, other));
	slot = twheel_hier_slot(&s, level, one);
	return slot >= &s.slots[level * TWHEEL_HIER_RING] &&
	       slot < &s.slots[(level + 1) * TWHEEL_HIER_RING] &&
	       (slot == twheel_hier_slot(&s, level, other)) ==
	       (one >> shift == other >> shift);
}

/* Prove that a level reaches just the ticks below @reach of set_window(), until the window ends. */
BROKEN_BY(reach, "twheel_hier.c", "+ 2) << shift", "+ 1) << shift")
bool prove_reach(u64 begin, u64 clock, u64 tick)
{
	struct twheel_scheme s = { .clock = begin };
	unsigned int level;

	set_window(&s);
	/* the last window never ends */
	ASSUME(clock >= begin && (clock < s.recheck || s.recheck == U64_MAX));
	ASSUME(tick >= clock && tick != U64_MAX);
	for (level = 0; level < 3; level++) {
		bool reached = tick < s.reach[level];

		if (reached != reaches(clock, level, tick))
			return false;
	}
	return true;
}

/* Note the slot into which twheel_hier_place() puts a node. */
static struct twheel_slot *the_slot;

#define twheel_hier_place		place
#define twheel_hier_place_outer		place_outer
#define twheel_hier_place_far		place_far
#define twheel_hier_join(s, slot, ...)	(the_slot = (slot))
/* CUT twheel_hier.c twheel_hier_place_far */
#include "cut/twheel_hier_place_far.h"
/* CUT twheel_hier.h twheel_hier_place_outer */
#include "cut/twheel_hier_place_outer.h"
/* CUT twheel_hier.h twheel_hier_place */
#include "cut/twheel_hier_place.h"
#undef twheel_hier_place
#undef twheel_hier_place_outer
#undef twheel_hier_place_far
#undef twheel_hier_join

/* Prove that a start puts a node into the slot of its tick in the lowest level that reaches it. */
BROKEN_BY(place, "twheel_hier.h", "expires < s->reach[1]", "expires <= s->reach[1]")
bool prove_place(u64 clock, u64 tick)
{
	/* The address of the slots does not matter, and Z3 is slow with an unknown one. */
	struct twheel_scheme s = { .clock = clock, .slots = NULL };
	struct twheel_node node = { .expires = tick };
	u64 due = max(tick, clock + 1);
	unsigned int level = 0;

	ASSUME(clock < KTIME_MAX && tick <= KTIME_MAX);
	set_window(&s);
	place(&s, &node, tick);
	while (!reaches(clock, level, due))
		level++;
	return the_slot == twheel_hier_slot(&s, level, due);
}

/*
 * Prove that a node that a cascade moves down is due after the clock, and that the level below
 * reaches its tick.
 */
BROKEN_BY(next_outer, "twheel_hier.c", "twheel_hier_shift(level)) + 1;",
	  "twheel_hier_shift(level)) + 2;")
bool prove_next_outer(u64 clock, unsigned int level, u64 tick)
{
	struct twheel_scheme s = { .clock = clock };
	unsigned int shift = twheel_hier_shift(level);

	ASSUME(level && level < TWHEEL_HIER_LEVELS);
	ASSUME(tick >> shift == next_outer(&s, level));
	return tick > clock && reaches(clock, level - 1, tick);
}

/* Prove that a hint, the distance from one node to another, leads to the other node. */
BROKEN_BY(hint, "twheel_slot.h", "uintptr_t)(s32)hint", "uintptr_t)hint")
bool prove_hint(u64 one, u64 other)
{
	const struct twheel_node *node = (void *)one, *target = (void *)other;
	u32 hint;

	ASSUME(one % sizeof(long) == 0 && other % sizeof(long) == 0);
	ASSUME(other - one + (1ULL << 33) < 1ULL << 34);
	hint = twheel_slot_address(target) - twheel_slot_address(node);
	return !(hint & TWHEEL_SLOT_MAY_STAY) &&
	       twheel_slot_hinted(node, hint) == target;
}

/* Moving down between levels. */

/*
 * Prove that an outer slot is empty when it is due: in the tick before, the wheel's share of work
 * is all its nodes. In an earlier tick, @recheck is set so that the wheel looks again in time.
 */
BROKEN_BY(share_of_a_tick, "twheel_hier.c", "ticks = left - count;",
	  "ticks = left - count + 1;")
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
	/* the level has a next slot */
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
 * Prove that a dozing base wakes up early enough to empty an outer slot before it is due, if each
 * tick moves MOVES_PER_WAKEUP nodes. It need not wake up before the next tick, nor earlier than one
 * span of the slot before the slot is due.
 */
BROKEN_BY(wakes_for_a_slot, "twheel_hier.c", "max(due - 1 - lead, s->clock + 1",
	  "max(due - 1, s->clock + 1")
bool prove_wakes_for_a_slot(struct twheel_slot *slots, u64 clock,
			    unsigned int level, u64 slot, u64 pending)
{
	struct twheel_scheme s = {
		.clock = clock, .slots = slots, .pending = pending,
	};
	u64 shift = level * TWHEEL_HIER_BITS, tick, due, moves;

	ASSUME(level && level < TWHEEL_HIER_LEVELS);
	ASSUME(slot <= (U64_MAX >> shift) && slot > (clock >> shift));
	due = slot << shift;
	tick = cascade_tick(&s, level, slot);
	if (tick <= clock || tick > max(due - 1, clock + 1))
		return false;
	moves = slots[level * TWHEEL_HIER_RING + slot % TWHEEL_HIER_RING].count;
	moves = min(moves, pending);
	return tick == clock + 1 || tick == due - (1ULL << shift) ||
	       (due - tick) * MOVES_PER_WAKEUP >= moves;
}

/* The runtime of a CPU. */

/* An upper bound of the number of wheels */
#define WHEELS_MAX	(1 << 20)

static bool periods_are_right(ktime_t now)
{
	if (!period_awaited(&throttles))
		return throttles.last_period <= now;
	return throttles.last_period < throttles.period ||
	       throttles.payers.waiting >= (throttles.last_period == throttles.period ?
					    throttles.nr_payers : PAYERS_PER_PERIOD);
}

static bool throttle_is_right(ktime_t now)
{
	return throttles.runtime <= RUNTIME_NS_MAX && throttles.runtime >= -RUNTIME_NS_MAX &&
	       throttles.deficit >= 0 && throttles.deficit <= DEFICIT_NS_MAX &&
	       throttles.stamp <= now &&
	       (!period_awaited(&throttles) || throttles.period <= now + PERIOD_NS_MAX) &&
	       throttles.nr_payers <= PAYERS_PER_PERIOD && periods_are_right(now);
}

/*
 * Set the state of the throttle, and assume that it is valid. The number of periods up to
 * @last_period does not matter, so try only 0 to 3.
 */
#define ACCOUNT(now)	do {						\
	throttles = (struct twheel_throttle) {				\
		.stamp = stamp, .period = period, .runtime = runtime,	\
		.payers = { waiting, expected },			\
		.wheels = { wheels, wheels },				\
		.deficit = deficit, .nr_payers = nr_payers,		\
		.last_period = periods > 3 ? 0 :			\
			       period + periods * PERIOD_NS_MAX,	\
	};								\
	ASSUME((now) >= 0 && (now) < KTIME_MAX / 2 && stamp >= 0 &&	\
	       period >= 0 && period < KTIME_MAX / 2 && nr_payers &&	\
	       waiting < WHEELS_MAX && expected < WHEELS_MAX &&		\
	       wheels < WHEELS_MAX &&					\
	       throttle_is_right(stamp) && throttle_is_right(now));	\
} while (0)

/* Prove that a wheel without a payer waits at least until the next ns, and 1 ms at most. */
BROKEN_BY(pause, "core/throttle.c", "now + clamp(2 * missing",
	  "now + 1 + clamp(2 * missing")
bool prove_pause(s64 stamp, s64 period, int runtime, u32 waiting, u32 expected, u32 wheels,
		 int deficit, u32 periods, u32 nr_payers)
{
	ktime_t next;

	ACCOUNT(stamp);
	next = twheel_throttle_wait(NULL, stamp, false, 1);
	return next > stamp && next - stamp <= NSEC_PER_MSEC &&
	       throttle_is_right(stamp + 1);
}

/*
 * Prove that a wheel with a payer waits at most three periods after the last period that is taken,
 * and twice the deficit. @overran: the run that just ended earned a penalty.
 */
BROKEN_BY(paid_pause, "core/throttle.c", "if (t->nr_payers == PAYERS_PER_PERIOD)",
	  "if (t->nr_payers > PAYERS_PER_PERIOD)")
bool prove_paid_pause(s64 stamp, s64 period, int runtime, u32 waiting, u32 expected, u32 wheels,
		      int deficit, u32 periods, u32 nr_payers, bool overran, s64 limit)
{
	struct twheel_payer payer = {
		.end = stamp, .penalty = overran ? NSEC_PER_SEC : 0,
	};
	ktime_t next, latest;

	ACCOUNT(stamp);
	ASSUME(stamp > 0);
	latest = max(throttles.last_period, stamp) + 3 * PERIOD_NS_MAX + 3 +
		 2 * (s64)(overran ? deficit : max(deficit - DEFICIT_NS_TOLERATED, 0));
	next = twheel_throttle_wait(&payer, stamp, false, limit);
	return next > stamp && next <= latest && payer.waiting &&
	       throttle_is_right(stamp + 1);
}

/* Prove that a slice is not longer than the runtime, and not 0 for a wheel that was throttled. */
BROKEN_BY(slice, "core/throttle.c", "throttled ? SLICE_NS_MIN : 0);",
	  "0);")
bool prove_slice(s64 stamp, s64 period, int runtime, u32 waiting, u32 expected, u32 wheels,
		 int deficit, u32 periods, u32 nr_payers, s64 now, bool throttled)
{
	u32 slice;

	ACCOUNT(now);
	slice = twheel_throttle_begin(NULL, now, throttled);
	return slice <= RUNTIME_NS_MAX && (!throttled || slice >= SLICE_NS_MIN) &&
	       throttle_is_right(now);
}

/* Prove that the state is valid after a run, however long the run takes. */
BROKEN_BY(deficit, "core/throttle.c", "runtime, -RUNTIME_NS_MAX,", "runtime, -2 * RUNTIME_NS_MAX,")
bool prove_deficit(s64 stamp, s64 period, int runtime, u32 waiting, u32 expected, u32 wheels,
		   int deficit, u32 periods, u32 nr_payers, s64 now, u64 preempted,
		   bool paid)
{
	struct twheel_payer payer = {};

	ACCOUNT(now);
	twheel_throttle_end(paid ? &payer : NULL, now, preempted);
	return throttle_is_right(now) && throttles.stamp == now && !payer.runtime;
}
