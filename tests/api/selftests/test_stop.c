// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_STOP: each result is true
 */
#include <errno.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

TEST(withdraw_takes_an_unread_event_back)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, 1, 33));
	expect_readable(fd);
	ASSERT_EQ(1, tw_stop_flags(fd, 3, TWHEEL_STOP_WITHDRAW));
	expect_no_timer(fd, 3);
	expect_nothing(fd, 0);
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .withdrawn = 1);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 34));
	expect_event(fd, 3, 34);
}

/* Let timer @i expire, odd ones with ids of the kernel's choice. Returns its id. */
static __u64 expire_one(int fd, unsigned int i)
{
	__u64 id = i;

	if (i % 2)
		ASSERT_EQ(0, tw_start_any(fd, 0, i, &id));
	else
		ASSERT_EQ(0, tw_start(fd, id, 0, i));
	return id;
}

/* The queue remains a queue, wherever events are withdrawn and added. */
TEST(withdraw_from_any_place_of_the_queue)
{
	enum { EVENTS = 5 };
	unsigned int gone, i;

	for (gone = 0; gone < 1 << EVENTS; gone++) {
		int fd = session_open_nonblock();
		__u64 ids[EVENTS + 1];

		for (i = 0; i < EVENTS; i++) {
			ids[i] = expire_one(fd, i);
			expect_unread(fd, i + 1);
		}
		/* From the head, or from the tail if the head is withdrawn. */
		for (i = 0; i < EVENTS; i++) {
			unsigned int nr = gone & 1 ? EVENTS - 1 - i : i;

			if (gone & 1 << nr)
				ASSERT_EQ(1, tw_stop_flags(fd, ids[nr],
							   TWHEEL_STOP_WITHDRAW));
		}
		ids[EVENTS] = expire_one(fd, EVENTS);
		expect_unread(fd, EVENTS + 1 - __builtin_popcount(gone));
		for (i = 0; i <= EVENTS; i++)
			if (!(gone & 1 << i))
				expect_event(fd, ids[i], i);
		expect_nothing(fd, 0);
		close(fd);
	}
}

TEST(withdraw_ends_a_periodic_timer)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start_periodic(fd, 3, 0, MS));
	expect_readable(fd);
	ASSERT_EQ(1, tw_stop_flags(fd, 3, TWHEEL_STOP_WITHDRAW));
	expect_no_timer(fd, 3);
	expect_nothing(fd, 20 * MS);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .withdrawn = 1);
}

/*
 * Withdraw a timer at about the time of its expiry. No event is read after that, so the
 * memory behind user_data can be freed.
 */
TEST(nothing_comes_after_a_withdrawal)
{
	int fd = session_open_nonblock(), result, i;
	unsigned int stopped = 0, withdrawn = 0;
	__u64 tick = tick_ns(fd), deadline;
	struct twheel_event event;

	for (i = 0; i < 1500; i++) {
		pin_cpu(1);
		deadline = now_ns() + tick;
		ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS,
					    i));
		pin_cpu(0);
		while (now_ns() < deadline + tick * (i % 64) / 64)
			;
		result = tw_stop_flags(fd, 3, TWHEEL_STOP_WITHDRAW);
		ASSERT_LE(0, result);
		stopped += !result;
		withdrawn += result;
		ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
		expect_no_timer(fd, 3);
	}
	test_note("%u stopped, %u withdrawn", stopped, withdrawn);
	EXPECT_STATS(fd, .started = i, .stopped = stopped, .expired = withdrawn,
		     .withdrawn = withdrawn);
}
