// SPDX-License-Identifier: GPL-2.0
/*
 * The place of a session, and the properties of a session in the process
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util.h"

static struct twheel *open_in_process(__u32 words, unsigned int flags)
{
	struct twheel_setup setup = { .shared_ids = words };
	struct twheel *t;

	ASSERT_EQ(0, twheel_open_flags(&t, &setup, TWHEEL_OPEN_PROCESS | flags));
	ASSERT_EQ(TWHEEL_BACKEND_PROCESS, twheel_backend(t));
	return t;
}

static bool is_readable(struct twheel *t)
{
	struct pollfd pollfd = { .fd = twheel_fd(t), .events = POLLIN };
	int ret = poll(&pollfd, 1, 0);

	ASSERT_LE(0, ret);
	return ret;
}

/* Returns whether a session has nothing to read, once a read has moved its timers. */
static bool is_quiet(struct twheel *t)
{
	struct twheel_event event;

	return !is_readable(t) || (!twheel_read(t, &event, 1) && !is_readable(t));
}

/* Run the case again, slower, if it comes here after @deadline_ns. */
static void expect_before(__u64 deadline_ns)
{
	if (twheel_now() >= deadline_ns)
		test_slow();
}

static void wait_readable(struct twheel *t)
{
	struct pollfd pollfd = { .fd = twheel_fd(t), .events = POLLIN };

	ASSERT_EQ(1, poll(&pollfd, 1, -1));
}

