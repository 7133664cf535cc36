// SPDX-License-Identifier: GPL-2.0
/*
 * Timers of a CPU that goes offline
 *
 * They move to another CPU, whose idle wheel must be woken up for them. The
 * torture module does the same under load.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"
#include "stranger.h"

NEED_KERNEL("*");

#define ONLINE		"/sys/devices/system/cpu/cpu1/online"
#define TIMERS		200

static void set_online(bool online)
{
	int fd = open(ONLINE, O_WRONLY);

	if (fd < 0)
		test_skip("CPU 1 cannot be switched off");
	ASSERT_EQ(1, write(fd, online ? "1" : "0", 1));
	close(fd);
}

/* Each event comes once, and none before it is due. */
static void expect_all(int fd)
{
	static bool seen[TIMERS];
	struct twheel_event event;
	int i;

	for (i = 0; i < TIMERS; i++) {
		expect_readable(fd);
		ASSERT_EQ(1, tw_read(fd, &event, 1));
		ASSERT_LT(event.id, TIMERS);
		ASSERT_TRUE(!seen[event.id]);
		seen[event.id] = true;
		ASSERT_EQ(event.user_data, event.deadline_ns);
		ASSERT_LE(event.deadline_ns, event.expired_ns);
	}
}

static void hand_over(__u32 scheme)
{
	int fd = session_open_nonblock();
	__u64 deadline = now_ns() + 2 * SECOND;
	int i;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE, .scheme = scheme,
		.tick_ns = 700 * US }));
	set_online(true);
	pin_cpu(1);
	for (i = 0; i < TIMERS; i++)
		ASSERT_EQ(0, tw_start_flags(fd, i, deadline + i * MS / 2,
					    TWHEEL_START_ABS,
					    deadline + i * MS / 2));
	pin_cpu(0);
	set_online(false);
	proc_expect_balance(proc_text());
	expect_all(fd);
	set_online(true);
	EXPECT_STATS(fd, .started = TIMERS, .expired = TIMERS,
		     .delivered = TIMERS);
	proc_expect_balance(proc_text());
}

TEST(hierarchical_wheel_hands_over)
{
	hand_over(TWHEEL_SCHEME_HIER);
}

TEST(hashed_wheel_hands_over)
{
	hand_over(TWHEEL_SCHEME_HASHED);
}

static __u64 started_on(int cpu)
{
	__u64 started = 0;

	proc_find(proc_text(), "private", cpu, "started", &started);
	return started;
}

/* It knows which CPUs are there, and is told of one that comes later. */
TEST(wheel_is_made_while_a_cpu_is_offline)
{
	int fd = session_open_nonblock();
	int cpu;

	set_online(false);
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE, .tick_ns = 900 * US }));
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
/*
 * Flags that sessions allocate with: tasks at a limit wait, and then get an
 * error.
 */
#define GFP		"__GFP_RETRY_MAYFAIL"

/* Pages for a user's wheel on a CPU that has had none of its timers. */
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
 * A line of the trace has five marks behind the CPU. The last one is how often the
 * task has asked not to be moved to another CPU.
 */
static bool cannot_be_moved(const char *line)
{
	const char *marks = strstr(line, "] ");

	ASSERT_TRUE(marks && strcspn(marks + 2, " ") == 5);
	return marks[6] != '.';
}

/*
 * A task that waits for memory and cannot be moved holds up its CPU when that is to
 * go offline, for minutes if it is at the limit of its memory cgroup.
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
	/* Two CPUs' slots, in pieces of any size. */
	test_note("%u allocations of pages", found);
	ASSERT_LE(2, found);
}

#define GROUP		"/sys/fs/cgroup/twheel-hotplug-%u/"
#define USERS		3
#define BATCH		512
/* So often, unless TWHEEL_OFFLINES says otherwise. */
#define OFFLINES	3

static void group_file(char *path, size_t size, unsigned int user,
		       const char *name)
{
	int length = snprintf(path, size, GROUP, user);

	snprintf(path + length, size - length, "%s", name);
}

static void set_group(unsigned int user, const char *name, const char *value)
{
	char path[128];

	group_file(path, sizeof(path), user, name);
	ASSERT_TRUE(write_text(path, value));
}

