// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the suites of tests/wheel/kunit as a user program
 *
 *	unit [name=value]... [FILTER]
 *
 * name=value sets a parameter of twheel_kunit.ko. With FILTER, only cases whose "suite.case"
 * contains it are run. Prints TAP, one line for each parameter of a case. The exit status is 1
 * if any case failed.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kunit/test.h>

/* No case takes this long, not even on a busy machine with sanitizers. */
#define CASE_SECONDS	300

static struct shim_param *params;
static const char *filter;
static int count, failed;

/* Memory that a test allocates is freed when the test ends. */
struct allocation {
	struct allocation *next;
	long long data[];
};

void shim_param_add(struct shim_param *param)
{
	param->next = params;
	params = param;
}

static bool set_param(const char *arg)
{
	const char *value = strchr(arg, '=') + 1;
	unsigned long long number = strtoull(value, NULL, 0);
	struct shim_param *param;

	for (param = params; param; param = param->next) {
		if (strlen(param->name) + 1 != (size_t)(value - arg) ||
		    strncmp(param->name, arg, strlen(param->name)))
			continue;
		/* Numbers only. */
		if (param->size == sizeof(u32))
			*(u32 *)param->value = number;
		else
			*(u64 *)param->value = number;
		return true;
	}
	return false;
}

void shim_kunit_fail(struct kunit *test, bool stop, const char *file, int line,
		     const char *fmt, ...)
{
	va_list args;

	printf("    # %s: %s:%d: ", test->name, file, line);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	test->failed = true;
	if (stop)
		longjmp(test->out, 1);
}

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t flags)
{
	struct allocation *a = calloc(1, sizeof(*a) + size);

	(void)flags;
	if (!a)
		return NULL;
	a->next = test->memory;
	test->memory = a;
	return a->data;
}

static void free_all(struct kunit *test)
{
	struct allocation *a, *next;

	for (a = test->memory; a; a = next) {
		next = a->next;
		free(a);
	}
}

/* End the run, because a broken scheme may never return. */
static void too_long(int number)
{
	static const char said[] = "not ok - a case took too long\nBail out!\n";
	ssize_t ignored = write(STDOUT_FILENO, said, sizeof(said) - 1);

	(void)ignored;
	_exit(1);
}

static void run(struct kunit_suite *suite, struct kunit_case *c,
		const void *param, const char *desc)
{
	struct kunit test = { .name = c->name, .param_value = param };

	alarm(CASE_SECONDS);
	if (!setjmp(test.out) && !(suite->init && suite->init(&test)))
		c->run_case(&test);
	if (!setjmp(test.out) && suite->exit)
		suite->exit(&test);
	free_all(&test);
	count++;
	failed += test.failed;
	printf("%sok %d - %s.%s%s%s\n", test.failed ? "not " : "", count,
	       suite->name, c->name, *desc ? " " : "", desc);
}

static void run_case(struct kunit_suite *suite, struct kunit_case *c)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;
	char name[512];

	snprintf(name, sizeof(name), "%s.%s", suite->name, c->name);
	if (filter && !strstr(name, filter))
		return;
	if (!c->generate_params) {
		run(suite, c, NULL, "");
		return;
	}
	while ((param = c->generate_params(param, desc))) {
		run(suite, c, param, desc);
		*desc = 0;
	}
}

static void run_suite(struct kunit_suite *suite)
{
	struct kunit_case *c;

	if (suite->suite_init && suite->suite_init(suite)) {
		printf("Bail out! %s\n", suite->name);
		exit(1);
	}
	for (c = suite->test_cases; c->run_case; c++)
		run_case(suite, c);
	if (suite->suite_exit)
		suite->suite_exit(suite);
}

int main(int argc, char **argv)
{
	struct kunit_suite **suite;
	int i;

	signal(SIGALRM, too_long);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 1; i < argc; i++) {
		if (!strchr(argv[i], '=')) {
			filter = argv[i];
		} else if (!set_param(argv[i])) {
			fprintf(stderr, "unit: no parameter %s\n", argv[i]);
			return 2;
		}
	}
	printf("TAP version 13\n");
	for (suite = shim_suites; *suite; suite++)
		run_suite(*suite);
	printf("1..%d\n# %d passed, %d failed\n", count, count - failed,
	       failed);
	return failed ? 1 : 0;
}