/* A case for sessions of several threads, and for those of one thread, which have a fast path. */
#define TEST_ALONE_TOO(name)						\
	static void name##_with(unsigned int flags);			\
									\
	TEST(name)							\
	{								\
		name##_with(0);						\
	}								\
									\
	TEST(name##_alone)						\
	{								\
		name##_with(TWHEEL_OPEN_ONE_THREAD);			\
	}								\
									\
	static void name##_with(unsigned int flags)

TEST(it_says_where_it_is)
{
	struct twheel *t = open_default();
	struct twheel_info info;

	ASSERT_EQ(0, twheel_info(t, &info));
	ASSERT_EQ(in_process(), twheel_backend(t) == TWHEEL_BACKEND_PROCESS);
	ASSERT_EQ(!in_process(), twheel_backend(t) == TWHEEL_BACKEND_KERNEL);
	ASSERT_EQ(in_process(), !!(info.features & TWHEEL_FEATURE_PROCESS));
	ASSERT_EQ(!in_process(), !!(info.features & TWHEEL_FEATURE_NOWAIT));
	twheel_close(t);
}

TEST(the_environment_chooses)
{
	struct twheel *t;

	setenv("TWHEEL_BACKEND", "process", 1);
	ASSERT_EQ(0, twheel_open(&t, NULL));
	ASSERT_EQ(TWHEEL_BACKEND_PROCESS, twheel_backend(t));
	twheel_close(t);
	setenv("TWHEEL_BACKEND", "kernel", 1);
	if (access("/dev/twheel", F_OK)) {
		ASSERT_EQ(-ENOENT, twheel_open(&t, NULL));
	} else {
		ASSERT_EQ(0, twheel_open(&t, NULL));
		ASSERT_EQ(TWHEEL_BACKEND_KERNEL, twheel_backend(t));
		twheel_close(t);
	}
	/* A program that asks is given the backend that it asks for. */
	twheel_close(open_in_process(0, 0));
	setenv("TWHEEL_BACKEND", "both", 1);
	ASSERT_EQ(-EINVAL, twheel_open(&t, NULL));
	twheel_close(open_in_process(0, 0));
	setenv("TWHEEL_BACKEND", "", 1);
	ASSERT_EQ(0, twheel_open(&t, NULL));
	twheel_close(t);
}

TEST(flags_that_are_refused)
{
	struct twheel *t = NULL;
	unsigned int before = open_files();

	ASSERT_EQ(-EINVAL, twheel_open_flags(&t, NULL, TWHEEL_OPEN_KERNEL | TWHEEL_OPEN_PROCESS));
	ASSERT_EQ(-EINVAL, twheel_open_flags(&t, NULL, 1U << 31));
	ASSERT_TRUE(!t);
	ASSERT_EQ(before, open_files());
}

TEST(without_a_device_it_is_in_the_process)
{
	struct rlimit limit;
	struct twheel *t;

	unsetenv("TWHEEL_BACKEND");
	if (!access("/dev/twheel", F_OK) && chroot("/tmp"))
		test_skip("/dev/twheel is here, and stays: %s", strerror(errno));
	errno = 0;
	ASSERT_EQ(0, twheel_open(&t, NULL));
	ASSERT_EQ(0, errno);
	ASSERT_EQ(TWHEEL_BACKEND_PROCESS, twheel_backend(t));
	twheel_close(t);
	/* A limit of descriptors is an error. */
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(-EMFILE, twheel_open(&t, NULL));
	ASSERT_EQ(-EMFILE, twheel_open_flags(&t, NULL, TWHEEL_OPEN_PROCESS));
	ASSERT_EQ(0, errno);
}

TEST_ALONE_TOO(it_is_readable_while_events_are_unread)
{
	struct twheel *t = open_in_process(0, flags);
	struct twheel_event events[4];

	ASSERT_TRUE(is_quiet(t));
	ASSERT_EQ(0, twheel_start(t, 9, HOUR, 99));
	ASSERT_TRUE(is_quiet(t));
	ASSERT_EQ(0, twheel_start(t, 1, 0, 11));
	ASSERT_EQ(0, twheel_start(t, 2, 0, 22));
	wait_readable(t);
	expect_unread_of(t, 2);
	ASSERT_TRUE(is_readable(t));
	ASSERT_EQ(1, twheel_read(t, events, 1));
	ASSERT_EQ(11, events[0].user_data);
	ASSERT_TRUE(is_readable(t));
	ASSERT_EQ(1, twheel_read(t, events, 4));
	ASSERT_TRUE(is_quiet(t));
	/* The last one may also be withdrawn, or replaced. */
	ASSERT_EQ(0, twheel_start(t, 1, 0, 11));
	expect_unread_of(t, 1);
	wait_readable(t);
	ASSERT_EQ(1, twheel_withdraw(t, 1));
	ASSERT_TRUE(is_quiet(t));
	ASSERT_EQ(0, twheel_start(t, 1, 0, 11));
	expect_unread_of(t, 1);
	ASSERT_EQ(-EALREADY, twheel_start(t, 1, HOUR, 12));
	ASSERT_EQ(0, twheel_start_flags(t, &(__u64){ 1 }, HOUR, 0, 12, TWHEEL_START_REPLACE));
	ASSERT_TRUE(is_quiet(t));
	twheel_close(t);
}

/* A timer that is due at once makes the session readable once, with its event. */
TEST(a_start_that_is_due_at_once_wakes_once)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_PRIVATE, .tick_ns = 20 * MS };
	struct twheel_event event;
	unsigned int round;
	struct twheel *t;

	for (round = 0; round < 20; round++) {
		setup.scheme = round % 2 ? TWHEEL_SCHEME_HASHED : TWHEEL_SCHEME_HIER;
		ASSERT_EQ(0, twheel_open_flags(&t, &setup, TWHEEL_OPEN_PROCESS));
		ASSERT_EQ(0, twheel_start_at(t, 1, 1, 11));
		wait_readable(t);
		ASSERT_EQ(1, twheel_read(t, &event, 1));
		ASSERT_EQ(0, twheel_start_at(t, 1, 1, 11));
		wait_readable(t);
		ASSERT_EQ(1, twheel_read(t, &event, 1));
		twheel_close(t);
	}
}

/* Get bounds of the time at which the timerfd fires. Returns false if it is not set. */
static bool fires_at(struct twheel *t, __u64 *least, __u64 *most)
{
	__u64 before = twheel_now(), left;
	struct itimerspec spec;

	ASSERT_EQ(0, timerfd_gettime(twheel_fd(t), &spec));
	left = spec.it_value.tv_sec * SECOND + spec.it_value.tv_nsec;
	*least = before + left;
	*most = twheel_now() + left;
	return left;
}

/* A start one tick before the earliest timer moves the timerfd. */
TEST_ALONE_TOO(a_start_wakes_one_tick_earlier)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_PRIVATE, .tick_ns = 50 * MS };
	__u64 first, least, most;
	struct twheel *t;
	unsigned int i;

	ASSERT_EQ(0, twheel_open_flags(&t, &setup, TWHEEL_OPEN_PROCESS | flags));
	first = (twheel_now() / setup.tick_ns + 50) * setup.tick_ns;
	for (i = 0; i < 6; i++, first -= setup.tick_ns) {
		/* Starts of new timers and restarts, in turns. */
		ASSERT_EQ(i & 1, twheel_start_at(t, i / 2, first, 0));
		ASSERT_TRUE(fires_at(t, &least, &most));
		ASSERT_LE(least, first);
	}
	twheel_close(t);
}

