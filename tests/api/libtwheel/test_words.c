// SPDX-License-Identifier: GPL-2.0
/*
 * How the library uses words: before a start, and when it reads an event
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "util.h"

#define IDS	16

static void expire(struct twheel *t, __u64 id, __u64 user_data)
{
	struct twheel_stats stats;

	ASSERT_EQ(0, twheel_stats(t, &stats));
	ASSERT_EQ(0, twheel_start(t, id, 0, user_data));
	expect_unread_of(t, stats.unread + 1);
}

TEST_SESSION(a_start_stores_its_deadline, { .shared_ids = IDS })
{
	ASSERT_EQ(0, twheel_start(t, 3, HOUR, 33));
	ASSERT_EQ(deadline_of(t, 3), twheel_word(t, 3));
	ASSERT_EQ(1, twheel_start(t, 3, INTERVAL_MAX, 33));
	ASSERT_EQ(INTERVAL_MAX, twheel_word(t, 3));
	ASSERT_EQ(INTERVAL_MAX, deadline_of(t, 3));
}

TEST_SESSION(a_start_that_fails_leaves_the_word, { .shared_ids = IDS })
{
	__u64 word = twheel_now() + HOUR, id = 3;
	struct twheel_event event;

	ASSERT_EQ(0, twheel_start(t, 3, HOUR, 33));
	twheel_refresh(t, 3, word);
	ASSERT_EQ(-EINVAL, twheel_start(t, 3, INTERVAL_MAX + 1, 33));
	ASSERT_EQ(-EINVAL, twheel_start_at(t, 3, INTERVAL_MAX + 1, 33));
	ASSERT_EQ(-EINVAL, twheel_start_periodic(t, 3, 0, INTERVAL_MAX + 1, 33));
	ASSERT_EQ(-EINVAL, twheel_start_flags(t, &id, 0, 0, 33, 1U << 31));
	ASSERT_EQ(word, twheel_word(t, 3));
	/*
	 * The failed starts below must leave the word as it is. Otherwise the read would drop the
	 * event of the expired timer as one that was refreshed late.
	 */
	ASSERT_EQ(0, twheel_stop(t, 3));
	expire(t, 3, 33);
	ASSERT_EQ(-EINVAL, twheel_start_flags(t, &id, HOUR, 0, 34, 2));
	ASSERT_EQ(-EINVAL, twheel_start_periodic(t, 3, HOUR, INTERVAL_MAX + 1, 34));
	ASSERT_EQ(1, twheel_read(t, &event, 1));
	ASSERT_EQ(33, event.user_data);
}

/* A push to a later deadline only stores the word. A push to an earlier one starts the timer. */
TEST_SESSION(a_push_both_ways, { .shared_ids = IDS })
{
	__u64 now = twheel_now();
	struct twheel_event event;

	ASSERT_EQ(0, twheel_push(t, 3, now + HOUR, 33));
	ASSERT_EQ(0, twheel_push(t, 3, now + 3 * HOUR, 34));
	ASSERT_EQ(now + HOUR, deadline_of(t, 3));
	ASSERT_EQ(now + 3 * HOUR, twheel_word(t, 3));
	/* this deadline is earlier than the word, but later than the kernel's deadline */
	ASSERT_EQ(0, twheel_push(t, 3, now + 2 * HOUR, 35));
	ASSERT_EQ(now + 2 * HOUR, twheel_word(t, 3));
	ASSERT_EQ(now + 2 * HOUR, deadline_of(t, 3));
	/* the word says that the timer is stopped */
	twheel_stop_by_store(t, 3);
	ASSERT_EQ(0, twheel_push(t, 3, now + HOUR, 33));
	ASSERT_EQ(now + HOUR, twheel_word(t, 3));
	ASSERT_EQ(now + HOUR, deadline_of(t, 3));
	ASSERT_EQ(-EINVAL, twheel_push(t, 3, TWHEEL_WORD_STOP, 33));
	ASSERT_EQ(-EINVAL, twheel_push(t, 3, INTERVAL_MAX + 1, 33));
	ASSERT_EQ(-EINVAL, twheel_push(t, TWHEEL_ID_ANY, now, 33));
	ASSERT_EQ(now + HOUR, twheel_word(t, 3));
	ASSERT_EQ(0, twheel_push(t, 3, now, 36));
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(36, event.user_data);
	EXPECT_STATS(twheel_fd(t), .started = 1, .restarted = 3, .expired = 1,
		     .delivered = 1);
	/* this id has no word */
	ASSERT_EQ(0, twheel_push(t, IDS, now + HOUR, 33));
	ASSERT_EQ(0, twheel_push(t, IDS, now + 2 * HOUR, 33));
	ASSERT_EQ(now + 2 * HOUR, deadline_of(t, IDS));
}

