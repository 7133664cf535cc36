// SPDX-License-Identifier: GPL-2.0
/*
 * Timers of one tick expire in the order of their starts
 *
 * This holds however far away the tick was at each start, however often the
 * wheel has moved the timers since, and however other timers came and went
 * meanwhile.
 */
#include <linux/sched.h>

#include "kunit_util.h"

static void equals_expire_in_the_order_of_their_starts(struct kunit *test)
{
	u64 clock;
	u32 i, bit;

	for (i = 0; i < kt_nr_clocks; i++) {
		clock = kt_clocks[i];
		for (bit = i % 6; bit < 63; bit += 6) {
			kt_begin(test, clock);
			kt_set(test, 'C', clock + (1ULL << bit));
			kt_set(test, 'A', clock + (1ULL << bit));
			kt_set(test, 'D', clock + (1ULL << bit));
			kt_set(test, 'B', clock + (1ULL << bit));
			KUNIT_ASSERT_STREQ(test, kt_out(test, clock + (1ULL << bit)),
					   "CADB");
		}
		cond_resched();
	}
}

/*
 * Whenever the distance to the tick has halved, one more timer is started: A
 * from far away, the last one from a tick before. The tick is at the edge of
 * each level.
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

/* As before, but others are restarted and stopped all the time. */
static void equals_keep_order_whatever_others_do(struct kunit *test)
{
	struct twheel_rng rng = { .state = 5 };
	u64 tick = 300000, clock = 0;
	u32 i, other;

	kt_begin(test, 0);
	for (i = 0; i < 2000; i++) {
		clock += 140 + twheel_rng_below(&rng, 10);
		kt_out(test, min(clock, tick - 1));
		if (i % 200 == 0)
			kt_set(test, 'A' + i / 200, tick);
		other = 'K' + twheel_rng_below(&rng, 16);
		if (twheel_rng_below(&rng, 4))
			kt_set(test, other, clock + twheel_rng_log(&rng, 18));
		else
			kt_stop(test, other);
	}
	for (other = 'K'; other <= 'Z'; other++)
		kt_stop(test, other);
	KUNIT_EXPECT_STREQ(test, kt_out(test, tick), "ABCDEFGHIJ");
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

/* An earlier tick counts as a new start: B comes after C, which waited. */
static void restart_earlier_goes_behind_those_that_wait(struct kunit *test)
{
	kt_begin(test, 0);
	kt_set(test, 'A', 5000);
	kt_set(test, 'B', 9000);
	kt_set(test, 'C', 5000);
	kt_set(test, 'B', 5000);
	kt_set(test, 'D', 5000);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 5000), "ACBD");
}

/*
 * Timers restarted from the same tick to the same later one keep their order.
 */
static void equals_keep_order_when_refreshed_alike(struct kunit *test)
{
	u32 bit;

	for (bit = 1; bit < 60; bit++) {
		kt_begin(test, 100);
		kt_set(test, 'A', 150);
		kt_set(test, 'B', 150);
		kt_set(test, 'C', 150);
		kt_set(test, 'A', 150 + (1ULL << bit));
		kt_set(test, 'B', 150 + (1ULL << bit));
		kt_set(test, 'C', 150 + (1ULL << bit));
		KUNIT_ASSERT_STREQ(test, kt_out(test, 150 + (1ULL << bit)),
				   "ABC");
	}
}

/* Stopping a timer of a tick leaves the order of the others. */
static void order_holds_when_neighbours_go(struct kunit *test)
{
	kt_begin(test, 0);
	kt_set(test, 'A', 70);
	kt_set(test, 'B', 70);
	kt_set(test, 'C', 70);
	kt_set(test, 'D', 70);
	kt_set(test, 'E', 70);
	kt_stop(test, 'C');
	KUNIT_EXPECT_STREQ(test, kt_pop(test, 70), "A");
	kt_stop(test, 'B');
	kt_stop(test, 'E');
	KUNIT_EXPECT_STREQ(test, kt_out(test, 70), "D");
}

/*
 * Many ticks in a row with three timers each, started far ahead in random
 * order.
 */
static void runs_of_equals_expire_in_order(struct kunit *test)
{
	struct twheel_rng rng = { .state = 7 };
	u32 nr = 900, i;
	struct twheel_check *c;
	u64 clock;

	c = kt_begin_with(test, kt_ops(test), 0, KT_SLOTS, nr);
	for (i = 0; i < nr; i++)
		twheel_check_set(c, i, 66000 + twheel_rng_below(&rng, nr / 3));
	for (clock = 65000; clock <= 66000 + nr / 3; clock++)
		twheel_check_advance(c, clock);
	KUNIT_EXPECT_EQ(test, c->popped, nr);
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE_PARAM(equals_expire_in_the_order_of_their_starts,
			 kt_schemes),
	KUNIT_CASE_PARAM(equals_keep_order_when_started_from_far_and_near,
			 kt_schemes),
	KUNIT_CASE_PARAM(equals_keep_order_whatever_others_do, kt_schemes),
	KUNIT_CASE_PARAM(late_ones_queue_up_with_those_that_wait, kt_schemes),
	KUNIT_CASE_PARAM(restart_earlier_goes_behind_those_that_wait,
			 kt_schemes),
	KUNIT_CASE_PARAM(equals_keep_order_when_refreshed_alike, kt_schemes),
	KUNIT_CASE_PARAM(order_holds_when_neighbours_go, kt_schemes),
	KUNIT_CASE_PARAM(runs_of_equals_expire_in_order, kt_schemes),
	{}
};

struct kunit_suite kt_order_suite = {
	.name = "twheel_order",
	.exit = kt_exit,
	.test_cases = order_cases,
};
