// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring: a timeout for each connection, and a poll for the steps
 *
 * Documents: io_uring_prep_timeout(3): IORING_TIMEOUT_ABS, completes with ETIME;
 * io_uring_prep_timeout_update(3), io_uring_prep_timeout_remove(3); io_uring_setup(2):
 * SINGLE_ISSUER and DEFER_TASKRUN for one thread that waits for completions;
 * io_uring_prep_poll_multishot(3) for the steps. What a step has to say is submitted together.
 */
#include <errno.h>
#include <liburing.h>
#include <poll.h>

#include "replay.h"

#define ENTRIES		1024
/* Besides connections, whose numbers are those of their timers. */
#define STEP		(~0ULL)
#define NOTHING		(~0ULL - 1)

static struct io_uring ring;
/* The kernel reads these when an entry is submitted. */
static struct __kernel_timespec times[ENTRIES];

static void check(int ret, const char *what)
{
	if (ret >= 0)
		return;
	errno = -ret;
	fail(what);
}

static void open_ring(unsigned int connections)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER |
			 IORING_SETUP_DEFER_TASKRUN,
		.cq_entries = 4 * ENTRIES,
	};

	check(io_uring_queue_init_params(ENTRIES, &ring, &params), "io_uring_queue_init");
	(void)connections;
}

static struct io_uring_sqe *entry(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe) {
		check(io_uring_submit(&ring), "io_uring_submit");
		sqe = io_uring_get_sqe(&ring);
	}
	return sqe;
}

static struct __kernel_timespec *time_of(const struct io_uring_sqe *sqe, uint64_t deadline_ns)
{
	struct __kernel_timespec *time = &times[sqe - ring.sq.sqes];

	time->tv_sec = deadline_ns / SECOND;
	time->tv_nsec = deadline_ns % SECOND;
	return time;
}

static void start(unsigned int connection, uint64_t deadline_ns)
{
	struct io_uring_sqe *sqe = entry();

	io_uring_prep_timeout(sqe, time_of(sqe, deadline_ns), 0, IORING_TIMEOUT_ABS);
	io_uring_sqe_set_data64(sqe, connection);
}

static void refresh(unsigned int connection, uint64_t deadline_ns)
{
	struct io_uring_sqe *sqe = entry();

	io_uring_prep_timeout_update(sqe, time_of(sqe, deadline_ns), connection,
				     IORING_TIMEOUT_ABS);
	io_uring_sqe_set_data64(sqe, NOTHING);
}

static void stop(unsigned int connection)
{
	struct io_uring_sqe *sqe = entry();

	io_uring_prep_timeout_remove(sqe, connection, 0);
	io_uring_sqe_set_data64(sqe, NOTHING);
}

static void watch_steps(void)
{
	struct io_uring_sqe *sqe = entry();

	io_uring_prep_poll_multishot(sqe, replay_fd(), POLLIN);
	io_uring_sqe_set_data64(sqe, STEP);
}

/* Returns false after the last step. */
static bool complete(const struct io_uring_cqe *cqe)
{
	if (cqe->user_data == STEP) {
		if (!(cqe->flags & IORING_CQE_F_MORE))
			watch_steps();
		return replay_steps();
	}
	if (cqe->user_data == NOTHING)
		check(cqe->res, "an update");
	else if (cqe->res == -ETIME)
		replay_expired(cqe->user_data);
	else if (cqe->res != -ECANCELED)
		check(cqe->res, "a timeout");
	return true;
}

static void loop(void)
{
	struct io_uring_cqe *cqe;
	unsigned int head, nr;
	bool more = true;

	watch_steps();
	while (more) {
		check(io_uring_submit_and_wait(&ring, 1), "io_uring_submit_and_wait");
		nr = 0;
		io_uring_for_each_cqe(&ring, head, cqe) {
			more = complete(cqe) && more;
			nr++;
		}
		io_uring_cq_advance(&ring, nr);
	}
}

const struct adapter adapter = {
	.open		= open_ring,
	.start		= start,
	.refresh	= refresh,
	.stop		= stop,
	.loop		= loop,
};
