/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the clients of the servers share: they connect to a port of this machine, count, and
 * print lines of a name and a value
 */
#ifndef CLIENTS_LOAD_H
#define CLIENTS_LOAD_H

#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../api/selftests/user.h"

typedef unsigned long long u64;

/**
 * struct number - an argument NAME=VALUE
 * @name: its name, or NULL at the end of a list
 * @value: where its value goes
 */
struct number {
	const char *name;
	unsigned long *value;
};

/* Returns whether @argument is one of @numbers, and sets that. */
static inline bool take_number(const char *argument, const struct number *numbers)
{
	size_t length;

	for (; numbers->name; numbers++) {
		length = strlen(numbers->name);
		if (!strncmp(argument, numbers->name, length) && argument[length] == '=') {
			*numbers->value = strtoul(argument + length + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

/* Each connection has a descriptor. */
static inline void raise_limit(void)
{
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

/* The server may have been started a moment ago: it has ten seconds. */
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
 * Did the server know all that was said when it closed? Bytes that arrive after
 * that, or that it has not read by then, are answered by a reset.
 */
static inline bool server_knew_all(int fd)
{
	struct tcp_info info;
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		err(1, "TCP_INFO");
	return info.tcpi_state == TCP_CLOSE_WAIT && !info.tcpi_unacked;
}

/* For qsort() of u64. */
static inline int compare_u64(const void *a, const void *b)
{
	u64 first = *(const u64 *)a, second = *(const u64 *)b;

	return (first > second) - (first < second);
}

#endif /* CLIENTS_LOAD_H */
