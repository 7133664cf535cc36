// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "steps.h"

static int timers[MAX_CONNECTIONS], all_timers;

void timeouts_open(void)
{
	all_timers = epoll_create1(EPOLL_CLOEXEC);
	if (all_timers < 0)
		err(1, "epoll_create1");
}

int timeouts_fd(void)
{
	return all_timers;
}

void opened(int connection)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = connection };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd < 0 || epoll_ctl(all_timers, EPOLL_CTL_ADD, fd, &event))
		err(1, "timerfd");
	timers[connection] = fd;
	heard_from(connection);
}

void heard_from(int connection)
{
	struct itimerspec when = {
		.it_value.tv_sec = timeout_ns / 1000000000,
		.it_value.tv_nsec = timeout_ns % 1000000000,
	};

	if (timerfd_settime(timers[connection], 0, &when, NULL))
		err(1, "timerfd_settime");
}

void closed(int connection)
{
	close(timers[connection]);
}

void collect(void)
{
	struct epoll_event events[64];
	int i, ready = epoll_wait(all_timers, events, 64, 0);
	uint64_t times;

	for (i = 0; i < ready; i++) {
		int connection = events[i].data.fd;

		if (read(timers[connection], &times, sizeof(times)) < 0)
			continue;	/* it was refreshed */
		closed(connection);
		connection_idle(connection);
	}
}

void before_waiting(void)
{
}
