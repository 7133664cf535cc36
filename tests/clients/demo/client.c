// SPDX-License-Identifier: GPL-2.0
/*
 * client.c - thousands of connections to the server, each with a plan of its own
 *
 * Half of them talk to the end. Three in ten go silent at some time, some
 * from the beginning; the server must close exactly these. Two in ten close
 * by themselves. Only the client knows the plan of each connection, and judges
 * whether the server was right. The server may close only connections that were
 * silent for the whole timeout, and no silent connection may remain
 * open.
 *
 * On a machine that is too slow a message may not reach the server in time.
 * Then the server rightly closes the connection, and it is "late". The
 * client does not guess that from clocks: TCP knows what the server received.
 *
 * usage: client PORT CONNECTIONS SECONDS TIMEOUT_MS
 *
 * With 0 CONNECTIONS there are as many as the machine opens in the first second,
 * from FEWEST to MOST. Opening a connection takes several times as long as a heartbeat,
 * and the client waits for the server's greetings, so the server can serve them all.
 *
 * Prints lines of a name and a value at the end.
 */
#include <stdio.h>
#include <sys/epoll.h>

#include "../load.h"

#define OPEN_AT_ONCE	200		/* connections that wait for the greeting */
#define FEWEST		100
#define MOST		6000
#define GRACE		(120 * SECOND)	/* wait for the next closed connection */

enum role {
	TALKS,			/* until the end */
	GOES_SILENT,		/* at its time */
	CLOSES,			/* at its time */
};

struct connection {
	int fd;			/* -1: closed, or not open yet */
	enum role role;
	bool greeted;		/* the server accepted it */
	bool silent;
	u64 spoke_ns;		/* time before the last message, or connect() */
	u64 next_ns;		/* time of the next message */
	u64 change_ns;		/* time to fall silent, or to close */
};

static struct connection *connections;
static unsigned int nr_connections, nr_opened, nr_greeted, nr_open;
static bool find_number;
static unsigned int closed_by_server, wrong, missed, late;
static u64 begin_ns, end_ns, closed_ns, timeout_ns;
static unsigned int port;
static int epfd;

static u64 random_below(u64 limit)
{
	return limit ? ((u64)random() << 31 | random()) % limit : 0;
}

static u64 later(u64 a, u64 b)
{
	return a > b ? a : b;
}

static void open_connection(struct connection *connection)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLRDHUP,
		.data.ptr = connection,
	};
	u64 now = now_ns();

	connection->fd = reach(port);
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, connection->fd, &event))
		err(1, "connection %u", nr_opened);
	connection->spoke_ns = now;
	connection->next_ns = now + random_below(timeout_ns / 2);
	nr_opened++;
	nr_open++;
}

static void open_some(void)
{
	while (nr_opened < nr_connections && nr_opened - nr_greeted < OPEN_AT_ONCE)
		open_connection(&connections[nr_opened]);
}

/* Settle the number of connections after the first second. */
static void settle_number(void)
{
	nr_connections = nr_opened < FEWEST ? FEWEST : nr_opened;
	find_number = false;
}

static void greeted(struct connection *connection)
{
	nr_greeted += !connection->greeted;
	connection->greeted = true;
}

static void close_connection(struct connection *connection)
{
	greeted(connection);
	close(connection->fd);
	connection->fd = -1;
	nr_open--;
}

static void speak(struct connection *connection)
{
	u64 now = now_ns();

	connection->spoke_ns = now_ns();
	send(connection->fd, ".", 1, MSG_NOSIGNAL);
	connection->next_ns = now + timeout_ns / 2 - random_below(timeout_ns / 8);
}

/* Let a connection fall silent or close, if it is time. Returns true if it did. */
static bool change(struct connection *connection, u64 now)
{
	if (connection->role == TALKS || now < connection->change_ns)
		return false;
	if (connection->role == GOES_SILENT)
		connection->silent = true;
	else
		close_connection(connection);
	return true;
}

static void act(struct connection *connection, u64 now)
{
	if (connection->fd < 0 || connection->silent)
		return;
	if (!change(connection, now) && now >= connection->next_ns)
		speak(connection);
}

/* Judge the server, which closed this connection. */
static void closed(struct connection *connection)
{
	closed_ns = now_ns();
	if (closed_ns - connection->spoke_ns < timeout_ns && server_knew_all(connection->fd))
		wrong++;
	else if (!connection->silent)
		late++;
	closed_by_server++;
	close_connection(connection);
}

static void hear(struct connection *connection, unsigned int what)
{
	char greeting;

	if (what & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		closed(connection);
	else if (recv(connection->fd, &greeting, 1, MSG_DONTWAIT) == 1)
		greeted(connection);
}

static void handle_events(void)
{
	struct epoll_event events[256];
	int i, ready;

	do {
		ready = epoll_wait(epfd, events, 256, 5);
		for (i = 0; i < ready; i++)
			hear(events[i].data.ptr, events[i].events);
	} while (ready == 256);
}

static bool silent_ones_are_open(void)
{
	unsigned int i;

	missed = 0;
	for (i = 0; i < nr_opened; i++)
		missed += connections[i].silent && connections[i].fd >= 0;
	return missed;
}

static void run(void)
{
	unsigned int i;
	u64 now;

	do {
		open_some();
		now = now_ns();
		for (i = 0; i < nr_opened; i++)
			act(&connections[i], now);
		handle_events();
		if (find_number && now - begin_ns >= SECOND)
			settle_number();
	} while (now < end_ns ||
		 (now < later(end_ns, closed_ns) + GRACE && silent_ones_are_open()));
	silent_ones_are_open();
}

static void init_connections(u64 length_ns)
{
	static const enum role roles[10] = {
		TALKS, GOES_SILENT, TALKS, CLOSES, TALKS,
		GOES_SILENT, TALKS, CLOSES, TALKS, GOES_SILENT,
	};
	u64 latest = length_ns - timeout_ns - SECOND;
	unsigned int i;

	connections = calloc(nr_connections, sizeof(*connections));
	for (i = 0; i < nr_connections; i++) {
		connections[i].fd = -1;
		connections[i].role = roles[i % 10];
		connections[i].change_ns = begin_ns;
		if (i % 10 != 1)
			connections[i].change_ns += random_below(latest);
	}
}

int main(int argc, char **argv)
{
	u64 length_ns;

	if (argc != 5)
		errx(2, "usage: client PORT CONNECTIONS SECONDS TIMEOUT_MS");
	port = atoi(argv[1]);
	nr_connections = atoi(argv[2]);
	find_number = !nr_connections;
	if (find_number)
		nr_connections = MOST;
	length_ns = atoi(argv[3]) * SECOND;
	timeout_ns = atoi(argv[4]) * MS;
	if (length_ns < timeout_ns + 2 * SECOND)
		errx(2, "at least the timeout and two seconds");

	raise_limit();
	srandom(1);
	epfd = epoll_create1(0);
	begin_ns = now_ns();
	end_ns = begin_ns + length_ns;
	init_connections(length_ns);
	run();
	printf("c_wanted %u\nc_opened %u\nc_closed_by_server %u\n",
	       nr_connections, nr_opened, closed_by_server);
	printf("c_wrong %u\nc_missed %u\nc_late %u\n", wrong, missed, late);
	return 0;
}