/*
 * The timerfd is not set for the old tick of a timer. Three lengths of a tick make sure that
 * the window of level 0 reaches this tick in one of them.
 */
TEST_ALONE_TOO(a_refreshed_timer_does_not_wake_at_its_old_tick)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_PRIVATE };
	__u64 old, least, most;
	struct twheel_event event;
	struct twheel *t;

	for (setup.tick_ns = 60 * MS; setup.tick_ns < 100 * MS; setup.tick_ns += 17 * MS) {
		ASSERT_EQ(0, twheel_open_flags(&t, &setup, TWHEEL_OPEN_PROCESS | flags));
		old = (twheel_now() / setup.tick_ns + 20) * setup.tick_ns;
		ASSERT_EQ(0, twheel_start_at(t, 1, old, 11));
		ASSERT_EQ(1, twheel_start_at(t, 1, old + 10 * setup.tick_ns, 12));
		/* One that is due makes the wheel look for its next tick. */
		ASSERT_EQ(0, twheel_start_at(t, 2, 1, 22));
		ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
		ASSERT_EQ(22, event.user_data);
		if (fires_at(t, &least, &most))
			ASSERT_TRUE(most < old || least >= old + setup.tick_ns);
		twheel_close(t);
	}
}

TEST_ALONE_TOO(a_word_does_not_wake_at_the_old_tick)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_PRIVATE,
		.tick_ns = 20 * MS,
		.shared_ids = 4,
	};
	__u64 old, least, most;
	struct twheel_stats stats;
	struct twheel_event event;
	struct twheel *t;

	ASSERT_EQ(0, twheel_open_flags(&t, &setup, TWHEEL_OPEN_PROCESS | flags));
	old = (twheel_now() / setup.tick_ns + 20) * setup.tick_ns;
	ASSERT_EQ(0, twheel_start_at(t, 1, old, 11));
	ASSERT_EQ(0, twheel_start_at(t, 3, old, 33));
	twheel_refresh(t, 1, old + 10 * setup.tick_ns);
	twheel_stop_by_store(t, 3);
	/* One that is due makes the wheel look for its next tick. */
	ASSERT_EQ(0, twheel_start_at(t, 2, 1, 22));
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(22, event.user_data);
	if (fires_at(t, &least, &most))
		ASSERT_TRUE(most < old || least >= old + setup.tick_ns);
	ASSERT_EQ(0, twheel_stats(t, &stats));
	ASSERT_EQ(1, stats.carried);
	ASSERT_EQ(1, stats.stopped_by_store);
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(11, event.user_data);
	ASSERT_LE(old + 10 * setup.tick_ns, event.expired_ns);
	twheel_close(t);
}

/* Check the timerfd without sleeping. A hierarchical wheel may set it earlier. */
TEST_ALONE_TOO(the_timerfd_is_set_for_the_tick)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_PRIVATE };
	__u64 deadline, least, most;
	struct twheel *t;

	for (setup.scheme = 0; setup.scheme < 2; setup.scheme++) {
		ASSERT_EQ(0, twheel_open_flags(&t, &setup, TWHEEL_OPEN_PROCESS | flags));
		deadline = twheel_now() + 1000 * MS;
		/* The first deadline is far away. Each further one is earlier than all before. */
		ASSERT_EQ(0, twheel_start_at(t, 99, deadline + HOUR, 0));
		for (; deadline > twheel_now() + 50 * MS; deadline -= 100 * MS) {
			ASSERT_LE(0, twheel_start_at(t, deadline / MS % 8, deadline, 0));
			if (!fires_at(t, &least, &most)) {
				ASSERT_LE(deadline, twheel_now());
				break;
			}
			ASSERT_LE(least, deadline + MS);
			if (setup.scheme == TWHEEL_SCHEME_HASHED)
				ASSERT_LE(deadline, most);
		}
		twheel_close(t);
	}
}

