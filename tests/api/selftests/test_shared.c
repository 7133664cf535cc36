// SPDX-License-Identifier: GPL-2.0
/*
 * Words in shared memory: a store pushes a timer back, or stops it
 *
 * A timer that is to come due is started with an interval of 0. The deadline in
 * its word is then an hour away, or has passed long ago, so that the machine's
 * speed makes no difference.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"
#include "stranger.h"
#include "words.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x80
#endif

static __u64 stopped_by_store(int fd)
{
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	return stats.stopped_by_store;
}

/* What a word says. */

TEST(a_later_word_carries_the_timer_on)
{
	__u64 *words, deadline = now_ns() + HOUR;
	int fd = open_shared(&words);
	struct twheel_entry entry;
	struct twheel_stats stats;

	store(&words[3], deadline);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_count(carried, fd, 1);
	ASSERT_EQ(0, tw_get(fd, 3, &entry));
	ASSERT_EQ(deadline, entry.deadline_ns);
	ASSERT_LE(entry.remaining_ns, HOUR);
	ASSERT_EQ(33, entry.user_data);
	ASSERT_EQ(TWHEEL_STATE_PENDING, entry.state);
	expect_nothing(fd, 20 * MS);
	EXPECT_STATS(fd, .started = 1, .pending = 1, .carried = 1);
	expect_balance(fd);
	/* Nobody was woken for it. */
	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_EQ(0, stats.wakeups);
}

/* If the machine is too slow the word has passed, and nothing is carried on. */
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
	if (!carried(fd))
		test_slow();
	ASSERT_EQ(deadline, event.deadline_ns);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1,
		     .carried = 1);
	expect_balance(fd);
}

/* A hundred stores are one move. */
TEST(many_stores_carry_it_on_once)
{
	__u64 *words;
	int fd = open_shared(&words);
	int i;

	for (i = 0; i < 100; i++)
		store(&words[3], now_ns() + HOUR + i);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_count(carried, fd, 1);
	for (i = 0; i < 100; i++)
		store(&words[3], now_ns() + 2 * HOUR + i);
	sleep_ns(20 * MS);
	EXPECT_STATS(fd, .started = 1, .pending = 1, .carried = 1);
}

TEST(nothing_stored_yet_expires)
{
	__u64 *words;
	int fd = open_shared(&words);

	ASSERT_EQ(TWHEEL_WORD_NONE, load(&words[3]));
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_event(fd, 3, 33);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1);
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
	expect_count(stopped_by_store, fd, 1);
	expect_nothing(fd, 20 * MS);
	expect_no_timer(fd, 3);
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 1, .stopped = 1, .stopped_by_store = 1);
	expect_balance(fd);
	/* The word is the program's: it holds until another one is stored. */
	ASSERT_EQ(0, tw_start(fd, 3, 0, 34));
	expect_count(stopped_by_store, fd, 2);
	store(&words[3], TWHEEL_WORD_NONE);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 35));
	expect_event(fd, 3, 35);
	EXPECT_STATS(fd, .started = 3, .stopped = 2, .stopped_by_store = 2,
		     .expired = 1, .delivered = 1);
	expect_balance(fd);
}

/* Whole chunks of timers go while the wheel has them. */
TEST(many_stopped_in_one_tick)
{
	__u64 *words, deadline = now_ns() + 10 * MS;
	int fd = open_shared(&words), i;

	for (i = 0; i < IDS; i++) {
		store(&words[i], STOP);
		ASSERT_EQ(0, tw_start_flags(fd, i, deadline, TWHEEL_START_ABS,
					    i));
	}
	expect_count(stopped_by_store, fd, IDS);
	EXPECT_STATS(fd, .started = IDS, .stopped = IDS,
		     .stopped_by_store = IDS);
	for (i = 0; i < IDS; i++)
		expect_no_timer(fd, i);
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
}

/* As the latest deadline that a START takes. */
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
		expect_count(carried, fd, i + 1);
		ASSERT_EQ(far[i] < INTERVAL_MAX ? far[i] : INTERVAL_MAX,
			  deadline_of(fd, i));
	}
}

/* The wheel does not look before the deadline that it has. */
TEST(an_earlier_word_takes_a_start)
{
	__u64 *words, deadline;
	int fd = open_shared(&words);

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	deadline = deadline_of(fd, 3);
	store(&words[3], 1);
	expect_nothing(fd, 20 * MS);
	ASSERT_EQ(deadline, deadline_of(fd, 3));
	ASSERT_EQ(1, tw_start(fd, 3, 0, 33));
	expect_event(fd, 3, 33);
}

