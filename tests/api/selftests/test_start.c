// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_START: deadlines and restarts
 */
#include <errno.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

TEST(relative_start_expires_when_due)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	__u64 before, after;

	before = now_ns();
	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	after = now_ns();
	expect_readable(fd);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(3, event.id);
	ASSERT_EQ(33, event.user_data);
	ASSERT_LE(before + 20 * MS, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, after + 20 * MS);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	ASSERT_LE(event.expired_ns, now_ns());
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1);
	expect_no_timer(fd, 3);
}

TEST(absolute_start_has_that_deadline)
{
	int fd = session_open_nonblock();
	__u64 deadline = now_ns() + 20 * MS;
	struct twheel_event event;

	ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS, 33));
	expect_readable(fd);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(deadline, event.deadline_ns);
	ASSERT_LE(deadline, event.expired_ns);
	ASSERT_LE(event.expired_ns, now_ns());
}

TEST(longest_times_are_accepted)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start(fd, 3, INTERVAL_MAX, 33));
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(TWHEEL_STATE_PENDING, get.state);
	ASSERT_LT(INTERVAL_MAX / 2, get.remaining_ns);
	ASSERT_LE(get.remaining_ns, INTERVAL_MAX);
	expect_nothing(fd, 20 * MS);
	ASSERT_EQ(1, tw_start_flags(fd, 3, INTERVAL_MAX, TWHEEL_START_ABS, 33));
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_LE(INTERVAL_MAX - now_ns(), get.remaining_ns);
	EXPECT_STATS(fd, .started = 1, .restarted = 1, .pending = 1);
	ASSERT_EQ(0, tw_stop(fd, 3));
}

TEST(restart_takes_everything_anew)
{
	struct twheel_start start = {
		.id = 3,
		.expires_ns = 2 * HOUR,
		.period_ns = 5 * SECOND,
		.user_data = 34,
	};
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(1, tw_ioctl(fd, TWHEEL_IOC_START, &start));
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_LT(2 * HOUR - 60 * SECOND, get.remaining_ns);
	ASSERT_EQ(5 * SECOND, get.period_ns);
	ASSERT_EQ(34, get.user_data);

	ASSERT_EQ(1, tw_start(fd, 3, HOUR, 35));
	EXPECT_STATS(fd, .started = 1, .restarted = 2, .pending = 1);
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_LE(get.remaining_ns, HOUR);
	ASSERT_EQ(0, get.period_ns);
	ASSERT_EQ(35, get.user_data);
}

/* The unread event must be withdrawn, and the old period and user_data must be gone. */
TEST(start_of_an_unread_timer)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start_periodic(fd, 3, 0, MS));
	expect_unread(fd, 1);
	ASSERT_EQ(2, tw_start(fd, 3, HOUR, 34));
	expect_nothing(fd, 20 * MS);
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(TWHEEL_STATE_PENDING, get.state);
	ASSERT_EQ(0, get.period_ns);
	ASSERT_EQ(34, get.user_data);
	EXPECT_STATS(fd, .started = 2, .expired = 1, .replaced = 1, .pending = 1);
	ASSERT_EQ(1, tw_start(fd, 3, 0, 35));
	expect_event(fd, 3, 35);
}
