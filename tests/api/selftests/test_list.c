// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_GET describes a timer, TWHEEL_IOC_LIST describes all timers, and TWHEEL_LIST_DRAIN
 * removes them
 *
 * GET and LIST share one structure for a timer. Most cases try LIST with and without the drain.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("fault_*");

#define TIMERS	500
#define THREADS	4

static int open_with_pending(int count)
{
	int fd = session_open_nonblock();
	int i;

	for (i = 0; i < count; i++)
		ASSERT_EQ(0, tw_start(fd, i, HOUR, 100 + i));
	return fd;
}

/* List all timers in calls of @piece entries, as a program does. */
static int list_all(int fd, struct twheel_entry *entries, int piece)
{
	__u64 cursor = 0;
	int sum = 0, got;

	while ((got = tw_list(fd, entries + sum, piece, &cursor)) > 0)
		sum += got;
	ASSERT_EQ(0, got);
	return sum;
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

static int drain_pieces(int fd, struct twheel_entry *entries, int piece)
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

/* LIST and drain must return each timer once, however many entries a call has room for. */
TEST(pieces_of_any_size)
{
	static const int pieces[] = { 1, 2, 7, 45, 46, 47, 300, 1000, 1001 };
	static struct twheel_entry entries[4 * TIMERS + 1];
	int fd = session_open_nonblock(), sum, i, j;
	__u64 started = 2 * TIMERS, drained = 0;

	start_both_kinds(fd);
	for (i = 0; i < 2 * (int)ARRAY_SIZE(pieces); i++) {
		unsigned char seen[2 * TIMERS] = { 0 };

		sum = i % 2 ? drain_pieces(fd, entries, pieces[i / 2]) :
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

/* An entry that cannot be written must be returned by the next call. */
TEST(fault_in_the_middle)
{
	struct twheel_entry rest[10] = { 0 };
	void *entries = partly_usable(rest, sizeof(rest), 4 * sizeof(rest[0]) + 8, PROT_READ);
	int fd = open_with_pending(10), i;
	__u64 cursor = 0;

	ASSERT_EQ(4, tw_list(fd, entries, 10, &cursor));
	ASSERT_EQ(6, tw_list(fd, rest, 10, &cursor));
	for (i = 0; i < 6; i++)
		ASSERT_EQ(4 + i, rest[i].id);
	ASSERT_EQ(0, tw_list(fd, rest, 10, &cursor));
}

/* A drain may return a cursor beyond the last timer, so a LIST must accept such a cursor. */
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

/*
 * Start @count timers. One in four is due in an hour, the others now or soon. Every other timer has
 * a period.
 */
static void start_around_now(int fd, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		ASSERT_EQ(0, tw_start_periodic(fd, i, i % 4 ? i * 10 * US : HOUR, i % 2 * MS));
}

/* Check that a session is empty after drains returned @pending and @unread timers. */
static void expect_drained(int fd, __u64 pending, __u64 unread)
{
	struct twheel_event event;
	struct twheel_entry entry;
	__u64 cursor = 0;

	EXPECT_STATS(fd, .started = pending + unread, .stopped = pending, .expired = unread,
		     .withdrawn = unread);
	ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
	ASSERT_EQ(0, tw_list(fd, &entry, 1, &cursor));
}

/* A single call must return each timer once, and leave the session empty. */
TEST(drain_of_pending_and_unread_timers)
{
	struct twheel_entry entries[TIMERS + 1];
	int fd = session_open_nonblock(), i, unread = 0;
	__u64 before;

	start_around_now(fd, TIMERS);
	while (stats_of(fd).unread < TIMERS / 4)
		sleep_ns(MS);
	before = stats_of(fd).unread;
	ASSERT_EQ(TIMERS, tw_drain(fd, entries, TIMERS + 1));
	for (i = 0; i < TIMERS; i++) {
		ASSERT_EQ(i, entries[i].id);
		ASSERT_EQ(i % 2 * MS, entries[i].period_ns);
		if (entries[i].state == TWHEEL_STATE_EXPIRED)
			unread++;
		else
			ASSERT_EQ(TWHEEL_STATE_PENDING, entries[i].state);
	}
	ASSERT_LE(before, unread);
	expect_drained(fd, TIMERS - unread, unread);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_event(fd, 3, 33);
}

/* Data that the threads of a case share. */
static struct {
	int fd;
	unsigned char seen[TIMERS];
	unsigned int states[TWHEEL_STATE_EXPIRED + 1];
} drained;

static void *drain_in_pieces(void *unused)
{
	struct twheel_entry entries[7];
	int got, i;

	(void)unused;
	while ((got = tw_drain(drained.fd, entries, ARRAY_SIZE(entries))) > 0) {
		for (i = 0; i < got; i++) {
			ASSERT_EQ(0, __atomic_fetch_add(&drained.seen[entries[i].id], 1,
							__ATOMIC_RELAXED));
			__atomic_fetch_add(&drained.states[entries[i].state], 1, __ATOMIC_RELAXED);
		}
	}
	ASSERT_EQ(0, got);
	return NULL;
}

/* Several threads drain a session while its timers expire. Each timer must be returned once. */
TEST(drain_by_several_threads)
{
	pthread_t threads[THREADS];
	unsigned int i;

	drained.fd = session_open_nonblock();
	start_around_now(drained.fd, TIMERS);
	for (i = 0; i < THREADS; i++)
		threads[i] = thread_run(drain_in_pieces, NULL);
	for (i = 0; i < THREADS; i++)
		thread_join(threads[i]);
	ASSERT_EQ(TIMERS, drained.states[TWHEEL_STATE_PENDING] +
			  drained.states[TWHEEL_STATE_EXPIRED]);
	expect_drained(drained.fd, drained.states[TWHEEL_STATE_PENDING],
		       drained.states[TWHEEL_STATE_EXPIRED]);
}
