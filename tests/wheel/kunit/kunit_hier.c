// SPDX-License-Identifier: GPL-2.0
/*
 * The hierarchical wheel: levels, cascades and their pace
 *
 * These cases look at the wheel's internal state. B is the number of bits of a level, and W = 2^B
 * the number of slots of a window. The ring of a level has two windows.
 */
#include <linux/sched.h>
#include <linux/string.h>

#include "kunit_util.h"
#include "../../../twheel_info.h"

#define B		TWHEEL_HIER_BITS
#define W		((u64)TWHEEL_HIER_WINDOW)
#define RING		TWHEEL_HIER_RING
#define LEVELS		TWHEEL_HIER_LEVELS

/* Number of nodes of a crowd. */
#define CROWD		100000

/* Upper bound of the moves of one tick, which are few compared with a crowd of 20000. */
#define FEW_MOVES	3000
/* Upper bound of the nodes that a level moves at once as the shares of several ticks. */
#define MOVES		64

static struct twheel_check *begin(struct kunit *test, u64 clock, u32 nr)
{
	return kt_begin_with(test, &twheel_test_hier, clock, 0, nr);
}

/* Check that cascades move a node down one level at a time, into the right slot. */
static void a_node_goes_down_level_by_level(struct kunit *test)
{
	u64 tick = (((3 * W + 7) * W + 9) * W) + 5, next;
	u32 level = 3;

	begin(test, 0, 1);
	kt_set(test, 'A', tick);
	KUNIT_EXPECT_EQ(test, kt_slot(test, 'A') / RING, level);
	while ((next = kt_next(test)) < tick) {
		KUNIT_ASSERT_STREQ(test, kt_out(test, next), "");
		level--;
		KUNIT_ASSERT_EQ(test, kt_slot(test, 'A'),
				level * RING + ((tick >> level * B) & (RING - 1)));
	}
	KUNIT_EXPECT_EQ(test, level, 0);
	KUNIT_EXPECT_EQ(test, kt_scheme(test)->cascaded, 3);
}

/*
 * Returns the number of nodes that the wheel may move at @tick. Each level has to empty its next
 * outer slot in the remaining ticks, in equal shares, rounded up. The nodes that come down to this
 * slot from the level above in the same tick count as well. A level may move up to MOVES nodes at
 * once, as the shares of several ticks.
 */
static u64 fair_share(const struct twheel_scheme *s, u64 tick)
{
	u64 next, left, count, share = 0, sum = 0;
	u32 level;

	for (level = LEVELS - 1; level; level--) {
		next = (tick >> level * B) + 1;
		left = (next << level * B) - tick;
		count = s->slots[level * RING + (next & (RING - 1))].count +
			share;
		share = 0;
		if (left <= count)
			share = max_t(u32, DIV_ROUND_UP((u32)count, (u32)left),
				      min_t(u64, count, MOVES));
		else if (count)
			share = 1;
		sum += share;
	}
	return sum;
}

/* Start a crowd in one slot, and go on tick by tick. No tick may move more than its fair share. */
static void a_crowd_in_a_slot_of_level_2_is_moved_in_equal_shares(struct kunit *test)
{
	const u32 level = 2;
	u64 edge = 2ULL << level * B, moved, most, tick;
	struct twheel_check *c = begin(test, 0, CROWD);
	struct twheel_scheme *s = kt_scheme(test);
	u32 i;

	for (i = 0; i < CROWD; i++)
		twheel_check_set(c, i, edge + i / 500);
	KUNIT_ASSERT_EQ(test, s->slots[level * RING + 2].count, CROWD);
	twheel_check_advance(c, edge / 2 - 2);
	KUNIT_ASSERT_EQ(test, s->cascaded, 0);
	for (tick = edge / 2 - 1; s->pending; tick++) {
		most = fair_share(s, tick);
		moved = s->cascaded;
		twheel_check_advance(c, tick);
		KUNIT_ASSERT_LE_MSG(test, s->cascaded - moved, most,
				    "tick %llu", tick);
		if (tick == edge - 1)
			KUNIT_ASSERT_EQ(test, s->slots[level * RING + 2].count, 0);
		if (!(tick & 1023))
			cond_resched();
	}
	KUNIT_EXPECT_EQ(test, c->popped, CROWD);
	KUNIT_EXPECT_EQ(test, s->cascaded, level * CROWD);
}

