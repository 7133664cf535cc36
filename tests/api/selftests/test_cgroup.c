// SPDX-License-Identifier: GPL-2.0
/*
 * A memory cgroup at its limit
 *
 * Timers, tables, words and private wheels are charged to the caller's cgroup. At the limit the
 * caller must get ENOMEM, and must not cause an out-of-memory kill. Its existing timers keep
 * working, and other cgroups are not affected.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define ROOT		"/sys/fs/cgroup/"
#define GROUP		ROOT "twheel-test/"
#define LIMIT		(4 << 20)
#define BATCH		256
#define ROUNDS		20

/*
 * Returns the least charge of a timer, which is its share of a chunk, or twice that with lockdep.
 * The unused part of a chunk's 4 KiB is not charged.
 */
static unsigned int bytes_each(void)
{
	unsigned int each = (kernel_of_32_bits() ? 1920 : 3840) / timers_of_a_piece();

	return access("/proc/lockdep_stats", F_OK) ? each : 2 * each;
}

static void make_group(void)
{
	char text[32];

	if (!write_text(ROOT "cgroup.subtree_control", "+memory"))
		test_skip("there is no cgroup2 with a memory controller");
	rmdir(GROUP);
	ASSERT_EQ(0, mkdir(GROUP, 0755));
	snprintf(text, sizeof(text), "%d", LIMIT);
	ASSERT_TRUE(write_text(GROUP "memory.max", text));
}

/* Returns the number behind @name in a file of the group. */
static long long group_number(const char *file, const char *name)
{
	char path[128], text[4096] = "";
	const char *found = text;
	int fd;

	snprintf(path, sizeof(path), GROUP "%s", file);
	fd = open(path, O_RDONLY);
	ASSERT_LE(0, fd);
	ASSERT_LT(0, read(fd, text, sizeof(text) - 1));
	close(fd);
	if (name)
		found = strstr(text, name) + strlen(name);
	return atoll(found);
}

/* Start timers until a start is refused. Returns the number of timers started. */
static __u64 start_until_refused(int fd)
{
	static struct twheel_op ops[BATCH];
	__u64 count = 0;
	int i, done;

	for (;;) {
		memset(ops, 0, sizeof(ops));
		for (i = 0; i < BATCH; i++) {
			ops[i].opcode = TWHEEL_OP_START;
			ops[i].id = TWHEEL_ID_ANY;
			ops[i].expires_ns = HOUR;
			ops[i].result = 77;
		}
		done = tw_submit(fd, ops, BATCH);
		/* a batch ends at the first operation for which there is no memory */
		for (i = 0; i < BATCH; i++)
			ASSERT_EQ(i < done ? 0 : 77, ops[i].result);
		if (done < 0)
			break;
		count += done;
	}
	ASSERT_EQ(-ENOMEM, done);
	return count;
}

/* Set up twice as many words as the limit has room for. SETUP does not allocate any of them. */
static int setup_words(int fd)
{
	return tw_setup(fd, (struct twheel_setup){
		.shared_ids = 2 * LIMIT / sizeof(__u64) });
}

/* Touch words in the group, which must pay for the pages that its processes touch first. */
static void touch_words(void)
{
	const size_t step = sysconf(_SC_PAGESIZE) / sizeof(__u64);
	long long before, after;
	int fd = session_open();
	unsigned int i;
	__u64 *words;

	ASSERT_TRUE(write_text(GROUP "cgroup.procs", "0"));
	ASSERT_EQ(0, setup_words(fd));
	words = map_words(fd, 2 * LIMIT / sizeof(__u64));
	before = group_number("memory.current", NULL);
	for (i = 0; i < LIMIT / 2 / (step * sizeof(__u64)); i++)
		words[i * step] = 33;
	after = group_number("memory.current", NULL);
	test_note("%lld bytes, then %lld", before, after);
	ASSERT_LE(LIMIT / 4, after - before);
	_exit(0);
}

/* Check that a session works while it does not need more memory. */
static void expect_works(int fd)
{
	ASSERT_EQ(0, tw_start(fd, 3, 10 * MS, 33));
	expect_event(fd, 3, 33);
	ASSERT_EQ(0, tw_start(fd, 4, HOUR, 44));
	ASSERT_EQ(1, tw_start(fd, 4, HOUR, 45));
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, 4));
	ASSERT_EQ(0, tw_stop(fd, 4));
	expect_balance(fd);
}

/*
 * The state of two processes that wait for each other, one of them in the group. A pipe cannot be
 * used: a write to it allocates a page, which at the limit causes an out-of-memory kill.
 */
struct meeting {
	bool full;
	bool done;
};

static void wait_for(const bool *flag)
{
	while (!READ_ONCE(*flag))
		sleep_ns(MS);
}