/* Behind one that is due before both of its deadlines. */
TEST_ALONE_TOO(a_restart_to_an_earlier_time_moves)
{
	struct twheel *t = open_in_process(0, flags);
	__u64 now = twheel_now();
	struct twheel_event events[4];

	ASSERT_EQ(0, twheel_start_at(t, 1, now + HOUR, 11));
	ASSERT_EQ(0, twheel_start_at(t, 2, now + 20 * MS, 22));
	ASSERT_EQ(1, twheel_start_at(t, 1, now + 40 * MS, 12));
	sleep_until(now + 50 * MS);
	ASSERT_EQ(2, twheel_read(t, events, 4));
	ASSERT_EQ(22, events[0].user_data);
	ASSERT_EQ(12, events[1].user_data);
	twheel_close(t);
}

/* Each expiry is an edge for a reader that reads until there is nothing. */
TEST_ALONE_TOO(edges)
{
	struct twheel *t = open_in_process(0, flags);
	struct epoll_event ready = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(0);
	struct twheel_event events[2];
	unsigned int round, count;

	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, twheel_fd(t), &ready));
	for (round = 0; round < 20; round++) {
		ASSERT_EQ(0, twheel_start(t, 1, MS, 11));
		ASSERT_EQ(0, twheel_start(t, 2, round * MS / 2, 22));
		ASSERT_EQ(0, twheel_start(t, 3, 2 * MS, 33));
		for (count = 0; count < 3;) {
			int ret;

			ASSERT_EQ(1, epoll_wait(epoll, &ready, 1, 60000));
			while ((ret = twheel_read(t, events, 2)))
				count += ret;
		}
		ASSERT_EQ(3, count);
	}
	ASSERT_EQ(0, epoll_wait(epoll, &ready, 1, 0));
	close(epoll);
	twheel_close(t);
}

TEST_ALONE_TOO(the_timerfd_is_set_no_more_often_than_it_must)
{
	__u64 ms = MS * test_patience(), now = twheel_now(), id;
	struct twheel *t = open_in_process(16, flags);
	struct twheel_event events[16];
	int read;

	timerfd_sets = 0;
	ASSERT_EQ(0, twheel_start_at(t, 1, now + 100 * ms, 1));
	ASSERT_EQ(1, timerfd_sets);
	/* Later ones, refreshes, words, stops. */
	for (id = 2; id < 10; id++)
		ASSERT_EQ(0, twheel_start_at(t, id, now + (100 + id) * ms, id));
	ASSERT_EQ(1, twheel_start_at(t, 1, now + 120 * ms, 1));
	twheel_refresh(t, 2, now + 130 * ms);
	ASSERT_EQ(0, twheel_stop(t, 3));
	read = twheel_read(t, events, 16);
	expect_before(now + 100 * ms);
	ASSERT_EQ(0, read);
	ASSERT_EQ(1, timerfd_sets);
	/* Once for a wake-up, however many expire and are read. */
	sleep_until(now + 200 * ms);
	wait_readable(t);
	for (id = 0; id < 7; id++)
		ASSERT_EQ(1, twheel_read(t, events, 1));
	ASSERT_EQ(1, timerfd_sets);
	ASSERT_EQ(1, twheel_read(t, events, 1));
	ASSERT_EQ(2, timerfd_sets);
	ASSERT_EQ(0, twheel_read(t, events, 1));
	ASSERT_EQ(2, timerfd_sets);
	twheel_close(t);
}

TEST(one_thread_needs_no_lock)
{
	struct twheel *t = open_in_process(16, TWHEEL_OPEN_ONE_THREAD);
	struct twheel_event event;
	struct twheel_stats stats;

	mutex_locks = 0;
	ASSERT_EQ(0, twheel_start(t, 1, 0, 11));
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(0, twheel_start(t, 1, HOUR, 11));
	ASSERT_EQ(0, twheel_stop(t, 1));
	ASSERT_EQ(0, twheel_stats(t, &stats));
	ASSERT_EQ(0, mutex_locks);
	twheel_close(t);
	t = open_in_process(16, 0);
	mutex_locks = 0;
	ASSERT_EQ(0, twheel_start(t, 1, HOUR, 11));
	ASSERT_LE(1, mutex_locks);
	twheel_close(t);
}

