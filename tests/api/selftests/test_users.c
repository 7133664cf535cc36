// SPDX-License-Identifier: GPL-2.0
/*
 * The actions of one user cost another user nothing
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"
#include "stranger.h"

NEED_KERNEL("*");

static __u64 parameter(const char *name)
{
	__u64 value = 0;

	ASSERT_TRUE(module_parameter(name, &value));
	return value;
}

static void set_parameter(const char *name, __u64 value)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/twheel/parameters/%s", name);
	file = fopen(path, "w");
	ASSERT_TRUE(file);
	ASSERT_LT(0, fprintf(file, "%llu", value));
	ASSERT_EQ(0, fclose(file));
}

/* Limits of users. */

static long long open_all(void)
{
	long long count = 0;

	while (open(DEVICE, O_RDWR) >= 0)
		count++;
	ASSERT_EQ(ENOSPC, errno);
	return count;
}

static long long open_one(void)
{
	return open(DEVICE, O_RDWR) < 0 ? -errno : 0;
}

static long long make_all_wheels(void)
{
	long long count;
	int result;

	for (count = 0; count < 1000; count++) {
		result = tw_setup_tick(session_open(), 2 * MS + count * US);
		if (result)
			break;
	}
	ASSERT_EQ(-ENOSPC, result);
	return count;
}

static long long make_one_wheel(void)
{
	int fd = session_open(), result;
	struct twheel_info before, after;

	ASSERT_EQ(0, tw_info(fd, &before));
	result = tw_setup_tick(fd, 3 * MS + fd * US);
	if (result) {
		ASSERT_EQ(0, tw_info(fd, &after));
		ASSERT_EQ(0, memcmp(&before, &after, sizeof(before)));
		/* after a start, the error must be EBUSY, although the limit is reached, too */
		ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
		ASSERT_EQ(-EBUSY, tw_setup_tick(fd, 3 * MS));
	}
	return result;
}

/*
 * Documentation/limits.rst: check the limit of each user, and the limit of all users together, of
 * which a sixteenth is reserved for CAP_SYS_RESOURCE.
 */
static void expect_limits(__u64 each, __u64 all, long long (*take_all)(void),
			  long long (*take_one)(void))
{
	struct stranger *strangers[8];
	__u64 left = all - all / 16, i;
	unsigned int nr;

	proc_expect_sessions(0);
	proc_expect_wheels(1);
	for (nr = 0; left; nr++) {
		ASSERT_LT(nr, ARRAY_SIZE(strangers));
		strangers[nr] = stranger_begin(STRANGER + nr, take_all);
		ASSERT_EQ(left < each ? left : each, strangers[nr]->result);
		left -= strangers[nr]->result;
	}
	for (i = 0; i < all / 16; i++)
		ASSERT_EQ(0, take_one());
	ASSERT_EQ(-ENOSPC, take_one());
	if (take_all == make_all_wheels)
		ASSERT_EQ(1 + all, proc_wheels());
	while (nr--)
		stranger_end(strangers[nr]);
}

TEST(limits_of_sessions)
{
	__u64 each = parameter("max_user_sessions"), all = parameter("max_sessions");

	expect_limits(each, all, open_all, open_one);
	proc_expect_sessions(all / 16);
	ASSERT_EQ(each, as_stranger(STRANGER, open_all));
}

/* The wheels of these users have the same ticks, but users must not share a wheel. */
TEST(limits_of_wheels)
{
	__u64 each = parameter("max_user_wheels"), all = parameter("max_wheels");

	expect_limits(each, all, make_all_wheels, make_one_wheel);
	proc_expect_wheels(1 + all / 16);
	ASSERT_EQ(each, as_stranger(STRANGER, make_all_wheels));
}

#define FEW_TIMERS	45000

static long long start_dense(void)
{
	int fd = session_open();
	long long count = 0;

	while (!tw_start(fd, count, HOUR, 0))
		count++;
	ASSERT_EQ(-ENOSPC, tw_start(fd, count, HOUR, 0));
	ASSERT_EQ(1, tw_start(fd, 0, HOUR, 0));
	EXPECT_STATS(fd, .started = count, .restarted = 1, .pending = count);
	ASSERT_EQ(-ENOSPC, tw_start(session_open(), 0, HOUR, 0));
	ASSERT_EQ(0, tw_stop(fd, 0));
	ASSERT_EQ(0, tw_start(fd, 0, HOUR, 0));
	return count;
}

