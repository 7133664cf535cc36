// SPDX-License-Identifier: GPL-2.0
/*
 * The numbers of a session
 *
 * They are in TWHEEL_IOC_STATS, /proc/twheel and /proc/self/fdinfo.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

TEST(all_zero_at_first)
{
	int fd = session_open();
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_TRUE(is_zero(&stats, sizeof(stats)));
}

TEST(each_operation_counts_once)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	EXPECT_STATS(fd, .started = 1, .pending = 1);
	ASSERT_EQ(1, tw_start(fd, 3, HOUR, 33));
	EXPECT_STATS(fd, .started = 1, .restarted = 1, .pending = 1);
	ASSERT_EQ(0, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 1, .restarted = 1, .stopped = 1);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_unread(fd, 1);
	EXPECT_STATS(fd, .started = 2, .restarted = 1, .stopped = 1,
		     .expired = 1, .unread = 1);
	ASSERT_EQ(0, tw_start_flags(fd, 3, 0, TWHEEL_START_REPLACE, 33));
	expect_unread(fd, 1);
	EXPECT_STATS(fd, .started = 3, .restarted = 1, .stopped = 1,
		     .expired = 2, .replaced = 1, .unread = 1);
	expect_event(fd, 3, 33);
	EXPECT_STATS(fd, .started = 3, .restarted = 1, .stopped = 1,
		     .expired = 2, .replaced = 1, .delivered = 1);
	expect_balance(fd);
}

TEST(periodic_timers)
{
	int fd = session_open_nonblock();
	struct twheel_event event;

	ASSERT_EQ(0, tw_start_periodic(fd, 3, 0, HOUR));
	expect_readable(fd);
	EXPECT_STATS(fd, .started = 1, .expired = 1, .unread = 1);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1,
		     .rearmed = 1, .pending = 1);
	ASSERT_EQ(0, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .delivered = 1,
		     .rearmed = 1, .stopped = 1);
	expect_balance(fd);
}

TEST(failures_do_not_count)
{
	int fd = session_open_nonblock();
	struct twheel_event event;

	tw_start(fd, 3, ~0ULL, 33);
	tw_start(fd, TWHEEL_ID_KERNEL | 5, MS, 33);
	tw_stop(fd, 3);
	tw_state(fd, 3);
	tw_read(fd, &event, 1);
	EXPECT_STATS(fd, .started = 0);
}

/* Runs of the default wheel's tick. A tick of many timers is several of them. */
static __u64 runs(void)
{
	__u64 value;

	ASSERT_TRUE(proc_find(proc_text(), "default", PROC_NONE, "wakeups",
			      &value));
	return value;
}

/*
 * Many timers of one tick wake the readers once per run. How many a run expires
 * depends on how fast the machine is, unless an instruction is a nanosecond:
 * there is one CPU then.
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
	/* A run is counted when it begins, a wake-up that it will make later. */
	ASSERT_EQ(0, tw_stats(fd, &stats));
	test_note("%d timers of one tick: %llu wake-ups", count, stats.wakeups);
	ASSERT_LE(1, stats.wakeups);
	ASSERT_LE(stats.wakeups, runs() - before);
	if (time_is_exact())
		ASSERT_LE(stats.wakeups, count / 20);
}

TEST(efault_on_bad_pointer)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(-EFAULT, tw_ioctl(fd, TWHEEL_IOC_STATS, NULL));
	EXPECT_STATS(fd, .started = 0);
}

TEST(efault_on_read_only_memory)
{
	struct twheel_stats stats = { 0 };
	int fd = session_open_nonblock();

	ASSERT_EQ(-EFAULT, tw_ioctl(fd, TWHEEL_IOC_STATS,
				    page_read_only(&stats, sizeof(stats))));
	EXPECT_STATS(fd, .started = 0);
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

TEST(proc_says_the_same)
{
	int fd = session_open_nonblock();
	const char *text;

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
}

/* A session's operations move the default wheel's totals, which add up. */
TEST(proc_totals_move_with_it)
{
	struct proc_counters before = proc_sum(proc_text()), after;
	int fd = session_open_nonblock();

	use(fd);
	after = proc_sum(proc_text());
	ASSERT_EQ(before.started + 12, after.started);
	ASSERT_EQ(before.stopped + 2, after.stopped);
	ASSERT_EQ(before.expired + 2, after.expired);
	ASSERT_EQ(before.pending + 8, after.pending);
	proc_expect_balance(proc_text());
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

TEST(proc_cpus_add_up)
{
	static const char * const names[] = {
		"started", "restarted", "stopped", "expired", "pending",
	};
	int fd = session_open_nonblock();
	struct proc_line line;
	const char *text;
	unsigned int i;
	__u64 total;

	use(fd);
	text = proc_text();
	proc_begin(&line, text);
	while (strcmp(line.name, "wheel"))
		ASSERT_TRUE(proc_next(&line));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		ASSERT_TRUE(proc_find(text, line.wheel, PROC_NONE, names[i],
				      &total));
		ASSERT_EQ(total, sum_of_cpus(text, line.wheel, names[i]));
	}
}

TEST(proc_has_all_names)
{
	static const char * const names[] = {
		"tick_ns", "started", "restarted", "stopped", "expired",
		"pending", "cascaded", "moved", "ticks", "empty_ticks",
		"missed_ticks", "wakeups", "yields", "slots",
		"longest_tick_ns", "longest_lateness_ns",
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

TEST(proc_names_the_scheme_and_mode)
{
	bool scheme = false, mode = false;
	struct proc_line line;

	proc_begin(&line, proc_text());
	while (proc_next(&line)) {
		scheme |= !strcmp(line.name, "scheme") &&
			  (!strcmp(line.value, "hier") ||
			   !strncmp(line.value, "hashed", 6));
		mode |= !strcmp(line.name, "mode") &&
			(!strcmp(line.value, "periodic") ||
			 !strcmp(line.value, "tickless"));
	}
	ASSERT_TRUE(scheme);
	ASSERT_TRUE(mode);
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
