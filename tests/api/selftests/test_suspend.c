// SPDX-License-Identifier: GPL-2.0
/*
 * A system that is suspended
 *
 * The cases use the kernel's own test of suspend (/sys/power/pm_test), which does everything except
 * the last step, and wakes up by itself.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define POWER	"/sys/power/"
#define DELAY	"/sys/module/suspend/parameters/pm_test_delay"

/* Returns for how long the system was suspended since its boot. */
static __u64 suspended_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME) - now_ns();
}

static void suspend(void)
{
	if (!getenv("TWHEEL_SUSPEND"))
		test_skip("a machine is suspended only where that is asked for");
	if (!write_text(POWER "pm_test", "core") || !write_text(DELAY, "3"))
		test_skip("this kernel cannot try to suspend");
	if (!write_text(POWER "state", "mem"))
		test_skip("this machine does not suspend");
}

/*
 * On CLOCK_BOOTTIME, which counts the suspend, a timer that was due during it must expire at once.
 */
TEST(boottime_goes_on)
{
	int fd = session_open();
	__u64 begin, before, awake, slept, late, missed;
	struct twheel_event event;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE,
		.clock = TWHEEL_CLOCK_BOOTTIME,
	}));
	begin = clock_ns(CLOCK_BOOTTIME);
	before = now_ns();
	slept = suspended_ns();
	ASSERT_EQ(0, tw_start(fd, 1, HOUR, 0));
	ASSERT_EQ(0, tw_start_flags(fd, 2, begin + SECOND, TWHEEL_START_ABS, 0));
	ASSERT_EQ(0, tw_start(fd, 3, SECOND, 0));
	suspend();
	slept = suspended_ns() - slept;
	test_note("suspended for %llu ms", slept / MS);
	ASSERT_LE(SECOND, slept);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(2, event.id);
	ASSERT_EQ(begin + SECOND, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	ASSERT_LE(event.expired_ns, clock_ns(CLOCK_BOOTTIME));
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(3, event.id);
	ASSERT_LE(begin + SECOND, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, 1));
	/* Timers must be late by no more than the time in which the system was awake. */
	awake = now_ns() - before;
	late = proc_wheel("private", "longest_lateness_ns");
	missed = proc_wheel("private", "missed_ticks");
	test_note("awake for %llu ms, late by %llu us, %llu ticks missed", awake / MS,
		  late / US, missed);
	ASSERT_LE(late, awake);
	ASSERT_LE(missed, awake / tick_ns(fd) + 1);
	close(fd);
}

/* On CLOCK_MONOTONIC, a timer must wait for the rest of its time after the suspend. */
TEST(timers_stand_still)
{
	int fd = session_open();
	__u64 before = suspended_ns(), slept;
	struct twheel_event event;

	ASSERT_EQ(0, tw_start(fd, 1, HOUR, 0));
	ASSERT_EQ(0, tw_start(fd, 2, 2 * SECOND, 0));
	suspend();
	slept = suspended_ns() - before;
	test_note("suspended for %llu ms", slept / MS);
	/* The machine's hardware clock measured the suspend, in whole seconds. */
	ASSERT_LE(SECOND, slept);
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, 1));
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(2, event.id);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	close(fd);
}
