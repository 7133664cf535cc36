// SPDX-License-Identifier: GPL-2.0
/*
 * read(): whole events, in order, each of them once
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("efault_*", "fault_*", "restarted_*", "a_signal_*", "*readv*", "processes_*");

#define EVENT	sizeof(struct twheel_event)
#define READERS	8

/* Opens a session in which timers 0 to @count - 1 have expired in turn. */
static int open_with_events(int count)
{
	int fd = session_open();
	int i;

	pin_cpu(0);
	for (i = 0; i < count; i++)
		ASSERT_EQ(0, tw_start_flags(fd, i, 1, TWHEEL_START_ABS,
					    100 + i));
	expect_unread(fd, count);
	return fd;
}

static void set_nonblock(int fd)
{
	ASSERT_EQ(0, fcntl(fd, F_SETFL, O_NONBLOCK));
}

static void expect_ids(const struct twheel_event *events, int first, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		ASSERT_EQ(first + i, events[i].id);
		ASSERT_EQ(100 + first + i, events[i].user_data);
	}
}

TEST(all_fields_are_set)
{
	struct twheel_event event;
	int fd = session_open();
	__u64 deadline;

	deadline = now_ns() + 10 * MS;
	ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS, 33));
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(3, event.id);
	ASSERT_EQ(33, event.user_data);
	ASSERT_EQ(deadline, event.deadline_ns);
	ASSERT_LE(deadline, event.expired_ns);
	ASSERT_LE(event.expired_ns, now_ns());
	ASSERT_EQ(0, event.overruns);
	ASSERT_EQ(0, event.flags);
	ASSERT_EQ(0, event.reserved);
}

TEST(blocks_until_there_is_an_event)
{
	struct twheel_event event;
	int fd = session_open();
	__u64 before = now_ns();

	ASSERT_EQ(0, tw_start(fd, 3, 50 * MS, 33));
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_LE(before + 50 * MS, now_ns());
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1);
}

TEST(takes_as_many_as_fit)
{
	struct twheel_event events[4];
	int fd = open_with_events(10);

	ASSERT_EQ(4, tw_read(fd, events, 4));
	expect_ids(events, 0, 4);
	EXPECT_STATS(fd, .started = 10, .expired = 10, .delivered = 4,
		     .unread = 6);
	ASSERT_EQ(4, tw_read(fd, events, 4));
	expect_ids(events, 4, 4);
	ASSERT_EQ(2, tw_read(fd, events, 4));
	expect_ids(events, 8, 2);
	EXPECT_STATS(fd, .started = 10, .expired = 10, .delivered = 10);
}

TEST(returns_whole_events_only)
{
	struct twheel_event events[4];
	int fd = open_with_events(10);

	memset(events, GARBAGE, sizeof(events));
	ASSERT_EQ(3 * EVENT, read(fd, events, 4 * EVENT - 1));
	expect_ids(events, 0, 3);
	ASSERT_TRUE(is_garbage(&events[3], EVENT));
	ASSERT_EQ(EVENT, read(fd, events, EVENT + 1));
	expect_ids(events, 3, 1);
}

TEST(einval_buffer_smaller_than_an_event)
{
	char bytes[EVENT];
	int fd = open_with_events(1);

	memset(bytes, GARBAGE, sizeof(bytes));
	ASSERT_EQ(-1, read(fd, bytes, EVENT - 1));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, read(fd, bytes, 1));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_TRUE(is_garbage(bytes, sizeof(bytes)));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
}

TEST(einval_does_not_wait)
{
	char bytes[EVENT];
	int fd = session_open();

	ASSERT_EQ(-1, read(fd, bytes, EVENT - 1));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, read(fd, bytes, 0));
	ASSERT_EQ(EINVAL, errno);
}

TEST(eagain_without_events)
{
	struct twheel_event event;
	int fd = session_open_nonblock();

	ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
	EXPECT_STATS(fd, .started = 1, .pending = 1);
}

