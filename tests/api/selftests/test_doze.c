// SPDX-License-Identifier: GPL-2.0
/*
 * The default wheel dozes while nothing expires, and wakes up in time
 *
 * On a machine that is held up, the wheel may not doze yet, or may count ticks that it missed. So a
 * case makes several attempts, of which one must succeed. Where time is exact, the first attempt
 * must succeed. On a wheel that never dozes, no attempt succeeds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

/* Time after which the wheel surely dozes. It does so after 2 empty ticks of 1 ms. */
#define DOZING	(100 * MS)
#define ATTEMPTS	10

static void need_dozing(void)
{
	if (proc_wheel("default", "doze") < 2)
		test_skip("the default wheel does not doze, or always does");
}

static int far_timer(void)
{
	int fd = session_open_nonblock();

	need_dozing();
	pin_cpu(0);
	ASSERT_EQ(0, tw_start(fd, 1, HOUR, 11));
	sleep_ns(DOZING);
	return fd;
}

/* Make attempts until one succeeds. @attempt returns true if it succeeded. */
static void expect_once(bool (*attempt)(void))
{
	int i, attempts = time_is_exact() ? 1 : ATTEMPTS;

	for (i = 1; !attempt(); i++)
		ASSERT_LT(i, attempts);
}

static bool dozes_for_a_second(void)
{
	__u64 missed, ticks;
	int fd = far_timer();

	ASSERT_EQ(0, tw_start(fd, 2, SECOND, 22));
	missed = proc_wheel("default", "missed_ticks");
	ticks = proc_wheel("default", "ticks");
	expect_event(fd, 2, 22);
	missed = proc_wheel("default", "missed_ticks") - missed;
	ticks = proc_wheel("default", "ticks") - ticks;
	close(fd);
	test_note("%llu ticks and %llu missed in a second", ticks, missed);
	return missed <= 500 && ticks <= 500;
}

/* Ticks during a doze must count neither as processed nor as missed. */
TEST(dozed_ticks_do_not_count)
{
	expect_once(dozes_for_a_second);
}

TEST(earlier_start_wakes_it)
{
	int fd = far_timer(), i;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, tw_start(fd, 2, 10 * MS, 22));
		expect_event(fd, 2, 22);
		sleep_ns(i * MS);
	}
	close(fd);
}

/* Restart the timer on the CPU of its wheel, and on another CPU if there is one. */
TEST(earlier_restart_wakes_it)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;

	for (cpu = 0; cpu < cpus && cpu < 2; cpu++) {
		int fd = far_timer();

		pin_cpu(cpu);
		ASSERT_EQ(1, tw_start(fd, 1, 10 * MS, 12));
		expect_event(fd, 1, 12);
		close(fd);
	}
}

/*
 * Returns true if the wheel dozes again after a timer expired, and a few starts do not end this
 * second doze.
 */
static bool second_doze_goes_on(void)
{
	int fd = session_open_nonblock(), i;
	__u64 wakeups;

	need_dozing();
	pin_cpu(0);
	ASSERT_EQ(0, tw_start(fd, 1, HOUR, 11));
	ASSERT_EQ(0, tw_start(fd, 2, SECOND, 22));
	sleep_ns(DOZING);
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, tw_start(fd, 10 + i, 2 * HOUR, i));
	expect_event(fd, 2, 22);
	sleep_ns(DOZING);
	wakeups = proc_wheel("default", "wakeups");
	for (i = 10; i < 20; i++)
		ASSERT_EQ(0, tw_start(fd, 10 + i, 2 * HOUR, i));
	sleep_ns(DOZING);
	wakeups = proc_wheel("default", "wakeups") - wakeups;
	close(fd);
	return wakeups <= 4;
}

TEST(starts_of_another_doze_do_not_count)
{
	expect_once(second_doze_goes_on);
}

static bool sleeps_on_beside_starts(void)
{
	int fd = far_timer(), i;
	__u64 wakeups;

	wakeups = proc_wheel("default", "wakeups");
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, tw_start(fd, 10 + i, HOUR + MS + i, i));
		ASSERT_EQ(0, tw_start(fd, 200 + i, 2 * HOUR, i));
		ASSERT_EQ(1, tw_start(fd, 200 + i, 3 * HOUR, i));
		/* a start that ended the doze would cause ticks until the next start */
		sleep_ns(DOZING);
	}
	wakeups = proc_wheel("default", "wakeups") - wakeups;
	close(fd);
	test_note("%llu wake-ups", wakeups);
	return wakeups <= 1;
}

/* A start must not wake the wheel if the timer is due after the tick that ends the doze. */
TEST(later_starts_and_restarts_let_it_doze)
{
	expect_once(sleeps_on_beside_starts);
}

/* Returns the number of timer interrupts of CPU 0, or 0 if this machine names them differently. */
static __u64 timer_interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	unsigned long long count = 0;
	char line[4096];

	ASSERT_TRUE(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " LOC: %llu", &count) == 1)
			break;
	fclose(file);
	return count;
}

/* Returns the number of wake-ups in 20 s while @nr timers of 30 s are pending. */
static __u64 wakeups_beside(unsigned int nr)
{
	int fd = session_open_nonblock();
	__u64 wakeups, interrupts;
	unsigned int i;

	for (i = 0; i < nr; i++)
		ASSERT_EQ(0, tw_start(fd, i, 30 * SECOND, i));
	sleep_ns(DOZING);
	wakeups = proc_wheel("default", "wakeups");
	interrupts = timer_interrupts();
	sleep_ns(20 * SECOND);
	wakeups = proc_wheel("default", "wakeups") - wakeups;
	interrupts = timer_interrupts() - interrupts;
	close(fd);
	test_note("%u timers: %llu wake-ups, %llu interrupts in 20 s", nr, wakeups, interrupts);
	return wakeups;
}

