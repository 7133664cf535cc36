// SPDX-License-Identifier: GPL-2.0
/*
 * servers.c - 100,000 idle timeouts in an event loop, kept in three ways
 *
 * usage: servers LOOP TIMERS WORK_MS
 *
 * LOOP is libevent or libuv. The connections open within a second. Then each says
 * something once a second, and has a timeout of two seconds. One of a hundred says
 * nothing. TIMERS is how the server keeps the timeouts:
 *
 *   none	it does not: what everything else costs
 *   own	the loop's timer of the connection is started anew at each heartbeat
 *   lazy	a heartbeat is noted, and the loop's timer looks at that when it comes due
 *   twheel	a heartbeat is a store, and the loop watches one descriptor
 *
 * Packets arrive every millisecond. Once in 50 ms the server has other work to do,
 * for WORK_MS. Prints lines of a name and a value: instructions where nanoseconds are
 * instructions, of the whole machine. Status 1 if somebody times out who should not, or
 * somebody is missing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <twheel.h>
#include <unistd.h>

#include "servers.h"

#define SILENT_EVERY	100U
#define LENGTH_MS	5000U
#define WORK_EVERY_MS	50U
#define PER_MS		(CONNECTIONS / 1000U)
#define BATCH		256U

typedef unsigned long long u64;

static const struct loop *loop;
static enum { NONE, OWN, LAZY, WHEEL } timers;
static u64 spoke_ns[CONNECTIONS], work_ns;
static struct twheel *wheel;
static struct twheel_batch *batch;
static int ticker;

static long long lateness[CONNECTIONS];
static unsigned int nr_expired, nr_wrong, nr_heartbeats, milliseconds;

void fail(const char *what)
{
	perror(what);
	exit(1);
}

static bool is_silent(unsigned int connection)
{
	return connection % SILENT_EVERY == 0;
}

static void expired(unsigned int connection)
{
	lateness[nr_expired++] = now_ns() - spoke_ns[connection] - TIMEOUT_NS;
	nr_wrong += !is_silent(connection);
}

void server_timeout(unsigned int connection)
{
	u64 now = now_ns(), due = spoke_ns[connection] + TIMEOUT_NS;

	if (timers == LAZY && due > now)
		loop->start(connection, due - now);
	else
		expired(connection);
}

bool server_done(void)
{
	return milliseconds >= LENGTH_MS;
}

static void heartbeat(unsigned int connection)
{
	nr_heartbeats++;
	spoke_ns[connection] = now_ns();
	if (timers == OWN)
		loop->start(connection, TIMEOUT_NS);
	else if (timers == WHEEL)
		twheel_refresh(wheel, connection, spoke_ns[connection] + TIMEOUT_NS);
}

static void open_connection(unsigned int connection)
{
	spoke_ns[connection] = now_ns();
	if (timers == WHEEL)
		twheel_batch_start_at(batch, connection, spoke_ns[connection] + TIMEOUT_NS,
				      connection);
	else if (timers != NONE)
		loop->start(connection, TIMEOUT_NS);
}

/* Neighbours in memory are not neighbours in time. The first packet opens. */
static void packet(void)
{
	static unsigned int nr, connection;

	connection = (connection + 61813) % CONNECTIONS;
	if (nr < CONNECTIONS)
		open_connection(connection);
	else if (!is_silent(connection))
		heartbeat(connection);
	nr++;
}

static void work(void)
{
	u64 until = now_ns() + work_ns;

	while (now_ns() < until)
		;
}

static void packets(void)
{
	unsigned int i, last = milliseconds;
	u64 elapsed;

	if (read(ticker, &elapsed, sizeof(elapsed)) != sizeof(elapsed))
		return;
	for (i = 0; i < elapsed * PER_MS; i++)
		packet();
	if (batch && twheel_batch_flush(batch) < 0)
		fail("twheel_batch_flush");
	milliseconds += elapsed;
	if (last / WORK_EVERY_MS != milliseconds / WORK_EVERY_MS)
		work();
}

static void wheel_readable(void)
{
	struct twheel_event events[BATCH];
	int i, nr = twheel_read(wheel, events, BATCH);

	for (i = 0; i < nr; i++)
		expired(events[i].id);
}

static void open_wheel(void)
{
	struct twheel_setup setup = { .shared_ids = CONNECTIONS };

	errno = -twheel_open(&wheel, &setup);
	if (errno)
		fail("/dev/twheel");
	errno = -twheel_batch_new(wheel, BATCH, &batch);
	if (errno)
		fail("twheel_batch_new");
	loop->watch(twheel_fd(wheel), wheel_readable);
}

static void open_ticker(void)
{
	struct itimerspec every = {
		.it_value.tv_nsec	= MS,
		.it_interval.tv_nsec	= MS,
	};

	ticker = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (ticker < 0 || timerfd_settime(ticker, 0, &every, NULL))
		fail("timerfd");
	loop->watch(ticker, packets);
}

/* Time in which the CPUs of this machine had nothing to do. */
static u64 idle_ns(void)
{
	FILE *file = fopen("/proc/timer_list", "r");
	u64 sum = 0, value;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " .idle_sleeptime : %llu", &value) == 1)
			sum += value;
	}
	if (file)
		fclose(file);
	return sum;
}

static int compare(const void *a, const void *b)
{
	long long first = *(const long long *)a, second = *(const long long *)b;

	return (first > second) - (first < second);
}

static void report(u64 busy_ns)
{
	qsort(lateness, nr_expired, sizeof(lateness[0]), compare);
	printf("heartbeats %u\nbusy %llu\nexpired %u\nwrong %u\n", nr_heartbeats, busy_ns,
	       nr_expired, nr_wrong);
	if (nr_expired)
		printf("first_us %.1f\nmedian_us %.1f\nlast_us %.1f\n", lateness[0] / 1e3,
		       lateness[nr_expired / 2] / 1e3, lateness[nr_expired - 1] / 1e3);
}

static void take_arguments(char **argv)
{
	static const char * const names[] = { "none", "own", "lazy", "twheel" };
	unsigned int i;

	loop = strcmp(argv[1], "libuv") ? &loop_libevent : &loop_libuv;
	for (i = 0; i < 4; i++) {
		if (!strcmp(argv[2], names[i]))
			timers = i;
	}
	work_ns = strtoul(argv[3], NULL, 10) * MS;
}

int main(int argc, char **argv)
{
	u64 begin, idle;

	if (argc != 4) {
		fprintf(stderr, "usage: servers LOOP TIMERS WORK_MS\n");
		return 2;
	}
	take_arguments(argv);
	loop->open();
	if (timers == WHEEL)
		open_wheel();
	open_ticker();
	idle = idle_ns();
	begin = now_ns();
	loop->run();
	report(now_ns() - begin - (idle_ns() - idle));
	return nr_wrong || (timers != NONE && nr_expired != CONNECTIONS / SILENT_EVERY);
}
