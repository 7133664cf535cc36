// SPDX-License-Identifier: GPL-2.0
/*
 * The share of a CPU that strangers can take
 *
 * However many wheels and timers they have, another user must keep almost half of the CPU, and
 * this user's timers must not be late. This can only be tested where time does not depend on the
 * machine, so these cases need a single CPU. The stage with one CPU counts an instruction as a
 * nanosecond.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"
#include "stranger.h"

NEED_KERNEL("*");

/* Length of the window of a measurement. Attackers start their timers before it begins. */
#define WINDOW_NS	(350 * MS)
#define PERIODS		(WINDOW_NS / MS)
#define WHEELS_MAX	16
#define NEAR		1200000

/*
 * Limits: the share of the CPU that a victim keeps, in thousandths, and the lateness of the
 * bystander's timer, whose wheel has ticks of 1 ms: in 99.9 % of the periods, and at most.
 */
#define SHARE_LEFT	450
#define LATE_NS		(3 * MS)
#define LATE_NS_MAX	(10 * MS)

#define VICTIM		(STRANGER + 100)
#define BYSTANDER	(STRANGER + 101)

/**
 * struct attack - what a stranger does with each wheel
 * @wheels: number of wheels
 * @number: number of the first wheel. Each wheel has a tick 1 us longer than the last one
 * @far: number of timers due in an hour
 * @near: number of timers due in the window
 * @apart: time between the deadlines of two timers of @near, ns
 * @words: each timer has a word, with a deadline half a window after its own
 */
struct attack {
	unsigned int wheels;
	unsigned int number;
	unsigned int far;
	unsigned int near;
	__u64 apart;
	bool words;
};

/**
 * struct lateness - how late a user's timer was, and how long root had to wait
 * @ns: lateness of a bystander's timer, for each period
 * @count: number of values in @ns
 * @session_ns: longest time that root needed for open, SETUP, START and close
 */
struct lateness {
	__u64 ns[8 * PERIODS];
	unsigned int count;
	__u64 session_ns;
};

/* The attack and its window, set before the processes are forked. */
static struct attack attack;
static __u64 window;
/* Two entries: for the bystander, and for the user with few timers (QUIET). */
static struct lateness *lateness;
/* User of the bystander, whose timer is measured. */
static uid_t bystander_uid = BYSTANDER;

/*
 * Give ksoftirqd a real-time priority until the machine is off. The kernel leaves softirqs to
 * ksoftirqd if they wake up a task. With its usual priority, ksoftirqd may wait for a jiffy, and
 * all timers with it, which is not a fault of the wheels.
 */
static void put_softirqs_first(void)
{
	struct sched_param param = { .sched_priority = 4 };
	FILE *output = popen("pidof ksoftirqd/0", "r");
	int pid;

	ASSERT_TRUE(output);
	ASSERT_EQ(1, fscanf(output, "%d", &pid));
	ASSERT_EQ(0, pclose(output));
	ASSERT_EQ(0, sched_setscheduler(pid, SCHED_FIFO, &param));
}

static void only_one_cpu(void)
{
	struct rlimit three = { 3, 3 };

	if (!time_is_exact())
		test_skip("not on a machine of one CPU");
	put_softirqs_first();
	/* Let strangers have the real-time priority that have_timer() sets. */
	ASSERT_EQ(0, setrlimit(RLIMIT_RTPRIO, &three));
	lateness = mmap(NULL, 2 * sizeof(*lateness), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_TRUE(lateness != MAP_FAILED);
}

/* Functions of the attackers. */

static void store_words(int fd, unsigned int count)
{
	__u64 *words = map_words(fd, count);
	unsigned int i;

	for (i = 0; i < count; i++)
		words[i] = window + i * attack.apart + WINDOW_NS / 2;
}

static void attack_with_wheel(unsigned int number)
{
	unsigned int words = attack.words ? attack.far + attack.near : 0;
	int fd = session_open();

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE, .shared_ids = words,
		.tick_ns = tick_ns(fd) + number * US }));
	if (words)
		store_words(fd, words);
	start_many(fd, 0, attack.far, window + HOUR, 0);
	start_many(fd, attack.far, attack.near, window, attack.apart);
}

static long long attack_with_wheels(void)
{
	unsigned int i;

	for (i = 0; i < attack.wheels; i++)
		attack_with_wheel(attack.number + i);
	return 0;
}