TEST(stop_and_start_of_a_timer_that_was_carried_on)
{
	__u64 *words;
	int fd = open_shared(&words);

	expect_carried(fd, &words[3], 3);
	expect_no_timer(fd, 3);
	store(&words[3], now_ns() + HOUR);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_count(carried, fd, 2);
	/* The word of the last start would count. */
	store(&words[3], now_ns());
	ASSERT_EQ(1, tw_start(fd, 3, 0, 34));
	expect_event(fd, 3, 34);
	EXPECT_STATS(fd, .started = 2, .restarted = 1, .stopped = 1,
		     .carried = 2, .expired = 1, .delivered = 1);
	expect_balance(fd);
}

/* The read looks at the word once more. */
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
	/* Beyond all deadlines, and not later than the expiry. */
	store(&words[3], STOP - 1);
	ASSERT_EQ(1, tw_start(fd, 3, 0, 34));
	expect_count(carried, fd, 2);
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

/* A stop that was told of the event leaves it to be read. */
TEST(a_store_after_a_stop_that_was_too_late)
{
	__u64 *words;
	int fd = open_shared(&words);

	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_unread(fd, 1);
	ASSERT_EQ(-EALREADY, tw_stop(fd, 3));
	store(&words[3], now_ns() + HOUR);
	expect_event(fd, 3, 33);
	expect_no_timer(fd, 3);
}

TEST(stop_and_periodic_timers_are_the_program_s)
{
	__u64 *words;
	int fd = open_shared(&words);
	struct twheel_event event;

	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_unread(fd, 1);
	store(&words[3], STOP);
	expect_event(fd, 3, 33);
	store(&words[3], TWHEEL_WORD_NONE);
	ASSERT_EQ(0, tw_start_periodic(fd, 3, 0, HOUR));
	expect_unread(fd, 1);
	store(&words[3], now_ns() + HOUR);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(TWHEEL_EVENT_PERIODIC, event.flags);
}

/* More than a read takes under one hold of the session's lock, and events among them. */
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
	/* The order is that of the starts, unless these were on several CPUs. */
	ASSERT_EQ(100 + IDS - 1, events[0].id + events[1].id);
	ASSERT_EQ(-EAGAIN, tw_read(fd, events, 2));
	EXPECT_STATS(fd, .started = IDS, .expired = IDS, .delivered = 2,
		     .replaced = IDS - 2, .rearmed = IDS - 2, .carried = IDS - 2,
		     .pending = IDS - 2);
	expect_balance(fd);
}

/* As the kernel copies them one by one. */
TEST(a_store_while_events_of_another_size_are_unread)
{
	struct { struct twheel_event event; __u64 more; } event = {};
	int fd = session_open_nonblock();
	__u64 *words, i;

	need_words();
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.shared_ids = IDS, .event_size = sizeof(event) }));
	words = map_words(fd, IDS);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, tw_start(fd, i, 0, i));
		expect_unread(fd, i + 1);
	}
	store(&words[0], now_ns() + HOUR);
	store(&words[2], now_ns() + HOUR);
	ASSERT_EQ(sizeof(event), read(fd, &event, sizeof(event)));
	ASSERT_EQ(1, event.event.id);
	ASSERT_EQ(-1, read(fd, &event, sizeof(event)));
	ASSERT_EQ(EAGAIN, errno);
	EXPECT_STATS(fd, .started = 3, .expired = 3, .delivered = 1, .replaced = 2,
		     .rearmed = 2, .carried = 2, .pending = 2);
}

/* Which ids have a word. */

TEST(ids_without_a_word)
{
	__u32 ids = IDS / 2, i;
	__u64 *words, any;
	int fd = session_open_nonblock();

	ASSERT_EQ(0, setup_shared(fd, ids));
	words = map_words(fd, ids);
	/* To the end of the page, which has more words than ids. */
	for (i = 0; i < page_size() / sizeof(__u64); i++)
		store(&words[i], STOP);
	ASSERT_EQ(0, tw_start(fd, ids, 0, 33));
	expect_event(fd, ids, 33);
	ASSERT_EQ(0, tw_start_any(fd, 0, 34, &any));
	expect_event(fd, any, 34);
	ASSERT_EQ(0, tw_start(fd, ids - 1, 0, 35));
	expect_count(stopped_by_store, fd, 1);
	ASSERT_EQ(0, tw_start(fd, 0, 0, 36));
	expect_count(stopped_by_store, fd, 2);
	expect_balance(fd);
}

