// SPDX-License-Identifier: GPL-2.0
/*
 * How many timers an ordinary program may have
 *
 * Timers are created until there is an error. The limits are Debian's, for a
 * program that has not asked its administrator. RLIMIT_NOFILE is as set by
 * systemd for services and logins, where a program may raise the soft limit to
 * the hard one. The kernel sets RLIMIT_SIGPENDING at boot, by the size of its
 * memory.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"

/* systemd's default, DefaultLimitNOFILE=1024:524288 */
#define FILES		524288
/* Beyond these numbers memory is taken to be the only limit. */
#define TIMERS_MAX	1000000U
#define WHEEL_MAX	4500000U

static void ordinary_limits(void)
{
	struct rlimit files = { FILES, FILES };
	struct rlimit signals;

	if (setrlimit(RLIMIT_NOFILE, &files) ||
	    getrlimit(RLIMIT_SIGPENDING, &signals))
		fail("setrlimit");
	printf("limits: RLIMIT_NOFILE %u, RLIMIT_SIGPENDING %lu\n", FILES,
	       (unsigned long)signals.rlim_cur);
}

void find_limit(struct bench *b)
{
	unsigned int most = b->impl == &impl_twheel ? WHEEL_MAX : TIMERS_MAX;
	unsigned int nr = 0, done, all = 0;

	ordinary_limits();
	b->impl->open(most);
	while (all < most) {
		nr = most - all < SAMPLE ? most - all : SAMPLE;
		done = b->impl->create(all, nr);
		all += done;
		if (done < nr)
			break;
	}
	if (all < most)
		printf("%s: stops at %u timers: %s\n", b->impl->name, all,
		       strerror(errno));
	else
		printf("%s: no limit met up to %u timers\n", b->impl->name, all);
	b->timers = all;
	row(b, "create", all < most ? "stops" : "no_limit", 1, "timers", all);
}
