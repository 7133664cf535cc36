// SPDX-License-Identifier: GPL-2.0
/*
 * What a timeout costs the packets of a connection
 *
 * SOCKETS connections over loopback get messages of a byte, which the program reads.
 * Each way to have a timeout does for each message what it takes to push the timeout
 * back: nothing, a store, a system call. The ways take turns, and the same traffic
 * without a timeout is one of them. The time of a round is for all of it, the
 * kernel's part included, so that what a way adds is seen wherever it arises.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <linux/twheel.h>

#include "bench.h"

#define SOCKETS		1000U
#define MESSAGES	10U		/* of each connection, in a round */
#define ROUNDS		5U
#define TIMEOUT_NS	(100 * SECOND)
#define QUIET_NS	(500 * MS)

static struct pair {
	int ours, peer, timerfd;
} pairs[SOCKETS];
static int fd;			/* the session */
static __u64 *words;
static struct twheel_start starts[SOCKETS];

/* ----- connections ----- */

static void connect_all(void)
{
	struct sockaddr_in address = {
		.sin_family		= AF_INET,
		.sin_addr.s_addr	= htonl(INADDR_LOOPBACK),
	};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(address);
	unsigned int i;

	if (listener < 0 || bind(listener, (void *)&address, size) ||
	    listen(listener, 16) || getsockname(listener, (void *)&address, &size))
		fail("listen");
	for (i = 0; i < SOCKETS; i++) {
		pairs[i].peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (pairs[i].peer < 0 ||
		    connect(pairs[i].peer, (void *)&address, sizeof(address)))
			fail("connect");
		pairs[i].ours = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (pairs[i].ours < 0)
			fail("accept");
	}
	close(listener);
}

static void message(const struct pair *pair)
{
	char byte = 0;

	if (send(pair->peer, &byte, 1, MSG_NOSIGNAL) != 1 ||
	    recv(pair->ours, &byte, 1, 0) != 1)
		fail("a message");
}

/* ----- the ways ----- */

static void start(unsigned int i, __u32 flags)
{
	starts[i] = (struct twheel_start) {
		.id		= i,
		.expires_ns	= TIMEOUT_NS,
		.user_data	= i,
		.flags		= flags,
	};
	if (flags & TWHEEL_START_IDLE)
		starts[i].fd = pairs[i].ours;
	if (ioctl(fd, TWHEEL_IOC_START, &starts[i]) < 0)
		fail("TWHEEL_IOC_START");
}

static void start_all(__u32 flags)
{
	unsigned int i;

	fd = open_words(SOCKETS, &words);
	for (i = 0; i < SOCKETS; i++)
		start(i, flags);
}

static void end_session(void)
{
	munmap(words, SOCKETS * sizeof(*words));
	close(fd);
}

static void nothing(void)
{
}

static void nothing_for(unsigned int i)
{
	(void)i;
}

static void start_by_socket(void)
{
	start_all(TWHEEL_START_IDLE);
}

static void start_by_time(void)
{
	start_all(0);
}

static void store(unsigned int i)
{
	__atomic_store_n(&words[i], now_ns() + TIMEOUT_NS, __ATOMIC_RELAXED);
}

static void start_again(unsigned int i)
{
	if (ioctl(fd, TWHEEL_IOC_START, &starts[i]) != 1)
		fail("TWHEEL_IOC_START");
}

static void set_timerfd(unsigned int i)
{
	struct itimerspec value = { .it_value.tv_sec = TIMEOUT_NS / SECOND };

	if (timerfd_settime(pairs[i].timerfd, 0, &value, NULL))
		fail("timerfd_settime");
}

static void make_timerfds(void)
{
	unsigned int i;

	for (i = 0; i < SOCKETS; i++) {
		pairs[i].timerfd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (pairs[i].timerfd < 0)
			fail("timerfd_create");
		set_timerfd(i);
	}
}

static void close_timerfds(void)
{
	unsigned int i;

	for (i = 0; i < SOCKETS; i++)
		close(pairs[i].timerfd);
}

/**
 * struct way - a way to have timeouts
 * @name: its name in the results
 * @begin: start a timeout for each connection
 * @push_back: what a message takes
 * @end: undo @begin
 */
struct way {
	const char *name;
	void (*begin)(void);
	void (*push_back)(unsigned int i);
	void (*end)(void);
};

static const struct way ways[] = {
	{ "none", nothing, nothing_for, nothing },
	{ "twheel-socket", start_by_socket, nothing_for, end_session },
	{ "twheel-shared", start_by_time, store, end_session },
	{ "twheel", start_by_time, start_again, end_session },
	{ "timerfd", make_timerfds, set_timerfd, close_timerfds },
};

#define WAYS	(sizeof(ways) / sizeof(ways[0]))

/* What a message has taken, in each round. */
static double taken[WAYS][ROUNDS];

static double traffic(const struct way *way)
{
	__u64 begin = now_ns();
	unsigned int i, nr;

	for (nr = 0; nr < MESSAGES; nr++) {
		for (i = 0; i < SOCKETS; i++) {
			message(&pairs[i]);
			way->push_back(i);
		}
	}
	return (double)(now_ns() - begin) / (MESSAGES * SOCKETS);
}

static void measure_messages(struct bench *b)
{
	static struct impl impl = { 0 };
	unsigned int round, w;

	for (round = 0; round < ROUNDS; round++) {
		for (w = 0; w < WAYS; w++) {
			ways[w].begin();
			/* A timer that is started is not in its place at once. */
			usleep(QUIET_NS / US);
			taken[w][round] = traffic(&ways[w]);
			ways[w].end();
		}
	}
	b->impl = &impl;
	for (w = 0; w < WAYS; w++) {
		impl.name = ways[w].name;
		row(b, "message", "median", 1, median(taken[w], ROUNDS));
	}
}

void measure_sockets(struct bench *b)
{
	b->timers = SOCKETS;
	connect_all();
	measure_messages(b);
}
