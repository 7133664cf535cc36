// SPDX-License-Identifier: GPL-2.0
/*
 * The table of ids: its chunks of timers, and the search for a free number
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

NEED_KERNEL("two_threads_*");

/* Not less than the number of timers in a chunk. */
#define CHUNK		64

#define ROUNDS		1000U

struct pair {
	int fd;
	unsigned int arrivals;
};

struct partner {
	struct pair *pair;
	unsigned int number;
};

/* Wait until both threads have called this for the nth time. */
static void meet(struct pair *pair, unsigned int nth)
{
	__atomic_add_fetch(&pair->arrivals, 1, __ATOMIC_ACQ_REL);
	while (READ_ONCE(pair->arrivals) < 2 * nth)
		sched_yield();
}

/*
 * Start and stop a timer in three chunks in turn. The table keeps only one empty chunk, so that a
 * chunk is freed before it is used again.
 */
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

/*
 * Both threads need the same new chunk, so that one of them must use the chunk that the other one
 * allocated.
 */
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

static void start_kernel_ids(int fd, __u64 *ids, unsigned int count)
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
 * Returns the time of a start that needs a new chunk. Of @CHUNK starts, at least one needs a new
 * chunk, and it is the longest. Of several tries, the shortest counts, because interrupts lengthen
 * the others. Before each try the first chunks are freed and allocated again, so that the search
 * for a free number begins there. This takes two chunks, because the table keeps one empty chunk.
 */
static __u64 start_of_a_chunk(unsigned int count)
{
	__u64 *ids = calloc(count, sizeof(*ids)), more[CHUNK];
	int fd = session_open_nonblock();
	__u64 least = ~0ULL, longest, begin, ns;
	unsigned int i, try;

	ASSERT_TRUE(ids);
	start_kernel_ids(fd, ids, count);
	for (try = 0; try < TRIES; try++) {
		for (i = 0; i < 2 * CHUNK; i++)
			ASSERT_EQ(0, tw_stop(fd, ids[i]));
		for (i = 0; i < 2 * CHUNK; i++)
			ASSERT_EQ(0, tw_start_any(fd, HOUR, 0, &ids[i]));
		longest = 0;
		for (i = 0; i < CHUNK; i++) {
			begin = now_ns();
			ASSERT_EQ(0, tw_start_any(fd, HOUR, 0, &more[i]));
			ns = now_ns() - begin;
			if (ns > longest)
				longest = ns;
		}
		if (longest < least)
			least = longest;
		for (i = 0; i < CHUNK; i++)
			ASSERT_EQ(0, tw_stop(fd, more[i]));
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
