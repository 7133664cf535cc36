// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a session is in the kernel or in the process, and the properties of a session in the
 * process
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util.h"

static struct twheel *open_in_process(__u32 words)
{
	struct twheel_setup setup = { .shared_ids = words };
	struct twheel *t;

	ASSERT_EQ(0, twheel_open_flags(&t, &setup, TWHEEL_OPEN_PROCESS));
	ASSERT_EQ(TWHEEL_BACKEND_PROCESS, twheel_backend(t));
	return t;
}

/*
 * Check that it is not yet @deadline_ns. Otherwise the machine was too slow, so run the case again
 * with longer times.
 */
static void expect_before(__u64 deadline_ns)
{
	if (twheel_now() >= deadline_ns)
		test_slow();
}

TEST_SESSION(it_says_where_it_is)
{
	struct twheel_info info;

	ASSERT_EQ(0, twheel_info(t, &info));
	ASSERT_EQ(in_process(), twheel_backend(t) == TWHEEL_BACKEND_PROCESS);
	ASSERT_EQ(!in_process(), twheel_backend(t) == TWHEEL_BACKEND_KERNEL);
	ASSERT_EQ(in_process(), !!(info.features & TWHEEL_FEATURE_PROCESS));
	ASSERT_EQ(!in_process(), !!(info.features & TWHEEL_FEATURE_NOWAIT));
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
	/* A program that chooses a backend gets it, whatever the environment says. */
	twheel_close(open_in_process(0));
	setenv("TWHEEL_BACKEND", "both", 1);
	ASSERT_EQ(-EINVAL, twheel_open(&t, NULL));
	twheel_close(open_in_process(0));
	setenv("TWHEEL_BACKEND", "", 1);
	ASSERT_EQ(0, twheel_open(&t, NULL));
	twheel_close(t);
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
	ASSERT_EQ(-ENOENT, twheel_open_flags(&t, NULL, TWHEEL_OPEN_KERNEL));
	/*
	 * Reaching the limit of descriptors is an error, and no reason to choose the other backend.
	 */
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(-EMFILE, twheel_open(&t, NULL));
	ASSERT_EQ(-EMFILE, twheel_open_flags(&t, NULL, TWHEEL_OPEN_PROCESS));
	ASSERT_EQ(0, errno);
}

#define PRIVATE		.flags = TWHEEL_SETUP_PRIVATE

/* A timer that is due at once must make the session readable once. */
TEST_SESSION_FLAGS(a_start_that_is_due_at_once_wakes_once, TWHEEL_OPEN_PROCESS,
		   { PRIVATE, .tick_ns = 20 * MS })
{
	struct twheel_event event;
	unsigned int round;

	for (round = 0; round < 20; round++) {
		ASSERT_EQ(0, twheel_start_at(t, 1, 1, 11));
		expect_readable(twheel_fd(t));
		ASSERT_EQ(1, twheel_read(t, &event, 1));
	}
}

/* Get the earliest and latest time at which the timerfd fires. Returns false if it is not set. */
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

/*
 * Let another timer expire, so that the wheel looks for its next tick. The timerfd must not be set
 * for @old.
 */
static void expect_not_set_for(struct twheel *t, __u64 old)
{
	struct twheel_event event;
	__u64 least, most;

	ASSERT_EQ(0, twheel_start_at(t, 2, 1, 22));
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(22, event.user_data);
	if (fires_at(t, &least, &most))
		ASSERT_TRUE(most < old || least >= old + tick_ns(twheel_fd(t)));
}

/*
 * The window of level 0 must contain the old tick. Whether it does depends on the time, so try
 * three lengths of a tick.
 */
TEST_SESSION_FLAGS(a_refreshed_timer_does_not_wake_at_its_old_tick, TWHEEL_OPEN_PROCESS,
		   { PRIVATE, .tick_ns = 60 * MS },
		   { PRIVATE, .tick_ns = 77 * MS },
		   { PRIVATE, .tick_ns = 94 * MS })
{
	__u64 tick = tick_ns(twheel_fd(t)), old = (twheel_now() / tick + 20) * tick;

	ASSERT_EQ(0, twheel_start_at(t, 1, old, 11));
	ASSERT_EQ(1, twheel_start_at(t, 1, old + 10 * tick, 12));
	expect_not_set_for(t, old);
}

/* Number of ticks in a window of level 0. */
#define WINDOW	256

