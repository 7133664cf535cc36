// SPDX-License-Identifier: GPL-2.0
/*
 * Lists corrupted by a timer that was overwritten, freed or set up again while it
 * was pending
 *
 * A wheel of the module must notice the corruption, must not write to the neighbours of the
 * corrupted node, and must end every tick.
 */
#include "corrupted.h"

#include "kunit_util.h"

#define NODES	5

static struct twheel_test_scheme *wheel;
static struct twheel_node nodes[NODES];

/* Set up a node like twheel_timer_setup() does. */
static void set_up(struct twheel_node *node)
{
	node->link.next = NULL;
}

static void start(struct twheel_scheme *s, struct twheel_node *node, u64 expires)
{
	node->expires = expires;
	twheel_scheme_start(s, node);
}

/* Start nodes 1 to 4 for one tick, so that they are in one slot. */
static struct twheel_scheme *four(struct kunit *test, u64 expires)
{
	const struct twheel_test_scheme_ops *ops = *(const void **)test->param_value;
	u32 i;

	wheel = ops->create(0, KT_SLOTS, NODES);
	KUNIT_ASSERT_NOT_NULL(test, wheel);
	memset(nodes, 0, sizeof(nodes));
	kt_corruptions = 0;
	for (i = 1; i < NODES; i++)
		start(&wheel->s, &nodes[i], expires);
	return &wheel->s;
}

/*
 * Expire timers up to @target. Returns their numbers as the digits of one number: 24 if timer 2
 * expires, and then timer 4.
 */
static u32 out(struct kunit *test, struct twheel_scheme *s, u64 target)
{
	struct twheel_node *node;
	u32 digits = 0, calls;
	int work = 0;

	for (calls = 0; calls < 100000; calls++) {
		if (work <= 0)
			work = 64;
		node = twheel_scheme_pop(s, target, &work);
		if (node)
			digits = digits * 10 + (node - nodes);
		else if (work > 0)
			return digits;
	}
	KUNIT_FAIL(test, "no end");
	return digits;
}

static void a_stop_is_refused(struct kunit *test)
{
	struct twheel_scheme *s = four(test, 10);
	struct twheel_node *n = nodes;

	n[3].link.prev = &n[3].link;
	twheel_scheme_stop(s, &n[2]);
	KUNIT_EXPECT_EQ(test, kt_corruptions, 1);
	KUNIT_EXPECT_NULL(test, n[2].link.next);
	KUNIT_EXPECT_EQ(test, s->pending, 3);
	KUNIT_EXPECT_PTR_EQ(test, n[3].link.prev, &n[3].link);
	KUNIT_EXPECT_PTR_EQ(test, n[1].link.next, &n[2].link);
	wheel->ops->destroy(wheel);
}

/*
 * Overwrite the link from node 1 to node 2, then restart node 2 to an earlier tick, which moves it
 * to another slot. The link of node 3 must stay as it is.
 */
static void a_move_leaves_the_neighbours_alone(struct kunit *test)
{
	struct twheel_scheme *s = four(test, 10);
	struct twheel_node *n = nodes;

	n[1].link.next = &n[3].link;
	twheel_scheme_restart(s, &n[2], 5);
	KUNIT_EXPECT_EQ(test, kt_corruptions, 1);
	KUNIT_EXPECT_PTR_EQ(test, n[3].link.prev, &n[2].link);
	KUNIT_EXPECT_EQ(test, out(test, s, 5), 2);
	wheel->ops->destroy(wheel);
}

/*
 * Corrupt some of the four nodes of a slot, which is in level 0 or is cascaded. Check that the
 * tick ends, that the corruption is noticed, and that the wheel does not wake up for lost nodes.
 */
static void a_tick_ends(struct kunit *test)
{
	static const u64 ticks[] = { 10, 1000, 100000 };
	struct twheel_scheme *s;
	u32 which, i, j;

	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		for (which = 1; which < 16; which++) {
			s = four(test, ticks[i]);
			for (j = 0; j < 4; j++)
				if (which & BIT(j))
					set_up(&nodes[j + 1]);
			KUNIT_EXPECT_LE(test, out(test, s, ticks[i] + 10), 234);
			KUNIT_EXPECT_GE(test, kt_corruptions, 1);
			KUNIT_EXPECT_NE(test, s->pending, 0);
			KUNIT_EXPECT_EQ(test, wheel->ops->next(wheel), U64_MAX);
			wheel->ops->destroy(wheel);
		}
	}
}

/* Set up and start a pending node again, so that it is in two lists. All ticks must end. */
static void a_tick_ends_with_a_node_in_two_lists(struct kunit *test)
{
	static const u64 ticks[] = { 10, 1000, 100000 };
	struct twheel_scheme *s;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		s = four(test, ticks[i]);
		set_up(&nodes[2]);
		start(s, &nodes[2], ticks[i] * 2);
		out(test, s, ticks[i] * 3);
		KUNIT_EXPECT_GE(test, kt_corruptions, 1);
		wheel->ops->destroy(wheel);
	}
}

/* Empty a corrupted wheel, as a drain does, or a CPU that goes offline. */
static void any_comes_to_an_end(struct kunit *test)
{
	struct twheel_scheme *s = four(test, 10);
	u32 nr = 0, slot = s->nr_slots;
	struct twheel_node *node;

	start(s, &nodes[0], 20);
	set_up(&nodes[2]);
	while (nr < NODES && (node = twheel_scheme_any(s, &slot))) {
		twheel_scheme_stop(s, node);
		nr++;
	}
	KUNIT_EXPECT_EQ(test, nr, 2);
	KUNIT_EXPECT_GE(test, kt_corruptions, 1);
	wheel->ops->destroy(wheel);
}

static struct kunit_case kt_corrupted_cases[] = {
	KUNIT_CASE_PARAM(a_stop_is_refused, kt_wheels),
	KUNIT_CASE_PARAM(a_move_leaves_the_neighbours_alone, kt_wheels),
	KUNIT_CASE_PARAM(a_tick_ends, kt_wheels),
	KUNIT_CASE_PARAM(a_tick_ends_with_a_node_in_two_lists, kt_wheels),
	KUNIT_CASE_PARAM(any_comes_to_an_end, kt_wheels),
	{}
};

struct kunit_suite kt_corrupted_suite = {
	.name = "twheel_corrupted",
	.test_cases = kt_corrupted_cases,
};
