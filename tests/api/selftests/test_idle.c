// SPDX-License-Identifier: GPL-2.0
/*
 * Timers that watch a TCP socket: due when it receives nothing for a time
 *
 * No case depends on a fast machine. A case that needs events in time checks afterwards
 * whether they were.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif
#ifndef TCP_ULP
#define TCP_ULP		31
#endif

#define IDLE		TWHEEL_START_IDLE

#define SHORT		(20 * MS)

/* Error of TCP's stamps: it counts jiffies, and a slow machine misses some. */
#define JIFFIES		(100 * MS)

/* A connection: what a timer watches, and its peer. */
struct connection {
	int fd;
	int peer;
};

static int listening(int family, int protocol)
{
	int fd = socket(family, SOCK_STREAM, protocol);

	if (fd < 0)
		return -errno;
	ASSERT_EQ(0, listen(fd, 1));
	return fd;
}

static struct connection connect_to(int listener, int family)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	struct connection c;

	ASSERT_EQ(0, getsockname(listener, (void *)&address, &size));
	c.peer = socket(family, SOCK_STREAM, 0);
	ASSERT_LE(0, c.peer);
	ASSERT_EQ(0, connect(c.peer, (void *)&address, size));
	c.fd = accept(listener, NULL, NULL);
	ASSERT_LE(0, c.fd);
	return c;
}

static struct connection connection(void)
{
	int listener = listening(AF_INET, 0);
	struct connection c;

	ASSERT_LE(0, listener);
	c = connect_to(listener, AF_INET);
	close(listener);
	return c;
}

static int start(int t, __u64 id, __u64 expires_ns, __u32 flags, int fd)
{
	struct twheel_start args = {
		.id = id,
		.expires_ns = expires_ns,
		.user_data = ~id,
		.flags = flags,
		.fd = fd,
	};

	return tw_ioctl(t, TWHEEL_IOC_START, &args);
}

static struct twheel_event event_of(int t, __u64 id)
{
	struct twheel_event event;

	expect_readable(t);
	ASSERT_EQ(1, tw_read(t, &event, 1));
	ASSERT_EQ(id, event.id);
	ASSERT_EQ(~id, event.user_data);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	ASSERT_LE(event.expired_ns, now_ns());
	ASSERT_EQ(0, event.overruns);
	return event;
}

static void send_byte(int fd)
{
	ASSERT_EQ(1, send(fd, "x", 1, MSG_NOSIGNAL));
}

static void receive_byte(int fd)
{
	char byte;

	ASSERT_EQ(1, recv(fd, &byte, 1, 0));
}

static int error_of(int fd)
{
	char byte;
	ssize_t ret = recv(fd, &byte, 1, 0);

	return ret < 0 ? -errno : ret;
}

static void expect_stopped(int t, __u64 want)
{
	EXPECT_STAT(t, stopped, want);
	expect_balance(t);
	expect_unread(t, 0);
}

/* Expiry. */

TEST(silent_socket_expires)
{
	int t = session_open_idle();
	struct connection c = connection();
	__u64 before = now_ns();
	struct twheel_event event;

	ASSERT_EQ(0, start(t, 1, SHORT, IDLE, c.fd));
	event = event_of(t, 1);
	ASSERT_LE(before + SHORT, event.deadline_ns);
	ASSERT_EQ(0, event.flags);
	expect_no_timer(t, 1);
	/* The connection is as it was. */
	send_byte(c.peer);
	receive_byte(c.fd);
	EXPECT_STATS(t, .started = 1, .expired = 1, .delivered = 1,
		     .carried = stats_of(t).carried);
}

TEST(data_carries_it_on)
{
	const __u64 idle = 1500 * MS * test_patience();
	int t = session_open_idle();
	struct connection c = connection();
	struct twheel_stats stats;
	struct twheel_event event;
	__u64 before = now_ns(), last;
	int i;

	ASSERT_EQ(0, start(t, 1, idle, IDLE, c.fd));
	for (i = 0; i < 4; i++) {
		sleep_ns(idle / 3);
		last = now_ns();
		send_byte(c.peer);
		if (now_ns() - before > idle)
			test_slow();
		before = last;
	}
	event = event_of(t, 1);
	ASSERT_LE(last + idle - JIFFIES, event.deadline_ns);
	if (time_is_exact()) {
		ASSERT_LE(last + idle, event.deadline_ns);
		ASSERT_LE(event.deadline_ns, last + idle + 2 * 4 * MS + MS);
	}
	ASSERT_EQ(0, tw_stats(t, &stats));
	/* Not for each of them. */
	ASSERT_LE(1, stats.carried);
	ASSERT_LE(stats.carried, 3);
	/* The data is unread. */
	receive_byte(c.fd);
}

