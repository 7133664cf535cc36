// SPDX-License-Identifier: GPL-2.0
/*
 * Many threads, many sessions, random operations
 *
 * Eight threads on one session, and eight sessions with a thread each, use the
 * whole interface. Every timer is accounted for: none is lost, doubled or
 * early.
 *
 * Each case runs for 5 s, or for as long as -t or TWHEEL_SECONDS says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "life.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("eight_*");

#define THREADS		8
#define PER_THREAD	512
#define BATCH		64
#define EVENTS		128

struct worker {
	int fd;
	unsigned int number;
	__u64 seed;
	struct life *lives;	/* of this thread, but all read the events */
	struct life *all;	/* of the session, by id */
	struct life_totals totals;
};

static bool stop;

static bool read_events(struct worker *worker)
{
	struct twheel_event events[EVENTS];
	ssize_t got, i;
	int room;

	room = 1 + random_number(&worker->seed) % EVENTS;
	got = tw_read(worker->fd, events, room);
	if (got == -EAGAIN)
		return false;
	ASSERT_LT(0, got);
	for (i = 0; i < got; i++) {
		ASSERT_LT(events[i].id, THREADS * PER_THREAD);
		life_event(&worker->all[events[i].id], &events[i],
			   &worker->totals);
	}
	return true;
}

static __u64 random_delay(struct worker *worker)
{
	static const __u64 ranges[] = { MS, 10 * MS, 100 * MS, 10 * SECOND };
	__u64 range = ranges[random_number(&worker->seed) % 4];

	return 1 + random_number(&worker->seed) % range;
}

/* An id comes only once in a batch, so that the books can keep them apart. */
static void submit_batch(struct worker *worker)
{
	unsigned int first = random_number(&worker->seed) % PER_THREAD;
	struct twheel_op ops[BATCH];
	struct life *life;
	int i;

	for (i = 0; i < BATCH; i++) {
		life = &worker->lives[(first + i) % PER_THREAD];
		life_prepare(life, &ops[i],
			     random_number(&worker->seed) % 4 ?
			     random_delay(worker) : 0);
	}
	ASSERT_EQ(BATCH, tw_submit(worker->fd, ops, BATCH));
	for (i = 0; i < BATCH; i++) {
		life = &worker->lives[(first + i) % PER_THREAD];
		life_result(life, &ops[i], &worker->totals);
	}
}

/* Timers with kernel-chosen ids live and end within this function. */
static void use_kernel_id(struct worker *worker)
{
	__u64 id, other;

	ASSERT_EQ(0, tw_start_any(worker->fd, HOUR, 0, &id));
	ASSERT_EQ(1, tw_start(worker->fd, id, 2 * HOUR, 0));
	ASSERT_EQ(0, tw_stop(worker->fd, id));
	ASSERT_EQ(0, tw_start_any(worker->fd, HOUR, 0, &other));
	ASSERT_EQ(-ENOENT, tw_stop(worker->fd, id));
	ASSERT_EQ(0, tw_stop(worker->fd, other));
	worker->totals.started += 2;
	worker->totals.restarted++;
	worker->totals.stopped += 2;
	worker->totals.operations += 6;
}

static void operate(struct worker *worker)
{
	struct life *life;

	life = &worker->lives[random_number(&worker->seed) % PER_THREAD];
	switch (random_number(&worker->seed) % 16) {
	case 0 ... 6:
		life_start(worker->fd, life, random_delay(worker),
			   &worker->totals);
		break;
	case 7 ... 9:
		life_stop(worker->fd, life, &worker->totals);
		break;
	case 10:
		use_kernel_id(worker);
		break;
	case 11:
		submit_batch(worker);
		break;
	case 12:
		life_get(worker->fd, life);
		break;
	default:
		read_events(worker);
	}
}

static void *work(void *data)
{
	struct worker *worker = data;

	while (!READ_ONCE(stop))
		operate(worker);
	return NULL;
}

static void run_workers(struct worker *workers)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		threads[i] = thread_run(work, &workers[i]);
	sleep_ns(test_duration() * SECOND);
	WRITE_ONCE(stop, true);
	for (i = 0; i < THREADS; i++)
		thread_join(threads[i]);
}

/* A timer that expires during the drain may be queued just after it. */
static bool has_timers(int fd)
{
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	return stats.pending || stats.unread;
}

