// SPDX-License-Identifier: GPL-2.0
/*
 * Single timers, events, lists
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/* The timeout may be longer than a time_t of 32 bits can hold. */
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

/*
 * The deadline moves to the roundest tick within the slack. The larger the power of two that
 * divides a tick, the rounder it is.
 */
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

/* Errors are return values, and errno does not change. */
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

/* Cancel this thread as glibc does in a system call that already did its work. */
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

static __u64 time_left[4];
static unsigned int waits_for_nothing;

/* Return from a wait after 5 ms although nothing happened, a few times. */
static void wakes_for_nothing(const struct timespec *timeout)
{
	time_left[waits_for_nothing++] = timeout->tv_sec * SECOND + timeout->tv_nsec;
	sleep_ns(5 * MS);
	if (waits_for_nothing == ARRAY_SIZE(time_left))
		wrap_ppoll = NULL;
}

TEST_SESSION(a_wake_up_for_nothing_does_not_begin_the_timeout_again)
{
	struct twheel_event event;
	unsigned int i;

	waits_for_nothing = 0;
	wrap_ppoll = wakes_for_nothing;
	ASSERT_EQ(0, twheel_wait(t, &event, 1, 100 * MS));
	ASSERT_EQ(ARRAY_SIZE(time_left), waits_for_nothing);
	ASSERT_LE(time_left[0], 100 * MS);
	for (i = 1; i < ARRAY_SIZE(time_left); i++)
		ASSERT_TRUE(!time_left[i] || time_left[i] + 5 * MS <= time_left[i - 1]);
}

/* Due timers must expire in the order of their starts, even if the wheel was empty for long. */
TEST_SESSION(past_deadlines_expire_in_the_order_of_their_starts)
{
	struct twheel_event events[3];
	__u64 now;

	ASSERT_EQ(0, twheel_start(t, 1, 0, 0));
	ASSERT_EQ(1, twheel_wait(t, events, 1, -1));
	sleep_ns(50 * MS);
	now = twheel_now();
	ASSERT_EQ(0, twheel_start_at(t, 1, now - 10 * MS, 11));
	ASSERT_EQ(0, twheel_start_at(t, 2, now - 30 * MS, 22));
	ASSERT_EQ(0, twheel_start_at(t, 3, now - 20 * MS, 33));
	expect_unread_of(t, 3);
	ASSERT_EQ(3, twheel_read(t, events, 3));
	ASSERT_EQ(11, events[0].user_data);
	ASSERT_EQ(22, events[1].user_data);
	ASSERT_EQ(33, events[2].user_data);
}

static int set_up;

static void *sets_up(void *data)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_PRIVATE };
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		setup.tick_ns = (1 + i % 2) * MS;
		ASSERT_EQ(0, twheel_command(data, TWHEEL_IOC_SETUP, &setup));
	}
	__atomic_store_n(&set_up, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* SETUP may replace the wheel and its clock while another thread reads. */
TEST_SESSION(a_setup_beside_a_read)
{
	struct twheel_event event;
	pthread_t thread;

	set_up = 0;
	thread = thread_run(sets_up, t);
	while (!__atomic_load_n(&set_up, __ATOMIC_ACQUIRE))
		ASSERT_EQ(0, twheel_read(t, &event, 1));
	thread_join(thread);
}
