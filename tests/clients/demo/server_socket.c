// SPDX-License-Identifier: GPL-2.0
/*
 * server_socket.c - the same server, with timers that know when a socket is idle
 *
 * A connection's timer is started with its socket, once. The kernel knows when the
 * socket has last received something. When that was a timeout ago the session has an
 * event, and the server shuts the socket down. Then it reads an end of file, as if the
 * peer had gone. A message costs nothing for the timer, and closing a socket stops it.
 *
 * usage: server_socket PORT TIMEOUT_MS, as server
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <twheel.h>

#include "common.h"

static struct twheel *wheel;
static int epfd, listener;
static __u64 timeout_ns;
static unsigned int nr_open;

static void time_out(int fd)
{
	__u64 id = fd;
	/* An event may be left of an old connection with this number. */
	int ret = twheel_start_idle(wheel, &id, fd, timeout_ns, 0, TWHEEL_START_REPLACE);

	/* ENOTCONN: its peer has reset it already, which receive() finds out. */
	if (ret < 0 && ret != -ENOTCONN)
		errx(1, "twheel_start_idle");
	record.starts++;
}

static void accept_connections(void)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		nr_open++;
		record.opened++;
		time_out(fd);
		watch(epfd, fd);
		/* A greeting. A peer that is gone already is found by receive(). */
		send(fd, "", 1, MSG_NOSIGNAL);
	}
}

static void receive(int fd)
{
	char message[256];
	ssize_t size = read(fd, message, sizeof(message));

	if (size > 0) {
		record.heartbeats += size;
	} else if (!size || errno != EAGAIN) {
		/* Or read_timers() has shut it down. */
		record.closed_by_peer++;
		nr_open--;
		close(fd);
	}
}

/* If it was closed meanwhile, no connection has this number now. */
static void read_timers(void)
{
	struct twheel_event events[64];
	int count = twheel_read(wheel, events, 64), i;

	for (i = 0; i < count; i++)
		shutdown(events[i].id, SHUT_RDWR);
}

static void serve(int fd)
{
	if (fd == twheel_fd(wheel))
		read_timers();
	else if (fd == listener)
		accept_connections();
	else
		receive(fd);
}

static void init(int port)
{
	struct twheel_setup setup = { 0 };
	int ret = twheel_open(&wheel, &setup);

	if (ret) {
		errno = -ret;
		err(1, "twheel_open");
	}
	raise_limit();
	epfd = epoll_create1(EPOLL_CLOEXEC);
	listener = open_listener(port);
	watch(epfd, twheel_fd(wheel));
	watch(epfd, listener);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: server_socket PORT TIMEOUT_MS");
	timeout_ns = atoi(argv[2]) * 1000000ULL;
	init(atoi(argv[1]));
	serve_until_the_end(epfd, &nr_open, serve);
	record_print(wheel);
	return 0;
}
