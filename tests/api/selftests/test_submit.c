// SPDX-License-Identifier: GPL-2.0
/*
 * TWHEEL_IOC_SUBMIT: many operations, a result for each
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("fault_*", "a_signal_*");

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

static int submit_one(int fd, struct twheel_op op)
{
	submit_all(fd, &op, 1);
	return op.result;
}

TEST(starts)
{
	int fd = session_open_nonblock();
	struct twheel_op ops[10], before;
	int i;

	for (i = 0; i < 10; i++)
		ops[i] = start_op(i, HOUR);
	submit_all(fd, ops, 10);
	EXPECT_STATS(fd, .started = 10, .pending = 10);
	for (i = 0; i < 10; i++) {
		before = start_op(i, HOUR);
		before.result = 0;
		ASSERT_EQ(0, memcmp(&before, &ops[i], sizeof(before)));
		ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, i));
	}
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

TEST(kernel_ids_are_returned)
{
	int fd = session_open_nonblock();
	struct twheel_op ops[100];
	struct twheel_entry get;
	int i;

	for (i = 0; i < 100; i++) {
		ops[i] = start_op(TWHEEL_ID_ANY, HOUR);
		ops[i].user_data = i;
	}
	submit_all(fd, ops, 100);
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, ops[i].result);
		ASSERT_TRUE(ops[i].id & TWHEEL_ID_KERNEL);
		ASSERT_EQ(0, tw_get(fd, ops[i].id, &get));
		ASSERT_EQ(i, get.user_data);
	}
	EXPECT_STATS(fd, .started = 100, .pending = 100);
	for (i = 0; i < 100; i++)
		ops[i] = stop_op(ops[i].id);
	submit_all(fd, ops, 100);
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, ops[i].result);
	EXPECT_STATS(fd, .started = 100, .stopped = 100);
}

TEST(absolute_and_periodic)
{
	int fd = session_open_nonblock();
	__u64 deadline = now_ns() + 10 * MS;
	struct twheel_event event;
	struct twheel_op op;

	op = start_op(3, deadline);
	op.flags = TWHEEL_START_ABS;
	op.period_ns = HOUR;
	ASSERT_EQ(0, submit_one(fd, op));
	expect_readable(fd);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(deadline, event.deadline_ns);
	ASSERT_EQ(TWHEEL_EVENT_PERIODIC, event.flags);
	ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, 3));
}

TEST(ealready_and_replace)
{
	int fd = session_open_nonblock();
	struct twheel_op ops[4];

	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_unread(fd, 1);
	ops[0] = start_op(3, HOUR);
	ops[1] = stop_op(3);
	ops[2] = start_op(3, HOUR);
	ops[2].flags = TWHEEL_START_REPLACE;
	ops[3] = stop_op(3);
	submit_all(fd, ops, 4);
	ASSERT_EQ(-EALREADY, ops[0].result);
	ASSERT_EQ(-EALREADY, ops[1].result);
	ASSERT_EQ(0, ops[2].result);
	ASSERT_EQ(0, ops[3].result);
	EXPECT_STATS(fd, .started = 2, .expired = 1, .replaced = 1,
		     .stopped = 1);
}

TEST(stop_withdraws_an_unread_event)
{
	int fd = session_open_nonblock();
	struct twheel_op ops[3];
	int i;

	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_unread(fd, 1);
	ASSERT_EQ(0, tw_start(fd, 4, HOUR, 44));
	for (i = 0; i < 3; i++) {
		ops[i] = stop_op(3 + i);
		ops[i].flags = TWHEEL_STOP_WITHDRAW;
	}
	submit_all(fd, ops, 3);
	ASSERT_EQ(1, ops[0].result);
	ASSERT_EQ(0, ops[1].result);
	ASSERT_EQ(-ENOENT, ops[2].result);
	expect_nothing(fd, 0);
	EXPECT_STATS(fd, .started = 2, .expired = 1, .withdrawn = 1,
		     .stopped = 1);
}

/* The structure says at once whether results have to be looked at. */
TEST(failed_operations_are_counted)
{
	struct twheel_op ops[40];
	struct twheel_submit submit = {
		.ops = (__u64)(unsigned long)ops,
		.count = 40,
		.op_size = sizeof(ops[0]),
		.failed = ~0U,
	};
	int fd = session_open_nonblock();
	int i;

	for (i = 0; i < 40; i++)
		ops[i] = i % 4 ? start_op(i, HOUR) : stop_op(i);
	ASSERT_EQ(40, tw_ioctl(fd, TWHEEL_IOC_SUBMIT, &submit));
	ASSERT_EQ(10, submit.failed);
	for (i = 0; i < 40; i++)
		ops[i] = start_op(i, HOUR);
	ASSERT_EQ(40, tw_ioctl(fd, TWHEEL_IOC_SUBMIT, &submit));
	ASSERT_EQ(0, submit.failed);
	EXPECT_STATS(fd, .started = 40, .restarted = 30, .pending = 40);
}

