// SPDX-License-Identifier: GPL-2.0
/*
 * CLOCK_REALTIME is set forwards and backwards
 *
 * No wheel uses that clock, so timers must not be affected. Documentation/examples/wall_clock.c is
 * a program with deadlines on that clock.
 */
#define _GNU_SOURCE
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define TIMERS		3000
#define STEPS		1000
/* Length of the time within which all timers are due. */
#define SPAN		(300 * MS)

static void step(long long by)
{
	__u64 ns = clock_ns(CLOCK_REALTIME) + by;
	const struct timespec ts = { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };

	if (clock_settime(CLOCK_REALTIME, &ts))
		test_skip("the clock cannot be set");
}

static void jump_about(__u32 clock)
{
	int fd = session_open_nonblock(), left = TIMERS, i;
	struct twheel_event events[64];
	__u64 begin = now_ns(), seed = 5;
	ssize_t got, n;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE, .clock = clock }));
	for (i = 0; i < TIMERS; i++)
		ASSERT_EQ(0, tw_start_flags(fd, i, clock_ns(clock) + random_number(&seed) % SPAN,
					    TWHEEL_START_ABS, i));
	for (i = 0; i < STEPS || left; i++) {
		if (i < STEPS)
			step(i % 2 ? -(long long)HOUR : (long long)HOUR);
		got = tw_read(fd, events, 64);
		for (n = 0; n < got; n++) {
			ASSERT_LE(events[n].deadline_ns, events[n].expired_ns);
			ASSERT_LE(events[n].expired_ns, clock_ns(clock));
			left--;
		}
	}
	/* If a jump of an hour counted, there would be 3,600,000 missed ticks. */
	test_note("%d steps in %llu ms, %llu ticks missed", STEPS, (now_ns() - begin) / MS,
		  proc_wheel("private", "missed_ticks"));
	ASSERT_LE(proc_wheel("private", "missed_ticks"), ((now_ns() - begin) / tick_ns(fd) + 1) *
				  sysconf(_SC_NPROCESSORS_CONF));
	EXPECT_STATS(fd, .started = TIMERS, .expired = TIMERS, .delivered = TIMERS);
	close(fd);
}

TEST(timers_do_not_care)
{
	jump_about(CLOCK_MONOTONIC);
	jump_about(CLOCK_BOOTTIME);
}