/* Check that a cascade asks for a tick that only the owner knows, and moves the node there. */
static void a_cascade_asks_before_it_moves_a_node(struct kunit *test)
{
	struct twheel_check *c = kt_begin_with(test, &twheel_test_hier, 0, 0, KT_TIMERS);

	kt_set(test, 'A', 5 * W + 5);
	twheel_check_store(c, 0, 1000 * W);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 5 * W + 6), "");
	KUNIT_EXPECT_EQ(test, kt_scheme(test)->cascaded, 1);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 1000 * W - 1), "");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 1000 * W), "A");
}

/*
 * Check that a tickless wheel, which is advanced only to its next ticks, wakes up early enough to
 * move a crowd out of an outer slot in portions: never more than FEW_MOVES nodes in a wake-up.
 */
static void a_tickless_wheel_wakes_early_for_a_crowd(struct kunit *test)
{
	struct twheel_check *c = begin(test, 0, 20000);
	struct twheel_scheme *s = kt_scheme(test);
	u64 edge = 2ULL << 2 * B, moved, next;
	u32 i;

	for (i = 0; i < 20000; i++)
		twheel_check_set(c, i, edge + i % 100);
	while (s->clock < edge - 1) {
		moved = s->cascaded;
		next = kt_next(test);
		twheel_check_advance(c, next);
		KUNIT_ASSERT_LE(test, s->cascaded - moved, FEW_MOVES);
	}
	KUNIT_EXPECT_EQ(test, twheel_check_advance(c, edge + 100), 20000);
}

/*
 * Check that twheel_scheme_next_due() requeues refreshed nodes, up to the given number, so that
 * the wheel sleeps until a node is due.
 */
static void a_sleep_ends_when_a_node_is_due(struct kunit *test)
{
	struct twheel_scheme *s;

	begin(test, 5 * W, 4);
	s = kt_scheme(test);
	kt_set(test, 'A', 5 * W + 3);
	kt_set(test, 'B', 5 * W + 3);
	kt_set(test, 'C', 5 * W + 4);
	kt_set(test, 'D', 5 * W + 50);
	kt_set(test, 'A', 5 * W + 40);
	kt_set(test, 'B', 9 * W);
	kt_set(test, 'C', 5 * W + 40);
	KUNIT_EXPECT_EQ(test, twheel_scheme_next_due(s, 1), 5 * W + 3);
	KUNIT_EXPECT_EQ(test, s->cascaded, 1);
	KUNIT_EXPECT_EQ(test, twheel_scheme_next_due(s, 1), 5 * W + 4);
	KUNIT_EXPECT_EQ(test, twheel_scheme_next_due(s, 64), 5 * W + 40);
	KUNIT_EXPECT_EQ(test, s->cascaded, 3);
	KUNIT_EXPECT_EQ(test, twheel_scheme_next_due(s, 64), 5 * W + 40);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 5 * W + 39), "");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 5 * W + 40), "AC");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 9 * W), "DB");
}

/*
 * Stop and overwrite two thirds of the nodes, to which hints of the other nodes still lead. Each
 * round uses the same slot, whose @recent still has addresses of nodes of the round before.
 */
