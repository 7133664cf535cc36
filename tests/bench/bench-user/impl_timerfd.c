// SPDX-License-Identifier: GPL-2.0
/*
 * One timerfd for each timer, all in one epoll set
 *
 * Creating a timer takes timerfd_create() and epoll_ctl(). epoll_wait() reports as many expiries
 * at a time as there is room for, and one read() collects each of them.
 */
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bench.h"

struct settime {
	int fd;
	struct itimerspec value;
};

static int epoll;
static int *fds;
static struct settime args[EXTRA];
static struct epoll_event events[SAMPLE];

static void timerfd_open(unsigned int timers)
{
	fds = allocate(timers + EXTRA, sizeof(*fds));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		err(1, "epoll_create1");
}

static void create_timers(unsigned int first, unsigned int nr)
{
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int i;

	for (i = first; i < first + nr; i++) {
		fds[i] = timerfd_create(CLOCK_MONOTONIC,
					TFD_NONBLOCK | TFD_CLOEXEC);
		event.data.fd = fds[i];
		if (fds[i] < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event))
			err(1, "timerfd_create");
	}
}

static void timerfd_prepare(enum operation op, unsigned int i, const struct request *r)
{
	args[i] = (struct settime) { .fd = fds[r->id] };
	if (op == STOP)
		return;
	args[i].value.it_value.tv_sec = r->delay_ns / SECOND;
	args[i].value.it_value.tv_nsec = r->delay_ns % SECOND;
}

static void timerfd_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (timerfd_settime(args[i].fd, 0, &args[i].value, NULL))
			err(1, "timerfd_settime");
}

static unsigned int timerfd_collect(unsigned int nr, unsigned int batch)
{
	unsigned int done = 0;
	uint64_t expiries;
	int i, ready;

	while (done < nr) {
		ready = epoll_wait(epoll, events, batch, -1);
		if (ready < 0)
			err(1, "epoll_wait");
		for (i = 0; i < ready; i++)
			if (read(events[i].data.fd, &expiries,
				 sizeof(expiries)) != sizeof(expiries))
				err(1, "read");
		done += ready;
	}
	return done;
}

const struct impl impl_timerfd = {
	.name		= "timerfd",
	.reads		= one_and_many,
	.open		= timerfd_open,
	.create		= create_timers,
	.prepare	= timerfd_prepare,
	.run		= timerfd_run,
	.collect	= timerfd_collect,
};