/* Each id has its own word, on any page. */
TEST(each_id_has_its_word)
{
	const __u32 ids = 3 * page_size() / sizeof(__u64) + 7;
	__u64 *words, base = now_ns() + HOUR;
	int fd = session_open_nonblock();
	__u32 i, step = 101, count = 0;

	ASSERT_EQ(0, setup_shared(fd, ids));
	words = map_words(fd, ids);
	for (i = 0; i < ids; i++)
		store(&words[i], base + i);
	for (i = ids - 1; i < ids; i -= step) {
		ASSERT_EQ(0, tw_start(fd, i, 0, i));
		count++;
	}
	expect_count(carried, fd, count);
	for (i = ids - 1; i < ids; i -= step)
		ASSERT_EQ(base + i, deadline_of(fd, i));
	for (i = 0; i < ids; i++)
		ASSERT_EQ(base + i, load(&words[i]));
}

TEST(sessions_have_their_own_words)
{
	__u64 *words, *others;
	int fd = open_shared(&words), other = open_shared(&others);

	store(&words[3], STOP);
	ASSERT_EQ(0, load(&others[3]));
	ASSERT_EQ(0, tw_start(other, 3, 0, 33));
	expect_event(other, 3, 33);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_count(stopped_by_store, fd, 1);
}

/* Periodic timers. */

TEST(a_periodic_timer_is_carried_on_with_its_grid)
{
	__u64 *words, deadline = now_ns() + test_patience() * 100 * MS;
	int fd = open_shared(&words);
	struct twheel_event event;

	store(&words[3], deadline);
	ASSERT_EQ(0, tw_start_periodic(fd, 3, 0, HOUR));
	expect_readable(fd);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_LE(deadline, event.expired_ns);
	ASSERT_EQ(TWHEEL_EVENT_PERIODIC, event.flags);
	if (!carried(fd))
		test_slow();
	ASSERT_EQ(deadline, event.deadline_ns);
	ASSERT_EQ(deadline + HOUR, deadline_of(fd, 3));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1,
		     .rearmed = 1, .pending = 1, .carried = 1);
	expect_balance(fd);
}

TEST(a_periodic_timer_is_stopped)
{
	__u64 *words;
	int fd = open_shared(&words);
	struct twheel_event event;
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_start_periodic(fd, 3, 0, 1));
	expect_readable(fd);
	/* Armed again by the read, it finds that word. */
	store(&words[3], STOP);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	expect_count(stopped_by_store, fd, 1);
	expect_nothing(fd, 20 * MS);
	expect_no_timer(fd, 3);
	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_EQ(1, stats.rearmed);
	ASSERT_EQ(1, stats.expired);
	expect_balance(fd);
}

/* Setting up. */

/* Documentation/user-api.rst, TWHEEL_IOC_SETUP: EOPNOTSUPP. */
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

TEST(info_says_how_many)
{
	int fd = session_open();
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(fd, &info));
	ASSERT_EQ(0, info.shared_ids);
	ASSERT_EQ(0, setup_shared(fd, 77));
	ASSERT_EQ(0, tw_info(fd, &info));
	ASSERT_EQ(77, info.shared_ids);
	ASSERT_EQ(0, info.reserved);
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
	/* The rest of a SETUP can be changed, until the first start. */
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

TEST(einval_more_words_than_timers)
{
	int fd = session_open_nonblock();
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(fd, &info));
	ASSERT_EQ(-EINVAL, setup_shared(fd, info.max_timers + 1));
	ASSERT_EQ(-EINVAL, setup_shared(fd, ~0U));
	ASSERT_EQ(-EINVAL, tw_setup(fd, (struct twheel_setup){
		.max_timers = 4, .shared_ids = 5 }));
	ASSERT_EQ(0, tw_info(fd, &info));
	ASSERT_EQ(0, info.shared_ids);
	ASSERT_EQ(-ENODEV, try_map(fd, page_size(), PROT_READ, MAP_SHARED, 0));
	need_words();
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.max_timers = 4, .shared_ids = 4 }));
	expect_carried(fd, map_words(fd, 4) + 3, 3);
}