/* Begin the attack @all, with its wheels divided among users. Returns the number of users. */
static unsigned int begin_attack(struct stranger **attackers,
				 const struct attack *all)
{
	unsigned int i, left;
	__u64 limit;

	ASSERT_TRUE(module_parameter("max_user_wheels", &limit));
	attack.number = 0;
	attack.far = all->far / all->wheels;
	attack.near = all->near / all->wheels;
	attack.apart = all->apart * all->wheels;
	attack.words = all->words;
	for (i = 0, left = all->wheels; left; i++, left -= attack.wheels) {
		attack.wheels = left < limit ? left : limit;
		attackers[i] = stranger_begin(STRANGER + i, attack_with_wheels);
		attack.number += attack.wheels;
	}
	return i;
}

/* Functions of the victims. */

/* Count the steps that a loop takes in the window. */
static long long spin(void)
{
	long long steps = 0;

	sleep_until(window);
	while (now_ns() < window + WINDOW_NS)
		steps++;
	return steps;
}

/* Note the lateness of each period, including the periods without an event of their own. */
static void add_periods(const struct twheel_event *event)
{
	__u64 late = event->expired_ns - event->deadline_ns;
	unsigned int i;

	for (i = 0; i <= event->overruns; i++) {
		ASSERT_LT(lateness->count, ARRAY_SIZE(lateness->ns));
		lateness->ns[lateness->count++] = late > i * MS ? late - i * MS : 0;
	}
}

/*
 * Measure the lateness of a periodic timer. Each event must be read at once, because the read
 * starts the next period. With a lower priority, root's sessions delayed the read by up to 2.5 ms.
 */
static long long have_timer(void)
{
	struct sched_param param = { .sched_priority = 3 };
	struct twheel_event event;
	int fd = session_open();

	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &param));
	ASSERT_EQ(0, tw_ioctl(fd, TWHEEL_IOC_START, &(struct twheel_start){
		.expires_ns = window, .period_ns = MS,
		.flags = TWHEEL_START_ABS }));
	do {
		ASSERT_EQ(1, tw_read(fd, &event, 1));
		add_periods(&event);
	} while (event.deadline_ns < window + WINDOW_NS);
	return 0;
}

/* Run a victim and a bystander in the window. Returns the victim's steps. */
static long long victim_beside_bystander(void)
{
	struct stranger *victim, *bystander;
	long long steps;

	victim = stranger_send(VICTIM, spin);
	bystander = stranger_send(bystander_uid, have_timer);
	ASSERT_LT(now_ns(), window);
	sleep_until(window + WINDOW_NS);
	stranger_wait(victim);
	stranger_wait(bystander);
	steps = victim->result;
	stranger_end(victim);
	stranger_end(bystander);
	return steps;
}

/* Returns the lateness that only @left periods exceed. */
static __u64 exceeded_by(unsigned int left)
{
	return lateness->ns[lateness->count - 1 - left];
}

/* Check the lateness of all periods since the last call. */
static void expect_punctual(__u64 mostly, __u64 at_most)
{
	unsigned int count = lateness->count;

	qsort(lateness->ns, count, sizeof(lateness->ns[0]), compare_u64);
	test_note("%u periods: late %llu us at the median, %llu us at 99.9 %%, %llu us at most",
		  count, exceeded_by(count / 2) / US,
		  exceeded_by(count / 1000) / US, exceeded_by(0) / US);
	ASSERT_LE(PERIODS, count);
	ASSERT_LE(exceeded_by(count / 1000), mostly);
	ASSERT_LE(exceeded_by(0), at_most);
	lateness->count = 0;
}

/* Returns the sum of a number over all wheels of this name. */
static __u64 sum_of_wheels(const char *wheel, const char *name)
{
	struct proc_line line;
	__u64 sum = 0;

	proc_begin(&line, proc_text());
	while (proc_next(&line))
		if (!strcmp(line.wheel, wheel) && line.cpu == PROC_NONE &&
		    line.session == PROC_NONE && !strcmp(line.name, name))
			sum += strtoull(line.value, NULL, 10);
	return sum;
}

static __u64 private_pending(void)
{
	return sum_of_wheels("private", "pending");
}

