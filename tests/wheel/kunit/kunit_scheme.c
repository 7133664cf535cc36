// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of every scheme, as named examples
 *
 * twheel_random checks the same rules with random operations. Most cases here begin at many
 * different clocks, so that their ticks meet the edges of slots, windows and levels at every phase.
 */
#include <linux/sched.h>

#include "kunit_util.h"

/* Largest delta of the case that tries every delta: two windows of level 1, in ticks. */
#define EVERY_DELTA	(2 * TWHEEL_HIER_WINDOW * TWHEEL_HIER_WINDOW)
/* Largest delta for schemes whose ticks or starts are O(n). Number of slots for all schemes. */
#define EVERY_DELTA_SIMPLE	300
#define EVERY_DELTA_SLOTS	8192

/*
 *  clock . . . . . A B C
 *         silent | one at each tick
 */
static void expires_on_its_tick_and_not_before(struct kunit *test)
{
	u64 clock, delta;
	u32 i, bit;

	for (i = 0; i < kt_nr_clocks; i++) {
		clock = kt_clocks[i];
		for (bit = 2 + i % 2; bit < 63; bit += 2) {
			delta = 1ULL << bit;
			if (clock + delta + 1 < clock)
				break;
			kt_begin(test, clock);
			kt_set(test, 'A', clock + delta - 1);
			kt_set(test, 'B', clock + delta);
			kt_set(test, 'C', clock + delta + 1);
			KUNIT_ASSERT_STREQ(test, kt_out(test, clock + delta - 2), "");
			KUNIT_ASSERT_STREQ(test, kt_out(test, clock + delta - 1), "A");
			KUNIT_ASSERT_STREQ(test, kt_out(test, clock + delta), "B");
			KUNIT_ASSERT_STREQ(test, kt_out(test, clock + delta + 1), "C");
		}
		cond_resched();
	}
}

static u32 every_delta(struct kunit *test)
{
	const struct twheel_test_scheme_ops *ops = kt_ops(test);

	if (ops->wheel || ops == &twheel_test_heap)
		return EVERY_DELTA;
	return EVERY_DELTA_SIMPLE;
}

/*
 * Start one timer for each delta, then go on tick by tick. One timer must expire at each tick, but
 * two at the first tick: the timer with a delta of 0 is late, and so due at the next tick as well.
 */
static void every_delta_expires_on_its_tick(struct kunit *test)
{
	u32 deltas = every_delta(test), delta;
	u64 clock = 12345;
	struct twheel_check *c;

	c = kt_begin_with(test, kt_ops(test), clock, EVERY_DELTA_SLOTS,
			  deltas + 1);
	for (delta = 0; delta <= deltas; delta++)
		twheel_check_set(c, delta, clock + delta);
	for (delta = 1; delta <= deltas; delta++) {
		KUNIT_ASSERT_EQ(test, twheel_check_advance(c, clock + delta),
				delta == 1 ? 2 : 1);
		KUNIT_ASSERT_EQ(test, c->last, delta);
	}
}

/*
 * Let the wheel sleep until its next tick, again and again, like a tickless wheel. No sleep may
 * end after the timer's tick, and there may be at most one wake-up per level.
 */
static void next_ticks_lead_to_the_timer(struct kunit *test)
{
	u64 clock, next;
	u32 i, bit, wakeups;

	for (i = 0; i < kt_nr_clocks; i++) {
		clock = kt_clocks[i];
		for (bit = i % 4; bit < 63; bit += 4) {
			kt_begin(test, clock);
			kt_set(test, 'A', clock + (1ULL << bit));
			for (wakeups = 0; kt_scheme(test)->pending; wakeups++) {
				next = kt_next(test);
				KUNIT_ASSERT_GT(test, next, kt_scheme(test)->clock);
				KUNIT_ASSERT_LE(test, next, clock + (1ULL << bit));
				kt_out(test, next);
			}
			KUNIT_ASSERT_LE(test, wakeups, TWHEEL_HIER_LEVELS);
		}
		cond_resched();
	}
}

/* Timers of one tick expire in the order of their starts. */

/*
 * Start timers for one tick while the clock approaches it: A from far away, each other timer from
 * half the distance of the timer before. The tick is at the edge of each level in turn.
 */
static void equals_keep_order_when_started_from_far_and_near(struct kunit *test)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	u32 level, off;
	u64 tick;
	s32 bit;

	for (level = 0; level < TWHEEL_HIER_LEVELS; level++) {
		for (off = 0; off < 3; off++) {
			tick = (1ULL << (level * TWHEEL_HIER_BITS)) - 1 + off +
			       (1ULL << 40);
			kt_begin(test, tick - (1ULL << 25) - 3);
			for (bit = 25; bit >= 0; bit--) {
				KUNIT_ASSERT_STREQ(test, kt_out(test, tick - (1ULL << bit)),
						   "");
				kt_set(test, 'A' + 25 - bit, tick);
			}
			KUNIT_ASSERT_STREQ(test, kt_out(test, tick), alphabet);
		}
	}
}

static struct kunit_case scheme_cases[] = {
	KUNIT_CASE_PARAM_ATTR(expires_on_its_tick_and_not_before, kt_schemes,
			      KT_SLOW),
	KUNIT_CASE_PARAM_ATTR(every_delta_expires_on_its_tick, kt_schemes,
			      KT_SLOW),
	KUNIT_CASE_PARAM(next_ticks_lead_to_the_timer, kt_schemes),
	KUNIT_CASE_PARAM(equals_keep_order_when_started_from_far_and_near,
			 kt_schemes),
	{}
};

struct kunit_suite kt_scheme_suite = {
	.name = "twheel_scheme",
	.exit = kt_exit,
	.test_cases = scheme_cases,
};
