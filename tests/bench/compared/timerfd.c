// SPDX-License-Identifier: GPL-2.0
/*
 * A timerfd for each connection, all in one epoll set
 *
 * Follows timerfd_create(2): TFD_TIMER_ABSTIME, an expiry makes the descriptor readable, read(2)
 * takes the expiry. Follows epoll(7): each descriptor is in the interest list, and closing the
 * descriptor removes it.
 */
#include <sys/timerfd.h>
#include <unistd.h>

#include "replay.h"

static int *fds;

void adapter_open(unsigned int connections)
{
	fds = allocate(connections, sizeof(*fds));
}

void adapter_refresh(unsigned int connection, uint64_t deadline_ns)
{
	struct itimerspec spec = {
		.it_value = { deadline_ns / SECOND, deadline_ns % SECOND },
	};

	if (timerfd_settime(fds[connection], TFD_TIMER_ABSTIME, &spec, NULL))
		err(1, "timerfd_settime");
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	fds[connection] = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (fds[connection] < 0)
		err(1, "timerfd_create");
	loop_watch(fds[connection], connection);
	adapter_refresh(connection, deadline_ns);
}

void adapter_stop(unsigned int connection)
{
	close(fds[connection]);
}

void adapter_take(unsigned int connection)
{
	uint64_t expiries;

	if (read(fds[connection], &expiries, sizeof(expiries)) != sizeof(expiries))
		err(1, "read");
	close(fds[connection]);
	replay_expired(connection);
}