/*
 * A program stores a later deadline in the word of a timer. The timerfd must not be set for the old
 * tick of the timer, which in the second session is in the next window of level 0.
 */
TEST_SESSION_FLAGS(a_word_does_not_wake_at_the_old_tick, TWHEEL_OPEN_PROCESS,
		   { PRIVATE, .tick_ns = 20 * MS, .shared_ids = 4 },
		   { PRIVATE, .tick_ns = 2 * MS, .shared_ids = 4 })
{
	__u64 tick = tick_ns(twheel_fd(t)), now = twheel_now() / tick, old = (now + 20) * tick;
	struct twheel_event event;

	if (tick == 2 * MS) {
		while (now % WINDOW < WINDOW / 4 || now % WINDOW > WINDOW / 2) {
			sleep_ns(tick);
			now = twheel_now() / tick;
		}
		old = (now / WINDOW + 1) * WINDOW * tick + 3 * tick;
	}

	/* In the slot, put a timer that is refreshed between two that are stopped. */
	ASSERT_EQ(0, twheel_start_at(t, 3, old, 33));
	ASSERT_EQ(0, twheel_start_at(t, 1, old, 11));
	ASSERT_EQ(0, twheel_start_at(t, 0, old, 44));
	twheel_refresh(t, 1, old + 10 * tick);
	twheel_stop_by_store(t, 3);
	twheel_stop_by_store(t, 0);
	expect_not_set_for(t, old);
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(11, event.user_data);
	ASSERT_LE(old + 10 * tick, event.expired_ns);
	EXPECT_STATS(twheel_fd(t), .started = 4, .stopped = 2, .expired = 2, .delivered = 2,
		     .carried = 1, .stopped_by_store = 2);
}

/*
 * Check the time of the timerfd without sleeping. A hierarchical wheel may set it earlier than the
 * deadline. In the second session, a tick is as long as the steps of the deadline.
 */
TEST_SESSION_FLAGS(the_timerfd_is_set_for_the_tick, TWHEEL_OPEN_PROCESS,
		   { PRIVATE }, { PRIVATE, .tick_ns = 100 * MS })
{
	__u64 deadline = twheel_now() + 1000 * MS, tick = tick_ns(twheel_fd(t)), least, most;

	/*
	 * The first deadline is far away. Each following one is earlier than all before, so that
	 * the timerfd must be set again.
	 */
	ASSERT_EQ(0, twheel_start_at(t, 99, deadline + HOUR, 0));
	for (; deadline > twheel_now() + 50 * MS; deadline -= 100 * MS) {
		ASSERT_LE(0, twheel_start_at(t, deadline / MS % 8, deadline, 0));
		if (!fires_at(t, &least, &most)) {
			ASSERT_LE(deadline, twheel_now());
			break;
		}
		ASSERT_LE(least, deadline + tick);
	}
}

/* Each expiry must be an edge for a reader that reads until nothing is left. */
TEST_SESSION_FLAGS(edges, TWHEEL_OPEN_PROCESS)
{
	struct epoll_event ready = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(0);
	struct twheel_event event;
	unsigned int round, count;
	int ret;

	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, twheel_fd(t), &ready));
	for (round = 0; round < 20; round++) {
		ASSERT_EQ(0, twheel_start(t, 1, MS, 11));
		ASSERT_EQ(0, twheel_start(t, 2, round * MS / 2, 22));
		ASSERT_EQ(0, twheel_start(t, 3, 2 * MS, 33));
		for (count = 0; count < 3;) {
			ASSERT_EQ(1, epoll_wait(epoll, &ready, 1, 60000));
			for (; (ret = twheel_read(t, &event, 1)); count++) {
				ASSERT_EQ(1, ret);
				ASSERT_LE(event.deadline_ns, event.expired_ns);
			}
		}
		ASSERT_EQ(3, count);
	}
	ASSERT_EQ(0, epoll_wait(epoll, &ready, 1, 0));
	close(epoll);
}

