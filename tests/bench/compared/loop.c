// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of programs whose timers are structures of their own
 *
 * epoll_pwait2(2) waits for the first deadline, to the nanosecond.
 */
#include <sys/epoll.h>
#include <time.h>

#include "loop.h"
#include "replay.h"

static uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* Returns whether a step has come. */
static bool wait_until(int epoll, uint64_t deadline, uint64_t now)
{
	uint64_t ns = deadline > now ? deadline - now : 0;
	struct timespec timeout = { ns / SECOND, ns % SECOND };
	struct epoll_event event;
	int ready;

	ready = epoll_pwait2(epoll, &event, 1, deadline == UINT64_MAX ? NULL : &timeout, NULL);
	if (ready < 0)
		fail("epoll_pwait2");
	return ready;
}

void loop_with_timeout(uint64_t (*first)(void), void (*expire)(uint64_t now))
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	uint64_t now = clock_now();
	bool more = true;

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, replay_fd(), &event))
		fail("epoll");
	while (more) {
		bool step = wait_until(epoll, first(), now);

		now = clock_now();
		if (first() <= now)
			expire(now);
		if (step)
			more = replay_steps();
	}
}
