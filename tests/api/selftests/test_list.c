// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_GET describes a timer, TWHEEL_IOC_LIST all of them, and TWHEEL_IOC_DRAIN stops
 * them
 *
 * They have one structure for a timer. LIST and DRAIN have one walk: cases that are true of
 * both are tried with both.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("fault_*");

#define TIMERS	500

static int open_with_pending(int count)
{
	int fd = session_open_nonblock();
	int i;

	for (i = 0; i < count; i++)
		ASSERT_EQ(0, tw_start(fd, i, HOUR, 100 + i));
	return fd;
}

/* All timers in pieces of @piece, as a program would do it. */
static int list_all(int fd, struct twheel_entry *entries, int piece)
{
	__u64 cursor = 0;
	int sum = 0, got;

	while ((got = tw_list(fd, entries + sum, piece, &cursor)) > 0)
		sum += got;
	ASSERT_EQ(0, got);
	return sum;
}

TEST(nothing_to_list)
{
	struct twheel_entry entries[4];
	int fd = session_open_nonblock();

	memset(entries, GARBAGE, sizeof(entries));
	ASSERT_EQ(0, list_all(fd, entries, 4));
	ASSERT_TRUE(is_garbage(entries, sizeof(entries)));
}

TEST(all_fields_of_a_pending_timer)
{
	__u64 deadline = now_ns() + HOUR, before, after, cursor = 0;
	int fd = session_open_nonblock();
	struct twheel_entry entry, get;

	ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS, 33));
	memset(&entry, GARBAGE, sizeof(entry));
	before = now_ns();
	ASSERT_EQ(1, tw_list(fd, &entry, 1, &cursor));
	after = now_ns();
	ASSERT_EQ(3, entry.id);
	ASSERT_EQ(33, entry.user_data);
	ASSERT_EQ(deadline, entry.deadline_ns);
	ASSERT_LE(deadline - after, entry.remaining_ns);
	ASSERT_LE(entry.remaining_ns, deadline - before);
	ASSERT_EQ(0, entry.period_ns);
	ASSERT_EQ(TWHEEL_STATE_PENDING, entry.state);
	ASSERT_EQ(0, entry.reserved);
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	get.remaining_ns = entry.remaining_ns;
	ASSERT_EQ(0, memcmp(&entry, &get, sizeof(get)));
	EXPECT_STATS(fd, .started = 1, .pending = 1);
}

TEST(get_of_a_periodic_timer_between_periods)
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

TEST(get_of_an_expired_timer)
{
	__u64 deadline = now_ns() + MS;
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS, 33));
	expect_readable(fd);
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(3, get.id);
	ASSERT_EQ(deadline, get.deadline_ns);
	ASSERT_EQ(0, get.remaining_ns);
	ASSERT_EQ(33, get.user_data);
	ASSERT_EQ(0, get.period_ns);
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, get.state);
	ASSERT_EQ(0, get.reserved);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
	expect_event(fd, 3, 33);
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

TEST(unread_timers_are_listed)
{
	int fd = session_open_nonblock();
	struct twheel_entry entries[4];

	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	ASSERT_EQ(0, tw_start_periodic(fd, 4, 0, MS));
	expect_unread(fd, 2);
	ASSERT_EQ(2, list_all(fd, entries, 4));
	ASSERT_EQ(3, entries[0].id);
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, entries[0].state);
	ASSERT_EQ(0, entries[0].remaining_ns);
	ASSERT_EQ(4, entries[1].id);
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, entries[1].state);
	ASSERT_EQ(MS, entries[1].period_ns);
	expect_event(fd, 3, 33);
	ASSERT_EQ(1, list_all(fd, entries, 4));
}

static int drain_all(int fd, struct twheel_entry *entries, int piece)
{
	int sum = 0, got;

	while ((got = tw_drain(fd, entries + sum, piece)) > 0)
		sum += got;
	ASSERT_EQ(0, got);
	return sum;
}

static void start_both_kinds(int fd)
{
	__u64 id;
	int i;

	for (i = 0; i < TIMERS; i++) {
		ASSERT_EQ(0, tw_start(fd, i, HOUR, 100 + i));
		ASSERT_EQ(0, tw_start_any(fd, HOUR, 100 + TIMERS + i, &id));
	}
}

/* In pieces of any size each timer is returned once, of both kinds of ids. */
TEST(pieces_of_any_size)
{
	static const int pieces[] = { 1, 2, 7, 44, 45, 46, 300, 1000, 1001 };
	static struct twheel_entry entries[4 * TIMERS + 1];
	int fd = session_open_nonblock(), sum, i, j;
	__u64 started = 2 * TIMERS, drained = 0;

	start_both_kinds(fd);
	for (i = 0; i < 2 * (int)ARRAY_SIZE(pieces); i++) {
		unsigned char seen[2 * TIMERS] = { 0 };

		sum = i % 2 ? drain_all(fd, entries, pieces[i / 2]) :
			      list_all(fd, entries, pieces[i / 2]);
		ASSERT_EQ(2 * TIMERS, sum);
		for (j = 0; j < sum; j++)
			ASSERT_EQ(1, ++seen[entries[j].user_data - 100]);
		if (i % 2) {
			drained += sum;
			EXPECT_STATS(fd, .started = started, .stopped = drained);
			start_both_kinds(fd);
			started += 2 * TIMERS;
		}
	}
	EXPECT_STATS(fd, .started = started, .stopped = drained, .pending = 2 * TIMERS);
}

