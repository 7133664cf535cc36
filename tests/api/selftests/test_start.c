// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_START: its effects, and each of its errors
 */
#include <errno.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

/* Opens a session in which the event of a timer is unread. */
static int open_with_unread(__u64 id, __u64 user_data)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, id, 1, user_data));
	expect_readable(fd);
	return fd;
}

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

TEST(zero_interval_expires_at_the_next_tick)
{
	int fd = session_open_nonblock();
	__u64 before = now_ns();
	struct twheel_event event;

	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_readable(fd);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_LE(before, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1);
}

TEST(deadline_in_the_past_expires_at_the_next_tick)
{
	int fd = session_open_nonblock();
	__u64 past = now_ns() - 50 * MS;

	ASSERT_EQ(0, tw_start_flags(fd, 3, past, TWHEEL_START_ABS, 33));
	expect_event(fd, 3, 33);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1);
}

TEST(longest_interval_is_accepted)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start(fd, 3, INTERVAL_MAX, 33));
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(TWHEEL_STATE_PENDING, get.state);
	ASSERT_LT(INTERVAL_MAX / 2, get.remaining_ns);
	ASSERT_LE(get.remaining_ns, INTERVAL_MAX);
	expect_nothing(fd, 20 * MS);
	EXPECT_STATS(fd, .started = 1, .pending = 1);
	ASSERT_EQ(0, tw_stop(fd, 3));
}

TEST(latest_deadline_is_accepted)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start_flags(fd, 3, INTERVAL_MAX, TWHEEL_START_ABS, 33));
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_LE(INTERVAL_MAX - now_ns(), get.remaining_ns);
	ASSERT_LT(get.remaining_ns, INTERVAL_MAX);
	expect_nothing(fd, 20 * MS);
	ASSERT_EQ(0, tw_stop(fd, 3));
}

TEST(largest_id_is_accepted)
{
	int fd = session_open_nonblock();
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(fd, &info));
	ASSERT_EQ(0, tw_start(fd, info.max_timers - 1, 0, 33));
	expect_event(fd, info.max_timers - 1, 33);
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

	ASSERT_EQ(1, tw_start_flags(fd, 3, HOUR, TWHEEL_START_REPLACE, 35));
	EXPECT_STATS(fd, .started = 1, .restarted = 2, .pending = 1);
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_LE(get.remaining_ns, HOUR);
	ASSERT_EQ(0, get.period_ns);
	ASSERT_EQ(35, get.user_data);
}

TEST(restart_later_expires_once_and_later)
{
	int fd = session_open_nonblock();
	__u64 delay = test_patience() * 1500 * MS, before;
	struct twheel_event event;
	int result;

	ASSERT_EQ(0, tw_start(fd, 3, delay, 33));
	before = now_ns();
	result = tw_start(fd, 3, delay + 100 * MS, 34);
	if (result == -EALREADY)
		test_slow();
	ASSERT_EQ(1, result);
	expect_readable(fd);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(34, event.user_data);
	ASSERT_LE(before + delay + 100 * MS, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	expect_nothing(fd, 50 * MS);
	EXPECT_STATS(fd, .started = 1, .restarted = 1, .expired = 1,
		     .delivered = 1);
}

TEST(restart_earlier_expires_once_and_earlier)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(1, tw_start(fd, 3, 10 * MS, 34));
	expect_event(fd, 3, 34);
	expect_no_timer(fd, 3);
	EXPECT_STATS(fd, .started = 1, .restarted = 1, .expired = 1,
		     .delivered = 1);
}

TEST(ealready_while_the_event_is_unread)
{
	int fd = open_with_unread(3, 33);

	ASSERT_EQ(-EALREADY, tw_start(fd, 3, HOUR, 34));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, tw_state(fd, 3));
	expect_event(fd, 3, 33);
	expect_no_timer(fd, 3);
}

TEST(invalid_start_comes_before_ealready)
{
	struct twheel_start start = { .id = 3, .flags = 1U << 31 };
	int fd = open_with_unread(3, 33);

	ASSERT_EQ(-EINVAL, tw_ioctl(fd, TWHEEL_IOC_START, &start));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
	expect_event(fd, 3, 33);
}

TEST(replace_withdraws_the_unread_event)
{
	int fd = open_with_unread(3, 33);

	ASSERT_EQ(0, tw_start_flags(fd, 3, HOUR, TWHEEL_START_REPLACE, 34));
	EXPECT_STATS(fd, .started = 2, .expired = 1, .replaced = 1,
		     .pending = 1);
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, 3));
	expect_nothing(fd, 0);
	ASSERT_EQ(1, tw_start(fd, 3, 0, 35));
	expect_event(fd, 3, 35);
	EXPECT_STATS(fd, .started = 2, .restarted = 1, .expired = 2,
		     .replaced = 1, .delivered = 1);
}

TEST(replace_withdraws_only_that_event)
{
	int fd = open_with_unread(3, 33);

	ASSERT_EQ(0, tw_start(fd, 4, 0, 44));
	expect_unread(fd, 2);
	ASSERT_EQ(0, tw_start(fd, 5, 0, 55));
	expect_unread(fd, 3);
	ASSERT_EQ(0, tw_start_flags(fd, 4, HOUR, TWHEEL_START_REPLACE, 45));
	expect_event(fd, 3, 33);
	expect_event(fd, 5, 55);
	expect_nothing(fd, 0);
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, 4));
}

TEST(replace_of_nothing_is_a_start)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start_flags(fd, 3, HOUR, TWHEEL_START_REPLACE, 33));
	EXPECT_STATS(fd, .started = 1, .pending = 1);
}

TEST(invalid_replace_withdraws_nothing)
{
	int fd = open_with_unread(3, 33);

	ASSERT_EQ(-EINVAL, tw_start_flags(fd, 3, ~0ULL, TWHEEL_START_REPLACE,
					  34));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
	expect_event(fd, 3, 33);
}

TEST(sessions_do_not_share_ids)
{
	int first = session_open_nonblock();
	int second = session_open_nonblock();

	ASSERT_EQ(0, tw_start(first, 3, HOUR, 33));
	expect_no_timer(second, 3);
	ASSERT_EQ(0, tw_start(second, 3, 0, 34));
	expect_event(second, 3, 34);
	expect_nothing(first, 0);
	EXPECT_STATS(first, .started = 1, .pending = 1);
	EXPECT_STATS(second, .started = 1, .expired = 1, .delivered = 1);
}
