// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of every scheme, all eight of them
 *
 * A tick is written as a number plus the clock at which the case begins. Most
 * cases run from many clocks, so that they meet the edges of slots, windows and
 * levels at every phase.
 */
#include <linux/sched.h>

#include "kunit_util.h"

/* Every delta up to this one. A window squared is a whole level. */
#define EVERY_DELTA	(2 * TWHEEL_HIER_WINDOW * TWHEEL_HIER_WINDOW)
/* Fewer for the others, which are O(n) at a tick or at a start. */
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
 *  clock 0 1 2 3 4 5 ... all started at once, then tick by tick
 *
 * One timer expires at each tick, but two at the first: delta 0 is due at the
 * next tick too.
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
 *  clock . . A   one at a time, each started at the tick at which the
 *              . . . B     last one expired, with jumps of all lengths
 */
static void every_delta_expires_after_a_jump(struct kunit *test)
{
	u64 clock = 0;
	u32 delta;

	kt_begin(test, clock);
	for (delta = 2; delta < 1500; delta++) {
		kt_set(test, 'A', clock + delta);
		KUNIT_ASSERT_STREQ(test, kt_out(test, clock + delta - 1), "");
		KUNIT_ASSERT_STREQ(test, kt_out(test, clock + delta), "A");
		clock += delta;
	}
}

static void a_tick_that_has_passed_is_due_at_the_next(struct kunit *test)
{
	u64 clock;
	u32 i;

	for (i = 0; i < kt_nr_clocks; i++) {
		clock = kt_clocks[i];
		kt_begin(test, clock);
		kt_set(test, 'A', clock);
		kt_set(test, 'B', clock / 2);
		kt_set(test, 'C', 0);
		KUNIT_EXPECT_STREQ(test, kt_out(test, clock), "");
		KUNIT_EXPECT_STREQ(test, kt_out(test, clock + 1), "ABC");
	}
}

/* A B C, of which B is stopped: A C */
static void one_that_is_stopped_never_expires(struct kunit *test)
{
	u64 clock;
	u32 i;

	for (i = 0; i < kt_nr_clocks; i++) {
		clock = kt_clocks[i];
		kt_begin(test, clock);
		kt_set(test, 'A', clock + 10);
		kt_set(test, 'B', clock + 10);
		kt_set(test, 'C', clock + 10);
		kt_stop(test, 'B');
		KUNIT_EXPECT_STREQ(test, kt_out(test, clock + 100), "AC");
	}
}

/* Of five in one slot, each in turn is stopped, or is the last one left. */
static void every_position_in_a_slot_can_be_stopped(struct kunit *test)
{
	static const char * const without[] = {
		"BCDE", "ACDE", "ABDE", "ABCE", "ABCD",
	};
	char stopped, other;

	for (stopped = 'A'; stopped <= 'E'; stopped++) {
		kt_begin(test, 1000);
		for (other = 'A'; other <= 'E'; other++)
			kt_set(test, other, 2000);
		kt_stop(test, stopped);
		KUNIT_EXPECT_STREQ(test, kt_out(test, 2000),
				   without[stopped - 'A']);

		for (other = 'A'; other <= 'E'; other++)
			kt_set(test, other, 3000);
		for (other = 'A'; other <= 'E'; other++)
			if (other != stopped)
				kt_stop(test, other);
		KUNIT_EXPECT_STREQ(test, kt_out(test, 3000), kt_letter(stopped));
	}
}

/* From 2^k to every shorter 2^j, at each clock. */
static void restart_earlier_expires_earlier(struct kunit *test)
{
	u32 from, to;

	for (from = 1; from < 63; from += 5) {
		for (to = from % 3; to < from; to += 3) {
			kt_begin(test, 4095);
			kt_set(test, 'A', 4095 + (1ULL << from));
			kt_set(test, 'A', 4095 + (1ULL << to));
			KUNIT_ASSERT_STREQ(test, kt_out(test, 4094 + (1ULL << to)), "");
			KUNIT_ASSERT_STREQ(test, kt_out(test, 4095 + (1ULL << to)), "A");
		}
	}
}

/* From 2^k to every longer 2^j: silent at the old tick. */
static void restart_later_expires_later(struct kunit *test)
{
	u32 from, to;

	for (from = 1; from < 60; from += 5) {
		for (to = from + 1; to < 63; to += 3) {
			kt_begin(test, 4095);
			kt_set(test, 'A', 4095 + (1ULL << from));
			kt_set(test, 'A', 4095 + (1ULL << to));
			KUNIT_ASSERT_STREQ(test, kt_out(test, 4095 + (1ULL << from)), "");
			KUNIT_ASSERT_STREQ(test, kt_out(test, 4094 + (1ULL << to)), "");
			KUNIT_ASSERT_STREQ(test, kt_out(test, 4095 + (1ULL << to)), "A");
		}
	}
}

