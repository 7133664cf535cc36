/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test cases in the manner of the kernel's kselftest_harness.h
 *
 * TEST(name) { ... } defines a case. Each case runs in a process of its own and has a time limit. A
 * crash or a hang is therefore one "not ok", and does not affect the next case. The limit is for
 * hangs only. It is many times the time that a case takes on a slow and busy machine, so that a
 * case is not taken for a hang there. A case passes when its function returns. A failed
 * assertion prints the place and the values, and ends the case at once, whichever thread makes it.
 *
 * No assertion may depend on the machine being fast or steady: a CPU may stand still for seconds
 * between any two instructions. There are two ways to test times. A case that needs two events
 * within some time checks afterwards whether they were, and calls test_slow() if not. The case
 * multiplies this time by test_patience(), which is doubled before the case runs again. A share of
 * a CPU, or a duration, is asserted only if time_is_exact().
 *
 * Output is TAP 13. Usage of every program: NAME [-l] [CASE...]. CASE is a name or a shell pattern,
 * and -l lists the cases. TWHEEL_CASES=process in the environment leaves out the cases that need a
 * kernel, and TWHEEL_CASES=kernel leaves out the cases that do not need one.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stddef.h>

struct test_case {
	const char *name;
	void (*fn)(void);
	unsigned int seconds;
	struct test_case *next;
};

/* Macros of the kernel, under the same names. */
#define __printf(format, first)						\
	__attribute__((__format__(__printf__, format, first)))
#define __noreturn	__attribute__((__noreturn__))

#define TEST_SECONDS_DEFAULT	600

/* Define a case. It counts as hung after the default limit. */
#define TEST(name)	TEST_LIMIT(name, TEST_SECONDS_DEFAULT)

/* Define a case with another limit. */
#define TEST_LIMIT(case_name, limit)					\
	static void test_##case_name(void);				\
	static struct test_case case_##case_name = {			\
		.name = #case_name,					\
		.fn = test_##case_name,					\
		.seconds = (limit),					\
	};								\
	__attribute__((constructor)) static void add_##case_name(void)	\
	{								\
		test_add(&case_##case_name);				\
	}								\
	static void test_##case_name(void)

/*
 * Name the cases of this file that need a kernel, by shell patterns. They cannot run where sessions
 * in the process take the place of the device.
 */
#define NEED_KERNEL(...)						\
	const char *const test_need_kernel[] = { __VA_ARGS__, NULL }

#define ASSERT_TRUE(cond)						\
	do {								\
		if (!(cond))						\
			test_fail(__FILE__, __LINE__, "%s", #cond);	\
	} while (0)

/* Compare two values as signed 64-bit numbers. The expected value comes first. */
#define ASSERT_CMP(want, op, got)					\
	do {								\
		long long want_ = (long long)(want);			\
		long long got_ = (long long)(got);			\
									\
		if (!(want_ op got_))					\
			test_fail(__FILE__, __LINE__,			\
				  "%s %s %s: %lld, %lld", #want, #op,	\
				  #got, want_, got_);			\
	} while (0)

#define ASSERT_EQ(want, got)	ASSERT_CMP(want, ==, got)
#define ASSERT_NE(want, got)	ASSERT_CMP(want, !=, got)
#define ASSERT_LE(low, high)	ASSERT_CMP(low, <=, high)
#define ASSERT_LT(low, high)	ASSERT_CMP(low, <, high)

extern const char *const test_need_kernel[];

void test_add(struct test_case *test);
__printf(3, 4) __noreturn
void test_fail(const char *file, int line, const char *fmt, ...);
__printf(1, 2) __noreturn
void test_skip(const char *fmt, ...);
__noreturn
void test_slow(void);
unsigned int test_patience(void);
__printf(1, 2)
void test_note(const char *fmt, ...);

#endif /* HARNESS_H */
