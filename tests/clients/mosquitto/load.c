// SPDX-License-Identifier: GPL-2.0
/*
 * load.c - open connections of several kinds to an MQTT broker, and judge how it closes them
 *
 * usage: load NAME=VALUE...
 *
 *   seconds=30 keepalive=4
 *   silent=N	send PINGREQ once, each at another time of the first 1.2 keepalives,
 *		and nothing more: must be disconnected
 *   idle=N	send CONNECT and nothing more: must be disconnected
 *   mute=N	send nothing at all: must be disconnected, after 90 s
 *   slow=N	send PINGREQ once in each keepalive: must stay
 *   busy=N	send PINGREQ ten times a second: must stay
 *   forever=N	have a keepalive of 0 and send nothing: must stay
 *
 * The time begins when all clients are connected. The broker may close a connection
 * no earlier than one and a half keepalives after it last spoke. At the end, no
 * connection that must be disconnected may be open after this time. Prints lines of
 * a name and a value. The status is 1 if the broker was wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "../load.h"

#define PORT		1883
#define CONNECTIONS_MAX	60000
#define SECONDS_MAX	3600
/* The time that the broker gives clients that do not send CONNECT. */
#define MUTE_KEEPALIVE	60
/* Timeout of connections with a keepalive of 0. */
#define NEVER		(~0ULL)

/* Kinds of connections. The broker must close those of the first three kinds. */
enum kind { SILENT, IDLE, MUTE, SLOW, BUSY, FOREVER, KINDS };

static const char * const kind_names[KINDS] = {
	"silent", "idle", "mute", "slow", "busy", "forever",
};

struct connection {
	int fd;			/* -1: closed by the broker */
	enum kind kind;
	u64 spoke_ns;		/* time just before its last packet */
	u64 timeout_ns;		/* the broker may close it this long after @spoke_ns */
};

/*
 * The connections of one kind. Connections that speak take turns, so that their
 * packets are spread evenly over time.
 */
struct group {
	struct connection *first;
	unsigned long count;
	unsigned int turn;	/* index of the connection that speaks next */
	u64 period_ns;		/* time between messages; 0: silent */
	u64 next_ns;
	unsigned int closed, wrong, late;
};

static struct group groups[KINDS];
static struct connection *connections;
static unsigned int nr_connections;
static unsigned long seconds = 30, keepalive = 4;

static u64 *lateness;
static unsigned int nr_late;
static int epfd;

/* ----- packets of MQTT 3.1.1 ----- */

static const unsigned char pingreq[] = { 0xc0, 0 };
static const unsigned char connack[] = { 0x20, 2, 0, 0 };

static void say(struct connection *connection, const void *packet, size_t size)
{
	connection->spoke_ns = now_ns();
	send(connection->fd, packet, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Send CONNECT with a clean session, and await CONNACK. */
static void introduce(struct connection *connection, unsigned int seconds_alive)
{
	unsigned char packet[32] = {
		0x10, 0, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, seconds_alive >> 8, seconds_alive,
	};
	unsigned char answer[sizeof(connack)];
	int length = sprintf((char *)packet + 14, "c%u",
			     (unsigned int)(connection - connections));

	packet[13] = length;
	packet[1] = 12 + length;
	say(connection, packet, 14 + length);
	if (recv(connection->fd, answer, sizeof(answer), MSG_WAITALL) != sizeof(answer) ||
	    memcmp(answer, connack, sizeof(answer)))
		errx(1, "the broker does not accept connection %u",
		     (unsigned int)(connection - connections));
}

/* ----- connections ----- */

static void open_connection(struct connection *connection)
{
	struct epoll_event event = {
		.events		= EPOLLIN | EPOLLRDHUP,
		.data.ptr	= connection,
	};
	unsigned long alive = keepalive;

	if (connection->kind == MUTE)
		alive = MUTE_KEEPALIVE;
	if (connection->kind == FOREVER)
		alive = 0;
	connection->timeout_ns = alive ? alive * SECOND * 3 / 2 : NEVER;
	connection->spoke_ns = now_ns();
	connection->fd = reach(PORT);
	if (connection->kind != MUTE)
		introduce(connection, alive);
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, connection->fd, &event))
		err(1, "epoll_ctl");
}

static void open_connections(void)
{
	struct connection *connection;
	enum kind kind;
	unsigned int i;

	for (kind = 0; kind < KINDS; kind++)
		nr_connections += groups[kind].count;
	if (!nr_connections || nr_connections > CONNECTIONS_MAX)
		errx(2, "1 to %u connections", CONNECTIONS_MAX);
	connections = calloc(nr_connections, sizeof(*connections));
	lateness = calloc(nr_connections, sizeof(*lateness));
	epfd = epoll_create1(EPOLL_CLOEXEC);
	connection = connections;
	for (kind = 0; kind < KINDS; kind++) {
		groups[kind].first = connection;
		for (i = 0; i < groups[kind].count; i++, connection++) {
			connection->kind = kind;
			open_connection(connection);
		}
	}
}

