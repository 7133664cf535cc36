// SPDX-License-Identifier: GPL-2.0
/*
 * The moments at which batches are submitted, and their results
 */
#include <errno.h>
#include <fcntl.h>

#include "util.h"

#define SIZE	4

static struct twheel_batch *new_batch(struct twheel *t, unsigned int size)
{
	struct twheel_batch *batch;

	ASSERT_EQ(0, twheel_batch_new(t, size, &batch));
	ASSERT_EQ(0, twheel_batch_failed(batch));
	ASSERT_TRUE(!twheel_batch_op(batch, 0));
	return batch;
}

static void expect_results(const struct twheel_batch *batch, unsigned int count,
			   const int *results)
{
	unsigned int i, failed = 0;

	for (i = 0; i < count; i++) {
		ASSERT_TRUE(twheel_batch_op(batch, i));
		ASSERT_EQ(results[i], twheel_batch_op(batch, i)->result);
		failed += results[i] < 0;
	}
	ASSERT_TRUE(!twheel_batch_op(batch, count));
	ASSERT_EQ(failed, twheel_batch_failed(batch));
}

TEST_SESSION(it_is_submitted_when_it_is_full)
{
	struct twheel_batch *batch = NULL;

	ASSERT_EQ(-EINVAL, twheel_batch_new(t, 0, &batch));
	ASSERT_EQ(-EINVAL, twheel_batch_new(t, 65537, &batch));
	ASSERT_TRUE(!batch);
	twheel_batch_free(new_batch(t, 65536));
	batch = new_batch(t, SIZE);
	ASSERT_EQ(0, twheel_batch_start(batch, 1, HOUR, 11));
	ASSERT_EQ(0, twheel_batch_start_at(batch, 2, twheel_now() + HOUR, 22));
	ASSERT_EQ(0, twheel_batch_stop(batch, 1));
	EXPECT_STATS(twheel_fd(t), .started = 0);
	ASSERT_EQ(SIZE, twheel_batch_start(batch, 2, HOUR, 23));
	EXPECT_STATS(twheel_fd(t), .started = 2, .restarted = 1, .stopped = 1,
		     .pending = 1);
	expect_results(batch, SIZE, (int[]){ 0, 0, 0, 1 });
	/* The next operation begins a new batch. */
	ASSERT_EQ(0, twheel_batch_flush(batch));
	ASSERT_EQ(0, twheel_batch_start(batch, 3, HOUR, 33));
	ASSERT_EQ(0, twheel_batch_failed(batch));
	ASSERT_TRUE(!twheel_batch_op(batch, 1));
	ASSERT_EQ(1, twheel_batch_flush(batch));
	expect_results(batch, 1, (int[]){ 0 });
	ASSERT_EQ(TWHEEL_STATE_PENDING, state_of(t, 3));
	/* Freeing the batch drops an operation that was not submitted. */
	ASSERT_EQ(0, twheel_batch_start(batch, 4, HOUR, 44));
	twheel_batch_free(batch);
	twheel_batch_free(NULL);
	ASSERT_EQ(-ENOENT, state_of(t, 4));
}

/* The library reads the clock once for all delays of a batch. */
TEST_SESSION(delays_begin_together, { .shared_ids = 8 })
{
	struct twheel_batch *batch = new_batch(t, SIZE);
	__u64 before, id;

	ASSERT_EQ(0, twheel_batch_start(batch, 0, HOUR, 0));
	sleep_ns(5 * MS);
	before = twheel_now();
	ASSERT_EQ(0, twheel_batch_start(batch, 1, HOUR, 0));
	ASSERT_EQ(0, twheel_batch_start(batch, 2, INTERVAL_MAX, 0));
	ASSERT_EQ(3, twheel_batch_flush(batch));
	ASSERT_LE(before + HOUR, deadline_of(t, 0));
	ASSERT_EQ(deadline_of(t, 0), deadline_of(t, 1));
	ASSERT_EQ(INTERVAL_MAX, deadline_of(t, 2));
	for (id = 0; id < 3; id++)
		ASSERT_EQ(deadline_of(t, id), twheel_word(t, id));
	twheel_batch_free(batch);
}

