// SPDX-License-Identifier: GPL-2.0
/*
 * read() returns whole events, in order, each of them once
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("efault_*", "array_*", "restarted_*", "a_signal_*", "readv_*");

#define EVENT	sizeof(struct twheel_event)
#define READERS	8

/* Open a session in which the timers 0 to @count - 1 have expired in this order. */
static int open_with_events(int count)
{
	int fd = session_open();
	int i;

	keep_order(fd);
	for (i = 0; i < count; i++)
		ASSERT_EQ(0, tw_start_flags(fd, i, 1, TWHEEL_START_ABS,
					    100 + i));
	expect_unread(fd, count);
	return fd;
}

static void expect_ids(const struct twheel_event *events, int first, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		ASSERT_EQ(first + i, events[i].id);
		ASSERT_EQ(100 + first + i, events[i].user_data);
	}
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
	int fd = session_open();

	/* such a read must not wait for an event, either */
	ASSERT_EQ(-1, read(fd, bytes, EVENT - 1));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, read(fd, bytes, 0));
	ASSERT_EQ(EINVAL, errno);
	fd = open_with_events(1);
	memset(bytes, GARBAGE, sizeof(bytes));
	ASSERT_EQ(-1, read(fd, bytes, EVENT - 1));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, read(fd, bytes, 1));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_TRUE(is_garbage(bytes, sizeof(bytes)));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
}

/*
 * On s390 every address belongs to the program, so this buffer wraps at the end of the address
 * space.
 */
TEST(efault_at_the_end_of_the_address_space)
{
	volatile unsigned long last = -EVENT;
	int fd = open_with_events(3);

	ASSERT_EQ(-1, read(fd, (void *)last, 3 * EVENT));
	ASSERT_EQ(EFAULT, errno);
	EXPECT_STATS(fd, .started = 3, .expired = 3, .unread = 3);
}

static void read_part(size_t n, int protection)
{
	static const struct twheel_event none[70];
	const int count = ARRAY_SIZE(none), whole = n / EVENT;
	int fd = open_with_events(count);
	ssize_t size = read(fd, partly_usable(none, sizeof(none), n, protection), sizeof(none));

	ASSERT_EQ(whole ? whole * (ssize_t)EVENT : -1, size);
	if (!whole)
		ASSERT_EQ(EFAULT, errno);
	EXPECT_STATS(fd, .started = count, .expired = count, .delivered = whole,
		     .unread = count - whole);
	close(fd);
}

/*
 * Read into an array that ends, or becomes read-only, at different places. It is longer than the
 * part that a read copies at once. Events that do not fit must remain unread.
 */
TEST(array_that_ends_or_cannot_be_written)
{
	size_t n;

	for (n = 0; n < 70 * EVENT; n += n < 2 * EVENT ? 4 : 3 * EVENT / 2 + 4) {
		read_part(n, PROT_NONE);
		read_part(n, PROT_READ);
	}
}

/*
 * The event begins in memory that is read-only. In the writable memory behind it, where the event
 * ends, the kernel may write zeros, but nothing else.
 */
TEST(efault_event_that_begins_in_a_hole)
{
	struct twheel_start start = { .id = 77, .expires_ns = MS, .period_ns = MS,
				      .user_data = ~0ULL };
	size_t page = sysconf(_SC_PAGESIZE), n, i;
	int fd = session_open_nonblock();
	unsigned char *good = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ(0, tw_ioctl(fd, TWHEEL_IOC_START, &start));
	expect_unread(fd, 1);
	/* Wait for overruns: then no field but @reserved is 0, and a copied field is noticed. */
	sleep_ns(20 * MS);
	ASSERT_EQ(0, mprotect(good, page, PROT_READ));
	good += page;
	for (n = 1; n < EVENT; n++) {
		memset(good, GARBAGE, page);
		ASSERT_EQ(-1, read(fd, good - n, EVENT));
		ASSERT_EQ(EFAULT, errno);
		for (i = 0; i < page; i++)
			ASSERT_TRUE(good[i] == GARBAGE || !good[i]);
	}
	ASSERT_EQ(EVENT, read(fd, good, EVENT));
}

static void on_signal(int number)
{
	(void)number;
}

/* Send a signal to a reader that sleeps. */
static pthread_t interrupt(struct blocked *blocked, int flags)
{
	struct sigaction action = {
		.sa_handler = on_signal,
		.sa_flags = flags,
	};
	pthread_t thread;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	thread = run_blocked(blocked);
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

/*
 * Read many events, and send a signal after @after ns, or none if @after is 0. Returns the duration
 * of the first read, and sets *@early if this read returned before all events were read.
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

	took = read_with_signal(0, &early);
	ASSERT_TRUE(!early);
	while (!early) {
		ASSERT_LT(rounds++, 200);
		took = read_with_signal(took / 2 + US, &early);
	}
	test_note("a read ended early in round %d", rounds);
}

/*
 * An event may cross the border of two buffers. A read that has an event must not wait until
 * another buffer is full.
 */
TEST(readv_and_preadv2)
{
	struct twheel_event events[3];
	int fd = open_with_events(3);
	struct iovec iov[4] = {
		{ .iov_base = &events[0], .iov_len = 10 },
		{ .iov_base = (char *)events + 10, .iov_len = EVENT },
		{ .iov_base = NULL, .iov_len = 0 },
		{ .iov_base = (char *)events + 10 + EVENT, .iov_len = EVENT },
	};
	struct iovec whole[2] = {
		{ .iov_base = &events[2], .iov_len = EVENT },
		{ .iov_base = &events[1], .iov_len = EVENT },
	};

	memset(events, GARBAGE, sizeof(events));
	ASSERT_EQ(2 * EVENT, readv(fd, iov, 4));
	expect_ids(events, 0, 2);
	EXPECT_STATS(fd, .started = 3, .expired = 3, .delivered = 2,
		     .unread = 1);
	ASSERT_EQ(EVENT, readv(fd, whole, 2));
	expect_ids(&events[2], 2, 1);
	ASSERT_EQ(-1, preadv2(fd, whole, 1, -1, RWF_NOWAIT));
	ASSERT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, tw_start(fd, 5, 0, 105));
	expect_unread(fd, 1);
	ASSERT_EQ(EVENT, preadv2(fd, whole, 1, -1, RWF_NOWAIT));
	expect_ids(&events[2], 5, 1);
}

static void *read_one(void *data)
{
	struct twheel_event event;

	ASSERT_EQ(1, tw_read(*(int *)data, &event, 1));
	return NULL;
}

/*
 * Block as many readers as there are timers in a tick, each with room for one event. All readers
 * must wake up.
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
