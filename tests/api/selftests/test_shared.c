// SPDX-License-Identifier: GPL-2.0
/*
 * Words in shared memory: a store delays a timer, or stops it
 *
 * A case starts a timer with an interval of 0. The deadline in its word is an hour away, or passed
 * long ago, so that the result does not depend on the machine's speed.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"
#include "words.h"

/* What a word means. */

TEST(a_later_word_carries_the_timer_on)
{
	__u64 *words, deadline = now_ns() + HOUR;
	int fd = open_shared(&words);
	struct twheel_entry entry;
	struct twheel_stats stats;

	store(&words[3], deadline);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	EXPECT_STAT(fd, carried, 1);
	ASSERT_EQ(0, tw_get(fd, 3, &entry));
	ASSERT_EQ(deadline, entry.deadline_ns);
	ASSERT_LE(entry.remaining_ns, HOUR);
	ASSERT_EQ(33, entry.user_data);
	ASSERT_EQ(TWHEEL_STATE_PENDING, entry.state);
	expect_nothing(fd, 20 * MS);
	EXPECT_STATS(fd, .started = 1, .pending = 1, .carried = 1);
	expect_balance(fd);
	/* a tick that moves the timer must not wake a reader */
	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_EQ(0, stats.wakeups);
}

TEST(it_expires_at_the_word_and_not_before)
{
	__u64 *words, deadline;
	int fd = open_shared(&words);
	struct twheel_event event;

	deadline = now_ns() + test_patience() * 100 * MS;
	store(&words[3], deadline);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_readable(fd);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(33, event.user_data);
	ASSERT_LE(deadline, event.expired_ns);
	if (!stats_of(fd).carried)
		test_slow();
	ASSERT_EQ(deadline, event.deadline_ns);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1,
		     .carried = 1);
	expect_balance(fd);
}

TEST(a_word_that_has_passed_expires)
{
	__u64 *words;
	int fd = open_shared(&words);

	store(&words[3], 1);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_event(fd, 3, 33);
	store(&words[3], now_ns());
	ASSERT_EQ(0, tw_start(fd, 3, 0, 34));
	expect_event(fd, 3, 34);
	EXPECT_STATS(fd, .started = 2, .expired = 2, .delivered = 2);
}

TEST(the_largest_word_stops_without_an_event)
{
	__u64 *words;
	int fd = open_shared(&words);

	store(&words[3], STOP);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	EXPECT_STAT(fd, stopped_by_store, 1);
	expect_nothing(fd, 20 * MS);
	expect_no_timer(fd, 3);
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 1, .stopped = 1, .stopped_by_store = 1);
	expect_balance(fd);
	/* a word is valid until the program stores another one */
	ASSERT_EQ(0, tw_start(fd, 3, 0, 34));
	EXPECT_STAT(fd, stopped_by_store, 2);
	store(&words[3], TWHEEL_WORD_NONE);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 35));
	expect_event(fd, 3, 35);
	EXPECT_STATS(fd, .started = 3, .stopped = 2, .stopped_by_store = 2,
		     .expired = 1, .delivered = 1);
	expect_balance(fd);
}

/* A word beyond the latest deadline that a START takes counts as that deadline. */
TEST(words_beyond_all_deadlines)
{
	static const __u64 far[] = {
		STOP - 1, INTERVAL_MAX + 1, INTERVAL_MAX, INTERVAL_MAX - 1,
	};
	__u64 *words;
	int fd = open_shared(&words);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		store(&words[i], far[i]);
		ASSERT_EQ(0, tw_start(fd, i, 0, 33));
		EXPECT_STAT(fd, carried, i + 1);
		ASSERT_EQ(far[i] < INTERVAL_MAX ? far[i] : INTERVAL_MAX,
			  deadline_of(fd, i));
	}
}

