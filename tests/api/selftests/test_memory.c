// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that a pending timer takes, and whether it is freed
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define TIMERS		500000
#define KILLED		2000000
#define BYTES_EACH	96

/* Wait until the memory is free again. RCU and the allocator's caches delay that. */
static void expect_given_back(long long before, unsigned int timers)
{
	long long allowed = before + timers * BYTES_EACH / 20LL + (2 << 20);
	__u64 give_up = now_ns() + PATIENCE;

	while (kernel_memory() > allowed && now_ns() < give_up)
		sleep_ns(50 * MS);
	ASSERT_LE(kernel_memory(), allowed);
}

static void measure(__u64 id)
{
	unsigned int count = TIMERS;
	int fd = session_open_nonblock();
	long long before, used;

	before = kernel_memory();
	start_many(fd, id, count, now_ns() + HOUR, US);
	used = kernel_memory() - before;
	test_note("%u timers, %lld bytes each", count, used / count);
	ASSERT_LE(used, (long long)count * BYTES_EACH);
	EXPECT_STATS(fd, .started = count, .pending = count);

	ASSERT_EQ(count, drain_all(fd));
	expect_given_back(before, count);
	EXPECT_STATS(fd, .started = count, .stopped = count);
}

TEST(ids_of_the_caller)
{
	measure(0);
}

TEST(ids_of_the_kernel)
{
	measure(TWHEEL_ID_ANY);
}

/* When a process is killed, the kernel must stop its timers and free their memory. */
TEST(given_back_by_a_process_that_is_killed)
{
	unsigned int count = KILLED;
	long long before = kernel_memory();
	__u64 begin;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		start_many(session_open(), 0, count, now_ns() + HOUR, US);
		pause();
	}
	while (proc_sum(proc_text()).pending != count)
		sleep_ns(10 * MS);
	begin = now_ns();
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	test_note("%u timers freed in %llu ms", count, (now_ns() - begin) / MS);
	ASSERT_TRUE(WIFSIGNALED(status));
	proc_expect_sessions(0);
	ASSERT_EQ(0, proc_sum(proc_text()).pending);
	proc_expect_balance(proc_text());
	expect_given_back(before, count);
}

/*
 * Documentation/limits.rst: the worst case. There is one timer in each chunk of the caller's ids,
 * and then timers with ids of the kernel, up to the limit.
 */
TEST(two_sparse_tables)
{
	const unsigned int each = timers_of_a_piece(), limit = 2000 * each;
	int fd = session_open_nonblock();
	long long before, used;
	unsigned int i;
	__u64 id;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .max_timers = limit }));
	before = kernel_memory();
	for (i = 0; i < limit; i += each)
		ASSERT_EQ(0, tw_start(fd, i, HOUR, i));
	for (i = limit / each; i < limit; i++)
		ASSERT_EQ(0, tw_start_any(fd, HOUR, i, &id));
	ASSERT_EQ(-ENOSPC, tw_start_any(fd, HOUR, i, &id));
	used = kernel_memory() - before;
	test_note("%lld bytes for each timer of the limit", used / limit);
	ASSERT_LE(used, 184LL * limit);
}

/* Ids that are far apart must cost only their own pages, and no pages for the ids between them. */
TEST(a_sparse_table_is_small)
{
	int fd = session_open();
	struct twheel_info info;
	long long before;
	unsigned int i;

	ASSERT_EQ(0, tw_info(fd, &info));
	before = kernel_memory();
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, tw_start(fd, i * (info.max_timers / 100), HOUR, i));
	test_note("100 timers far apart: %lld KiB",
		  (kernel_memory() - before) / 1024);
	ASSERT_LE(kernel_memory() - before, 4 << 20);
}

/* Returns the number of bytes of a session with one timer. */
static long long memory_of_a_session(struct twheel_setup setup)
{
	const int sessions = 400;
	long long before = kernel_memory();
	int i;

	for (i = 0; i < sessions; i++) {
		int fd = session_open();

		ASSERT_EQ(0, tw_setup(fd, setup));
		ASSERT_EQ(0, tw_start(fd, 1, HOUR, 0));
	}
	return (kernel_memory() - before) / sessions;
}

/* A session with a small max_timers must not pay for pointers to more timers. */
TEST(a_session_of_few_timers_is_small)
{
	long long most = memory_of_a_session((struct twheel_setup){});
	long long few = memory_of_a_session((struct twheel_setup){ .max_timers = 100 });

	test_note("a session with one timer: %lld bytes, with a limit of 100: %lld", most, few);
	ASSERT_LE(few + 5000, most);
}
