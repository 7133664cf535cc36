// SPDX-License-Identifier: GPL-2.0
/*
 * Ids chosen by the caller and by the kernel
 *
 * An id of the kernel's choice carries a generation, so a stale id never names a newer timer.
 * A start at the session's limit is refused, and changes nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "harness.h"
#include "session.h"

#define LIMIT	8

static int open_limited(void)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.max_timers = LIMIT }));
	return fd;
}

static void expect_distinct(__u64 *ids, unsigned int count)
{
	unsigned int i;

	qsort(ids, count, sizeof(*ids), compare_u64);
	for (i = 1; i < count; i++)
		ASSERT_NE(ids[i - 1], ids[i]);
}

/* Check that no operation accepts the stale @id. */
static void expect_stale(int fd, __u64 id)
{
	struct twheel_stats before, after;

	ASSERT_EQ(0, tw_stats(fd, &before));
	expect_no_timer(fd, id);
	ASSERT_EQ(-ENOENT, tw_start(fd, id, HOUR, 99));
	ASSERT_EQ(-ENOENT, tw_stop(fd, id));
	ASSERT_EQ(0, tw_stats(fd, &after));
	ASSERT_EQ(before.started, after.started);
	ASSERT_EQ(before.restarted, after.restarted);
	ASSERT_EQ(before.stopped, after.stopped);
	ASSERT_EQ(before.replaced, after.replaced);
	ASSERT_EQ(before.pending, after.pending);
}

TEST(the_two_kinds_never_meet)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;
	__u64 ids[200];
	int i;

	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, tw_start(fd, i, HOUR, i));
		ASSERT_EQ(0, tw_start_any(fd, HOUR, 1000 + i, &ids[i]));
	}
	EXPECT_STATS(fd, .started = 400, .pending = 400);
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, tw_get(fd, i, &get));
		ASSERT_EQ(i, get.user_data);
		ASSERT_EQ(0, tw_get(fd, ids[i], &get));
		ASSERT_EQ(1000 + i, get.user_data);
		ASSERT_EQ(0, tw_stop(fd, ids[i]));
		ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, i));
	}
	EXPECT_STATS(fd, .started = 400, .pending = 200, .stopped = 200);
}

/* A stale id must remain stale, however often its place in the table is reused. */
TEST(stale_id_never_hits_a_newer_timer)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;
	static __u64 ids[3000];
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		ASSERT_EQ(0, tw_start_any(fd, HOUR, i, &ids[i]));
		for (j = i > 3 ? i - 3 : 0; j < i; j++)
			expect_stale(fd, ids[j]);
		if (i)
			expect_stale(fd, ids[i / 2]);
		ASSERT_EQ(0, tw_get(fd, ids[i], &get));
		ASSERT_EQ(i, get.user_data);
		ASSERT_EQ(0, tw_stop(fd, ids[i]));
	}
	expect_distinct(ids, ARRAY_SIZE(ids));
	EXPECT_STATS(fd, .started = i, .stopped = i);
}

/* An id with one wrong bit must not name the timer. */
TEST(kernel_id_is_exact)
{
	int fd = session_open_nonblock();
	__u64 id;
	int bit;

	ASSERT_EQ(0, tw_start_any(fd, HOUR, 33, &id));
	for (bit = 0; bit < 63; bit++)
		expect_no_timer(fd, id ^ (1ULL << bit));
	ASSERT_EQ(-EINVAL, tw_stop(fd, id ^ TWHEEL_ID_KERNEL));
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, id));
}

TEST(kernel_ids_of_two_sessions_differ)
{
	int first = session_open_nonblock();
	int second = session_open_nonblock();
	__u64 ids[2][10];
	int i, j;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, tw_start_any(first, HOUR, 1, &ids[0][i]));
		ASSERT_EQ(0, tw_start_any(second, HOUR, 2, &ids[1][i]));
	}
	for (i = 0; i < 10; i++)
		for (j = 0; j < 10; j++)
			ASSERT_NE(ids[0][i], ids[1][j]);
	for (i = 0; i < 10; i++)
		ASSERT_EQ(-ENOENT, tw_stop(second, ids[0][i]));
	EXPECT_STATS(second, .started = 10, .pending = 10);
}

TEST(ids_far_apart)
{
	int fd = session_open_nonblock();
	struct twheel_info info;
	struct twheel_entry get;
	unsigned int i, n = 0;
	__u64 ids[200];

	ASSERT_EQ(0, tw_info(fd, &info));
	for (i = 0; i < 64 && (1ULL << i) < info.max_timers; i++) {
		ids[n++] = (1ULL << i) - 1;
		if (i)
			ids[n++] = 1ULL << i;
	}
	ids[n++] = info.max_timers - 1;
	qsort(ids, n, sizeof(*ids), compare_u64);
	for (i = 0; i < n; i++) {
		if (i && ids[i] == ids[i - 1])
			ids[i] = info.max_timers / 3;
		ASSERT_EQ(0, tw_start(fd, ids[i], HOUR, ~ids[i]));
	}
	EXPECT_STATS(fd, .started = n, .pending = n);
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, tw_get(fd, ids[i], &get));
		ASSERT_EQ(~ids[i], get.user_data);
		ASSERT_EQ(0, tw_stop(fd, ids[i]));
	}
	EXPECT_STATS(fd, .started = n, .stopped = n);
}

TEST(enospc_counts_both_kinds_of_ids)
{
	int fd = open_limited();
	__u64 id, other;
	int i;

	for (i = 0; i < LIMIT / 2; i++) {
		ASSERT_EQ(0, tw_start(fd, i, HOUR, i));
		ASSERT_EQ(0, tw_start_any(fd, HOUR, i, &id));
	}
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(-ENOSPC, tw_start(fd, LIMIT - 1, HOUR, 99));
		expect_no_timer(fd, LIMIT - 1);
		ASSERT_EQ(-ENOSPC, tw_start_any(fd, HOUR, 99, &other));
		ASSERT_EQ(1, tw_start(fd, 3, HOUR, 33));
		ASSERT_EQ(0, tw_stop(fd, id));
		ASSERT_EQ(0, tw_start_any(fd, HOUR, i, &id));
	}
	EXPECT_STATS(fd, .started = LIMIT + 100, .restarted = 100, .stopped = 100,
		     .pending = LIMIT);
}

TEST(enospc_counts_unread_events)
{
	int fd = open_limited();
	struct twheel_event event;
	__u64 id;
	int i;

	for (i = 1; i < LIMIT; i++)
		ASSERT_EQ(0, tw_start_any(fd, 0, i, &id));
	ASSERT_EQ(0, tw_start(fd, 0, 0, 0));
	expect_unread(fd, LIMIT);
	ASSERT_EQ(-ENOSPC, tw_start_any(fd, HOUR, 99, &id));
	ASSERT_EQ(2, tw_start(fd, 0, HOUR, 33));
	ASSERT_EQ(-ENOSPC, tw_start_any(fd, HOUR, 99, &id));
	EXPECT_STATS(fd, .started = LIMIT + 1, .expired = LIMIT, .replaced = 1,
		     .unread = LIMIT - 1, .pending = 1);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(0, tw_start_any(fd, HOUR, 99, &id));
	ASSERT_EQ(-ENOSPC, tw_start_any(fd, HOUR, 99, &id));
}