TEST_SESSION_FLAGS(the_timerfd_is_set_no_more_often_than_it_must, TWHEEL_OPEN_PROCESS,
		   { .shared_ids = 16 })
{
	__u64 ms = MS * test_patience(), now = twheel_now(), id;
	struct twheel_event events[16];
	int read;

	timerfd_sets = 0;
	ASSERT_EQ(0, twheel_start_at(t, 1, now + 100 * ms, 1));
	ASSERT_EQ(1, timerfd_sets);
	/* Later deadlines, refreshes, words and stops need no call of timerfd_settime(2). */
	for (id = 2; id < 10; id++)
		ASSERT_EQ(0, twheel_start_at(t, id, now + (100 + id) * ms, id));
	ASSERT_EQ(1, twheel_start_at(t, 1, now + 120 * ms, 1));
	twheel_refresh(t, 2, now + 130 * ms);
	ASSERT_EQ(0, twheel_stop(t, 3));
	read = twheel_read(t, events, 16);
	expect_before(now + 100 * ms);
	ASSERT_EQ(0, read);
	ASSERT_EQ(1, timerfd_sets);
	/* The timerfd is set once for a wake-up, however many timers expire and are read. */
	sleep_until(now + 200 * ms);
	expect_readable(twheel_fd(t));
	for (id = 0; id < 7; id++)
		ASSERT_EQ(1, twheel_read(t, events, 1));
	ASSERT_EQ(1, timerfd_sets);
	ASSERT_EQ(1, twheel_read(t, events, 1));
	ASSERT_EQ(2, timerfd_sets);
	ASSERT_EQ(0, twheel_read(t, events, 1));
	ASSERT_EQ(2, timerfd_sets);
}

/*
 * After a long sleep of the process, all timers must expire in the order of their last deadlines,
 * and words must be obeyed.
 */
TEST_SESSION_FLAGS(late_but_in_order, TWHEEL_OPEN_PROCESS, { .shared_ids = 1000 })
{
	struct twheel_event events[64];
	__u64 now = twheel_now() + 50 * MS * test_patience(), last = 0, id;
	unsigned int count = 0;
	int ret, i;

	for (id = 0; id < 1000; id++) {
		ASSERT_EQ(0, twheel_start_at(t, id, now + HOUR, id));
		ASSERT_EQ(1, twheel_start_at(t, id, now + (id * 7919 % 1000) * MS / 2, id));
	}
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
			/* the wheel does not order timers of the same tick */
			last = events[i].deadline_ns - MS;
		}
		count += ret;
	}
	ASSERT_EQ(900, count);
	EXPECT_STATS(twheel_fd(t), .started = 1000, .restarted = 1000, .expired = 900,
		     .delivered = 900, .pending = 100, .carried = 100);
}

TEST_SESSION_FLAGS(a_child_closes_and_nothing_happens, TWHEEL_OPEN_PROCESS, { .shared_ids = 4 })
{
	struct twheel_event event;

	ASSERT_EQ(0, twheel_start(t, 1, 50 * MS, 11));
	close_in_child(t);
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
}

static struct twheel *slow_reader;

static void meanwhile(void)
{
	struct twheel_event events[2];

	sleep_until(twheel_now() + 60 * MS * test_patience());
	ASSERT_EQ(2, twheel_read(slow_reader, events, 2));
}

/*
 * A reader is preempted between reading the clock and taking the lock, while another one reads. The
 * event of the first reader must not have the older time.
 */
TEST_SESSION_FLAGS(no_event_is_from_before_its_deadline, TWHEEL_OPEN_PROCESS)
{
	__u64 ms = MS * test_patience(), soon = twheel_now() + 10 * ms;
	struct twheel_event event;

	ASSERT_EQ(0, twheel_start_at(t, 1, soon, 11));
	ASSERT_EQ(0, twheel_start_at(t, 2, soon + 40 * ms, 22));
	ASSERT_EQ(0, twheel_start_at(t, 3, soon + 40 * ms, 33));
	/*
	 * Wait until a timer is due. Otherwise the preempted reader has nothing to expire, and
	 * takes no lock.
	 */
	expect_readable(twheel_fd(t));
	expect_before(soon + 40 * ms);
	slow_reader = t;
	wrap_clock = meanwhile;
	ASSERT_EQ(1, twheel_read(t, &event, 1));
	ASSERT_EQ(33, event.user_data);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
}

