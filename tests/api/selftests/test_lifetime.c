// SPDX-License-Identifier: GPL-2.0
/*
 * A session lives as long as its last reference
 *
 * However a session ends, its timers are stopped, its events are discarded, and
 * the books of /proc/twheel balance.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

static void start_many(int fd, int count, __u64 expires_ns)
{
	int i;

	for (i = 0; i < count; i++)
		ASSERT_EQ(0, tw_start(fd, i, expires_ns, i));
}

static __u64 pending(void)
{
	return proc_sum(proc_text()).pending;
}

/* Everything is as before, and nothing was lost on the way. */
static void expect_clean(__u64 sessions, __u64 timers)
{
	proc_expect_sessions(sessions);
	ASSERT_EQ(timers, pending());
	proc_expect_balance(proc_text());
}

TEST(session_is_counted)
{
	__u64 sessions = proc_sessions();
	int fd = session_open();

	ASSERT_EQ(sessions + 1, proc_sessions());
	close(fd);
	proc_expect_sessions(sessions);
}

TEST(close_with_timers_pending)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int fd = session_open();

	start_many(fd, 1000, HOUR);
	ASSERT_EQ(timers + 1000, pending());
	close(fd);
	expect_clean(sessions, timers);
}

TEST(close_with_events_unread)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int fd = session_open();

	start_many(fd, 1000, 0);
	expect_unread(fd, 1000);
	close(fd);
	expect_clean(sessions, timers);
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

/* Closes the session while its timers expire in softirq. */
TEST(close_during_expiry)
{
	__u64 sessions = proc_sessions(), timers = pending();
	__u64 seed = 3;
	int fd, i;

	for (i = 0; i < 200; i++) {
		fd = session_open();
		start_many(fd, 50, MS);
		sleep_until(now_ns() + random_number(&seed) % (2 * MS));
		close(fd);
	}
	expect_clean(sessions, timers);
}

TEST(many_sessions_one_after_another)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int fd, i;

	for (i = 0; i < 1000; i++) {
		fd = session_open();
		start_many(fd, 10, HOUR);
		close(fd);
	}
	expect_clean(sessions, timers);
}

TEST(many_sessions_at_once)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int fds[200];
	int i;

	for (i = 0; i < 200; i++) {
		fds[i] = session_open();
		start_many(fds[i], 10, HOUR);
	}
	ASSERT_EQ(sessions + 200, proc_sessions());
	ASSERT_EQ(timers + 2000, pending());
	for (i = 0; i < 200; i++)
		close(fds[i]);
	expect_clean(sessions, timers);
}

struct blocked {
	int fd;
	pid_t thread;
	struct twheel_event event;
	ssize_t result;
};

static void *read_blocked(void *data)
{
	struct blocked *blocked = data;

	WRITE_ONCE(blocked->thread, gettid());
	blocked->result = tw_read(blocked->fd, &blocked->event, 1);
	return NULL;
}

static pthread_t run_blocked(struct blocked *blocked)
{
	pthread_t thread = thread_run(read_blocked, blocked);

	expect_asleep(&blocked->thread);
	return thread;
}

/* The read holds the session: it gets its event, then the session goes. */
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

static void on_signal(int number)
{
	(void)number;
}

TEST(close_with_a_reader_that_a_signal_ends)
{
	struct sigaction action = { .sa_handler = on_signal };
	__u64 sessions = proc_sessions(), timers = pending();
	struct blocked blocked = { .fd = session_open() };
	pthread_t thread;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	start_many(blocked.fd, 100, HOUR);
	thread = run_blocked(&blocked);
	close(blocked.fd);
	ASSERT_EQ(sessions + 1, proc_sessions());
	ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
	thread_join(thread);
	ASSERT_EQ(-EINTR, blocked.result);
	expect_clean(sessions, timers);
}

TEST(dup_keeps_the_session)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int first = session_open();
	int second = dup(first);

	ASSERT_EQ(0, tw_start(first, 3, 20 * MS, 33));
	ASSERT_EQ(0, tw_start(first, 4, HOUR, 44));
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(second, 4));
	close(first);
	expect_event(second, 3, 33);
	ASSERT_EQ(1, tw_start(second, 4, HOUR, 45));
	close(second);
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

