// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring timeouts
 *
 * Arming is an IORING_OP_TIMEOUT. Stopping is an IORING_OP_TIMEOUT_REMOVE, and
 * refreshing is its update. A system call takes as many of them as there are
 * entries. The ring's setup is the best one for a single thread: completions
 * are posted when that thread asks for them. A cancelled timeout posts one too,
 * and reaping it is part of stopping.
 */
#include <errno.h>
#include <liburing.h>

#include "bench.h"

#define SQ_ENTRIES	BATCH_MAX
#define CQ_ENTRIES	(4 * BATCH_MAX)

static struct io_uring ring;
/* The kernel reads these when the request is submitted. */
static struct __kernel_timespec times[BATCH_MAX];
static struct request args[BATCH_MAX];

static void uring_open(unsigned int timers)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER |
			 IORING_SETUP_DEFER_TASKRUN,
		.cq_entries = CQ_ENTRIES,
	};
	int ret = io_uring_queue_init_params(SQ_ENTRIES, &ring, &params);

	if (ret) {
		errno = -ret;
		fail("io_uring_queue_init_params");
	}
	(void)timers;
}

static void prepare_one(enum operation op, unsigned int i)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	uint64_t id = args[i].id;

	if (!sqe)
		fail("io_uring_get_sqe");
	times[i].tv_sec = args[i].delay_ns / SECOND;
	times[i].tv_nsec = args[i].delay_ns % SECOND;
	if (op == STOP)
		io_uring_prep_timeout_remove(sqe, id, 0);
	else if (op == REFRESH)
		io_uring_prep_timeout_update(sqe, &times[i], id, 0);
	else
		io_uring_prep_timeout(sqe, &times[i], 0, 0);
	/* Tells a completion from an expiry's. */
	io_uring_sqe_set_data64(sqe, op == ARM ? id : UINT64_MAX);
}

/*
 * Tells the kernel of all entries, which io_uring_submit() does before its
 * system call. Here it happens when the entries are laid out, so that run()
 * consists only of the system calls.
 */
static void publish(void)
{
	struct io_uring_sq *sq = &ring.sq;
	unsigned int tail = *sq->ktail;

	for (; sq->sqe_head != sq->sqe_tail; sq->sqe_head++)
		sq->array[tail++ & *sq->kring_mask] = sq->sqe_head &
						      *sq->kring_mask;
	__atomic_store_n(sq->ktail, tail, __ATOMIC_RELEASE);
}

static void uring_prepare(enum operation op, const struct request *requests,
			  unsigned int nr, unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		args[i] = requests[i];
		prepare_one(op, i);
	}
	publish();
	(void)batch;
}

/* Completions of the operation itself, without expiries' completions. */
static unsigned int completions(enum operation op)
{
	if (op == STOP)
		return 2;
	return op == REFRESH ? 1 : 0;
}

static void reap(unsigned int nr, int expected)
{
	struct io_uring_cqe *cqe;
	unsigned int head, i = 0;

	io_uring_for_each_cqe(&ring, head, cqe) {
		if (i == nr)
			break;
		i++;
		if (cqe->res && cqe->res != expected) {
			errno = -cqe->res;
			fail("a completion");
		}
	}
	if (i < nr)
		fail("completions");
	io_uring_cq_advance(&ring, nr);
}

static void enter(unsigned int submit, unsigned int wait)
{
	int ret = io_uring_enter(ring.ring_fd, submit, wait,
				 wait ? IORING_ENTER_GETEVENTS : 0, NULL);

	if (ret != (int)submit) {
		errno = ret < 0 ? -ret : EAGAIN;
		fail("io_uring_enter");
	}
}

static void uring_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int first, count, done;

	for (first = 0; first < nr; first += count) {
		count = nr - first < batch ? nr - first : batch;
		done = count * completions(op);
		enter(count, done);
		if (done)
			reap(done, -ECANCELED);
	}
}

/* Only for the limit. */
static unsigned int uring_create(unsigned int first, unsigned int nr)
{
	struct request request = { .delay_ns = 1000000 * SECOND };
	unsigned int i;

	for (i = 0; i < nr; i++) {
		request.id = first + i;
		uring_prepare(ARM, &request, 1, 1);
		enter(1, 0);
	}
	return nr;
}

static unsigned int uring_collect(unsigned int nr, unsigned int batch)
{
	unsigned int done = 0, count;

	while (done < nr) {
		count = nr - done < batch ? nr - done : batch;
		if (io_uring_cq_ready(&ring) < count)
			enter(0, count);
		reap(count, -ETIME);
		done += count;
	}
	return done;
}

const struct impl impl_uring = {
	.name		= "io_uring",
	.batches	= all_batches,
	.reads		= all_batches,
	.created_armed	= true,
	.open		= uring_open,
	.create		= uring_create,
	.prepare	= uring_prepare,
	.run		= uring_run,
	.collect	= uring_collect,
};