/* Limits, words, events that were read: while the wheel has something earlier to do. */
TEST_ALONE_TOO(what_is_refused_leaves_all_as_it_was)
{
	struct twheel_setup setup = { .max_timers = 50, .shared_ids = 8 };
	const __u64 never = 1ULL << 63, far = twheel_now() + 2 * HOUR;
	struct twheel_event event;
	__u64 id = TWHEEL_ID_ANY;
	struct twheel *t;

	ASSERT_EQ(0, twheel_open_flags(&t, &setup, TWHEEL_OPEN_PROCESS | flags));
	ASSERT_EQ(0, twheel_start(t, 1, 0, 11));
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(0, twheel_start(t, 0, HOUR, 10));
	ASSERT_EQ(-ENOENT, twheel_stop(t, 1));
	ASSERT_EQ(-ENOENT, twheel_stop(t, 2));
	ASSERT_EQ(-EINVAL, twheel_stop(t, 50));
	ASSERT_EQ(-EINVAL, twheel_start_at(t, 50, far, 0));
	ASSERT_EQ(-EINVAL, twheel_start_at(t, TWHEEL_ID_ANY, far, 0));
	ASSERT_EQ(-EINVAL, twheel_start_at(t, 2, never, 0));
	ASSERT_EQ(-EINVAL, twheel_start(t, 2, never, 0));
	ASSERT_EQ(-EINVAL, twheel_start_periodic(t, 2, HOUR, never, 0));
	ASSERT_EQ(-EINVAL, twheel_start_flags(t, &(__u64){ 2 }, far, 0, 0, 1U << 31));
	ASSERT_EQ(-ENOENT, twheel_start_at(t, TWHEEL_ID_KERNEL | 1, far, 0));
	ASSERT_EQ(0, twheel_word(t, 2));
	/* A stop in time after one that was too late. */
	ASSERT_EQ(0, twheel_start_at(t, 1, far, 11));
	ASSERT_EQ(0, twheel_stop(t, 1));
	ASSERT_EQ(-ENOENT, twheel_stop(t, 1));
	/* A start sets the word, so an earlier store does not count. */
	twheel_stop_by_store(t, 2);
	ASSERT_EQ(0, twheel_start_at(t, 2, far, 22));
	ASSERT_EQ(far, twheel_word(t, 2));
	ASSERT_EQ(1, twheel_start_at(t, 2, far + 1, 23));
	ASSERT_EQ(far + 1, twheel_word(t, 2));
	ASSERT_EQ(1, twheel_start_at(t, 2, far - 1, 24));
	ASSERT_EQ(far - 1, twheel_word(t, 2));
	ASSERT_EQ(0, twheel_stop(t, 2));
	ASSERT_EQ(-ENOENT, twheel_stop(t, 2));
	/* The limit is for ids of both kinds. */
	ASSERT_EQ(0, twheel_start_any(t, &id, HOUR, 0));
	for (id = 1; id < 49; id++)
		ASSERT_EQ(0, twheel_start_at(t, id, far, id));
	ASSERT_EQ(-ENOSPC, twheel_start_at(t, 49, far, 0));
	ASSERT_EQ(0, twheel_stop(t, 7));
	ASSERT_EQ(0, twheel_start_at(t, 49, far, 0));
	EXPECT_STATS(twheel_fd(t), .started = 54, .restarted = 2, .stopped = 3, .expired = 1,
		     .delivered = 1, .pending = 50);
	twheel_close(t);
}

/* After a long sleep of the process all timers expire in order, and words count. */
TEST_ALONE_TOO(late_but_in_order)
{
	struct twheel *t = open_in_process(1000, flags);
	struct twheel_event events[64];
	__u64 now = twheel_now() + 50 * MS * test_patience(), last = 0, id;
	unsigned int count = 0;
	int ret, i;

	for (id = 0; id < 1000; id++)
		ASSERT_EQ(0, twheel_start_at(t, id, now + (id * 7919 % 1000) * MS / 2, id));
	expect_before(now);
	sleep_until(now + 600 * MS);
	for (id = 0; id < 1000; id += 10)
		twheel_refresh(t, id, now + HOUR);
	while ((ret = twheel_read(t, events, 64))) {
		ASSERT_LE(1, ret);
		for (i = 0; i < ret; i++) {
			ASSERT_NE(0, events[i].id % 10);
			ASSERT_LE(last, events[i].deadline_ns);
			ASSERT_LE(now + 600 * MS, events[i].expired_ns);
			/* One tick is one time to the wheel. */
			last = events[i].deadline_ns - MS;
		}
		count += ret;
	}
	ASSERT_EQ(900, count);
	EXPECT_STATS(twheel_fd(t), .started = 1000, .expired = 900, .delivered = 900,
		     .pending = 100, .carried = 100);
	twheel_close(t);
}