TEST_SESSION_FLAGS(a_timerfd_that_cannot_be_set_is_an_error, TWHEEL_OPEN_PROCESS)
{
	struct twheel_event event;
	struct twheel *other;

	timerfd_error = EPERM;
	errno = 0;
	ASSERT_EQ(-EPERM, twheel_open_flags(&other, NULL, TWHEEL_OPEN_PROCESS));
	ASSERT_EQ(0, twheel_start(t, 1, MS, 11));
	ASSERT_EQ(-EPERM, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(0, errno);
}

TEST_SESSION_FLAGS(another_clock_comes_too_late, TWHEEL_OPEN_PROCESS,
		   { .clock = 0 }, { PRIVATE, .clock = TWHEEL_CLOCK_BOOTTIME })
{
	struct twheel_setup setup = { PRIVATE, .tick_ns = 2 * MS, .clock = t->clock };

	ASSERT_EQ(0, twheel_command(t, TWHEEL_IOC_SETUP, &setup));
	setup.clock = CLOCK_MONOTONIC + CLOCK_BOOTTIME - t->clock;
	ASSERT_EQ(-EBUSY, twheel_command(t, TWHEEL_IOC_SETUP, &setup));
	setup.clock = 3;
	ASSERT_EQ(-EINVAL, twheel_command(t, TWHEEL_IOC_SETUP, &setup));
	ASSERT_EQ(0, twheel_start(t, 1, MS, 11));
	expect_readable(twheel_fd(t));
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

TEST_SESSION_FLAGS(a_timer_takes_a_hundred_bytes_and_leaves_none, TWHEEL_OPEN_PROCESS)
{
	__u64 before = resident(), full, id;

	needs_no_valgrind("keeps memory that is freed");
	for (id = 0; id < 500000; id++)
		ASSERT_EQ(0, twheel_start(t, id, HOUR + id * MS, id));
	full = resident();
	/* A timer takes 91 bytes of a chunk. Allow for pages that are used for the first time. */
	ASSERT_LE(full - before, 500000 * 100);
	for (id = 0; id < 500000; id++)
		ASSERT_EQ(0, twheel_stop(t, id));
	ASSERT_LE((resident() - before) * 2, full - before);
}

/*
 * If there is only one timer at a time, only the first START allocates memory, whatever the ids
 * are.
 */
TEST_SESSION_FLAGS(one_timer_at_a_time_takes_no_memory, TWHEEL_OPEN_PROCESS, { .max_timers = 1000 })
{
	static const __u64 ids[] = { 100, 1, 999, 500, 100, 45, 46, 47 };
	unsigned int i;

	ASSERT_EQ(0, twheel_start(t, 1, HOUR, 0));
	ASSERT_EQ(0, twheel_stop(t, 1));
	no_chunks = true;
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		ASSERT_EQ(0, twheel_start(t, ids[i], HOUR, 0));
		ASSERT_EQ(TWHEEL_STATE_PENDING, state_of(t, ids[i]));
		ASSERT_EQ(-ENOENT, twheel_stop(t, ids[i] ^ 1));
		ASSERT_EQ(0, twheel_stop(t, ids[i]));
	}
	no_chunks = false;
}

TEST_SESSION_FLAGS(no_memory_is_no_errno, TWHEEL_OPEN_PROCESS)
{
	struct rlimit none = { .rlim_cur = 0, .rlim_max = RLIM_INFINITY };
	struct twheel_batch *batch;

	needs_no_valgrind("takes memory of its own");
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &none));
	errno = 0;
	ASSERT_EQ(-ENOMEM, twheel_batch_new(t, 65536, &batch));
	ASSERT_EQ(0, errno);
	none.rlim_cur = RLIM_INFINITY;
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &none));
}
#endif

static struct twheel *filled;

static void fill(void)
{
	__u64 id;
	int ret;

	do {
		id = TWHEEL_ID_ANY;
		ret = twheel_start_flags(filled, &id, HOUR, 0, 0, 0);
	} while (!ret);
	ASSERT_EQ(-ENOSPC, ret);
}

/*
 * Try many limits. If the limit is a whole number of chunks, the table has no place for the chunk
 * that the start allocates.
 */
TEST(it_becomes_full_while_a_start_allocates)
{
	unsigned int limit;

	for (limit = 1; limit <= 64; limit++) {
		struct twheel_setup setup = { .max_timers = limit };
		__u64 id = TWHEEL_ID_ANY;

		ASSERT_EQ(0, twheel_open_flags(&filled, &setup, TWHEEL_OPEN_PROCESS));
		wrap_chunk = fill;
		ASSERT_EQ(-ENOSPC, twheel_start_flags(filled, &id, HOUR, 0, 0, 0));
		EXPECT_STATS(twheel_fd(filled), .started = limit, .pending = limit);
		twheel_close(filled);
	}
}