/* Only received data counts. */
TEST(sending_does_not)
{
	int t = session_open_idle();
	struct connection c = connection();
	struct twheel_event event;
	__u64 before = now_ns();

	ASSERT_EQ(0, start(t, 1, 300 * MS, IDLE, c.fd));
	do {
		send_byte(c.fd);
		sleep_ns(10 * MS);
	} while (tw_read(t, &event, 1) != 1 && now_ns() < before + PATIENCE);
	ASSERT_EQ(1, event.id);
	EXPECT_STATS(t, .started = 1, .expired = 1, .delivered = 1,
		     .carried = stats_of(t).carried);
}

/* Errors. */

TEST(arguments_that_are_refused)
{
	int t = session_open_idle();
	struct connection c = connection();
	struct twheel_start args = {
		.id = 1, .expires_ns = HOUR, .period_ns = SECOND, .flags = IDLE, .fd = c.fd,
	};
	__u32 flag;

	ASSERT_EQ(-EINVAL, tw_ioctl(t, TWHEEL_IOC_START, &args));
	ASSERT_EQ(-EINVAL, start(t, 1, HOUR, IDLE | TWHEEL_START_ABS, c.fd));
	/* Flags of twheel before 1.0: signal, shut, reset, quiet. */
	for (flag = 1U << 3; flag <= 1U << 6; flag <<= 1)
		ASSERT_EQ(-EINVAL, start(t, 1, HOUR, IDLE | flag, c.fd));
	ASSERT_EQ(-EINVAL, start(t, 1, TWHEEL_IDLE_MAX_NS + 1, IDLE, c.fd));
	ASSERT_EQ(-EINVAL, start(t, ~TWHEEL_ID_KERNEL, HOUR, IDLE, c.fd));
	ASSERT_EQ(-ENOENT, start(t, TWHEEL_ID_KERNEL | 1, HOUR, IDLE, c.fd));
	EXPECT_STATS(t, .started = 0);
	ASSERT_EQ(0, start(t, 1, TWHEEL_IDLE_MAX_NS, IDLE, c.fd));
}

TEST(descriptors_that_are_no_connection)
{
	int t = session_open_idle(), pair[2];
	int udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);
	int listener = listening(AF_INET, 0), null = open("/dev/null", O_RDONLY);

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	ASSERT_EQ(-EBADF, start(t, 1, HOUR, IDLE, -1));
	ASSERT_EQ(-EBADF, start(t, 1, HOUR, IDLE, 12345));
	ASSERT_EQ(-ENOTSOCK, start(t, 1, HOUR, IDLE, null));
	ASSERT_EQ(-ENOTSOCK, start(t, 1, HOUR, IDLE, t));
	ASSERT_EQ(-EOPNOTSUPP, start(t, 1, HOUR, IDLE, udp));
	ASSERT_EQ(-EOPNOTSUPP, start(t, 1, HOUR, IDLE, pair[0]));
	ASSERT_EQ(-ENOTCONN, start(t, 1, HOUR, IDLE, tcp));
	ASSERT_EQ(-ENOTCONN, start(t, 1, HOUR, IDLE, listener));
	EXPECT_STATS(t, .started = 0);
}

TEST(mptcp)
{
	int t = session_open_idle(), fd = socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);

	if (fd < 0)
		test_skip("this kernel has no MPTCP");
	ASSERT_EQ(-EOPNOTSUPP, start(t, 1, HOUR, IDLE, fd));
}

