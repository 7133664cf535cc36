// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_STOP: each result says what really happened
 */
#include <errno.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

TEST(stop_withdraws_an_unread_event)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, 1, 33));
	expect_readable(fd);
	ASSERT_EQ(1, tw_stop(fd, 3));
	expect_no_timer(fd, 3);
	expect_nothing(fd, 0);
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .withdrawn = 1);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 34));
	expect_event(fd, 3, 34);
}

/* Let timer @i expire. Odd timers have ids that the kernel chooses. Returns the timer's id. */
static __u64 expire_one(int fd, unsigned int i)
{
	__u64 id = i;

	if (i % 2)
		ASSERT_EQ(0, tw_start_any(fd, 0, i, &id));
	else
		ASSERT_EQ(0, tw_start(fd, id, 0, i));
	return id;
}

/* Events must remain in order, whichever other events are withdrawn from the queue. */
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
		/*
		 * Withdraw the events whose bits are set in @gone. Begin at the tail if the head
		 * is one of them, so that both directions are tested.
		 */
		for (i = 0; i < EVENTS; i++) {
			unsigned int nr = gone & 1 ? EVENTS - 1 - i : i;

			if (!(gone & 1 << nr))
				continue;
			if (nr < EVENTS / 2)
				ASSERT_EQ(1, tw_stop(fd, ids[nr]));
			else
				ASSERT_EQ(2, tw_start(fd, ids[nr], HOUR, nr));
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

TEST(stop_of_an_unread_periodic_timer)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start_periodic(fd, 3, 0, MS));
	expect_readable(fd);
	ASSERT_EQ(1, tw_stop(fd, 3));
	expect_no_timer(fd, 3);
	expect_nothing(fd, 20 * MS);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .withdrawn = 1);
}

/*
 * Stop a timer, or start it again, at about the time of its expiry. After that, the old event must
 * not be read, so that the program can free the memory that user_data refers to.
 */
TEST(nothing_comes_after_a_stop_or_a_start)
{
	int fd = session_open_nonblock(), result, i;
	unsigned int results[2][3] = { 0 };
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
		result = i % 2 ? tw_start(fd, 3, HOUR, 0) : tw_stop(fd, 3);
		ASSERT_LE(i % 2, result);
		ASSERT_LE(result, 1 + i % 2);
		results[i % 2][result]++;
		ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
		if (i % 2)
			ASSERT_EQ(0, tw_stop(fd, 3));
		expect_no_timer(fd, 3);
	}
	test_note("stopped: %u pending, %u unread; restarted: %u pending, %u unread",
		  results[0][0], results[0][1], results[1][1], results[1][2]);
	EXPECT_STATS(fd, .started = i + results[1][2], .restarted = results[1][1],
		     .stopped = i - results[0][1], .expired = results[0][1] + results[1][2],
		     .withdrawn = results[0][1], .replaced = results[1][2]);
}
