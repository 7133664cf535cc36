// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of programs whose timers have one descriptor
 */
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>

#include "replay.h"

static void (*take_expired)(void);
static int timers_fd;

static int watch(int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
	static int epoll = -1;

	if (epoll < 0)
		epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		fail("epoll");
	return epoll;
}

static void *take_in_thread(void *unused)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, timers_fd, &event))
		fail("epoll");
	while (epoll_wait(epoll, &event, 1, -1) > 0 || errno == EINTR)
		take_expired();
	return unused;
}

void replay_by_epoll(int fd, void (*take)(void))
{
	int epoll = watch(replay_fd()), i, ready;
	struct epoll_event events[2];
	pthread_t thread;
	bool more = true;

	timers_fd = fd;
	take_expired = take;
	if (!replay_is_busy())
		watch(fd);
	else if (pthread_create(&thread, NULL, take_in_thread, NULL))
		fail("pthread_create");
	while (more) {
		ready = epoll_wait(epoll, events, 2, -1);
		for (i = 0; i < ready; i++)
			if (events[i].data.fd == fd)
				take();
			else
				more = replay_steps();
	}
}
