// SPDX-License-Identifier: GPL-2.0
/*
 * test_fault.c - what happens when memory is short
 *
 * On a kernel with fault injection each allocation and each copy from and to
 * user space of a command is made to fail in turn: the first in the first
 * round, the second in the second, until none is left. The command then fails
 * with ENOMEM or EFAULT, or gets by without what it could not have. A command
 * that fails has changed nothing, and succeeds when it is given again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define DEBUGFS		"/sys/kernel/debug/"
#define ROUNDS		400

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		test_note("%s: %s", path, strerror(errno));
	close(fd);
}

/* No faults but those asked for, and no dump of the stack for each. */
static int open_injector(void)
{
	int fd = open(FAIL_NTH, O_RDWR);

	if (fd < 0)
		test_skip("this kernel has no fault injection");
	write_file(DEBUGFS "failslab/ignore-gfp-wait", "N");
	write_file(DEBUGFS "failslab/verbose", "0");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	write_file(DEBUGFS "fail_page_alloc/min-order", "0");
	write_file(DEBUGFS "fail_page_alloc/verbose", "0");
	write_file(DEBUGFS "fail_usercopy/verbose", "0");
	return fd;
}

/* Calling it off may itself meet the fault that is called off. */
static void inject(int injector, int nth)
{
	char text[16];
	int size = snprintf(text, sizeof(text), "%d", nth);

	if (pwrite(injector, text, size, 0) != size)
		ASSERT_EQ(size, pwrite(injector, text, size, 0));
}

/* Whether the fault has happened; if not, it is called off. */
static bool injected(int injector)
{
	char text[16] = "";
	ssize_t size = pread(injector, text, sizeof(text) - 1, 0);

	inject(injector, 0);
	return size > 0 && text[0] == '0';
}

static void expect_unchanged(int fd, const struct twheel_stats *before)
{
	struct twheel_stats after;

	ASSERT_EQ(0, tw_stats(fd, &after));
	ASSERT_EQ(before->started, after.started);
	ASSERT_EQ(before->restarted, after.restarted);
	ASSERT_EQ(before->stopped, after.stopped);
	ASSERT_EQ(before->delivered, after.delivered);
	ASSERT_EQ(before->replaced, after.replaced);
	ASSERT_EQ(before->pending, after.pending);
	ASSERT_EQ(before->unread, after.unread);
}

/* One round; returns whether there was a fault. */
static bool fail_once(int injector, int nth, int (*call)(int fd), int fd)
{
	struct twheel_stats before;
	int result;
	bool fault;

	ASSERT_EQ(0, tw_stats(fd, &before));
	inject(injector, nth);
	result = call(fd);
	fault = injected(injector);
	if (result >= 0)
		return fault;
	ASSERT_TRUE(fault);
	ASSERT_TRUE(result == -ENOMEM || result == -EFAULT);
	expect_unchanged(fd, &before);
	ASSERT_LE(0, call(fd));
	return true;
}

static void walk(void (*prepare)(int fd), int (*call)(int fd))
{
	int injector = open_injector();
	bool fault;
	int nth, fd;

	for (nth = 1; nth < ROUNDS; nth++) {
		fd = session_open_nonblock();
		prepare(fd);
		fault = fail_once(injector, nth, call, fd);
		expect_balance(fd);
		close(fd);
		if (!fault)
			break;
	}
	test_note("%d places to fail", nth - 1);
	ASSERT_LT(nth, ROUNDS);
}

static void no_timers(int fd)
{
	(void)fd;
}

static void some_timers(int fd)
{
	int i;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, tw_start(fd, i, HOUR, i));
}

static void some_events(int fd)
{
	int i;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, tw_start(fd, i, 0, i));
	expect_unread(fd, 10);
}

static int first_start(int fd)
{
	return tw_start(fd, 3, HOUR, 33);
}

TEST(start)
{
	walk(no_timers, first_start);
}

static int start_far_away(int fd)
{
	return tw_start(fd, 100000, HOUR, 33);
}

TEST(start_of_a_far_id)
{
	walk(some_timers, start_far_away);
}

static int start_any(int fd)
{
	__u64 id;

	return tw_start_any(fd, HOUR, 33, &id);
}

TEST(start_of_a_kernel_id)
{
	walk(no_timers, start_any);
}

/* A restart needs no memory: the only fault is in copying the request. */
TEST(restart)
{
	walk(some_timers, first_start);
}