TEST(efault_keeps_the_events)
{
	struct twheel_event events[3];
	int fd = open_with_events(3);

	ASSERT_EQ(-1, read(fd, page_end(0), 3 * EVENT));
	ASSERT_EQ(EFAULT, errno);
	EXPECT_STATS(fd, .started = 3, .expired = 3, .unread = 3);
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, tw_state(fd, 0));
	ASSERT_EQ(3, tw_read(fd, events, 3));
	expect_ids(events, 0, 3);
}

TEST(fault_after_some_events_returns_those)
{
	struct twheel_event events[8];
	int fd = open_with_events(8);

	ASSERT_EQ(3 * EVENT, read(fd, page_end(4 * EVENT - 1), 8 * EVENT));
	EXPECT_STATS(fd, .started = 8, .expired = 8, .delivered = 3,
		     .unread = 5);
	ASSERT_EQ(5, tw_read(fd, events, 8));
	expect_ids(events, 3, 5);
}

struct blocked {
	int fd;
	pid_t thread;
	ssize_t result;
	struct twheel_event event;
};

static void *read_blocked(void *data)
{
	struct blocked *blocked = data;

	WRITE_ONCE(blocked->thread, gettid());
	blocked->result = tw_read(blocked->fd, &blocked->event, 1);
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
}

/* A reader that sleeps gets a signal. */
static pthread_t interrupt(struct blocked *blocked, int flags)
{
	struct sigaction action = {
		.sa_handler = on_signal,
		.sa_flags = flags,
	};
	pthread_t thread;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	thread = thread_run(read_blocked, blocked);
	expect_asleep(&blocked->thread);
	ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
	return thread;
}

TEST(eintr_by_a_signal)
{
	struct blocked blocked = { .fd = session_open() };
	int fd = blocked.fd;

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	thread_join(interrupt(&blocked, 0));
	ASSERT_EQ(-EINTR, blocked.result);
	EXPECT_STATS(fd, .started = 1, .pending = 1);
}

TEST(restarted_after_a_signal)
{
	struct blocked blocked = { .fd = session_open() };
	pthread_t thread = interrupt(&blocked, SA_RESTART);

	sleep_ns(50 * MS);
	ASSERT_EQ(0, tw_start(blocked.fd, 3, 0, 33));
	thread_join(thread);
	ASSERT_EQ(1, blocked.result);
	ASSERT_EQ(3, blocked.event.id);
}

static void start_spread(int fd, __u64 count, __u64 *seed)
{
	__u64 base = now_ns() + test_patience() * 400 * MS;
	__u64 id;

	for (id = 0; id < count; id++)
		ASSERT_EQ(0, tw_start_flags(fd, id, base +
					    random_number(seed) % (100 * MS),
					    TWHEEL_START_ABS, id));
	if (now_ns() > base)
		test_slow();
}

/* On one CPU, timers of different ticks come in the order of deadlines. */
TEST(order_of_expiry)
{
	struct twheel_event events[64];
	__u64 deadline = 0, expired = 0;
	int fd = session_open();
	__u64 tick = tick_ns(fd);
	ssize_t got, i;
	__u64 seed = 42;
	int read = 0;

	pin_cpu(0);
	start_spread(fd, 500, &seed);
	while (read < 500) {
		got = tw_read(fd, events, 64);
		ASSERT_LT(0, got);
		for (i = 0; i < got; i++) {
			ASSERT_LE(expired, events[i].expired_ns);
			ASSERT_LT(deadline, events[i].deadline_ns + tick);
			expired = events[i].expired_ns;
			if (deadline < events[i].deadline_ns)
				deadline = events[i].deadline_ns;
		}
		read += got;
	}
	EXPECT_STATS(fd, .started = 500, .expired = 500, .delivered = 500);
}

TEST(thousands_in_one_read)
{
	const int count = 20000;
	struct twheel_event *events = calloc(count, EVENT);
	int fd = open_with_events(count);

	ASSERT_EQ(count, tw_read(fd, events, count));
	expect_ids(events, 0, count);
	EXPECT_STATS(fd, .started = count, .expired = count,
		     .delivered = count);
}

/*
 * Reads many events, with a signal after @after ns, or none. Returns how long the
 * first read took, and whether it did not get all that there was.
 */
