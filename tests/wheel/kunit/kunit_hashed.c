// SPDX-License-Identifier: GPL-2.0
/*
 * The hashed wheels: rounds, lazy refresh, skipped rounds
 *
 * These cases look at the wheel's internal state. A round is as many ticks as there are slots.
 */
#include <linux/sched.h>

#include "kunit_util.h"

#define N		((u64)KT_SLOTS)

/* Move the clock to @target. Returns the number of nodes and slots that the wheel looked at. */
static u32 work_of(struct kunit *test, u64 target)
{
	u32 used = 0;
	int work;
	bool more;

	do {
		work = 1;
		more = twheel_check_pop(test->priv, target, &work);
		used += 1 - work;
	} while (more);
	return used;
}

static void the_slot_is_the_tick_modulo_slots(struct kunit *test)
{
	struct twheel_rng rng = { .state = 1 };
	u32 slots, i;
	u64 clock, tick;

	for (slots = 2; slots <= 4096; slots *= 2) {
		clock = twheel_rng_log(&rng, 60);
		kt_begin_with(test, kt_ops(test), clock, slots, 1);
		for (i = 0; i < 50; i++) {
			tick = clock + 1 + twheel_rng_log(&rng, 60);
			kt_set(test, 'A', tick);
			KUNIT_ASSERT_EQ(test, kt_slot(test, 'A'),
					tick % slots);
			kt_stop(test, 'A');
		}
	}
}

static void slots_of_later_rounds_are_passed_without_a_look(struct kunit *test)
{
	char timer;

	kt_begin(test, 0);
	for (timer = 'A'; timer <= 'Z'; timer++)
		kt_set(test, timer, 10 + N * (timer - 'A' + 1));
	KUNIT_EXPECT_LE(test, work_of(test, N), 1);
}

/* Start Z for the first round, and A to Y for the same slot, fifty or more rounds later. */
static void begin_before_a_look(struct kunit *test)
{
	char timer;

	kt_begin(test, 0);
	for (timer = 'A'; timer <= 'Y'; timer++)
		kt_set(test, timer, 10 + 50 * N + N * (timer - 'A'));
	kt_set(test, 'Z', 10);
}

/*
 * Check that a search of a slot notes the next deadline in it, so that the wheel does not search
 * the slot again before that deadline.
 */
static void a_look_is_not_repeated_before_it_must(struct kunit *test)
{
	begin_before_a_look(test);
	KUNIT_EXPECT_LE(test, work_of(test, N), 25);
	KUNIT_EXPECT_LE(test, work_of(test, 2 * N), 1);
	KUNIT_EXPECT_LE(test, work_of(test, 3 * N), 1);
}

/*
 * Check that a stop costs at most one search of the slot that finds nothing: the deadline of the
 * stopped node remains the lower bound of the slot until then.
 */
static void a_stop_costs_one_look_at_most(struct kunit *test)
{
	begin_before_a_look(test);
	kt_stop(test, 'Z');
	KUNIT_EXPECT_LE(test, work_of(test, N), 25);
	KUNIT_EXPECT_LE(test, work_of(test, 2 * N), 1);
}

/* Check that passing a slot counts as work, so that the work of a long jump has a limit. */
static void slots_that_are_passed_are_counted(struct kunit *test)
{
	struct twheel_check *c;
	int work = 10;
	u32 i;

	c = kt_begin_with(test, kt_ops(test), 0, 256, 200);
	for (i = 0; i < 200; i++)
		twheel_check_set(c, i, i + 1 + 256 * 1000);
	KUNIT_EXPECT_TRUE(test, twheel_check_pop(c, 255, &work));
	KUNIT_EXPECT_LE(test, work, 0);
	KUNIT_EXPECT_LE(test, twheel_check_clock(c), 10);
}

/* Jump up to 2^62 ticks with three timers. The wheel must look at only a few slots. */
static void a_long_jump_costs_what_is_in_use(struct kunit *test)
{
	u32 bit;

	for (bit = 8; bit < 63; bit++) {
		kt_begin(test, 33);
		kt_set(test, 'A', 40);
		kt_set(test, 'B', (1ULL << bit) - 9);
		kt_set(test, 'C', 1ULL << bit);
		KUNIT_ASSERT_LE(test, work_of(test, 1ULL << bit), 20);
		KUNIT_ASSERT_EQ(test, kt_scheme(test)->pending, 0);
	}
}

