// SPDX-License-Identifier: GPL-2.0
/*
 * One timer at a time, events, lists
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/* A wait may be longer than a time_t of 32 bits says. */
TEST_SESSION(wait_for_a_hundred_years)
{
	__u64 before = twheel_now();
	struct twheel_event event;

	ASSERT_EQ(0, twheel_start(t, 3, 5 * MS, 33));
	ASSERT_EQ(1, twheel_wait(t, &event, 1, 100 * 365 * 24 * HOUR));
	ASSERT_EQ(3, event.id);
	ASSERT_EQ(33, event.user_data);
	ASSERT_LE(before + 5 * MS, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	ASSERT_LE(event.expired_ns, twheel_now());
	ASSERT_EQ(0, event.flags);
	ASSERT_EQ(0, twheel_read(t, &event, 1));
}

/* The deadline moves to the roundest tick within the slack: 640 of 64 ms. */
TEST(slack_takes_a_round_tick)
{
	const __u64 latest = ~0ULL >> 1, tick = 1000000, far = tick << 40;

	ASSERT_EQ(far + 5, twheel_round_deadline(far + 5, 0, tick));
	ASSERT_EQ(far + 5, twheel_round_deadline(far + 5, tick - 6, tick));
	ASSERT_EQ(far + tick, twheel_round_deadline(far + 5, tick - 5, tick));
	ASSERT_EQ(far + 4 * tick, twheel_round_deadline(far + tick + 1, 6 * tick, tick));
	ASSERT_EQ(far + 8 * tick, twheel_round_deadline(far + tick + 1, 7 * tick, tick));
	ASSERT_EQ(far, twheel_round_deadline(far - 9, 4000 * (tick / 1000), tick));
	ASSERT_EQ(far + 640 * tick, twheel_round_deadline(far + 577 * tick, 63 * tick, tick));
	ASSERT_EQ(latest / tick * tick, twheel_round_deadline(latest / tick * tick, tick, tick));
	ASSERT_EQ(latest, twheel_round_deadline(latest, ~0ULL, tick));
	ASSERT_EQ(latest + 1, twheel_round_deadline(latest + 1, ~0ULL, tick));
	ASSERT_EQ(0, twheel_round_deadline(0, ~0ULL, tick));
	ASSERT_EQ(tick << 43, twheel_round_deadline(1, latest, tick));
}

/* Errors are return values. The functions leave errno alone. */
TEST_SESSION(calls_that_are_refused)
{
	struct twheel *writer;
	struct twheel_event event;
	struct twheel_entry entry;
	__u64 cursor = 0;

	errno = 0;
	ASSERT_EQ(-ENOENT, twheel_stop(t, 3));
	ASSERT_EQ(-EINVAL, twheel_start(t, TWHEEL_ID_ANY, HOUR, 37));
	ASSERT_EQ(-EINVAL, twheel_list(t, &entry, 0, &cursor));
	ASSERT_EQ(-EINVAL, twheel_read(t, &event, 0));
	ASSERT_EQ(0, errno);
	if (in_process())
		return;
	ASSERT_EQ(0, twheel_attach(&writer, open("/dev/twheel", O_WRONLY)));
	ASSERT_EQ(0, twheel_start(writer, 3, 0, 33));
	ASSERT_EQ(-EBADF, twheel_wait(writer, &event, 1, -1));
	ASSERT_EQ(0, errno);
	twheel_close(writer);
}

TEST_SESSION(wait_ends_after_its_time)
{
	__u64 before = twheel_now();
	struct twheel_event event;

	ASSERT_EQ(0, twheel_wait(t, &event, 1, 0));
	ASSERT_EQ(0, twheel_start(t, 3, HOUR, 33));
	ASSERT_EQ(0, twheel_wait(t, &event, 1, 20 * MS));
	ASSERT_LE(before + 20 * MS, twheel_now());
}

TEST_SESSION(wait_ends_with_a_signal)
{
	struct twheel_event event;

	errno = 0;
	alarm_once(200 * MS, 0);
	ASSERT_EQ(-EINTR, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(0, errno);
}

static int waited;

/* Cancel this thread like glibc does in a system call whose work is done. */
static void cancelled(void)
{
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void *waits(void *data)
{
	struct twheel_event event;

	waited = twheel_wait(data, &event, 1, -1);
	return NULL;
}

TEST_SESSION(a_thread_that_is_cancelled_takes_no_event_with_it)
{
	ASSERT_EQ(0, twheel_start(t, 3, 0, 33));
	expect_unread_of(t, 1);
	wrap_read = cancelled;
	thread_join(thread_run(waits, t));
	ASSERT_EQ(1, waited);
}

static struct twheel *open_on(__u32 clock, unsigned int flags)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_PRIVATE,
		.clock = clock,
		.shared_ids = 4,
	};
	struct twheel_info info;
	struct twheel *t;

	ASSERT_EQ(0, twheel_open_flags(&t, &setup, flags));
	ASSERT_EQ(0, twheel_info(t, &info));
	ASSERT_EQ(clock ? clock : TWHEEL_CLOCK_MONOTONIC, info.clock);
	return t;
}

/* Check that the deadline of a timer is a delay from now, by the clock of its session. */
static void expect_from_now(struct twheel *t, __u64 id, __u64 before, __u64 delay)
{
	__u64 deadline = deadline_of(t, id);

	ASSERT_LE(before + delay, deadline);
	ASSERT_LE(deadline, twheel_now_of(t) + delay);
	if (id < t->shared_ids)
		ASSERT_EQ(deadline, twheel_word(t, id));
}

static void expect_clock(struct twheel *t, __u64 id)
{
	struct twheel_batch *batch;
	struct twheel_event event;
	__u64 before = twheel_now_of(t);

	ASSERT_EQ(0, twheel_start(t, id, HOUR, 33));
	expect_from_now(t, id, before, HOUR);
	ASSERT_EQ(1, twheel_start(t, id, 2 * HOUR, 33));
	expect_from_now(t, id, before, 2 * HOUR);
	ASSERT_EQ(0, twheel_batch_new(t, 8, &batch));
	ASSERT_EQ(0, twheel_batch_start(batch, id, 3 * HOUR, 33));
	ASSERT_EQ(1, twheel_batch_flush(batch));
	twheel_batch_free(batch);
	expect_from_now(t, id, before, 3 * HOUR);
	ASSERT_EQ(0, twheel_push(t, id, twheel_now_of(t) + HOUR, 33));
	before = twheel_now_of(t);
	ASSERT_EQ(1, twheel_start(t, id, 5 * MS, 33));
	ASSERT_EQ(1, twheel_wait(t, &event, 1, -1));
	ASSERT_EQ(id, event.id);
	ASSERT_LE(before + 5 * MS, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	ASSERT_LE(event.expired_ns, twheel_now_of(t));
}

static void expect_clocks(unsigned int flags)
{
	static const __u32 clocks[] = { 0, CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct twheel *t = open_on(clocks[i], flags);
		clockid_t clock = clocks[i] ? (clockid_t)clocks[i] : CLOCK_MONOTONIC;
		__u64 before = clock_ns(clock), now = twheel_now_of(t);

		ASSERT_LE(before, now);
		ASSERT_LE(now, clock_ns(clock));
		/* With a word and without. */
		expect_clock(t, 3);
		expect_clock(t, 7);
		twheel_close(t);
	}
}

static void expect_all_clocks(void *data)
{
	(void)data;
	ASSERT_LE(clock_ns(CLOCK_MONOTONIC) + 3000 * SECOND, clock_ns(CLOCK_BOOTTIME));
	expect_clocks(0);
	expect_clocks(TWHEEL_OPEN_ONE_THREAD);
}

/* A wheel on another clock, where the clocks are far apart. */
TEST(clocks)
{
	children_in_time_ns();
	in_child(expect_all_clocks, NULL);
}

/* A poller is woken once for all events, after the first of them waited for @wake_ns. */
TEST_SESSION(events_wait_for_their_reader, { .wake_ns = 100 * MS })
{
	struct twheel_event events[3];
	__u64 begin, i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		ASSERT_EQ(0, twheel_start(t, i, (100 + 10 * i) * MS, i));
	begin = twheel_now();
	expect_readable(twheel_fd(t));
	ASSERT_EQ(1, twheel_read(t, events, 1));
	if (begin >= events[0].deadline_ns)
		test_skip("the machine was held up");
	ASSERT_LE(events[0].deadline_ns + 100 * MS, twheel_now());
	for (i = 1; i < ARRAY_SIZE(events); i++)
		ASSERT_EQ(1, twheel_wait(t, &events[i], 1, -1));
}
