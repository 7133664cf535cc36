// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_DRAIN stops all and returns the timers that were pending
 *
 * The cases that it has in common with TWHEEL_IOC_LIST are in test_list.c.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("fault_*");

#define TIMERS	1000

static int open_with_pending(int count)
{
	int fd = session_open_nonblock();
	int i;

	for (i = 0; i < count; i++)
		ASSERT_EQ(0, tw_start(fd, i, HOUR, 100 + i));
	return fd;
}

/*
 * The bytes behind the entries that were returned are as they were. The next
 * entry may have been written, of a timer that expired just then.
 */
static int drain(int fd, struct twheel_entry *timers, int room)
{
	int count, touched;

	memset(timers, GARBAGE, room * sizeof(*timers));
	count = tw_drain(fd, timers, room);
	ASSERT_LE(0, count);
	ASSERT_LE(count, room);
	touched = count < room ? count + 1 : count;
	ASSERT_TRUE(is_garbage(timers + touched,
			       (room - touched) * sizeof(*timers)));
	return count;
}

/* Each timer is returned once, with the values that it was started with. */
static void check_drained(const struct twheel_entry *timers, __u32 count,
			  unsigned char *seen)
{
	__u32 i;

	for (i = 0; i < count; i++) {
		ASSERT_LT(timers[i].id, TIMERS);
		ASSERT_EQ(1, ++seen[timers[i].id]);
		ASSERT_EQ(100 + timers[i].id, timers[i].user_data);
		ASSERT_LE(timers[i].remaining_ns, HOUR);
		ASSERT_LT(HOUR - 60 * SECOND, timers[i].remaining_ns);
		ASSERT_EQ(0, timers[i].period_ns);
		ASSERT_EQ(TWHEEL_STATE_PENDING, timers[i].state);
		ASSERT_EQ(0, timers[i].reserved);
	}
}

TEST(nothing_to_drain)
{
	struct twheel_entry timers[4];
	int fd = session_open_nonblock();

	ASSERT_EQ(0, drain(fd, timers, 4));
	EXPECT_STATS(fd, .started = 0);
}

TEST(all_in_one_call)
{
	static struct twheel_entry timers[TIMERS + 1];
	unsigned char seen[TIMERS] = { 0 };
	int fd = open_with_pending(TIMERS);
	int i;

	ASSERT_EQ(TIMERS, drain(fd, timers, TIMERS + 1));
	check_drained(timers, TIMERS, seen);
	EXPECT_STATS(fd, .started = TIMERS, .stopped = TIMERS);
	for (i = 0; i < TIMERS; i++)
		expect_no_timer(fd, i);
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
}

TEST(kernel_ids_are_drained)
{
	struct twheel_entry timers[20];
	int fd = session_open_nonblock();
	__u64 ids[10];
	int i, j;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, tw_start_any(fd, HOUR, i, &ids[i]));
	ASSERT_EQ(10, drain(fd, timers, 20));
	for (i = 0; i < 10; i++) {
		for (j = 0; timers[j].id != ids[i]; j++)
			ASSERT_LT(j, 9);
		ASSERT_EQ(i, timers[j].user_data);
		ASSERT_EQ(-ENOENT, tw_start(fd, ids[i], HOUR, 0));
	}
	EXPECT_STATS(fd, .started = 10, .stopped = 10);
}

TEST(periodic_timers_are_drained)
{
	struct twheel_entry timers[4];
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start_periodic(fd, 3, HOUR, 7 * SECOND));
	ASSERT_EQ(1, drain(fd, timers, 4));
	ASSERT_EQ(3, timers[0].id);
	ASSERT_EQ(7 * SECOND, timers[0].period_ns);
	expect_no_timer(fd, 3);
}

TEST(unread_events_stay)
{
	static struct twheel_entry timers[TIMERS];
	int fd = open_with_pending(10);

	ASSERT_EQ(0, tw_start(fd, 20, 0, 120));
	expect_unread(fd, 1);
	ASSERT_EQ(10, drain(fd, timers, TIMERS));
	EXPECT_STATS(fd, .started = 11, .stopped = 10, .expired = 1,
		     .unread = 1);
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, tw_state(fd, 20));
	expect_event(fd, 20, 120);
	expect_nothing(fd, 0);
}

