// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of a session
 *
 * They are in TWHEEL_IOC_STATS, /proc/twheel and /proc/self/fdinfo.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*how_late*", "one_wakeup_*", "*proc*", "fdinfo_*");

TEST(all_zero_at_first)
{
	int fd = session_open();
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_TRUE(is_zero(&stats, sizeof(stats)));
}

/* Lateness. Entry n of a histogram counts events that are late by less than 1024 << n ns. */

#define LATE_TIMERS	500
#define LATE_TICK	1234567

struct late {
	__u64 counts[TWHEEL_STATS_LATENESS];
};

static void note_late(struct late *late, __u64 ns)
{
	unsigned int n = 0;

	while (n < TWHEEL_STATS_LATENESS - 1 && ns >= 1024ULL << n)
		n++;
	late->counts[n]++;
}

/* Returns the sum of the first @nr entries. */
static __u64 late_sum(const struct late *late, int nr)
{
	__u64 sum = 0;

	while (nr--)
		sum += late->counts[nr];
	return sum;
}

static struct late late_of(const char *text)
{
	struct late late;
	char *end;
	int i;

	for (i = 0; i < TWHEEL_STATS_LATENESS; i++, text = end) {
		late.counts[i] = strtoull(text, &end, 10);
		ASSERT_TRUE(end != text);
	}
	ASSERT_EQ('\0', *end);
	return late;
}

enum whose {
	OF_SESSION,
	OF_WHEEL,
	OF_CPUS,
};

/* Returns a histogram in /proc/twheel: of this session, its wheel, or the wheel's CPUs added up. */
static struct late late_in_proc(enum whose whose)
{
	const char *text = proc_text();
	__u64 wheel = proc_session(text, getpid(), "wheel"), number = 0;
	struct late sum = { 0 }, late;
	struct proc_line line;
	int i;

	for (proc_begin(&line, text); proc_next(&line);) {
		if (!strcmp(line.name, "number"))
			number = strtoull(line.value, NULL, 10);
		if (strcmp(line.name, "lateness"))
			continue;
		if (whose == OF_SESSION ? line.pid != getpid() :
		    line.session != PROC_NONE || number != wheel)
			continue;
		if (whose == OF_WHEEL ? line.cpu != PROC_NONE :
		    whose == OF_CPUS && line.cpu == PROC_NONE)
			continue;
		late = late_of(line.value);
		for (i = 0; i < TWHEEL_STATS_LATENESS; i++)
			sum.counts[i] += late.counts[i];
	}
	return sum;
}

static int open_own_wheel(void)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_setup_tick(fd, LATE_TICK));
	return fd;
}

static void read_late_events(int fd, struct twheel_event *events)
{
	unsigned int i, got = 0;
	int ret;

	for (i = 0; i < LATE_TIMERS; i++)
		ASSERT_EQ(0, tw_start(fd, i, 10 * LATE_TICK + i * 100 * US, i));
	while (got < LATE_TIMERS) {
		expect_readable(fd);
		ret = tw_read(fd, events + got, LATE_TIMERS - got);
		ASSERT_LE(1, ret);
		got += ret;
	}
}

TEST(a_session_counts_how_late_its_events_are)
{
	static struct twheel_event events[LATE_TIMERS];
	int fd = open_own_wheel();
	struct late want = { 0 };
	struct twheel_stats stats;
	struct late shown;
	unsigned int i;

	read_late_events(fd, events);
	for (i = 0; i < LATE_TIMERS; i++)
		note_late(&want, events[i].expired_ns - events[i].deadline_ns);
	ASSERT_EQ(0, tw_stats(fd, &stats));
	shown = late_in_proc(OF_SESSION);
	for (i = 0; i < TWHEEL_STATS_LATENESS; i++) {
		ASSERT_EQ(want.counts[i], stats.lateness[i]);
		ASSERT_EQ(want.counts[i], shown.counts[i]);
	}
	expect_balance(fd);
}

