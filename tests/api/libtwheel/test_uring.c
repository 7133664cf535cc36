// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring polls the descriptor of a session in the process
 */
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <string.h>

#include "util.h"

static int next_result(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	int result;

	ASSERT_EQ(0, io_uring_wait_cqe(ring, &cqe));
	result = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return result;
}

TEST_SESSION_FLAGS(a_ring_polls_it, TWHEEL_OPEN_PROCESS)
{
	struct twheel_event event;
	struct io_uring_sqe *sqe;
	struct io_uring ring;
	unsigned int round;
	int ret = io_uring_queue_init(4, &ring, 0);

	if (ret < 0)
		test_skip("no io_uring: %s", strerror(-ret));
	for (round = 0; round < 3; round++) {
		sqe = io_uring_get_sqe(&ring);
		io_uring_prep_poll_add(sqe, twheel_fd(t), POLLIN);
		ASSERT_EQ(1, io_uring_submit(&ring));
		ASSERT_EQ(0, io_uring_cq_ready(&ring));
		/* The ring waits already, and for nothing that is far away. */
		ASSERT_EQ(0, twheel_start(t, 2, HOUR, 22));
		ASSERT_EQ(0, io_uring_cq_ready(&ring));
		ASSERT_EQ(0, twheel_start(t, 1, 0, 11));
		ASSERT_EQ(POLLIN, next_result(&ring));
		/* A timer that is due in the middle of a tick is so at its end. */
		while (!(ret = twheel_read(t, &event, 1)))
			;
		ASSERT_EQ(1, ret);
		ASSERT_EQ(11, event.user_data);
		ASSERT_EQ(0, twheel_stop(t, 2));
	}
	io_uring_queue_exit(&ring);
}