/* Start timers whose ids are as far apart as possible, in many sessions. */
static long long start_sparse(void)
{
	long long count = 0;
	struct twheel_info info;
	int fd, result = 0;
	__u64 id;

	while (!result) {
		fd = session_open();
		ASSERT_EQ(0, tw_info(fd, &info));
		for (id = 0; id < info.max_timers && !result; id += 512 * timers_of_a_piece()) {
			result = tw_start(fd, id, HOUR, 0);
			count += !result;
		}
		if (!result)
			result = tw_start_any(fd, HOUR, 0, &id);
	}
	ASSERT_EQ(-ENOSPC, result);
	return count;
}

static void with_few_timers(long long (*fn)(void), long long low, long long high)
{
	__u64 before = parameter("max_user_timers");
	struct stranger *stranger;
	int fd = session_open(), i;

	set_parameter("max_user_timers", FEW_TIMERS);
	stranger = stranger_begin(STRANGER, fn);
	test_note("%lld timers of %d", stranger->result, FEW_TIMERS);
	for (i = 0; i < 2 * FEW_TIMERS; i += timers_of_a_piece())
		ASSERT_EQ(0, tw_start(fd, i, HOUR, 0));
	set_parameter("max_user_timers", before);
	ASSERT_LE(low, stranger->result);
	ASSERT_LE(stranger->result, high);
	stranger_end(stranger);
}

/* Documentation/limits.rst: timers of a user are counted in whole chunks. */
TEST(limit_of_a_users_timers)
{
	unsigned int each = timers_of_a_piece(), all = (FEW_TIMERS + each - 1) / each * each;

	with_few_timers(start_dense, all, all);
}

/* Documentation/limits.rst: the limit counts the memory of a user's timers, not their ids. */
TEST(limit_of_timers_far_apart)
{
	unsigned int pieces = FEW_TIMERS / timers_of_a_piece();

	with_few_timers(start_sparse, pieces / 4, pieces);
}

static long long open_and_start(void)
{
	return tw_start(session_open(), 3, HOUR, 33);
}

/* Documentation/administration.rst, Parameters: the largest value must work. */
TEST(limits_have_a_range)
{
	static const char * const limits[] = {
		"max_sessions", "max_wheels",
		"max_user_sessions", "max_user_wheels", "max_user_timers",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		__u64 before = parameter(limits[i]);

		set_parameter(limits[i], 2147483647);
		ASSERT_EQ(0, as_stranger(STRANGER, open_and_start));
		set_parameter(limits[i], before);
	}
}

static long long setup_words(void)
{
	const struct twheel_setup all = { .shared_ids = FEW_TIMERS };
	const struct twheel_setup one = { .shared_ids = 1 };
	long long count = 0;
	int fd = session_open();

	ASSERT_EQ(0, tw_setup(fd, all));
	ASSERT_EQ(-ENOSPC, tw_setup(session_open(), one));
	close(fd);
	while (!tw_setup(session_open(), one))
		count++;
	ASSERT_EQ(-ENOSPC, tw_setup(session_open(), one));
	return count;
}

/* Documentation/limits.rst: a user's words are counted in whole pages. */
TEST(limit_of_a_users_words)
{
	__u64 page = sysconf(_SC_PAGESIZE);
	__u64 pages = (FEW_TIMERS * sizeof(__u64) + page - 1) / page;

	need_words();
	with_few_timers(setup_words, pages, pages);
}

static int passed_on;

/* Start timers in a session that another user opened. The limits of the opener must count. */
static long long start_all_in_a_session_of_others(void)
{
	long long count = 0;

	ASSERT_EQ(-EBUSY, tw_setup(passed_on, (struct twheel_setup){
		.max_timers = 1000000 }));
	while (!tw_start(passed_on, 1 + count, HOUR, 0))
		count++;
	return count;
}

/* Documentation/limits.rst: timers in a session that was passed on count for its opener. */
TEST(limit_of_a_session_that_is_passed_on)
{
	passed_on = session_open();
	ASSERT_EQ(0, tw_setup(passed_on, (struct twheel_setup){
		.max_timers = 100 }));
	ASSERT_EQ(0, tw_start(passed_on, 0, HOUR, 0));
	/* ids 1 to 99: the opener has a timer with id 0, and id 100 is not below max_timers */
	ASSERT_EQ(99, as_stranger(STRANGER, start_all_in_a_session_of_others));
	EXPECT_STATS(passed_on, .started = 100, .pending = 100);
}

