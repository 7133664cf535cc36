// SPDX-License-Identifier: GPL-2.0
/*
 * record.c - what the server notes for the report
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "record.h"

#define MAX_EXPIRIES	1000000

struct record record;

static __u64 expiry_late[MAX_EXPIRIES];		/* ns after the deadline */
static __u64 delivery_late[MAX_EXPIRIES];
static unsigned int nr_expiries;
static __u64 early, stores, ns_in_stores;

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

__u64 record_before_store(void)
{
	return now_ns();
}

void record_after_store(__u64 before_ns)
{
	ns_in_stores += now_ns() - before_ns;
	stores++;
}

/* Of two stores within one tick the event has the first as its deadline. */
void record_expiry(const struct twheel_event *event, __u64 not_before_ns)
{
	__u64 now = now_ns();

	if (event->expired_ns < not_before_ns || now < not_before_ns)
		early++;
	if (nr_expiries == MAX_EXPIRIES)
		return;
	expiry_late[nr_expiries] = event->expired_ns - event->deadline_ns;
	delivery_late[nr_expiries++] = now - event->deadline_ns;
}

static int compare(const void *a, const void *b)
{
	__u64 first = *(const __u64 *)a;
	__u64 second = *(const __u64 *)b;

	return first < second ? -1 : first > second;
}

static void print_late(const char *name, __u64 *late)
{
	__u64 p50 = 0, p99 = 0, max = 0;

	qsort(late, nr_expiries, sizeof(*late), compare);
	if (nr_expiries) {
		p50 = late[nr_expiries / 2];
		p99 = late[nr_expiries - 1 - nr_expiries / 100];
		max = late[nr_expiries - 1];
	}
	printf("%s_p50_ns %llu\n%s_p99_ns %llu\n%s_max_ns %llu\n", name, p50,
	       name, p99, name, max);
}

/* Lines of a name and a value, for a person or a program. */
void record_print(struct twheel *wheel)
{
	struct twheel_info info;
	struct twheel_stats stats;

	if (twheel_info(wheel, &info) || twheel_stats(wheel, &stats))
		errx(1, "twheel_info, twheel_stats");
	printf("in_process %d\n", twheel_backend(wheel) == TWHEEL_BACKEND_PROCESS);
	printf("tick_ns %llu\n", info.tick_ns);
	printf("opened %llu\n", record.opened);
	printf("heartbeats %llu\n", record.heartbeats);
	printf("closed_by_timeout %llu\n", record.closed_by_timeout);
	printf("closed_by_peer %llu\n", record.closed_by_peer);
	printf("early %llu\n", early);
	printf("stores %llu\n", stores);
	printf("ns_per_store %llu\n", stores ? ns_in_stores / stores : 0);
	printf("starts %llu\n", record.starts);
	printf("started %llu\n", stats.started);
	printf("restarted %llu\n", stats.restarted);
	printf("stopped %llu\n", stats.stopped);
	printf("carried %llu\n", stats.carried);
	printf("events_left %llu\n", stats.unread + stats.pending);
	print_late("expiry", expiry_late);
	print_late("delivery", delivery_late);
}
