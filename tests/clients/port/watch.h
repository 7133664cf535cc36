/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Watch how objects of the kernel time out, for a program that has started their timers in the
 * order of their numbers
 *
 * The timers expire in that order, too. So the number of objects that are left tells which objects
 * expired, and how late. At the same time the program wants to run every 100 us, before all
 * other tasks. The longest time for which it cannot run is the longest stall. No task can cause
 * a stall, but timers can.
 *
 * The program watches until the latest time at which a timer_list may expire, even if all objects
 * have expired before, so that the busy time of the CPUs is comparable between kernels.
 */
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../api/selftests/user.h"

/*
 * Begin to watch this long before the first timeout ends: a timer_list may expire up to a jiffy
 * early, because it counts from the previous jiffy.
 */
#define BEFORE		(50 * MS)
/* How often the program runs, and how often it counts the objects that are left. */
#define PERIOD		(100 * US)
#define COUNT_EVERY	MS
/* A timer_list is late by an eighth of its distance at most. */
#define LATE(timeout)	((timeout) / 8 + SECOND)

static unsigned int connections;
static __u64 timeout;
/* Time just before the timer of each connection was started or refreshed last. */
static __u64 *started;

static void sleep_until(__u64 ns)
{
	struct timespec ts = {.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* Returns the idle time since the boot, summed over all CPUs. */
static __u64 idle_ns(void)
{
	FILE *f = fopen("/proc/timer_list", "r");
	__u64 sum = 0;
	char line[256];
	long long ns;

	if (!f)
		err(1, "/proc/timer_list");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " .idle_sleeptime : %lld", &ns) == 1)
			sum += ns;
	}
	fclose(f);
	return sum;
}

static struct {
	unsigned int left;
	__s64 stall, earliest, median, latest;
	__u64 watched, idle;
} seen;

static void note_stall(__s64 ns)
{
	if (ns > seen.stall)
		seen.stall = ns;
}

static void note_expired(unsigned int n, __u64 now)
{
	__s64 late = now - started[n] - timeout;

	if (n == 0 || late < seen.earliest)
		seen.earliest = late;
	if (n == connections / 2)
		seen.median = late;
	if (late > seen.latest)
		seen.latest = late;
}

/* Watch all timers expire. @left returns the number of objects that are left. */
static void watch(unsigned int (*left)(void))
{
	struct sched_param first = {.sched_priority = 50};
	__u64 end = started[connections - 1] + timeout + LATE(timeout);
	__u64 now, wanted, counted;
	unsigned int expired = 0;

	if (started[connections - 1] >= started[0] + timeout)
		errx(1, "the first has expired before the last was started");
	seen.left = left();
	if (seen.left != connections)
		errx(1, "%u connections instead of %u", seen.left, connections);
	/* With this policy sleeps have no slack, either. */
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		err(1, "SCHED_FIFO");

	sleep_until(started[0] + timeout - BEFORE);
	seen.idle = idle_ns();
	now = now_ns();
	seen.watched = now;
	counted = now;
	while (now < end) {
		wanted = now + PERIOD;
		sleep_until(wanted);
		now = now_ns();
		note_stall(now - wanted);
		wanted = now;
		if (now - counted >= COUNT_EVERY) {
			seen.left = left();
			counted = now;
		}
		now = now_ns();
		note_stall(now - wanted);
		while (expired < connections - seen.left)
			note_expired(expired++, now);
	}
	seen.watched = now_ns() - seen.watched;
	seen.idle = idle_ns() - seen.idle;
}

static void report(void)
{
	printf("left=%u stall_us=%lld earliest_us=%lld median_us=%lld latest_us=%lld ",
	       seen.left, seen.stall / 1000, seen.earliest / 1000, seen.median / 1000,
	       seen.latest / 1000);
	printf("watched_us=%llu idle_us=%llu\n", seen.watched / 1000, seen.idle / 1000);
}
