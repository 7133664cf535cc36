// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_SUBMIT: many operations, with a result for each
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("a_signal_*", "array_*");

#define MAX_BATCH	65536

static struct twheel_op start_op(__u64 id, __u64 expires_ns)
{
	struct twheel_op op = {
		.opcode = TWHEEL_OP_START,
		.id = id,
		.expires_ns = expires_ns,
		.user_data = 100 + id,
	};

	memset(&op.result, GARBAGE, sizeof(op.result));
	return op;
}

static struct twheel_op stop_op(__u64 id)
{
	struct twheel_op op = {
		.opcode = TWHEEL_OP_STOP,
		.id = id,
	};

	memset(&op.result, GARBAGE, sizeof(op.result));
	return op;
}

static void submit_all(int fd, struct twheel_op *ops, __u32 count)
{
	ASSERT_EQ(count, tw_submit(fd, ops, count));
}

TEST(operations_take_effect_in_order)
{
	int fd = session_open_nonblock();
	struct twheel_op ops[6];
	struct twheel_entry get;

	ops[0] = start_op(3, HOUR);
	ops[1] = start_op(3, 2 * HOUR);
	ops[2] = stop_op(3);
	ops[3] = stop_op(3);
	ops[4] = start_op(3, HOUR);
	ops[5] = start_op(3, 3 * HOUR);
	ops[5].user_data = 77;
	submit_all(fd, ops, 6);
	ASSERT_EQ(0, ops[0].result);
	ASSERT_EQ(1, ops[1].result);
	ASSERT_EQ(0, ops[2].result);
	ASSERT_EQ(-ENOENT, ops[3].result);
	ASSERT_EQ(0, ops[4].result);
	ASSERT_EQ(1, ops[5].result);
	EXPECT_STATS(fd, .started = 2, .restarted = 2, .stopped = 1,
		     .pending = 1);
	ASSERT_EQ(0, tw_get(fd, 3, &get));
	ASSERT_EQ(77, get.user_data);
	ASSERT_LT(2 * HOUR, get.remaining_ns);
}

TEST(operations_on_unread_timers)
{
	struct twheel_op ops[] = {
		start_op(3, HOUR), start_op(3, HOUR), stop_op(4), stop_op(4), start_op(5, 0),
	};
	const int results[] = { 2, 1, 1, -ENOENT, 2 };
	int fd = session_open_nonblock(), i;

	for (i = 3; i < 6; i++)
		ASSERT_EQ(0, tw_start(fd, i, 0, i));
	expect_unread(fd, 3);
	submit_all(fd, ops, ARRAY_SIZE(ops));
	for (i = 0; i < (int)ARRAY_SIZE(ops); i++)
		ASSERT_EQ(results[i], ops[i].result);
	/* the events from before the batch are withdrawn */
	expect_event(fd, 5, 105);
	expect_nothing(fd, 0);
	EXPECT_STATS(fd, .started = 5, .restarted = 1, .pending = 1, .expired = 4,
		     .replaced = 2, .withdrawn = 1, .delivered = 1);
}

TEST(enospc_within_a_batch)
{
	int fd = session_open_nonblock();
	struct twheel_op ops[6];
	int i;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .max_timers = 4 }));
	for (i = 0; i < 6; i++)
		ops[i] = start_op(TWHEEL_ID_ANY, HOUR);
	submit_all(fd, ops, 6);
	for (i = 0; i < 6; i++)
		ASSERT_EQ(i < 4 ? 0 : -ENOSPC, ops[i].result);
	ASSERT_EQ(TWHEEL_ID_ANY, ops[4].id);
	ASSERT_EQ(TWHEEL_ID_ANY, ops[5].id);
	EXPECT_STATS(fd, .started = 4, .pending = 4);
}

static void submit_part(size_t n, int protection)
{
	int fd = session_open_nonblock(), i, whole;
	struct twheel_op ops[40];

	whole = n / sizeof(ops[0]);
	for (i = 0; i < 40; i++)
		ops[i] = start_op(i, HOUR);
	ASSERT_EQ(whole ? whole : -EFAULT,
		  tw_submit(fd, partly_usable(ops, sizeof(ops), n, protection), 40));
	EXPECT_STATS(fd, .started = whole, .pending = whole);
	close(fd);
}

/*
 * Operations must be carried out up to the first one that cannot be read or whose result cannot be
 * written.
 */
TEST(array_that_ends_or_cannot_be_written)
{
	size_t n;

	for (n = 0; n < 40 * sizeof(struct twheel_op); n += 4) {
		submit_part(n, PROT_NONE);
		submit_part(n, PROT_READ);
	}
}

TEST(largest_batch)
{
	struct twheel_op *ops = calloc(MAX_BATCH, sizeof(*ops));
	int fd = session_open_nonblock();
	__u64 i;

	for (i = 0; i < MAX_BATCH; i++)
		ops[i] = start_op(i, HOUR);
	submit_all(fd, ops, MAX_BATCH);
	for (i = 0; i < MAX_BATCH; i++)
		ASSERT_EQ(0, ops[i].result);
	EXPECT_STATS(fd, .started = MAX_BATCH, .pending = MAX_BATCH);
	submit_all(fd, ops, MAX_BATCH);
	for (i = 0; i < MAX_BATCH; i++)
		ASSERT_EQ(1, ops[i].result);
	for (i = 0; i < MAX_BATCH; i++)
		ops[i] = stop_op(MAX_BATCH - 1 - i);
	submit_all(fd, ops, MAX_BATCH);
	for (i = 0; i < MAX_BATCH; i++)
		ASSERT_EQ(0, ops[i].result);
	EXPECT_STATS(fd, .started = MAX_BATCH, .restarted = MAX_BATCH,
		     .stopped = MAX_BATCH);
}

/*
 * Submit a batch, and send a signal after @after ns, or none if @after is 0. The kernel must write
 * only the results of the operations that it carried out. Returns their number.
 */
static unsigned int submit_interrupted(int fd, struct twheel_op *ops,
				       unsigned int count, __u64 after)
{
	struct twheel_op untouched = start_op(0, HOUR);
	unsigned int i;
	int done;

	for (i = 0; i < count; i++)
		ops[i] = start_op(i, HOUR);
	alarm_once(after, 0);
	done = tw_submit(fd, ops, count);
	ASSERT_LT(0, done);
	ASSERT_LE(done, count);
	for (i = 0; i < (unsigned int)done; i++)
		ASSERT_TRUE(ops[i].result == 0 || ops[i].result == 1);
	for (; i < count; i++)
		ASSERT_EQ(untouched.result, ops[i].result);
	return done;
}

TEST(a_signal_ends_it_early)
{
	struct twheel_op *ops = calloc(MAX_BATCH, sizeof(*ops));
	unsigned int round, done, early = 0, total;
	int fd = session_open_nonblock();
	struct twheel_stats stats;
	__u64 took = now_ns();

	total = submit_interrupted(fd, ops, MAX_BATCH, 0);
	ASSERT_EQ(MAX_BATCH, total);
	took = now_ns() - took;
	/*
	 * Try earlier and earlier signals, because the batch that was measured may have been a slow
	 * one.
	 */
	for (round = 0; early < 5; round++) {
		ASSERT_LT(round, 100);
		took = took * 3 / 4 + US;
		done = submit_interrupted(fd, ops, MAX_BATCH, took);
		early += done < MAX_BATCH;
		total += done;
	}
	test_note("%u of %u batches ended early", early, round);
	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_EQ(total, stats.started + stats.restarted);
	expect_balance(fd);
}
