// SPDX-License-Identifier: GPL-2.0
/*
 * Timers whose every life is accounted for, by many threads
 *
 * user_data holds 24 bits of the life's number and 40 bits of the time before
 * which the timer must not expire.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "life.h"
#include "session.h"

#define TIME_BITS	40
#define TIME_MASK	((1ULL << TIME_BITS) - 1)

static __u64 encode(__u64 number, __u64 due_ns)
{
	return number << TIME_BITS | (due_ns & TIME_MASK);
}

static __u64 number_of(__u64 user_data)
{
	return user_data >> TIME_BITS;
}

/* Nanoseconds from the due time to @time_ns. The 40 bits may have wrapped. */
static long long since_due(__u64 user_data, __u64 time_ns)
{
	__u64 distance = (time_ns - user_data) & TIME_MASK;

	if (distance > TIME_MASK / 2)
		return (long long)distance - (long long)TIME_MASK - 1;
	return distance;
}

static void end_life(struct life *life, __u64 user_data)
{
	__atomic_add_fetch(&life->ended, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&life->ended_sum, number_of(user_data),
			   __ATOMIC_RELAXED);
}

/* The user_data of the next life, should the coming start begin one. */
static __u64 next_user_data(const struct life *life, __u64 due_ns)
{
	return encode((life->begun + 1) & 0xffffff, due_ns);
}

/*
 * Before the call the owner cannot know whether a start begins a life or
 * restarts one. Either way the new life has the next number. A restart ends the
 * life with the old number in the books.
 */
static void start_done(struct life *life, __u64 user_data, int result,
		       struct life_totals *totals)
{
	totals->operations++;
	if (result == -EALREADY)
		return;
	ASSERT_LE(0, result);
	ASSERT_LE(result, 1);
	if (result == 1) {
		end_life(life, life->user_data);
		totals->restarted++;
	} else {
		totals->started++;
	}
	life->begun++;
	life->user_data = user_data;
}

static void stop_done(struct life *life, int result,
		      struct life_totals *totals)
{
	totals->operations++;
	if (result) {
		ASSERT_TRUE(result == -ENOENT || result == -EALREADY);
		return;
	}
	totals->stopped++;
	end_life(life, life->user_data);
}

void life_start(int fd, struct life *life, __u64 delay_ns,
		struct life_totals *totals)
{
	__u64 user_data = next_user_data(life, now_ns() + delay_ns);

	start_done(life, user_data, tw_start(fd, life->id, delay_ns, user_data),
		   totals);
}

void life_stop(int fd, struct life *life, struct life_totals *totals)
{
	stop_done(life, tw_stop(fd, life->id), totals);
}

/* ENOENT is always right: another thread may have read the event first. */
void life_get(int fd, struct life *life)
{
	struct twheel_entry get;

	if (tw_get(fd, life->id, &get) == -ENOENT)
		return;
	ASSERT_EQ(life->user_data, get.user_data);
	ASSERT_TRUE(get.state == TWHEEL_STATE_PENDING ||
		    get.state == TWHEEL_STATE_EXPIRED);
}

/* A start, or a stop if @delay_ns is 0, as part of a batch. */
void life_prepare(struct life *life, struct twheel_op *op, __u64 delay_ns)
{
	memset(op, 0, sizeof(*op));
	op->opcode = delay_ns ? TWHEEL_OP_START : TWHEEL_OP_STOP;
	op->id = life->id;
	op->expires_ns = delay_ns;
	if (delay_ns)
		op->user_data = next_user_data(life, now_ns() + delay_ns);
	op->result = GARBAGE;
}

void life_result(struct life *life, const struct twheel_op *op,
		 struct life_totals *totals)
{
	ASSERT_EQ(life->id, op->id);
	if (op->opcode == TWHEEL_OP_START)
		start_done(life, op->user_data, op->result, totals);
	else
		stop_done(life, op->result, totals);
}

void life_event(struct life *life, const struct twheel_event *event,
		struct life_totals *totals)
{
	ASSERT_EQ(life->id, event->id);
	ASSERT_LE(event->deadline_ns, event->expired_ns);
	totals->read++;
	if (since_due(event->user_data, event->deadline_ns) < 0 ||
	    since_due(event->user_data, event->expired_ns) < 0 ||
	    event->expired_ns > now_ns())
		totals->early++;
	end_life(life, event->user_data);
}

void life_drained(struct life *life, __u64 user_data,
		  struct life_totals *totals)
{
	totals->stopped++;
	end_life(life, user_data);
}

/*
 * Every life has ended once: as many ends as lives, and the sum of their
 * numbers is the sum of 1 to @begun. Call it only after all events have been
 * read.
 */
void life_expect_ended(const struct life *life)
{
	__u64 sum = 0, number;

	for (number = 1; number <= life->begun; number++)
		sum += number & 0xffffff;
	if (life->begun == life->ended && sum == life->ended_sum)
		return;
	test_fail(__FILE__, __LINE__,
		  "id %llu: %llu lives begun, %llu ended, sums %llu and %llu",
		  life->id, life->begun, life->ended, sum, life->ended_sum);
}

void life_add(struct life_totals *sum, const struct life_totals *totals)
{
	sum->started += totals->started;
	sum->restarted += totals->restarted;
	sum->stopped += totals->stopped;
	sum->read += totals->read;
	sum->early += totals->early;
	sum->operations += totals->operations;
}
