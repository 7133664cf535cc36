// SPDX-License-Identifier: GPL-2.0
/*
 * Four million timers pending in one session
 *
 * They must fit in a machine with 2 GiB, at no more than BYTES_EACH of kernel
 * memory each according to /proc/slabinfo and /proc/meminfo. A drain must
 * return each of them once, and the memory must be given back. Prints TAP like
 * the selftests, and rows of build/bench/user.csv after "csv:".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "memory.h"
#include "session.h"

#define TIMERS		4000000U
#define BYTES_EACH	96
#define BATCH		4096U
#define DRAIN_ROOM	65536U

static struct twheel_op ops[BATCH];
static struct twheel_entry drained[DRAIN_ROOM];

/* Called by memory.c. */
void fail(const char *what)
{
	test_fail(__FILE__, __LINE__, "%s: %s", what, strerror(errno));
}

static void start_batch(int fd, __u64 id, unsigned int first, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		ops[i] = (struct twheel_op) {
			.opcode		= TWHEEL_OP_START,
			.id		= id == TWHEEL_ID_ANY ? id : first + i,
			.expires_ns	= HOUR + (first + i) * US,
			.user_data	= first + i,
		};
	ASSERT_EQ(nr, tw_submit(fd, ops, nr));
	for (i = 0; i < nr; i++)
		ASSERT_EQ(0, ops[i].result);
}

static void start_all(int fd, __u64 id)
{
	unsigned int first, nr;

	for (first = 0; first < TIMERS; first += nr) {
		nr = TIMERS - first < BATCH ? TIMERS - first : BATCH;
		start_batch(fd, id, first, nr);
	}
}

/* Each timer is returned once. Its user_data says which one it is. */
static void check_off(unsigned char *seen, const struct twheel_entry *timer,
		      __u64 id)
{
	ASSERT_LT(timer->user_data, TIMERS);
	ASSERT_EQ(0, seen[timer->user_data]);
	seen[timer->user_data] = 1;
	ASSERT_LT(0, timer->remaining_ns);
	if (id != TWHEEL_ID_ANY)
		ASSERT_EQ(timer->user_data, timer->id);
}

static void drain_all(int fd, __u64 id)
{
	unsigned char *seen = calloc(1, TIMERS);
	unsigned int sum = 0;
	int i, count;

	ASSERT_TRUE(seen);
	do {
		count = tw_drain(fd, drained, DRAIN_ROOM);
		ASSERT_LE(0, count);
		for (i = 0; i < count; i++)
			check_off(seen, &drained[i], id);
		sum += count;
	} while (count);
	ASSERT_EQ(TIMERS, sum);
	free(seen);
}

static void report(const char *source, double bytes)
{
	printf("csv:user,wall,twheel,memory,%s,1,1,%u,bytes,%.2f\n", source,
	       TIMERS, bytes);
	test_note("%u timers pending, %s: %.2f bytes each", TIMERS, source,
		  bytes);
}

static void check_memory(struct memory before)
{
	struct memory after = memory_read();
	double slabinfo = (after.slabinfo - before.slabinfo) / TIMERS;
	double meminfo = (after.meminfo - before.meminfo) / TIMERS;

	report("slabinfo", slabinfo);
	report("meminfo", meminfo);
	ASSERT_TRUE(slabinfo <= BYTES_EACH);
	ASSERT_TRUE(meminfo <= BYTES_EACH);
}

/* Almost all must come back. RCU and the allocator's caches take a while. */
static void check_given_back(struct memory before)
{
	double allowed = 0.01 * BYTES_EACH * TIMERS;
	__u64 give_up = now_ns() + 20 * SECOND;
	struct memory after;

	do {
		sleep_ns(100 * MS);
		after = memory_read();
	} while ((after.slabinfo - before.slabinfo > allowed ||
		  after.meminfo - before.meminfo > allowed) &&
		 now_ns() < give_up);
	test_note("not given back: slabinfo %.0f KiB, meminfo %.0f KiB",
		  (after.slabinfo - before.slabinfo) / 1024,
		  (after.meminfo - before.meminfo) / 1024);
	ASSERT_TRUE(after.slabinfo - before.slabinfo <= allowed);
	ASSERT_TRUE(after.meminfo - before.meminfo <= allowed);
}

static void four_million(__u64 id)
{
	int fd = session_open_nonblock();
	struct memory before;

	/* Touch the arrays, so that their pages do not count. */
	memset(ops, 0xff, sizeof(ops));
	memset(drained, 0xff, sizeof(drained));
	before = memory_read();
	start_all(fd, id);
	check_memory(before);
	EXPECT_STATS(fd, .started = TIMERS, .pending = TIMERS);
	drain_all(fd, id);
	EXPECT_STATS(fd, .started = TIMERS, .stopped = TIMERS);
	check_given_back(before);
}

TEST_LIMIT(ids_of_the_caller, 0)
{
	four_million(0);
}

TEST_LIMIT(ids_of_the_kernel, 0)
{
	four_million(TWHEEL_ID_ANY);
}