/* Each operation of a batch has its own result. */
TEST(batch)
{
	int t = session_open_idle();
	struct connection a = connection(), b = connection();
	struct twheel_op ops[] = {
		{ .opcode = TWHEEL_OP_START, .id = 1, .flags = IDLE,
		  .expires_ns = HOUR, .fd = a.fd },
		{ .opcode = TWHEEL_OP_START, .id = 2, .expires_ns = HOUR },
		{ .opcode = TWHEEL_OP_START, .id = 3, .flags = IDLE,
		  .expires_ns = HOUR, .fd = -1 },
		{ .opcode = TWHEEL_OP_START, .id = 1, .flags = IDLE,
		  .expires_ns = SHORT, .fd = b.fd, .user_data = ~1ULL },
		{ .opcode = TWHEEL_OP_STOP, .id = 2 },
		{ .opcode = TWHEEL_OP_START, .id = 4, .flags = IDLE,
		  .expires_ns = HOUR, .fd = a.fd },
		{ .opcode = TWHEEL_OP_STOP, .id = 4 },
	};
	const int want[] = { 0, 0, -EBADF, 1, 0, 0, 0 };
	unsigned int i;

	ASSERT_EQ(ARRAY_SIZE(ops), tw_submit(t, ops, ARRAY_SIZE(ops)));
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		ASSERT_EQ(want[i], ops[i].result);
	close(a.fd);
	event_of(t, 1);
	expect_balance(t);
}

/* The idle time begins with the operation, and not with the call: data between them is old. */
TEST(late_in_a_batch)
{
	static struct twheel_op ops[1024];
	const unsigned int last = ARRAY_SIZE(ops) - 1;
	struct connection c = connection();
	int t = session_open_idle();
	struct twheel_entry begin, end;
	unsigned int i;

	for (i = 0; i <= last; i++)
		ops[i] = (struct twheel_op){ .opcode = TWHEEL_OP_STOP, .id = 3 };
	for (i = 0; i <= last; i += last)
		ops[i] = (struct twheel_op){
			.opcode = TWHEEL_OP_START, .id = i, .flags = IDLE,
			.expires_ns = HOUR, .fd = c.fd,
		};
	ASSERT_EQ(ARRAY_SIZE(ops), tw_submit(t, ops, ARRAY_SIZE(ops)));
	ASSERT_EQ(0, tw_get(t, 0, &begin));
	ASSERT_EQ(0, tw_get(t, last, &end));
	ASSERT_LT(begin.deadline_ns, end.deadline_ns);
}

/* A timer with a socket has no use for the word of its id. */
TEST(word_is_not_looked_at)
{
	int t = session_open_idle();
	struct connection c = connection();
	__u64 *words;

	need_words();
	ASSERT_EQ(0, tw_setup(t, (struct twheel_setup){ .shared_ids = 8 }));
	words = map_words(t, 8);
	words[1] = TWHEEL_WORD_STOP;
	ASSERT_EQ(0, start(t, 1, 0, IDLE, c.fd));
	event_of(t, 1);
	words[1] = now_ns() + HOUR;
	ASSERT_EQ(0, start(t, 1, 0, IDLE, c.fd));
	event_of(t, 1);
}

/* Lifetime. */

TEST(closed_socket_stops_it)
{
	int t = session_open_idle();
	struct connection c = connection();

	ASSERT_EQ(0, start(t, 1, 50 * MS, IDLE, c.fd));
	close(c.fd);
	/* The timer does not hold the file, so the peer sees the close at once. */
	ASSERT_EQ(0, error_of(c.peer));
	expect_stopped(t, 1);
	expect_no_timer(t, 1);
}

static void close_both(struct connection c)
{
	close(c.fd);
	close(c.peer);
}

static void let_go_by_stop(int t)
{
	ASSERT_EQ(0, tw_stop(t, 1));
}

static void let_go_by_drain(int t)
{
	struct twheel_entry entry;

	ASSERT_EQ(1, tw_drain(t, &entry, 1));
}

static void let_go_by_start(int t)
{
	ASSERT_EQ(1, tw_start(t, 1, HOUR, 0));
}

static void let_go_by_close(int t)
{
	close(t);
}

/* The timer holds a closed socket until one of these calls. */
TEST(socket_is_let_go)
{
	void (*const ways[])(int t) = {
		let_go_by_stop, let_go_by_drain, let_go_by_start, let_go_by_close,
	};
	unsigned int i;
	int t, before;

	own_network();
	before = sockets_used();
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		struct connection c = connection();

		t = session_open_idle();
		ASSERT_EQ(0, start(t, 1, HOUR, IDLE, c.fd));
		close_both(c);
		expect_sockets(before + 1);
		ways[i](t);
		expect_sockets(before);
	}
}

