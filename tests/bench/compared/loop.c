// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of programs that do not have the loop of a library
 *
 * An epoll set has the descriptor of the steps, and the descriptors of the adapter's timers. Timers
 * that are structures of the program have no descriptor: for them, epoll_pwait2(2) waits until the
 * first deadline, to the nanosecond.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>

#include "replay.h"

#define ROOM	256
/*
 * Event data of the descriptor with the steps. A timer's descriptor has the number that the adapter
 * gives it.
 */
#define STEPS	UINT32_MAX

static int new_epoll(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0)
		err(1, "epoll_create1");
	return epoll;
}

static void watch(int epoll, int fd, unsigned int nr)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = nr };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

static int timers_epoll(void)
{
	static int epoll = -1;

	if (epoll < 0)
		epoll = new_epoll();
	return epoll;
}

void loop_watch(int fd, unsigned int nr)
{
	watch(timers_epoll(), fd, nr);
}

static void *take_in_thread(void *unused)
{
	struct epoll_event events[ROOM];
	int ready, i;

	while ((ready = epoll_wait(timers_epoll(), events, ROOM, -1)) > 0 || errno == EINTR)
		for (i = 0; i < ready; i++)
			adapter_take(events[i].data.u32);
	return unused;
}

static int wait_for_events(int epoll, struct epoll_event *events, uint64_t now)
{
	uint64_t deadline, ns;
	struct timespec timeout;

	if (!adapter_first)
		return epoll_wait(epoll, events, ROOM, -1);
	deadline = adapter_first();
	ns = deadline > now ? deadline - now : 0;
	timeout = (struct timespec) { ns / SECOND, ns % SECOND };
	return epoll_pwait2(epoll, events, ROOM, deadline == UINT64_MAX ? NULL : &timeout, NULL);
}

/* Returns the epoll set with the steps. In mode busy, a new thread waits for the timers. */
static int begin_loop(void)
{
	int epoll = timers_epoll();
	pthread_t thread;

	if (adapter_take && replay_is_busy()) {
		epoll = new_epoll();
		if (pthread_create(&thread, NULL, take_in_thread, NULL))
			err(1, "pthread_create");
	}
	watch(epoll, replay_fd(), STEPS);
	return epoll;
}

void adapter_loop(void)
{
	struct epoll_event events[ROOM];
	int epoll = begin_loop(), ready, i;
	uint64_t now = now_ns();
	bool more = true;

	while (more) {
		ready = wait_for_events(epoll, events, now);
		if (ready < 0)
			err(1, "epoll_wait");
		if (adapter_first) {
			now = now_ns();
			adapter_expire(now);
		}
		for (i = 0; i < ready; i++)
			if (events[i].data.u32 == STEPS)
				more = replay_steps();
			else
				adapter_take(events[i].data.u32);
	}
}
