// SPDX-License-Identifier: GPL-2.0
/*
 * CLOCK_REALTIME is set, forwards and back
 *
 * No wheel uses that clock, so no timer notices. Documentation/examples/wall_clock.c is a
 * program with deadlines on that clock.
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
#define HOURS(n)	((__s64)(n) * (__s64)HOUR)
/* Time in which all timers of a crowd are due. */
#define SPAN		(300 * MS)

static __s64 ahead;		/* the sum of the steps, ns */

static void set_wall_clock(__u64 ns)
{
	const struct timespec ts = { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };

	if (clock_settime(CLOCK_REALTIME, &ts))
		test_skip("the clock cannot be set");
}

static void step(__s64 by)
{
	set_wall_clock(clock_ns(CLOCK_REALTIME) + by);
	ahead += by;
}

static void step_back(void)
{
	step(-ahead);
}

/**
 * struct crowd - a session with timers that are due within a short time
 * @fd: the session
 * @clock: its clock
 * @seen: number of read events of each timer
 * @left: number of timers without a read event
 */
struct crowd {
	int fd;
	clockid_t clock;
	unsigned char seen[TIMERS];
	unsigned int left;
};

static void start_crowd(struct crowd *c, const struct twheel_setup *setup)
{
	__u64 begin, seed = 5;
	int id;

	c->fd = session_open_nonblock();
	c->clock = setup->clock == TWHEEL_CLOCK_BOOTTIME ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
	c->left = TIMERS;
	ASSERT_EQ(0, tw_setup(c->fd, *setup));
	begin = clock_ns(c->clock);
	for (id = 0; id < TIMERS; id++)
		ASSERT_EQ(0, tw_start_flags(c->fd, id, begin + random_number(&seed) % SPAN,
					    TWHEEL_START_ABS, id));
}

static void read_crowd(struct crowd *c)
{
	struct twheel_event events[64];
	__u64 now;
	ssize_t got, i;

	while ((got = tw_read(c->fd, events, 64)) > 0) {
		now = clock_ns(c->clock);
		for (i = 0; i < got; i++) {
			ASSERT_LE(events[i].deadline_ns, events[i].expired_ns);
			ASSERT_LE(events[i].expired_ns, now);
			ASSERT_LT(events[i].id, TIMERS);
			c->seen[events[i].id]++;
			c->left--;
		}
	}
}

static void expect_crowd(struct crowd *c)
{
	int id;

	for (id = 0; id < TIMERS; id++)
		ASSERT_EQ(1, c->seen[id]);
	expect_nothing(c->fd, 20 * MS);
	EXPECT_STATS(c->fd, .started = TIMERS, .expired = TIMERS, .delivered = TIMERS);
	expect_balance(c->fd);
	close(c->fd);
}

static __u64 of_wheel(const char *wheel, const char *name)
{
	__u64 value;

	ASSERT_TRUE(proc_find(proc_text(), wheel, PROC_NONE, name, &value));
	return value;
}

static void jump_about(const struct twheel_setup *setup, int steps)
{
	const char *wheel = setup->flags ? "private" : "default";
	static struct crowd c;
	__u64 begin, missed;
	int i;

	c = (struct crowd){};
	missed = setup->flags ? 0 : of_wheel(wheel, "missed_ticks");
	begin = now_ns();
	start_crowd(&c, setup);
	for (i = 0; i < steps || c.left; i++) {
		if (i < steps)
			step(i % 2 ? -HOURS(1) : HOURS(1));
		read_crowd(&c);
	}
	step_back();
	/* An hour would be 3,600,000 ticks. */
	missed = of_wheel(wheel, "missed_ticks") - missed;
	test_note("%d steps in %llu ms, %llu ticks missed", steps, (now_ns() - begin) / MS, missed);
	ASSERT_LE(missed, ((now_ns() - begin) / tick_ns(c.fd) + 1) *
			  sysconf(_SC_NPROCESSORS_CONF));
	expect_crowd(&c);
}

TEST(timers_do_not_care)
{
	const struct twheel_setup setups[] = {
		{ .flags = 0 },
		{ .flags = TWHEEL_SETUP_PRIVATE, .clock = TWHEEL_CLOCK_BOOTTIME },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(setups); i++)
		jump_about(&setups[i], STEPS);
}
