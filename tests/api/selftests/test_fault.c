// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that run out of memory, or whose copies fail
 *
 * On a kernel with fault injection, every allocation and every copy from or to user space fails in
 * turn: the first one in round one, the second one in round two, until a round meets no fault. All
 * rounds run twice, because some allocations have a fallback. In the first series of rounds, only
 * one allocation fails. In the second series, all allocations after it fail, too.
 *
 * The call must either fail with ENOMEM or EFAULT, or succeed without the memory. A failed call
 * must not change anything, and must succeed when it is repeated.
 *
 * Fault injection does not cover get_user(), put_user() and their unsafe variants: see
 * test_errors.c and test_read.c. After the programs, kmemleak reports leaks, and rmmod reports
 * leaked timers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness.h"
#include "inject.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define ROUNDS		400

static __u32 words_of(int fd)
{
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(fd, &info));
	return info.shared_ids;
}

static void expect_unchanged(int fd, const struct twheel_stats *before, __u32 words)
{
	struct twheel_stats after;

	ASSERT_EQ(words, words_of(fd));
	ASSERT_EQ(0, tw_stats(fd, &after));
	ASSERT_EQ(before->started, after.started);
	ASSERT_EQ(before->restarted, after.restarted);
	ASSERT_EQ(before->stopped, after.stopped);
	ASSERT_EQ(before->delivered, after.delivered);
	ASSERT_EQ(before->replaced, after.replaced);
	ASSERT_EQ(before->pending, after.pending);
	ASSERT_EQ(before->unread, after.unread);
}

/* Run all rounds. @round returns true if there was a fault. */
static void walk_rounds(bool (*round)(const struct injector *injector, int nth))
{
	enum inject_mode mode;
	int nth;

	for (mode = INJECT_ONE; mode <= INJECT_ALL; mode++) {
		struct injector injector = inject_open(mode);

		for (nth = 1; nth < ROUNDS && round(&injector, nth); nth++)
			;
		test_note("%d places to fail%s", nth - 1,
			  mode == INJECT_ALL ? ", and all after them" : "");
		ASSERT_LT(nth, ROUNDS);
	}
}

/* The call that is tested, and the preparation of its session. */
static struct {
	void (*prepare)(int fd);
	int (*call)(int fd);
} walked;

static bool fail_call(const struct injector *injector, int nth)
{
	int fd = session_open_nonblock(), result;
	struct twheel_stats before;
	__u32 words;
	bool fault;

	walked.prepare(fd);
	words = words_of(fd);
	before = stats_of(fd);
	inject_from(injector, nth);
	result = walked.call(fd);
	fault = inject_end(injector);
	if (result < 0) {
		ASSERT_TRUE(fault);
		ASSERT_TRUE(result == -ENOMEM || result == -EFAULT);
		expect_unchanged(fd, &before, words);
		ASSERT_LE(0, walked.call(fd));
	}
	expect_balance(fd);
	close(fd);
	return fault;
}

/* Test a call, and check that no session and no wheel remains. */
static void walk(void (*prepare)(int fd), int (*call)(int fd))
{
	__u64 sessions = proc_sessions(), wheels = proc_wheels();

	walked.prepare = prepare;
	walked.call = call;
	walk_rounds(fail_call);
	proc_expect_sessions(sessions);
	ASSERT_EQ(wheels, proc_wheels());
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

/*
 * Define the test of a call. @call may use @fd, @id, @cursor and the structures in @of. It may also
 * return ENOENT.
 */
#define WALK(name, prepare, call)						\
	static int call_##name(int fd)						\
	{									\
		__attribute__((unused)) __u64 id, cursor = 0;			\
		__attribute__((unused)) union {					\
			struct twheel_entry entry;				\
			struct twheel_info info;				\
			struct twheel_stats stats;				\
		} of;								\
		int result = call;						\
										\
		return result == -ENOENT ? 0 : result;				\
	}									\
										\
	TEST(name)								\
	{									\
		walk(prepare, call_##name);					\
	}

WALK(start, no_timers, tw_start(fd, 3, HOUR, 33))
WALK(start_of_a_far_id, some_timers, tw_start(fd, 100000, HOUR, 33))
WALK(start_of_a_kernel_id, no_timers, tw_start_any(fd, HOUR, 33, &id))
/* A restart needs no memory, so the only fault is in copying its request. */
WALK(restart, some_timers, tw_start(fd, 3, HOUR, 33))
WALK(stop, some_timers, tw_stop(fd, 3))
WALK(start_of_an_unread_timer, some_events, tw_start(fd, 3, HOUR, 33))
WALK(stop_of_an_unread_timer, some_events, tw_stop(fd, 3))
WALK(get, some_timers, tw_get(fd, 3, &of.entry))
WALK(info, some_timers, tw_info(fd, &of.info))
WALK(stats, some_timers, tw_stats(fd, &of.stats))
WALK(drain, some_timers, tw_drain(fd, &of.entry, 1))
WALK(drain_of_unread_timers, some_events, tw_drain(fd, &of.entry, 1))
WALK(list, some_timers, tw_list(fd, &of.entry, 1, &cursor))
WALK(setup_of_a_private_wheel, no_timers, tw_setup_tick(fd, 3 * MS))

/* Set up several pages of words. */
static int setup_shared(int fd)
{
	return tw_setup(fd, (struct twheel_setup){ .shared_ids = 2000 });
}

TEST(setup_with_words)
{
	need_words();
	walk(no_timers, setup_shared);
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

/*
 * Let the first start of a session fail. After that, SETUP must still accept another wheel and
 * another limit.
 */
static bool fail_first_start(const struct injector *injector, int nth)
{
	int fd = session_open_nonblock();
	int result;
	bool fault;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .max_timers = 50 }));
	inject_from(injector, nth);
	result = tw_start(fd, 49, HOUR, 33);
	fault = inject_end(injector);
	if (result) {
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
	}
	close(fd);
	return fault;
}