/* Never early, and none is lost, through all cascades that two seconds have. */
TEST_ALONE_TOO(cascades)
{
	struct twheel *t = open_in_process(0, flags);
	unsigned int started = 0, read = 0, seed = 1;
	struct twheel_event events[64];
	__u64 end = twheel_now() + 2 * SECOND;
	int ret, i;

	while (twheel_now() < end || read < started) {
		ret = twheel_wait(t, events, 64, started == read ? 0 : -1);
		ASSERT_LE(0, ret);
		for (i = 0; i < ret; i++)
			ASSERT_LE(events[i].deadline_ns, events[i].expired_ns);
		read += ret;
		for (i = 0; i < 3 && twheel_now() < end; i++, started++) {
			__u64 id, delay = rand_r(&seed) % (i ? 20 * MS : 900 * MS);

			ASSERT_EQ(0, twheel_start_any(t, &id, delay, 0));
		}
	}
	expect_balance(twheel_fd(t));
	twheel_close(t);
}

#define THREADS		4
#define ROUNDS		2000

struct shared {
	struct twheel *t;
	unsigned int number;
	unsigned int done;
	unsigned int read;
};

static void *starts_and_stops(void *data)
{
	struct shared *mine = data;
	struct twheel_event events[8];
	unsigned int i, seed = mine->number;

	for (i = 0; i < ROUNDS; i++) {
		__u64 id = mine->number * 64 + rand_r(&seed) % 64;
		int ret;

		if (rand_r(&seed) % 2)
			ret = twheel_start(mine->t, id, rand_r(&seed) % (5 * MS), id);
		else
			ret = twheel_stop(mine->t, id);
		ASSERT_TRUE(ret >= 0 || ret == -EALREADY || ret == -ENOENT);
		if (i % 8)
			twheel_refresh(mine->t, id, twheel_now() + MS);
		ret = twheel_read(mine->t, events, 8);
		ASSERT_LE(0, ret);
		mine->read += ret;
	}
	return NULL;
}

TEST(threads_share_a_session)
{
	struct twheel *t = open_in_process(THREADS * 64, 0);
	struct shared shared[THREADS];
	pthread_t threads[THREADS];
	struct twheel_event events[64];
	struct twheel_entry entries[64];
	struct twheel_stats stats;
	__u64 cursor = 0;
	unsigned int i, read = 0;
	int ret;

	for (i = 0; i < THREADS; i++) {
		shared[i] = (struct shared){ .t = t, .number = i };
		threads[i] = thread_run(starts_and_stops, &shared[i]);
	}
	for (i = 0; i < THREADS; i++) {
		thread_join(threads[i]);
		read += shared[i].read;
	}
	while (twheel_drain(t, entries, 64, &cursor))
		;
	while ((ret = twheel_read(t, events, 64)))
		read += ret;
	ASSERT_EQ(0, twheel_stats(t, &stats));
	ASSERT_LE(read, stats.delivered);
	ASSERT_EQ(0, stats.unread);
	expect_balance(twheel_fd(t));
	twheel_close(t);
}

TEST(a_child_closes_and_nothing_happens)
{
	struct twheel *t = open_in_process(4, 0);
	struct twheel_event event;
	pid_t pid;

	ASSERT_EQ(0, twheel_start(t, 1, 50 * MS, 11));
	fflush(stdout);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		twheel_close(t);
		_exit(0);
	}
	expect_child(pid);
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	twheel_close(t);
}

static struct twheel *slow_reader;

static void meanwhile(void)
{
	struct twheel_event events[2];

	sleep_until(twheel_now() + 60 * MS * test_patience());
	ASSERT_EQ(2, twheel_read(slow_reader, events, 2));
}