TEST(socket_is_let_go_at_the_deadline)
{
	int t, before;
	struct connection c;

	own_network();
	before = sockets_used();
	c = connection();
	t = session_open_idle();
	ASSERT_EQ(0, start(t, 1, 500 * MS, IDLE, c.fd));
	close_both(c);
	expect_stopped(t, 1);
	expect_sockets(before);
	/* After its event, too, read or not. */
	c = connection();
	ASSERT_EQ(0, start(t, 1, 0, IDLE, c.fd));
	expect_readable(t);
	close_both(c);
	expect_sockets(before);
	event_of(t, 1);
}

/* A timer with a socket looks at it each 2^35 ns before its deadline. */
#define LOOK		(1ULL << 35)

TEST(socket_is_let_go_long_before_the_deadline)
{
	int t, before;
	struct connection c;

	own_network();
	before = sockets_used();
	c = connection();
	t = session_open_idle();
	ASSERT_EQ(0, start(t, 1, 100 * LOOK + 500 * MS, IDLE, c.fd));
	close_both(c);
	expect_stopped(t, 1);
	expect_no_timer(t, 1);
	expect_sockets(before);
}

/* Data of the jiffy of the start may carry the timer on. */
TEST(a_look_takes_no_deadline_back)
{
	const __u64 idle = 2 * LOOK + 100 * MS;
	int t = session_open_idle(), i;
	struct connection c = connection();
	struct twheel_entry first, entry;
	struct twheel_stats stats;
	__u64 before = now_ns();

	ASSERT_EQ(0, start(t, 1, idle, IDLE, c.fd));
	ASSERT_EQ(0, tw_get(t, 1, &first));
	ASSERT_LE(before + idle, first.deadline_ns);
	ASSERT_LE(first.deadline_ns, now_ns() + idle);
	for (i = 0; i < 20; i++) {
		sleep_ns(20 * MS);
		ASSERT_EQ(0, tw_get(t, 1, &entry));
		ASSERT_EQ(TWHEEL_STATE_PENDING, entry.state);
		ASSERT_LE(first.deadline_ns, entry.deadline_ns);
		ASSERT_EQ(0, tw_stats(t, &stats));
		if (!stats.carried)
			ASSERT_EQ(first.deadline_ns, entry.deadline_ns);
	}
	ASSERT_EQ(0, stats.expired);
	/* Data is seen by a look, too, unless jiffies stand still. */
	ASSERT_EQ(1, start(t, 1, idle, IDLE, c.fd));
	ASSERT_EQ(0, tw_get(t, 1, &first));
	sleep_ns(50 * MS);
	send_byte(c.peer);
	sleep_ns(SECOND);
	ASSERT_EQ(0, tw_get(t, 1, &entry));
	ASSERT_LE(first.deadline_ns, entry.deadline_ns);
	expect_balance(t);
	if (entry.deadline_ns == first.deadline_ns)
		test_slow();
}