/* A push must withdraw the unread event. */
TEST_SESSION(a_push_while_the_event_is_unread, { .shared_ids = IDS })
{
	__u64 deadline = twheel_now() + HOUR;
	struct twheel_event event;

	expire(t, 3, 33);
	ASSERT_EQ(0, twheel_push(t, 3, deadline + HOUR, 34));
	ASSERT_EQ(0, twheel_push(t, 3, deadline, 35));
	ASSERT_EQ(deadline, twheel_word(t, 3));
	ASSERT_EQ(deadline, deadline_of(t, 3));
	ASSERT_EQ(0, twheel_read(t, &event, 1));
	ASSERT_EQ(0, twheel_stop(t, 3));
	expire(t, 3, 36);
	ASSERT_EQ(0, twheel_push(t, 3, deadline, 37));
	ASSERT_EQ(0, twheel_read(t, &event, 1));
	ASSERT_EQ(deadline, deadline_of(t, 3));
}

TEST_SESSION(a_start_in_each_state, { .shared_ids = IDS })
{
	struct twheel_event event;

	ASSERT_EQ(0, twheel_start(t, 3, HOUR, 33));
	ASSERT_EQ(1, twheel_start(t, 3, 0, 33));
	expect_unread_of(t, 1);
	ASSERT_EQ(2, twheel_start(t, 3, HOUR, 34));
	ASSERT_EQ(0, twheel_read(t, &event, 1));
	ASSERT_EQ(TWHEEL_STATE_PENDING, state_of(t, 3));
	ASSERT_EQ(-EINVAL, twheel_start(t, TWHEEL_ID_ANY, 0, 33));
}

/* A start must succeed although the id has an unread event, of a timer that a store stopped. */
TEST_SESSION(a_start_after_a_late_stop, { .shared_ids = IDS })
{
	struct twheel_batch *batch;
	struct twheel_event event;

	expire(t, 3, 33);
	twheel_stop_by_store(t, 3);
	ASSERT_EQ(2, twheel_start(t, 3, 0, 34));
	expect_unread_of(t, 1);
	twheel_stop_by_store(t, 3);
	ASSERT_EQ(0, twheel_batch_new(t, 1, &batch));
	ASSERT_EQ(1, twheel_batch_start(batch, 3, 0, 35));
	ASSERT_EQ(0, twheel_batch_failed(batch));
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(35, event.user_data);
	EXPECT_STATS(twheel_fd(t), .started = 3, .expired = 3, .replaced = 2,
		     .delivered = 1);
	twheel_batch_free(batch);
}

TEST_SESSION(a_periodic_timer_goes_on, { .shared_ids = IDS })
{
	struct twheel_event event;

	ASSERT_EQ(0, twheel_start_periodic(t, 3, 0, HOUR, 33));
	expect_unread_of(t, 1);
	twheel_refresh(t, 3, twheel_now() + HOUR);
	ASSERT_EQ(1, twheel_read(t, &event, 1));
	ASSERT_EQ(TWHEEL_EVENT_PERIODIC, event.flags);
	ASSERT_EQ(0, twheel_stop(t, 3));
	/* A stop by store drops the event, and ends the timer. */
	ASSERT_EQ(0, twheel_start_periodic(t, 3, 0, 10 * MS, 33));
	expect_unread_of(t, 1);
	twheel_stop_by_store(t, 3);
	ASSERT_EQ(0, twheel_wait(t, &event, 1, 50 * MS));
	ASSERT_EQ(-ENOENT, twheel_stop(t, 3));
	ASSERT_EQ(0, twheel_start(t, 4, 0, 44));
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(4, event.id);
}

/*
 * Under a limit of the address space (ulimit -v), only the words that the setup asks for may count.
 */
TEST(words_within_a_limit_of_addresses)
{
	const rlim_t room = 64 << 20;
	struct rlimit before, limit;
	unsigned long pages;
	struct twheel *t;
	FILE *statm = fopen("/proc/self/statm", "r");

	ASSERT_TRUE(statm);
	ASSERT_EQ(1, fscanf(statm, "%lu", &pages));
	fclose(statm);
	ASSERT_EQ(0, getrlimit(RLIMIT_AS, &before));
	limit = before;
	limit.rlim_cur = (rlim_t)pages * sysconf(_SC_PAGESIZE) + room;
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
	t = open_words(IDS);
	expire(t, 3, 33);
	twheel_close(t);
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &before));
}