/*
 * The wheel reads its clock after the tick and before the callback. So the lateness that it counts
 * is at least the time from the deadline to the tick, and at most the lateness of the event plus 1
 * ns.
 */
TEST(a_wheel_counts_how_late_its_timers_are)
{
	static struct twheel_event events[LATE_TIMERS];
	struct late most = { 0 }, least = { 0 };
	int fd = open_own_wheel();
	struct late shown, cpus;
	__u64 deadline;
	unsigned int i;

	read_late_events(fd, events);
	for (i = 0; i < LATE_TIMERS; i++) {
		deadline = events[i].deadline_ns;
		note_late(&most, events[i].expired_ns - deadline + 1);
		note_late(&least, LATE_TICK - 1 - (deadline + LATE_TICK - 1) % LATE_TICK);
	}
	shown = late_in_proc(OF_WHEEL);
	cpus = late_in_proc(OF_CPUS);
	ASSERT_EQ(LATE_TIMERS, late_sum(&shown, TWHEEL_STATS_LATENESS));
	ASSERT_EQ(0, memcmp(&shown, &cpus, sizeof(shown)));
	for (i = 1; i < TWHEEL_STATS_LATENESS; i++) {
		ASSERT_LE(late_sum(&most, i), late_sum(&shown, i));
		ASSERT_LE(late_sum(&shown, i), late_sum(&least, i));
	}
}

/*
 * A session must count lateness from the deadline even if it passed before the start. A wheel
 * counts from the first tick at which the timer can expire.
 */
TEST(a_deadline_that_had_passed_is_late_for_its_reader)
{
	int fd = open_own_wheel();
	struct twheel_stats stats;
	int last = TWHEEL_STATS_LATENESS - 1;

	ASSERT_EQ(0, tw_start_flags(fd, 1, now_ns() - 20 * MS, TWHEEL_START_ABS, 11));
	expect_readable(fd);
	expect_event(fd, 1, 11);
	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_EQ(1, stats.lateness[last]);
	expect_balance(fd);
}

TEST(an_event_that_is_not_read_has_no_lateness)
{
	int fd = session_open_nonblock();
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_start(fd, 1, 0, 11));
	ASSERT_EQ(0, tw_start(fd, 2, 0, 22));
	expect_unread(fd, 2);
	ASSERT_EQ(2, tw_start(fd, 1, HOUR, 11));
	ASSERT_EQ(1, tw_stop(fd, 2));
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_unread(fd, 1);
	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_TRUE(is_zero(stats.lateness, sizeof(stats.lateness)));
	expect_event(fd, 3, 33);
	expect_balance(fd);
}

/* Returns the number of runs of the default wheel. A tick with many timers takes several runs. */
static __u64 runs(void)
{
	return proc_wheel("default", "wakeups");
}

/*
 * Many timers of one tick must wake the readers once per run. The number of timers in a run depends
 * on the speed of the machine, unless time_is_exact(): there each instruction takes 1 ns.
 */
TEST(one_wakeup_per_tick)
{
	int fd = session_open_nonblock();
	__u64 deadline = now_ns() + SECOND;
	struct twheel_stats stats;
	const int count = 2000;
	__u64 before = runs();
	int i;

	pin_cpu(0);
	for (i = 0; i < count; i++)
		ASSERT_EQ(0, tw_start_flags(fd, i, deadline, TWHEEL_START_ABS,
					    i));
	expect_unread(fd, count);
	/*
	 * A run is counted when it begins, but its wake-up comes later, so read the wake-ups first.
	 */
	ASSERT_EQ(0, tw_stats(fd, &stats));
	test_note("%d timers of one tick: %llu wake-ups", count, stats.wakeups);
	ASSERT_LE(1, stats.wakeups);
	ASSERT_LE(stats.wakeups, runs() - before);
	if (time_is_exact())
		ASSERT_LE(stats.wakeups, count / 20);
}