TEST(reset_by_the_peer)
{
	const struct linger linger = { .l_onoff = 1 };
	int t = session_open_idle();
	struct connection c = connection();

	ASSERT_EQ(0, start(t, 1, 50 * MS, IDLE, c.fd));
	ASSERT_EQ(0, setsockopt(c.peer, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
	close(c.peer);
	event_of(t, 1);
	ASSERT_EQ(-ECONNRESET, error_of(c.fd));
}

TEST(peer_has_ended)
{
	int t = session_open_idle();
	struct connection c = connection();

	ASSERT_EQ(0, shutdown(c.peer, SHUT_WR));
	ASSERT_EQ(0, error_of(c.fd));
	ASSERT_EQ(0, start(t, 1, SHORT, IDLE, c.fd));
	event_of(t, 1);
	ASSERT_EQ(0, shutdown(c.fd, SHUT_RDWR));
	ASSERT_EQ(0, error_of(c.peer));
}

/* The timer follows the socket, not the connection. */
TEST(connected_again)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int t = session_open_idle(), listener = listening(AF_INET, 0), other;
	struct connection c = connect_to(listener, AF_INET);

	ASSERT_EQ(0, getsockname(listener, (void *)&address, &size));
	ASSERT_EQ(0, start(t, 1, 500 * MS, IDLE, c.peer));
	ASSERT_EQ(0, connect(c.peer, &none, sizeof(none)));
	ASSERT_EQ(-ENOTCONN, start(t, 2, HOUR, IDLE, c.peer));
	ASSERT_EQ(0, connect(c.peer, (void *)&address, size));
	other = accept(listener, NULL, NULL);
	ASSERT_LE(0, other);
	event_of(t, 1);
}

/* @shut: the socket is shut for reading before. Otherwise both ends are, after the data. */
static void expect_data_counts(bool shut)
{
	const __u64 idle = 600 * MS * test_patience();
	int t = session_open_idle();
	struct connection c = connection();
	__u64 before = now_ns(), last;

	if (shut)
		ASSERT_EQ(0, shutdown(c.fd, SHUT_RD));
	ASSERT_EQ(0, start(t, 1, idle, IDLE, c.fd));
	sleep_ns(idle / 2);
	last = now_ns();
	send_byte(c.peer);
	if (!shut) {
		ASSERT_EQ(1, error_of(c.fd));
		ASSERT_EQ(0, shutdown(c.fd, SHUT_WR));
		ASSERT_EQ(0, shutdown(c.peer, SHUT_WR));
		ASSERT_EQ(0, error_of(c.fd));
	}
	if (now_ns() - before > idle)
		test_slow();
	ASSERT_LE(last + idle - JIFFIES, event_of(t, 1).deadline_ns);
}

/* Data counts even if the socket cannot receive any longer. */
TEST(gone_after_data)
{
	expect_data_counts(false);
}

/* TCP takes data all the same. */
TEST(shut_for_reading_before)
{
	expect_data_counts(true);
}

/* Closed around the deadline, over and over. */
TEST(closed_while_it_expires)
{
	int t = session_open_idle(), before, i;

	own_network();
	before = sockets_used();
	for (i = 0; i < 200; i++) {
		struct connection c = connection();

		ASSERT_EQ(0, start(t, i, i * 100 * US % (3 * MS), IDLE, c.fd));
		sleep_ns(i * 70 * US % (3 * MS));
		if (i % 5 == 0)
			tw_stop_flags(t, i, TWHEEL_STOP_WITHDRAW);
		close_both(c);
	}
	EXPECT_STAT(t, pending, 0);
	expect_balance(t);
	expect_sockets(before);
}

/* Others that have the socket, or the session. */

TEST(accepted_by_another_process)
{
	int t = session_open_idle(), pair[2], fd;
	struct connection c;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = fork();
	if (!pid) {
		/* In a network namespace of its own, and gone before the deadline. */
		own_network();
		c = connection();
		send_fd(pair[0], c.fd);
		ASSERT_EQ(0, error_of(c.peer));
		_exit(0);
	}
	/* If the child fails, the receive must not wait for ever. */
	close(pair[0]);
	fd = receive_fd(pair[1]);
	ASSERT_EQ(0, start(t, 1, SHORT, IDLE, fd));
	event_of(t, 1);
	ASSERT_EQ(0, shutdown(fd, SHUT_RDWR));
	expect_child(pid);
}

/* The socket remains open while a child has it. */
TEST(child_has_it_too)
{
	int t = session_open_idle(), go[2];
	struct connection c = connection();
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(go));
	pid = fork();
	if (!pid) {
		close(go[1]);
		ASSERT_EQ(0, read(go[0], &byte, 1));
		_exit(0);
	}
	ASSERT_EQ(0, start(t, 1, SHORT, IDLE, c.fd));
	close(c.fd);
	event_of(t, 1);
	close(go[1]);
	expect_child(pid);
}

TEST(ipv6)
{
	int t = session_open_idle(), listener = listening(AF_INET6, 0);
	struct connection c;

	if (listener < 0)
		test_skip("this kernel has no IPv6");
	c = connect_to(listener, AF_INET6);
	ASSERT_EQ(0, start(t, 1, SHORT, IDLE, c.fd));
	event_of(t, 1);
}

TEST(tls)
{
	int t = session_open_idle();
	struct connection c = connection();

	if (setsockopt(c.fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")))
		test_skip("this kernel has no TLS");
	ASSERT_EQ(0, start(t, 1, SHORT, IDLE, c.fd));
	event_of(t, 1);
}