/* Another SETUP that fails leaves nothing behind. */
TEST(a_setup_that_is_refused_makes_no_words)
{
	int fd = session_open_nonblock();

	need_words();
	ASSERT_EQ(-EINVAL, tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE, .tick_ns = 1,
		.shared_ids = IDS }));
	ASSERT_EQ(-ENODEV, try_map(fd, page_size(), PROT_READ, MAP_SHARED, 0));
	ASSERT_EQ(0, setup_shared(fd, 0));
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(-EBUSY, setup_shared(fd, IDS));
	ASSERT_EQ(-ENODEV, try_map(fd, page_size(), PROT_READ, MAP_SHARED, 0));
}

/* Words are for all timers that there may be: a page is made when it is touched. */
TEST(a_word_that_was_not_touched_is_none)
{
	const __u32 ids = 1 << 22, each = page_size() / sizeof(__u64);
	int fd = session_open_nonblock();
	__u64 *words;

	need_words();
	ASSERT_EQ(0, setup_shared(fd, ids));
	words = map_words(fd, ids);
	/* In pages that are not there. */
	ASSERT_EQ(0, tw_start(fd, ids - 1, 0, 33));
	expect_event(fd, ids - 1, 33);
	ASSERT_EQ(0, tw_start(fd, 5 * each, 0, 44));
	expect_event(fd, 5 * each, 44);
	/* The first store into one, while its timer is pending. */
	ASSERT_EQ(0, tw_start(fd, ids - 1, 20 * MS, 33));
	store(&words[ids - 1], STOP);
	while (tw_state(fd, ids - 1) == TWHEEL_STATE_PENDING)
		sleep_ns(MS);
	ASSERT_EQ(-ENOENT, tw_state(fd, ids - 1));
	EXPECT_STATS(fd, .started = 3, .expired = 2, .delivered = 2, .stopped = 1,
		     .stopped_by_store = 1);
	/* One that is only read is there as well. */
	ASSERT_EQ(0, load(&words[7 * each]));
	expect_carried(fd, &words[7 * each], 7 * each);
	expect_carried(fd, &words[ids - 2], ids - 2);
}

#define TOUCHED		64	/* pages */

static __u64 *touched;
static int touching;

static void *touch(void *data)
{
	const __u32 each = page_size() / sizeof(__u64), mine = (long)data;
	__u32 i;

	for (i = 0; i < TOUCHED; i++) {
		__atomic_fetch_add(&touching, 1, __ATOMIC_RELAXED);
		while (__atomic_load_n(&touching, __ATOMIC_RELAXED) < 2 * (int)(i + 1))
			sched_yield();
		store(&touched[i * each + mine], mine + 1);
	}
	return NULL;
}

/* Two threads that make a page at the same time store into one page. */
TEST(two_threads_touch_the_same_pages)
{
	const __u32 each = page_size() / sizeof(__u64), ids = TOUCHED * each;
	pthread_t threads[2];
	long i, round;
	int fd;

	need_words();
	for (round = 0; round < 10; round++) {
		fd = session_open_nonblock();
		ASSERT_EQ(0, setup_shared(fd, ids));
		touched = map_words(fd, ids);
		touching = 0;
		for (i = 0; i < 2; i++)
			threads[i] = thread_run(touch, (void *)i);
		for (i = 0; i < 2; i++)
			thread_join(threads[i]);
		for (i = 0; i < TOUCHED; i++) {
			ASSERT_EQ(1, load(&touched[i * each]));
			ASSERT_EQ(2, load(&touched[i * each + 1]));
		}
		/* They are the pages that the kernel looks at. */
		expect_carried(fd, &touched[ids - each], ids - each);
		expect_carried(fd, &touched[ids - each + 1], ids - each + 1);
		ASSERT_EQ(0, munmap(touched, ids * sizeof(__u64)));
		close(fd);
	}
}

static void *set_up(void *data)
{
	return (void *)(long)setup_shared(*(int *)data, 3 * IDS);
}

/* Each makes words, and the words of one of them stay. */
TEST(two_threads_set_up_the_same_words)
{
	pthread_t threads[2];
	__u64 *words;
	int i, fd;

	need_words();
	for (i = 0; i < 50; i++) {
		fd = session_open_nonblock();
		threads[0] = thread_run(set_up, &fd);
		threads[1] = thread_run(set_up, &fd);
		ASSERT_EQ(0, (long)thread_join(threads[0]));
		ASSERT_EQ(0, (long)thread_join(threads[1]));
		words = map_words(fd, 3 * IDS);
		expect_carried(fd, &words[3 * IDS - 1], 3 * IDS - 1);
		ASSERT_EQ(0, munmap(words, 3 * IDS * sizeof(__u64)));
		close(fd);
	}
}