TEST(timers_of_half_a_minute_let_it_sleep)
{
	if (!time_is_exact())
		test_skip("a minute of sleep passes at once where time is exact");
	need_dozing();
	pin_cpu(0);
	ASSERT_LE(wakeups_beside(0), 1);
	ASSERT_LE(wakeups_beside(1), 1);
	ASSERT_LE(wakeups_beside(1000), 1);
}

#define PASSED	8

/*
 * Start a batch of timers whose deadlines have passed, each with an earlier deadline than the one
 * before it. Returns true if they expire in the order of their starts.
 */
static bool passed_come_in_order_of_starts(int fd)
{
	struct twheel_op ops[PASSED] = { 0 };
	struct twheel_event event;
	__u64 now = now_ns();
	bool in_order = true;
	int i;

	for (i = 0; i < PASSED; i++) {
		ops[i].opcode = TWHEEL_OP_START;
		ops[i].flags = TWHEEL_START_ABS;
		ops[i].id = 10 + i;
		ops[i].expires_ns = now - (1 + i) * 3 * MS;
	}
	ASSERT_EQ(PASSED, tw_submit(fd, ops, PASSED));
	for (i = 0; i < PASSED; i++) {
		expect_readable(fd);
		ASSERT_EQ(1, tw_read(fd, &event, 1));
		ASSERT_EQ(now - (event.id - 9) * 3 * MS, event.deadline_ns);
		in_order &= event.id == 10U + i;
	}
	close(fd);
	return in_order;
}

static bool passed_on_an_idle_wheel(void)
{
	pin_cpu(0);
	return passed_come_in_order_of_starts(session_open_nonblock());
}

static bool passed_beside_a_far_timer(void)
{
	return passed_come_in_order_of_starts(far_timer());
}

static bool passed_by_restarts(void)
{
	int fd = far_timer(), i;

	for (i = 0; i < PASSED; i++)
		ASSERT_EQ(0, tw_start(fd, 10 + i, HOUR, 0));
	sleep_ns(DOZING);
	return passed_come_in_order_of_starts(fd);
}

/* Documentation/user-api.rst, Time: deadlines in the past. */
TEST(deadlines_that_have_passed_come_in_order_of_starts)
{
	expect_once(passed_on_an_idle_wheel);
	expect_once(passed_beside_a_far_timer);
	expect_once(passed_by_restarts);
}

/* Returns how often other CPUs interrupted CPU 1 to call a function there. */
static __u64 calls_of_cpu_1(void)
{
	char line[4096];
	FILE *file = fopen("/proc/interrupts", "r");
	unsigned long calls = 0;
	bool found = false;

	ASSERT_TRUE(file);
	while (fgets(line, sizeof(line), file)) {
		if (!strstr(line, "unction call interrupts"))
			continue;
		found = sscanf(line, "%*s %*u %lu", &calls) == 1;
		break;
	}
	fclose(file);
	if (!found)
		test_skip("this kernel does not tell them from other interrupts");
	return calls;
}

#define BATCH	32
#define MOVED	(64 * BATCH)
/*
 * Number of timers in a chunk. One timer of each chunk remains pending, so that the chunk is not
 * freed.
 */
#define CHUNK	46

/*
 * Start timers on CPU 0 that were last used on CPU 1, one by one or in batches. Returns the number
 * of calls that interrupted CPU 1.
 */
static __u64 calls_to_move(bool together)
{
	static struct twheel_op ops[MOVED];
	int fd = session_open_nonblock(), i;
	__u64 calls;

	memset(ops, 0, sizeof(ops));
	pin_cpu(0);
	for (i = 0; i < MOVED; i++) {
		ops[i].opcode = TWHEEL_OP_START;
		ops[i].id = i + i / (CHUNK - 1) + 1;
		ops[i].expires_ns = HOUR;
		if (ops[i].id % CHUNK == 1)
			ASSERT_EQ(0, tw_start(fd, ops[i].id - 1, HOUR, 0));
	}
	pin_cpu(1);
	ASSERT_EQ(MOVED, tw_submit(fd, ops, MOVED));
	for (i = 0; i < MOVED; i++)
		ASSERT_EQ(0, tw_stop(fd, ops[i].id));
	pin_cpu(0);
	/* Wait until the wheel of CPU 1 dozes. */
	sleep_ns(DOZING);
	calls = calls_of_cpu_1();
	for (i = 0; i < MOVED; i++) {
		if (!together)
			ASSERT_EQ(0, tw_start(fd, ops[i].id, HOUR, 0));
		else if (i % BATCH == 0)
			ASSERT_EQ(BATCH, tw_submit(fd, &ops[i], BATCH));
		/* Calls to a CPU that has one pending are not counted, so wait for the call. */
		if (i % BATCH == 0)
			sleep_ns(2 * MS);
	}
	calls = calls_of_cpu_1() - calls;
	close(fd);
	return calls;
}

static bool batch_calls_as_few(void)
{
	__u64 single = calls_to_move(false), together = calls_to_move(true);

	test_note("%llu calls for %d starts, %llu for batches of them", single,
		  MOVED, together);
	/* Allow some calls from other parts of the kernel, but fewer than one for each batch. */
	return together <= single + MOVED / BATCH / 2;
}

/*
 * Batches that move timers to another CPU must not interrupt the CPU that the timers leave more
 * often than single starts do.
 */
TEST(a_batch_does_not_disturb_an_idle_cpu)
{
	need_dozing();
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		test_skip("one CPU");
	expect_once(batch_calls_as_few);
}
