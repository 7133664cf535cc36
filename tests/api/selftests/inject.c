// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's fault injection, for the calls of one thread
 *
 * This combines two of the kernel's mechanisms. fail-nth counts down and makes
 * one call fail. From then on the kernel consults the attributes of failslab
 * and fail_page_alloc, which here say "always" for a task that is marked by
 * make-it-fail.
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

/* Set the attributes of a kind. No verbose: it dumps the stack for each fault. */
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

/* Skip the case if the kernel has no fault injection. */
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
	/* Also hit allocations that may sleep, vmalloc() and single pages. */
	write_file(DEBUGFS "failslab/ignore-gfp-wait", "N");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	write_file(DEBUGFS "fail_page_alloc/min-order", "0");
	if (mode == INJECT_ALL)
		injector.all = open(SELF "make-it-fail", O_RDWR);
	/* Lock our pages: their faults would fail, too. */
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	return injector;
}

/* Write the number, twice if needed: this may itself meet the fault that it cancels. */
static void write_number(int fd, int number)
{
	char text[16];
	int size = snprintf(text, sizeof(text), "%d", number);

	if (pwrite(fd, text, size, 0) != size)
		ASSERT_EQ(size, pwrite(fd, text, size, 0));
}

/* Make the nth place from here on fail, counted from 1. */
void inject_from(const struct injector *injector, int nth)
{
	if (injector->all >= 0)
		write_number(injector->all, 1);
	write_number(injector->nth, nth);
}

/* Returns the number of places before the first fault, or -1 if unreadable. */
int inject_left(const struct injector *injector)
{
	char text[16] = "";
	ssize_t size = pread(injector->nth, text, sizeof(text) - 1, 0);

	return size > 0 ? atoi(text) : -1;
}

/* End the injection. Returns whether there was a fault. */
bool inject_end(const struct injector *injector)
{
	/*
	 * This read is a place too. If it fails, the call itself met no fault.
	 */
	bool fault = !inject_left(injector);

	write_number(injector->nth, 0);
	if (injector->all >= 0)
		write_number(injector->all, 0);
	return fault;
}