TEST(on_wheels_of_all_kinds)
{
	__u32 i;

	need_words();
	for (i = 0; i < 2; i++) {
		int fd = session_open_nonblock();

		ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
			.flags = TWHEEL_SETUP_PRIVATE, .scheme = i,
			.shared_ids = IDS }));
		expect_carried(fd, map_words(fd, IDS) + 3, 3);
		close(fd);
	}
}

static int enter_for_children(void)
{
	static const char offset[] = "1 1000 0";
	int fd, ok;

	if (unshare(CLONE_NEWTIME))
		return 0;
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	ok = write(fd, offset, sizeof(offset) - 1) == sizeof(offset) - 1;
	close(fd);
	return ok;
}

/* The clock inside is 1,000 s ahead. */
TEST(words_are_in_the_time_of_the_setup)
{
	int inside = session_open_nonblock(), outside = session_open_nonblock();
	__u64 before = now_ns();
	pid_t pid;

	ASSERT_EQ(0, setup_shared(outside, IDS));
	if (!enter_for_children())
		test_skip("the kernel has no time namespaces");
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		ASSERT_LE(before + 1000 * SECOND, now_ns());
		ASSERT_EQ(0, setup_shared(inside, IDS));
		expect_carried(inside, map_words(inside, IDS) + 3, 3);
		/* Before the begin of this clock. */
		store(map_words(inside, IDS) + 4, 900 * SECOND);
		ASSERT_EQ(0, tw_start(inside, 4, 0, 44));
		expect_event(inside, 4, 44);
		_exit(0);
	}
	expect_child(pid);
	expect_carried(outside, map_words(outside, IDS) + 3, 3);
}

/* Races. */

#define LIVES		64
#define ALL_LIVES	1000
/* A life ends, though the machine may be too slow for any store to be too late. */
#define LONGEST_LIFE	(20 * MS)

/**
 * struct heartbeat - timers that one thread stores for and another one reads
 * @words: their words
 * @floor: by id, a time before which the timer must not expire
 * @end: by id, a time after which no word of this life is
 * @session: theirs
 * @done: all rounds are over
 */
struct heartbeat {
	__u64 *words;
	__u64 floor[LIVES];
	__u64 end[LIVES];
	int session;
	bool done;
};

/*
 * The word that is in force is the last one that was stored before its
 * predecessor had passed. If this store is not that early it may come too late,
 * and promises nothing.
 */
