/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A clock that is a variable, for a program with sessions in the process
 *
 * The program is linked with --wrap=clock_gettime and --wrap=timerfd_settime.
 */
#ifndef TESTS_VIRTUAL_CLOCK_H
#define TESTS_VIRTUAL_CLOCK_H

#include <sys/timerfd.h>

#include "user.h"

static __u64 virtual_ns = SECOND;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *spec,
			   struct itimerspec *old);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	ts->tv_sec = virtual_ns / SECOND;
	ts->tv_nsec = virtual_ns % SECOND;
	(void)clock;
	return 0;
}

/* Do nothing, because no program waits for the timerfd. */
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *spec,
			   struct itimerspec *old)
{
	(void)fd;
	(void)flags;
	(void)spec;
	(void)old;
	return 0;
}

#endif /* TESTS_VIRTUAL_CLOCK_H */
