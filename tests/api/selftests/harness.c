// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the cases of one program and reports in TAP 13
 *
 * A case is a child in a process group of its own. When the case ends or its
 * time is up, the whole group is killed, so that no process forked by the case
 * outlives it.
 *
 * TWHEEL_SLOW in the environment multiplies all time limits, for kernels whose
 * debugging options make them slow.
 */
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user.h"
#include "harness.h"

#define EXIT_SKIP	4
#define EXIT_SLOW	5
#define SLOW_RUNS	5
#define KILL_GRACE	10

enum result {
	PASSED,
	FAILED,
	SKIPPED,
	SLOW,
	NR_RESULTS,
};

/* Reason why the case was skipped. The case writes it, the runner reads it. */
struct shared {
	char reason[256];
};

/* An empty list, for files without NEED_KERNEL(). */
const char *const test_need_kernel[] __attribute__((weak)) = { NULL };

static struct test_case *cases;
static struct test_case **cases_end = &cases;
static struct shared *shared;
static unsigned int patience;
static sigset_t child_ended;

void test_add(struct test_case *test)
{
	*cases_end = test;
	cases_end = &test->next;
}

static void print_note(const char *fmt, va_list args)
{
	flockfile(stdout);
	fputs("# ", stdout);
	vprintf(fmt, args);
	putchar('\n');
	fflush(stdout);
	funlockfile(stdout);
}

void test_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_note(fmt, args);
	va_end(args);
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	test_note("%s:%d: %s", file, line, text);
	_exit(1);
}

void test_skip(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(shared->reason, sizeof(shared->reason), fmt, args);
	va_end(args);
	_exit(EXIT_SKIP);
}

void test_slow(void)
{
	_exit(EXIT_SLOW);
}

unsigned int test_patience(void)
{
	return patience;
}

static unsigned int env_number(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);
	unsigned int number = value ? strtoul(value, NULL, 10) : 0;

	return number ? number : otherwise;
}

static void run_child(const struct test_case *test)
{
	setpgid(0, 0);
	sigprocmask(SIG_UNBLOCK, &child_ended, NULL);
	test->fn();
	fflush(stdout);
	_exit(0);
}

/*
 * Wait for a child. Returns false if it still runs after @seconds. A SIGCHLD may be a late one of
 * an earlier child, so check the child after each signal. A pidfd would avoid that, but valgrind
 * 3.19 does not support pidfds.
 */
static bool wait_child(pid_t pid, unsigned int seconds, int *status)
{
	__u64 end = now_ns() + seconds * SECOND, now;

	while (waitpid(pid, status, WNOHANG) != pid) {
		struct timespec left;

		now = now_ns();
		if (now >= end)
			return false;
		left.tv_sec = (end - now) / SECOND;
		left.tv_nsec = (end - now) % SECOND;
		sigtimedwait(&child_ended, NULL, &left);
	}
	return true;
}

static unsigned int time_limit(const struct test_case *test)
{
	unsigned int seconds = test->seconds ?: TEST_SECONDS_DEFAULT;

	return seconds * env_number("TWHEEL_SLOW", 1);
}

static enum result run_once(const struct test_case *test)
{
	unsigned int seconds = time_limit(test);
	bool ended;
	int status;
	pid_t pid;

	shared->reason[0] = '\0';
	fflush(stdout);
	pid = fork();
	if (!pid)
		run_child(test);
	if (pid < 0)
		return FAILED;
	setpgid(pid, pid);

	ended = wait_child(pid, seconds, &status);
	kill(-pid, SIGKILL);
	if (!ended) {
		test_note("%s: no end after %u s", test->name, seconds);
		if (!wait_child(pid, KILL_GRACE, &status))
			test_note("%s: cannot be killed", test->name);
		return FAILED;
	}
	if (WIFSIGNALED(status)) {
		test_note("%s: killed by signal %d", test->name,
			  WTERMSIG(status));
		return FAILED;
	}
	if (WEXITSTATUS(status) == EXIT_SKIP)
		return SKIPPED;
	if (WEXITSTATUS(status) == EXIT_SLOW)
		return SLOW;
	return WEXITSTATUS(status) ? FAILED : PASSED;
}

/* Run a case. If the machine was too slow for it, run it again with test_patience() doubled. */
static enum result run_case(const struct test_case *test)
{
	enum result result;

	for (patience = 1; patience < 1 << SLOW_RUNS; patience *= 2) {
		result = run_once(test);
		if (result != SLOW)
			return result;
	}
	snprintf(shared->reason, sizeof(shared->reason),
		 "the machine is too slow");
	return SKIPPED;
}

static enum result report_case(const struct test_case *test, int number)
{
	__u64 start = now_ns();
	enum result result = run_case(test);

	if (result == SKIPPED)
		printf("ok %d - %s # SKIP %s\n", number, test->name,
		       shared->reason);
	else
		printf("%s %d - %s # time=%.2fs\n",
		       result == PASSED ? "ok" : "not ok", number, test->name,
		       (double)(now_ns() - start) / SECOND);
	fflush(stdout);
	return result;
}

static bool matches(const struct test_case *test, const char *const *patterns)
{
	for (; *patterns; patterns++) {
		if (!fnmatch(*patterns, test->name, 0))
			return true;
	}
	return false;
}

static bool selected(const struct test_case *test, char **patterns)
{
	const char *host = getenv("TWHEEL_CASES");
	bool kernel = matches(test, test_need_kernel);

	if (host && kernel != !strcmp(host, "kernel"))
		return false;
	return !*patterns || matches(test, (const char *const *)patterns);
}

static int list_cases(void)
{
	struct test_case *test;

	for (test = cases; test; test = test->next)
		puts(test->name);
	return 0;
}

static int run_cases(char **patterns)
{
	int count[NR_RESULTS] = { 0 };
	struct test_case *test;
	int number = 0;

	sigemptyset(&child_ended);
	sigaddset(&child_ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_ended, NULL);
	for (test = cases; test; test = test->next)
		number += selected(test, patterns);
	printf("TAP version 13\n1..%d%s\n", number,
	       number ? "" : " # SKIP no such case");
	if (!number)
		return *patterns ? 1 : 0;

	number = 0;
	for (test = cases; test; test = test->next) {
		if (selected(test, patterns))
			count[report_case(test, ++number)]++;
	}
	printf("# passed:%d failed:%d skipped:%d\n", count[PASSED],
	       count[FAILED], count[SKIPPED]);
	return count[FAILED] ? 1 : 0;
}

/*
 * Returns false if there is no nanosleep(): in a 32-bit program on a 64-bit kernel without
 * CONFIG_COMPAT_32BIT_TIME.
 */
static bool can_sleep(void)
{
	struct timespec moment = { .tv_nsec = 1 };

	return !nanosleep(&moment, NULL) || errno != ENOSYS;
}

int main(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "l")) != -1) {
		switch (option) {
		case 'l':
			return list_cases();
		default:
			fprintf(stderr, "usage: %s [-l] [CASE...]\n", argv[0]);
			return 2;
		}
	}

	if (!can_sleep()) {
		puts("TAP version 13\n1..0 # SKIP the kernel lacks CONFIG_COMPAT_32BIT_TIME");
		return 0;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	return run_cases(argv + optind);
}
