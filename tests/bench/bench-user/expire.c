// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of letting timers expire and of collecting the expiries
 *
 * While the other timers wait, EXTRA timers are armed for times within 10 ms of
 * each other. There are two figures per expiry:
 *
 *   collect	the calls that collect, made when all have expired
 *   whole	these calls, and the time that expiring took from the program
 *		before: a loop loses it to interrupts
 */
#include <time.h>

#include "bench.h"

#define SPREAD_NS	(10 * MS)
#define MARGIN_NS	(5 * MS)
#define SAMPLES		5

struct expiry {
	struct bench *b;
	unsigned int nr;
	unsigned int batch;
	uint64_t arming_ns;
	bool spin;
	double collect_ns;
	double lost_ns;
};

static struct request requests[EXTRA];

static uint64_t loops(uint64_t ns)
{
	uint64_t end = now_ns() + ns, nr = 0;

	while (now_ns() < end)
		nr++;
	return nr;
}

static void rest(uint64_t ns)
{
	struct timespec ts = { ns / SECOND, ns % SECOND };

	/* An interrupted sleep goes on with the rest. */
	while (nanosleep(&ts, &ts))
		;
}

static void arm(struct expiry *e, uint64_t delay_ns)
{
	const struct impl *impl = e->b->impl;
	uint64_t begin;
	unsigned int i;

	for (i = 0; i < e->nr; i++) {
		requests[i].id = e->b->timers + i;
		requests[i].delay_ns = delay_ns + random64() % SPREAD_NS;
	}
	begin = now_ns();
	impl->prepare(ARM, requests, e->nr, large_batch(impl));
	impl->run(ARM, e->nr, large_batch(impl));
	e->arming_ns = now_ns() - begin;
}

/* One sample. No timer expires before all are armed and the wait begins. */
static void sample(struct expiry *e)
{
	uint64_t delay = 2 * e->arming_ns + MARGIN_NS;
	uint64_t wait = delay + SPREAD_NS + 2 * MARGIN_NS;
	uint64_t free = e->spin ? loops(wait) : 0;
	uint64_t begin;

	arm(e, delay);
	if (e->spin)
		e->lost_ns = (1 - (double)loops(wait) / free) * wait;
	else
		rest(wait);
	begin = now_ns();
	e->b->impl->collect(e->nr, e->batch);
	e->collect_ns = now_ns() - begin;
}

static void measure_batch(struct expiry *e)
{
	double ns[SAMPLES];
	unsigned int i;

	for (i = 0; i < SAMPLES; i++) {
		sample(e);
		ns[i] = e->collect_ns;
	}
	row(e->b, "expire", "collect", e->batch,
	    median(ns, SAMPLES) / e->nr);
}

static void measure_whole(struct expiry *e)
{
	double ns[SAMPLES];
	unsigned int i;

	e->spin = true;
	for (i = 0; i < SAMPLES; i++) {
		sample(e);
		ns[i] = e->collect_ns + e->lost_ns;
	}
	e->spin = false;
	row(e->b, "expire", "whole", e->batch, median(ns, SAMPLES) / e->nr);
}

void measure_expiry(struct bench *b)
{
	struct expiry e = { .b = b, .nr = EXTRA, .arming_ns = 100 * MS };
	const unsigned int *batch;

	if (!b->impl->created_armed)
		b->impl->create(b->timers, EXTRA);
	/* The first sample only shows how long arming takes. */
	e.batch = b->impl->reads[0];
	sample(&e);
	for (batch = b->impl->reads; *batch; batch++) {
		e.batch = *batch;
		measure_batch(&e);
		if (*batch == SAMPLE || !b->impl->reads[1])
			measure_whole(&e);
	}
}
