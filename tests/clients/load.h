/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that the clients of Redis and mosquitto share with the demo: connect to a port of
 * this machine, read arguments, print times
 */
#ifndef CLIENTS_LOAD_H
#define CLIENTS_LOAD_H

#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../api/selftests/user.h"

/* Largest number of descriptors, and so of connections. */
#define FILES_MAX	(1U << 18)

typedef unsigned long long u64;

/**
 * struct argument - an argument NAME=VALUE
 * @name: its name, or NULL at the end of a list
 * @number: place to store its value as a number, or NULL
 * @text: place to store its value as a string, or NULL
 */
struct argument {
	const char *name;
	unsigned long *number;
	const char **text;
};

/* Store the values of the arguments that @known lists. End the program at any other argument. */
static inline void take_arguments(int argc, char **argv, const struct argument *known)
{
	const struct argument *one;
	size_t length;

	while (--argc) {
		argv++;
		length = strcspn(*argv, "=");
		for (one = known; one->name; one++)
			if (!strncmp(one->name, *argv, length) && !one->name[length])
				break;
		if (!one->name || !(*argv)[length])
			errx(2, "what is %s?", *argv);
		if (one->text)
			*one->text = *argv + length + 1;
		else
			*one->number = strtoul(*argv + length + 1, NULL, 10);
	}
}

/* Raise the limit of descriptors and return it: each connection has one. */
static inline unsigned int raise_limit(void)
{
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max < FILES_MAX ? files.rlim_max : FILES_MAX;
	setrlimit(RLIMIT_NOFILE, &files);
	return files.rlim_cur;
}

/* Connect to the server. Try for ten seconds, since it may have only just started. */
static inline int reach(unsigned int port)
{
	struct sockaddr_in server = {
		.sin_family		= AF_INET,
		.sin_port		= htons(port),
		.sin_addr.s_addr	= htonl(INADDR_LOOPBACK),
	};
	int tries = 100, one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	while (connect(fd, (const struct sockaddr *)&server, sizeof(server))) {
		if (!tries--)
			err(1, "port %u", port);
		usleep(100000);
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/*
 * Returns whether the server knew all messages of this client when it closed the connection.
 * If a message arrives later, or was not read, the server's TCP answers with a reset.
 */
static inline bool server_knew_all(int fd)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		err(1, "TCP_INFO");
	return info.tcpi_state == TCP_CLOSE_WAIT && !info.tcpi_unacked;
}

static inline int compare_u64(const void *a, const void *b)
{
	u64 first = *(const u64 *)a, second = *(const u64 *)b;

	return (first > second) - (first < second);
}

/* Sort @nr times, and print the median, the 99th percentile and the longest. */
static inline void print_times(const char *name, u64 *ns, unsigned int nr)
{
	if (!nr)
		return;
	qsort(ns, nr, sizeof(*ns), compare_u64);
	printf("%s_p50_ms %.1f\n%s_p99_ms %.1f\n%s_max_ms %.1f\n", name, ns[nr / 2] / 1e6,
	       name, ns[nr - 1 - nr / 100] / 1e6, name, ns[nr - 1] / 1e6);
}

#endif /* CLIENTS_LOAD_H */