/* Timers that stay are returned once, while others are started and stopped. */
TEST(timers_that_stay_are_returned_once)
{
	unsigned char seen[TIMERS] = { 0 };
	int fd = open_with_pending(TIMERS), got, i;
	__u64 cursor = 0, seed = 1, id;
	struct twheel_entry entries[3];

	while ((got = tw_list(fd, entries, 3, &cursor)) > 0) {
		for (i = 0; i < got; i++)
			seen[entries[i].id]++;
		/* All that are not a multiple of 5 come and go. */
		for (i = 0; i < 20; i++) {
			id = random_number(&seed) % TIMERS;
			if (id % 5 && tw_stop(fd, id))
				ASSERT_EQ(0, tw_start(fd, id, HOUR, 0));
		}
	}
	ASSERT_EQ(0, got);
	for (i = 0; i < TIMERS; i++)
		ASSERT_LE(seen[i], 1);
	for (i = 0; i < TIMERS; i += 5)
		ASSERT_EQ(1, seen[i]);
}

/* A timer whose callback is on its way is either kind, and not lost. */
TEST(race_with_expiry)
{
	int fd = session_open_nonblock(), round, i, got;
	struct twheel_entry entries[60];
	struct twheel_event events[60];

	for (round = 0; round < 100; round++) {
		pin_cpu(1);
		for (i = 0; i < 50; i++)
			ASSERT_EQ(0, tw_start(fd, i, MS + i * 10 * US, i));
		pin_cpu(0);
		sleep_ns(MS);
		ASSERT_EQ(50, list_all(fd, entries, 60));
		for (got = 0; got < 50; got += i) {
			expect_readable(fd);
			i = tw_read(fd, events, 60);
			ASSERT_LT(0, i);
		}
	}
	expect_balance(fd);
}

/* Entries of a caller who knows more than this kernel. */
struct long_entry {
	struct twheel_entry entry;
	__u64 more[3];
};

static void longer_entries(unsigned long command)
{
	struct long_entry entries[21];
	struct twheel_list list = {
		.entries = (__u64)(unsigned long)entries,
		.count = 20,
		.entry_size = sizeof(entries[0]),
	};
	int fd = open_with_pending(20), i;

	memset(entries, GARBAGE, sizeof(entries));
	ASSERT_EQ(20, tw_ioctl(fd, command, &list));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(i, entries[i].entry.id);
		ASSERT_EQ(100 + i, entries[i].entry.user_data);
		ASSERT_TRUE(is_zero(entries[i].more, sizeof(entries[i].more)));
	}
	ASSERT_TRUE(is_garbage(&entries[20], sizeof(entries[20])));
	ASSERT_EQ(0, tw_ioctl(fd, command, &list));
}

TEST(longer_entries_end_with_zeroes)
{
	longer_entries(TWHEEL_IOC_LIST);
	longer_entries(TWHEEL_IOC_DRAIN);
}

/* An entry that cannot be written is not passed over. */
TEST(fault_in_the_middle)
{
	struct twheel_entry *page = page_end(4 * sizeof(*page) + 8);
	int fd = open_with_pending(10), i;
	struct twheel_entry rest[10];
	__u64 cursor = 0;

	ASSERT_EQ(4, tw_list(fd, page, 10, &cursor));
	ASSERT_EQ(6, tw_list(fd, rest, 10, &cursor));
	for (i = 0; i < 6; i++)
		ASSERT_EQ(4 + i, rest[i].id);
	ASSERT_EQ(0, tw_list(fd, rest, 10, &cursor));
}

/* Beyond the last timer, where a cursor may be after a drain. */
TEST(cursor_beyond_the_timers)
{
	int fd = open_with_pending(10);
	struct twheel_entry entries[4];
	__u64 cursor = 1 << 24;

	ASSERT_EQ(0, tw_list(fd, entries, 4, &cursor));
	ASSERT_EQ(0, tw_list(fd, entries, 4, &cursor));
	cursor = 8;
	ASSERT_EQ(2, tw_list(fd, entries, 4, &cursor));
}

/* Of DRAIN alone. */

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

static unsigned int drain_by_16(int fd)
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
static void race_of_drain(unsigned int cpu_of_start, unsigned int cpu_of_drain)
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
		stopped += drain_by_16(fd);
		seen += read_all(fd);
		EXPECT_STATS(fd, .started = started, .stopped = stopped,
			     .expired = seen, .delivered = seen);
		ASSERT_EQ(started, stopped + seen);
	}
	test_note("%u drained, %u delivered", stopped, seen);
}

TEST(race_of_drain_on_one_cpu)
{
	race_of_drain(0, 0);
}

TEST(race_of_drain_on_another_cpu)
{
	race_of_drain(1, 0);
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
TEST(fault_in_the_middle_of_a_drain)
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
