// SPDX-License-Identifier: GPL-2.0
/*
 * Lists that somebody has torn
 *
 * A timer that is overwritten, freed or set up anew while it is pending tears
 * the list of its slot. The wheels of the module have to report it, must not
 * write to unknown memory, and must come to an end.
 */
#include "torn.h"

#include "kunit_util.h"

#define NODES	200
#define FAR	100000
/* One of so many is spoilt, at most one in a slot. */
#define SPOILT	40

struct torn {
	struct twheel_test_scheme *t;
	struct twheel_node nodes[NODES];
};

/* As twheel_timer_setup() does. */
static void set_up(struct twheel_node *node)
{
	node->link.next = NULL;
}

static struct twheel_scheme *torn_begin(struct kunit *test, struct torn *torn)
{
	const struct twheel_test_scheme_ops *ops = *(const void **)test->param_value;
	u32 i;

	memset(torn, 0, sizeof(*torn));
	torn->t = ops->create(0, KT_SLOTS, NODES);
	KUNIT_ASSERT_NOT_NULL(test, torn->t);
	for (i = 0; i < NODES; i++)
		set_up(&torn->nodes[i]);
	kt_torn_reports = 0;
	return &torn->t->s;
}

static void torn_end(struct torn *torn)
{
	torn->t->ops->destroy(torn->t);
}

static bool linked(const struct twheel_node *node)
{
	return node->link.next;
}

static void start(struct twheel_scheme *s, struct twheel_node *node, u64 expires)
{
	node->expires = expires;
	twheel_scheme_start(s, node);
}

/* The timers that come out until @target, as a number with a digit for each. */
static u32 out(struct kunit *test, struct torn *torn, u64 target)
{
	struct twheel_scheme *s = &torn->t->s;
	struct twheel_node *node;
	u32 digits = 0, calls;
	int work = 0;

	for (calls = 0; calls < 100000; calls++) {
		if (work <= 0)
			work = 64;
		node = twheel_scheme_pop(s, target, &work);
		if (node)
			digits = digits * 10 + (node - torn->nodes);
		else if (work > 0)
			return digits;
	}
	KUNIT_FAIL(test, "no end");
	return digits;
}

static struct torn torn;

/* Four nodes of one tick, in one slot, the first is number 1. */
static struct twheel_scheme *four(struct kunit *test)
{
	struct twheel_scheme *s = torn_begin(test, &torn);
	u32 i;

	for (i = 1; i <= 4; i++)
		start(s, &torn.nodes[i], 10);
	return s;
}

static void an_unlink_is_refused(struct kunit *test)
{
	struct twheel_node *n = torn.nodes;
	struct twheel_scheme *s = four(test);

	n[3].link.prev = &n[3].link;
	twheel_scheme_stop(s, &n[2]);
	KUNIT_EXPECT_EQ(test, kt_torn_reports, 1);
	KUNIT_EXPECT_FALSE(test, linked(&n[2]));
	KUNIT_EXPECT_EQ(test, s->pending, 3);
	KUNIT_EXPECT_PTR_EQ(test, n[3].link.prev, &n[3].link);
	KUNIT_EXPECT_PTR_EQ(test, n[1].link.next, &n[2].link);
	KUNIT_EXPECT_EQ(test, out(test, &torn, 20), 134);
	KUNIT_EXPECT_EQ(test, s->pending, 0);
	torn_end(&torn);
}

/* To an earlier tick, and so to another slot. */
static void a_move_is_refused_and_made(struct kunit *test)
{
	struct twheel_node *n = torn.nodes;
	struct twheel_scheme *s = four(test);

	n[1].link.next = &n[3].link;
	twheel_scheme_restart(s, &n[2], 5);
	KUNIT_EXPECT_EQ(test, kt_torn_reports, 1);
	KUNIT_EXPECT_PTR_EQ(test, n[3].link.prev, &n[2].link);
	KUNIT_EXPECT_EQ(test, out(test, &torn, 20), 2134);
	KUNIT_EXPECT_EQ(test, s->pending, 0);
	torn_end(&torn);
}

