/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kunit/test.h for user space
 *
 * The part of the kernel's header that is needed to run the suites of tests/wheel/kunit
 * unmodified, in a program that prints TAP.
 */
#ifndef _SHIM_KUNIT_TEST_H
#define _SHIM_KUNIT_TEST_H

#include <setjmp.h>

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>

#define KUNIT_PARAM_DESC_SIZE	128

struct kunit {
	void *priv;
	const char *name;
	const void *param_value;
	bool failed;
	jmp_buf out;
	void *memory;
};

enum kunit_speed {
	KUNIT_SPEED_NORMAL,
	KUNIT_SPEED_SLOW,
};

struct kunit_attributes {
	enum kunit_speed speed;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
	struct kunit_attributes attr;
};

struct kunit_suite {
	const char name[256];
	int (*suite_init)(struct kunit_suite *suite);
	void (*suite_exit)(struct kunit_suite *suite);
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(fn)		{ .run_case = fn, .name = #fn }
#define KUNIT_CASE_PARAM(fn, gen) \
	{ .run_case = fn, .name = #fn, .generate_params = gen }
#define KUNIT_CASE_ATTR(fn, attributes) \
	{ .run_case = fn, .name = #fn, .attr = attributes }
#define KUNIT_CASE_PARAM_ATTR(fn, gen, attributes) \
	{ .run_case = fn, .name = #fn, .generate_params = gen, \
	  .attr = attributes }

extern struct kunit_suite *shim_suites[];

#define kunit_test_suites(...) \
	struct kunit_suite *shim_suites[] = { __VA_ARGS__, NULL }

void shim_kunit_fail(struct kunit *test, bool stop, const char *file, int line,
		     const char *fmt, ...) __printf(5, 6);
void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t flags);

#define kunit_info(test, fmt, ...) \
	printf("    # %s: " fmt, (test)->name, ##__VA_ARGS__)

#define __shim_check(test, stop, ok, fmt, ...)				\
	do {								\
		if (!(ok))						\
			shim_kunit_fail(test, stop, __FILE__, __LINE__,	\
					fmt, ##__VA_ARGS__);		\
	} while (0)

#define __shim_compare(test, stop, a, op, b, fmt, ...)			\
	do {								\
		typeof(a) __a = (a);					\
		typeof(b) __b = (b);					\
		__shim_check(test, stop, __a op __b,			\
			     "%s %s %s: %lld, %lld " fmt, #a, #op, #b,	\
			     (long long)__a, (long long)__b,		\
			     ##__VA_ARGS__);				\
	} while (0)

#define __shim_streq(test, stop, a, b)					\
	do {								\
		const char *__a = (a), *__b = (b);			\
		__shim_check(test, stop, !strcmp(__a, __b),		\
			     "%s is \"%s\", not \"%s\"", #a, __a, __b);	\
	} while (0)

#define KUNIT_FAIL(test, fmt, ...) \
	__shim_check(test, false, false, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_TRUE(test, c) \
	__shim_check(test, false, c, "%s", #c)
#define KUNIT_EXPECT_FALSE(test, c) \
	__shim_check(test, false, !(c), "not %s", #c)
#define KUNIT_EXPECT_NULL(test, p) \
	__shim_check(test, false, !(p), "%s is not NULL", #p)
#define KUNIT_EXPECT_PTR_EQ(test, a, b) \
	__shim_check(test, false, (a) == (b), "%s == %s", #a, #b)
#define KUNIT_EXPECT_STREQ(test, a, b)	__shim_streq(test, false, a, b)
#define KUNIT_EXPECT_EQ(test, a, b)	__shim_compare(test, false, a, ==, b, "")
#define KUNIT_EXPECT_NE(test, a, b)	__shim_compare(test, false, a, !=, b, "")
#define KUNIT_EXPECT_LT(test, a, b)	__shim_compare(test, false, a, <, b, "")
#define KUNIT_EXPECT_LE(test, a, b)	__shim_compare(test, false, a, <=, b, "")
#define KUNIT_EXPECT_GE(test, a, b)	__shim_compare(test, false, a, >=, b, "")

#define KUNIT_ASSERT_TRUE(test, c)	__shim_check(test, true, c, "%s", #c)
#define KUNIT_ASSERT_NOT_NULL(test, p) \
	__shim_check(test, true, p, "%s is NULL", #p)
#define KUNIT_ASSERT_STREQ(test, a, b)	__shim_streq(test, true, a, b)
#define KUNIT_ASSERT_EQ(test, a, b)	__shim_compare(test, true, a, ==, b, "")
#define KUNIT_ASSERT_LE(test, a, b)	__shim_compare(test, true, a, <=, b, "")
#define KUNIT_ASSERT_GT(test, a, b)	__shim_compare(test, true, a, >, b, "")
#define KUNIT_ASSERT_EQ_MSG(test, a, b, fmt, ...) \
	__shim_compare(test, true, a, ==, b, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_LE_MSG(test, a, b, fmt, ...) \
	__shim_compare(test, true, a, <=, b, fmt, ##__VA_ARGS__)

#endif /* _SHIM_KUNIT_TEST_H */
