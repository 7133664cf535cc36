// SPDX-License-Identifier: GPL-2.0
/*
 * Timers with a period
 *
 * Reading its event arms a periodic timer again, for the first period that has
 * not passed. Every deadline is the first one plus a whole number of periods.
 * The event's overruns count the skipped ones.
 */
#include <errno.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("faulting_*");

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

/* Reads @count events. Each deadline must lie on the grid of periods. */
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

TEST(deadlines_do_not_drift_below_a_tick)
{
	int fd = session_open_nonblock();
	__u64 first = now_ns() + 20 * MS;

	ASSERT_EQ(0, start_at(fd, 3, first, tick_ns(fd) / 3 + 1));
	expect_grid(fd, first, tick_ns(fd) / 3 + 1, 50);
	expect_balance(fd);
}

TEST(relative_first_expiry)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	__u64 before, after;

	before = now_ns();
	ASSERT_EQ(0, tw_start_periodic(fd, 3, 20 * MS, HOUR));
	after = now_ns();
	read_one(fd, &event);
	ASSERT_LE(before + 20 * MS, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, after + 20 * MS);
	ASSERT_EQ(0, event.overruns);
	ASSERT_EQ(TWHEEL_EVENT_PERIODIC, event.flags);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1,
		     .rearmed = 1, .pending = 1);
}

TEST(unread_event_is_queued_once)
{
	int fd = session_open_nonblock();
	struct twheel_event events[4];

	ASSERT_EQ(0, start_at(fd, 3, now_ns(), 2 * MS));
	expect_readable(fd);
	sleep_ns(60 * MS);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
	ASSERT_EQ(1, tw_read(fd, events, 4));
	ASSERT_LE(20, events[0].overruns);
}

TEST(overruns_count_whole_periods)
{
	__u64 period = 3 * MS, before, after, first;
	int fd = session_open_nonblock();
	struct twheel_event event;

	first = now_ns() + 5 * MS;
	ASSERT_EQ(0, start_at(fd, 3, first, period));
	expect_readable(fd);
	sleep_ns(100 * MS);
	before = now_ns();
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	after = now_ns();
	ASSERT_EQ(first, event.deadline_ns);
	ASSERT_LE((before - first) / period, event.overruns);
	ASSERT_LE(event.overruns, (after - first) / period);
}

TEST(overruns_are_counted_in_stats)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	struct twheel_stats stats;
	__u64 overruns = 0;
	int i;

	ASSERT_EQ(0, start_at(fd, 3, now_ns(), MS));
	for (i = 0; i < 5; i++) {
		sleep_ns(10 * MS);
		read_one(fd, &event);
		overruns += event.overruns;
	}
	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_EQ(5, stats.delivered);
	ASSERT_EQ(5, stats.rearmed);
	ASSERT_EQ(overruns, stats.overruns);
	ASSERT_LT(20, overruns);
	expect_balance(fd);
}

/* After the read the next expiry is in the future, at most a period away. */
TEST(armed_for_the_next_period)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	__u64 next, before, after;
	struct twheel_entry get;

	ASSERT_EQ(0, start_at(fd, 3, 1, HOUR));
	read_one(fd, &event);
	/* Overruns at the time of the read. */
	ASSERT_LE((event.expired_ns - 1) / HOUR, event.overruns);
	ASSERT_LE(event.overruns, (now_ns() - 1) / HOUR);
	next = 1 + (event.overruns + 1) * HOUR;
	before = now_ns();
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	after = now_ns();
	ASSERT_EQ(TWHEEL_STATE_PENDING, get.state);
	ASSERT_LE(next - after, get.remaining_ns);
	ASSERT_LE(get.remaining_ns, next - before);
}

/* 1 ns would be a billion expiries a second. One per tick is the maximum. */
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

/* A period of 1 ns and a deadline long ago: as many overruns as ns, at once. */
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
}

TEST(stop_while_pending)
{
	__u64 period = test_patience() * SECOND;
	int fd = session_open_nonblock();
	struct twheel_event event;
	int result;

	ASSERT_EQ(0, start_at(fd, 3, now_ns(), period));
	read_one(fd, &event);
	result = tw_stop(fd, 3);
	if (result == -EALREADY)
		test_slow();
	ASSERT_EQ(0, result);
	expect_no_timer(fd, 3);
	expect_nothing(fd, period + 100 * MS);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1,
		     .rearmed = 1, .stopped = 1, .overruns = event.overruns);
}

TEST(stop_while_unread_ends_it)
{
	int fd = session_open_nonblock();
	struct twheel_event event;

	ASSERT_EQ(0, start_at(fd, 3, now_ns(), 5 * MS));
	expect_readable(fd);
	ASSERT_EQ(-EALREADY, tw_stop(fd, 3));
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, tw_state(fd, 3));
	read_one(fd, &event);
	ASSERT_EQ(3, event.id);
	ASSERT_EQ(0, event.flags);
	expect_no_timer(fd, 3);
	expect_nothing(fd, 30 * MS);
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1,
		     .overruns = event.overruns);
}

/* The last event counts the periods that passed without one of their own. */
TEST(stop_while_unread_keeps_the_overruns)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	struct twheel_entry entry;

	ASSERT_EQ(0, start_at(fd, 3, now_ns(), 2 * MS));
	expect_readable(fd);
	sleep_ns(50 * MS);
	ASSERT_EQ(-EALREADY, tw_stop(fd, 3));
	ASSERT_EQ(0, tw_get(fd, 3, &entry));
	ASSERT_EQ(0, entry.period_ns);
	read_one(fd, &event);
	ASSERT_EQ(0, event.flags);
	ASSERT_LE(20, event.overruns);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1,
		     .overruns = event.overruns);
}