/* Fill the group. The memory of the process itself is allocated before it enters the group. */
static void run_inside(struct meeting *meeting)
{
	int fd = session_open_nonblock();
	int another = session_open_nonblock();
	unsigned int each;
	__u64 count;

	/* Get the size of a timer now, because this takes memory, and later there is none. */
	each = bytes_each();
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(1, drain_all(fd));
	ASSERT_TRUE(write_text(GROUP "cgroup.procs", "0"));
	count = start_until_refused(fd);
	test_note("%llu timers in a group of %d bytes", count, LIMIT);
	ASSERT_LT(LIMIT / each / 4, count);
	ASSERT_LE(count, LIMIT / each);
	ASSERT_EQ(-ENOMEM, tw_setup_tick(another, 3 * MS));
	expect_works(fd);
	WRITE_ONCE(meeting->full, true);
	wait_for(&meeting->done);

	ASSERT_LE(count, drain_all(fd));
	ASSERT_EQ(0, tw_setup_tick(another, 3 * MS));
	expect_works(another);
	ASSERT_LT(count / 2, start_until_refused(fd));
	_exit(0);
}

static void run_outside(struct meeting *meeting)
{
	int fd = session_open_nonblock();
	int i;

	wait_for(&meeting->full);
	for (i = 0; i < 10000; i++)
		ASSERT_EQ(0, tw_start(fd, i + 100, HOUR, i));
	expect_works(fd);
	ASSERT_EQ(0, tw_setup_tick(session_open_nonblock(), 3 * MS));
	if (has_words())
		ASSERT_EQ(0, setup_words(session_open_nonblock()));
	WRITE_ONCE(meeting->done, true);
}

/* Allocate above memory.high, so that each allocation sleeps for seconds. */
static void run_throttled(struct meeting *meeting)
{
	static char ballast[8 << 20];
	unsigned int i;
	int fd;

	ASSERT_TRUE(write_text(GROUP "cgroup.procs", "0"));
	memset(ballast, 1, sizeof(ballast));
	for (i = 0;; i++) {
		WRITE_ONCE(meeting->full, true);
		fd = session_open();
		ASSERT_EQ(0, tw_setup_tick(fd, 2 * MS + i % 100 * US));
		tw_start(fd, 3, HOUR, 33);
		close(fd);
	}
}

/* Measure open, SETUP and close ROUNDS times. Stores the durations in ascending order. */
static void time_set_ups(__u64 *times)
{
	unsigned int i;
	__u64 start;
	int fd;

	for (i = 0; i < ROUNDS; i++) {
		start = now_ns();
		fd = session_open();
		ASSERT_EQ(0, tw_setup_tick(fd, 3 * MS));
		close(fd);
		times[i] = now_ns() - start;
	}
	qsort(times, ROUNDS, sizeof(times[0]), compare_u64);
}

static struct meeting *make_meeting(void)
{
	struct meeting *meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	ASSERT_TRUE(meeting != MAP_FAILED);
	return meeting;
}

TEST(nobody_waits_for_a_caller_that_is_throttled)
{
	__u64 before[ROUNDS], times[ROUNDS];
	struct meeting *meeting;
	pid_t pid, outside;

	if (!time_is_exact())
		test_skip("not on a machine of one CPU");
	time_set_ups(before);
	make_group();
	ASSERT_TRUE(write_text(GROUP "memory.max", "max"));
	ASSERT_TRUE(write_text(GROUP "memory.high", "1048576"));
	ASSERT_EQ(0, chmod("/dev/twheel", 0666));
	meeting = make_meeting();
	pid = fork();
	if (!pid)
		run_throttled(meeting);
	wait_for(&meeting->full);
	sleep_ns(SECOND);
	time_set_ups(times);
	test_note("open, setup and close: %llu us undisturbed, %llu us now, %llu us at most",
		  before[ROUNDS / 2] / US, times[ROUNDS / 2] / US,
		  times[ROUNDS - 1] / US);
	kill(pid, SIGKILL);
	outside = waitpid(pid, NULL, 0);
	ASSERT_EQ(pid, outside);
	ASSERT_LT(0, group_number("memory.events", "high "));
	ASSERT_LE(times[ROUNDS / 2], before[ROUNDS / 2] + MS);
	ASSERT_LE(times[ROUNDS - 1], 100 * MS);
	ASSERT_EQ(0, rmdir(GROUP));
}

TEST(at_the_limit_of_a_memory_cgroup)
{
	struct meeting *meeting;
	pid_t pid;

	make_group();
	meeting = make_meeting();
	pid = fork();
	if (!pid)
		run_inside(meeting);
	run_outside(meeting);
	expect_child(pid);
	ASSERT_LT(0, group_number("memory.events", "max "));
	ASSERT_EQ(0, group_number("memory.events", "oom_kill "));
	ASSERT_EQ(0, rmdir(GROUP));
}

TEST(words_are_charged_when_they_are_touched)
{
	pid_t pid;

	need_words();
	make_group();
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		touch_words();
	expect_child(pid);
	ASSERT_EQ(0, group_number("memory.events", "oom_kill "));
	ASSERT_EQ(0, rmdir(GROUP));
}