static void *beat(void *data)
{
	struct heartbeat *h = data;
	__u64 seed = 1, old, word;
	int id;

	while (!READ_ONCE(h->done)) {
		id = random_number(&seed) % LIVES;
		old = READ_ONCE(h->floor[id]);
		word = now_ns() + random_number(&seed) % (4 * MS);
		if (!old || word <= old || word > READ_ONCE(h->end[id]))
			continue;
		store(&h->words[id], word);
		if (now_ns() >= old)
			continue;
		/* The reader may have ended this life, and begun another. */
		__atomic_compare_exchange_n(&h->floor[id], &old, word, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	}
	return NULL;
}

static void begin_life(struct heartbeat *h, __u64 id)
{
	__u64 deadline = now_ns() + 2 * MS;

	store(&h->words[id], deadline);
	WRITE_ONCE(h->end[id], deadline + LONGEST_LIFE);
	ASSERT_EQ(0, tw_start_flags(h->session, id, deadline, TWHEEL_START_ABS,
				    deadline));
	WRITE_ONCE(h->floor[id], deadline);
}

/*
 * A thread stores, another one reads events and begins anew: each life ends once,
 * and none before a word that was stored in time.
 */
TEST(never_early_and_exactly_once)
{
	static struct heartbeat h;
	__u64 begun, ended, id;
	struct twheel_event event;
	struct twheel_stats stats;
	pthread_t thread;
	int result;

	h.session = open_shared(&h.words);
	for (begun = 0; begun < LIVES; begun++)
		begin_life(&h, begun);
	thread = thread_run(beat, &h);
	for (ended = 0; ended < begun; ended++) {
		/* A store after the expiry takes the only event back. */
		do {
			expect_readable(h.session);
			result = tw_read(h.session, &event, 1);
		} while (result == -EAGAIN);
		ASSERT_EQ(1, result);
		id = event.id;
		ASSERT_LT(id, LIVES);
		ASSERT_LE(READ_ONCE(h.floor[id]), event.expired_ns);
		WRITE_ONCE(h.floor[id], 0);
		if (begun == ALL_LIVES)
			continue;
		begin_life(&h, id);
		begun++;
	}
	WRITE_ONCE(h.done, true);
	thread_join(thread);
	expect_nothing(h.session, 20 * MS);
	ASSERT_EQ(0, tw_stats(h.session, &stats));
	test_note("%llu lives, %llu carried on", begun, stats.carried);
	ASSERT_EQ(begun, stats.expired - stats.replaced);
	ASSERT_EQ(0, stats.pending);
	expect_balance(h.session);
}

static void *scribble(void *data)
{
	struct heartbeat *h = data;
	__u64 seed = 2;

	while (!READ_ONCE(h->done)) {
		__u64 dice = random_number(&seed) % 8;
		__u64 *word = &h->words[random_number(&seed) % LIVES];

		if (dice < 5)
			store(word, now_ns() + random_number(&seed) % (3 * MS));
		else
			store(word, dice == 5 ? STOP : random_number(&seed));
	}
	return NULL;
}

/* One random call of each kind. Any of the answers may be right. */
static void operate(int fd, __u64 *seed)
{
	__u64 id = random_number(seed) % LIVES;
	__u64 delay = random_number(seed) % (3 * MS);
	struct twheel_event events[4];
	struct twheel_entry entry;
	struct twheel_op ops[4];
	int i;

	memset(ops, 0, sizeof(ops));
	for (i = 0; i < 4; i++) {
		ops[i].opcode = i % 2 ? TWHEEL_OP_START : TWHEEL_OP_STOP;
		ops[i].id = (id + i / 2) % LIVES;
		ops[i].expires_ns = i % 2 ? delay : 0;
	}
	switch (random_number(seed) % 8) {
	case 0:
		tw_stop(fd, id);
		break;
	case 1:
		tw_stop_flags(fd, id, TWHEEL_STOP_WITHDRAW);
		break;
	case 2:
		tw_get(fd, id, &entry);
		break;
	case 3:
		tw_drain(fd, &entry, 1);
		break;
	case 4:
		ASSERT_EQ(4, tw_submit(fd, ops, 4));
		break;
	case 5:
		tw_start_periodic(fd, id, delay, delay);
		break;
	default:
		tw_start(fd, id, delay, id);
	}
	tw_read(fd, events, ARRAY_SIZE(events));
}

/* Random words under all calls: the books balance, and nothing is left over. */
TEST(random_words_under_all_calls)
{
	static struct heartbeat h;
	struct twheel_entry entries[LIVES];
	struct twheel_event event;
	struct twheel_stats stats;
	pthread_t thread;
	__u64 seed = 3;
	int i;

	h.session = open_shared(&h.words);
	thread = thread_run(scribble, &h);
	for (i = 0; i < 4000; i++) {
		operate(h.session, &seed);
		if (i % 500 == 0)
			expect_balance(h.session);
	}
	WRITE_ONCE(h.done, true);
	thread_join(thread);
	tw_drain(h.session, entries, LIVES);
	while (tw_read(h.session, &event, 1) == 1)
		;
	ASSERT_EQ(0, tw_drain(h.session, entries, LIVES));
	ASSERT_EQ(0, tw_stats(h.session, &stats));
	test_note("%llu started, %llu carried on, %llu stopped by a store",
		  stats.started, stats.carried, stats.stopped_by_store);
	ASSERT_EQ(0, stats.pending);
	ASSERT_EQ(0, stats.unread);
	expect_balance(h.session);
}

/* A word that is always a little later than now costs no more than a tick does. */
TEST(at_most_a_carry_a_tick)
{
	__u64 *words, begin = now_ns(), count = 0, tick;
	int fd = open_shared(&words);
	struct twheel_event event;

	tick = tick_ns(fd);
	while (count < 100 && now_ns() < begin + 5 * SECOND) {
		store(&words[3], now_ns() + tick + tick / 2);
		/* It has expired if this thread did not get to run. */
		if (tw_state(fd, 3) == -ENOENT)
			ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
		tw_read(fd, &event, 1);
		count = carried(fd);
	}
	test_note("%llu carries", count);
	ASSERT_LE(count, (now_ns() - begin) / tick + 1);
}
