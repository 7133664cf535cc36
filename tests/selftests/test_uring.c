// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and polling a session with io_uring
 *
 * READ, READ with many shots and provided buffers, POLL: none of them needs a
 * worker thread, which is counted. The system calls are made as they are, for
 * liburing of Debian 12 does not know all of them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <linux/io_uring.h>

#include "harness.h"
#include "session.h"

/* From Linux 6.7. */
#define OP_READ_MULTISHOT	49

#define ENTRIES			16
#define BUFFERS			8
#define EVENT			sizeof(struct twheel_event)

struct ring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static void *map(int fd, size_t size, __u64 offset)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_POPULATE, fd, offset);

	ASSERT_TRUE(at != MAP_FAILED);
	return at;
}

static void ring_open(struct ring *ring)
{
	struct io_uring_params p = { 0 };
	char *sq, *cq;

	ring->fd = syscall(__NR_io_uring_setup, ENTRIES, &p);
	if (ring->fd < 0)
		test_skip("no io_uring: %s", strerror(errno));
	sq = map(ring->fd, p.sq_off.array + p.sq_entries * sizeof(unsigned int),
		 IORING_OFF_SQ_RING);
	cq = map(ring->fd, p.cq_off.cqes + p.cq_entries *
		 sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	ring->sqes = map(ring->fd, p.sq_entries * sizeof(struct io_uring_sqe),
			 IORING_OFF_SQES);
	ring->sq_tail = (void *)(sq + p.sq_off.tail);
	ring->sq_mask = (void *)(sq + p.sq_off.ring_mask);
	ring->sq_array = (void *)(sq + p.sq_off.array);
	ring->cq_head = (void *)(cq + p.cq_off.head);
	ring->cq_tail = (void *)(cq + p.cq_off.tail);
	ring->cq_mask = (void *)(cq + p.cq_off.ring_mask);
	ring->cqes = (void *)(cq + p.cq_off.cqes);
}

static void ring_submit(struct ring *ring, struct io_uring_sqe sqe)
{
	unsigned int tail = *ring->sq_tail, at = tail & *ring->sq_mask;

	ring->sqes[at] = sqe;
	ring->sq_array[at] = at;
	WRITE_ONCE(*ring->sq_tail, tail + 1);
	ASSERT_EQ(1, syscall(__NR_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0));
}

static bool ring_empty(const struct ring *ring)
{
	return READ_ONCE(*ring->cq_tail) == *ring->cq_head;
}

static struct io_uring_cqe ring_wait(struct ring *ring)
{
	struct io_uring_cqe cqe;

	if (ring_empty(ring))
		ASSERT_LE(0, syscall(__NR_io_uring_enter, ring->fd, 0, 1,
				     IORING_ENTER_GETEVENTS, NULL, 0));
	cqe = ring->cqes[*ring->cq_head & *ring->cq_mask];
	WRITE_ONCE(*ring->cq_head, *ring->cq_head + 1);
	return cqe;
}

/* Threads that io_uring has made for this process. */
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

static struct io_uring_sqe read_sqe(int fd, void *to, unsigned int size)
{
	return (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.fd = fd,
		.off = ~0ULL,
		.addr = (unsigned long)to,
		.len = size,
		.user_data = 77,
	};
}

TEST(read_of_what_is_there)
{
	struct twheel_event events[4];
	struct io_uring_cqe cqe;
	int fd = session_open();
	struct ring ring;

	ring_open(&ring);
	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	ASSERT_EQ(0, tw_start(fd, 4, 0, 44));
	expect_unread(fd, 2);
	ring_submit(&ring, read_sqe(fd, events, sizeof(events)));
	cqe = ring_wait(&ring);
	ASSERT_EQ(77, cqe.user_data);
	ASSERT_EQ(2 * EVENT, cqe.res);
	ASSERT_EQ(33, events[0].user_data);
	ASSERT_EQ(44, events[1].user_data);
	ASSERT_EQ(0, workers());
}

TEST(read_that_waits)
{
	struct twheel_event event;
	struct io_uring_cqe cqe;
	int fd = session_open();
	struct ring ring;
	int i;

	ring_open(&ring);
	for (i = 0; i < 5; i++) {
		ring_submit(&ring, read_sqe(fd, &event, sizeof(event)));
		ASSERT_TRUE(ring_empty(&ring));
		ASSERT_EQ(0, tw_start(fd, 3, 30 * MS, 33 + i));
		sleep_ns(5 * MS);
		ASSERT_EQ(0, workers());
		cqe = ring_wait(&ring);
		ASSERT_EQ(EVENT, cqe.res);
		ASSERT_EQ(33 + i, event.user_data);
	}
}

/* With O_NONBLOCK io_uring waits all the same: it does so by polling. */
TEST(read_with_nonblock)
{
	int fd = session_open_nonblock();
	struct twheel_event event;
	struct ring ring;

	ring_open(&ring);
	ring_submit(&ring, read_sqe(fd, &event, sizeof(event)));
	ASSERT_TRUE(ring_empty(&ring));
	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	ASSERT_EQ(EVENT, ring_wait(&ring).res);
	ASSERT_EQ(33, event.user_data);
	ASSERT_EQ(0, workers());
}

static void provide_buffers(struct ring *ring, struct twheel_event *events,
			    int room)
{
	ring_submit(ring, (struct io_uring_sqe){
		.opcode = IORING_OP_PROVIDE_BUFFERS,
		.fd = BUFFERS,
		.addr = (unsigned long)events,
		.len = room * EVENT,
		.buf_group = 5,
	});
	ASSERT_EQ(0, ring_wait(ring).res);
}

/* One request, a completion for each batch of events, in a buffer of its own. */
TEST(read_with_many_shots)
{
	struct twheel_event events[BUFFERS][2];
	struct io_uring_sqe sqe;
	struct io_uring_cqe cqe;
	int fd = session_open();
	unsigned int nr, seen = 0;
	struct ring ring;
	int i;

	ring_open(&ring);
	provide_buffers(&ring, events[0], 2);
	sqe = read_sqe(fd, NULL, 0);
	sqe.opcode = OP_READ_MULTISHOT;
	sqe.flags = IOSQE_BUFFER_SELECT;
	sqe.buf_group = 5;
	ring_submit(&ring, sqe);
	if (!ring_empty(&ring)) {
		ASSERT_EQ(-EINVAL, ring_wait(&ring).res);
		test_skip("the kernel has no READ_MULTISHOT");
	}
	/* The first two ticks have one event each, the last one has six. */
	ASSERT_EQ(0, tw_start(fd, 0, 20 * MS, 100));
	ASSERT_EQ(0, tw_start(fd, 1, 40 * MS, 101));
	for (i = 2; i < 8; i++)
		ASSERT_EQ(0, tw_start(fd, i, 60 * MS, 100 + i));
	while (seen < 8) {
		cqe = ring_wait(&ring);
		ASSERT_LT(0, cqe.res);
		ASSERT_TRUE(cqe.flags & IORING_CQE_F_MORE);
		nr = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
		for (i = 0; i < cqe.res / (int)EVENT; i++)
			ASSERT_EQ(100 + seen++, events[nr][i].user_data);
	}
	ASSERT_EQ(0, workers());
	EXPECT_STATS(fd, .started = 8, .expired = 8, .delivered = 8);
}

TEST(poll)
{
	struct twheel_event event;
	struct io_uring_cqe cqe;
	int fd = session_open_nonblock();
	struct ring ring;

	ring_open(&ring);
	ring_submit(&ring, (struct io_uring_sqe){
		.opcode = IORING_OP_POLL_ADD,
		.fd = fd,
		.poll32_events = POLLIN,
	});
	ASSERT_TRUE(ring_empty(&ring));
	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	cqe = ring_wait(&ring);
	ASSERT_EQ(POLLIN, cqe.res);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(0, workers());
}

/* Memory that was registered before: no page of the caller's is looked up. */
TEST(read_into_a_registered_buffer)
{
	static struct twheel_event events[4] __attribute__((aligned(4096)));
	struct iovec iov = { events, sizeof(events) };
	struct io_uring_sqe sqe;
	int fd = session_open();
	struct ring ring;

	ring_open(&ring);
	ASSERT_EQ(0, syscall(__NR_io_uring_register, ring.fd,
			     IORING_REGISTER_BUFFERS, &iov, 1));
	sqe = read_sqe(fd, events, sizeof(events));
	sqe.opcode = IORING_OP_READ_FIXED;
	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	ring_submit(&ring, sqe);
	ASSERT_EQ(EVENT, ring_wait(&ring).res);
	ASSERT_EQ(3, events[0].id);
	ASSERT_EQ(33, events[0].user_data);
	ASSERT_EQ(0, workers());
}
