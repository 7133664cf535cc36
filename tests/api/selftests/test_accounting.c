// SPDX-License-Identifier: GPL-2.0
/*
 * The books balance at every look
 *
 * Four threads on two CPUs start, restart, stop and read as fast as they can.
 * Another thread keeps reading /proc/twheel: at every read, started = expired +
 * stopped + pending must hold for each wheel and each CPU. At the end no timer
 * was early, none is lost and none came twice.
 *
 * Runs for 5 s, or for as long as -t or TWHEEL_SECONDS says.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "life.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("*");

#define WORKERS		4
#define PER_WORKER	256
#define EVENTS		64

struct worker {
	unsigned int number;
	struct life lives[PER_WORKER];
	struct life_totals totals;
};

static struct worker workers[WORKERS];
static int session;
static bool stop;

static struct life *life_of(__u64 id)
{
	ASSERT_LT(id, WORKERS * PER_WORKER);
	return &workers[id / PER_WORKER].lives[id % PER_WORKER];
}

static bool read_events(struct life_totals *totals)
{
	struct twheel_event events[EVENTS];
	ssize_t got, i;

	got = tw_read(session, events, EVENTS);
	if (got == -EAGAIN)
		return false;
	ASSERT_LT(0, got);
	for (i = 0; i < got; i++)
		life_event(life_of(events[i].id), &events[i], totals);
	return true;
}

static void operate(struct worker *worker, __u64 *seed)
{
	struct life *life = &worker->lives[random_number(seed) % PER_WORKER];
	__u64 dice = random_number(seed) % 16;

	if (dice < 10)
		life_start(session, life, random_number(seed) % (20 * MS),
			   &worker->totals);
	else if (dice < 13)
		life_stop(session, life, &worker->totals);
	else
		read_events(&worker->totals);
}

static void *work(void *data)
{
	struct worker *worker = data;
	__u64 seed = worker->number + 1;

	pin_cpu(worker->number % 2);
	while (!READ_ONCE(stop))
		operate(worker, &seed);
	return NULL;
}

static void init_workers(void)
{
	unsigned int i, j;

	session = session_open_nonblock();
	for (i = 0; i < WORKERS; i++) {
		workers[i].number = i;
		for (j = 0; j < PER_WORKER; j++)
			workers[i].lives[j].id = i * PER_WORKER + j;
	}
}

/* Lets all pending timers expire, and reads their events. */
static void settle(void)
{
	struct twheel_stats stats;

	do {
		sleep_ns(MS);
		while (read_events(&workers[0].totals))
			;
		ASSERT_EQ(0, tw_stats(session, &stats));
	} while (stats.pending || stats.unread);
}

static void expect_everything(struct life_totals *sum)
{
	unsigned int i, j;

	for (i = 0; i < WORKERS; i++) {
		life_add(sum, &workers[i].totals);
		for (j = 0; j < PER_WORKER; j++)
			life_expect_ended(&workers[i].lives[j]);
	}
	ASSERT_EQ(0, sum->early);
	ASSERT_EQ(sum->started, sum->stopped + sum->read);
	EXPECT_STATS(session, .started = sum->started,
		     .restarted = sum->restarted, .stopped = sum->stopped,
		     .expired = sum->read, .delivered = sum->read);
}

TEST(started_is_expired_and_stopped_and_pending)
{
	struct proc_counters before = proc_sum(proc_text()), after;
	__u64 end = now_ns() + test_duration() * SECOND;
	struct life_totals sum = { 0 };
	pthread_t threads[WORKERS];
	unsigned int i, looks = 0;

	pin_cpu(1);
	init_workers();
	for (i = 0; i < WORKERS; i++)
		threads[i] = thread_run(work, &workers[i]);
	do {
		proc_expect_balance(proc_text());
		looks++;
	} while (now_ns() < end);
	WRITE_ONCE(stop, true);
	for (i = 0; i < WORKERS; i++)
		thread_join(threads[i]);
	settle();

	expect_everything(&sum);
	after = proc_sum(proc_text());
	ASSERT_EQ(before.started + sum.started, after.started);
	ASSERT_EQ(before.stopped + sum.stopped, after.stopped);
	ASSERT_EQ(before.expired + sum.read, after.expired);
	ASSERT_EQ(before.pending, after.pending);
	test_note("%u looks, %llu operations, %llu started, %llu restarted",
		  looks, sum.operations, sum.started, sum.restarted);
	test_note("%llu stopped, %llu expired; early 0, lost 0, twice 0",
		  sum.stopped, sum.read);
}

/* /proc/twheel has the same text when read in small pieces. */
TEST(read_in_small_pieces)
{
	int fd = session_open();
	struct proc_line line;
	unsigned int sessions = 0;
	int i;

	for (i = 0; i < 100; i++)
		session_open();
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	proc_begin(&line, proc_text_in_pieces(7));
	while (proc_next(&line))
		sessions += !strcmp(line.name, "session");
	ASSERT_EQ(101, sessions);
}
