// SPDX-License-Identifier: GPL-2.0
/*
 * Further rules of the module's own schemes
 *
 * A scheme stops when its work is used up, and continues at the next call. The caller may
 * start, restart and stop nodes between the calls. It may also empty a wheel, skip ticks, and
 * move nodes to another wheel.
 */
#include <linux/math64.h>
#include <linux/sched.h>

#include "kunit_util.h"

/* Nodes of a case that meddles with a tick: half are due at the tick, half later. */
#define MEDDLE_TIMERS	10
#define MEDDLE_TICK	(4 * TWHEEL_HIER_WINDOW)

static bool pop_once(struct kunit *test, u64 target, int work)
{
	return twheel_check_pop(test->priv, target, &work);
}

static void a_node_is_as_small_as_promised(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizeof(struct twheel_node),
			2 * sizeof(void *) + 2 * sizeof(u64));
	KUNIT_EXPECT_LE(test, sizeof(struct twheel_timer),
			6 * sizeof(u64) + sizeof(struct lockdep_map));
}

/*
 * Round the random deadlines of @timers timers, all within a minute, with a slack of @slack_ns.
 * Returns the number of different ticks at which the timers would expire.
 */
static u32 ticks_with_slack(struct kunit *test, u32 timers, u64 slack_ns)
{
	const u64 begin = 1000 * 60 * (u64)NSEC_PER_SEC;
	struct twheel_rng rng = { .state = 1 };
	u32 distinct = 0, i;
	u8 *used = kunit_kzalloc(test, 61000, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, used);
	for (i = 0; i < timers; i++) {
		u64 at, deadline;

		at = begin + (u64)twheel_rng_below(&rng, 60000000) * NSEC_PER_USEC;
		deadline = twheel_round_deadline(at, slack_ns, NSEC_PER_MSEC);
		KUNIT_EXPECT_GE(test, deadline, at);
		KUNIT_EXPECT_LE(test, deadline, at + slack_ns);
		at = div64_u64(deadline - begin + NSEC_PER_MSEC - 1, NSEC_PER_MSEC);
		distinct += !used[at];
		used[at] = 1;
	}
	return distinct;
}

/*
 * Check that slack makes timers share ticks. With a slack of 8 ms they may expire only at every
 * eighth tick. Count the ticks at which timers expire: the number must be, within a tenth, what
 * results if each timer takes one of these ticks at random.
 */
static void timers_with_slack_meet(struct kunit *test)
{
	static const struct { u32 timers; u64 slack_ms; u32 ticks; } cases[] = {
		{ 10000, 0, 60 * 154 }, { 10000, 8, 60 * 92 },
		{ 10000, 64, 60 * 1000 / 64 },
		{ 100000, 0, 60 * 811 }, { 100000, 8, 60 * 1000 / 8 },
		{ 100000, 64, 60 * 1000 / 64 },
	};
	u32 i, ticks;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ticks = ticks_with_slack(test, cases[i].timers,
					 cases[i].slack_ms * NSEC_PER_MSEC);
		KUNIT_EXPECT_GE(test, ticks * 10, cases[i].ticks * 9);
		KUNIT_EXPECT_LE(test, ticks * 10, cases[i].ticks * 11);
	}
}

static void without_work_nothing_is_done(struct kunit *test)
{
	struct twheel_scheme *s;
	int work = 0;

	kt_begin(test, 10);
	kt_set(test, 'A', 20);
	kt_set(test, 'B', 100000);
	s = kt_scheme(test);
	KUNIT_EXPECT_TRUE(test, twheel_check_pop(test->priv, 10, &work));
	KUNIT_EXPECT_EQ(test, s->clock, 10);
	KUNIT_EXPECT_EQ(test, s->pending, 2);
}