static void attack_with(const struct attack *all, long long alone)
{
	struct stranger *attackers[WHEELS_MAX];
	unsigned int users, i;
	long long left;

	window = now_ns() + 4 * SECOND;
	users = begin_attack(attackers, all);
	left = victim_beside_bystander() * 1000 / alone;
	test_note("%u users, %u wheels: %lld/1000 of the CPU left, %llu timers pending",
		  users, all->wheels, left, private_pending());
	ASSERT_LE(SHARE_LEFT, left);
	/* If the attack works, more timers are due than can expire: some must be pending. */
	if (all->near)
		ASSERT_LT(all->far, private_pending());
	for (i = 0; i < users; i++)
		stranger_end(attackers[i]);
}

/* Attack with @all.wheels wheels, then with four times as many, and so on. */
static void attack_up_to(unsigned int wheels_max, struct attack all)
{
	long long alone;

	only_one_cpu();
	window = now_ns() + SECOND;
	alone = victim_beside_bystander();
	lateness->count = 0;
	for (; all.wheels <= wheels_max; all.wheels *= 4)
		attack_with(&all, alone);
	expect_punctual(LATE_NS, LATE_NS_MAX);
}

/* In each tick, more timers are due than can expire until the next tick. */
TEST(a_flood_leaves_half_of_a_cpu)
{
	attack_up_to(WHEELS_MAX, (struct attack){
		.wheels = 1, .far = 200000, .near = NEAR,
		.apart = WINDOW_NS / NEAR });
}

/* All timers are due in one tick. */
TEST(a_crowd_leaves_half_of_a_cpu)
{
	attack_up_to(1, (struct attack){ .wheels = 1, .near = NEAR });
}

/* Words move each due timer to a later deadline, where it is due again. */
TEST(carries_leave_half_of_a_cpu)
{
	attack_up_to(1, (struct attack){
		.wheels = 1, .near = NEAR / 2, .words = true,
		.apart = 2 * WINDOW_NS / NEAR });
}

/* Each wheel has only a timer that is due in an hour, and wakes up without a due timer. */
TEST(idle_wheels_leave_half_of_a_cpu)
{
	attack_up_to(WHEELS_MAX, (struct attack){
		.wheels = WHEELS_MAX, .far = WHEELS_MAX });
}

/*
 * Crowds: many users, or many ids of one user, each with a few timers in each tick. The bystander
 * is root, with a timer on the default wheel. Root also measures how long making a session takes.
 */

#define SESSIONS	10
/* Limit for the number of a crowd's timers, more than can expire in the window. */
#define ENOUGH		1000000

/**
 * struct crowd - many users whose timers are due in the same ticks
 * @users: number of users, or of ids
 * @per_tick: number of timers of a user in a tick
 * @watched: number of epoll instances that watch each session of a user
 * @sessions: number of sessions of a user, with timers in the same ticks
 */
struct crowd {
	unsigned int users;
	unsigned int per_tick;
	unsigned int watched;
	unsigned int sessions;
};

#define SESSIONS_MAX	200

static struct crowd crowd;

static void watch(const int *fds, unsigned int nr, unsigned int count)
{
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int i;
	int epoll;

	for (; count; count--) {
		epoll = epoll_create1(0);
		ASSERT_LE(0, epoll);
		for (i = 0; i < nr; i++)
			ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event));
	}
}

/*
 * Open sessions as each user of the crowd in turn, and start their timers. Only root, of the
 * machine or of a user namespace, can be one user after another. Returns the number of timers.
 */
static long long be_a_crowd(void)
{
	unsigned int i, j, each = crowd.per_tick * PERIODS;
	static int fds[SESSIONS_MAX];

	if (each > ENOUGH / crowd.users)
		each = ENOUGH / crowd.users;
	for (i = 0; i < crowd.users; i++) {
		ASSERT_EQ(0, seteuid(STRANGER + i));
		for (j = 0; j < crowd.sessions; j++)
			fds[j] = session_open();
		ASSERT_EQ(0, seteuid(0));
		watch(fds, crowd.sessions, crowd.watched);
		for (j = 0; j < crowd.sessions; j++)
			start_many(fds[j], 0, each, window, MS / crowd.per_tick);
	}
	return each * crowd.users * crowd.sessions;
}

static long long make_sessions(void)
{
	struct sched_param param = { .sched_priority = 2 };
	__u64 begin;
	int fd, i;

	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &param));
	lateness->session_ns = 0;
	for (i = 0; i < SESSIONS; i++) {
		sleep_until(window + i * (WINDOW_NS / SESSIONS));
		begin = now_ns();
		fd = session_open();
		ASSERT_EQ(0, tw_setup_tick(fd, 7 * MS));
		ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
		ASSERT_EQ(0, close(fd));
		if (now_ns() - begin > lateness->session_ns)
			lateness->session_ns = now_ns() - begin;
	}
	return 0;
}

