// SPDX-License-Identifier: GPL-2.0
/*
 * The table of ids while it grows and shrinks
 *
 * A table consists of chunks of 45 timers and of pages of 512 pointers to
 * chunks. A chunk is allocated when one of its numbers is used. It is freed
 * when it is empty and another chunk becomes empty too. Threads cause both at
 * the same time, also at the session's limit. After the session is closed
 * nothing may be left, which rmmod and kmemleak check.
 *
 * Each case runs for 5 s, or for as long as -t or TWHEEL_SECONDS says.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("chunks_*", "closed_*", "two_threads_*");

#define THREADS		8
#define CHUNK		45
#define HELD_MAX	(CHUNK * 150)

struct worker {
	int fd;
	__u64 seed;
	unsigned int number;
	unsigned int most;
	unsigned int numbers;
	unsigned int held;
	__u64 ids[HELD_MAX];
	__u64 started;
	__u64 refused;
	__u64 stopped;
};

static struct worker workers[THREADS];
static bool stop;

static bool closed(int result)
{
	if (result == -EBADF)
		WRITE_ONCE(stop, true);
	return result == -EBADF;
}

/* Starts one more. Returns false at the limit and on a closed descriptor. */
static bool start_one(struct worker *w)
{
	__u64 id;
	int result = tw_start_any(w->fd, HOUR, w->number, &id);

	if (closed(result))
		return false;
	if (result == -ENOSPC) {
		w->refused++;
		return false;
	}
	ASSERT_EQ(0, result);
	w->ids[w->held++] = id;
	w->started++;
	return true;
}

static bool stop_one(struct worker *w)
{
	unsigned int which = random_number(&w->seed) % w->held;
	int result = tw_stop(w->fd, w->ids[which]);

	if (closed(result))
		return false;
	ASSERT_EQ(0, result);
	w->ids[which] = w->ids[--w->held];
	w->stopped++;
	return true;
}

/* Whole chunks fill up and become empty again. */
static void *grow_and_shrink(void *data)
{
	struct worker *w = data;
	unsigned int top, bottom;

	while (!READ_ONCE(stop)) {
		top = 1 + random_number(&w->seed) % w->most;
		while (w->held < top && !READ_ONCE(stop) && start_one(w))
			;
		bottom = random_number(&w->seed) % 4 ? 0 : w->held / 2;
		while (w->held > bottom && !READ_ONCE(stop) && stop_one(w))
			;
	}
	return NULL;
}

/* The caller's own ids, odd or even, mostly in chunks that do not exist. */
static void *sparse_numbers(void *data)
{
	struct worker *w = data;
	int result;
	__u64 id;

	while (!READ_ONCE(stop)) {
		id = random_number(&w->seed) % (w->numbers / 2) * 2 +
		     w->number % 2;
		result = tw_start(w->fd, id, HOUR, 0);
		if (closed(result))
			break;
		if (result == -ENOSPC) {
			w->refused++;
			continue;
		}
		ASSERT_EQ(0, result);
		w->started++;
		result = tw_stop(w->fd, id);
		if (closed(result))
			break;
		ASSERT_EQ(0, result);
		w->stopped++;
	}
	return NULL;
}

static __u64 started_by(const struct worker *w)
{
	return READ_ONCE(w->started);
}

static __u64 refused_to(const struct worker *w)
{
	return READ_ONCE(w->refused);
}

static __u64 sum_of_all(__u64 (*number_of)(const struct worker *w))
{
	__u64 sum = 0;
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		sum += number_of(&workers[i]);
	return sum;
}

static int begin(pthread_t *threads, __u64 max_timers, unsigned int most)
{
	int fd = session_open_nonblock();
	unsigned int i;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.max_timers = max_timers }));
	for (i = 0; i < THREADS; i++) {
		workers[i].fd = fd;
		workers[i].number = i;
		workers[i].seed = i + 1;
		workers[i].most = most;
		workers[i].numbers = max_timers;
		threads[i] = thread_run(i < THREADS - 2 ? grow_and_shrink :
					sparse_numbers, &workers[i]);
	}
	sleep_ns(test_duration() * SECOND);
	while (!sum_of_all(started_by))
		sleep_ns(MS);
	return fd;
}

static void end(pthread_t *threads)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		thread_join(threads[i]);
	test_note("%llu started, %llu refused", sum_of_all(started_by),
		  sum_of_all(refused_to));
}

/*
 * At the limit there is no room for another chunk, even for a thread that asked
 * for it before the limit was reached.
 */
TEST(chunks_come_and_go_up_to_the_limit)
{
	pthread_t threads[THREADS];
	int fd = begin(threads, 4 * CHUNK, CHUNK + 10);
	__u64 started, stopped = 0;
	unsigned int i;

	while (!sum_of_all(refused_to))
		sleep_ns(MS);
	WRITE_ONCE(stop, true);
	end(threads);
	for (i = 0; i < THREADS; i++) {
		while (workers[i].held)
			ASSERT_TRUE(stop_one(&workers[i]));
		stopped += workers[i].stopped;
	}
	started = sum_of_all(started_by);
	EXPECT_STATS(fd, .started = started, .stopped = stopped,
		     .pending = started - stopped);
	close(fd);
	proc_expect_sessions(0);
}

