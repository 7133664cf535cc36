// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_GET describes a timer
 */
#include <string.h>

#include "harness.h"
#include "session.h"

TEST(pending_timer)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(3, get.id);
	ASSERT_EQ(33, get.user_data);
	ASSERT_EQ(0, get.period_ns);
	ASSERT_EQ(TWHEEL_STATE_PENDING, get.state);
	ASSERT_EQ(0, get.reserved);
	EXPECT_STATS(fd, .started = 1, .pending = 1);
}

TEST(remaining_time_is_exact)
{
	__u64 deadline = now_ns() + HOUR;
	int fd = session_open_nonblock();
	__u64 before, after;
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS, 33));
	before = now_ns();
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	after = now_ns();
	ASSERT_LE(deadline - after, get.remaining_ns);
	ASSERT_LE(get.remaining_ns, deadline - before);
	ASSERT_EQ(deadline, get.deadline_ns);
}

TEST(deadline_of_a_relative_start)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;
	__u64 before, after;

	before = now_ns();
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	after = now_ns();
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_LE(before + HOUR, get.deadline_ns);
	ASSERT_LE(get.deadline_ns, after + HOUR);
}

TEST(deadline_of_an_expired_timer)
{
	__u64 deadline = now_ns() + MS;
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS, 33));
	expect_readable(fd);
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(deadline, get.deadline_ns);
	ASSERT_EQ(0, get.remaining_ns);
}

TEST(remaining_time_falls)
{
	int fd = session_open_nonblock();
	struct twheel_entry first, second;

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, tw_get(fd, 3, &first));
	sleep_ns(5 * MS);
	ASSERT_EQ(0, tw_get(fd, 3, &second));
	ASSERT_LE(second.remaining_ns + 5 * MS, first.remaining_ns);
}

TEST(remaining_time_after_restart)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(1, tw_start(fd, 3, 3 * HOUR, 33));
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_LT(2 * HOUR, get.remaining_ns);
	ASSERT_LE(get.remaining_ns, 3 * HOUR);
	ASSERT_EQ(1, tw_start(fd, 3, 2 * HOUR, 33));
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_LT(HOUR, get.remaining_ns);
	ASSERT_LE(get.remaining_ns, 2 * HOUR);
}

TEST(periodic_timer)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start_periodic(fd, 3, HOUR, 7 * SECOND));
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(7 * SECOND, get.period_ns);
	ASSERT_EQ(TWHEEL_STATE_PENDING, get.state);
	ASSERT_LT(HOUR - 60 * SECOND, get.remaining_ns);
}

TEST(periodic_timer_between_periods)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start_periodic(fd, 3, 1, HOUR));
	expect_readable(fd);
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, get.state);
	ASSERT_EQ(0, get.remaining_ns);
	ASSERT_EQ(HOUR, get.period_ns);

	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(TWHEEL_STATE_PENDING, get.state);
	ASSERT_EQ(HOUR, get.period_ns);
	ASSERT_LE(event.deadline_ns + HOUR - now_ns(), get.remaining_ns);
	ASSERT_LE(get.remaining_ns, HOUR);
}

TEST(expired_timer)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start(fd, 3, 1, 33));
	expect_readable(fd);
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(3, get.id);
	ASSERT_EQ(0, get.remaining_ns);
	ASSERT_EQ(33, get.user_data);
	ASSERT_EQ(0, get.period_ns);
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, get.state);
	ASSERT_EQ(0, get.reserved);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
	expect_event(fd, 3, 33);
}

TEST(kernel_id)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;
	__u64 id;

	ASSERT_EQ(0, tw_start_any(fd, HOUR, 33, &id));
	ASSERT_EQ(0, tw_get(fd, id, &get));
	ASSERT_EQ(id, get.id);
	ASSERT_EQ(33, get.user_data);
	ASSERT_EQ(TWHEEL_STATE_PENDING, get.state);
}

TEST(garbage_in_the_outputs_does_not_matter)
{
	struct twheel_entry first, second;
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start_periodic(fd, 3, HOUR, SECOND));
	ASSERT_EQ(0, tw_get(fd, 3, &first));
	memset(&second, 0, sizeof(second));
	second.id = 3;
	ASSERT_EQ(0, tw_ioctl(fd, TWHEEL_IOC_GET, &second));
	first.remaining_ns = second.remaining_ns;
	ASSERT_EQ(0, memcmp(&first, &second, sizeof(first)));
}