static long long victim_beside_root(void)
{
	struct stranger *root = stranger_send(0, make_sessions);
	long long steps = victim_beside_bystander();

	stranger_wait(root);
	stranger_end(root);
	return steps;
}

static void be_beside(const struct crowd *all, bool ids, long long alone,
		      __u64 session_ns, __u64 late_ns)
{
	struct stranger *attacker;
	long long left;
	__u64 pending;

	crowd = *all;
	window = now_ns() + 4 * SECOND;
	attacker = ids ? stranger_send_with_ids(STRANGER, be_a_crowd) :
			 stranger_send(0, be_a_crowd);
	stranger_wait(attacker);
	lateness->count = 0;
	left = victim_beside_root() * 1000 / alone;
	pending = sum_of_wheels("user", "pending");
	test_note("%u %s x %u, %u watch: %lld/1000 left, open %lld us, %llu pending",
		  crowd.users, ids ? "ids" : "users", crowd.per_tick,
		  crowd.watched, left,
		  (long long)(lateness->session_ns - session_ns) / (long long)US,
		  pending);
	/* If ENOUGH limited the crowd's timers, they cannot all expire in the window. */
	if (attacker->result < (long long)(crowd.users * crowd.per_tick * PERIODS))
		ASSERT_LT(0, pending);
	stranger_end(attacker);
	ASSERT_LE(SHARE_LEFT, left);
	ASSERT_LE(lateness->session_ns, session_ns + LATE_NS_MAX);
	expect_punctual(late_ns, late_ns);
}

static void attack_with_crowds(const struct crowd *crowds, unsigned int nr,
			       bool ids, __u64 late_ns)
{
	long long alone;
	__u64 session_ns;
	unsigned int i;

	only_one_cpu();
	bystander_uid = 0;
	window = now_ns() + SECOND;
	alone = victim_beside_root();
	session_ns = lateness->session_ns;
	for (i = 0; i < nr; i++)
		be_beside(&crowds[i], ids, alone, session_ns, late_ns);
}

TEST(crowds_of_users_leave_half_of_a_cpu)
{
	static const struct crowd crowds[] = {
		{ 1, 1, 0, 1 }, { 1, 60, 0, 1 }, { 10, 60, 0, 1 }, { 100, 60, 0, 1 },
		{ 400, 60, 0, 1 }, { 1000, 1, 0, 1 }, { 1000, 60, 0, 1 },
	};

	attack_with_crowds(crowds, ARRAY_SIZE(crowds), false, LATE_NS);
}

TEST(ids_of_a_user_leave_half_of_a_cpu)
{
	static const struct crowd crowds[] = {
		{ 20, 60, 0, 1 }, { 100, 60, 0, 1 }, { 300, 60, 0, 1 }, { 1000, 1, 0, 1 },
		{ 1000, 60, 0, 1 },
	};

	attack_with_crowds(crowds, ARRAY_SIZE(crowds), true, LATE_NS);
}

/* SECURITY.md: wake-ups are not cut short, but the user who causes them waits. */
TEST(wake_ups_leave_half_of_a_cpu)
{
	static const struct crowd crowds[] = {
		{ 1, 2, 1000, 1 }, { 1, 2, 10000, 1 }, { 1, 2, 40000, 1 }, { 100, 2, 400, 1 },
	};

	attack_with_crowds(crowds, ARRAY_SIZE(crowds), false, LATE_NS_MAX);
}

/*
 * Many sessions with short wake-ups may not delay others by more than LATE_NS: a run looks at the
 * clock after each wake-up, so that it can end between two of them.
 */
TEST(wake_ups_of_many_sessions_are_apart)
{
	static const struct crowd crowds[] = { { 1, 1, 500, SESSIONS_MAX } };

	attack_with_crowds(crowds, ARRAY_SIZE(crowds), false, LATE_NS);
}

/*
 * A module has many timers on the default wheel while users are busy. The bystander is root, with a
 * timer on the default wheel, too. A user with few timers also has a timer with a period of 1 ms.
 */