/* Check that a refresh changes neither links nor slot. Scheme 6 sets a flag in the hint. */
static void a_refresh_writes_the_tick_and_moves_nothing(struct kunit *test)
{
	struct twheel_node before, *node;
	u32 nr, count;

	kt_begin(test, 0);
	kt_set(test, 'A', MEDDLE_TICK);
	kt_set(test, 'B', MEDDLE_TICK);
	kt_set(test, 'C', MEDDLE_TICK);
	node = kt_node(test, 'B');
	before = *node;
	nr = kt_slot(test, 'B');
	count = kt_scheme(test)->slots[nr].count;
	kt_set(test, 'B', 100 * MEDDLE_TICK + 5);
	KUNIT_EXPECT_EQ(test, node->expires, 100 * MEDDLE_TICK + 5);
	if (kt_ops(test) == &twheel_test_hier)
		KUNIT_EXPECT_EQ(test, node->hint, before.hint);
	KUNIT_EXPECT_PTR_EQ(test, node->link.next, before.link.next);
	KUNIT_EXPECT_PTR_EQ(test, node->link.prev, before.link.prev);
	KUNIT_EXPECT_EQ(test, kt_slot(test, 'B'), nr);
	KUNIT_EXPECT_EQ(test, kt_scheme(test)->slots[nr].count, count);
	KUNIT_EXPECT_EQ(test, kt_scheme(test)->cascaded, 0);
}

/*
 * Check that a refreshed node moves once, when its old slot is due, and not at all if its new
 * deadline is in the same slot.
 */
static void a_refreshed_node_is_carried_to_its_slot(struct kunit *test)
{
	u32 bit, off;
	u64 later;

	for (bit = 0; bit < 62; bit++) {
		for (off = 0; off < 2; off++) {
			later = 30 + (1ULL << bit) + off;
			kt_begin(test, 0);
			kt_set(test, 'A', 30);
			kt_set(test, 'A', later);
			KUNIT_ASSERT_STREQ(test, kt_out(test, 30), "");
			KUNIT_ASSERT_EQ(test, kt_scheme(test)->cascaded,
					kt_slot(test, 'A') == 30 ? 0 : 1);
			KUNIT_ASSERT_STREQ(test, kt_out(test, later - 1), "");
			KUNIT_ASSERT_STREQ(test, kt_out(test, later), "A");
		}
	}
}

/*
 * Refresh three times as many nodes of a slot as may remain there. Check that the refresh itself
 * moves the others, so that the tick of the slot has few nodes to move.
 */
static void a_storm_of_refreshes_leaves_few_for_its_tick(struct kunit *test)
{
	const u64 tick = TWHEEL_HIER_WINDOW;
	u32 i, slot, nr = 3 * TWHEEL_SLOT_LAZY_MAX;
	struct twheel_check *c = kt_begin_with(test, kt_ops(test), 0, KT_SLOTS, nr);
	struct twheel_scheme *s = kt_scheme(test);

	for (i = 0; i < nr; i++)
		twheel_check_set(c, i, tick);
	twheel_check_advance(c, tick - 1);
	for (i = 0; i < nr; i++)
		twheel_check_set(c, i, 2 * tick + i % 50000);
	slot = kt_slot(test, 'A');
	KUNIT_EXPECT_EQ(test, s->slots[slot].lazy, TWHEEL_SLOT_LAZY_MAX);
	KUNIT_EXPECT_EQ(test, twheel_check_advance(c, tick), 0);
	KUNIT_EXPECT_LE(test, s->cascaded, 2 * TWHEEL_SLOT_LAZY_MAX);
	KUNIT_EXPECT_EQ(test, twheel_check_advance(c, 1001 * tick - 1), nr);
	/* A refreshed node that is stopped must not count when the slot is used again. */
	for (i = 0; i < 2; i++) {
		kt_set(test, 'A', 1001 * tick);
		kt_set(test, 'A', 1001 * tick + 1);
		KUNIT_EXPECT_EQ(test, kt_slot(test, 'A'), slot);
		KUNIT_EXPECT_EQ(test, s->slots[slot].lazy, 1);
		kt_stop(test, 'A');
	}
}

/* Fill a slot with nodes that are due and nodes of later rounds. */
static void meddle_begin(struct kunit *test)
{
	char timer;

	kt_begin(test, 7);
	for (timer = 'A'; timer < 'A' + MEDDLE_TIMERS; timer++)
		kt_set(test, timer, timer % 2 ? MEDDLE_TICK :
			MEDDLE_TICK + KT_SLOTS * (timer - 'A'));
	/* This node is refreshed, and so remains in the slot. */
	kt_set(test, 'G', MEDDLE_TICK + 9);
}

