// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a timeout for the packets of a connection
 *
 * SOCKETS connections over loopback get messages of a byte, which the program reads.
 * For each message, every way to have a timeout pushes the timeout back: by nothing, a
 * store, or a system call. The ways take turns, and the same traffic without a timeout is
 * one of them. The time of a round includes the work of the kernel, so that the cost of a
 * way is seen wherever it arises.
 */
#include <arpa/inet.h>
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
		err(1, "listen");
	for (i = 0; i < SOCKETS; i++) {
		pairs[i].peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (pairs[i].peer < 0 ||
		    connect(pairs[i].peer, (void *)&address, sizeof(address)))
			err(1, "connect");
		pairs[i].ours = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (pairs[i].ours < 0)
			err(1, "accept");
	}
	close(listener);
}

static void message(const struct pair *pair)
{
	char byte = 0;

	if (send(pair->peer, &byte, 1, MSG_NOSIGNAL) != 1 ||
	    recv(pair->ours, &byte, 1, 0) != 1)
		err(1, "a message");
}

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
		err(1, "TWHEEL_IOC_START");
}

static void nothing(unsigned int i)
{
}

static void start_by_socket(unsigned int i)
{
	start(i, TWHEEL_START_IDLE);
}

static void start_by_time(unsigned int i)
{
	start(i, 0);
}

static void store(unsigned int i)
{
	__atomic_store_n(&words[i], now_ns() + TIMEOUT_NS, __ATOMIC_RELAXED);
}

static void start_again(unsigned int i)
{
	if (ioctl(fd, TWHEEL_IOC_START, &starts[i]) != 1)
		err(1, "TWHEEL_IOC_START");
}

static void set_timerfd(unsigned int i)
{
	struct itimerspec value = { .it_value.tv_sec = TIMEOUT_NS / SECOND };

	if (timerfd_settime(pairs[i].timerfd, 0, &value, NULL))
		err(1, "timerfd_settime");
}

static void make_timerfd(unsigned int i)
{
	pairs[i].timerfd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (pairs[i].timerfd < 0)
		err(1, "timerfd_create");
	set_timerfd(i);
}

static void close_timerfd(unsigned int i)
{
	close(pairs[i].timerfd);
}

/**
 * struct way - a way to have timeouts
 * @name: its name in the results
 * @session: there is a session
 * @start: start the timeout of a connection
 * @push_back: push the timeout back for a message
 * @end: undo @start, unless the end of the session does
 */
struct way {
	const char *name;
	bool session;
	void (*start)(unsigned int i);
	void (*push_back)(unsigned int i);
	void (*end)(unsigned int i);
};

static const struct way ways[] = {
	{ "none", false, nothing, nothing, nothing },
	{ "twheel-socket", true, start_by_socket, nothing, nothing },
	{ "twheel-shared", true, start_by_time, store, nothing },
	{ "twheel", true, start_by_time, start_again, nothing },
	{ "timerfd", false, make_timerfd, set_timerfd, close_timerfd },
};

#define WAYS	(sizeof(ways) / sizeof(ways[0]))

/* Time per message, in each round. */
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

static double one_round(const struct way *way)
{
	double took;
	unsigned int i;

	if (way->session)
		fd = open_words(SOCKETS, &words);
	for (i = 0; i < SOCKETS; i++)
		way->start(i);
	/* A timer that is started is not in its place at once. */
	usleep(QUIET_NS / US);
	took = traffic(way);
	for (i = 0; i < SOCKETS; i++)
		way->end(i);
	if (way->session) {
		munmap(words, SOCKETS * sizeof(*words));
		close(fd);
	}
	return took;
}

void measure_sockets(struct bench *b)
{
	static struct impl impl;
	unsigned int round, w;

	connect_all();
	for (round = 0; round < ROUNDS; round++)
		for (w = 0; w < WAYS; w++)
			taken[w][round] = one_round(&ways[w]);
	b->timers = SOCKETS;
	b->impl = &impl;
	for (w = 0; w < WAYS; w++) {
		impl.name = ways[w].name;
		row(b, "message", "median", 1, median(taken[w], ROUNDS));
	}
}
