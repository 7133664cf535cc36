// SPDX-License-Identifier: GPL-2.0
/*
 * server.c - a TCP server that closes silent connections
 *
 * Every connection has an idle timeout, and all of these timers are in one file
 * descriptor, in the server's epoll set like any other. The descriptor is a
 * session of /dev/twheel or, without that device, a session in this process:
 * libtwheel chooses. A timer's id is the descriptor of its connection. Each
 * message pushes the timer back: the server stores the new deadline in the word
 * of its id, and makes no system call. Events are read as an array, many at a
 * time.
 *
 * usage: server PORT TIMEOUT_MS
 *
 * Port 0 is any free port. The server says "port N" once it listens, and ends
 * when its standard input ends and its last connection is closed. Lines that
 * use "record" are for the report only; see common.h.
 */
#include "common.h"

struct connection {
	__u64 serial;		/* 0: no connection has this descriptor */
	__u64 refreshed_ns;	/* for the report */
};

static struct connection *connections;	/* by descriptor */
static __u64 last_serial;

/*
 * Push a pending timer back by a store: the kernel reads the word when the timer
 * is due.
 */
static void timer_refresh(int fd)
{
	__u64 now = twheel_now();

	connections[fd].refreshed_ns = now;
	twheel_refresh(wheel, fd, now + timeout_ns);
	record.stores++;
}

/*
 * Start a timer that is not pending. Its deadline is the last stored word.
 */
static void timer_start(int fd)
{
	if (twheel_start_at(wheel, fd, twheel_word(wheel, fd), connections[fd].serial))
		errx(1, "twheel_start_at");
	record.starts++;
}

/*
 * Stop a timer. If it just expired, its event is withdrawn. ENOENT means that the event
 * is already in the array of read_timers(), which will find the serial gone.
 */
static void timer_stop(int fd)
{
	int ret = twheel_stop(wheel, fd);

	if (ret < 0 && ret != -ENOENT)
		errx(1, "twheel_stop");
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
		return;		/* the connection's timer already closed it */
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
 * Close a connection whose timer expired, unless the peer said something. In that case
 * the word has a later deadline, stored after the kernel read it, or by receive() now.
 */
static void close_if_silent(const struct twheel_event *event)
{
	struct connection *connection = &connections[event->id];

	if (connection->serial != event->user_data)
		return;		/* the connection is closed */
	receive(event->id);
	if (!connection->serial)
		return;		/* the peer closed the connection just before */
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

/* Open the session, with a word for each descriptor. */
static int open_wheel(unsigned int files)
{
	struct twheel_setup setup = { .shared_ids = files };

	connections = calloc(files, sizeof(*connections));
	return twheel_open(&wheel, &setup);
}

int main(int argc, char **argv)
{
	run_server(argc, argv);
	return 0;
}