static void meddle(struct kunit *test, char timer, u32 how)
{
	switch (how) {
	case 0:
		kt_stop(test, timer);
		break;
	case 1:
		kt_set(test, timer, 8);
		break;
	case 2:
		kt_set(test, timer, MEDDLE_TICK + 1);
		break;
	case 3:
		kt_set(test, timer, MEDDLE_TICK + KT_SLOTS);
		break;
	case 4:
		kt_set(test, timer, 100 * MEDDLE_TICK);
		break;
	default:
		kt_set(test, 'Z', MEDDLE_TICK + 5 * KT_SLOTS);
		kt_set(test, 'Y', 0);
	}
}

/*
 * Interrupt a tick after any number of nodes, and stop, restart or start any node there. The
 * oracle must find nothing wrong, and all pending nodes must expire.
 */
static void meddling_between_two_portions_does_no_harm(struct kunit *test)
{
	u32 pause, how;
	char timer;

	for (pause = 0; pause < 2 * MEDDLE_TIMERS; pause++) {
		for (timer = 'A'; timer < 'A' + MEDDLE_TIMERS; timer++) {
			for (how = 0; how < 6; how++) {
				u32 i;

				meddle_begin(test);
				kt_out(test, MEDDLE_TICK - 1);
				for (i = 0; i < pause; i++)
					pop_once(test, MEDDLE_TICK, 1);
				meddle(test, timer, how);
				while (pop_once(test, MEDDLE_TICK, 1))
					;
				kt_out(test, 200 * MEDDLE_TICK);
				KUNIT_ASSERT_EQ(test, kt_scheme(test)->pending, 0);
			}
		}
		cond_resched();
	}
}

/* Take out all timers with twheel_scheme_any(). Returns their letters in this order. */
static const char *any_out(struct kunit *test)
{
	static char out[KT_TIMERS + 1];
	struct twheel_check *c = test->priv;
	u32 slot = c->t->s.nr_slots, n = 0, id;
	struct twheel_node *node;

	while (n < KT_TIMERS && (node = twheel_scheme_any(&c->t->s, &slot))) {
		id = container_of(node, struct twheel_check_timer, node) -
		     c->timers;
		twheel_check_stop(c, id);
		out[n++] = 'A' + id;
	}
	out[n] = 0;
	return out;
}

/*
 * Start nodes for one tick while the clock approaches it, then empty the wheel. The nodes must
 * come out in the order of their starts. Use a new wheel for each number of nodes.
 */
static void any_returns_equals_in_order(struct kunit *test)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	u64 tick = 3 * (1ULL << 26);
	s32 bit, last;

	for (last = 25; last >= 0; last--) {
		kt_begin(test, 0);
		for (bit = 25; bit >= last; bit--) {
			kt_out(test, tick - (1ULL << bit));
			kt_set(test, 'A' + 25 - bit, tick);
		}
		KUNIT_ASSERT_EQ(test, kt_scheme(test)->pending, 26 - last);
		KUNIT_ASSERT_EQ(test, strncmp(any_out(test), alphabet, 26 - last), 0);
		KUNIT_ASSERT_EQ(test, kt_scheme(test)->pending, 0);
	}
}

static void any_finds_everything(struct kunit *test)
{
	struct twheel_check *c;
	struct twheel_node *node;
	u32 slot, i, found = 0;

	c = kt_begin_with(test, kt_ops(test), 0, KT_SLOTS, 2000);
	for (i = 0; i < 2000; i++)
		twheel_check_set(c, i, (u64)i * i * i * i);
	slot = c->t->s.nr_slots;
	while ((node = twheel_scheme_any(&c->t->s, &slot))) {
		i = container_of(node, struct twheel_check_timer, node) -
		    c->timers;
		twheel_check_stop(c, i);
		found++;
		/* A concurrent start, while the caller empties the wheel. */
		if (found % 4 == 0 && found < 1000)
			twheel_check_set(c, i, found * 1000);
	}
	KUNIT_EXPECT_EQ(test, found, 2000 + 249);
	KUNIT_EXPECT_EQ(test, c->t->s.pending, 0);
}

