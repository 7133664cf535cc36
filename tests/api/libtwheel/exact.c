// SPDX-License-Identifier: GPL-2.0
/*
 * A million operations on a session in the process, by a program that sleeps exactly as long as the
 * library tells
 *
 * The clock is virtual: it advances only in sleeps, which end when the timerfd fires or when the
 * program has something else to do. So each expiry can be compared with its deadline. It must not
 * be early, at most a tick late, and none may be missing. A word may be read a tick late.
 *
 * usage: exact SEED
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

#include "twheel.h"
#include "user.h"

#define OPERATIONS	1000000
#define IDS		3000U
#define WORDS		1500U	/* number of ids with a word, the lowest ones */
#define TICK		MS
#define FD		1000

static __u64 now = 5000 * SECOND + 1, fires = ~0ULL, seed;
static __u64 due[IDS];		/* deadline, or 0 if the timer is not pending */
static __u64 since[IDS];	/* time when @due was set */
static bool stored[IDS];	/* stopped by a store, but perhaps still pending for the library */
static __u64 operations, expiries, wakeups;
static struct twheel *t;

/* System calls of the library, on the virtual clock. */

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	ts->tv_sec = now / SECOND;
	ts->tv_nsec = now % SECOND;
	return 0;
}

int timerfd_create(int clock, int flags)
{
	(void)clock;
	(void)flags;
	return FD;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	(void)fd;
	(void)flags;
	(void)old;
	fires = new->it_value.tv_sec * SECOND + new->it_value.tv_nsec;
	if (!fires)
		fires = ~0ULL;
	return 0;
}

static __u64 below(__u64 end)
{
	return xorshift(&seed) % end;
}

/* Choose a number, with each number of bits equally likely. */
static __u64 below_log(unsigned int bits)
{
	return below(2ULL << below(bits));
}

static void fail(const char *what, unsigned int id)
{
	fprintf(stderr, "exact: %s: id %u at %llu, operation %llu: ", what, id, now, operations);
	fprintf(stderr, "due %llu, set at %llu\n", due[id], since[id]);
	exit(1);
}

static void read_events(void)
{
	struct twheel_event events[64];
	int got, i;

	do {
		got = twheel_read(t, events, 64);
		if (got < 0)
			fail("twheel_read", 0);
		for (i = 0; i < got; i++) {
			unsigned int id = events[i].user_data;
			__u64 set = due[id] > since[id] ? due[id] : since[id];

			if (!due[id])
				fail("stopped, and expired", id);
			if (now < due[id] || events[i].expired_ns < due[id])
				fail("early", id);
			if (now > set + (id < WORDS ? 2 : 1) * TICK)
				fail("late", id);
			due[id] = 0;
			expiries++;
		}
	} while (got == 64);
}

static void operate(void)
{
	unsigned int id = below(IDS);
	__u64 deadline = now + below_log(36) - below_log(20);
	int ret = 0;

	operations++;
	if (!below(6)) {
		if (id < WORDS && below(2)) {
			twheel_stop_by_store(t, id);
			stored[id] = true;
		} else if (!twheel_stop(t, id) != !!due[id] && !stored[id]) {
			fail("a stop", id);
		}
		due[id] = 0;
		return;
	}
	if (id < WORDS && due[id] && deadline > due[id] && below(2))
		twheel_refresh(t, id, deadline);
	else if (due[id] && below(2))
		ret = twheel_push(t, id, deadline, id);
	else
		ret = twheel_start_at(t, id, deadline, id);
	if (ret < 0)
		fail("a start", id);
	due[id] = deadline;
	since[id] = now;
	stored[id] = false;
}

/* Sleep until the timerfd fires, or until @other. Returns false if nothing would end the sleep. */
static bool sleep_until(__u64 other)
{
	__u64 until = fires < other ? fires : other;

	if (until == ~0ULL)
		return false;
	now = now > until ? now : until;
	if (now < fires)
		return true;
	wakeups++;
	read_events();
	return true;
}

static void run(void)
{
	const struct twheel_setup setup = { .max_timers = IDS, .shared_ids = WORDS };
	unsigned int i;

	if (twheel_open_flags(&t, &setup, TWHEEL_OPEN_PROCESS))
		fail("twheel_open_flags", 0);
	while (operations < OPERATIONS) {
		for (i = below(30); i; i--)
			operate();
		sleep_until(now + below_log(26));
	}
	while (sleep_until(~0ULL))
		;
	for (i = 0; i < IDS; i++)
		if (due[i])
			fail("missed", i);
	twheel_close(t);
}

int main(int argc, char **argv)
{
	seed = argc > 1 ? strtoull(argv[1], NULL, 0) | 1 : 1;
	run();
	printf("%llu operations, %llu expiries, %llu wake-ups\n", operations, expiries, wakeups);
	return 0;
}
