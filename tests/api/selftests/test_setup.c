// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_SETUP: a session's own wheel and limit
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("private_wheel_*", "clocks", "sessions_with_*", "enospc_*");

#define PRIVATE		TWHEEL_SETUP_PRIVATE

static struct twheel_info info_of_any(int fd)
{
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(fd, &info));
	return info;
}

/* Returns INFO after a SETUP, which must not change the limits of the module. */
static struct twheel_info info_of(int fd)
{
	struct twheel_info info = info_of_any(fd);

	ASSERT_EQ(TWHEEL_ABI_VERSION, info.abi_version);
	ASSERT_EQ(INTERVAL_MAX, info.max_interval_ns);
	ASSERT_EQ(sizeof(struct twheel_event), info.event_size);
	return info;
}

/* Run timers on the wheel that @setup asks for. */
static void expect_wheel(struct twheel_setup setup)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	struct twheel_info info;
	__u64 deadline;
	int i;

	ASSERT_EQ(0, tw_setup(fd, setup));
	info = info_of(fd);
	ASSERT_EQ(setup.scheme, info.scheme);
	ASSERT_EQ(setup.mode, info.mode);
	ASSERT_EQ(setup.tick_ns, info.tick_ns);
	ASSERT_EQ(setup.slots, info.slots);

	for (i = 0; i < 20; i++) {
		deadline = now_ns() + i * 2 * MS + i;
		ASSERT_EQ(0, tw_start_flags(fd, i, deadline, TWHEEL_START_ABS,
					    deadline));
	}
	for (i = 0; i < 20; i++) {
		expect_readable(fd);
		ASSERT_EQ(1, tw_read(fd, &event, 1));
		ASSERT_EQ(event.user_data, event.deadline_ns);
		ASSERT_LE(event.deadline_ns, event.expired_ns);
	}
	expect_nothing(fd, 0);
	expect_balance(fd);
	close(fd);
}

TEST(hashed_wheel)
{
	expect_wheel((struct twheel_setup){
		.flags = PRIVATE, .scheme = TWHEEL_SCHEME_HASHED, .slots = 64,
		.tick_ns = 500 * US });
}

TEST(slots_are_rounded_up)
{
	static const struct {
		__u32 asked;
		__u32 got;
	} cases[] = {
		{ 2, 2 }, { 3, 4 }, { 100, 128 }, { 128, 128 }, { 129, 256 },
		{ (1 << 20) - 1, 1 << 20 }, { 1 << 20, 1 << 20 },
	};
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fd = session_open();
		ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
			.flags = PRIVATE, .scheme = TWHEEL_SCHEME_HASHED,
			.slots = cases[i].asked }));
		ASSERT_EQ(cases[i].got, info_of(fd).slots);
		close(fd);
	}
}

/* An event as a newer program knows it. */
struct long_event {
	struct twheel_event event;
	__u64 more[3];
};

TEST(size_of_events)
{
	struct long_event events[4];
	int fd = session_open_nonblock(), i;

	keep_order(fd);
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE, .event_size = sizeof(events[0]) }));
	ASSERT_EQ(sizeof(events[0]), info_of_any(fd).event_size);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, tw_start(fd, i, 0, 30 + i));
	expect_unread(fd, 3);
	memset(events, GARBAGE, sizeof(events));
	ASSERT_EQ(-1, read(fd, events, sizeof(events[0]) - 1));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(3 * sizeof(events[0]), read(fd, events, sizeof(events)));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(i, events[i].event.id);
		ASSERT_EQ(30 + i, events[i].event.user_data);
		ASSERT_TRUE(is_zero(events[i].more, sizeof(events[i].more)));
	}
	ASSERT_TRUE(is_garbage(&events[3], sizeof(events[3])));
	EXPECT_STATS(fd, .started = 3, .expired = 3, .delivered = 3);
}

