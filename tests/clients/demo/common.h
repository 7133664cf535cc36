/* SPDX-License-Identifier: GPL-2.0 */
/*
 * common.h - what the two servers have in common: they listen, end with their standard
 * input, and note what they do
 *
 * The record is not needed to use timers: it holds the kernel to its word. The server's
 * own clock, read before each store, says whether an expiry was early, and not the event.
 */
#ifndef COMMON_H
#define COMMON_H

#include <arpa/inet.h>
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <twheel.h>

#include "../../api/selftests/user.h"

/* Descriptors, and so connections. */
#define FILES_MAX	(1U << 18)

/* Returns how many files there may be. */
static inline unsigned int raise_limit(void)
{
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max < FILES_MAX ? files.rlim_max : FILES_MAX;
	setrlimit(RLIMIT_NOFILE, &files);
	return files.rlim_cur;
}

static inline int open_listener(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) ||
	    listen(fd, 4096) || getsockname(fd, (struct sockaddr *)&address, &size))
		err(1, "port %d", port);
	printf("port %d\n", ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

static inline void watch(int epfd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

static inline bool input_has_ended(int epfd)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) > 0)
		return false;
	epoll_ctl(epfd, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
	return true;
}

/* Standard input has ended, and the last of @nr_open connections is closed. */
static inline void serve_until_the_end(int epfd, const unsigned int *nr_open,
				       void (*serve)(int fd))
{
	struct epoll_event events[64];
	bool ending = false;
	int i, ready;

	watch(epfd, STDIN_FILENO);
	while (!ending || *nr_open) {
		ready = epoll_wait(epfd, events, 64, -1);
		for (i = 0; i < ready; i++)
			if (events[i].data.fd == STDIN_FILENO)
				ending = input_has_ended(epfd);
			else
				serve(events[i].data.fd);
	}
}

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

/* Lines of a name and a value, for a person or a program. */
static inline void record_print(struct twheel *wheel)
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

#endif /* COMMON_H */
