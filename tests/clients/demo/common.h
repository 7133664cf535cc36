/* SPDX-License-Identifier: GPL-2.0 */
/*
 * common.h - what a server does apart from its timers: it listens, accepts connections,
 * ends with its standard input, and keeps records
 *
 * A program that uses timers needs no records. Here they check the promises of twheel. Whether an
 * expiry was early is decided by a deadline that the server computed itself, from its own clock,
 * read before each store. The event alone could not show that.
 */
#ifndef COMMON_H
#define COMMON_H

#include <errno.h>
#include <sys/epoll.h>

#include <twheel.h>

#include "../load.h"

/* Open the session @wheel for descriptors below @files, or return an error. */
static int open_wheel(unsigned int files);
/* Start the timer of a new connection. */
static void begin(int fd);
/* Read from a connection. */
static void receive(int fd);
/* Read the events of the session. */
static void read_timers(void);

static struct twheel *wheel;
static int epfd, listener;
static __u64 timeout_ns;
static unsigned int nr_open;

static struct record {
	__u64 opened;
	__u64 heartbeats;
	__u64 starts;
	__u64 closed_by_peer;
	__u64 closed_by_timeout;
	__u64 stores;
	__u64 early;
} record;

static inline void record_expiry(const struct twheel_event *event, __u64 not_before_ns)
{
	if (event->expired_ns < not_before_ns || now_ns() < not_before_ns)
		record.early++;
}

/* Print the record in lines of a name and a value, for a person or a program. */
static inline void record_print(void)
{
	struct twheel_stats stats;

	if (twheel_stats(wheel, &stats))
		errx(1, "twheel_stats");
	printf("in_process %d\n", twheel_backend(wheel) == TWHEEL_BACKEND_PROCESS);
	printf("opened %llu\n", record.opened);
	printf("heartbeats %llu\n", record.heartbeats);
	printf("closed_by_timeout %llu\n", record.closed_by_timeout);
	printf("closed_by_peer %llu\n", record.closed_by_peer);
	printf("early %llu\n", record.early);
	printf("stores %llu\n", record.stores);
	printf("starts %llu\n", record.starts);
	printf("started %llu\n", stats.started);
	printf("restarted %llu\n", stats.restarted);
	printf("carried %llu\n", stats.carried);
	printf("events_left %llu\n", stats.unread + stats.pending);
}

static inline void open_listener(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);

	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) ||
	    listen(listener, 4096) || getsockname(listener, (struct sockaddr *)&address, &size))
		err(1, "port %d", port);
	printf("port %d\n", ntohs(address.sin_port));
	fflush(stdout);
}

static inline void watch(int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

static inline void accept_connections(void)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		nr_open++;
		record.opened++;
		begin(fd);
		watch(fd);
		/* A greeting. A peer that is gone already is found by receive(). */
		send(fd, "", 1, MSG_NOSIGNAL);
	}
}

static inline bool input_has_ended(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) > 0)
		return false;
	epoll_ctl(epfd, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
	return true;
}

/* Serve until standard input ends, and the last connection is closed. */
static inline void serve(void)
{
	struct epoll_event events[64];
	bool ending = false;
	int i, fd, ready;

	while (!ending || nr_open) {
		ready = epoll_wait(epfd, events, 64, -1);
		for (i = 0; i < ready; i++) {
			fd = events[i].data.fd;
			if (fd == STDIN_FILENO)
				ending = input_has_ended();
			else if (fd == twheel_fd(wheel))
				read_timers();
			else if (fd == listener)
				accept_connections();
			else
				receive(fd);
		}
	}
}

static inline void run_server(int argc, char **argv)
{
	int ret;

	if (argc != 3)
		errx(2, "usage: server PORT TIMEOUT_MS");
	timeout_ns = atoi(argv[2]) * MS;
	ret = open_wheel(raise_limit());
	if (ret)
		errx(1, "twheel_open: %s", strerror(-ret));
	epfd = epoll_create1(EPOLL_CLOEXEC);
	open_listener(atoi(argv[1]));
	watch(STDIN_FILENO);
	watch(twheel_fd(wheel));
	watch(listener);
	serve();
	record_print();
}

#endif /* COMMON_H */
