// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a timeout that is pushed back some times before it expires
 *
 * EXTRA timers are armed, refreshed 0, 1, 10 or 100 times each, and expire. All
 * of the work counts: the calls that arm, refresh and collect, and the time
 * that expiring takes from a program that goes round in a loop. The refreshes
 * come before the first deadline, and are for later ones, so that each timer
 * has to be moved once. Calls are as large as the implementation can make them,
 * up to 256. The figure is the median of some lives, as the ticks of each lie
 * differently.
 */
#include <stdio.h>

#include "bench.h"

#define SPREAD_NS	(10 * MS)
#define MARGIN_NS	(5 * MS)
/* Lives to take the median of. */
#define LIVES		9
/* As many are tried first, at times that never come. */
#define TRIED		64
#define NEVER_NS	(1000000 * SECOND)

/**
 * struct timeout - a measurement
 * @b: the run
 * @refreshes: how often each timer is refreshed
 * @batch: timers to a call that arms or refreshes
 * @room: expiries to a call that collects
 * @arm_ns: how long it takes to arm all
 * @refresh_ns: how long it takes to refresh all once
 * @wait_ns: time until the first deadline
 * @whole_ns: what all of it took
 */
struct timeout {
	struct bench *b;
	unsigned int refreshes;
	unsigned int batch;
	unsigned int room;
	uint64_t arm_ns;
	uint64_t refresh_ns;
	uint64_t wait_ns;
	double whole_ns;
};

static struct request requests[EXTRA];

static uint64_t loops(uint64_t end)
{
	uint64_t nr = 0;

	while (now_ns() < end)
		nr++;
	return nr;
}

/* Returns how long @nr calls took, without what prepares them. */
static uint64_t run(const struct timeout *t, enum operation op,
		    unsigned int nr, uint64_t from_ns)
{
	const struct impl *impl = t->b->impl;
	uint64_t begin;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		requests[i].id = t->b->timers + i;
		requests[i].delay_ns = from_ns + random64() % SPREAD_NS;
	}
	impl->prepare(op, requests, nr, t->batch);
	begin = now_ns();
	impl->run(op, nr, t->batch);
	return now_ns() - begin;
}

/* One life of all timers, which begin to expire after @t->wait_ns. */
static void live(struct timeout *t)
{
	const struct impl *impl = t->b->impl;
	uint64_t begin = now_ns(), calls_ns, quiet, end, free, nr;
	unsigned int i;

	calls_ns = run(t, ARM, EXTRA, t->wait_ns);
	for (i = 0; i < t->refreshes; i++)
		calls_ns += run(t, REFRESH, EXTRA, t->wait_ns + SPREAD_NS);
	/* How fast the loop is while nothing expires. */
	quiet = now_ns();
	free = loops(quiet + t->wait_ns / 4);
	quiet = now_ns() - quiet;
	if (now_ns() > begin + t->wait_ns)
		printf("%s: %u refreshes: no time left\n", impl->name,
		       t->refreshes);
	begin = now_ns();
	end = begin + t->wait_ns + 2 * SPREAD_NS + MARGIN_NS;
	nr = loops(end);
	t->whole_ns = calls_ns + (end - begin) - (double)nr * quiet / free;
	begin = now_ns();
	impl->collect(EXTRA, t->room);
	t->whole_ns += now_ns() - begin;
}

static void try(struct timeout *t)
{
	t->arm_ns = run(t, ARM, TRIED, NEVER_NS) * EXTRA / TRIED;
	t->refresh_ns = run(t, REFRESH, TRIED, NEVER_NS) * EXTRA / TRIED;
	run(t, STOP, TRIED, NEVER_NS);
}

static void measure(struct timeout *t)
{
	double ns[LIVES];
	unsigned int i;
	char name[16];

	for (i = 0; i < LIVES; i++) {
		live(t);
		ns[i] = t->whole_ns / EXTRA;
	}
	snprintf(name, sizeof(name), "%u", t->refreshes);
	row(t->b, "timeout", name, t->batch, median(ns, LIVES));
}

void measure_timeout(struct bench *b)
{
	static const unsigned int refreshes[] = { 0, 1, 10, 100 };
	struct timeout t = {
		.b = b,
		.batch = large_batch(b->impl),
		.room = b->impl->reads[1] ? SAMPLE : 1,
	};
	unsigned int i;

	try(&t);
	for (i = 0; i < sizeof(refreshes) / sizeof(refreshes[0]); i++) {
		t.refreshes = refreshes[i];
		/* Twice that, as arguments are prepared as well. */
		t.wait_ns = 2 * t.arm_ns + MARGIN_NS +
			    (t.refreshes + 1) * MS + 2 * t.refreshes * t.refresh_ns;
		measure(&t);
	}
}