/* After the close, the last call still in progress frees the session. */
TEST(closed_while_chunks_come_and_go)
{
	pthread_t threads[THREADS];

	close(begin(threads, 1000 * CHUNK, HELD_MAX));
	end(threads);
	proc_expect_sessions(0);
}

/*
 * Two threads need the same new chunk at the same time. One of them has to use
 * the chunk that the other one made.
 */

#define ROUNDS		1000U

struct pair {
	int fd;
	unsigned int arrivals;
};

struct partner {
	struct pair *pair;
	unsigned int number;
};

/* Waits until both threads have come here for the nth time. */
static void meet(struct pair *pair, unsigned int nth)
{
	__atomic_add_fetch(&pair->arrivals, 1, __ATOMIC_ACQ_REL);
	while (READ_ONCE(pair->arrivals) < 2 * nth)
		sched_yield();
}

/* Of three chunks used in turn, two have gone by their next turn. */
static void *start_beside_the_other(void *data)
{
	struct partner *me = data;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		__u64 id = round % 3 * CHUNK + me->number;

		meet(me->pair, 2 * round + 1);
		ASSERT_EQ(0, tw_start(me->pair->fd, id, HOUR, 0));
		meet(me->pair, 2 * round + 2);
		ASSERT_EQ(0, tw_stop(me->pair->fd, id));
	}
	return NULL;
}

TEST(two_threads_start_in_the_same_new_chunk)
{
	struct pair pair = { .fd = session_open_nonblock() };
	struct partner partners[2];
	pthread_t threads[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		partners[i] = (struct partner){ .pair = &pair, .number = i };
		threads[i] = thread_run(start_beside_the_other, &partners[i]);
	}
	for (i = 0; i < 2; i++)
		thread_join(threads[i]);
	EXPECT_STATS(pair.fd, .started = 2 * ROUNDS, .stopped = 2 * ROUNDS);
	close(pair.fd);
	proc_expect_sessions(0);
}

/* The search for a free number. */

#define MANY		250000U
#define BATCH		5000U
#define TRIES		20

static void start_many(int fd, __u64 *ids, unsigned int count)
{
	static struct twheel_op ops[BATCH];
	unsigned int first, i;

	for (first = 0; first < count; first += BATCH) {
		for (i = 0; i < BATCH; i++)
			ops[i] = (struct twheel_op) {
				.opcode		= TWHEEL_OP_START,
				.id		= TWHEEL_ID_ANY,
				.expires_ns	= HOUR,
			};
		ASSERT_EQ(BATCH, tw_submit(fd, ops, BATCH));
		for (i = 0; i < BATCH; i++) {
			ASSERT_EQ(0, ops[i].result);
			ids[first + i] = ops[i].id;
		}
	}
}

/*
 * Measures a start that needs a new chunk, and returns the best time. First a
 * chunk at the beginning of the table goes and comes again, so that the search
 * begins there. Two chunks are emptied because one empty chunk is kept.
 */
static __u64 start_of_a_chunk(unsigned int count)
{
	__u64 *ids = calloc(count + CHUNK, sizeof(*ids));
	int fd = session_open_nonblock();
	__u64 least = ~0ULL, begin, ns, id;
	unsigned int i, try;

	ASSERT_TRUE(ids);
	start_many(fd, ids, count);
	/* Fill up the last chunk. */
	for (i = 0; i < CHUNK - count % CHUNK; i++)
		ASSERT_EQ(0, tw_start_any(fd, HOUR, 0, &id));
	for (try = 0; try < TRIES; try++) {
		for (i = 0; i < 2 * CHUNK; i++)
			ASSERT_EQ(0, tw_stop(fd, ids[i]));
		for (i = 0; i < 2 * CHUNK; i++)
			ASSERT_EQ(0, tw_start_any(fd, HOUR, 0, &ids[i]));
		begin = now_ns();
		ASSERT_EQ(0, tw_start_any(fd, HOUR, 0, &id));
		ns = now_ns() - begin;
		if (ns < least)
			least = ns;
		ASSERT_EQ(0, tw_stop(fd, id));
	}
	free(ids);
	close(fd);
	return least;
}

TEST(a_free_number_is_found_at_once)
{
	__u64 few, many;

	if (!access("/sys/kernel/debug/kmemleak", F_OK) ||
	    !access("/sys/kernel/debug/kcsan", F_OK))
		test_skip("so many timers take too long on this kernel");
	few = start_of_a_chunk(BATCH);
	many = start_of_a_chunk(MANY);
	test_note("a chunk among %u timers %llu ns, among %u %llu ns",
		  BATCH, few, MANY, many);
	if (time_is_exact())
		ASSERT_LE(many, few + 10 * US);
}