static void make_group(unsigned int user)
{
	char path[128];

	if (!write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory"))
		test_skip("there is no cgroup2 with a memory controller");
	group_file(path, sizeof(path), user, "");
	rmdir(path);
	ASSERT_EQ(0, mkdir(path, 0755));
	set_group(user, "memory.max", "1048576");
}

/* How often the group has met its limit. */
static long long met_limit(unsigned int user)
{
	char path[128], text[512] = "";
	const char *found;
	int fd;

	group_file(path, sizeof(path), user, "memory.events");
	fd = open(path, O_RDONLY);
	ASSERT_LE(0, fd);
	ASSERT_LT(0, read(fd, text, sizeof(text) - 1));
	close(fd);
	found = strstr(text, "\nmax ");
	ASSERT_TRUE(found);
	return atoll(found + 5);
}

/* Asks for more than its group may have all the time, on both CPUs. */
static void want_more(unsigned int user)
{
	static struct twheel_op ops[BATCH];
	int fd, i, done;

	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	set_group(user, "cgroup.procs", "0");
	drop_rights(STRANGER + user);
	die_with_parent();
	for (;;) {
		fd = open(DEVICE, O_RDWR);
		do {
			for (i = 0; i < BATCH; i++) {
				ops[i].opcode = TWHEEL_OP_START;
				ops[i].id = TWHEEL_ID_ANY;
				ops[i].expires_ns = HOUR;
			}
			done = fd < 0 ? -ENOMEM : tw_submit(fd, ops, BATCH);
			tw_start(fd, 5, HOUR, 0);
		} while (done > 0);
		if (fd >= 0)
			close(fd);
	}
}

/*
 * An array in the kernel that no group has room for. It asks for memory as twheel
 * does: it fails at the limit, and nobody is killed.
 */
static int make_array(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
		.value_size = 4096, .max_entries = 512,
	};

	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

/* The same without twheel. As root, for whom alone such arrays are. */
static void want_more_without(unsigned int user)
{
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
	set_group(user, "cgroup.procs", "0");
	die_with_parent();
	for (;;)
		ASSERT_EQ(-1, make_array());
}

static unsigned int how_many(void)
{
	const char *value = getenv("TWHEEL_OFFLINES");

	return value ? strtoul(value, NULL, 10) : OFFLINES;
}

/* At its limit once more since last time. */
static void await_limit(unsigned int user)
{
	long long met = met_limit(user);

	while (met_limit(user) == met)
		sleep_ns(MS);
}

/* The longest time that it takes beside processes that do @fn, in ms. */
static __u64 go_offline_beside(void (*fn)(unsigned int user))
{
	unsigned int i, user;
	pid_t pids[USERS];
	__u64 longest = 0, begun;

	for (user = 0; user < USERS; user++) {
		pids[user] = fork();
		if (!pids[user])
			fn(user);
	}
	for (i = 0; i < how_many(); i++) {
		for (user = 0; user < USERS; user++)
			await_limit(user);
		begun = now_ns();
		set_online(false);
		set_online(true);
		if (now_ns() - begun > longest)
			longest = now_ns() - begun;
	}
	for (user = 0; user < USERS; user++) {
		ASSERT_EQ(0, waitpid(pids[user], NULL, WNOHANG));
		ASSERT_EQ(0, kill(pids[user], SIGKILL));
		ASSERT_EQ(pids[user], waitpid(pids[user], NULL, 0));
	}
	return longest / MS;
}

static bool has_arrays(void)
{
	int fd = make_array();

	close(fd);
	return fd >= 0;
}

/*
 * It ends, however little memory others have, and they go on as before. How long it
 * takes is noted, with the same load without twheel, too. The case before this one
 * has what must not happen.
 */
TEST(a_cpu_goes_offline_beside_full_memory_cgroups)
{
	unsigned int user;
	char path[128];

	set_online(true);
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	for (user = 0; user < USERS; user++)
		make_group(user);
	if (has_arrays())
		test_note("%u times, without twheel at most %llu ms", how_many(),
			  go_offline_beside(want_more_without));
	test_note("%u times, with twheel at most %llu ms", how_many(),
		  go_offline_beside(want_more));
	for (user = 0; user < USERS; user++) {
		group_file(path, sizeof(path), user, "");
		ASSERT_EQ(0, rmdir(path));
	}
	proc_expect_sessions(0);
	proc_expect_balance(proc_text());
}