TEST(drained_timers_do_not_expire)
{
	struct twheel_entry timers[100];
	__u64 delay = test_patience() * 1200 * MS, begin = now_ns();
	int fd = session_open_nonblock();
	int i, drained;

	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, tw_start(fd, i, delay, i));
	drained = drain(fd, timers, 100);
	if (now_ns() >= begin + delay)
		test_slow();
	ASSERT_EQ(100, drained);
	expect_nothing(fd, delay + 100 * MS);
	EXPECT_STATS(fd, .started = 100, .stopped = 100);
}

TEST(limit_is_free_after_drain)
{
	struct twheel_entry timers[8];
	int fd = session_open_nonblock();
	int i, round;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .max_timers = 8 }));
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 8; i++)
			ASSERT_EQ(0, tw_start(fd, i, HOUR, i));
		ASSERT_EQ(8, drain(fd, timers, 8));
	}
}

static unsigned int drain_all(int fd)
{
	struct twheel_entry timers[16];
	unsigned int sum = 0;
	int count;

	do {
		count = drain(fd, timers, 16);
		sum += count;
	} while (count);
	return sum;
}

static unsigned int read_all(int fd)
{
	struct twheel_event events[16];
	unsigned int sum = 0;
	ssize_t got;

	while ((got = tw_read(fd, events, 16)) > 0)
		sum += got;
	return sum;
}

/*
 * Each timer is either drained or delivered, whichever comes first. Once the
 * drain has reported that none is left, all delivered events must be readable.
 */
static void race_with_expiry(unsigned int cpu_of_start,
			     unsigned int cpu_of_drain)
{
	unsigned int started = 0, seen = 0, stopped = 0, round, i;
	int fd = session_open_nonblock();

	for (round = 0; round < 200; round++) {
		pin_cpu(cpu_of_start);
		for (i = 0; i < 100; i++)
			ASSERT_EQ(0, tw_start(fd, i, MS + i * 10 * US, i));
		started += 100;
		pin_cpu(cpu_of_drain);
		sleep_ns(MS);
		stopped += drain_all(fd);
		seen += read_all(fd);
		EXPECT_STATS(fd, .started = started, .stopped = stopped,
			     .expired = seen, .delivered = seen);
		ASSERT_EQ(started, stopped + seen);
	}
	test_note("%u drained, %u delivered", stopped, seen);
}

TEST(race_with_expiry_on_one_cpu)
{
	race_with_expiry(0, 0);
}

TEST(race_with_expiry_on_another_cpu)
{
	race_with_expiry(1, 0);
}

/*
 * A periodic timer whose event is unread ends: the event is read once more, and
 * does not come again.
 */
TEST(unread_periodic_timers_end)
{
	struct twheel_entry timers[4];
	int fd = session_open_nonblock();
	struct twheel_event event;
	int i;

	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, tw_start_periodic(fd, i, 0, 1));
	expect_unread(fd, 5);
	ASSERT_EQ(0, drain(fd, timers, 4));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(1, tw_read(fd, &event, 1));
		ASSERT_EQ(0, event.flags);
	}
	expect_nothing(fd, 20 * MS);
	expect_no_timer(fd, 3);
	ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
	expect_balance(fd);
}

/* Timers that cannot be returned stay pending. */
TEST(fault_in_the_middle)
{
	struct twheel_entry *timers = page_end(4 * sizeof(*timers) + 8);
	unsigned char seen[TIMERS] = { 0 };
	struct twheel_entry rest[10];
	int fd = open_with_pending(10);

	ASSERT_EQ(4, tw_drain(fd, timers, 10));
	check_drained(timers, 4, seen);
	EXPECT_STATS(fd, .started = 10, .stopped = 4, .pending = 6);
	ASSERT_EQ(6, drain(fd, rest, 10));
	check_drained(rest, 6, seen);
}
