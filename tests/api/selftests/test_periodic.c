// SPDX-License-Identifier: GPL-2.0
/*
 * Timers with a period
 *
 * When the event of a periodic timer is read, the timer is armed again, for the next of its
 * deadlines that is still ahead. Each deadline is the first one plus a whole number of periods. The
 * overruns of an event count the periods that were skipped.
 */
#include <errno.h>

#include "harness.h"
#include "session.h"

static int start_at(int fd, __u64 id, __u64 deadline, __u64 period)
{
	struct twheel_start start = {
		.id = id,
		.expires_ns = deadline,
		.period_ns = period,
		.user_data = ~id,
		.flags = TWHEEL_START_ABS,
	};

	return tw_ioctl(fd, TWHEEL_IOC_START, &start);
}

static void read_one(int fd, struct twheel_event *event)
{
	expect_readable(fd);
	ASSERT_EQ(1, tw_read(fd, event, 1));
	ASSERT_LE(event->deadline_ns, event->expired_ns);
	ASSERT_EQ(0, event->reserved);
}

/* Read @count events. Each deadline must be a whole number of periods after the first one. */
static void expect_grid(int fd, __u64 deadline, __u64 period, int count)
{
	struct twheel_event event;
	__u64 overruns = 0;
	int i;

	for (i = 0; i < count; i++) {
		read_one(fd, &event);
		ASSERT_EQ(deadline, event.deadline_ns);
		ASSERT_EQ(TWHEEL_EVENT_PERIODIC, event.flags);
		ASSERT_LE(event.deadline_ns + event.overruns * period,
			  now_ns());
		deadline += (event.overruns + 1) * period;
		overruns += event.overruns;
	}
	test_note("%d events, %llu overruns", count, overruns);
}

TEST(deadlines_do_not_drift)
{
	int fd = session_open_nonblock();
	__u64 first = now_ns() + 20 * MS;

	ASSERT_EQ(0, start_at(fd, 3, first, 7 * MS + 13));
	expect_grid(fd, first, 7 * MS + 13, 50);
	expect_balance(fd);
}

/* With a period of 1 ns a timer must expire at most once a tick. */
TEST(smallest_period_cannot_occupy_a_cpu)
{
	int fd = session_open_nonblock();
	__u64 tick = tick_ns(fd);
	struct twheel_event event;
	struct twheel_stats stats;
	__u64 begin, last = 0;
	int i;

	begin = now_ns();
	ASSERT_EQ(0, start_at(fd, 3, begin, 1));
	expect_readable(fd);
	sleep_ns(200 * MS);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
	for (i = 0; i < 100; i++) {
		read_one(fd, &event);
		ASSERT_LT(last, event.expired_ns);
		last = event.expired_ns;
	}
	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_LE(stats.expired, (now_ns() - begin) / tick + 2);
	expect_balance(fd);
}

/*
 * A deadline long ago with a period of 1 ns gives an overrun for each ns. Counting them must not
 * take long.
 */
TEST(many_overruns_cost_nothing)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	__u64 begun;

	ASSERT_EQ(0, start_at(fd, 3, 1, 1));
	expect_readable(fd);
	begun = now_ns();
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	if (time_is_exact())
		ASSERT_LT(now_ns() - begun, MS);
	ASSERT_EQ(1, event.deadline_ns);
	ASSERT_LT(event.expired_ns - 2, event.overruns);
	read_one(fd, &event);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
}

TEST(longest_period_is_accepted)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start_periodic(fd, 3, 1, INTERVAL_MAX));
	read_one(fd, &event);
	ASSERT_EQ(0, event.overruns);
	ASSERT_EQ(TWHEEL_EVENT_PERIODIC, event.flags);
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(TWHEEL_STATE_PENDING, get.state);
	ASSERT_EQ(INTERVAL_MAX, get.period_ns);
	ASSERT_LT(INTERVAL_MAX / 2, get.remaining_ns);
	expect_nothing(fd, 20 * MS);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1,
		     .rearmed = 1, .pending = 1);
}
