// SPDX-License-Identifier: GPL-2.0
/*
 * A system that is suspended
 *
 * The kernel's own test of suspend does all of it but for the last step, and wakes
 * up by itself (/sys/power/pm_test).
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

#define POWER	"/sys/power/"
#define DELAY	"/sys/module/suspend/parameters/pm_test_delay"

/* How long the system was suspended, ever. */
static __u64 suspended_ns(void)
{
	struct timespec boot;

	ASSERT_EQ(0, clock_gettime(CLOCK_BOOTTIME, &boot));
	return boot.tv_sec * SECOND + boot.tv_nsec - now_ns();
}

/* A timer stands still, and expires when the rest of its time has passed. */
TEST(timers_stand_still)
{
	int fd = session_open();
	__u64 before = suspended_ns(), slept;
	struct twheel_event event;

	if (!getenv("TWHEEL_SUSPEND"))
		test_skip("a machine is suspended only where that is asked for");
	if (!write_text(POWER "pm_test", "core") || !write_text(DELAY, "3"))
		test_skip("this kernel cannot try to suspend");
	ASSERT_EQ(0, tw_start(fd, 1, HOUR, 0));
	ASSERT_EQ(0, tw_start(fd, 2, 2 * SECOND, 0));
	if (!write_text(POWER "state", "mem"))
		test_skip("this machine does not suspend");
	slept = suspended_ns() - before;
	test_note("suspended for %llu ms", slept / MS);
	/* By the machine's own clock, which counts in seconds. */
	ASSERT_LE(SECOND, slept);
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, 1));
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(2, event.id);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	close(fd);
}
