// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of an expiry with its restart in the process, compared with the bare wheel
 *
 * Like expire_restart of tests/bench/native.c: start all timers, move the clock through RUN_TICKS
 * ticks one by one, and start each timer again when it expires. The clock is a variable, and
 * timerfd_settime() does nothing. The difference to the bare wheel is the cost of the session:
 * ids, checks, counters, events, and memory.
 *
 * usage: expiry [TIMERS]; prints a row of build/bench/user.csv
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <twheel.h>

#include "../../api/selftests/virtual_clock.h"

#define RUN_TICKS	60000U
#define DRAWS		1048576U	/* a power of two */
#define ROOM		256

static struct twheel *session;
static __u64 interval_ns[DRAWS];
static unsigned int next;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);

static __u64 cpu_ns(void)
{
	struct timespec ts;

	__real_clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static void start(__u64 id)
{
	if (twheel_start_at(session, id, virtual_ns + interval_ns[next++ % DRAWS], id))
		errx(1, "twheel_start_at");
}

static unsigned int one_tick(void)
{
	struct twheel_event events[ROOM];
	unsigned int expired = 0;
	int ret, i;

	virtual_ns += MS;
	while ((ret = twheel_read(session, events, ROOM)) > 0) {
		for (i = 0; i < ret; i++)
			start(events[i].id);
		expired += ret;
	}
	if (ret)
		errx(1, "twheel_read");
	return expired;
}

int main(int argc, char **argv)
{
	unsigned int timers = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000, i;
	struct twheel_setup setup = { .max_timers = timers };
	__u64 seed = 88172645463325252ULL, begin, expired = 0;

	for (i = 0; i < DRAWS; i++)
		interval_ns[i] = (1 + ((xorshift(&seed) >> 32) * RUN_TICKS >> 32)) * MS;
	if (twheel_open_flags(&session, &setup, TWHEEL_OPEN_PROCESS))
		errx(1, "twheel_open_flags");
	for (i = 0; i < timers; i++)
		start(i);
	begin = cpu_ns();
	for (i = 0; i < RUN_TICKS; i++)
		expired += one_tick();
	/* No interval is longer than RUN_TICKS, so each timer expired at least once. */
	if (expired < timers)
		errx(1, "timers are missing");
	printf("user,native,process,expire_restart,uniform,1,1,%u,ns,%.2f\n", timers,
	       (double)(cpu_ns() - begin) / expired);
	return 0;
}