static void restart_to_a_tick_that_has_passed_is_due_at_the_next(struct kunit *test)
{
	kt_begin(test, 500);
	kt_set(test, 'A', 100000);
	kt_set(test, 'A', 400);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 501), "A");
}

/* A heartbeat: pushed back a thousand times, expires once. */
static void only_the_last_of_many_restarts_counts(struct kunit *test)
{
	u64 clock;

	kt_begin(test, 0);
	kt_set(test, 'A', 300);
	for (clock = 1; clock <= 1000; clock++) {
		KUNIT_ASSERT_STREQ(test, kt_out(test, clock), "");
		kt_set(test, 'A', clock + 300);
	}
	KUNIT_EXPECT_STREQ(test, kt_out(test, 1299), "");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 1300), "A");
}

/*
 * The calls of a callback in the middle of a tick. A, B, C and D are due. When
 * A is out, B is stopped and C is restarted.
 */
static void one_due_now_can_still_be_stopped_or_restarted(struct kunit *test)
{
	kt_begin(test, 60);
	kt_set(test, 'A', 70);
	kt_set(test, 'B', 70);
	kt_set(test, 'C', 70);
	kt_set(test, 'D', 70);
	KUNIT_EXPECT_STREQ(test, kt_pop(test, 70), "A");
	kt_stop(test, 'B');
	kt_set(test, 'C', 75);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 70), "D");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 74), "");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 75), "C");
}

/* A start or restart for the current tick takes effect at the next one. */
static void what_is_started_in_a_tick_waits_for_the_next(struct kunit *test)
{
	kt_begin(test, 60);
	kt_set(test, 'A', 70);
	kt_set(test, 'B', 70);
	KUNIT_EXPECT_STREQ(test, kt_pop(test, 70), "A");
	kt_set(test, 'A', 70);
	kt_set(test, 'C', 3);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 70), "B");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 71), "AC");
}

/* A periodic timer that is started again when it is out misses no tick. */
static void a_jump_passes_every_tick_of_a_periodic_one(struct kunit *test)
{
	u64 tick;

	kt_begin(test, 4000);
	kt_set(test, 'A', 4007);
	for (tick = 4007; tick <= 9000; tick += 7) {
		KUNIT_ASSERT_STREQ(test, kt_pop(test, 9000), "A");
		KUNIT_ASSERT_EQ(test, kt_scheme(test)->clock, tick);
		kt_set(test, 'A', tick + 7);
	}
	KUNIT_EXPECT_STREQ(test, kt_pop(test, 9000), "");
}

static void a_jump_gives_out_everything_in_order(struct kunit *test)
{
	u64 clock;
	u32 i;

	for (i = 0; i < kt_nr_clocks; i++) {
		clock = kt_clocks[i];
		kt_begin(test, clock);
		kt_set(test, 'G', clock + (1ULL << 40));
		kt_set(test, 'B', clock + 2);
		kt_set(test, 'D', clock + 4096);
		kt_set(test, 'A', clock + 1);
		kt_set(test, 'F', clock + 300000);
		kt_set(test, 'C', clock + 64);
		kt_set(test, 'E', clock + 4097);
		KUNIT_EXPECT_STREQ(test, kt_out(test, clock + (1ULL << 41)),
				   "ABCDEFG");
	}
}

static void a_jump_over_nothing_moves_the_clock(struct kunit *test)
{
	kt_begin(test, 5);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 1ULL << 50), "");
	KUNIT_EXPECT_EQ(test, kt_scheme(test)->clock, 1ULL << 50);
	kt_set(test, 'A', (1ULL << 50) + 3);
	KUNIT_EXPECT_STREQ(test, kt_out(test, (1ULL << 50) + 2), "");
	KUNIT_EXPECT_STREQ(test, kt_out(test, (1ULL << 50) + 3), "A");
}

/* Jumps that end anywhere before the tick must not change anything. */
static void jumps_of_any_length_meet_every_tick(struct kunit *test)
{
	u64 jump, clock, tick = 20000;

	for (jump = 1; jump < 1200; jump += 17) {
		kt_begin(test, 0);
		kt_set(test, 'A', tick);
		for (clock = jump; clock < tick; clock += jump)
			KUNIT_ASSERT_STREQ(test, kt_out(test, clock), "");
		KUNIT_ASSERT_STREQ(test, kt_out(test, clock), "A");
	}
}