static __u64 read_with_signal(__u64 after, bool *early)
{
	static struct twheel_event events[10000];
	const int count = ARRAY_SIZE(events);
	int fd = open_with_events(count), at, got;
	__u64 begin, took;

	memset(events, 0, sizeof(events));
	begin = now_ns();
	alarm_once(after, 0);
	at = tw_read(fd, events, count);
	took = now_ns() - begin;
	*early = at < count;
	for (; at < count; at += got) {
		ASSERT_LT(0, at);
		got = tw_read(fd, events + at, count - at);
		ASSERT_LT(0, got);
	}
	expect_ids(events, 0, count);
	close(fd);
	return took;
}

/* Documentation/user-api.rst, read: a signal ends it after at least one event. */
TEST(a_signal_ends_it_after_some_events)
{
	int rounds = 0;
	bool early;
	__u64 took;

	/* The time of one that may have been held up is no measure. */
	took = read_with_signal(0, &early);
	ASSERT_TRUE(!early);
	while (!early) {
		ASSERT_LT(rounds++, 200);
		took = read_with_signal(took / 2 + US, &early);
	}
	test_note("a read ended early in round %d", rounds);
}

/* The buffers are one room: an event may lie across two of them. */
TEST(readv_in_odd_pieces)
{
	struct twheel_event events[3];
	int fd = open_with_events(3);
	struct iovec iov[4] = {
		{ .iov_base = &events[0], .iov_len = 10 },
		{ .iov_base = (char *)events + 10, .iov_len = EVENT },
		{ .iov_base = NULL, .iov_len = 0 },
		{ .iov_base = (char *)events + 10 + EVENT, .iov_len = EVENT },
	};

	memset(events, GARBAGE, sizeof(events));
	ASSERT_EQ(2 * EVENT, readv(fd, iov, 4));
	expect_ids(events, 0, 2);
	EXPECT_STATS(fd, .started = 3, .expired = 3, .delivered = 2,
		     .unread = 1);
}

/* It waits for the first event, not for a full buffer. */
TEST(readv_does_not_wait_for_the_second_buffer)
{
	struct twheel_event events[2];
	int fd = open_with_events(1);
	struct iovec iov[2] = {
		{ .iov_base = &events[0], .iov_len = EVENT },
		{ .iov_base = &events[1], .iov_len = EVENT },
	};

	ASSERT_EQ(EVENT, readv(fd, iov, 2));
	expect_ids(events, 0, 1);
}

TEST(readv_efault_keeps_the_event)
{
	struct twheel_event events[2];
	int fd = open_with_events(2);
	struct iovec iov[2] = {
		{ .iov_base = &events[0], .iov_len = EVENT + 8 },
		{ .iov_base = page_end(0), .iov_len = EVENT },
	};

	ASSERT_EQ(EVENT, readv(fd, iov, 2));
	ASSERT_EQ(-1, readv(fd, &iov[1], 1));
	ASSERT_EQ(EFAULT, errno);
	EXPECT_STATS(fd, .started = 2, .expired = 2, .delivered = 1,
		     .unread = 1);
}

/* This read does not wait, though the descriptor would. */
TEST(preadv2_nowait)
{
	struct twheel_event event;
	struct iovec iov = { .iov_base = &event, .iov_len = EVENT };
	int fd = open_with_events(1);

	ASSERT_EQ(EVENT, preadv2(fd, &iov, 1, -1, RWF_NOWAIT));
	expect_ids(&event, 0, 1);
	ASSERT_EQ(-1, preadv2(fd, &iov, 1, -1, RWF_NOWAIT));
	ASSERT_EQ(EAGAIN, errno);
}

TEST(readv_of_less_than_there_is_room)
{
	struct twheel_event events[2];
	int fd = open_with_events(1);
	struct iovec iov[2] = {
		{ .iov_base = &events[0], .iov_len = EVENT },
		{ .iov_base = &events[1], .iov_len = EVENT },
	};

	set_nonblock(fd);
	ASSERT_EQ(EVENT, readv(fd, iov, 2));
	expect_ids(events, 0, 1);
	ASSERT_EQ(-1, readv(fd, iov, 2));
	ASSERT_EQ(EAGAIN, errno);
}