static void drain(struct worker *worker)
{
	struct twheel_entry drained[100];
	int count, i;

	do {
		count = tw_drain(worker->fd, drained, 100);
		ASSERT_LE(0, count);
		for (i = 0; i < count; i++)
			life_drained(&worker->all[drained[i].id],
				     drained[i].user_data, &worker->totals);
	} while (count == 100);
	while (has_timers(worker->fd))
		read_events(worker);
}

/* Checks the books of one session that only these threads have used. */
static void expect_everything(int fd, struct worker *workers, int count)
{
	struct life_totals sum = { 0 };
	int i, j;

	for (i = 0; i < count; i++) {
		life_add(&sum, &workers[i].totals);
		for (j = 0; j < PER_THREAD; j++)
			life_expect_ended(&workers[i].lives[j]);
	}
	ASSERT_EQ(0, sum.early);
	ASSERT_EQ(sum.started, sum.stopped + sum.read);
	EXPECT_STATS(fd, .started = sum.started, .restarted = sum.restarted,
		     .stopped = sum.stopped, .expired = sum.read,
		     .delivered = sum.read);
	proc_expect_balance(proc_text());
	test_note("%llu operations, %llu started, %llu restarted, %llu stopped",
		  sum.operations, sum.started, sum.restarted, sum.stopped);
	test_note("%llu read; early 0, lost 0, twice 0", sum.read);
}

static void init_worker(struct worker *worker, int fd, unsigned int number,
			struct life *all)
{
	unsigned int i, first = number * PER_THREAD;

	worker->fd = fd;
	worker->number = number;
	worker->seed = number + 1;
	worker->all = all;
	worker->lives = all + first;
	for (i = 0; i < PER_THREAD; i++)
		worker->lives[i].id = first + i;
}

TEST(eight_threads_on_one_session)
{
	static struct life lives[THREADS * PER_THREAD];
	static struct worker workers[THREADS];
	int fd = session_open_nonblock();
	int i;

	for (i = 0; i < THREADS; i++)
		init_worker(&workers[i], fd, i, lives);
	run_workers(workers);
	drain(&workers[0]);
	expect_everything(fd, workers, THREADS);
}

TEST(eight_sessions)
{
	static struct life lives[THREADS][PER_THREAD];
	static struct worker workers[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		init_worker(&workers[i], session_open_nonblock(), 0, lives[i]);
	for (i = 0; i < THREADS; i++)
		workers[i].seed = 100 + i;
	run_workers(workers);
	for (i = 0; i < THREADS; i++) {
		drain(&workers[i]);
		expect_everything(workers[i].fd, &workers[i], 1);
	}
}

/* Threads start and stop the same id, and exactly one of them wins. */
struct racer {
	int fd;
	__u64 seed;
	unsigned int started;
	unsigned int stopped;
	unsigned int read;
};

static void *race(void *data)
{
	struct racer *racer = data;
	struct twheel_event event;
	int result;

	while (!READ_ONCE(stop)) {
		result = tw_start(racer->fd, 3, random_number(&racer->seed) %
				  (2 * MS), 33);
		if (result < 0)
			ASSERT_EQ(-EALREADY, result);
		racer->started += !result;
		racer->stopped += !tw_stop(racer->fd, 3);
		result = tw_start(racer->fd, 3, 1, 33);
		racer->started += !result;
		racer->read += tw_read(racer->fd, &event, 1) == 1;
	}
	return NULL;
}

TEST(all_threads_on_one_timer)
{
	unsigned int started = 0, stopped = 0, read = 0;
	struct racer racers[THREADS] = { 0 };
	int fd = session_open_nonblock();
	pthread_t threads[THREADS];
	struct twheel_event event;
	int i;

	for (i = 0; i < THREADS; i++) {
		racers[i].fd = fd;
		racers[i].seed = i + 1;
		threads[i] = thread_run(race, &racers[i]);
	}
	sleep_ns(test_duration() * SECOND / 4);
	WRITE_ONCE(stop, true);
	for (i = 0; i < THREADS; i++) {
		thread_join(threads[i]);
		started += racers[i].started;
		stopped += racers[i].stopped;
		read += racers[i].read;
	}
	stopped += !tw_stop(fd, 3);
	read += tw_read(fd, &event, 1) == 1;
	test_note("%u started, %u stopped, %u read", started, stopped, read);
	ASSERT_EQ(started, stopped + read);
	expect_balance(fd);
}
