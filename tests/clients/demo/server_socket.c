// SPDX-License-Identifier: GPL-2.0
/*
 * server_socket.c - the same server, with timers that know when a socket is idle
 *
 * A connection's timer is started with its socket, once. The kernel knows when the
 * socket last received something. If that was a timeout ago the session has an
 * event, and the server shuts the socket down. Then it reads an end of file, as if the
 * peer closed it. A message costs nothing for the timer, and closing a socket stops it.
 *
 * usage: server_socket PORT TIMEOUT_MS, as server
 */
#include "common.h"

static void begin(int fd)
{
	__u64 id = fd;
	/* An event may be left of an old connection with this number. */
	int ret = twheel_start_idle(wheel, &id, fd, timeout_ns, 0, TWHEEL_START_REPLACE);

	/* ENOTCONN: its peer has reset it already, which receive() finds out. */
	if (ret < 0 && ret != -ENOTCONN)
		errx(1, "twheel_start_idle");
	record.starts++;
}

static void receive(int fd)
{
	char message[256];
	ssize_t size = read(fd, message, sizeof(message));

	if (size > 0) {
		record.heartbeats += size;
	} else if (!size || errno != EAGAIN) {
		/* Or read_timers() shut it down. */
		record.closed_by_peer++;
		nr_open--;
		close(fd);
	}
}

/* Shut down silent connections. A closed one's number is still unused. */
static void read_timers(void)
{
	struct twheel_event events[64];
	int count = twheel_read(wheel, events, 64), i;

	for (i = 0; i < count; i++)
		shutdown(events[i].id, SHUT_RDWR);
}

static int open_wheel(unsigned int files)
{
	struct twheel_setup setup = { 0 };

	(void)files;
	return twheel_open(&wheel, &setup);
}

int main(int argc, char **argv)
{
	static const struct server server = { open_wheel, begin, receive, read_timers };

	run_server(&server, argc, argv);
	return 0;
}
