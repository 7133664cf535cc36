// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the wheels' arithmetic: the module
 *
 *   suite             file               what
 *   twheel_scheme     kunit_scheme.c     rules and order of every scheme
 *   twheel_wheel      kunit_wheel.c      further rules of the module's own schemes
 *   twheel_hier       kunit_hier.c       levels, cascades and their pace
 *   twheel_hashed     kunit_hashed.c     rounds, lazy refresh, skipped rounds
 *   twheel_corrupted  kunit_corrupted.c  lists with corrupted links
 *   twheel_random     kunit_random.c     random use against an oracle
 *   twheel_throttle   kunit_throttle.c   the runtime of a CPU, whatever the clock does
 *
 * In the first four suites a timer is a letter, and the oracle of
 * tests/wheel/schemes checks every operation of a case.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "kunit_util.h"

kunit_test_suites(&kt_scheme_suite, &kt_wheel_suite,
		  &kt_hier_suite, &kt_hashed_suite, &kt_corrupted_suite,
		  &kt_random_suite, &kt_throttle_suite);

MODULE_DESCRIPTION("KUnit tests of the timing wheels' arithmetic");
MODULE_LICENSE("GPL");