TEST(size_of_events_without_a_wish)
{
	int fd = session_open();

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .event_size = 4096 }));
	ASSERT_EQ(4096, info_of_any(fd).event_size);
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .max_timers = 9 }));
	ASSERT_EQ(TWHEEL_EVENT_SIZE_V1, info_of_any(fd).event_size);
}

TEST(last_setup_counts)
{
	int fd = session_open();
	struct twheel_info before = info_of(fd), after;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .tick_ns = 3 * MS, .max_timers = 5 }));
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .tick_ns = 4 * MS }));
	ASSERT_EQ(4 * MS, info_of(fd).tick_ns);
	ASSERT_EQ(before.max_timers, info_of(fd).max_timers);
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .flags = 0 }));
	after = info_of(fd);
	ASSERT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

static void expect_busy(int fd)
{
	struct twheel_info before = info_of(fd), after;

	ASSERT_EQ(-EBUSY, tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .tick_ns = 3 * MS }));
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
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .tick_ns = 3 * MS }));
	ASSERT_EQ(3 * MS, info_of(fd).tick_ns);
}

TEST(time_until_readers_are_woken)
{
	int fd = session_open();
	struct twheel_info info;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .wake_ns = UINT32_MAX }));
	info = info_of(fd);
	ASSERT_EQ(UINT32_MAX, info.wake_ns);
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .wake_ns = 1 }));
	info = info_of(fd);
	ASSERT_EQ(1, info.wake_ns);
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){}));
	ASSERT_EQ(0, info_of(fd).wake_ns);
	close(fd);
}

TEST(private_wheel_goes_with_its_session)
{
	__u64 before = proc_wheels();
	int fd = session_open();

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .tick_ns = 3 * MS }));
	ASSERT_EQ(before + 1, proc_wheels());
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	proc_expect_balance(proc_text());
	close(fd);
	proc_expect_wheels(before);
}

/* Wait for a timer on @clock. */
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

TEST(sessions_with_the_same_clock_share_a_wheel)
{
	static const __u32 asked[] = { 0, 7, 1, 7, 1, 0 };
	__u64 before = proc_wheels();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(asked); i++)
		ASSERT_EQ(0, tw_setup(session_open(), (struct twheel_setup){
			.flags = PRIVATE, .tick_ns = 777777, .clock = asked[i] }));
	ASSERT_EQ(before + 2, proc_wheels());
}

static int open_private(__u64 tick_ns)
{
	int fd = session_open();
	int result;

	result = tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .tick_ns = tick_ns });
	if (!result)
		return fd;
	close(fd);
	return result;
}

/* Each session asks for another tick until the module refuses. */
TEST(enospc_too_many_private_wheels)
{
	__u64 before = proc_wheels(), limit;
	struct twheel_info info;
	int fds[1000];
	int n, fd;

	for (n = 0; n < 1000; n++) {
		fds[n] = open_private(MS + n * US);
		if (fds[n] < 0)
			break;
	}
	ASSERT_LT(n, 1000);
	ASSERT_EQ(-ENOSPC, fds[n]);
	ASSERT_EQ(before + n, proc_wheels());
	if (module_parameter("max_wheels", &limit))
		ASSERT_EQ(limit, n);

	/* A session that is in use must get EBUSY, not ENOSPC. */
	ASSERT_EQ(0, tw_start(fds[0], 3, HOUR, 33));
	expect_busy(fds[0]);
	fd = session_open_nonblock();
	info = info_of(fd);
	ASSERT_EQ(-ENOSPC, tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .tick_ns = 7 * MS, .max_timers = 5 }));
	ASSERT_EQ(info.tick_ns, info_of(fd).tick_ns);
	ASSERT_EQ(info.max_timers, info_of(fd).max_timers);
	close(fds[0]);
	proc_expect_wheels(before + n - 1);
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = PRIVATE, .tick_ns = 7 * MS }));
	ASSERT_EQ(7 * MS, info_of(fd).tick_ns);
}