/* The last is set up anew: a start must not write to it. */
static void a_start_does_not_touch_a_torn_tail(struct kunit *test)
{
	struct twheel_node *n = torn.nodes;
	struct twheel_scheme *s = four(test);

	set_up(&n[4]);
	start(s, &n[5], 10);
	KUNIT_EXPECT_EQ(test, kt_torn_reports, 1);
	KUNIT_EXPECT_FALSE(test, linked(&n[4]));
	KUNIT_EXPECT_EQ(test, out(test, &torn, 20), 1235);
	KUNIT_EXPECT_EQ(test, s->pending, 1);
	torn_end(&torn);
}

/* Any of them set up anew, or all: those before and after all these come out. */
static void a_tick_passes_torn_nodes(struct kunit *test)
{
	static const u32 left[] = { 1234, 234, 134, 34, 124, 4, 14, 4,
				    123, 0, 1, 0, 12, 0, 1, 0 };
	struct twheel_scheme *s;
	u32 which, i;

	for (which = 1; which < 16; which++) {
		s = four(test);
		for (i = 0; i < 4; i++)
			if (which & BIT(i))
				set_up(&torn.nodes[i + 1]);
		KUNIT_EXPECT_EQ(test, out(test, &torn, 20), left[which]);
		KUNIT_EXPECT_NE(test, s->pending, 0);
		KUNIT_EXPECT_GE(test, kt_torn_reports, 1);
		KUNIT_EXPECT_EQ(test, torn.t->ops->next(torn.t), U64_MAX);
		torn_end(&torn);
	}
}

/* Set up anew and started again: it is in two lists, or at two places of one. */
static void a_node_in_two_lists_comes_out_once(struct kunit *test)
{
	struct twheel_node *n = torn.nodes;
	struct twheel_scheme *s;
	u32 other;

	for (other = 10; other < 12; other++) {
		s = four(test);
		set_up(&n[2]);
		start(s, &n[2], other);
		start(s, &n[5], other);
		KUNIT_EXPECT_EQ(test, out(test, &torn, 20), 13425);
		KUNIT_EXPECT_EQ(test, s->pending, 1);
		KUNIT_EXPECT_GE(test, kt_torn_reports, 1);
		torn_end(&torn);
	}
}

/* The four, the first of which has come out: the hand is at the second. */
static struct twheel_scheme *four_under_the_hand(struct kunit *test)
{
	struct twheel_scheme *s = four(test);
	int work = 64;

	KUNIT_EXPECT_PTR_EQ(test, twheel_scheme_pop(s, 20, &work), &torn.nodes[1]);
	return s;
}

/*
 * The timers under the hand are set up anew and started again for any tick, as
 * a callback may do. The hand must not follow them to another slot.
 */
static void the_hand_stays_in_its_slot(struct kunit *test)
{
	static const u64 again[] = { 0, 10, 11, 12, 10 + KT_SLOTS, FAR };
	static const u32 left[] = { 342, 423, 234 };
	struct twheel_scheme *s;
	u32 i, j, nr;

	for (i = 0; i < ARRAY_SIZE(again); i++) {
		for (nr = 1; nr < 4; nr++) {
			s = four_under_the_hand(test);
			for (j = 2; j < 2 + nr; j++) {
				set_up(&torn.nodes[j]);
				start(s, &torn.nodes[j], again[i]);
			}
			KUNIT_EXPECT_EQ(test, out(test, &torn, FAR + 1), left[nr - 1]);
			KUNIT_EXPECT_EQ(test, s->pending, nr);
			KUNIT_EXPECT_GE(test, kt_torn_reports, 1);
			torn_end(&torn);
		}
	}
}

