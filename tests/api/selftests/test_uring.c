// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a session with liburing
 *
 * There are three ways: READ, which waits for events by polling the session, multishot READ with
 * provided buffers, and READ into a registered buffer. None of them may need a worker thread, so
 * the cases count the worker threads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <dirent.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("*");

/* Defined from Linux 6.7 and liburing 2.6 on. */
#define OP_READ_MULTISHOT	49

#define ENTRIES			16
#define BUFFERS			8
#define GROUP			5
#define EVENT			sizeof(struct twheel_event)

static void ring_open(struct io_uring *ring)
{
	int result = io_uring_queue_init(ENTRIES, ring, 0);

	if (result < 0)
		test_skip("no io_uring: %s", strerror(-result));
}

static struct io_uring_sqe *ring_next(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	ASSERT_TRUE(sqe);
	return sqe;
}

static void ring_submit(struct io_uring *ring)
{
	ASSERT_EQ(1, io_uring_submit(ring));
}

static bool ring_empty(struct io_uring *ring)
{
	return !io_uring_cq_ready(ring);
}

/* Wait for the next completion, and copy it to @cqe. Returns its result. */
static int ring_wait(struct io_uring *ring, struct io_uring_cqe *cqe)
{
	struct io_uring_cqe *seen;

	ASSERT_EQ(0, io_uring_wait_cqe(ring, &seen));
	*cqe = *seen;
	io_uring_cqe_seen(ring, seen);
	return cqe->res;
}

static int ring_result(struct io_uring *ring)
{
	struct io_uring_cqe cqe;

	return ring_wait(ring, &cqe);
}

static void ring_read(struct io_uring *ring, int fd, void *to, unsigned int size)
{
	struct io_uring_sqe *sqe = ring_next(ring);

	io_uring_prep_read(sqe, fd, to, size, -1);
	io_uring_sqe_set_data64(sqe, 77);
	ring_submit(ring);
}

/* Returns the number of worker threads that io_uring made for this process. */
static int workers(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	char path[300], name[64];
	int count = 0;
	FILE *file;

	ASSERT_TRUE(dir);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file))
			count += !strncmp(name, "iou-wrk", 7);
		fclose(file);
	}
	closedir(dir);
	return count;
}

TEST(read_of_what_is_there)
{
	struct twheel_event events[4];
	struct io_uring_cqe cqe;
	int fd = session_open();
	struct io_uring ring;

	keep_order(fd);
	ring_open(&ring);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	ASSERT_EQ(0, tw_start(fd, 4, 0, 44));
	expect_unread(fd, 2);
	ring_read(&ring, fd, events, sizeof(events));
	ASSERT_EQ(2 * EVENT, ring_wait(&ring, &cqe));
	ASSERT_EQ(77, cqe.user_data);
	ASSERT_EQ(33, events[0].user_data);
	ASSERT_EQ(44, events[1].user_data);
	ASSERT_EQ(0, workers());
}

TEST(read_that_waits)
{
	struct twheel_event event;
	int fd = session_open();
	struct io_uring ring;
	int i;

	ring_open(&ring);
	for (i = 0; i < 5; i++) {
		ring_read(&ring, fd, &event, sizeof(event));
		ASSERT_TRUE(ring_empty(&ring));
		ASSERT_EQ(0, tw_start(fd, 3, 30 * MS, 33 + i));
		sleep_ns(5 * MS);
		ASSERT_EQ(0, workers());
		ASSERT_EQ(EVENT, ring_result(&ring));
		ASSERT_EQ(33 + i, event.user_data);
	}
}

/* Even with O_NONBLOCK, io_uring must wait for an event, which it does by polling. */
TEST(read_with_nonblock)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	struct io_uring ring;

	ring_open(&ring);
	ring_read(&ring, fd, &event, sizeof(event));
	ASSERT_TRUE(ring_empty(&ring));
	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	ASSERT_EQ(EVENT, ring_result(&ring));
	ASSERT_EQ(33, event.user_data);
	ASSERT_EQ(0, workers());
}

static void provide_buffers(struct io_uring *ring, struct twheel_event *events,
			    int room)
{
	io_uring_prep_provide_buffers(ring_next(ring), events, room * EVENT,
				      BUFFERS, GROUP, 0);
	ring_submit(ring);
	ASSERT_EQ(0, ring_result(ring));
}

static void read_many_shots(struct io_uring *ring, int fd)
{
	struct io_uring_sqe *sqe = ring_next(ring);

	io_uring_prep_rw(OP_READ_MULTISHOT, sqe, fd, NULL, 0, -1);
	sqe->flags = IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
	ring_submit(ring);
	if (!ring_empty(ring)) {
		ASSERT_EQ(-EINVAL, ring_result(ring));
		test_skip("the kernel has no READ_MULTISHOT");
	}
}

/* A single request must give a completion for each batch of events, with a buffer of its own. */
TEST(read_with_many_shots)
{
	struct twheel_event events[BUFFERS][2];
	struct io_uring_cqe cqe;
	int fd = session_open();
	unsigned int nr, seen = 0;
	struct io_uring ring;
	int i;

	keep_order(fd);
	ring_open(&ring);
	provide_buffers(&ring, events[0], 2);
	read_many_shots(&ring, fd);
	/*
	 * If the machine is not held up, two ticks have one event each, and the last one has six.
	 */
	ASSERT_EQ(0, tw_start(fd, 0, 20 * MS, 100));
	ASSERT_EQ(0, tw_start(fd, 1, 40 * MS, 101));
	for (i = 2; i < 8; i++)
		ASSERT_EQ(0, tw_start(fd, i, 60 * MS, 100 + i));
	while (seen < 8) {
		ASSERT_LT(0, ring_wait(&ring, &cqe));
		ASSERT_TRUE(cqe.flags & IORING_CQE_F_MORE);
		nr = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
		for (i = 0; i < cqe.res / (int)EVENT; i++)
			ASSERT_EQ(100 + seen++, events[nr][i].user_data);
	}
	ASSERT_EQ(0, workers());
	EXPECT_STATS(fd, .started = 8, .expired = 8, .delivered = 8);
}

/* Read into memory that is registered in advance, so that the kernel need not look up its pages. */
TEST(read_into_a_registered_buffer)
{
	static struct twheel_event events[4] __attribute__((aligned(4096)));
	struct iovec iov = { events, sizeof(events) };
	int fd = session_open();
	struct io_uring ring;

	ring_open(&ring);
	ASSERT_EQ(0, io_uring_register_buffers(&ring, &iov, 1));
	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	io_uring_prep_read_fixed(ring_next(&ring), fd, events, sizeof(events),
				 -1, 0);
	ring_submit(&ring);
	ASSERT_EQ(EVENT, ring_result(&ring));
	ASSERT_EQ(3, events[0].id);
	ASSERT_EQ(33, events[0].user_data);
	ASSERT_EQ(0, workers());
}