TEST(setup_after_a_start_that_failed)
{
	walk_rounds(fail_first_start);
}

static void fill_batch(struct twheel_op *ops, int count)
{
	int i;

	memset(ops, 0, count * sizeof(*ops));
	for (i = 0; i < count; i++) {
		ops[i].opcode = TWHEEL_OP_START;
		ops[i].id = i % 2 ? i * 100ULL : TWHEEL_ID_ANY;
		ops[i].expires_ns = HOUR;
	}
}

/* Fail a batch. Its return value must be the number of operations that were carried out. */
static bool fail_batch(const struct injector *injector, int nth)
{
	int fd = session_open_nonblock();
	struct twheel_op ops[64];
	int i, result, started;
	bool fault;

	fill_batch(ops, 64);
	for (i = 0; i < 64; i++)
		ops[i].result = 77;
	inject_from(injector, nth);
	result = tw_submit(fd, ops, 64);
	fault = inject_end(injector);
	if (result < 0) {
		ASSERT_TRUE(fault);
		ASSERT_TRUE(result == -EFAULT || result == -ENOMEM);
	}
	started = result < 0 ? 0 : result;
	ASSERT_TRUE(fault || started == 64);
	for (i = 0; i < 64; i++)
		ASSERT_EQ(i < started ? 0 : 77, ops[i].result);
	EXPECT_STATS(fd, .started = started, .pending = started);
	close(fd);
	return fault;
}

TEST(submit)
{
	walk_rounds(fail_batch);
}

/*
 * Check that starting and stopping a timer needs no memory after the first time, with any
 * number of other timers, and even if the timer begins a new chunk.
 */
static void come_and_go(int fd, const struct injector *injector, __u64 id)
{
	int round;

	for (round = 0; round < 3; round++) {
		struct twheel_start start = { .id = id, .expires_ns = HOUR };
		struct twheel_stop stop = { .id = id };

		if (round)
			inject_from(injector, 1);
		ASSERT_EQ(0, ioctl(fd, TWHEEL_IOC_START, &start));
		stop.id = start.id;
		ASSERT_EQ(0, ioctl(fd, TWHEEL_IOC_STOP, &stop));
		if (round)
			ASSERT_TRUE(!inject_end(injector));
	}
}

TEST(the_same_start_again_needs_no_memory)
{
	struct injector injector = inject_open(INJECT_ALL);
	int fd = session_open_nonblock();
	__u64 any;
	int i;

	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, tw_start(fd, i, HOUR, 0));
		ASSERT_EQ(0, tw_start_any(fd, HOUR, 0, &any));
		come_and_go(fd, &injector, i + 1);
		come_and_go(fd, &injector, TWHEEL_ID_ANY);
	}
	expect_balance(fd);
	close(fd);
}

static int open_another(int fd)
{
	int result = open("/dev/twheel", O_RDWR);

	(void)fd;
	if (result < 0)
		return -errno;
	close(result);
	return 0;
}

TEST(open)
{
	walk(no_timers, open_another);
}

/* The file is opened in advance, because open() would also meet the faults. */
static int text_fd;

static int read_text(int fd)
{
	char text[4096];
	ssize_t size = pread(text_fd, text, sizeof(text), 0);

	(void)fd;
	return size < 0 ? -errno : size > 0;
}

static void open_text(int fd, const char *path)
{
	some_timers(fd);
	if (text_fd)
		close(text_fd);
	text_fd = open(path, O_RDONLY);
	ASSERT_LE(0, text_fd);
}

static void open_fdinfo(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	open_text(fd, path);
}

static void open_proc(int fd)
{
	open_text(fd, "/proc/twheel");
}

TEST(fdinfo)
{
	walk(open_fdinfo, read_text);
}

TEST(proc)
{
	walk(open_proc, read_text);
}
