// SPDX-License-Identifier: GPL-2.0
/*
 * Absolute times inside a time namespace
 *
 * As with timerfd, a process passes and receives times of its own clock. In the namespace,
 * CLOCK_MONOTONIC is 1,000 s ahead, and CLOCK_BOOTTIME 5,000 s. A second process shows that the
 * clock of the reader counts, not the clock of the process that started the timer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("start_get_*", "the_clock_*", "boottime_*");

#define AHEAD		(TIMENS_MONOTONIC * SECOND)
#define BOOTTIME_AHEAD	(TIMENS_BOOTTIME * SECOND)

static void run_inside(void (*fn)(int fd), int fd)
{
	__u64 outside = now_ns(), boottime_outside = clock_ns(CLOCK_BOOTTIME);
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		ASSERT_LE(outside + AHEAD, now_ns());
		ASSERT_LE(boottime_outside + BOOTTIME_AHEAD, clock_ns(CLOCK_BOOTTIME));
		fn(fd);
		_exit(0);
	}
	expect_child(pid);
}

/*
 * Read an event. Its deadline must be from @earliest to @latest, and its expiry between the
 * deadline and now, on @clock.
 */
static void expect_deadline(int fd, clockid_t clock, __u64 earliest, __u64 latest)
{
	struct twheel_event event;

	expect_readable(fd);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_LE(earliest, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, latest);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	ASSERT_LE(event.expired_ns, clock_ns(clock));
}

/* Check that a session works on the clock that it uses. */
static void use_clock(int fd)
{
	struct twheel_entry entry;
	struct twheel_info info;
	__u64 deadline, cursor = 0;

	ASSERT_EQ(0, tw_info(fd, &info));
	deadline = clock_ns(info.clock) + HOUR;
	ASSERT_EQ(0, tw_start_flags(fd, 4, deadline, TWHEEL_START_ABS, 0));
	ASSERT_EQ(0, tw_get(fd, 4, &entry));
	ASSERT_EQ(deadline, entry.deadline_ns);
	ASSERT_LE(entry.remaining_ns, HOUR);
	ASSERT_LT(HOUR - 60 * SECOND, entry.remaining_ns);
	ASSERT_EQ(1, tw_list(fd, &entry, 1, &cursor));
	ASSERT_EQ(deadline, entry.deadline_ns);
	ASSERT_LT(HOUR - 60 * SECOND, entry.remaining_ns);
	deadline = clock_ns(info.clock) + 20 * MS;
	ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS, 33));
	expect_deadline(fd, info.clock, deadline, deadline);
	deadline = clock_ns(info.clock) + 20 * MS;
	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	expect_deadline(fd, info.clock, deadline, clock_ns(info.clock) + 20 * MS);
}

TEST(start_get_list_and_read_inside)
{
	children_in_time_ns();
	run_inside(use_clock, session_open_nonblock());
}

static __u64 deadline_outside;

static void read_inside(int fd)
{
	expect_deadline(fd, CLOCK_MONOTONIC, deadline_outside + AHEAD, deadline_outside + AHEAD);
}

TEST(the_clock_of_the_reader_counts)
{
	int fd = session_open_nonblock();
	struct twheel_entry entry;

	children_in_time_ns();
	deadline_outside = now_ns() + 20 * MS;
	ASSERT_EQ(0, tw_start_flags(fd, 3, deadline_outside, TWHEEL_START_ABS,
				    33));
	ASSERT_EQ(0, tw_get(fd, 3, &entry));
	ASSERT_EQ(deadline_outside, entry.deadline_ns);
	run_inside(read_inside, fd);
}

/* CLOCK_BOOTTIME has an offset of its own. */
TEST(boottime_inside)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE,
		.clock = TWHEEL_CLOCK_BOOTTIME,
	}));
	children_in_time_ns();
	run_inside(use_clock, fd);
}

/*
 * A time before the host's boot must count as the boot, even though the namespace's clock has such
 * times.
 */
static void use_a_time_before_the_boot(int unused)
{
	int fd = session_open_nonblock();

	(void)unused;
	ASSERT_EQ(0, tw_start_flags(fd, 3, AHEAD - SECOND, TWHEEL_START_ABS, 33));
	expect_deadline(fd, CLOCK_MONOTONIC, AHEAD, AHEAD);
}

TEST(a_time_before_the_boot)
{
	children_in_time_ns();
	run_inside(use_a_time_before_the_boot, -1);
}
