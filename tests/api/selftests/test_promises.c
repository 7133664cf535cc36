// SPDX-License-Identifier: GPL-2.0
/*
 * The promises of a wheel to its callers
 *
 * Timers are never early, expire once, and keep their order among equal deadlines. This
 * holds on a machine of any speed, so the tests are exact. How late a timer is depends on the
 * machine: each case prints it, and limits it only where time is exact.
 */
#include <stdlib.h>

#include "harness.h"
#include "session.h"

#define BATCH	256

/* One timer as its owner knows it. */
struct expectation {
	__u64 earliest;		/* deadline_ns cannot be before this */
	__u64 latest;		/* nor after this */
	unsigned int seen;
};

struct timers {
	int fd;
	unsigned int count;
	struct expectation *timers;
	__u64 *lateness;
	unsigned int read;
};

static void timers_init(struct timers *timers, unsigned int count)
{
	timers->fd = session_open();
	timers->count = count;
	timers->timers = calloc(count, sizeof(*timers->timers));
	timers->lateness = calloc(count, sizeof(*timers->lateness));
	timers->read = 0;
	ASSERT_TRUE(timers->timers && timers->lateness);
}

static int start_relative(struct timers *timers, unsigned int id, __u64 delay)
{
	struct expectation *timer = &timers->timers[id];
	int result;

	timer->earliest = now_ns() + delay;
	result = tw_start(timers->fd, id, delay, id);
	timer->latest = now_ns() + delay;
	return result;
}

static int start_absolute(struct timers *timers, unsigned int id,
			  __u64 deadline)
{
	timers->timers[id].earliest = deadline;
	timers->timers[id].latest = deadline;
	return tw_start_flags(timers->fd, id, deadline, TWHEEL_START_ABS, id);
}

static void check_event(struct timers *timers, const struct twheel_event *event)
{
	struct expectation *timer = &timers->timers[event->id];

	ASSERT_LT(event->id, timers->count);
	ASSERT_EQ(event->id, event->user_data);
	ASSERT_EQ(1, ++timer->seen);
	ASSERT_LE(timer->earliest, event->deadline_ns);
	ASSERT_LE(event->deadline_ns, timer->latest);
	ASSERT_LE(event->deadline_ns, event->expired_ns);
	ASSERT_LE(timer->earliest, event->expired_ns);
	ASSERT_LE(event->expired_ns, now_ns());
	timers->lateness[timers->read++] =
		event->expired_ns - event->deadline_ns;
}

static void read_all(struct timers *timers)
{
	static struct twheel_event events[BATCH];
	ssize_t got, i;

	while (timers->read < timers->count) {
		expect_readable(timers->fd);
		got = tw_read(timers->fd, events, BATCH);
		ASSERT_LT(0, got);
		for (i = 0; i < got; i++)
			check_event(timers, &events[i]);
	}
	expect_nothing(timers->fd, 0);
	expect_balance(timers->fd);
}

static __u64 median(__u64 *values, unsigned int count)
{
	qsort(values, count, sizeof(*values), compare_u64);
	return values[count / 2];
}

static void report_lateness(struct timers *timers)
{
	__u64 *late = timers->lateness;
	double tick = tick_ns(timers->fd);
	unsigned int count = timers->count;
	double p50 = median(late, count) / tick;

	test_note("%u timers, early 0, late in ticks: p50 %.2f, p99 %.2f, max %.2f",
		  count, p50, late[count - 1 - count / 100] / tick,
		  late[count - 1] / tick);
}

TEST(late_by_less_than_a_tick)
{
	const unsigned int count = 200;
	int fd = session_open();
	__u64 tick = tick_ns(fd);
	struct twheel_event event;
	__u64 late[200], deadline;
	unsigned int i;

	for (i = 0; i < count; i++) {
		deadline = now_ns() + 5 * MS + i * tick / 64;
		ASSERT_EQ(0, tw_start_flags(fd, 3, deadline, TWHEEL_START_ABS,
					    i));
		ASSERT_EQ(1, tw_read(fd, &event, 1));
		ASSERT_EQ(deadline, event.deadline_ns);
		late[i] = event.expired_ns - deadline;
	}
	qsort(late, count, sizeof(late[0]), compare_u64);
	test_note("late by %llu us at the median, %llu us at most",
		  late[count / 2] / US, late[count - 1] / US);
	if (!time_is_exact())
		return;
	ASSERT_LE(late[count / 2], tick * 3 / 4);
	ASSERT_LE(late[count - 1], tick + 200 * US);
}

/* Deadlines are up to a nanosecond from the boundaries of ticks. */
TEST(never_early_at_the_edges_of_a_tick)
{
	struct timers timers;
	__u64 base, tick;
	unsigned int i;

	timers_init(&timers, 3000);
	tick = tick_ns(timers.fd);
	base = (now_ns() / tick + 200) * tick;
	for (i = 0; i < timers.count; i++)
		ASSERT_EQ(0, start_absolute(&timers, i, base +
					    i / 3 % 100 * tick + i % 3 - 1));
	read_all(&timers);
	report_lateness(&timers);
}

static void *start_on_second_cpu(void *data)
{
	struct timers *timers = data;
	__u64 seed = 3;
	unsigned int i;

	pin_cpu(1);
	for (i = 1; i < timers->count; i += 2)
		ASSERT_EQ(0, start_relative(timers, i, random_number(&seed) %
					    (300 * MS)));
	return NULL;
}

TEST(never_early_on_two_cpus)
{
	struct timers timers;
	pthread_t thread;
	__u64 seed = 4;
	unsigned int i;

	pin_cpu(1);
	pin_cpu(0);
	timers_init(&timers, 10000);
	thread = thread_run(start_on_second_cpu, &timers);
	for (i = 0; i < timers.count; i += 2)
		ASSERT_EQ(0, start_relative(&timers, i, random_number(&seed) %
					    (300 * MS)));
	thread_join(thread);
	read_all(&timers);
	report_lateness(&timers);
}

static void expect_fifo(int fd, unsigned int count)
{
	static struct twheel_event events[BATCH];
	unsigned int next = 0;
	ssize_t got, i;

	while (next < count) {
		expect_readable(fd);
		got = tw_read(fd, events, BATCH);
		ASSERT_LT(0, got);
		for (i = 0; i < got; i++)
			ASSERT_EQ(next++, events[i].user_data);
	}
}

/*
 * Timers of one deadline on one CPU expire in the order of their starts. The starts are
 * spread over time, so the timers enter the wheel at several levels and meet in a cascade. A
 * slow machine starts the last ones too late. They still come last.
 */
TEST(fifo_1000_ticks_away)
{
	int fd = session_open_nonblock();
	const unsigned int count = 400;
	__u64 begin, deadline, step;
	unsigned int i;

	keep_order(fd);
	begin = now_ns();
	deadline = begin + 1000 * tick_ns(fd);
	step = (deadline - begin) * 3 / 4 / count;
	for (i = 0; i < count; i++) {
		sleep_until(begin + i * step);
		ASSERT_EQ(0, tw_start_flags(fd, count - i, deadline,
					    TWHEEL_START_ABS, i));
	}
	expect_fifo(fd, count);
	EXPECT_STATS(fd, .started = count, .expired = count,
		     .delivered = count);
}
