// SPDX-License-Identifier: GPL-2.0
/*
 * POSIX timers: timer_create(), timer_settime()
 *
 * Timers that only wait notify nobody (SIGEV_NONE). Each timer that will expire
 * queues a realtime signal, which sigwaitinfo() collects.
 */
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "bench.h"

struct settime {
	timer_t timer;
	struct itimerspec value;
};

static timer_t *timers;
static unsigned int nr_waiting;
static sigset_t signals;
static struct settime args[BATCH_MAX];

static void posix_open(unsigned int nr)
{
	timers = allocate(nr + EXTRA, sizeof(*timers));
	nr_waiting = nr;
	sigemptyset(&signals);
	sigaddset(&signals, SIGRTMIN);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		fail("sigprocmask");
}

static unsigned int posix_create(unsigned int first, unsigned int nr)
{
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	unsigned int i;

	if (first >= nr_waiting) {
		event.sigev_notify = SIGEV_SIGNAL;
		event.sigev_signo = SIGRTMIN;
	}
	for (i = first; i < first + nr; i++) {
		event.sigev_value.sival_int = i;
		if (timer_create(CLOCK_MONOTONIC, &event, &timers[i]))
			break;
	}
	return i - first;
}

static void posix_prepare(enum operation op, const struct request *requests,
			  unsigned int nr, unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		args[i] = (struct settime) { .timer = timers[requests[i].id] };
		if (op == STOP)
			continue;
		args[i].value.it_value.tv_sec = requests[i].delay_ns / SECOND;
		args[i].value.it_value.tv_nsec = requests[i].delay_ns % SECOND;
	}
	(void)batch;
}

static void posix_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (timer_settime(args[i].timer, 0, &args[i].value, NULL))
			fail("timer_settime");
	(void)op;
	(void)batch;
}

static unsigned int posix_collect(unsigned int nr, unsigned int batch)
{
	unsigned int done;
	siginfo_t info;

	for (done = 0; done < nr; done++)
		if (sigwaitinfo(&signals, &info) < 0)
			fail("sigwaitinfo");
	(void)batch;
	return done;
}

const struct impl impl_posix = {
	.name		= "posix",
	.reads		= one_by_one,
	.open		= posix_open,
	.create		= posix_create,
	.prepare	= posix_prepare,
	.run		= posix_run,
	.collect	= posix_collect,
};