static int stop(int fd)
{
	int result = tw_stop(fd, 3);

	return result == -ENOENT ? 0 : result;
}

TEST(stop)
{
	walk(some_timers, stop);
}

static int get(int fd)
{
	struct twheel_get get;

	return tw_get(fd, 3, &get);
}

TEST(get)
{
	walk(some_timers, get);
}

static int info(int fd)
{
	struct twheel_info info;

	return tw_info(fd, &info);
}

TEST(info)
{
	walk(some_timers, info);
}

static int stats(int fd)
{
	struct twheel_stats stats;

	return tw_stats(fd, &stats);
}

TEST(stats)
{
	walk(some_timers, stats);
}

static int setup(int fd)
{
	return tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE, .tick_ns = 3 * MS });
}

TEST(setup_of_a_private_wheel)
{
	walk(no_timers, setup);
}

static int read_one(int fd)
{
	struct twheel_event event;
	ssize_t got = tw_read(fd, &event, 1);

	if (got == 1)
		ASSERT_LT(event.id, 10);
	return got;
}

TEST(read)
{
	walk(some_events, read_one);
}

static int drain_one(int fd)
{
	struct twheel_drained timer;
	__u32 count = 0;
	int result = tw_drain(fd, &timer, 1, &count);

	return result ? result : (int)count;
}

TEST(drain)
{
	walk(some_timers, drain_one);
}

/*
 * A start that failed has not bound the session to its wheel, nor to a table
 * of the length that was begun.
 */
TEST(setup_after_a_start_that_failed)
{
	int injector = open_injector();
	int nth, fd, result;
	bool fault = true;

	for (nth = 1; fault && nth < ROUNDS; nth++) {
		fd = session_open_nonblock();
		ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
			.max_timers = 50 }));
		inject(injector, nth);
		result = tw_start(fd, 49, HOUR, 33);
		fault = injected(injector);
		/* No fault any more, or one that it got by without. */
		if (!result) {
			close(fd);
			continue;
		}
		ASSERT_TRUE(fault);
		ASSERT_TRUE(result == -ENOMEM || result == -EFAULT);
		ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
			.flags = TWHEEL_SETUP_PRIVATE, .tick_ns = 3 * MS,
			.max_timers = 100000 }));
		ASSERT_EQ(0, tw_start(fd, 99999, HOUR, 33));
		ASSERT_EQ(-EBUSY, tw_setup(fd, (struct twheel_setup){
			.max_timers = 50 }));
		ASSERT_EQ(0, tw_stop(fd, 99999));
		expect_balance(fd);
		close(fd);
	}
	test_note("%d places to fail", nth - 2);
	ASSERT_LT(nth, ROUNDS);
}

/* What was done of a batch is said, whatever has failed. */
TEST(submit)
{
	int injector = open_injector();
	struct twheel_op ops[64];
	struct twheel_stats stats;
	int nth, fd, result;
	bool fault = true;
	__u32 done, i, started;

	for (nth = 1; fault && nth < ROUNDS; nth++) {
		fd = session_open_nonblock();
		memset(ops, 0, sizeof(ops));
		for (i = 0; i < 64; i++) {
			ops[i].opcode = TWHEEL_OP_START;
			ops[i].id = i % 2 ? i * 100 : TWHEEL_ID_ANY;
			ops[i].expires_ns = HOUR;
		}
		inject(injector, nth);
		result = tw_submit(fd, ops, 64, &done);
		fault = injected(injector);
		if (result) {
			ASSERT_TRUE(result == -EFAULT || result == -ENOMEM);
			done = 0;
		}
		for (i = 0, started = 0; i < done; i++) {
			ASSERT_TRUE(!ops[i].result || ops[i].result == -ENOMEM);
			started += !ops[i].result;
		}
		ASSERT_EQ(0, tw_stats(fd, &stats));
		ASSERT_EQ(started, stats.started);
		ASSERT_EQ(started, stats.pending);
		close(fd);
	}
	test_note("%d places to fail", nth - 2);
	ASSERT_LT(nth, ROUNDS);
}

TEST(open)
{
	int injector = open_injector();
	int nth, fd;
	bool fault;

	for (nth = 1; nth < ROUNDS; nth++) {
		inject(injector, nth);
		fd = open("/dev/twheel", O_RDWR);
		fault = injected(injector);
		if (fd >= 0)
			close(fd);
		if (!fault)
			break;
	}
	test_note("%d places to fail", nth - 1);
	ASSERT_LT(nth, ROUNDS);
	close(session_open());
}