static void the_largest_wheel_works(struct kunit *test)
{
	u64 n = TWHEEL_SLOTS_MAX;

	kt_begin_with(test, kt_ops(test), n - 3, n, 8);
	kt_set(test, 'A', n - 2);
	kt_set(test, 'B', n);
	kt_set(test, 'C', 2 * n - 3);
	kt_set(test, 'D', 1000 * n);
	kt_set(test, 'E', 1000 * n + 1);
	KUNIT_EXPECT_STREQ(test, kt_out(test, n - 1), "A");
	KUNIT_EXPECT_STREQ(test, kt_out(test, n), "B");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 2 * n - 4), "");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 2 * n - 3), "C");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 1000 * n - 1), "");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 1000 * n + 1), "DE");
}

/* Check the tick until which a tickless wheel sleeps if all timers are many rounds away. */
static void the_next_tick_is_exact_if_few_slots_are_in_use(struct kunit *test)
{
	u64 round;

	for (round = 1; round < 1ULL << 50; round *= 5) {
		kt_begin(test, 21);
		kt_set(test, 'A', 20 + round * N);
		kt_set(test, 'B', 25 + round * N);
		kt_set(test, 'C', 18 + (round + 1) * N);
		KUNIT_ASSERT_EQ(test, kt_next(test), 20 + round * N);
	}
}

/* Check that the search gives up after some of 200 slots, whose timers are due in later rounds. */
static void the_next_tick_is_looked_for_in_a_bounded_way(struct kunit *test)
{
	struct twheel_check *c;
	u32 i;

	c = kt_begin_with(test, kt_ops(test), 0, 256, 201);
	for (i = 1; i <= 200; i++)
		twheel_check_set(c, i, i + 256 * 1000);
	KUNIT_EXPECT_EQ(test, kt_next(test), 65);
	/*
	 * The search finds a timer that is due in one of these slots. It need not find a later one.
	 */
	twheel_check_set(c, 0, 60);
	KUNIT_EXPECT_EQ(test, kt_next(test), 60);
	twheel_check_set(c, 0, 150);
	KUNIT_EXPECT_LE(test, kt_next(test), 150);
}

/* Check that neither a search nor a jump passes many of a million free slots at once. */
static void a_search_of_many_slots_is_bounded(struct kunit *test)
{
	u64 n = TWHEEL_SLOTS_MAX, most = 4096, next;
	struct twheel_check *c;
	u32 searches = 0;
	int work = 10;

	c = kt_begin_with(test, kt_ops(test), 0, n, 8);
	kt_set(test, 'A', n / 2);
	KUNIT_EXPECT_TRUE(test, twheel_check_pop(c, n / 4, &work));
	KUNIT_EXPECT_LE(test, work, 0);
	KUNIT_EXPECT_LE(test, twheel_check_clock(c), 10 * most);
	while ((next = kt_next(test)) < n / 2) {
		KUNIT_ASSERT_LE(test, next - twheel_check_clock(c), most + 1);
		KUNIT_ASSERT_STREQ(test, kt_out(test, next), "");
		searches++;
	}
	KUNIT_EXPECT_LE(test, searches, n / 2 / most);
	KUNIT_EXPECT_EQ(test, next, n / 2);
	KUNIT_EXPECT_STREQ(test, kt_out(test, next), "A");
}

static struct kunit_case hashed_cases[] = {
	KUNIT_CASE_PARAM(the_slot_is_the_tick_modulo_slots, kt_hashed),
	KUNIT_CASE_PARAM(slots_of_later_rounds_are_passed_without_a_look,
			 kt_hashed),
	KUNIT_CASE_PARAM(a_look_is_not_repeated_before_it_must, kt_hashed),
	KUNIT_CASE_PARAM(a_stop_costs_one_look_at_most, kt_hashed),
	KUNIT_CASE_PARAM(slots_that_are_passed_are_counted, kt_hashed),
	KUNIT_CASE_PARAM(a_long_jump_costs_what_is_in_use, kt_hashed),
	KUNIT_CASE_PARAM(the_largest_wheel_works, kt_hashed),
	KUNIT_CASE_PARAM(the_next_tick_is_exact_if_few_slots_are_in_use,
			 kt_hashed),
	KUNIT_CASE_PARAM(the_next_tick_is_looked_for_in_a_bounded_way,
			 kt_hashed),
	KUNIT_CASE_PARAM(a_search_of_many_slots_is_bounded, kt_hashed),
	{}
};

struct kunit_suite kt_hashed_suite = {
	.name = "twheel_hashed",
	.exit = kt_exit,
	.test_cases = hashed_cases,
};