/* Open as many sessions as possible, as different ids of a namespace in turn. */
static long long open_all_by_ids(void)
{
	long long count = 0;
	int fd;

	do {
		ASSERT_EQ(0, seteuid(count % 10));
		fd = open(DEVICE, O_RDWR);
		ASSERT_EQ(0, seteuid(0));
	} while (fd >= 0 && ++count);
	ASSERT_EQ(ENOSPC, errno);
	return count;
}

/* Documentation/limits.rst: the ids of a user namespace count as its owner. */
TEST(ids_of_a_namespace_are_one_user)
{
	struct stranger *ids = stranger_send_with_ids(STRANGER, open_all_by_ids);
	__u64 limit = parameter("max_user_sessions");

	stranger_wait(ids);
	ASSERT_EQ(limit, ids->result);
	ASSERT_EQ(0, as_stranger(STRANGER, open_all));
	ASSERT_EQ(limit, as_stranger(STRANGER + 1, open_all));
	stranger_end(ids);
}

/* Wheels of users. */

static __u64 default_tick;

static long long set_up_what_is_refused(void)
{
	int fd = session_open();
	struct twheel_info before, after;

	ASSERT_EQ(0, tw_info(fd, &before));
	ASSERT_EQ(-EPERM, tw_setup_tick(fd, default_tick - 1));
	ASSERT_EQ(-EPERM, tw_setup_tick(fd, 50 * US));
	ASSERT_EQ(0, tw_info(fd, &after));
	ASSERT_EQ(0, memcmp(&before, &after, sizeof(before)));
	ASSERT_EQ(0, tw_setup_tick(fd, default_tick));
	ASSERT_EQ(0, tw_setup_tick(fd, 0));
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_event(fd, 3, 33);
	return 0;
}

/* Documentation/user-api.rst, TWHEEL_IOC_SETUP: EPERM. */
TEST(eperm_without_cap_sys_nice)
{
	int fd = session_open();

	default_tick = tick_ns(fd);
	ASSERT_EQ(0, as_stranger(STRANGER, set_up_what_is_refused));
	ASSERT_EQ(0, tw_setup_tick(fd, 50 * US));
}

static long long set_up_in_a_namespace(void)
{
	int fd;

	if (unshare(CLONE_NEWUSER))
		return -1;
	fd = session_open();
	ASSERT_EQ(-EPERM, tw_setup_tick(fd, 50 * US));
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_event(fd, 3, 33);
	return 0;
}

/* In the namespace, a stranger has all capabilities, but only there. */
TEST(capabilities_of_a_user_namespace_do_not_count)
{
	if (as_stranger(STRANGER, set_up_in_a_namespace))
		test_skip("this kernel has no user namespaces for strangers");
	proc_expect_wheels(1);
}

static long long start_one(void)
{
	int fd = session_open(), other = session_open();

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, tw_start(fd, 4, 0, 44));
	expect_event(fd, 4, 44);
	ASSERT_EQ(0, tw_start(other, 3, HOUR, 33));
	return tick_ns(fd);
}

/* Documentation/limits.rst: the sessions of each user share a wheel of this user. */
TEST(each_user_has_a_wheel)
{
	struct stranger *first, *second;
	int fd = session_open();

	proc_expect_wheels(1);
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	first = stranger_begin(STRANGER, start_one);
	ASSERT_EQ(tick_ns(fd), first->result);
	ASSERT_EQ(2, proc_wheels());
	second = stranger_begin(STRANGER + 1, start_one);
	ASSERT_EQ(3, proc_wheels());
	stranger_end(first);
	proc_expect_wheels(2);
	stranger_end(second);
	proc_expect_wheels(1);
	proc_expect_balance(proc_text());
}

/* A descriptor keeps the rights of the user who opened it. */
TEST(rights_are_the_openers)
{
	int fd = session_open();

	drop_rights(STRANGER);
	ASSERT_EQ(0, tw_setup_tick(fd, 50 * US));
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_event(fd, 3, 33);
}

/* Waiting for other users. */

#define ROUNDS		20
#define LATER_NS	(10 * MS)

static __u64 open_set_up_close(void)
{
	__u64 start = now_ns();
	int fd = session_open();

	ASSERT_EQ(0, tw_setup_tick(fd, 7 * MS));
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, close(fd));
	return now_ns() - start;
}

/*
 * Returns the median time of open_set_up_close(). It runs with real-time priority, so that no other
 * task is in between.
 */
static __u64 usual_time(void)
{
	struct sched_param param = { .sched_priority = 1 };
	__u64 times[ROUNDS];
	unsigned int i;

	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &param));
	for (i = 0; i < ROUNDS; i++)
		times[i] = open_set_up_close();
	param.sched_priority = 0;
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &param));
	qsort(times, ROUNDS, sizeof(times[0]), compare_u64);
	return times[ROUNDS / 2];
}

