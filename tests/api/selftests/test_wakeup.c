// SPDX-License-Identifier: GPL-2.0
/*
 * A wake-up of readers never waits for another CPU
 *
 * The end of a run of the tick wakes up the readers. With PREEMPT_RT, a task may preempt the run
 * before its end. Timers that expire on another CPU must still wake up the readers.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define ROUNDS		200
#define HITS		5
/* Number of timers in one tick on CPU 1: enough for several runs, one of which is preempted. */
#define CROWD		4000
/* Number of timers that expire on CPU 0, one after the other, while hog() holds CPU 1. */
#define NEAR		4
/* Limits for the time that hog() holds CPU 1. The scheduler throttles it after 950 ms. */
#define HOG_NS		(80 * MS)
#define HOG_MAX_NS	(800 * MS)

/**
 * struct round - one run of the tick that is preempted
 * @fd: the session
 * @unread: number of timers, pending or with an unread event
 * @go: semaphore on which hog() waits before it takes CPU 1
 * @since: time when hog() took CPU 1, 0 before
 * @done: all events of CPU 0 were read
 * @held: time for which hog() held CPU 1
 * @in_time: @done was set while hog() held CPU 1
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
 * Take CPU 1 from everything except hard interrupts. This task must not use the session, because it
 * would wait for a lock of the softirq that it preempts, and lend its own priority to the softirq.
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
 * Sleep if this wait takes long. The task that it waits for may need a lock that a softirq of this
 * CPU holds, and the softirq does not run while this task spins.
 */
static void be_fair(__u64 begun)
{
	if (now_ns() - begun > 100 * MS)
		sleep_ns(MS);
}

/*
 * Let hog() take CPU 1 @moment ns after the session became readable. Find that moment by polling
 * from CPU 0, because a timer would fire too late on an emulated machine.
 */
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

/* Read events, or sleep until there are some. Returns true if one of them is from CPU 0. */
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

/*
 * Start the timers of CPU 0 one by one, and wait for each. All events are read before each start,
 * so that the reader sleeps when the timer expires.
 */
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
 * Returns true if hog() preempted a run. The crowd takes several runs, and hog() may have run
 * between two of them. A preempted run takes at least as long as hog().
 */
static bool run_was_preempted(const struct round *round)
{
	__u64 longest;

	ASSERT_TRUE(proc_find(proc_text(), "private", 1, "longest_tick_ns",
			      &longest));
	return longest > round->held;
}

/* Run a round on a new wheel. Returns true if hog() preempted a run. */
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
 * Check that timers of CPU 0 wake up the reader while hog() preempts a run of the tick on CPU 1.
 * hog() holds CPU 1 until their events are read, or until HOG_MAX_NS is over. The reader has a
 * higher priority than hog(), and lends it to a task that holds the session's lock. One such round
 * in time is enough: a slow machine may be late in some, but a wake-up that waited for CPU 1
 * would be late in all of them.
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
