// SPDX-License-Identifier: GPL-2.0
/*
 * record.c - what the server notes for the report
 */
#include <err.h>
#include <stdio.h>

#include "../../api/selftests/user.h"
#include "record.h"

struct record record;

void record_expiry(const struct twheel_event *event, __u64 not_before_ns)
{
	if (event->expired_ns < not_before_ns || now_ns() < not_before_ns)
		record.early++;
}

/* Lines of a name and a value, for a person or a program. */
void record_print(struct twheel *wheel)
{
	struct twheel_stats stats;

	if (twheel_stats(wheel, &stats))
		errx(1, "twheel_stats");
	printf("in_process %d\n", twheel_backend(wheel) == TWHEEL_BACKEND_PROCESS);
	printf("opened %llu\n", record.opened);
	printf("heartbeats %llu\n", record.heartbeats);
	printf("closed_by_timeout %llu\n", record.closed_by_timeout);
	printf("closed_by_peer %llu\n", record.closed_by_peer);
	printf("early %llu\n", record.early);
	printf("stores %llu\n", record.stores);
	printf("starts %llu\n", record.starts);
	printf("started %llu\n", stats.started);
	printf("restarted %llu\n", stats.restarted);
	printf("carried %llu\n", stats.carried);
	printf("events_left %llu\n", stats.unread + stats.pending);
}