/* Limits of SECURITY.md for the largest lateness, without the time for rounding up to a tick. */
#define LOAD_LATE_NS	(2 * MS)
#define ROOT_LATE_NS	MS
#define QUIET_LATE_NS	(2500 * US)
/* The user with few timers, beside the busy users. */
#define QUIET		(STRANGER + 2000)

static void begin_load(unsigned int timers)
{
	const char *module = getenv("TWHEEL_LOAD");
	char args[32];
	int fd;

	if (!module)
		test_skip("TWHEEL_LOAD does not name the module of tests/api/client/load.c");
	fd = open(module, O_RDONLY);
	ASSERT_LE(0, fd);
	snprintf(args, sizeof(args), "nr=%u", timers);
	ASSERT_EQ(0, syscall(SYS_finit_module, fd, args, 0));
	close(fd);
}

/* Unload the module. Returns the largest lateness of its timers. */
static __u64 end_load(void)
{
	FILE *file = fopen("/sys/module/twheel_load/parameters/latest_ns", "r");
	unsigned long long latest;

	ASSERT_TRUE(file);
	ASSERT_EQ(1, fscanf(file, "%llu", &latest));
	ASSERT_EQ(0, fclose(file));
	ASSERT_EQ(0, syscall(SYS_delete_module, "twheel_load", 0));
	return latest;
}

/* Begin a window at a tick, so that no deadline in the window is rounded up. */
static void begin_window(__u64 ns)
{
	window = (now_ns() + ns) / MS * MS;
}

/* Run a victim, root as the bystander, and a user with few timers. Returns the victim's steps. */
static long long victim_beside_quiet_user(void)
{
	struct lateness *roots = lateness;
	struct stranger *quiet;
	long long steps;

	lateness = &roots[1];
	quiet = stranger_send(QUIET, have_timer);
	lateness = roots;
	steps = victim_beside_bystander();
	stranger_wait(quiet);
	stranger_end(quiet);
	return steps;
}

/*
 * Measure beside @users busy users and a module with @timers timers in each millisecond. @alone is
 * the number of the victim's steps without the users and the module.
 */
static void load_beside(unsigned int users, unsigned int timers, long long alone)
{
	struct stranger *busy = NULL;
	__u64 latest, pending;
	long long left;

	/* The users' timers are due within a millisecond, too many to expire in the window. */
	crowd = (struct crowd) {
		.users = users, .sessions = 1,
		.per_tick = users ? ENOUGH / users : 1,
	};
	begin_window(4 * SECOND);
	if (users)
		busy = stranger_begin(0, be_a_crowd);
	ASSERT_LT(now_ns(), window);
	/* Begin to measure 20 ms later, when the users are busy. */
	window += 20 * MS;
	begin_load(timers);
	left = victim_beside_quiet_user() * 1000 / alone;
	pending = sum_of_wheels("user", "pending");
	latest = end_load();
	if (users)
		stranger_end(busy);
	test_note("%u busy users, %u timers a ms: %lld/1000 left, module %llu us late",
		  users, timers, left, latest / US);
	expect_punctual(ROOT_LATE_NS, ROOT_LATE_NS);
	lateness++;
	expect_punctual(QUIET_LATE_NS, QUIET_LATE_NS);
	lateness--;
	ASSERT_LE(latest, LOAD_LATE_NS);
	ASSERT_LE(SHARE_LEFT, left);
	if (users)
		ASSERT_LT(0, pending);
}

static void load_beside_each(const unsigned int *users, unsigned int nr_users,
			     const unsigned int *timers, unsigned int nr_timers)
{
	unsigned int i, j;
	long long alone;

	only_one_cpu();
	bystander_uid = 0;
	begin_window(SECOND);
	alone = victim_beside_quiet_user();
	lateness[0].count = 0;
	lateness[1].count = 0;
	for (i = 0; i < nr_users; i++)
		for (j = 0; j < nr_timers; j++)
			load_beside(users[i], timers[j], alone);
}

TEST(busy_users_do_not_delay_the_default_wheel)
{
	static const unsigned int users[] = { 1, 60 }, timers[] = { 100 };

	load_beside_each(users, ARRAY_SIZE(users), timers, ARRAY_SIZE(timers));
}

TEST(no_load_of_the_default_wheel_is_delayed)
{
	static const unsigned int users[] = { 0, 1, 10, 60, 200 };
	static const unsigned int timers[] = { 1, 20, 100 };

	load_beside_each(users, ARRAY_SIZE(users), timers, ARRAY_SIZE(timers));
}