static void the_last_tick_of_all_is_reached(struct kunit *test)
{
	static const u64 before[] = {
		1, 2, 63, 64, 65, 4096, 262145, 1ULL << 40, 1ULL << 63, U64_MAX,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(before); i++) {
		kt_begin(test, U64_MAX - before[i]);
		kt_set(test, 'A', U64_MAX);
		kt_set(test, 'B', U64_MAX - 1);
		KUNIT_EXPECT_STREQ(test, kt_out(test, U64_MAX - 1),
				   before[i] == 1 ? "" : "B");
		KUNIT_EXPECT_STREQ(test, kt_out(test, U64_MAX),
				   before[i] == 1 ? "AB" : "A");
		KUNIT_EXPECT_EQ(test, kt_scheme(test)->clock, U64_MAX);
	}
}

static void nothing_pending_has_no_next_tick(struct kunit *test)
{
	kt_begin(test, 123);
	KUNIT_EXPECT_EQ(test, kt_next(test), U64_MAX);
	kt_set(test, 'A', 200);
	KUNIT_EXPECT_LE(test, kt_next(test), 200);
	kt_stop(test, 'A');
	KUNIT_EXPECT_EQ(test, kt_next(test), U64_MAX);
	kt_set(test, 'A', 200);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 200), "A");
	KUNIT_EXPECT_EQ(test, kt_next(test), U64_MAX);
}

/*
 * Sleeps from one next tick to the next, as a tickless wheel does. That must
 * never go past the timer's tick, and may take at most one wake-up per level.
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

static void the_next_tick_is_that_of_the_earliest(struct kunit *test)
{
	kt_begin(test, 1000);
	kt_set(test, 'A', 500000);
	kt_set(test, 'B', 1003);
	kt_set(test, 'C', 90000);
	KUNIT_EXPECT_EQ(test, kt_next(test), 1003);
	kt_set(test, 'C', 1002);
	KUNIT_EXPECT_EQ(test, kt_next(test), 1002);
	kt_set(test, 'C', 1);
	KUNIT_EXPECT_EQ(test, kt_next(test), 1001);
}

/* While something due is left, the tick at the clock is the next one. */
static void a_tick_that_is_not_finished_is_the_next(struct kunit *test)
{
	kt_begin(test, 1000);
	kt_set(test, 'A', 1005);
	kt_set(test, 'B', 1005);
	kt_set(test, 'C', 2000);
	KUNIT_EXPECT_STREQ(test, kt_pop(test, 1500), "A");
	KUNIT_EXPECT_LE(test, kt_next(test), 1005);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 1500), "B");
	KUNIT_EXPECT_GT(test, kt_next(test), 1500);
}

static struct kunit_case scheme_cases[] = {
	KUNIT_CASE_PARAM_ATTR(expires_on_its_tick_and_not_before, kt_schemes,
			      KT_SLOW),
	KUNIT_CASE_PARAM_ATTR(every_delta_expires_on_its_tick, kt_schemes,
			      KT_SLOW),
	KUNIT_CASE_PARAM(every_delta_expires_after_a_jump, kt_schemes),
	KUNIT_CASE_PARAM(a_tick_that_has_passed_is_due_at_the_next, kt_schemes),
	KUNIT_CASE_PARAM(one_that_is_stopped_never_expires, kt_schemes),
	KUNIT_CASE_PARAM(every_position_in_a_slot_can_be_stopped, kt_schemes),
	KUNIT_CASE_PARAM(restart_earlier_expires_earlier, kt_schemes),
	KUNIT_CASE_PARAM(restart_later_expires_later, kt_schemes),
	KUNIT_CASE_PARAM(restart_to_a_tick_that_has_passed_is_due_at_the_next,
			 kt_schemes),
	KUNIT_CASE_PARAM(only_the_last_of_many_restarts_counts, kt_schemes),
	KUNIT_CASE_PARAM(one_due_now_can_still_be_stopped_or_restarted,
			 kt_schemes),
	KUNIT_CASE_PARAM(what_is_started_in_a_tick_waits_for_the_next,
			 kt_schemes),
	KUNIT_CASE_PARAM(a_jump_passes_every_tick_of_a_periodic_one,
			 kt_schemes),
	KUNIT_CASE_PARAM(a_jump_gives_out_everything_in_order, kt_schemes),
	KUNIT_CASE_PARAM(a_jump_over_nothing_moves_the_clock, kt_schemes),
	KUNIT_CASE_PARAM(jumps_of_any_length_meet_every_tick, kt_schemes),
	KUNIT_CASE_PARAM(the_last_tick_of_all_is_reached, kt_schemes),
	KUNIT_CASE_PARAM(nothing_pending_has_no_next_tick, kt_schemes),
	KUNIT_CASE_PARAM(next_ticks_lead_to_the_timer, kt_schemes),
	KUNIT_CASE_PARAM(the_next_tick_is_that_of_the_earliest, kt_schemes),
	KUNIT_CASE_PARAM(a_tick_that_is_not_finished_is_the_next, kt_schemes),
	{}
};

struct kunit_suite kt_scheme_suite = {
	.name = "twheel_scheme",
	.exit = kt_exit,
	.test_cases = scheme_cases,
};