struct reader {
	int fd;
	int room;
	unsigned int *seen;
	unsigned int read;
};

/* Reads until it gets a timer whose user_data is 0, which is the end. */
static void *read_until_end(void *data)
{
	struct reader *reader = data;
	struct twheel_event events[16];
	ssize_t got, i;

	for (;;) {
		got = tw_read(reader->fd, events, reader->room);
		ASSERT_LT(0, got);
		for (i = 0; i < got; i++) {
			if (!events[i].user_data)
				return NULL;
			__atomic_add_fetch(&reader->seen[events[i].id], 1,
					   __ATOMIC_RELAXED);
			reader->read++;
		}
	}
}

static void expect_delivered(int fd, __u64 count)
{
	struct twheel_stats stats;

	do {
		sleep_ns(MS);
		ASSERT_EQ(0, tw_stats(fd, &stats));
	} while (stats.delivered < count);
}

/*
 * Several threads read one session. A reader may see its end while another one
 * still holds earlier events. The seen array is therefore checked only after
 * all readers have ended.
 */
static void share_events(int room)
{
	static unsigned int seen[2000];
	struct reader readers[READERS];
	pthread_t threads[READERS];
	int fd = session_open();
	__u64 seed = 7;
	int i;

	for (i = 0; i < READERS; i++) {
		readers[i] = (struct reader){
			.fd = fd, .room = room, .seen = seen };
		threads[i] = thread_run(read_until_end, &readers[i]);
	}
	for (i = 0; i < 2000; i++)
		ASSERT_EQ(0, tw_start(fd, i, random_number(&seed) %
				      (200 * MS), 1));
	expect_delivered(fd, 2000);
	for (i = 0; i < READERS; i++) {
		ASSERT_EQ(0, tw_start(fd, 5000 + i, 0, 0));
		while (tw_state(fd, 5000 + i) != -ENOENT)
			sleep_ns(MS);
	}
	for (i = 0; i < READERS; i++)
		thread_join(threads[i]);
	for (i = 0; i < 2000; i++)
		ASSERT_EQ(1, seen[i]);
	EXPECT_STATS(fd, .started = 2000 + READERS, .expired = 2000 + READERS,
		     .delivered = 2000 + READERS);
}

TEST(readers_share_single_events)
{
	share_events(1);
}

TEST(readers_share_many_events)
{
	share_events(16);
}

static void *read_one(void *data)
{
	struct twheel_event event;

	ASSERT_EQ(1, tw_read(*(int *)data, &event, 1));
	return NULL;
}

/*
 * As many blocked readers as timers of one tick, each with room for one event.
 * All of them must wake up, though only one tick can wake them.
 */
TEST(no_reader_sleeps_while_there_are_events)
{
	pthread_t threads[READERS];
	int fd = session_open();
	__u64 deadline;
	int round, i;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < READERS; i++)
			threads[i] = thread_run(read_one, &fd);
		deadline = now_ns() + 50 * MS;
		for (i = 0; i < READERS; i++)
			ASSERT_EQ(0, tw_start_flags(fd, i, deadline,
						    TWHEEL_START_ABS, 1));
		for (i = 0; i < READERS; i++)
			thread_join(threads[i]);
	}
}

TEST(processes_share_events)
{
	struct twheel_event event;
	int fd = session_open();
	pid_t pids[4];
	int i, j;

	for (i = 0; i < 4; i++) {
		pids[i] = fork();
		ASSERT_LE(0, pids[i]);
		if (pids[i])
			continue;
		for (j = 0; j < 25; j++)
			ASSERT_EQ(1, tw_read(fd, &event, 1));
		_exit(0);
	}
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, tw_start(fd, i, i * MS / 2, 1));
	for (i = 0; i < 4; i++)
		expect_child(pids[i]);
	EXPECT_STATS(fd, .started = 100, .expired = 100, .delivered = 100);
}
