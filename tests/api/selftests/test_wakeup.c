// SPDX-License-Identifier: GPL-2.0
/*
 * A wake-up of readers never waits for another CPU
 *
 * The end of a run of the tick wakes up the readers. With PREEMPT_RT a task may preempt the
 * run before its end. Timers that expire on another CPU still wake up the readers.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define ROUNDS		200
#define HITS		5
/* Timers of one tick on CPU 1. A task preempts one of their runs. */
#define CROWD		4000
/* Timers on CPU 0, one after the other, while that task has CPU 1. */
#define NEAR		4
/* Limits for the time of this task. The scheduler throttles it after 950 ms. */
#define HOG_NS		(80 * MS)
#define HOG_MAX_NS	(800 * MS)

/**
 * struct round - one run of the tick that is preempted
 * @fd: the session
 * @unread: number of timers with an unread event, or pending
 * @go: semaphore to let the task take CPU 1
 * @since: time of taking CPU 1, 0 before
 * @done: all events of CPU 0 were read
 * @held: length of its use of CPU 1
 * @in_time: @done was set within this time
 */
struct round {
	int fd;
	unsigned int unread;
	sem_t go;
	__u64 since;
	bool done;
	__u64 held;
	bool in_time;
};

static bool softirqs_are_threads(void)
{
	return !access("/sys/kernel/realtime", F_OK);
}

static void set_priority(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &param));
}

static bool hog_has_enough(struct round *round)
{
	round->held = now_ns() - round->since;
	round->in_time = READ_ONCE(round->done);
	return round->held > HOG_MAX_NS ||
	       (round->in_time && round->held > HOG_NS);
}

/*
 * Take CPU 1 from everything but hard interrupts. Call no command here: it would wait for the
 * softirq, and lend its priority to it.
 */
static void *hog(void *data)
{
	struct round *round = data;

	pin_cpu(1);
	set_priority(90);
	ASSERT_EQ(0, sem_wait(&round->go));
	WRITE_ONCE(round->since, now_ns());
	while (!hog_has_enough(round))
		;
	return NULL;
}

static bool readable(const struct round *round)
{
	struct pollfd pollfd = { .fd = round->fd, .events = POLLIN };

	return poll(&pollfd, 1, 0);
}

static void start_crowd(const struct round *round)
{
	pin_cpu(1);
	start_many(round->fd, NEAR, CROWD, now_ns() + 20 * MS, 0);
	pin_cpu(0);
}

/*
 * Sleep after a while. The task that this one waits for may need a lock that a softirq of
 * this CPU holds, and the softirq does not run while this task spins.
 */
static void be_fair(__u64 begun)
{
	if (now_ns() - begun > 100 * MS)
		sleep_ns(MS);
}

/* Poll from CPU 0 without a lock. On an emulated machine a timer would fire too late. */
static void let_hog_go(struct round *round, __u64 moment)
{
	__u64 begun = now_ns(), now;

	while (!readable(round))
		be_fair(begun);
	now = now_ns();
	while (now_ns() < now + moment)
		;
	ASSERT_EQ(0, sem_post(&round->go));
	while (!READ_ONCE(round->since))
		be_fair(now);
}

/* Read, or sleep until there are events. Returns whether one is of CPU 0. */
static bool read_some(struct round *round)
{
	static struct twheel_event events[256];
	bool near = false;
	ssize_t got, i;

	got = tw_read(round->fd, events, ARRAY_SIZE(events));
	ASSERT_LT(0, got);
	round->unread -= got;
	for (i = 0; i < got; i++)
		near |= events[i].id < NEAR;
	return near;
}

/* Read all events before each start, so that the reader sleeps when the timer expires. */
static void wait_for_near(struct round *round)
{
	unsigned int i;

	for (i = 0; i < NEAR; i++) {
		while (readable(round))
			read_some(round);
		ASSERT_EQ(0, tw_start(round->fd, i, 5 * MS, i));
		round->unread++;
		while (!read_some(round))
			;
	}
	WRITE_ONCE(round->done, true);
}

/*
 * Returns false if the task ran between two runs, as the crowd takes several. A preempted
 * run takes at least as long as the task.
 */
static bool run_was_preempted(const struct round *round)
{
	__u64 longest;

	ASSERT_TRUE(proc_find(proc_text(), "private", 1, "longest_tick_ns",
			      &longest));
	return longest > round->held;
}

