// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_STOP: each result is true
 */
#include <errno.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

static int open_with_unread(__u64 id, __u64 user_data)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, id, 1, user_data));
	expect_readable(fd);
	return fd;
}

TEST(stopped_is_never_delivered)
{
	__u64 delay = test_patience() * 1200 * MS;
	int fd = session_open_nonblock();
	int result;

	ASSERT_EQ(0, tw_start(fd, 3, delay, 33));
	result = tw_stop(fd, 3);
	if (result == -EALREADY)
		test_slow();
	ASSERT_EQ(0, result);
	expect_nothing(fd, delay + 100 * MS);
	EXPECT_STATS(fd, .started = 1, .stopped = 1);
}

TEST(stops_only_the_one_named)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, tw_start(fd, 4, HOUR, 44));
	ASSERT_EQ(0, tw_stop(fd, 3));
	expect_no_timer(fd, 3);
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, 4));
	EXPECT_STATS(fd, .started = 2, .stopped = 1, .pending = 1);
}

TEST(enoent_stopped_before)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, tw_stop(fd, 3));
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 1, .stopped = 1);
}

TEST(ealready_event_unread)
{
	int fd = open_with_unread(3, 33);

	ASSERT_EQ(-EALREADY, tw_stop(fd, 3));
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, tw_state(fd, 3));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
	expect_event(fd, 3, 33);
}

TEST(enoent_event_read)
{
	int fd = open_with_unread(3, 33);

	expect_event(fd, 3, 33);
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 34));
	ASSERT_EQ(0, tw_stop(fd, 3));
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 2, .expired = 1, .delivered = 1,
		     .stopped = 1);
}

TEST(kernel_id_ealready_until_read)
{
	int fd = session_open_nonblock();
	__u64 id;

	ASSERT_EQ(0, tw_start_any(fd, 0, 33, &id));
	expect_readable(fd);
	ASSERT_EQ(-EALREADY, tw_stop(fd, id));
	expect_event(fd, id, 33);
	ASSERT_EQ(-ENOENT, tw_stop(fd, id));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1);
}

TEST(withdraw_stops_what_is_pending)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, tw_stop_flags(fd, 3, TWHEEL_STOP_WITHDRAW));
	expect_no_timer(fd, 3);
	EXPECT_STATS(fd, .started = 1, .stopped = 1);
}

TEST(withdraw_takes_an_unread_event_back)
{
	int fd = open_with_unread(3, 33);

	ASSERT_EQ(1, tw_stop_flags(fd, 3, TWHEEL_STOP_WITHDRAW));
	expect_no_timer(fd, 3);
	expect_nothing(fd, 0);
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .withdrawn = 1);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 34));
	expect_event(fd, 3, 34);
}

/* Event @i of a few, the odd ones with ids of the kernel's choice. */
static __u64 expire_one(int fd, unsigned int i)
{
	__u64 id = i;

	if (i % 2)
		ASSERT_EQ(0, tw_start_any(fd, 0, i, &id));
	else
		ASSERT_EQ(0, tw_start(fd, id, 0, i));
	return id;
}

/* The queue stays a queue, wherever events are withdrawn and added. */
TEST(withdraw_from_any_place_of_the_queue)
{
	enum { EVENTS = 5 };
	unsigned int gone, i;

	for (gone = 0; gone < 1 << EVENTS; gone++) {
		int fd = session_open_nonblock();
		__u64 ids[EVENTS + 1];

		for (i = 0; i < EVENTS; i++) {
			ids[i] = expire_one(fd, i);
			expect_unread(fd, i + 1);
		}
		/* from the head, or from the tail if the head is withdrawn */
		for (i = 0; i < EVENTS; i++) {
			unsigned int nr = gone & 1 ? EVENTS - 1 - i : i;

			if (gone & 1 << nr)
				ASSERT_EQ(1, tw_stop_flags(fd, ids[nr],
							   TWHEEL_STOP_WITHDRAW));
		}
		ids[EVENTS] = expire_one(fd, EVENTS);
		expect_unread(fd, EVENTS + 1 - __builtin_popcount(gone));
		for (i = 0; i <= EVENTS; i++)
			if (!(gone & 1 << i))
				expect_event(fd, ids[i], i);
		expect_nothing(fd, 0);
		close(fd);
	}
}

/*
 * Nothing can come any more: the reader of the event has the object that it
 * names.
 */
TEST(withdraw_enoent)
{
	int fd = open_with_unread(3, 33);

	expect_event(fd, 3, 33);
	ASSERT_EQ(-ENOENT, tw_stop_flags(fd, 3, TWHEEL_STOP_WITHDRAW));
	ASSERT_EQ(-ENOENT, tw_stop_flags(fd, 5, TWHEEL_STOP_WITHDRAW));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1);
}

TEST(withdraw_ends_a_periodic_timer)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start_periodic(fd, 3, 0, MS));
	expect_readable(fd);
	ASSERT_EQ(1, tw_stop_flags(fd, 3, TWHEEL_STOP_WITHDRAW));
	expect_no_timer(fd, 3);
	expect_nothing(fd, 20 * MS);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .withdrawn = 1);
}

