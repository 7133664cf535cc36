// SPDX-License-Identifier: GPL-2.0
/*
 * test_load.c - loading the module while memory is short
 *
 * Each allocation that finit_module() makes from twheel's own initialization on
 * is made to fail in turn. The module is then not there, nothing of it is left
 * behind, and it can be loaded when there is memory again. What the kernel does
 * before that, a few hundred allocations, is the same for any module. Where it
 * ends is found by loading with a parameter that is refused.
 *
 * Run without the module, in the directory that has twheel.ko.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../selftests/harness.h"
#include "../selftests/inject.h"

#define MODULE		"twheel.ko"
#define MANY		1000000
/* Before the refused parameter: a margin for what differs from load to load. */
#define EARLIER		20

static int module_file(void)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	return fd;
}

static int load(int fd, const char *parameters)
{
	return syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "twheel", O_NONBLOCK) ? -errno : 0;
}

static bool is_loaded(void)
{
	return !access("/sys/module/twheel", F_OK);
}

static void expect_nothing_left(void)
{
	ASSERT_EQ(-1, access("/dev/twheel", F_OK));
	ASSERT_EQ(-1, access("/proc/twheel", F_OK));
	ASSERT_EQ(-1, access("/sys/class/misc/twheel", F_OK));
	ASSERT_TRUE(!is_loaded());
}

static void expect_works(void)
{
	ASSERT_EQ(0, access("/dev/twheel", F_OK));
	ASSERT_EQ(0, access("/proc/twheel", F_OK));
	ASSERT_EQ(0, unload());
	expect_nothing_left();
}

/* The errors are the documented one and those of a copy that failed. */
static bool fail_once(const struct injector *injector, int nth,
		      const char *parameters)
{
	int fd = module_file();
	int result;
	bool fault;

	inject_from(injector, nth);
	result = load(fd, parameters);
	fault = inject_end(injector);
	close(fd);
	if (!result) {
		expect_works();
		return fault;
	}
	if (!fault || (result != -ENOMEM && result != -EFAULT))
		test_note("place %d: %s", nth, strerror(-result));
	ASSERT_TRUE(fault);
	ASSERT_TRUE(result == -ENOMEM || result == -EFAULT);
	expect_nothing_left();
	return true;
}

/* How many places to fail there are in a load that none of them spoils. */
static int count_places(const struct injector *injector, const char *parameters,
			int wanted)
{
	int fd = module_file();
	int result, places;

	inject_from(injector, MANY);
	result = load(fd, parameters);
	places = MANY - inject_left(injector);
	inject_end(injector);
	close(fd);
	ASSERT_EQ(wanted, result);
	return places;
}

static void walk(enum inject_mode mode, const char *parameters)
{
	struct injector injector = inject_open(mode);
	int before, nth;

	/* The first time the kernel may have more to do, as gcov has. */
	ASSERT_EQ(0, load(module_file(), parameters));
	expect_works();
	before = count_places(&injector, "mode=refused", -EINVAL) - EARLIER;
	expect_nothing_left();
	nth = before;
	while (fail_once(&injector, nth, parameters))
		nth++;
	test_note("%d places to fail%s, %d before", nth - before,
		  mode == INJECT_ALL ? ", and all after them" : "", before);
	ASSERT_LT(before + 2 * EARLIER, nth);
	ASSERT_EQ(0, load(module_file(), parameters));
	expect_works();
}

TEST_LIMIT(one_allocation_fails, 300)
{
	walk(INJECT_ONE, "mode=periodic");
}

TEST_LIMIT(memory_runs_out, 300)
{
	walk(INJECT_ALL, "mode=periodic");
}