TEST(session_outlives_its_opener)
{
	int pair[2];
	int fd = session_open();
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(pair));
	pid = fork();
	if (!pid) {
		close(pair[1]);
		ASSERT_EQ(0, read(pair[0], &byte, 1));
		ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
		expect_event(fd, 3, 33);
		_exit(0);
	}
	close(fd);
	close(pair[1]);
	expect_child(pid);
}

static void send_fd(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = { 0 };
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	ASSERT_EQ(1, sendmsg(socket, &message, 0));
}

static int receive_fd(int socket)
{
	int fd;
	char control[CMSG_SPACE(sizeof(fd))];
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};

	ASSERT_EQ(1, recvmsg(socket, &message, 0));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

TEST(sent_through_a_socket)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int fd, pair[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = fork();
	if (!pid) {
		fd = receive_fd(pair[1]);
		expect_event(fd, 3, 33);
		_exit(0);
	}
	fd = session_open();
	ASSERT_EQ(0, tw_start(fd, 3, 100 * MS, 33));
	send_fd(pair[0], fd);
	close(fd);
	expect_child(pid);
	expect_clean(sessions, timers);
}

TEST(alive_while_in_a_socket)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int fd, pair[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	fd = session_open();
	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	send_fd(pair[0], fd);
	close(fd);
	sleep_ns(50 * MS);
	ASSERT_EQ(sessions + 1, proc_sessions());
	fd = receive_fd(pair[1]);
	expect_event(fd, 3, 33);
	close(fd);
	expect_clean(sessions, timers);
}

TEST(lost_in_a_socket)
{
	__u64 sessions = proc_sessions(), timers = pending();
	int fd, pair[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	fd = session_open();
	start_many(fd, 100, HOUR);
	send_fd(pair[0], fd);
	close(fd);
	close(pair[0]);
	close(pair[1]);
	expect_clean(sessions, timers);
}

TEST(killed_process)
{
	__u64 sessions = proc_sessions(), timers = pending();
	struct twheel_event event;
	int status, fd;
	pid_t pid;

	pid = fork();
	if (!pid) {
		fd = session_open();
		start_many(fd, 2000, HOUR);
		tw_read(fd, &event, 1);
		_exit(1);
	}
	while (pending() != timers + 2000)
		sleep_ns(MS);
	ASSERT_EQ(sessions + 1, proc_sessions());
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	expect_clean(sessions, timers);
}

/* The child may be killed anywhere between start, expiry and read. */
TEST(killed_at_any_moment)
{
	__u64 sessions = proc_sessions(), timers = pending();
	struct twheel_event events[16];
	__u64 seed = 11;
	int i, fd, status;
	pid_t pid;

	for (i = 0; i < 100; i++) {
		pid = fork();
		if (!pid) {
			fd = session_open_nonblock();
			for (;;) {
				tw_start_periodic(fd, random_number(&seed) % 64,
						  MS, MS);
				tw_stop(fd, random_number(&seed) % 64);
				tw_read(fd, events, 16);
			}
		}
		sleep_ns(random_number(&seed) % (20 * MS));
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		random_number(&seed);
	}
	expect_clean(sessions, timers);
}

TEST(closed_by_exec)
{
	__u64 sessions = proc_sessions(), timers = pending();
	pid_t pid;
	int fd;

	pid = fork();
	if (!pid) {
		fd = session_open();
		start_many(fd, 100, HOUR);
		fd = open("/dev/null", O_WRONLY);
		dup2(fd, STDOUT_FILENO);
		execl("/proc/self/exe", "lifetime", "-l", NULL);
		_exit(1);
	}
	expect_child(pid);
	expect_clean(sessions, timers);
}

/* Without O_CLOEXEC: what runs then reads an event, to its standard output. */
TEST(goes_on_after_exec)
{
	__u64 sessions = proc_sessions(), timers = pending();
	struct twheel_event event;
	int ends[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(ends));
	pid = fork();
	if (!pid) {
		dup2(session_open(), STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		tw_start(STDIN_FILENO, 3, 100 * MS, 33);
		execl("/bin/head", "head", "-c", "48", NULL);
		_exit(1);
	}
	ASSERT_EQ(sizeof(event), read(ends[0], &event, sizeof(event)));
	ASSERT_EQ(3, event.id);
	ASSERT_EQ(33, event.user_data);
	expect_child(pid);
	expect_clean(sessions, timers);
}

/* A session pins the module, and the failed unload must not harm it. */
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

/* One thread closes the descriptor that another one is using. */
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