/* One that fails does not keep the others from being carried out. */
TEST(errors_do_not_stop_the_batch)
{
	int fd = session_open_nonblock();
	struct twheel_op ops[5];

	ops[0] = start_op(3, HOUR);
	ops[1] = start_op(4, ~0ULL);
	ops[2] = start_op(5, HOUR);
	ops[3] = stop_op(6);
	ops[4] = start_op(7, HOUR);
	submit_all(fd, ops, 5);
	ASSERT_EQ(0, ops[0].result);
	ASSERT_EQ(-EINVAL, ops[1].result);
	ASSERT_EQ(0, ops[2].result);
	ASSERT_EQ(-ENOENT, ops[3].result);
	ASSERT_EQ(0, ops[4].result);
	EXPECT_STATS(fd, .started = 3, .pending = 3);
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

/* After @whole operations and @rest bytes the array meets an unmapped page. */
static void fault_after(unsigned int whole, unsigned int rest)
{
	struct twheel_op *ops = page_end(whole * sizeof(*ops) + rest);
	int fd = session_open_nonblock();
	unsigned int i;

	for (i = 0; i < whole; i++)
		ops[i] = start_op(i, HOUR);
	ASSERT_EQ(whole, tw_submit(fd, ops, whole + 50));
	for (i = 0; i < whole; i++) {
		ASSERT_EQ(0, ops[i].result);
		ASSERT_EQ(TWHEEL_STATE_PENDING, tw_state(fd, i));
	}
	EXPECT_STATS(fd, .started = whole, .pending = whole);
}

TEST(fault_in_the_middle_says_how_many)
{
	fault_after(1, 0);
	fault_after(1, 20);
	fault_after(15, 0);
	fault_after(16, 47);
	fault_after(17, 4);
	fault_after(200, 0);
	fault_after(1000, 8);
}

/* An operation as a newer program knows it. */
struct long_op {
	struct twheel_op op;
	__u64 more[3];
};

static int submit_long(int fd, struct long_op *ops, __u32 count)
{
	struct twheel_submit submit = {
		.ops = (__u64)(unsigned long)ops,
		.count = count,
		.op_size = sizeof(*ops),
	};

	return tw_ioctl(fd, TWHEEL_IOC_SUBMIT, &submit);
}

TEST(longer_operations_with_a_tail_of_zeroes)
{
	int fd = session_open_nonblock();
	struct long_op ops[50];
	int i;

	memset(ops, 0, sizeof(ops));
	for (i = 0; i < 50; i++)
		ops[i].op = start_op(i, HOUR);
	ASSERT_EQ(50, submit_long(fd, ops, 50));
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, ops[i].op.result);
		ASSERT_EQ(i, ops[i].op.id);
		ASSERT_TRUE(is_zero(ops[i].more, sizeof(ops[i].more)));
	}
	EXPECT_STATS(fd, .started = 50, .pending = 50);
}

/* The largest size that there may be, with pages of any size. */
TEST(largest_operations)
{
	char *array = calloc(3, TWHEEL_ENTRY_SIZE_MAX);
	struct twheel_submit submit = {
		.ops = (__u64)(unsigned long)array,
		.count = 3,
		.op_size = TWHEEL_ENTRY_SIZE_MAX,
	};
	int fd = session_open_nonblock();
	struct twheel_op op;
	int i;

	for (i = 0; i < 3; i++) {
		op = start_op(i, HOUR);
		memcpy(array + i * TWHEEL_ENTRY_SIZE_MAX, &op, sizeof(op));
	}
	ASSERT_EQ(3, tw_ioctl(fd, TWHEEL_IOC_SUBMIT, &submit));
	array[3 * TWHEEL_ENTRY_SIZE_MAX - 1] = 1;
	ASSERT_EQ(2, tw_ioctl(fd, TWHEEL_IOC_SUBMIT, &submit));
	EXPECT_STATS(fd, .started = 3, .restarted = 2, .pending = 3);
}

TEST(e2big_longer_operations_with_a_tail)
{
	struct long_op ops[2];
	int fd = session_open_nonblock();

	memset(ops, 0, sizeof(ops));
	ops[0].op = start_op(3, HOUR);
	ops[1].op = start_op(4, HOUR);
	ops[0].more[2] = 1;
	ASSERT_EQ(-E2BIG, submit_long(fd, ops, 2));
	EXPECT_STATS(fd, .started = 0);

	ops[0].more[2] = 0;
	ops[1].more[0] = 1;
	ASSERT_EQ(1, submit_long(fd, ops, 2));
	EXPECT_STATS(fd, .started = 1, .pending = 1);
}

