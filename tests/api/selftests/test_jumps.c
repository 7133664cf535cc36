// SPDX-License-Identifier: GPL-2.0
/*
 * CLOCK_REALTIME is set, forwards and back
 *
 * No wheel is on that clock, so that no timer may care. A program with deadlines of that
 * clock does as Documentation/examples/wall_clock.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define TIMERS		3000
/* All are started anew after each step. */
#define ALARMS		300
#define STEPS		1000
#define HOURS(n)	((__s64)(n) * (__s64)HOUR)
/* All of a crowd are due in that time. */
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
 * @seen: how many events of each timer were read
 * @left: how many were not
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
	/* No hour was made up for: that would be 3,600,000 ticks at a time. */
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

/* Deadlines of the wall clock. */

/**
 * struct alarms - timers that are due by the wall clock
 * @fd: their session
 * @watch: a timerfd that tells that the clock was set
 * @at: their deadlines, 0 for those that have rung
 * @rung: how many have
 * @early: events that came before the wall clock showed their deadline
 */
struct alarms {
	int fd;
	int watch;
	__u64 at[ALARMS];
	unsigned int rung;
	unsigned int early;
};

static int watch_clock(void)
{
	const struct itimerspec never = { .it_value.tv_sec = LONG_MAX };
	int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
				     &never, NULL));
	return fd;
}

static void start_alarm(struct alarms *a, unsigned int id)
{
	__u64 now = clock_ns(CLOCK_REALTIME);

	ASSERT_LE(0, tw_start_flags(a->fd, id, a->at[id] > now ? a->at[id] - now : 0,
				    TWHEEL_START_REPLACE, id));
}

static void ring(struct alarms *a, unsigned int id)
{
	ASSERT_LT(id, ALARMS);
	if (clock_ns(CLOCK_REALTIME) < a->at[id]) {
		a->early++;
		start_alarm(a, id);
		return;
	}
	/* Once. */
	ASSERT_LT(0, a->at[id]);
	a->at[id] = 0;
	a->rung++;
}

static void ring_all(struct alarms *a)
{
	struct twheel_event events[64];
	ssize_t got, i;

	while ((got = tw_read(a->fd, events, 64)) > 0)
		for (i = 0; i < got; i++)
			ring(a, events[i].id);
}

/* Returns whether the clock was set. */
static bool look(struct alarms *a)
{
	unsigned int id;
	__u64 expiries;
	bool set;

	set = read(a->watch, &expiries, sizeof(expiries)) < 0 && errno == ECANCELED;
	if (set)
		for (id = 0; id < ALARMS; id++)
			if (a->at[id])
				start_alarm(a, id);
	ring_all(a);
	return set;
}

static struct alarms *start_alarms(__u64 from, __u64 span)
{
	static struct alarms a;
	__u64 begin, seed = 6;
	unsigned int id;

	a = (struct alarms){ .fd = session_open_nonblock(), .watch = watch_clock() };
	ASSERT_EQ(0, tw_setup(a.fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE, .clock = TWHEEL_CLOCK_BOOTTIME }));
	begin = clock_ns(CLOCK_REALTIME) + from;
	for (id = 0; id < ALARMS; id++) {
		a.at[id] = begin + random_number(&seed) % span;
		start_alarm(&a, id);
	}
	return &a;
}

static void end_alarms(struct alarms *a)
{
	struct pollfd fd = { .fd = a->fd, .events = POLLIN };

	while (a->rung < ALARMS) {
		poll(&fd, 1, 1000);
		look(a);
	}
	step_back();
	test_note("%u events were too early", a->early);
	expect_nothing(a->fd, 20 * MS);
	expect_balance(a->fd);
	close(a->fd);
	close(a->watch);
}

TEST(alarms_to_and_fro)
{
	struct alarms *a = start_alarms(HOUR / 2, 20 * HOUR);
	int i;

	for (i = 0; i < STEPS; i++) {
		/* Each time a little further. */
		step((i % 2 ? -HOURS(1) : HOURS(1)) + 20 * (__s64)SECOND);
		/* The step is seen by the next look, or by the one after the next. */
		if (i % 3)
			ASSERT_TRUE(look(a));
		if (i % 250 == 249)
			test_note("%u have rung", a->rung);
	}
	step(HOURS(20));
	end_alarms(a);
}