static void expect_undisturbed(__u64 before)
{
	__u64 now = usual_time();

	test_note("open, setup and close: %llu us undisturbed, %llu us now",
		  before / US, now / US);
	if (time_is_exact())
		ASSERT_LE(now, before + LATER_NS);
}

/*
 * A session must not wait for a grace period of RCU. Kernel threads end the grace period, and tasks
 * of strangers could delay these threads.
 */
TEST(no_session_waits_for_a_grace_period)
{
	__u64 usual;

	if (!time_is_exact())
		test_skip("not on a machine of one CPU");
	usual = usual_time();
	test_note("open, setup and close: %llu us", usual / US);
	ASSERT_LE(usual, 2 * MS);
}

TEST(root_does_not_wait_for_many_sessions)
{
	__u64 before = usual_time();
	struct stranger *stranger = stranger_begin(STRANGER, open_all);

	expect_undisturbed(before);
	stranger_end(stranger);
}

static const char *file_to_read;

static void read_for_ever(void)
{
	static char text[1 << 20];
	int fd;

	die_with_parent();
	for (;;) {
		fd = open(file_to_read, O_RDONLY);
		ASSERT_LE(0, fd);
		while (read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
}

static long long read_in_sixteen_processes(void)
{
	int i;

	ASSERT_EQ(0, setpgid(0, 0));
	open_all();
	for (i = 0; i < 16; i++)
		if (!fork())
			read_for_ever();
	return 0;
}

static struct stranger *begin_reading(const char *file)
{
	file_to_read = file;
	return stranger_begin(STRANGER, read_in_sixteen_processes);
}

static void end_reading(struct stranger *stranger)
{
	ASSERT_EQ(0, kill(-stranger->pid, SIGKILL));
	ASSERT_EQ(stranger->pid, waitpid(stranger->pid, NULL, 0));
	proc_expect_sessions(0);
}

/* Readers of /proc/twheel must not take more of root's time than readers of another file. */
TEST(root_does_not_wait_for_readers_of_proc)
{
	struct stranger *stranger = begin_reading("/proc/self/status");
	__u64 before = usual_time();

	end_reading(stranger);
	stranger = begin_reading("/proc/twheel");
	expect_undisturbed(before);
	end_reading(stranger);
}

/* What users see in /proc/twheel. */

/* Returns the number of lines @name in /proc/twheel. */
static unsigned int visible(const char *name)
{
	unsigned int count = 0;
	struct proc_line line;

	proc_begin(&line, proc_text());
	while (proc_next(&line))
		count += !strcmp(line.name, name);
	return count;
}

static unsigned int visible_sessions(void)
{
	return visible("session");
}

static long long open_two_and_look(void)
{
	const char *text;
	__u64 value;
	int fd;

	session_open();
	fd = session_open();
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	text = proc_text();
	/* All users see the default wheel and its CPUs. */
	ASSERT_TRUE(proc_find(text, "default", PROC_NONE, "pending", &value));
	ASSERT_TRUE(proc_find(text, "default", 0, "pending", &value) ||
		    proc_find(text, "default", 1, "pending", &value));
	ASSERT_TRUE(proc_find(text, "user", PROC_NONE, "pending", &value));
	ASSERT_EQ(getuid(), proc_session(text, getpid(), "uid"));
	/* The totals would reveal each open() of other users. */
	ASSERT_TRUE(!strstr(text, "\nsessions ") && !strstr(text, "\nwheels "));
	return visible_sessions();
}

/* Documentation/proc.rst: which sessions a user sees. */
TEST(strangers_see_no_sessions_but_their_own)
{
	struct stranger *first, *second;
	int fd;

	proc_expect_sessions(0);
	fd = session_open();
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	first = stranger_begin(STRANGER, open_two_and_look);
	second = stranger_begin(STRANGER + 1, open_two_and_look);
	ASSERT_EQ(2, first->result);
	ASSERT_EQ(2, second->result);
	ASSERT_EQ(5, visible_sessions());
	ASSERT_EQ(5, proc_sessions());
	stranger_end(first);
	stranger_end(second);
}

/* Use the wheel of the user and a private wheel, and count the wheels that are visible. */
static long long use_two_wheels_and_look(void)
{
	int fd = session_open();
	const char *text;
	__u64 value;

	ASSERT_EQ(0, tw_setup_tick(fd, 2 * MS));
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, tw_start(session_open(), 3, HOUR, 33));
	text = proc_text();
	ASSERT_TRUE(proc_find(text, "user", PROC_NONE, "pending", &value));
	ASSERT_EQ(1, value);
	ASSERT_TRUE(proc_find(text, "private", PROC_NONE, "pending", &value));
	ASSERT_EQ(1, value);
	return visible("number");
}

static long long look_at_wheels(void)
{
	return visible("number");
}

static long long use_one_wheel_and_look(void)
{
	ASSERT_EQ(0, tw_start(session_open(), 3, HOUR, 33));
	ASSERT_EQ(1, visible_sessions());
	return visible("number");
}

TEST(strangers_see_no_wheels_but_their_own)
{
	struct stranger *first, *second, *third;
	__u64 tick = tick_ns(session_open());

	proc_expect_wheels(1);
	ASSERT_EQ(1, visible("number"));
	ASSERT_EQ(0, tw_setup_tick(session_open(), 2 * tick));
	first = stranger_begin(STRANGER, use_two_wheels_and_look);
	second = stranger_begin(STRANGER + 1, use_two_wheels_and_look);
	third = stranger_begin(STRANGER + 2, look_at_wheels);
	ASSERT_EQ(3, second->result);
	ASSERT_EQ(1, third->result);
	/* All users see the number of wheels. */
	ASSERT_EQ(6, proc_wheels());
	ASSERT_EQ(6, visible("number"));
	stranger_end(first);
	stranger_end(second);
	stranger_end(third);
}

/* The wheel belongs to the owner of the namespace, so the owner sees it, but the ids do not. */
TEST(ids_of_a_namespace_do_not_see_their_wheel)
{
	struct stranger *ids;

	proc_expect_wheels(1);
	ids = stranger_send_with_ids(STRANGER, use_one_wheel_and_look);
	stranger_wait(ids);
	ASSERT_EQ(1, ids->result);
	ASSERT_EQ(2, as_stranger(STRANGER, look_at_wheels));
	ASSERT_EQ(1, as_stranger(STRANGER + 1, look_at_wheels));
	stranger_end(ids);
}

static int proc_fd;

static long long read_roots_file(void)
{
	char text[4096];

	session_open();
	ASSERT_LT(0, read(proc_fd, text, sizeof(text) - 1));
	return 0;
}

/* A reader has the rights of the user who opened the file. */
TEST(rights_of_who_opened_proc)
{
	static char text[1 << 20];
	struct stranger *stranger;
	ssize_t got;

	session_open();
	proc_fd = open("/proc/twheel", O_RDONLY);
	stranger = stranger_begin(STRANGER, read_roots_file);
	stranger_end(stranger);
	ASSERT_EQ(0, lseek(proc_fd, 0, SEEK_SET));
	drop_rights(STRANGER);
	got = read(proc_fd, text, sizeof(text) - 1);
	ASSERT_LT(0, got);
	while (read(proc_fd, text + strlen(text), 4096) > 0)
		;
	ASSERT_TRUE(strstr(text, "\nsession "));
	ASSERT_EQ(0, visible_sessions());
}

/* Documentation/proc.rst: pids are numbers in the reader's namespace. */
TEST(pids_of_the_readers_namespace)
{
	pid_t pid;

	proc_expect_sessions(0);
	session_open();
	if (unshare(CLONE_NEWPID))
		test_skip("this kernel has no pid namespaces");
	pid = fork();
	if (!pid) {
		ASSERT_EQ(1, getpid());
		session_open();
		ASSERT_EQ(2, visible_sessions());
		ASSERT_EQ(0, proc_session(proc_text(), 0, "started"));
		ASSERT_EQ(0, proc_session(proc_text(), 1, "started"));
		_exit(0);
	}
	expect_child(pid);
}

/*
 * Sessions are closed between two reads of the file. The last session, which remains open, must not
 * be left out.
 */
TEST(a_reading_in_pieces_is_whole)
{
	static char text[1 << 20];
	unsigned int i, length = 0;
	int fds[100], fd, last;
	const char *at = text;
	ssize_t got;

	for (i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = session_open();
	last = session_open();
	ASSERT_EQ(0, tw_start(last, 3, HOUR, 33));
	fd = open("/proc/twheel", O_RDONLY);
	for (i = 0; (got = read(fd, text + length, 500)) > 0; i++) {
		length += got;
		if (i < ARRAY_SIZE(fds))
			close(fds[i]);
	}
	while ((at = strstr(at, "\n  started 1\n"))) {
		last = -1;
		at++;
	}
	ASSERT_EQ(-1, last);
}
