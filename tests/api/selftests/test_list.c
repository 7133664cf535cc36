// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_LIST returns the timers and changes nothing
 *
 * It shares its structure and its walk with TWHEEL_IOC_DRAIN: cases that are
 * true of both are tried with both.
 */
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
