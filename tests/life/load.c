// SPDX-License-Identifier: GPL-2.0
/*
 * Loading the module while memory is short
 *
 * Let each allocation that finit_module() makes, from twheel's own initialization on, fail in one
 * load. After a failed load the module must leave nothing behind, and at the end a load must
 * succeed. The kernel makes a few hundred allocations before twheel's initialization, which are
 * the same for any module. A load with a refused parameter counts them.
 *
 * Run this program in the directory of twheel.ko, without the module.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../api/selftests/harness.h"
#include "../api/selftests/inject.h"

#define MODULE		"twheel.ko"
#define MANY		1000000
/* Begin this many allocations before twheel's first one, because loads differ a little. */
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

/*
 * Load the module while its allocation or copy @nth fails, and check the result: success, ENOMEM,
 * or EFAULT from a copy. Returns false if the load made fewer than @nth allocations and copies.
 */
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

/* Count the allocations and copies of an undisturbed load, whose result must be @wanted. */
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

	/*
	 * Load the module once before counting, because the first load may allocate more, for
	 * example with gcov.
	 */
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

TEST_LIMIT(one_allocation_fails, 1200)
{
	walk(INJECT_ONE, "mode=periodic");
}

TEST_LIMIT(memory_runs_out, 1200)
{
	walk(INJECT_ALL, "mode=periodic");
}
