// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of programs whose timers are structures of their own
 *
 * epoll_pwait2(2) waits for the first deadline, to the nanosecond.
 */
#include <sys/epoll.h>

#include "replay.h"

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

void adapter_loop(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	uint64_t now = now_ns();
	bool more = true;

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, replay_fd(), &event))
		fail("epoll");
	while (more) {
		bool step = wait_until(epoll, adapter_first(), now);

		now = now_ns();
		if (adapter_first() <= now)
			adapter_expire(now);
		if (step)
			more = replay_steps();
	}
}