static void a_hint_to_one_that_is_gone_does_no_harm(struct kunit *test)
{
	struct twheel_check *c = begin(test, 0, 4000);
	u64 tick = 2 * W + 7;
	u32 round, i;

	for (round = 0; round < 4; round++, tick += RING) {
		for (i = 0; i < 4000; i++)
			twheel_check_set(c, i, tick);
		for (i = 0; i < 4000; i++)
			if (i % 3)
				twheel_check_stop(c, i);
		for (i = 0; i < 4000; i++)
			if (i % 3)
				memset(&c->timers[i].node.link, 0xa5,
				       sizeof(c->timers[i].node.link));
		KUNIT_ASSERT_EQ(test, twheel_check_advance(c, tick - 1), 0);
		KUNIT_ASSERT_EQ(test, twheel_check_advance(c, tick), 1334);
		for (i = 0; i < 4000; i++)
			c->timers[i].node.link.next = NULL;
	}
}

/* Check that a hint leads to the node that joined TWHEEL_SLOT_HINTS nodes before. */
static void a_hint_leads_to_the_one_so_many_joins_before(struct kunit *test)
{
	struct twheel_node *node, *before;
	u32 i;

	begin(test, 0, KT_TIMERS);
	for (i = 0; i < KT_TIMERS; i++)
		kt_set(test, 'A' + i, 5 * W);
	for (i = 0; i < KT_TIMERS; i++) {
		node = kt_node(test, 'A' + i);
		before = kt_node(test, 'A' + (i < TWHEEL_SLOT_HINTS ? 0 :
					      i - TWHEEL_SLOT_HINTS));
		KUNIT_EXPECT_PTR_EQ(test,
				    twheel_slot_hinted(node, node->hint & ~TWHEEL_SLOT_MAY_STAY),
				    (void *)before);
	}
}

/* Check that a node moves only once, however often it is refreshed. */
static void refreshing_again_and_again_is_counted_once(struct kunit *test)
{
	struct twheel_check *c = begin(test, 0, 100);
	u32 i, times;

	for (i = 0; i < 100; i++)
		twheel_check_set(c, i, W);
	for (times = 1; times < 100; times++)
		for (i = 0; i < 100; i++)
			twheel_check_set(c, i, W + times);
	KUNIT_EXPECT_EQ(test, kt_scheme(test)->slots[W].lazy, 100);
	KUNIT_EXPECT_EQ(test, twheel_check_advance(c, W), 0);
	KUNIT_EXPECT_EQ(test, kt_scheme(test)->cascaded, 100);
	KUNIT_EXPECT_EQ(test, twheel_check_advance(c, W + 99), 100);
}

/*
 * Check that a few refreshed nodes keep their order, and that many refreshed nodes do not delay a
 * node that is due in their slot.
 */
static void refreshed_nodes_leave_the_slot_to_others(struct kunit *test)
{
	struct twheel_check *c = begin(test, 0, 101);
	u32 i;

	kt_set(test, 'A', 100);
	kt_set(test, 'B', 100);
	kt_set(test, 'A', 200);
	kt_set(test, 'B', 200);
	KUNIT_EXPECT_STREQ(test, kt_out(test, 199), "");
	KUNIT_EXPECT_STREQ(test, kt_out(test, 200), "AB");
	for (i = 0; i < 100; i++)
		twheel_check_set(c, i, 220);
	for (i = 0; i < 100; i++)
		twheel_check_set(c, i, 230);
	twheel_check_set(c, 100, 220);
	KUNIT_EXPECT_EQ(test, twheel_check_advance(c, 220), 1);
	KUNIT_EXPECT_EQ(test, twheel_check_advance(c, 230), 100);
}

