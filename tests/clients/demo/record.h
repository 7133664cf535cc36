/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record.h - what the server notes for the report
 *
 * None of this is needed to use timers: it holds the kernel to its word. The
 * server's own clock, read before each store, says whether an expiry was early,
 * and not the event.
 */
#ifndef RECORD_H
#define RECORD_H

#include <twheel.h>

struct record {
	__u64 opened;
	__u64 heartbeats;
	__u64 starts;
	__u64 closed_by_peer;
	__u64 closed_by_timeout;
	__u64 stores;
	__u64 early;
};

extern struct record record;

void record_expiry(const struct twheel_event *event, __u64 not_before_ns);
void record_print(struct twheel *wheel);

#endif /* RECORD_H */