TEST(start_while_unread_is_refused)
{
	int fd = session_open_nonblock();
	struct twheel_event event;

	ASSERT_EQ(0, start_at(fd, 3, now_ns(), 5 * MS));
	expect_readable(fd);
	ASSERT_EQ(-EALREADY, tw_start(fd, 3, HOUR, 33));
	read_one(fd, &event);
	ASSERT_EQ(TWHEEL_EVENT_PERIODIC, event.flags);
	read_one(fd, &event);
	ASSERT_EQ(~3ULL, event.user_data);
}

TEST(replace_while_unread)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, start_at(fd, 3, now_ns(), 5 * MS));
	expect_readable(fd);
	ASSERT_EQ(0, tw_start_flags(fd, 3, 10 * MS, TWHEEL_START_REPLACE, 33));
	expect_event(fd, 3, 33);
	expect_nothing(fd, 30 * MS);
	EXPECT_STATS(fd, .started = 2, .expired = 2, .replaced = 1,
		     .delivered = 1);
}

TEST(restart_without_a_period)
{
	int fd = session_open_nonblock();
	struct twheel_event event;

	ASSERT_EQ(0, start_at(fd, 3, now_ns(), HOUR));
	read_one(fd, &event);
	ASSERT_EQ(1, tw_start(fd, 3, MS, 33));
	expect_event(fd, 3, 33);
	expect_no_timer(fd, 3);
}

TEST(restart_with_a_period)
{
	int fd = session_open_nonblock();
	__u64 first = now_ns() + 30 * MS;

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(1, start_at(fd, 3, first, 5 * MS));
	expect_grid(fd, first, 5 * MS, 5);
}

/* A read that cannot deliver the event must not arm the next period. */
TEST(faulting_read_leaves_it_unread)
{
	int fd = session_open_nonblock();
	__u64 first = now_ns();
	struct twheel_event event;

	ASSERT_EQ(0, start_at(fd, 3, first, 5 * MS));
	expect_readable(fd);
	ASSERT_EQ(-1, read(fd, page_end(0), sizeof(event)));
	ASSERT_EQ(EFAULT, errno);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
	expect_grid(fd, first, 5 * MS, 3);
	expect_balance(fd);
}

TEST(many_periodic_timers)
{
	static struct twheel_event events[200];
	static __u64 next[100];
	int fd = session_open_nonblock();
	unsigned int read = 0;
	ssize_t i, got;
	__u64 id;

	for (id = 0; id < 100; id++) {
		next[id] = now_ns() + id * 100 * US;
		ASSERT_EQ(0, start_at(fd, id, next[id], 5 * MS + id * US));
	}
	while (read < 2000) {
		expect_readable(fd);
		got = tw_read(fd, events, ARRAY_SIZE(events));
		ASSERT_LT(0, got);
		for (i = 0; i < got; i++) {
			id = events[i].id;
			ASSERT_EQ(next[id], events[i].deadline_ns);
			ASSERT_LE(next[id], events[i].expired_ns);
			next[id] += (events[i].overruns + 1) *
				    (5 * MS + id * US);
		}
		read += got;
	}
	expect_balance(fd);
}

/*
 * Ten thousand timers with a period of 1 ns. As long as nobody reads, none of
 * them expires a second time, and another thread on the same CPU gets on as if
 * it were alone. A reader shares the CPU with that thread, and both with the
 * timers, which take half of it at most.
 */
#define CROWD		10000
#define MOMENT		(200 * MS)

static struct {
	int fd;
	bool stop;
} crowd;

static void *read_crowd(void *unused)
{
	static struct twheel_event events[CROWD];

	(void)unused;
	pin_cpu(0);
	while (!READ_ONCE(crowd.stop))
		tw_read(crowd.fd, events, ARRAY_SIZE(events));
	return NULL;
}

static __u64 expired(int fd)
{
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	return stats.expired;
}

/*
 * The time of a look at the clock does not count: another clock may be chosen.
 */
static __u64 work_for_a_moment(void)
{
	__u64 end = now_ns() + MOMENT, rounds = 0;
	volatile int i;

	for (; now_ns() < end; rounds++)
		for (i = 0; i < 1000; i++)
			;
	return rounds;
}

TEST(ten_thousand_of_the_smallest_period)
{
	__u64 id, alone, unread, read;
	pthread_t reader;

	pin_cpu(0);
	alone = work_for_a_moment();
	crowd.fd = session_open_nonblock();
	for (id = 0; id < CROWD; id++)
		ASSERT_EQ(0, start_at(crowd.fd, id, 1, 1));
	expect_unread(crowd.fd, CROWD);
	unread = work_for_a_moment() * 100 / alone;
	ASSERT_EQ(CROWD, expired(crowd.fd));
	reader = thread_run(read_crowd, NULL);
	read = work_for_a_moment() * 100 / alone;
	while (expired(crowd.fd) < 2 * CROWD)
		sleep_ns(MS);
	WRITE_ONCE(crowd.stop, true);
	thread_join(reader);
	expect_balance(crowd.fd);
	test_note("work done beside them: %llu %% unread, %llu %% beside a reader",
		  unread, read);
	if (!time_is_exact())
		return;
	ASSERT_LE(95, unread);
	ASSERT_LE(40, read);
}
