// SPDX-License-Identifier: GPL-2.0
/*
 * A timerfd for each connection, all in one epoll set
 *
 * Documents: timerfd_create(2): TFD_TIMER_ABSTIME, an expiry makes the descriptor readable,
 * read(2) takes it; epoll(7): an interest for each descriptor, closing the descriptor removes it.
 */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "replay.h"

#define ROOM	256

static int epoll;
static int *fds;

void adapter_open(unsigned int connections)
{
	fds = allocate(connections, sizeof(*fds));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		fail("epoll_create1");
}

void adapter_refresh(unsigned int connection, uint64_t deadline_ns)
{
	struct itimerspec spec = {
		.it_value = { deadline_ns / SECOND, deadline_ns % SECOND },
	};

	if (timerfd_settime(fds[connection], TFD_TIMER_ABSTIME, &spec, NULL))
		fail("timerfd_settime");
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = connection };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		fail("timerfd_create");
	fds[connection] = fd;
	adapter_refresh(connection, deadline_ns);
}

void adapter_stop(unsigned int connection)
{
	close(fds[connection]);
}

static void expire(unsigned int connection)
{
	uint64_t expiries;

	if (read(fds[connection], &expiries, sizeof(expiries)) != sizeof(expiries))
		fail("read");
	close(fds[connection]);
	replay_expired(connection);
}

static void *take_in_thread(void *unused)
{
	struct epoll_event events[ROOM];
	int ready, i;

	while ((ready = epoll_wait(epoll, events, ROOM, -1)) > 0)
		for (i = 0; i < ready; i++)
			expire(events[i].data.u32);
	return unused;
}

static int watch_steps(int set)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = UINT32_MAX };

	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, replay_fd(), &event))
		fail("epoll_ctl");
	return set;
}

void adapter_loop(void)
{
	int set = epoll, ready, i;
	struct epoll_event events[ROOM];
	pthread_t thread;
	bool more = true;

	if (replay_is_busy()) {
		set = epoll_create1(EPOLL_CLOEXEC);
		if (pthread_create(&thread, NULL, take_in_thread, NULL))
			fail("pthread_create");
	}
	watch_steps(set);
	while (more) {
		ready = epoll_wait(set, events, ROOM, -1);
		for (i = 0; i < ready; i++)
			if (events[i].data.u32 == UINT32_MAX)
				more = replay_steps();
			else
				expire(events[i].data.u32);
	}
}