/* A read must check the word again. */
TEST(a_store_while_the_event_is_unread)
{
	__u64 *words, deadline;
	int fd = open_shared(&words);
	struct twheel_event event;
	struct twheel_entry entry;

	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_unread(fd, 1);
	deadline = now_ns() + HOUR;
	store(&words[3], deadline);
	ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
	ASSERT_EQ(0, tw_get(fd, 3, &entry));
	ASSERT_EQ(TWHEEL_STATE_PENDING, entry.state);
	ASSERT_EQ(deadline, entry.deadline_ns);
	ASSERT_EQ(33, entry.user_data);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .replaced = 1, .rearmed = 1,
		     .pending = 1, .carried = 1);
	expect_balance(fd);
	/* A word beyond all deadlines delays the timer. A word that is not later does not. */
	store(&words[3], STOP - 1);
	ASSERT_EQ(1, tw_start(fd, 3, 0, 34));
	EXPECT_STAT(fd, carried, 2);
	ASSERT_EQ(INTERVAL_MAX, deadline_of(fd, 3));
	ASSERT_EQ(0, tw_stop(fd, 3));
	store(&words[3], 1);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 35));
	expect_unread(fd, 1);
	ASSERT_EQ(0, tw_get(fd, 3, &entry));
	store(&words[3], entry.deadline_ns);
	expect_event(fd, 3, 35);
	expect_balance(fd);
}

/* A read must withdraw the event of a timer that a store stopped. */
TEST(a_stop_by_store_while_the_event_is_unread)
{
	__u64 *words;
	int fd = open_shared(&words);
	struct twheel_event event;

	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	ASSERT_EQ(0, tw_start_periodic(fd, 4, 0, MS));
	expect_unread(fd, 2);
	store(&words[3], STOP);
	store(&words[4], STOP);
	ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
	expect_no_timer(fd, 3);
	expect_no_timer(fd, 4);
	EXPECT_STATS(fd, .started = 2, .expired = 2, .withdrawn = 2,
		     .stopped_by_store = 2);
	expect_balance(fd);
	/* the next timer with this id must have its event */
	store(&words[3], TWHEEL_WORD_NONE);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 34));
	expect_event(fd, 3, 34);
}

/*
 * More timers were refreshed than a read handles under one hold of the session's lock. The read
 * must go on to the events behind them.
 */
TEST(a_read_goes_on_after_many_stores)
{
	struct twheel_event events[3];
	__u64 *words;
	int fd = open_shared(&words), i;

	for (i = 0; i < IDS; i++)
		ASSERT_EQ(0, tw_start(fd, i, 0, i));
	expect_unread(fd, IDS);
	for (i = 0; i < IDS; i++)
		if (i != 100 && i != IDS - 1)
			store(&words[i], now_ns() + HOUR + i);
	ASSERT_EQ(1, tw_read(fd, &events[0], 1));
	ASSERT_EQ(1, tw_read(fd, &events[1], 2));
	/* the starts may be on several CPUs, whose events have no common order */
	ASSERT_EQ(100 + IDS - 1, events[0].id + events[1].id);
	ASSERT_EQ(-EAGAIN, tw_read(fd, events, 2));
	EXPECT_STATS(fd, .started = IDS, .expired = IDS, .delivered = 2,
		     .replaced = IDS - 2, .rearmed = IDS - 2, .carried = IDS - 2,
		     .pending = IDS - 2);
	expect_balance(fd);
}

#define LIVES		100

/**
 * struct lives - timers that a program starts LIVES times, while a thread reads
 * @fd: the session. Each of its ids has a timer, and each start of it begins a life
 * @read: number of events that the thread read, by life and id
 * @over: the thread may end when nothing is left to read
 */
static struct lives {
	int fd;
	unsigned char read[LIVES][IDS];
	bool over;
} lives;

/*
 * Read events one by one. This is slow, so that most events are still unread when their ids get
 * another word.
 */
