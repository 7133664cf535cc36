// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of programs whose timers have one descriptor
 */
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>

#include "replay.h"

static int new_epoll(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0)
		fail("epoll_create1");
	return epoll;
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		fail("epoll_ctl");
}

static void *take_in_thread(void *unused)
{
	struct epoll_event event;
	int epoll = new_epoll();

	watch(epoll, adapter_fd());
	while (epoll_wait(epoll, &event, 1, -1) > 0 || errno == EINTR)
		adapter_take();
	return unused;
}

void adapter_loop(void)
{
	int epoll = new_epoll(), i, ready;
	struct epoll_event events[2];
	pthread_t thread;
	bool more = true;

	watch(epoll, replay_fd());
	if (!replay_is_busy())
		watch(epoll, adapter_fd());
	else if (pthread_create(&thread, NULL, take_in_thread, NULL))
		fail("pthread_create");
	while (more) {
		ready = epoll_wait(epoll, events, 2, -1);
		for (i = 0; i < ready; i++)
			if (events[i].data.fd == replay_fd())
				more = replay_steps();
			else
				adapter_take();
	}
}
