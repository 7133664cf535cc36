// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that the suites share
 *
 * A case begins with a scheme and 26 timers, "A" to "Z". It sets them to ticks, stops
 * them, moves the clock, and looks at the letters of the expired timers. The
 * oracle follows every operation, and anything that it finds wrong fails the
 * case too.
 */
#include <linux/string.h>

#include "kunit_util.h"

const u64 kt_clocks[] = {
	0, 1, 62, 63, 64, 65, 127, 128, 4094, 4095, 4096, 4097, 8191, 12345,
	262143, 262144, 16777215, 0x3fffffff, 0x123456789abcULL,
	(1ULL << 60) - 1, 1ULL << 60, (1ULL << 63) - 1, 1ULL << 63,
};

const u32 kt_nr_clocks = ARRAY_SIZE(kt_clocks);

static const void *next_scheme(const void *prev, char *desc, u32 first,
			       u32 last)
{
	const struct twheel_test_scheme_ops * const *scheme = prev;

	scheme = scheme ? scheme + 1 : &twheel_test_schemes[first];
	if (scheme > &twheel_test_schemes[last])
		return NULL;
	strscpy(desc, (*scheme)->name, KUNIT_PARAM_DESC_SIZE);
	return scheme;
}

/* For KUNIT_CASE_PARAM(): all schemes. */
KT_PARAMS(kt_schemes)
{
	return next_scheme(prev, desc, 0, TWHEEL_TEST_NR_SCHEMES - 1);
}

/* For KUNIT_CASE_PARAM(): the module's own schemes. */
KT_PARAMS(kt_wheels)
{
	return next_scheme(prev, desc, TWHEEL_TEST_WHEELS,
			   TWHEEL_TEST_NR_SCHEMES - 1);
}

/* For KUNIT_CASE_PARAM(): the hashed wheel. */
KT_PARAMS(kt_hashed)
{
	return next_scheme(prev, desc, TWHEEL_TEST_WHEELS, TWHEEL_TEST_WHEELS);
}

/* Returns the scheme of this run of the case. */
const struct twheel_test_scheme_ops *kt_ops(struct kunit *test)
{
	const struct twheel_test_scheme_ops * const *scheme =
		test->param_value;

	return *scheme;
}

/* Report the errors that the oracle found during the case, and free it. */
void kt_exit(struct kunit *test)
{
	struct twheel_check *c = test->priv;

	if (!c)
		return;
	test->priv = NULL;
	twheel_check_slots(c);
	if (c->error)
		KUNIT_FAIL(test, "%s (timer %u of %u, clock %llu)", c->error,
			   c->id, c->nr, c->at);
	twheel_check_destroy(c);
}

/**
 * kt_begin_with - begin, or begin again, with any number of timers
 * @test: the case
 * @ops: the scheme
 * @clock: the clock to begin at
 * @slots: number of slots, for schemes that let the caller choose
 * @nr: number of timers
 *
 * Return: the scheme and its oracle, never NULL.
 */
struct twheel_check *kt_begin_with(struct kunit *test,
				   const struct twheel_test_scheme_ops *ops,
				   u64 clock, u32 slots, u32 nr)
{
	kt_exit(test);
	test->priv = twheel_check_create(ops, clock, slots, nr);
	KUNIT_ASSERT_NOT_NULL(test, test->priv);
	return test->priv;
}

/**
 * kt_begin - begin, or begin again, with the timers A to Z
 * @test: the case
 * @clock: the clock to begin at
 *
 * Return: the scheme and its oracle, never NULL.
 */
struct twheel_check *kt_begin(struct kunit *test, u64 clock)
{
	return kt_begin_with(test, kt_ops(test), clock, KT_SLOTS, KT_TIMERS);
}

/* Start a timer, or restart it if it is pending. */
void kt_set(struct kunit *test, char timer, u64 expires)
{
	twheel_check_set(test->priv, timer - 'A', expires);
}

void kt_stop(struct kunit *test, char timer)
{
	twheel_check_stop(test->priv, timer - 'A');
}

struct twheel_node *kt_node(struct kunit *test, char timer)
{
	struct twheel_check *c = test->priv;

	return &c->timers[timer - 'A'].node;
}

/* Returns the number of the slot of a timer in a wheel. */
u32 kt_slot(struct kunit *test, char timer)
{
	return twheel_check_slot_of(test->priv, timer - 'A');
}

struct twheel_scheme *kt_scheme(struct kunit *test)
{
	struct twheel_check *c = test->priv;

	return &c->t->s;
}

/**
 * kt_out - move the clock on, and take out every due timer
 * @test: the case
 * @target: the new clock
 *
 * Return: the letters of the timers in the order of their expiry. Valid until the next call.
 */
const char *kt_out(struct kunit *test, u64 target)
{
	static char out[KT_TIMERS * 8 + 1];
	struct twheel_check *c = test->priv;
	u64 popped = c->popped;
	size_t n = 0;
	int work;

	do {
		work = 1000;
		if (!twheel_check_pop(c, target, &work))
			break;
		if (c->popped == popped)
			continue;
		popped = c->popped;
		out[n++] = 'A' + c->last;
	} while (n < sizeof(out) - 1);
	out[n] = 0;
	return out;
}

/* Returns the next tick, as the scheme reports it. */
u64 kt_next(struct kunit *test)
{
	struct twheel_check *c = test->priv;

	return c->t->ops->next(c->t);
}
