// SPDX-License-Identifier: GPL-2.0
/*
 * A wake-up of readers never waits for another CPU
 *
 * The end of a run of the tick wakes up the readers. Where softirqs are threads
 * (PREEMPT_RT) a task may preempt the run before that. What expires on another
 * CPU meanwhile has to wake them up all the same.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

#define ROUNDS		200
#define HITS		5
/* On CPU 1, for one tick: one of their runs is to be preempted. */
#define CROWD		4000
/* On CPU 0, while CPU 1 is taken away. */
#define NEAR		8
#define HOG_NS		(80 * MS)
#define LATE_NS		(5 * MS)

/**
 * struct round - one run of the tick that is preempted
 * @fd: the session
 * @go: CPU 1 is to be taken away
 * @until: CPU 1 is taken away until then
 * @since: it is since then, 0 before
 */
struct round {
	int fd;
	sem_t go;
	__u64 until;
	__u64 since;
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

/*
 * Takes CPU 1 from everything but hard interrupts. No command of the session's
 * here: it would wait for the softirq, and lend it its priority.
 */
static void *hog(void *data)
{
	struct round *round = data;

	pin_cpu(1);
	set_priority(90);
	ASSERT_EQ(0, sem_wait(&round->go));
	WRITE_ONCE(round->since, now_ns());
	while (now_ns() < READ_ONCE(round->until))
		;
	return NULL;
}

static void start_crowd(const struct round *round)
{
	static struct twheel_op ops[CROWD];
	__u64 deadline = now_ns() + 20 * MS;
	unsigned int i;

	memset(ops, 0, sizeof(ops));
	for (i = 0; i < CROWD; i++) {
		ops[i].opcode = TWHEEL_OP_START;
		ops[i].flags = TWHEEL_START_ABS;
		ops[i].id = NEAR + i;
		ops[i].expires_ns = deadline;
	}
	pin_cpu(1);
	ASSERT_EQ(CROWD, tw_submit(round->fd, ops, CROWD));
	pin_cpu(0);
}

/*
 * What is waited for may in turn wait for a lock that a softirq of this CPU holds,
 * and that never runs while we do.
 */
static void be_fair(__u64 begun)
{
	if (now_ns() - begun > 100 * MS)
		sleep_ns(MS);
}

/*
 * A timer would fire too late on a machine that is emulated: ask from CPU 0, by
 * what takes no lock.
 */
static void let_hog_go(struct round *round, __u64 moment)
{
	struct pollfd pollfd = { .fd = round->fd, .events = POLLIN };
	__u64 begun = now_ns(), now;

	while (!poll(&pollfd, 1, 0))
		be_fair(begun);
	now = now_ns();
	WRITE_ONCE(round->until, now + moment + HOG_NS);
	while (now_ns() < now + moment)
		;
	ASSERT_EQ(0, sem_post(&round->go));
	while (!READ_ONCE(round->since))
		be_fair(now);
}

static void start_near(const struct round *round)
{
	unsigned int i;

	for (i = 0; i < NEAR; i++)
		ASSERT_EQ(0, tw_start(round->fd, i, (i + 1) * 5 * MS, i));
}

/* Read all; how long the one of CPU 0 that waited longest was unread. */
static __u64 read_round(const struct round *round)
{
	static struct twheel_event events[256];
	unsigned int count = 0;
	__u64 late = 0, now;
	ssize_t got, i;

	while (count < NEAR + CROWD) {
		got = tw_read(round->fd, events, ARRAY_SIZE(events));
		now = now_ns();
		ASSERT_LT(0, got);
		count += got;
		for (i = 0; i < got; i++)
			if (events[i].id < NEAR &&
			    now - events[i].expired_ns > late)
				late = now - events[i].expired_ns;
	}
	return late;
}

/*
 * The crowd is more than one run expires, so it may have been the pause between
 * two runs. A run that was preempted took at least that long.
 */
static bool run_was_preempted(const struct round *round)
{
	__u64 longest;

	ASSERT_TRUE(proc_find(proc_text(), "private", 1, "longest_tick_ns",
			      &longest));
	return longest > round->until - round->since;
}

/*
 * On a wheel that has run nothing before. Returns whether the round hit what it
 * was aimed at.
 */
static bool run_round(unsigned int nr, __u64 *late)
{
	struct round round = { .fd = session_open() };
	pthread_t thread;
	bool hit;

	ASSERT_EQ(0, tw_setup(round.fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE }));
	ASSERT_EQ(0, sem_init(&round.go, 0, 0));
	thread = thread_run(hog, &round);
	start_crowd(&round);
	let_hog_go(&round, nr % 8 * 100 * US);
	start_near(&round);
	*late = read_round(&round);
	thread_join(thread);
	hit = run_was_preempted(&round);
	close(round.fd);
	return hit;
}

static int compare(const void *a, const void *b)
{
	__u64 first = *(const __u64 *)a, second = *(const __u64 *)b;

	return first < second ? -1 : first > second;
}

/*
 * The reader lends its priority, which is above that of what takes the CPU, to
 * whoever holds the session's lock there. A busy machine makes some rounds late.
 * A wake-up that waits for CPU 1 makes late all those that hit.
 */
TEST(does_not_wait_for_a_preempted_cpu)
{
	unsigned int nr, hits = 0;
	__u64 late[HITS];

	if (!softirqs_are_threads())
		test_skip("nothing preempts a softirq of this kernel");
	pin_cpu(0);
	set_priority(95);
	for (nr = 0; nr < ROUNDS && hits < HITS; nr++)
		hits += run_round(nr, &late[hits]);
	if (!hits)
		test_skip("in %u rounds no run was preempted", nr);
	qsort(late, hits, sizeof(late[0]), compare);
	test_note("%u of %u rounds preempted a run", hits, nr);
	test_note("unread for %llu us at the median, %llu us at most",
		  late[hits / 2] / US, late[hits - 1] / US);
	ASSERT_LE(late[hits / 2], LATE_NS);
}