/* A start that is refused must not change the word, and not withdraw the unread event. */
TEST_SESSION(results_of_those_that_failed, { .shared_ids = 8 })
{
	struct twheel_batch *batch = new_batch(t, 16);
	__u64 deadline = twheel_now() + HOUR;
	struct twheel_event event;

	ASSERT_EQ(0, twheel_start(t, 1, 0, 11));
	expect_unread_of(t, 1);
	ASSERT_EQ(0, twheel_start(t, 7, 0, 77));
	expect_unread_of(t, 2);
	ASSERT_EQ(0, twheel_start(t, 6, 0, 66));
	expect_unread_of(t, 3);
	ASSERT_EQ(0, twheel_start(t, 2, HOUR, 22));
	twheel_refresh(t, 2, deadline);
	ASSERT_EQ(0, twheel_batch_start_flags(batch, 1, HOUR, 0, 12, 2));
	ASSERT_EQ(0, twheel_batch_start_flags(batch, 1, HOUR, 0, 13, 4));
	ASSERT_EQ(0, twheel_batch_start_flags(batch, 2, HOUR, INTERVAL_MAX + 1, 23, 0));
	ASSERT_EQ(0, twheel_batch_start(batch, 2, INTERVAL_MAX + 1, 24));
	ASSERT_EQ(0, twheel_batch_start_at(batch, 3, deadline, 33));
	ASSERT_EQ(0, twheel_batch_start_flags(batch, 3, HOUR, 0, 34, 1U << 31));
	ASSERT_EQ(0, twheel_batch_stop(batch, 7));
	ASSERT_EQ(0, twheel_batch_start(batch, 6, HOUR, 67));
	ASSERT_EQ(0, twheel_batch_start_flags(batch, TWHEEL_ID_ANY, HOUR, 0, 99, 0));
	ASSERT_EQ(9, twheel_batch_flush(batch));
	expect_results(batch, 9,
		       (int[]){ -EINVAL, -EINVAL, -EINVAL, -EINVAL, 0, -EINVAL, 1, 2, 0 });
	ASSERT_EQ(deadline, twheel_word(t, 2));
	ASSERT_EQ(deadline, twheel_word(t, 3));
	ASSERT_EQ(TWHEEL_STATE_PENDING, state_of(t, twheel_batch_op(batch, 8)->id));
	/* The word must not count as a late refresh of this event. */
	ASSERT_EQ(1, twheel_read(t, &event, 1));
	ASSERT_EQ(11, event.user_data);
	twheel_batch_free(batch);
}

/* Carry out only two operations, as a call does that a signal interrupts. */
static int carries_out_two(int fd, unsigned long command, void *argument)
{
	struct twheel_submit *submit = argument;

	if (submit->count > 2)
		submit->count = 2;
	return __real_ioctl(fd, command, argument);
}

TEST_SESSION(a_signal_in_between)
{
	struct twheel_batch *batch = new_batch(t, 5);

	needs_kernel("a command is no system call");
	wrap_command = TWHEEL_IOC_SUBMIT;
	wrap_ioctl = carries_out_two;
	ASSERT_EQ(0, twheel_batch_start(batch, 1, HOUR, 11));
	ASSERT_EQ(0, twheel_batch_stop(batch, 2));
	ASSERT_EQ(0, twheel_batch_start(batch, 3, HOUR, 33));
	ASSERT_EQ(0, twheel_batch_stop(batch, 4));
	ASSERT_EQ(5, twheel_batch_stop(batch, 3));
	expect_results(batch, 5, (int[]){ 0, -ENOENT, 0, -ENOENT, 0 });
	twheel_batch_free(batch);
}

static int carries_out_two_and_fails(int fd, unsigned long command, void *argument)
{
	static unsigned int calls;

	if (!calls++)
		return carries_out_two(fd, command, argument);
	errno = EFAULT;
	return -1;
}

/*
 * The first of two equal starts fails, and the second one succeeds. The word must then have their
 * deadline, although a start that fails restores the word.
 */
