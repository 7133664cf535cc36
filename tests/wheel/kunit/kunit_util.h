/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the suites share
 */
#ifndef _TWHEEL_KUNIT_UTIL_H
#define _TWHEEL_KUNIT_UTIL_H

#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/version.h>

#include "../schemes/check.h"

extern struct kunit_suite kt_scheme_suite;
extern struct kunit_suite kt_wheel_suite;
extern struct kunit_suite kt_hier_suite;
extern struct kunit_suite kt_hashed_suite;
extern struct kunit_suite kt_random_suite;
extern struct kunit_suite kt_throttle_suite;
extern struct kunit_suite kt_corrupted_suite;

/* Attribute of cases that take seconds with a sanitizer in a virtual machine. */
#define KT_SLOW		{ .speed = KUNIT_SPEED_SLOW }

/* The timers of a case: A to Z. */
#define KT_TIMERS	26
/* Number of slots, for schemes that let the caller choose. */
#define KT_SLOTS	64

/* Clocks at which cases begin: the edges of levels, and some others. */
extern const u64 kt_clocks[];
extern const u32 kt_nr_clocks;

/* Declares a function that returns the parameters of a case. Since 6.18 it also gets the test. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define KT_PARAMS(name) \
	const void *name(struct kunit *test, const void *prev, char *desc)
#else
#define KT_PARAMS(name)	const void *name(const void *prev, char *desc)
#endif

/* Parameters of cases: all schemes, the module's own, the hashed one. */
KT_PARAMS(kt_schemes);
KT_PARAMS(kt_wheels);
KT_PARAMS(kt_hashed);

struct twheel_check *kt_begin(struct kunit *test, u64 clock);
struct twheel_check *kt_begin_with(struct kunit *test,
				   const struct twheel_test_scheme_ops *ops,
				   u64 clock, u32 slots, u32 nr);
void kt_exit(struct kunit *test);
const struct twheel_test_scheme_ops *kt_ops(struct kunit *test);

void kt_set(struct kunit *test, char timer, u64 expires);
void kt_stop(struct kunit *test, char timer);
const char *kt_out(struct kunit *test, u64 target);
u64 kt_next(struct kunit *test);
struct twheel_node *kt_node(struct kunit *test, char timer);
u32 kt_slot(struct kunit *test, char timer);
struct twheel_scheme *kt_scheme(struct kunit *test);

#endif /* _TWHEEL_KUNIT_UTIL_H */