/* Run a round on a new wheel. Returns whether the task preempted a run. */
static bool run_round(unsigned int nr, bool *in_time)
{
	struct round round = { .fd = session_open(), .unread = CROWD };
	pthread_t thread;
	bool hit;

	ASSERT_EQ(0, tw_setup(round.fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE }));
	ASSERT_EQ(0, sem_init(&round.go, 0, 0));
	thread = thread_run(hog, &round);
	start_crowd(&round);
	let_hog_go(&round, nr % 8 * 100 * US);
	wait_for_near(&round);
	thread_join(thread);
	while (round.unread)
		read_some(&round);
	hit = run_was_preempted(&round);
	*in_time = round.in_time;
	close(round.fd);
	return hit;
}

/*
 * The task keeps CPU 1 until the events of CPU 0 are read, or are late. The reader has a
 * higher priority, and lends it to the holder of the session's lock. A slow machine makes
 * some rounds late. A wake-up that waits for CPU 1 makes each round late that preempts a run.
 */
TEST(does_not_wait_for_a_preempted_cpu)
{
	unsigned int nr, hits = 0;
	bool in_time = false;

	if (!softirqs_are_threads())
		test_skip("nothing preempts a softirq of this kernel");
	pin_cpu(0);
	set_priority(95);
	for (nr = 0; nr < ROUNDS && hits < HITS && !in_time; nr++) {
		bool hit = run_round(nr, &in_time);

		hits += hit;
		in_time &= hit;
	}
	test_note("%u of %u rounds preempted a run", hits, nr);
	if (hits < HITS && !in_time)
		test_skip("too few rounds preempted a run");
	ASSERT_TRUE(in_time);
}

/* Number of timers, each in its own tick. */
#define EACH		10

static int session_with(struct twheel_setup setup)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_setup(fd, setup));
	return fd;
}

static void start_each(int fd)
{
	unsigned int i;

	for (i = 0; i < EACH; i++)
		ASSERT_EQ(0, tw_start(fd, i, (10 + 2 * i) * MS, i));
}

/* Check that the tick wakes a reader once in @wake_ns, however many events arrive. */
static void expect_few_wakeups(struct twheel_setup setup)
{
	int fd = session_with(setup);
	struct twheel_event events[EACH];
	__u64 time;

	start_each(fd);
	while (stats_of(fd).expired < EACH || !stats_of(fd).wakeups)
		sleep_ns(MS);
	ASSERT_EQ(EACH, tw_read(fd, events, EACH));
	time = events[EACH - 1].expired_ns - events[0].expired_ns;
	ASSERT_LE(stats_of(fd).wakeups, 1 + time / setup.wake_ns);
	expect_balance(fd);
	close(fd);
}

TEST(events_wait_for_their_reader)
{
	struct twheel_setup setup = { .wake_ns = 200 * MS };

	expect_few_wakeups(setup);
	setup.flags = TWHEEL_SETUP_PRIVATE;
	setup.tick_ns = 300 * US;
	expect_few_wakeups(setup);
	setup.scheme = TWHEEL_SCHEME_HASHED;
	expect_few_wakeups(setup);
}

/* By a poll, and by a read. */
TEST(a_sleeper_is_woken_in_the_end)
{
	struct twheel_event event;
	int fd = session_open();
	unsigned int i;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .wake_ns = 30 * MS }));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, tw_start(fd, i, 20 * MS, i));
		expect_event(fd, i, i);
	}
	ASSERT_EQ(0, tw_start(fd, 1, 20 * MS, 1));
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	close(fd);
}

/* A polling reader sees the event before the end of @wake_ns. */
TEST(a_read_sees_events_that_wait)
{
	int fd = session_with((struct twheel_setup){ .wake_ns = UINT32_MAX });
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	struct twheel_event event;
	__u64 begun = now_ns();

	ASSERT_EQ(0, tw_start(fd, 1, 0, 11));
	while (!poll(&pollfd, 1, 0))
		sleep_ns(MS);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(11, event.user_data);
	if (now_ns() - begun > UINT32_MAX)
		test_skip("the machine was held up");
	ASSERT_EQ(0, stats_of(fd).wakeups);
	/* Closing the session stops its waker. */
	close(fd);
}

/* Events that are read or withdrawn before @wake_ns wake no reader. */
TEST(nobody_is_woken_for_what_is_gone)
{
	int fd = session_with((struct twheel_setup){ .wake_ns = 300 * MS });
	struct twheel_event event;
	__u64 begun;

	ASSERT_EQ(0, tw_start(fd, 1, 0, 1));
	ASSERT_EQ(0, tw_start(fd, 2, 0, 2));
	begun = now_ns();
	while (stats_of(fd).unread < 2)
		;
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(1, tw_stop_flags(fd, 3 - event.id, TWHEEL_STOP_WITHDRAW));
	if (now_ns() - begun > 300 * MS)
		test_skip("the machine was held up");
	sleep_ns(400 * MS);
	ASSERT_EQ(0, stats_of(fd).wakeups);
	close(fd);
}