TEST(withdraw_makes_room)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .max_timers = 4 }));
	ASSERT_EQ(0, tw_start(fd, 0, 0, 0));
	ASSERT_EQ(0, tw_start(fd, 1, HOUR, 0));
	ASSERT_EQ(0, tw_start(fd, 2, HOUR, 0));
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 0));
	expect_readable(fd);
	ASSERT_EQ(1, tw_stop_flags(fd, 0, TWHEEL_STOP_WITHDRAW));
	ASSERT_EQ(0, tw_start(fd, 0, HOUR, 0));
}

TEST(stop_needs_no_writable_memory)
{
	struct twheel_stop stop = { .id = 3 };
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, tw_ioctl(fd, TWHEEL_IOC_STOP,
			      page_read_only(&stop, sizeof(stop))));
	EXPECT_STATS(fd, .started = 1, .stopped = 1);
}

/*
 * Stops a timer at about the time of its expiry, many times over. Result 0
 * means that no event comes. EALREADY means that exactly one event exists and
 * is readable already.
 */
static void race_with_expiry(unsigned int cpu_of_start, unsigned int cpu_of_stop)
{
	int fd = session_open_nonblock();
	__u64 tick = tick_ns(fd);
	struct twheel_event event;
	unsigned int stopped = 0;
	__u64 deadline;
	int result, i;

	for (i = 0; i < 1500; i++) {
		pin_cpu(cpu_of_start);
		deadline = now_ns() + tick;
		ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS,
					    i));
		pin_cpu(cpu_of_stop);
		while (now_ns() < deadline + tick * (i % 64) / 64)
			;
		result = tw_stop(fd, 3);
		if (!result) {
			stopped++;
			ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
			continue;
		}
		ASSERT_EQ(-EALREADY, result);
		ASSERT_EQ(1, tw_read(fd, &event, 1));
		ASSERT_EQ(i, event.user_data);
		ASSERT_LE(deadline, event.expired_ns);
	}
	test_note("%u of %d stopped in time", stopped, i);
	EXPECT_STATS(fd, .started = i, .stopped = stopped,
		     .expired = i - stopped, .delivered = i - stopped);
}

TEST(race_with_expiry_on_one_cpu)
{
	race_with_expiry(0, 0);
}

TEST(race_with_expiry_on_another_cpu)
{
	race_with_expiry(1, 0);
}

/*
 * The same with TWHEEL_STOP_WITHDRAW, while a callback may be on its way: there
 * is no event after it, ever, so that what user_data points to can be freed.
 */
TEST(nothing_comes_after_a_withdrawal)
{
	int fd = session_open_nonblock(), result, i;
	unsigned int stopped = 0, withdrawn = 0;
	__u64 tick = tick_ns(fd), deadline;
	struct twheel_event event;

	for (i = 0; i < 1500; i++) {
		pin_cpu(1);
		deadline = now_ns() + tick;
		ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS,
					    i));
		pin_cpu(0);
		while (now_ns() < deadline + tick * (i % 64) / 64)
			;
		result = tw_stop_flags(fd, 3, TWHEEL_STOP_WITHDRAW);
		ASSERT_LE(0, result);
		stopped += !result;
		withdrawn += result;
		ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
		expect_no_timer(fd, 3);
	}
	test_note("%u stopped, %u withdrawn", stopped, withdrawn);
	EXPECT_STATS(fd, .started = i, .stopped = stopped, .expired = withdrawn,
		     .withdrawn = withdrawn);
}

struct stopper {
	int fd;
	bool done;
	unsigned int stopped;
	unsigned int already;
};

static void *stop_again_and_again(void *data)
{
	struct stopper *stopper = data;
	int result;

	while (!READ_ONCE(stopper->done)) {
		result = tw_stop(stopper->fd, 3);
		if (!result)
			stopper->stopped++;
		else if (result == -EALREADY)
			stopper->already++;
		else
			ASSERT_EQ(-ENOENT, result);
	}
	return NULL;
}

/* One thread starts, another stops: each start ends in exactly one way. */
TEST(race_of_two_threads_has_one_winner)
{
	struct stopper stopper = { .fd = session_open_nonblock() };
	pthread_t thread = thread_run(stop_again_and_again, &stopper);
	__u64 end = now_ns() + 2 * SECOND;
	unsigned int started = 0, read = 0;
	struct twheel_event event;
	int result;

	while (now_ns() < end) {
		result = tw_start(stopper.fd, 3, 0, started);
		if (!result)
			started++;
		else if (result < 0)
			ASSERT_EQ(-EALREADY, result);
		if (tw_read(stopper.fd, &event, 1) == 1)
			read++;
	}
	WRITE_ONCE(stopper.done, true);
	thread_join(thread);
	if (!tw_stop(stopper.fd, 3))
		stopper.stopped++;
	if (tw_read(stopper.fd, &event, 1) == 1)
		read++;
	test_note("%u started, %u stopped, %u read", started, stopper.stopped,
		  read);
	ASSERT_EQ(started, stopper.stopped + read);
	expect_balance(stopper.fd);
}