/* SUBMIT reads the clock once, so equal intervals give equal deadlines. */
TEST(one_time_for_all)
{
	int fd = session_open_nonblock();
	static struct twheel_event events[1000];
	static struct twheel_op ops[1000];
	__u64 deadline = 0;
	ssize_t got, i;
	int read = 0;

	for (i = 0; i < 1000; i++)
		ops[i] = start_op(i, 300 * MS);
	submit_all(fd, ops, 1000);
	while (read < 1000) {
		expect_readable(fd);
		got = tw_read(fd, events, 1000);
		ASSERT_LT(0, got);
		if (!deadline)
			deadline = events[0].deadline_ns;
		for (i = 0; i < got; i++)
			ASSERT_EQ(deadline, events[i].deadline_ns);
		read += got;
	}
	EXPECT_STATS(fd, .started = 1000, .expired = 1000, .delivered = 1000);
}

/*
 * The same operations in batches and one by one, in two sessions, must give the
 * same results and the same books. There are few ids, so that a batch meets
 * each of them again and again. Two timers have expired, some ids are the
 * kernel's, and the limit is low.
 */
#define TWIN_IDS	8
#define TWIN_EXPIRED	2
#define TWIN_LIMIT	(TWIN_IDS + TWIN_EXPIRED)
#define TWIN_BATCH	40

struct twins {
	int fds[2];
	__u64 kernel_ids[2][4];
};

static int twin_open(void)
{
	int fd = session_open_nonblock();
	int i;

	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.max_timers = TWIN_LIMIT }));
	for (i = 0; i < TWIN_EXPIRED; i++)
		ASSERT_EQ(0, tw_start(fd, TWIN_IDS + i, 0, i));
	expect_unread(fd, TWIN_EXPIRED);
	return fd;
}

/* Makes the same operation for each of the two sessions. */
static void twin_ops(struct twins *t, __u64 *seed, struct twheel_op *a,
		     struct twheel_op *b)
{
	__u64 id = random_number(seed) % (TWIN_LIMIT + 6);
	__u64 dice = random_number(seed) % 16;

	/* Far enough if it is taken for an absolute time, too. */
	*a = dice < 9 ? start_op(id, 1000 * HOUR) : stop_op(id);
	if (dice == 8)
		a->flags = 1U << random_number(seed) % 3;
	if (dice == 15)
		a->period_ns = random_number(seed) % 2;
	*b = *a;
	if (id >= TWIN_LIMIT + 2) {
		a->id = t->kernel_ids[0][id - TWIN_LIMIT - 2];
		b->id = t->kernel_ids[1][id - TWIN_LIMIT - 2];
	} else if (id == TWIN_LIMIT + 1) {
		a->id = TWHEEL_ID_ANY;
		b->id = TWHEEL_ID_ANY;
	}
}

static void twin_round(struct twins *t, __u64 *seed)
{
	struct twheel_op a[TWIN_BATCH], b[TWIN_BATCH];
	__u64 asked[TWIN_BATCH];
	unsigned int i, which;

	for (i = 0; i < TWIN_BATCH; i++) {
		twin_ops(t, seed, &a[i], &b[i]);
		asked[i] = a[i].id;
	}
	submit_all(t->fds[0], a, TWIN_BATCH);
	for (i = 0; i < TWIN_BATCH; i++) {
		submit_all(t->fds[1], &b[i], 1);
		ASSERT_EQ(b[i].result, a[i].result);
		if (asked[i] != TWHEEL_ID_ANY || a[i].result)
			continue;
		which = random_number(seed) % 4;
		t->kernel_ids[0][which] = a[i].id;
		t->kernel_ids[1][which] = b[i].id;
	}
}

TEST(batches_do_what_single_operations_do)
{
	struct twins t = { .fds = { twin_open(), twin_open() } };
	struct twheel_stats stats[2];
	unsigned int round;
	__u64 seed = 1;

	memset(t.kernel_ids, 0xff, sizeof(t.kernel_ids));
	for (round = 0; round < 1000; round++)
		twin_round(&t, &seed);
	ASSERT_EQ(0, tw_stats(t.fds[0], &stats[0]));
	ASSERT_EQ(0, tw_stats(t.fds[1], &stats[1]));
	stats[0].wakeups = stats[1].wakeups;
	ASSERT_EQ(0, memcmp(&stats[0], &stats[1], sizeof(stats[0])));
	test_note("%llu started, %llu restarted, %llu stopped",
		  stats[0].started, stats[0].restarted, stats[0].stopped);
	ASSERT_LT(0, stats[0].stopped);
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
 * With a signal after @after ns, or none. Operations that were done have their
 * results, the others are untouched.
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
	/* From late to soon, however long that one was held up. */
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
