// SPDX-License-Identifier: GPL-2.0
/*
 * Random use against the oracle
 *
 * Each scheme runs for each profile of tests/wheel/schemes/random.c, in many short runs
 * that begin at different ticks. The seed is printed. The same seed with the same
 * number of operations repeats the runs.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "kunit_util.h"

static unsigned long long seed;
module_param(seed, ullong, 0444);
MODULE_PARM_DESC(seed, "where random use begins (0: anywhere)");

static unsigned int ops = 30000;
module_param(ops, uint, 0444);
MODULE_PARM_DESC(ops, "operations per scheme and profile, against the oracle");

/* Operations in one run. */
#define RUN_OPS		5000

static u64 total;

/* The parameters of a case are numbers from 1, one for each pair of a scheme and a profile. */

static const struct twheel_profile *profile_of(const void *param)
{
	unsigned long number = (unsigned long)param - 1;

	return &twheel_profiles[number % twheel_nr_profiles];
}

static const struct twheel_test_scheme_ops *scheme_of(const void *param)
{
	unsigned long number = (unsigned long)param - 1;

	return twheel_test_schemes[number / twheel_nr_profiles];
}

static KT_PARAMS(schemes_and_profiles)
{
	const void *param = (const void *)((unsigned long)prev + 1);

	if ((unsigned long)param > TWHEEL_TEST_NR_SCHEMES * twheel_nr_profiles)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, %s", scheme_of(param)->name,
		 profile_of(param)->name);
	return param;
}

/* Do a run with its own random numbers. Returns its operations. kt_exit() frees test->priv. */
static u64 oracle_run(struct kunit *test, u32 run)
{
	struct twheel_rng rng = {
		.state = seed + ((u64)run << 32) + (unsigned long)test->param_value,
	};
	struct twheel_check *c;

	kt_exit(test);
	c = twheel_check_random(scheme_of(test->param_value), profile_of(test->param_value),
				&rng, RUN_OPS);
	KUNIT_ASSERT_NOT_NULL(test, c);
	test->priv = c;
	if (c->error)
		kunit_info(test, "run %u after %llu operations, seed=%llu\n",
			   run, c->ops, seed);
	KUNIT_ASSERT_TRUE(test, !c->error);
	return c->ops;
}

static void scheme_agrees_with_oracle(struct kunit *test)
{
	u64 done = 0;
	u32 run;

	for (run = 0; done < ops; run++) {
		done += oracle_run(test, run);
		cond_resched();
	}
	total += done;
}

static int random_suite_init(struct kunit_suite *suite)
{
	if (!seed)
		seed = get_random_u64() >> 16;
	pr_info("twheel_random: seed=%llu ops=%u\n", seed, ops);
	return 0;
}

static void random_suite_exit(struct kunit_suite *suite)
{
	pr_info("twheel_random: seed=%llu, %llu operations against the oracle\n",
		seed, total);
}

static struct kunit_case random_cases[] = {
	KUNIT_CASE_PARAM_ATTR(scheme_agrees_with_oracle, schemes_and_profiles,
			      KT_SLOW),
	{}
};

struct kunit_suite kt_random_suite = {
	.name = "twheel_random",
	.suite_init = random_suite_init,
	.suite_exit = random_suite_exit,
	.exit = kt_exit,
	.test_cases = random_cases,
};
