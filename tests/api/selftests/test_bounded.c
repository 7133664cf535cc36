// SPDX-License-Identifier: GPL-2.0
/*
 * Many timers at once do not monopolise the CPU
 *
 * If more timers are due at once than a run of the tick may expire, each of them must still expire
 * once, and /proc/twheel must count the pauses. If an outer slot holds more timers than one tick
 * should move, the wheel must begin to move them early.
 */
#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define BURST	10240
#define MOVES	512	/* MOVES_PER_WAKEUP of twheel_hier.c */
/* Maximum number of timers in one run: WORK_PER_RUN of core/tick.c. */
#define RUN_MAX	1024
#define EVENTS	1024

static void start_all(int fd, __u32 nr, __u64 deadline)
{
	start_many(fd, 0, nr, deadline, 0);
	if (now_ns() >= deadline)
		test_slow();
}

/* Read all events, which must come in the order of the starts, which is that of the ids. */
static void read_all(int fd, __u32 nr, __u64 deadline)
{
	static struct twheel_event events[EVENTS];
	__u32 next = 0;
	ssize_t got, i;

	while (next < nr) {
		got = tw_read(fd, events, EVENTS);
		ASSERT_LT(0, got);
		for (i = 0; i < got; i++) {
			ASSERT_EQ(next++, events[i].id);
			ASSERT_TRUE(events[i].expired_ns >= deadline);
		}
	}
	expect_nothing(fd, MS);
}

TEST(a_burst_expires_in_runs)
{
	__u64 deadline = now_ns() + test_patience() * 2 * SECOND;
	int fd = session_open();

	keep_order(fd);
	start_all(fd, BURST, deadline);
	read_all(fd, BURST, deadline);
	ASSERT_LE((__u64)BURST / RUN_MAX - 1, proc_wheel("private", "yields"));
}

/* Length of a slot of the second level, in ticks. */
#define OUTER_TICKS	256
#define TICK_NS		(4 * MS)

/* Returns the first tick of an outer slot that is too far away for the lowest level. */
static __u64 next_outer_tick(void)
{
	return (now_ns() / TICK_NS / OUTER_TICKS + 2 + test_patience()) *
	       OUTER_TICKS;
}

/*
 * Wait for a cascade, which must begin before @end. This task is on the CPU of the wheel and wakes
 * up every tick: a long gap shows that the CPU stood still, so that the wheel cannot be blamed.
 */
static void expect_cascade_before(__u64 end, __u64 cascaded)
{
	__u64 last = now_ns(), gap = 0, now;

	while (proc_wheel("private", "cascaded") == cascaded) {
		sleep_ns(TICK_NS);
		now = now_ns();
		if (now - last > gap)
			gap = now - last;
		last = now;
		if (now < end)
			continue;
		if (gap > 100 * MS)
			test_slow();
		test_fail(__FILE__, __LINE__, "nothing is moved");
	}
}

/*
 * The wheel dozes with one timer in an outer slot. A single timer is moved quickly, so the wheel
 * may sleep until the slot is due. Many timers take longer: when they join the slot, they must wake
 * the wheel earlier.
 */
TEST(a_crowd_wakes_a_dozing_wheel_early)
{
	__u64 edge = next_outer_tick(), deadline = (edge + 100) * TICK_NS;
	int fd = session_open();
	__u64 cascaded;

	pin_cpu(0);
	ASSERT_EQ(0, tw_setup_tick(fd, TICK_NS));
	ASSERT_EQ(0, tw_start_flags(fd, 0, deadline, TWHEEL_START_ABS, 0));
	sleep_ns(10 * TICK_NS);
	start_all(fd, BURST, deadline);
	/*
	 * Most timers must still be in the outer slot. Only a wheel that does not doze yet moves
	 * one of them in each tick. Moving MOVES in each tick takes BURST / MOVES ticks.
	 */
	cascaded = proc_wheel("private", "cascaded");
	if (now_ns() >= (edge - 4 * BURST / MOVES) * TICK_NS)
		test_slow();
	ASSERT_LE(cascaded, BURST / 2);
	expect_cascade_before((edge - BURST / MOVES / 2) * TICK_NS, cascaded);
	read_all(fd, BURST, deadline);
}
