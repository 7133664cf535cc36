// SPDX-License-Identifier: GPL-2.0
/*
 * The promises of a wheel to its callers
 *
 * Timers are never early, expire once, and keep their order among equal deadlines. This holds on a
 * machine of any speed. The lateness of a timer depends on the machine, and is checked only where
 * time is exact.
 */
#include "harness.h"
#include "session.h"

#define BATCH	256

/* Use deadlines at the boundaries of ticks, and a nanosecond before and after them. */
TEST(never_early_at_the_edges_of_a_tick)
{
	static struct twheel_event events[BATCH];
	static bool seen[3000];
	const unsigned int count = ARRAY_SIZE(seen);
	int fd = session_open();
	__u64 tick = tick_ns(fd), base = (now_ns() / tick + 200) * tick;
	__u64 deadline, late, late_max = 0;
	unsigned int i, read;
	ssize_t got, n;

	for (i = 0; i < count; i++) {
		deadline = base + i / 3 % 100 * tick + i % 3 - 1;
		ASSERT_EQ(0, tw_start_flags(fd, i, deadline, TWHEEL_START_ABS, deadline));
	}
	for (read = 0; read < count; read += got) {
		got = tw_read(fd, events, BATCH);
		ASSERT_LT(0, got);
		for (n = 0; n < got; n++) {
			ASSERT_LT(events[n].id, count);
			ASSERT_TRUE(!seen[events[n].id]);
			seen[events[n].id] = true;
			ASSERT_EQ(events[n].user_data, events[n].deadline_ns);
			ASSERT_LE(events[n].deadline_ns, events[n].expired_ns);
			ASSERT_LE(events[n].expired_ns, now_ns());
			late = events[n].expired_ns - events[n].deadline_ns;
			late_max = late > late_max ? late : late_max;
		}
	}
	expect_nothing(fd, 0);
	expect_balance(fd);
	test_note("%u timers, early 0, late by %llu us at most", count, late_max / US);
	if (time_is_exact())
		ASSERT_LE(late_max, tick + 200 * US);
}

static void expect_fifo(int fd, unsigned int count)
{
	static struct twheel_event events[BATCH];
	unsigned int next = 0;
	ssize_t got, i;

	while (next < count) {
		expect_readable(fd);
		got = tw_read(fd, events, BATCH);
		ASSERT_LT(0, got);
		for (i = 0; i < got; i++)
			ASSERT_EQ(next++, events[i].user_data);
	}
}

/*
 * Timers of one deadline on one CPU must expire in the order of their starts. The starts are spread
 * over time, so that the timers enter the wheel at several levels and meet in a cascade. A slow
 * machine starts the last timers too late, but they must still expire last.
 */
TEST(fifo_1000_ticks_away)
{
	int fd = session_open_nonblock();
	const unsigned int count = 400;
	__u64 begin, deadline, step;
	unsigned int i;

	keep_order(fd);
	begin = now_ns();
	deadline = begin + 1000 * tick_ns(fd);
	step = (deadline - begin) * 3 / 4 / count;
	for (i = 0; i < count; i++) {
		sleep_until(begin + i * step);
		ASSERT_EQ(0, tw_start_flags(fd, count - i, deadline,
					    TWHEEL_START_ABS, i));
	}
	expect_fifo(fd, count);
	EXPECT_STATS(fd, .started = count, .expired = count,
		     .delivered = count);
}