/* Check that the next tick is found in any slot of level 0. */
static void the_next_tick_is_found_in_every_group(struct kunit *test)
{
	u64 clock, delta;
	u32 i;

	for (i = 0; i < kt_nr_clocks; i++) {
		clock = kt_clocks[i];
		begin(test, clock, 2);
		for (delta = 1; delta <= W; delta++) {
			kt_set(test, 'A', clock + delta);
			KUNIT_ASSERT_EQ(test, kt_next(test), clock + delta);
			kt_set(test, 'B', clock + delta / 2);
			KUNIT_ASSERT_EQ(test, kt_next(test),
					clock + max(delta / 2, 1ULL));
			kt_stop(test, 'B');
			KUNIT_ASSERT_EQ(test, kt_next(test), clock + delta);
			kt_stop(test, 'A');
			KUNIT_ASSERT_EQ(test, kt_next(test), U64_MAX);
			KUNIT_ASSERT_EQ(test, kt_scheme(test)->levels, 0);
		}
	}
}

/*
 * Set the count of an outer slot to less than its number of nodes, as if the count had overflowed.
 * Check that the nodes expire in time nevertheless.
 */
static void a_count_that_is_wrong_makes_nothing_late(struct kunit *test)
{
	u32 level, count;
	u64 edge;

	for (level = 1; level < 3; level++) {
		for (count = 0; count < 3; count++) {
			edge = 2ULL << level * B;
			begin(test, 0, 3);
			kt_set(test, 'A', edge);
			kt_set(test, 'B', edge + 1);
			kt_set(test, 'C', edge + 2);
			kt_scheme(test)->slots[level * RING + 2].count = count;
			KUNIT_ASSERT_STREQ(test, kt_out(test, edge - 1), "");
			KUNIT_ASSERT_STREQ(test, kt_out(test, edge), "A");
			KUNIT_ASSERT_STREQ(test, kt_out(test, edge + 2), "BC");
		}
	}
}

/*
 * Start and stop a timer @churn times near a pending one, and wait for the pending one. The case
 * fails if the oracle counts too many wake-ups.
 */
static void churn_beside_one(struct kunit *test, u64 tick, u32 churn)
{
	struct twheel_check *c = begin(test, 1000, 2);
	u32 i;

	kt_set(test, 'A', tick);
	for (i = 0; i < churn; i++) {
		kt_set(test, 'B', tick - i % W);
		kt_stop(test, 'B');
	}
	while (!c->popped)
		twheel_check_advance(c, kt_next(test));
	KUNIT_EXPECT_EQ(test, twheel_check_clock(c), tick);
}

static void one_timer_wakes_a_tickless_wheel_a_few_times(struct kunit *test)
{
	static const u32 churns[] = { 0, 1, 100, 10000 };
	static const u64 ticks[] = {
		1500, 50000, 600000, 90000000, (1ULL << 32) - 1,
	};
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(ticks); i++)
		for (j = 0; j < ARRAY_SIZE(churns); j++)
			churn_beside_one(test, ticks[i], churns[j]);
}

static struct kunit_case hier_cases[] = {
	KUNIT_CASE(a_hint_to_one_that_is_gone_does_no_harm),
	KUNIT_CASE(a_hint_leads_to_the_one_so_many_joins_before),
	KUNIT_CASE(refreshing_again_and_again_is_counted_once),
	KUNIT_CASE(refreshed_nodes_leave_the_slot_to_others),
	KUNIT_CASE(the_next_tick_is_found_in_every_group),
	KUNIT_CASE(a_count_that_is_wrong_makes_nothing_late),
	KUNIT_CASE(one_timer_wakes_a_tickless_wheel_a_few_times),
	KUNIT_CASE(a_node_goes_down_level_by_level),
	KUNIT_CASE(a_cascade_asks_before_it_moves_a_node),
	KUNIT_CASE_ATTR(a_crowd_in_a_slot_of_level_2_is_moved_in_equal_shares,
			KT_SLOW),
	KUNIT_CASE(a_tickless_wheel_wakes_early_for_a_crowd),
	KUNIT_CASE(a_sleep_ends_when_a_node_is_due),
	{}
};

struct kunit_suite kt_hier_suite = {
	.name = "twheel_hier",
	.exit = kt_exit,
	.test_cases = hier_cases,
};
