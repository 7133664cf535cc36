// SPDX-License-Identifier: GPL-2.0
/*
 * listen.c - what the two servers have in common
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listen.h"

/* Returns how many files there may be. */
unsigned int raise_limit(void)
{
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max < FILES_MAX ? files.rlim_max : FILES_MAX;
	setrlimit(RLIMIT_NOFILE, &files);
	return files.rlim_cur;
}

int open_listener(int port)
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

void watch(int epfd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

static bool input_has_ended(int epfd)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) > 0)
		return false;
	epoll_ctl(epfd, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
	return true;
}

/* Standard input has ended, and the last of @nr_open connections is closed. */
void serve_until_the_end(int epfd, const unsigned int *nr_open, void (*serve)(int fd))
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