static bool must_go(const struct connection *connection)
{
	return connection->kind <= MUTE;
}

/* Judge the broker, which closed this connection: too early, or for no reason? */
static void closed(struct connection *connection)
{
	struct group *group = &groups[connection->kind];
	u64 silent_ns = now_ns() - connection->spoke_ns;

	if (silent_ns < connection->timeout_ns && server_knew_all(connection->fd))
		group->wrong++;
	else if (!must_go(connection))
		group->late++;
	else
		lateness[nr_late++] = silent_ns - connection->timeout_ns;
	group->closed++;
	close(connection->fd);
	connection->fd = -1;
}

static void take(struct connection *connection)
{
	unsigned char answers[64];
	ssize_t got = recv(connection->fd, answers, sizeof(answers), MSG_DONTWAIT);

	if (!got || (got < 0 && errno != EAGAIN))
		closed(connection);
}

/* ----- time ----- */

static void speak_in_turn(struct group *group, u64 now)
{
	struct connection *connection;

	while (group->period_ns && group->next_ns <= now) {
		connection = &group->first[group->turn];
		group->turn = (group->turn + 1) % group->count;
		group->next_ns += group->period_ns / group->count;
		if (group == &groups[SILENT] && !group->turn)
			group->period_ns = 0;
		if (connection->fd >= 0)
			say(connection, pingreq, sizeof(pingreq));
	}
}

static u64 speak(void)
{
	u64 now = now_ns(), next = NEVER;
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++) {
		if (!groups[kind].period_ns)
			continue;
		speak_in_turn(&groups[kind], now);
		if (groups[kind].next_ns < next)
			next = groups[kind].next_ns;
	}
	return next;
}

static void wait_until(u64 until_ns)
{
	struct epoll_event events[256];
	struct timespec timeout;
	u64 now = now_ns();
	int i, ready;

	until_ns = until_ns > now ? until_ns - now : 0;
	timeout.tv_sec = until_ns / SECOND;
	timeout.tv_nsec = until_ns % SECOND;
	ready = epoll_pwait2(epfd, events, 256, &timeout, NULL);
	for (i = 0; i < ready; i++)
		take(events[i].data.ptr);
}

static void set_periods(void)
{
	u64 now = now_ns();
	enum kind kind;

	groups[SILENT].period_ns = keepalive * SECOND * 6 / 5;
	groups[SLOW].period_ns = keepalive * SECOND;
	groups[BUSY].period_ns = SECOND / 10;
	for (kind = 0; kind < KINDS; kind++) {
		groups[kind].next_ns = now;
		if (!groups[kind].count)
			groups[kind].period_ns = 0;
	}
}

/* ----- the run ----- */

static void run(void)
{
	u64 end = now_ns() + seconds * SECOND, next;

	set_periods();
	while (now_ns() < end) {
		next = speak();
		wait_until(next < end ? next : end);
	}
}

/* ----- the report ----- */

static unsigned int missed(const struct group *group, u64 now)
{
	const struct connection *connection = group->first;
	unsigned int i, nr = 0;

	for (i = 0; i < group->count; i++, connection++)
		nr += connection->fd >= 0 && must_go(connection) &&
		      now - connection->spoke_ns > connection->timeout_ns;
	return nr;
}

static bool print_groups(void)
{
	unsigned int nr_wrong = 0, nr_missed = 0;
	u64 now = now_ns();
	struct group *group;
	enum kind kind;

	for (kind = 0; kind < KINDS; kind++) {
		group = &groups[kind];
		if (!group->count)
			continue;
		nr_wrong += group->wrong;
		nr_missed += missed(group, now);
		printf("%s_closed %u\n", kind_names[kind], group->closed);
		if (group->late)
			printf("%s_late %u\n", kind_names[kind], group->late);
	}
	printf("wrong %u\nmissed %u\n", nr_wrong, nr_missed);
	return !nr_wrong && !nr_missed;
}

int main(int argc, char **argv)
{
	static const struct argument known[] = {
		{ "seconds", &seconds, NULL },
		{ "keepalive", &keepalive, NULL },
		{ "silent", &groups[SILENT].count, NULL }, { "idle", &groups[IDLE].count, NULL },
		{ "mute", &groups[MUTE].count, NULL }, { "slow", &groups[SLOW].count, NULL },
		{ "busy", &groups[BUSY].count, NULL }, { "forever", &groups[FOREVER].count, NULL },
		{ NULL, NULL, NULL },
	};

	take_arguments(argc, argv, known);
	if (!seconds || seconds > SECONDS_MAX || !keepalive || keepalive > 65535)
		errx(2, "1 to %u seconds, a keepalive of 1 to 65535", SECONDS_MAX);
	raise_limit();
	/* epoll's waits are 50 us late without this */
	prctl(PR_SET_TIMERSLACK, 1);

	open_connections();
	run();
	print_times("silence", lateness, nr_late);
	return print_groups() ? 0 : 1;
}