static void use(int fd)
{
	int i;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, tw_start(fd, i, HOUR, i));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(1, tw_start(fd, i, HOUR, i));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, tw_stop(fd, i));
	ASSERT_EQ(0, tw_start(fd, 20, 0, 20));
	expect_unread(fd, 1);
	ASSERT_EQ(0, tw_start(fd, 21, 0, 21));
	expect_unread(fd, 2);
	expect_event(fd, 20, 20);
}

static __u64 sum_of_cpus(const char *text, const char *wheel, const char *name)
{
	struct proc_line line;
	__u64 value, sum = 0;

	proc_begin(&line, text);
	while (proc_next(&line)) {
		if (strcmp(line.wheel, wheel) || strcmp(line.name, "cpu"))
			continue;
		ASSERT_TRUE(proc_find(text, wheel, line.cpu, name, &value));
		sum += value;
	}
	return sum;
}

/*
 * /proc/twheel must show the numbers of the session, also in the totals of the wheels. The numbers
 * of the default wheel's CPUs must add up to its totals.
 */
TEST(proc_says_the_same)
{
	static const char * const names[] = {
		"started", "restarted", "stopped", "expired", "pending",
	};
	struct proc_counters before = proc_sum(proc_text()), after;
	int fd = session_open_nonblock();
	const char *text;
	unsigned int i;
	__u64 total;

	use(fd);
	EXPECT_STATS(fd, .started = 12, .restarted = 3, .stopped = 2,
		     .expired = 2, .delivered = 1, .unread = 1, .pending = 8);
	text = proc_text();
	ASSERT_EQ(12, proc_session(text, getpid(), "started"));
	ASSERT_EQ(3, proc_session(text, getpid(), "restarted"));
	ASSERT_EQ(2, proc_session(text, getpid(), "stopped"));
	ASSERT_EQ(2, proc_session(text, getpid(), "expired"));
	ASSERT_EQ(8, proc_session(text, getpid(), "pending"));
	ASSERT_EQ(1, proc_session(text, getpid(), "delivered"));
	ASSERT_EQ(1, proc_session(text, getpid(), "unread"));
	after = proc_sum(text);
	ASSERT_EQ(before.started + 12, after.started);
	ASSERT_EQ(before.stopped + 2, after.stopped);
	ASSERT_EQ(before.expired + 2, after.expired);
	ASSERT_EQ(before.pending + 8, after.pending);
	proc_expect_balance(text);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		ASSERT_TRUE(proc_find(text, "default", PROC_NONE, names[i], &total));
		ASSERT_EQ(total, sum_of_cpus(text, "default", names[i]));
	}
}

TEST(proc_has_all_names)
{
	static const char * const names[] = {
		"tick_ns", "started", "restarted", "stopped", "expired",
		"pending", "cascaded", "moved", "ticks", "empty_ticks",
		"missed_ticks", "wakeups", "yields", "slots",
		"longest_tick_ns", "longest_lateness_ns", "lateness", "scheme", "mode",
	};
	const char *text = proc_text();
	struct proc_line line;
	unsigned int i;
	__u64 value;

	proc_begin(&line, text);
	while (strcmp(line.name, "wheel"))
		ASSERT_TRUE(proc_next(&line));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!proc_find(text, line.wheel, PROC_NONE, names[i], &value))
			test_fail(__FILE__, __LINE__, "no %s", names[i]);
	}
}

TEST(fdinfo_says_what_is_pending)
{
	char path[64], text[1024];
	int fd = session_open_nonblock();
	size_t length;
	FILE *file;

	use(fd);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	ASSERT_TRUE(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	ASSERT_TRUE(strstr(text, "twheel-pending:\t8\n"));
	ASSERT_TRUE(strstr(text, "twheel-unread:\t1\n"));
	ASSERT_TRUE(strstr(text, "twheel-started:\t12\n"));
	ASSERT_TRUE(strstr(text, "twheel-expired:\t2\n"));
}
