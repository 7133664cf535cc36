// SPDX-License-Identifier: GPL-2.0
/*
 * A POSIX timer for each connection, whose signals a signalfd takes
 *
 * Documents: timer_create(2): SIGEV_SIGNAL with a value, one queued signal for each timer;
 * timer_settime(2): TIMER_ABSTIME; signalfd(2): the signal is blocked, a read takes several,
 * ssi_int is the value.
 */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "replay.h"

#define ROOM	64

static timer_t *timers;
static int signals_fd;

void adapter_open(unsigned int connections)
{
	sigset_t signals;

	timers = allocate(connections, sizeof(*timers));
	sigemptyset(&signals);
	sigaddset(&signals, SIGRTMIN);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		err(1, "sigprocmask");
	signals_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (signals_fd < 0)
		err(1, "signalfd");
	loop_watch(signals_fd, 0);
}

void adapter_refresh(unsigned int connection, uint64_t deadline_ns)
{
	struct itimerspec spec = {
		.it_value = { deadline_ns / SECOND, deadline_ns % SECOND },
	};

	if (timer_settime(timers[connection], TIMER_ABSTIME, &spec, NULL))
		err(1, "timer_settime");
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	struct sigevent event = {
		.sigev_notify	= SIGEV_SIGNAL,
		.sigev_signo	= SIGRTMIN,
		.sigev_value	= { .sival_int = connection },
	};

	if (timer_create(CLOCK_MONOTONIC, &event, &timers[connection]))
		err(1, "timer_create");
	adapter_refresh(connection, deadline_ns);
}

void adapter_stop(unsigned int connection)
{
	if (timer_delete(timers[connection]))
		err(1, "timer_delete");
}

void adapter_take(unsigned int unused)
{
	struct signalfd_siginfo infos[ROOM];
	ssize_t size;
	int i;

	size = read(signals_fd, infos, sizeof(infos));
	if (size < 0 && errno != EAGAIN)
		err(1, "read");
	for (i = 0; i < size / (ssize_t)sizeof(infos[0]); i++) {
		adapter_stop(infos[i].ssi_int);
		replay_expired(infos[i].ssi_int);
	}
}