TEST_SESSION(a_start_succeeds_after_the_same_one_failed, { .max_timers = 2, .shared_ids = 2 })
{
	static const int results[] = { -ENOSPC, 0, 0 };
	struct twheel_batch *batch = new_batch(t, 3);
	__u64 deadline = twheel_now() + HOUR, any;

	ASSERT_EQ(0, twheel_start(t, 0, HOUR, 33));
	ASSERT_EQ(0, twheel_start_any(t, &any, HOUR, 33));
	twheel_stop_by_store(t, 1);
	ASSERT_EQ(0, twheel_batch_start_flags(batch, 1, deadline, 0, 34, TWHEEL_START_ABS));
	ASSERT_EQ(0, twheel_batch_stop(batch, 0));
	ASSERT_EQ(3, twheel_batch_start_flags(batch, 1, deadline, 0, 34, TWHEEL_START_ABS));
	expect_results(batch, 3, results);
	ASSERT_EQ(deadline, twheel_word(t, 1));
	twheel_batch_free(batch);
}

TEST_SESSION(what_cannot_be_submitted)
{
	struct twheel *reader;
	struct twheel_batch *batch;

	needs_kernel("a command is no system call");
	ASSERT_EQ(0, twheel_attach(&reader, open("/dev/twheel", O_RDONLY)));
	batch = new_batch(reader, SIZE);
	ASSERT_EQ(0, twheel_batch_start(batch, 1, HOUR, 11));
	ASSERT_EQ(0, twheel_batch_start(batch, 2, HOUR, 22));
	errno = 0;
	ASSERT_EQ(-EBADF, twheel_batch_flush(batch));
	ASSERT_EQ(0, errno);
	expect_results(batch, 2, (int[]){ -EBADF, -EBADF });
	/* the batch can be used again */
	ASSERT_EQ(0, twheel_batch_flush(batch));
	ASSERT_EQ(0, twheel_batch_start(batch, 1, HOUR, 11));
	ASSERT_EQ(-EBADF, twheel_batch_flush(batch));
	expect_results(batch, 1, (int[]){ -EBADF });
	twheel_batch_free(batch);
	twheel_close(reader);

	batch = new_batch(t, 16);
	wrap_command = TWHEEL_IOC_SUBMIT;
	wrap_ioctl = carries_out_two_and_fails;
	ASSERT_EQ(0, twheel_batch_start(batch, 1, HOUR, 11));
	ASSERT_EQ(0, twheel_batch_stop(batch, 2));
	ASSERT_EQ(0, twheel_batch_start(batch, 3, HOUR, 33));
	ASSERT_EQ(0, twheel_batch_stop(batch, 1));
	ASSERT_EQ(-EFAULT, twheel_batch_flush(batch));
	expect_results(batch, 4, (int[]){ 0, -ENOENT, -EFAULT, -EFAULT });
	twheel_batch_free(batch);
}

/* In the process, memory suffices for the first operations and is missing for the others. */
TEST_SESSION_FLAGS(what_takes_memory_that_is_not_there, TWHEEL_OPEN_PROCESS, { .shared_ids = 2000 })
{
	struct twheel_batch *batch = new_batch(t, 16);

	ASSERT_EQ(0, twheel_start(t, 0, HOUR, 0));
	ASSERT_EQ(0, twheel_batch_start(batch, 1, HOUR, 11));
	ASSERT_EQ(0, twheel_batch_start(batch, 1000, HOUR, 22));
	ASSERT_EQ(0, twheel_batch_stop(batch, 0));
	ASSERT_EQ(0, twheel_batch_start(batch, 1, HOUR, 33));
	no_chunks = true;
	ASSERT_EQ(-ENOMEM, twheel_batch_flush(batch));
	no_chunks = false;
	expect_results(batch, 4, (int[]){ 0, -ENOMEM, -ENOMEM, -ENOMEM });
	EXPECT_STATS(twheel_fd(t), .started = 2, .pending = 2);
	ASSERT_EQ(deadline_of(t, 1), twheel_word(t, 1));
	ASSERT_EQ(TWHEEL_WORD_NONE, twheel_word(t, 1000));
	twheel_batch_free(batch);
}