static void *read_one_by_one(void *unused)
{
	struct twheel_event event;
	ssize_t got = 0;

	(void)unused;
	while (got > 0 || !READ_ONCE(lives.over)) {
		got = tw_read(lives.fd, &event, 1);
		if (got > 0)
			ASSERT_EQ(1, ++lives.read[event.user_data][event.id]);
	}
	return NULL;
}

/* Wait until some event is unread, or no timer is pending. */
static void await_events(void)
{
	struct twheel_stats stats;

	do {
		stats = stats_of(lives.fd);
	} while (stats.pending && !stats.unread);
}

/*
 * As twheel_start_at() does, store the new deadline in the word, and then start the timer with it.
 * A read in between finds the word of a START that did not come yet, and must not lose the event.
 */
TEST(no_event_is_lost_when_a_start_meets_a_read)
{
	static unsigned char results[LIVES][IDS];
	unsigned int life, id, count[3] = { 0 };
	__u64 *words, deadline;
	pthread_t reader;

	lives.fd = open_shared(&words);
	reader = thread_run(read_one_by_one, NULL);
	for (life = 0; life < LIVES; life++) {
		deadline = now_ns() + 2 * MS;
		for (id = 0; id < IDS; id++)
			store(&words[id], deadline);
		/* give the thread time to read */
		sleep_ns(100 * US);
		for (id = 0; id < IDS; id++) {
			results[life][id] = tw_start_flags(lives.fd, id, deadline,
							   TWHEEL_START_ABS, life);
			ASSERT_LE(results[life][id], 2);
		}
		await_events();
	}
	while (stats_of(lives.fd).pending || stats_of(lives.fd).unread)
		sleep_ns(MS);
	WRITE_ONCE(lives.over, true);
	thread_join(reader);
	/* A life ends by its event, or by a later START that returns 1 or 2. */
	for (life = 0; life < LIVES; life++) {
		for (id = 0; id < IDS; id++) {
			bool last = life == LIVES - 1;

			ASSERT_EQ(last || !results[life + 1][id], lives.read[life][id]);
			count[results[life][id]]++;
		}
	}
	test_note("starts that returned 0, 1, 2: %u, %u, %u; rearmed by a read: %llu", count[0],
		  count[1], count[2], stats_of(lives.fd).rearmed);
	expect_balance(lives.fd);
	if (!stats_of(lives.fd).rearmed)
		test_slow();
}

/* Which ids have a word. */

TEST(ids_without_a_word)
{
	__u32 ids = IDS / 2, i;
	__u64 *words, any;
	int fd = session_open_nonblock();

	ASSERT_EQ(0, setup_shared(fd, ids));
	words = map_words(fd, ids);
	/* Store up to the end of the page, which is beyond the last id. */
	for (i = 0; i < page_size() / sizeof(__u64); i++)
		store(&words[i], STOP);
	ASSERT_EQ(0, tw_start(fd, ids, 0, 33));
	expect_event(fd, ids, 33);
	ASSERT_EQ(0, tw_start_any(fd, 0, 34, &any));
	expect_event(fd, any, 34);
	ASSERT_EQ(0, tw_start(fd, ids - 1, 0, 35));
	EXPECT_STAT(fd, stopped_by_store, 1);
	ASSERT_EQ(0, tw_start(fd, 0, 0, 36));
	EXPECT_STAT(fd, stopped_by_store, 2);
	expect_balance(fd);
}

/* Setting up words. */

/* Documentation/user-api.rst, TWHEEL_IOC_SETUP: EOPNOTSUPP on machines without words. */
TEST(refused_where_there_are_none)
{
	int fd = session_open_nonblock(), words = has_words();
	struct twheel_info info;

	ASSERT_EQ(words ? 0 : -EOPNOTSUPP,
		  tw_setup(fd, (struct twheel_setup){ .shared_ids = IDS }));
	ASSERT_EQ(0, tw_info(fd, &info));
	ASSERT_EQ(words ? IDS : 0, info.shared_ids);
	if (!words)
		ASSERT_EQ(-ENODEV, try_map(fd, page_size(), PROT_READ, MAP_SHARED, 0));
	ASSERT_EQ(0, tw_start(fd, 3, MS, 33));
	expect_event(fd, 3, 33);
}

