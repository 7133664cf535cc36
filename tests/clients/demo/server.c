// SPDX-License-Identifier: GPL-2.0
/*
 * server.c - a TCP server that closes connections that have gone silent
 *
 * Every connection has an idle timeout, and all of these timers are in one file
 * descriptor, which stands in the server's epoll set like any other. It is a
 * session of /dev/twheel or, where there is none, one in this process:
 * libtwheel chooses. A timer's id is the descriptor of its connection. Each
 * message pushes the timer back: the server stores the new deadline in the word
 * of its id, and makes no system call. Events are read as an array, many at a
 * time.
 *
 * usage: server PORT TIMEOUT_MS
 *
 * Port 0 is any free one. The server says "port N" when it listens, and ends
 * when its standard input has ended and its last connection is closed. The
 * records of record_...() are for the report only; see common.h.
 */
#define _GNU_SOURCE
#include "common.h"

struct connection {
	__u64 serial;		/* 0: no connection has this descriptor */
	__u64 refreshed_ns;	/* for the report */
};

static struct connection *connections;	/* by descriptor */
static __u64 last_serial;

/*
 * The timers. A timer that is pending is pushed back by a store: the kernel reads
 * the word when the timer is due.
 */
static void timer_refresh(int fd)
{
	__u64 now = twheel_now();

	connections[fd].refreshed_ns = now;
	twheel_refresh(wheel, fd, now + timeout_ns);
	record.stores++;
}

/*
 * A timer that is not pending. The deadline is the word that was stored last.
 */
static void timer_start(int fd)
{
	if (twheel_start_at(wheel, fd, twheel_word(wheel, fd), connections[fd].serial))
		errx(1, "twheel_start_at");
	record.starts++;
}

/*
 * If the timer has just expired its event is withdrawn. ENOENT: we have read that
 * event already, and have not got to it yet; it will find the serial gone.
 */
static void timer_stop(int fd)
{
	int ret = twheel_withdraw(wheel, fd);

	if (ret < 0 && ret != -ENOENT)
		errx(1, "twheel_withdraw");
}

static void forget(int fd)
{
	connections[fd].serial = 0;
	nr_open--;
	close(fd);
}

static void begin(int fd)
{
	connections[fd].serial = ++last_serial;
	/* The word may be from an old connection with this number. */
	timer_refresh(fd);
	timer_start(fd);
}

static void receive(int fd)
{
	char message[256];
	ssize_t size;

	if (!connections[fd].serial)
		return;		/* its timer has closed it */
	size = read(fd, message, sizeof(message));
	if (size > 0) {
		record.heartbeats += size;
		timer_refresh(fd);
	} else if (!size || errno != EAGAIN) {
		timer_stop(fd);
		forget(fd);
		record.closed_by_peer++;
	}
}

/*
 * The timer has expired. If the peer has said something, the word says so: either
 * it is in the word since the kernel has looked, or it comes there now.
 */
static void close_if_silent(const struct twheel_event *event)
{
	struct connection *connection = &connections[event->id];

	if (connection->serial != event->user_data)
		return;		/* it was closed meanwhile */
	receive(event->id);
	if (!connection->serial)
		return;		/* it has just said good bye */
	if (twheel_word(wheel, event->id) > event->expired_ns) {
		timer_start(event->id);
		return;
	}
	record_expiry(event, connection->refreshed_ns + timeout_ns);
	forget(event->id);
	record.closed_by_timeout++;
}

static void read_timers(void)
{
	struct twheel_event events[64];
	int count = twheel_read(wheel, events, 64), i;

	for (i = 0; i < count; i++)
		close_if_silent(&events[i]);
}

/* Each descriptor has a word, and all are made at once. */
static int open_wheel(unsigned int files)
{
	struct twheel_setup setup = { .shared_ids = files };

	connections = calloc(files, sizeof(*connections));
	return twheel_open_flags(&wheel, &setup, TWHEEL_OPEN_ONE_THREAD);
}

int main(int argc, char **argv)
{
	static const struct server server = { open_wheel, begin, receive, read_timers };

	run_server(&server, argc, argv);
	return 0;
}
