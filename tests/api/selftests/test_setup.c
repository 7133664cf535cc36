// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_SETUP: the wheel and the limit of a session
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("clocks", "equal_*");

#define PRIVATE		TWHEEL_SETUP_PRIVATE

/* Returns the result of INFO, and checks the values that no SETUP changes. */
static struct twheel_info info_of(int fd)
{
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(fd, &info));
	ASSERT_EQ(TWHEEL_ABI_VERSION, info.abi_version);
	ASSERT_EQ(INTERVAL_MAX, info.max_interval_ns);
	return info;
}

TEST(last_setup_counts)
{
	int fd = session_open();
	struct twheel_info before = info_of(fd), after;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .tick_ns = 3 * MS, .max_timers = 5,
		.event_size = TWHEEL_EVENT_SIZE_V1 }));
	after = info_of(fd);
	ASSERT_EQ(3 * MS, after.tick_ns);
	ASSERT_EQ(5, after.max_timers);
	ASSERT_EQ(TWHEEL_EVENT_SIZE_V1, after.event_size);
	ASSERT_EQ(0, tw_setup_tick(fd, 4 * MS));
	after = info_of(fd);
	ASSERT_EQ(4 * MS, after.tick_ns);
	after.tick_ns = before.tick_ns;
	ASSERT_EQ(0, memcmp(&before, &after, sizeof(before)));
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .flags = 0 }));
	after = info_of(fd);
	ASSERT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

static void expect_busy(int fd)
{
	struct twheel_info before = info_of(fd), after;

	ASSERT_EQ(-EBUSY, tw_setup_tick(fd, 3 * MS));
	ASSERT_EQ(-EBUSY, tw_setup(fd, (struct twheel_setup){
		.max_timers = 5 }));
	after = info_of(fd);
	ASSERT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

TEST(ebusy_after_the_first_start)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	expect_busy(fd);
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, 3));
	ASSERT_EQ(0, tw_stop(fd, 3));
	expect_busy(fd);
	EXPECT_STATS(fd, .started = 1, .stopped = 1);
}

TEST(refused_start_is_no_start)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(-EINVAL, tw_start(fd, 3, ~0ULL, 33));
	ASSERT_EQ(-ENOENT, tw_start(fd, TWHEEL_ID_KERNEL | 7, MS, 33));
	ASSERT_EQ(-ENOENT, tw_stop(fd, 3));
	ASSERT_EQ(0, tw_setup_tick(fd, 3 * MS));
	ASSERT_EQ(3 * MS, info_of(fd).tick_ns);
}

/* Check that an absolute and a relative timer of a session use @clock. */
static void expect_on_clock(int fd, __u32 clock)
{
	__u64 begin = clock_ns(clock);
	struct twheel_event event;

	ASSERT_EQ(clock, info_of(fd).clock);
	ASSERT_EQ(0, tw_start_flags(fd, 3, begin + 5 * MS, TWHEEL_START_ABS, 33));
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(begin + 5 * MS, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	ASSERT_LE(event.expired_ns, clock_ns(clock));
	ASSERT_EQ(0, tw_start(fd, 3, 5 * MS, 33));
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_LE(begin + 10 * MS, event.deadline_ns);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	ASSERT_LE(event.expired_ns, clock_ns(clock));
}

static const char *clock_of(const char *wheel)
{
	static struct proc_line line;

	proc_begin(&line, proc_text());
	while (proc_next(&line))
		if (!strcmp(line.wheel, wheel) && !strcmp(line.name, "clock"))
			return line.value;
	return "none";
}

TEST(clocks)
{
	int fd = session_open();

	expect_on_clock(fd, CLOCK_MONOTONIC);
	close(fd);
	fd = session_open();
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .clock = TWHEEL_CLOCK_BOOTTIME }));
	ASSERT_TRUE(!strcmp(clock_of("default"), "monotonic"));
	ASSERT_TRUE(!strcmp(clock_of("private"), "boottime"));
	expect_on_clock(fd, CLOCK_BOOTTIME);
	close(fd);
	fd = session_open();
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .flags = PRIVATE }));
	expect_on_clock(fd, CLOCK_MONOTONIC);
}

static void expect_wheels(__u64 wheels, struct twheel_setup setup)
{
	setup.flags = PRIVATE;
	ASSERT_EQ(0, tw_setup(session_open(), setup));
	ASSERT_EQ(wheels, proc_wheels());
}

/* Documentation/user-api.rst, TWHEEL_IOC_SETUP: 0 stands for the default. */
TEST(equal_configurations_share_a_wheel)
{
	__u64 tick = tick_ns(session_open());

	proc_expect_wheels(1);
	expect_wheels(2, (struct twheel_setup){ .tick_ns = 0 });
	expect_wheels(2, (struct twheel_setup){ .tick_ns = tick });
	expect_wheels(2, (struct twheel_setup){ .clock = TWHEEL_CLOCK_MONOTONIC });
	expect_wheels(3, (struct twheel_setup){ .clock = TWHEEL_CLOCK_BOOTTIME });
	expect_wheels(3, (struct twheel_setup){
		.clock = TWHEEL_CLOCK_BOOTTIME, .tick_ns = tick });
	expect_wheels(4, (struct twheel_setup){ .tick_ns = 2 * tick });
}