TEST(words_are_never_resized)
{
	struct twheel_info info;
	__u64 *words;
	int fd = open_shared(&words);

	store(&words[3], 33);
	ASSERT_EQ(-EBUSY, setup_shared(fd, IDS + 1));
	ASSERT_EQ(-EBUSY, setup_shared(fd, IDS - 1));
	ASSERT_EQ(-EBUSY, setup_shared(fd, 0));
	/* other settings can be changed until the first start */
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.max_timers = IDS, .shared_ids = IDS }));
	ASSERT_EQ(0, tw_info(fd, &info));
	ASSERT_EQ(IDS, info.shared_ids);
	ASSERT_EQ(IDS, info.max_timers);
	ASSERT_EQ(33, load(&words[3]));
	expect_carried(fd, &words[3], 3);
	ASSERT_EQ(-EBUSY, setup_shared(fd, IDS));
	expect_carried(fd, &words[3], 3);
}

/*
 * SETUP accepts words for all possible ids, because a page of words is allocated only when a
 * program touches it.
 */
TEST(a_word_that_was_not_touched_is_none)
{
	const __u32 ids = 1 << 22, each = page_size() / sizeof(__u64);
	int fd = session_open_nonblock();
	__u64 *words;

	need_words();
	ASSERT_EQ(0, setup_shared(fd, ids));
	words = map_words(fd, ids);
	/* the pages of these words do not exist */
	ASSERT_EQ(0, tw_start(fd, ids - 1, 0, 33));
	expect_event(fd, ids - 1, 33);
	ASSERT_EQ(0, tw_start(fd, 5 * each, 0, 44));
	expect_event(fd, 5 * each, 44);
	/*
	 * Store into such a page while a timer with a word in it is pending. Make the timer due
	 * only after that, because the page fault may take long.
	 */
	ASSERT_EQ(0, tw_start(fd, ids - 1, HOUR, 33));
	store(&words[ids - 1], STOP);
	ASSERT_EQ(1, tw_start(fd, ids - 1, 0, 33));
	while (tw_state(fd, ids - 1) == TWHEEL_STATE_PENDING)
		sleep_ns(MS);
	ASSERT_EQ(-ENOENT, tw_state(fd, ids - 1));
	EXPECT_STATS(fd, .started = 3, .restarted = 1, .expired = 2, .delivered = 2,
		     .stopped = 1, .stopped_by_store = 1);
	/* A load makes a page, too. */
	ASSERT_EQ(0, load(&words[7 * each]));
	expect_carried(fd, &words[7 * each], 7 * each);
	expect_carried(fd, &words[ids - 2], ids - 2);
}

TEST(words_are_in_the_time_of_the_setup)
{
	int inside = session_open_nonblock(), outside = session_open_nonblock();
	__u64 before = now_ns();
	pid_t pid;

	ASSERT_EQ(0, setup_shared(outside, IDS));
	children_in_time_ns();
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		ASSERT_LE(before + TIMENS_MONOTONIC * SECOND, now_ns());
		ASSERT_EQ(0, setup_shared(inside, IDS));
		expect_carried(inside, map_words(inside, IDS) + 3, 3);
		/* this time was before the host's clock began */
		store(map_words(inside, IDS) + 4, (TIMENS_MONOTONIC - 100) * SECOND);
		ASSERT_EQ(0, tw_start(inside, 4, 0, 44));
		expect_event(inside, 4, 44);
		_exit(0);
	}
	expect_child(pid);
	expect_carried(outside, map_words(outside, IDS) + 3, 3);
}