static void an_empty_wheel_can_skip_ticks(struct kunit *test)
{
	static const u64 ticks[] = { 11, 4096, 1ULL << 33, (1ULL << 62) + 5 };
	struct twheel_node node;
	struct twheel_scheme *s;
	int work;
	u32 i;

	node.link.next = NULL;
	kt_begin(test, 10);
	s = kt_scheme(test);
	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		node.expires = ticks[i] - 2;
		work = 100;
		if (i) {
			twheel_scheme_start(s, &node);
			KUNIT_EXPECT_PTR_EQ(test, twheel_scheme_pop(s, ticks[i] - 1, &work),
					    &node);
			KUNIT_EXPECT_EQ(test, s->clock, node.expires);
		}
		twheel_scheme_skip(s, ticks[i]);
		KUNIT_EXPECT_EQ(test, s->clock, ticks[i]);
		KUNIT_EXPECT_EQ(test, twheel_scheme_next(s), U64_MAX);
	}
}

/*
 * Move nodes to another wheel one by one, in the middle of a tick, as when a CPU goes offline. A
 * node that has left one wheel, and not yet joined the other, must still look pending.
 */
static void nodes_can_leave_for_another_wheel(struct kunit *test)
{
	struct twheel_test_scheme *to = kt_ops(test)->create(500, KT_SLOTS, 8);
	struct twheel_node nodes[8], *node;
	struct twheel_scheme *s;
	u32 i, slot, popped = 0;
	int work = 100;

	KUNIT_ASSERT_NOT_NULL(test, to);
	kt_begin(test, 0);
	s = kt_scheme(test);
	for (i = 0; i < 8; i++) {
		nodes[i].link.next = NULL;
		nodes[i].expires = 600 + i / 2 * KT_SLOTS;
		twheel_scheme_start(s, &nodes[i]);
	}
	KUNIT_EXPECT_PTR_EQ(test, twheel_scheme_pop(s, 600, &work), &nodes[0]);
	slot = s->nr_slots;
	while ((node = twheel_scheme_any(s, &slot))) {
		twheel_scheme_leave(s, node);
		KUNIT_EXPECT_TRUE(test, node->link.next);
		twheel_scheme_start(&to->s, node);
	}
	work = 100;
	KUNIT_EXPECT_TRUE(test, !twheel_scheme_pop(s, 5000, &work));
	work = 1000;
	while (twheel_scheme_pop(&to->s, 5000, &work))
		popped++;
	KUNIT_EXPECT_EQ(test, popped, 7);
	to->ops->destroy(to);
}

static struct kunit_case wheel_cases[] = {
	KUNIT_CASE(a_node_is_as_small_as_promised),
	KUNIT_CASE(timers_with_slack_meet),
	KUNIT_CASE_PARAM(without_work_nothing_is_done, kt_wheels),
	KUNIT_CASE_PARAM(a_refresh_writes_the_tick_and_moves_nothing, kt_wheels),
	KUNIT_CASE_PARAM(a_refreshed_node_is_carried_to_its_slot, kt_wheels),
	KUNIT_CASE_PARAM(a_storm_of_refreshes_leaves_few_for_its_tick, kt_wheels),
	KUNIT_CASE_PARAM(meddling_between_two_portions_does_no_harm,
			 kt_wheels),
	KUNIT_CASE_PARAM(any_returns_equals_in_order, kt_wheels),
	KUNIT_CASE_PARAM(any_finds_everything, kt_wheels),
	KUNIT_CASE_PARAM(an_empty_wheel_can_skip_ticks, kt_wheels),
	KUNIT_CASE_PARAM(nodes_can_leave_for_another_wheel, kt_wheels),
	{}
};

struct kunit_suite kt_wheel_suite = {
	.name = "twheel_wheel",
	.exit = kt_exit,
	.test_cases = wheel_cases,
};
