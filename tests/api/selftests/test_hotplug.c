// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions while CPUs go offline and come back
 *
 * This program looks only at sessions. The torture module and the simulation check that timers move
 * to another CPU.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"
#include "stranger.h"

NEED_KERNEL("*");

#define ONLINE		"/sys/devices/system/cpu/cpu1/online"

static void set_online(bool online)
{
	int fd = open(ONLINE, O_WRONLY);

	if (fd < 0)
		test_skip("CPU 1 cannot be switched off");
	ASSERT_EQ(1, write(fd, online ? "1" : "0", 1));
	close(fd);
}

static __u64 started_on(int cpu)
{
	__u64 started = 0;

	proc_find(proc_text(), "private", cpu, "started", &started);
	return started;
}

TEST(wheel_is_made_while_a_cpu_is_offline)
{
	int fd = session_open_nonblock();
	int cpu;

	set_online(false);
	ASSERT_EQ(0, tw_setup_tick(fd, 900 * US));
	for (cpu = 0; cpu < 2; cpu++) {
		pin_cpu(cpu);
		ASSERT_EQ(0, tw_start(fd, cpu, MS, cpu));
		expect_event(fd, cpu, cpu);
		set_online(true);
	}
	ASSERT_EQ(1, started_on(0));
	ASSERT_EQ(1, started_on(1));
}

#define TRACING		"/sys/kernel/tracing/"
/* Flag of allocations that may wait at a memory limit. In the trace, it marks those of sessions. */
#define GFP		"__GFP_RETRY_MAYFAIL"

/* Start timers of a user on CPUs where its wheel has no slots yet. */
static long long start_on_new_cpu(void)
{
	int fd;

	pin_cpu(0);
	fd = session_open();
	ASSERT_EQ(0, tw_start(fd, 1, HOUR, 0));
	pin_cpu(1);
	ASSERT_EQ(0, tw_start(fd, 2, HOUR, 0));
	ASSERT_EQ(0, tw_stop(fd, 1));
	ASSERT_EQ(0, tw_stop(fd, 2));
	return getpid();
}

/*
 * Returns true if a line of the trace belongs to a task that cannot move to another CPU. Five
 * characters follow the CPU. The last one counts calls of migrate_disable().
 */
static bool cannot_be_moved(const char *line)
{
	const char *marks = strstr(line, "] ");

	ASSERT_TRUE(marks && strcspn(marks + 2, " ") == 5);
	return marks[6] != '.';
}

/*
 * A CPU that goes offline waits for each task that cannot move. Such a task must not wait for
 * memory, which may take minutes at the limit of its memory cgroup.
 */
TEST(no_memory_is_allocated_by_a_task_that_cannot_be_moved)
{
	static char line[4096];
	unsigned int found = 0;
	char task[32];
	FILE *trace;

	set_online(true);
	if (access(TRACING "events/kmem/mm_page_alloc", F_OK))
		test_skip("this kernel has no tracepoints");
	if (!access("/sys/kernel/realtime", F_OK))
		test_skip("with PREEMPT_RT each lock keeps a task where it is");
	trace = fopen(TRACING "trace", "w");
	ASSERT_TRUE(trace);
	fclose(trace);
	ASSERT_TRUE(write_text(TRACING "events/kmem/mm_page_alloc/enable", "1"));
	snprintf(task, sizeof(task), "-%lld ",
		 as_stranger(STRANGER, start_on_new_cpu));
	ASSERT_TRUE(write_text(TRACING "events/kmem/mm_page_alloc/enable", "0"));
	trace = fopen(TRACING "trace", "r");
	ASSERT_TRUE(trace);
	while (fgets(line, sizeof(line), trace)) {
		if (!strstr(line, task) || !strstr(line, GFP))
			continue;
		found++;
		if (cannot_be_moved(line))
			test_fail(__FILE__, __LINE__, "%s", line);
	}
	fclose(trace);
	/* The slots of two CPUs take at least two allocations. */
	test_note("%u allocations of pages", found);
	ASSERT_LE(2, found);
}
