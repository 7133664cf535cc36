/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timers whose every life is accounted for, by many threads
 *
 * A life begins with a start or restart. It ends in one of four ways: the timer
 * is restarted, it is stopped, its event is read, or it is drained. One thread
 * owns an id and operates on it. Any thread may read its event.
 *
 * A timer's user_data holds the number of the life and the time at which it is
 * due. An event can thus be checked against the operation that caused it.
 */
#ifndef LIFE_H
#define LIFE_H

#include <stdbool.h>
#include <linux/twheel.h>

/**
 * struct life - all lives of one id
 * @id: the id
 * @begun: lives begun; only the owner touches this and @user_data
 * @user_data: user_data of the last start or restart that succeeded
 * @ended: lives ended, added to by any thread
 * @ended_sum: sum of the numbers of the ended lives, added to by any thread
 */
struct life {
	__u64 id;
	__u64 begun;
	__u64 user_data;
	__u64 ended;
	__u64 ended_sum;
};

/* The actions and events of one thread. */
struct life_totals {
	__u64 started;
	__u64 restarted;
	__u64 stopped;
	__u64 read;
	__u64 early;
	__u64 operations;
};

void life_start(int fd, struct life *life, __u64 delay_ns,
		struct life_totals *totals);
void life_stop(int fd, struct life *life, struct life_totals *totals);
void life_get(int fd, struct life *life);
void life_prepare(struct life *life, struct twheel_op *op, __u64 delay_ns);
void life_result(struct life *life, const struct twheel_op *op,
		 struct life_totals *totals);
void life_event(struct life *life, const struct twheel_event *event,
		struct life_totals *totals);
void life_drained(struct life *life, __u64 user_data,
		  struct life_totals *totals);
void life_expect_ended(const struct life *life);
void life_add(struct life_totals *sum, const struct life_totals *totals);

#endif /* LIFE_H */