/* The same on another CPU, whose base has slots and a hand of its own. */
static void the_hand_stays_in_its_wheel(struct kunit *test)
{
	const struct twheel_test_scheme_ops *ops = *(const void **)test->param_value;
	struct twheel_test_scheme *other = ops->create(0, KT_SLOTS, NODES);
	struct twheel_scheme *s = four_under_the_hand(test);

	KUNIT_ASSERT_NOT_NULL(test, other);
	set_up(&torn.nodes[2]);
	start(&other->s, &torn.nodes[2], 10);
	start(&other->s, &torn.nodes[5], 10);
	KUNIT_EXPECT_EQ(test, out(test, &torn, 20), 34);
	KUNIT_EXPECT_EQ(test, s->pending, 1);
	KUNIT_EXPECT_GE(test, kt_torn_reports, 1);
	torn_end(&torn);
	torn.t = other;
	KUNIT_EXPECT_EQ(test, out(test, &torn, 20), 25);
	torn_end(&torn);
}

/* Near and far, two of a tick. The spoilt ones are in slots of their own. */
static u64 tick_of(u32 i)
{
	return 1 + i / 2 * 994;
}

/* Near and far, some are spoilt: all others come out in their ticks. */
static void what_is_not_torn_comes_out(struct kunit *test)
{
	struct twheel_scheme *s = torn_begin(test, &torn);
	struct twheel_node *node;
	u32 i, calls, nr = 0;
	int work = 0;

	for (i = 0; i < NODES; i++)
		start(s, &torn.nodes[i], tick_of(i));
	for (i = 0; i < NODES; i += SPOILT)
		set_up(&torn.nodes[i]);
	for (calls = 0; calls < 1000000; calls++) {
		if (work <= 0)
			work = 64;
		node = twheel_scheme_pop(s, FAR + 1, &work);
		if (!node && work > 0)
			break;
		if (!node)
			continue;
		nr++;
		KUNIT_EXPECT_EQ(test, node->expires, s->clock);
		KUNIT_EXPECT_NE(test, (u32)(node - torn.nodes) % SPOILT, 0);
	}
	KUNIT_EXPECT_EQ(test, s->clock, FAR + 1);
	KUNIT_EXPECT_EQ(test, nr, NODES - NODES / SPOILT);
	KUNIT_EXPECT_EQ(test, s->pending, NODES / SPOILT);
	torn_end(&torn);
}

/* As for a drain, or a CPU that goes away. */
static void any_comes_to_an_end(struct kunit *test)
{
	struct twheel_scheme *s = torn_begin(test, &torn);
	struct twheel_node *node;
	u32 i, nr = 0, slot = s->nr_slots;

	for (i = 0; i < NODES; i++)
		start(s, &torn.nodes[i], tick_of(i));
	for (i = 0; i < NODES; i += SPOILT)
		set_up(&torn.nodes[i]);
	while (nr <= NODES && (node = twheel_scheme_any(s, &slot))) {
		twheel_scheme_stop(s, node);
		nr++;
	}
	KUNIT_EXPECT_EQ(test, nr, NODES - NODES / SPOILT);
	torn_end(&torn);
}

static struct kunit_case kt_torn_cases[] = {
	KUNIT_CASE_PARAM(an_unlink_is_refused, kt_wheels),
	KUNIT_CASE_PARAM(a_move_is_refused_and_made, kt_wheels),
	KUNIT_CASE_PARAM(a_start_does_not_touch_a_torn_tail, kt_wheels),
	KUNIT_CASE_PARAM(a_tick_passes_torn_nodes, kt_wheels),
	KUNIT_CASE_PARAM(a_node_in_two_lists_comes_out_once, kt_wheels),
	KUNIT_CASE_PARAM(the_hand_stays_in_its_slot, kt_hashed),
	KUNIT_CASE_PARAM(the_hand_stays_in_its_wheel, kt_wheels),
	KUNIT_CASE_PARAM(what_is_not_torn_comes_out, kt_wheels),
	KUNIT_CASE_PARAM(any_comes_to_an_end, kt_wheels),
	{}
};

struct kunit_suite kt_torn_suite = {
	.name = "twheel_torn",
	.test_cases = kt_torn_cases,
};