/* A reader that is preempted between the clock and the lock, while another one reads. */
TEST_ALONE_TOO(no_event_is_from_before_its_deadline)
{
	__u64 ms = MS * test_patience(), soon = twheel_now() + 10 * ms;
	struct twheel *t = open_in_process(0, flags);
	struct twheel_event event;

	ASSERT_EQ(0, twheel_start_at(t, 1, soon, 11));
	ASSERT_EQ(0, twheel_start_at(t, 2, soon + 40 * ms, 22));
	ASSERT_EQ(0, twheel_start_at(t, 3, soon + 40 * ms, 33));
	/* Else the reader that is preempted has nothing to expire, and takes no lock. */
	wait_readable(t);
	expect_before(soon + 40 * ms);
	slow_reader = t;
	wrap_clock = meanwhile;
	ASSERT_EQ(1, twheel_read(t, &event, 1));
	ASSERT_EQ(33, event.user_data);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	twheel_close(t);
}

TEST_ALONE_TOO(a_timerfd_that_cannot_be_set_is_an_error)
{
	struct twheel *t = open_in_process(0, flags), *other;
	struct twheel_event event;

	timerfd_error = EPERM;
	errno = 0;
	ASSERT_EQ(-EPERM, twheel_open_flags(&other, NULL, TWHEEL_OPEN_PROCESS | flags));
	ASSERT_EQ(0, twheel_start(t, 1, MS, 11));
	ASSERT_EQ(-EPERM, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(0, errno);
	twheel_close(t);
}

/* An event loop has the descriptor. */
TEST(another_clock_comes_too_late)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_PRIVATE, .tick_ns = 2 * MS };
	struct epoll_event ready = { .events = EPOLLIN };
	struct twheel *t = open_in_process(0, 0);
	int epoll = epoll_create1(0);

	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, twheel_fd(t), &ready));
	ASSERT_EQ(0, twheel_command(t, TWHEEL_IOC_SETUP, &setup));
	setup.clock = TWHEEL_CLOCK_BOOTTIME;
	ASSERT_EQ(-EBUSY, twheel_command(t, TWHEEL_IOC_SETUP, &setup));
	setup.clock = 3;
	ASSERT_EQ(-EINVAL, twheel_command(t, TWHEEL_IOC_SETUP, &setup));
	ASSERT_EQ(0, twheel_start(t, 1, MS, 11));
	ASSERT_EQ(1, epoll_wait(epoll, &ready, 1, 60000));
	twheel_close(t);
	setup.clock = TWHEEL_CLOCK_BOOTTIME;
	ASSERT_EQ(0, twheel_open_flags(&t, &setup, TWHEEL_OPEN_PROCESS));
	setup.clock = 0;
	ASSERT_EQ(-EBUSY, twheel_command(t, TWHEEL_IOC_SETUP, &setup));
	ASSERT_EQ(CLOCK_BOOTTIME, t->clock);
	close(epoll);
	twheel_close(t);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static __u64 resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages;

	ASSERT_TRUE(file);
	ASSERT_EQ(1, fscanf(file, "%*u %lu", &pages));
	fclose(file);
	return (__u64)pages * getpagesize();
}

TEST(a_timer_takes_a_hundred_bytes_and_leaves_none)
{
	struct twheel *t = open_in_process(0, 0);
	__u64 before = resident(), full, id;

	needs_no_valgrind("keeps memory that is freed");
	for (id = 0; id < 500000; id++)
		ASSERT_EQ(0, twheel_start(t, id, HOUR + id * MS, id));
	full = resident();
	/* 91 with its share of a chunk, and pages that are touched for the first time. */
	ASSERT_LE(full - before, 500000 * 100);
	for (id = 0; id < 500000; id++)
		ASSERT_EQ(0, twheel_stop(t, id));
	ASSERT_LE((resident() - before) * 2, full - before);
	twheel_close(t);
}

TEST(no_memory_is_no_errno)
{
	struct rlimit none = { .rlim_cur = 0, .rlim_max = RLIM_INFINITY };
	struct twheel *t = open_in_process(0, 0);
	struct twheel_batch *batch;

	needs_no_valgrind("takes memory of its own");
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &none));
	errno = 0;
	ASSERT_EQ(-ENOMEM, twheel_batch_new(t, 65536, &batch));
	ASSERT_EQ(0, errno);
	none.rlim_cur = RLIM_INFINITY;
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &none));
	twheel_close(t);
}
#endif

TEST(it_cannot_be_attached)
{
	struct twheel *t = open_in_process(0, 0), *other;
	int fd = dup(twheel_fd(t));

	ASSERT_EQ(-ENOTTY, twheel_attach(&other, fd));
	close(fd);
	twheel_close(t);
}
