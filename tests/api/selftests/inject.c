// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's fault injection, for the calls of one thread
 *
 * Two mechanisms of the kernel work together here. fail-nth counts down and makes one call fail.
 * From then on the kernel uses the attributes of failslab and fail_page_alloc, which make each
 * allocation fail for a task that is marked by make-it-fail.
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

/*
 * Set the attributes of a kind of faults. "verbose" is off, because it would dump the stack at each
 * fault.
 */
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

/* Prepare the injection. Skip the case if the kernel has none. */
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
	/* Let allocations that may sleep, vmalloc() and single pages fail, too. */
	write_file(DEBUGFS "failslab/ignore-gfp-wait", "N");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	write_file(DEBUGFS "fail_page_alloc/min-order", "0");
	if (mode == INJECT_ALL)
		injector.all = open(SELF "make-it-fail", O_RDWR);
	/* Lock the pages of this process, because their page faults would fail, too. */
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	return injector;
}

/* Write a number, twice if needed: the first write may itself meet the fault that it cancels. */
static void write_number(int fd, int number)
{
	char text[16];
	int size = snprintf(text, sizeof(text), "%d", number);

	if (pwrite(fd, text, size, 0) != size)
		ASSERT_EQ(size, pwrite(fd, text, size, 0));
}

/* Let the @nth allocation or copy of this thread from here on fail. The next one is number 1. */
void inject_from(const struct injector *injector, int nth)
{
	if (injector->all >= 0)
		write_number(injector->all, 1);
	write_number(injector->nth, nth);
}

/*
 * Returns the number of allocations and copies up to the first fault, 0 after the fault, or -1 if
 * the file cannot be read.
 */
int inject_left(const struct injector *injector)
{
	char text[16] = "";
	ssize_t size = pread(injector->nth, text, sizeof(text) - 1, 0);

	return size > 0 ? atoi(text) : -1;
}

/* End the injection. Returns true if there was a fault. */
bool inject_end(const struct injector *injector)
{
	/*
	 * Reading the number is a copy to user space, too. If this copy meets the fault, the call
	 * before it did not.
	 */
	bool fault = !inject_left(injector);

	write_number(injector->nth, 0);
	if (injector->all >= 0)
		write_number(injector->all, 0);
	return fault;
}
