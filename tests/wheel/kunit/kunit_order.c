// SPDX-License-Identifier: GPL-2.0
/*
 * Timers of one tick expire in the order of their starts
 *
 * This holds at any distance from the tick at each start, and after any number of moves.
 * twheel_random asserts the same beside random operations.
 */
#include <linux/sched.h>

#include "kunit_util.h"

/*
 * Start one more timer whenever the distance to the tick has halved: A from far away, the
 * last one from a tick before. The tick is at the edge of each level.
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

/*
 * A is due at the next tick, B is late, C is due at the next tick, D is late.
 * All expire at the next tick, in this order.
 */
static void late_ones_queue_up_with_those_that_wait(struct kunit *test)
{
	u64 clock;
	u32 i;

	for (i = 0; i < kt_nr_clocks; i++) {
		clock = kt_clocks[i];
		kt_begin(test, clock);
		kt_set(test, 'A', clock + 1);
		kt_set(test, 'B', 0);
		kt_set(test, 'C', clock + 1);
		kt_set(test, 'D', clock);
		KUNIT_EXPECT_STREQ(test, kt_out(test, clock + 1), "ABCD");
	}
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE_PARAM(equals_keep_order_when_started_from_far_and_near,
			 kt_schemes),
	KUNIT_CASE_PARAM(late_ones_queue_up_with_those_that_wait, kt_schemes),
	{}
};

struct kunit_suite kt_order_suite = {
	.name = "twheel_order",
	.exit = kt_exit,
	.test_cases = order_cases,
};
