// SPDX-License-Identifier: GPL-2.0
/*
 * A session lives as long as its last reference
 *
 * The end of a session stops its timers and discards its events. After that, the counters of
 * /proc/twheel must balance.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

static __u64 pending(void)
{
	return proc_sum(proc_text()).pending;
}

/* Wait until @sessions sessions are left, and check that @timers timers are pending. */
static void expect_clean(__u64 sessions, __u64 timers)
{
	proc_expect_sessions(sessions);
	ASSERT_EQ(timers, pending());
	proc_expect_balance(proc_text());
}

TEST(close_with_periodic_timers)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int fd = session_open_nonblock();
	struct twheel_event events[64];
	int i;

	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, tw_start_periodic(fd, i, i * 100 * US, MS));
	for (i = 0; i < 50; i++) {
		sleep_ns(MS);
		tw_read(fd, events, 64);
	}
	close(fd);
	expect_clean(sessions, timers);
}

/* A read holds the session until it returns the event. */
TEST(close_with_a_reader_blocked)
{
	__u64 sessions = proc_sessions(), timers = pending();
	struct blocked blocked = { .fd = session_open() };
	__u64 deadline, open;
	pthread_t thread;

	thread = run_blocked(&blocked);
	deadline = now_ns() + test_patience() * SECOND;
	ASSERT_EQ(0, tw_start_flags(blocked.fd, 3, deadline, TWHEEL_START_ABS,
				    33));
	close(blocked.fd);
	open = proc_sessions();
	if (now_ns() >= deadline)
		test_slow();
	ASSERT_EQ(sessions + 1, open);
	thread_join(thread);
	ASSERT_EQ(1, blocked.result);
	ASSERT_EQ(33, blocked.event.user_data);
	expect_clean(sessions, timers);
}

TEST(fork_shares_the_session)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int fd = session_open();
	pid_t pid;

	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	pid = fork();
	if (!pid) {
		expect_event(fd, 3, 33);
		ASSERT_EQ(0, tw_start(fd, 4, HOUR, 44));
		_exit(0);
	}
	expect_child(pid);
	ASSERT_EQ(sessions + 1, proc_sessions());
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, 4));
	expect_no_timer(fd, 3);
	close(fd);
	expect_clean(sessions, timers);
}

TEST(lost_in_a_socket)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int fd, pair[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	fd = session_open();
	start_many(fd, 0, 100, now_ns() + HOUR, 0);
	send_fd(pair[0], fd);
	close(fd);
	close(pair[0]);
	close(pair[1]);
	expect_clean(sessions, timers);
}

/* A session holds the module. An unload must be refused without harm to the session. */
TEST(module_in_use_cannot_be_unloaded)
{
	int fd = session_open();
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	ASSERT_EQ(0, tw_start(fd, 3, 50 * MS, 33));
	ASSERT_EQ(-1, syscall(SYS_delete_module, "twheel", O_NONBLOCK));
	ASSERT_EQ(EWOULDBLOCK, errno);
	expect_event(fd, 3, 33);
	ASSERT_EQ(0, poll(&pollfd, 1, 0));
	close(session_open());
}

/* Use a descriptor until another thread closes it. */
static void *use_until_closed(void *data)
{
	int fd = *(int *)data;
	struct twheel_event events[4];
	__u64 seed = 5;

	while (tw_start(fd, random_number(&seed) % 100, MS, 1) != -EBADF) {
		tw_stop(fd, random_number(&seed) % 100);
		if (tw_read(fd, events, 4) == -EBADF)
			break;
	}
	return NULL;
}

TEST(close_while_in_use)
{
	__u64 sessions = proc_sessions(), timers = pending();
	pthread_t threads[2];
	int round, fd;

	for (round = 0; round < 50; round++) {
		fd = session_open_nonblock();
		threads[0] = thread_run(use_until_closed, &fd);
		threads[1] = thread_run(use_until_closed, &fd);
		sleep_ns(5 * MS);
		close(fd);
		thread_join(threads[0]);
		thread_join(threads[1]);
	}
	expect_clean(sessions, timers);
}
