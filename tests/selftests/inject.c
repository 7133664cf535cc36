// SPDX-License-Identifier: GPL-2.0
/*
 * inject.c - the kernel's fault injection, for the calls of one thread
 *
 * Two of its ways together: fail-nth counts down and makes one call fail; from
 * then on, not before, the ordinary attributes of failslab and fail_page_alloc
 * are asked, which here say "always" for a task that is marked by make-it-fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "inject.h"
#include "session.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define SELF		"/proc/thread-self/"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
	if (write(fd, text, strlen(text)) < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
	close(fd);
}

/* Those of every kind: no dump of the stack for each fault. */
static void set_attributes(const char *kind, const char *probability)
{
	const char *const settings[][2] = {
		{ "verbose", "0" }, { "task-filter", "Y" }, { "interval", "1" },
		{ "times", "-1" }, { "space", "0" },
		{ "probability", probability },
	};
	char path[128];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(path, sizeof(path), DEBUGFS "%s/%s", kind,
			 settings[i][0]);
		write_file(path, settings[i][1]);
	}
}

/* Skips the case where the kernel has no fault injection. */
struct injector inject_open(enum inject_mode mode)
{
	struct injector injector = {
		.nth = open(SELF "fail-nth", O_RDWR),
		.all = -1,
	};
	const char *probability = mode == INJECT_ALL ? "100" : "0";

	if (injector.nth < 0)
		test_skip("this kernel has no fault injection");
	set_attributes("failslab", probability);
	set_attributes("fail_page_alloc", probability);
	set_attributes("fail_usercopy", "0");
	/* Allocations that may sleep, vmalloc()'s, and those of one page too. */
	write_file(DEBUGFS "failslab/ignore-gfp-wait", "N");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	write_file(DEBUGFS "fail_page_alloc/min-order", "0");
	if (mode == INJECT_ALL)
		injector.all = open(SELF "make-it-fail", O_RDWR);
	/* A page that we touch ourselves is not to be had then either. */
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	return injector;
}

/* Calling it off may itself meet the fault that is called off. */
static void write_number(int fd, int number)
{
	char text[16];
	int size = snprintf(text, sizeof(text), "%d", number);

	if (pwrite(fd, text, size, 0) != size)
		ASSERT_EQ(size, pwrite(fd, text, size, 0));
}

/* The first fault is in the nth place from here on, counted from 1. */
void inject_from(const struct injector *injector, int nth)
{
	if (injector->all >= 0)
		write_number(injector->all, 1);
	write_number(injector->nth, nth);
}

/* How far off the first fault is, or -1 if that cannot be read. */
int inject_left(const struct injector *injector)
{
	char text[16] = "";
	ssize_t size = pread(injector->nth, text, sizeof(text) - 1, 0);

	return size > 0 ? atoi(text) : -1;
}

/* Whether there was a fault; there are none from here on. */
bool inject_end(const struct injector *injector)
{
	/* These calls are counted too: one that fails here was not due. */
	bool fault = !inject_left(injector);

	write_number(injector->nth, 0);
	if (injector->all >= 0)
		write_number(injector->all, 0);
	return fault;
}
