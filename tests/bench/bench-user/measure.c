// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of the operations and of the lives of timers
 *
 * A sample is SAMPLE operations on random timers, whose arguments are prepared in advance. The
 * figure is the median of the samples, less the median of an empty loop, per operation. The
 * median leaves out the few samples that are interrupted by a timer interrupt.
 *
 * The timers wait for deadlines in a range that no run reaches. A refresh moves a timer to a
 * later range, and the next refresh to a still later one.
 *
 * While these timers wait, EXTRA other timers live: each is armed, refreshed a number of times, and
 * expires. Figures are per timer. Each figure is the median of several lives, because the ticks
 * fall differently in each life:
 *
 *   expire collect  the calls that collect, made after all timers expired
 *   expire whole    these calls, and the time that the expiries took from the program before
 *                   the calls: a busy loop measures the time that it loses to interrupts
 *   timeout N       the calls that arm, the calls that refresh N times, and "expire whole"
 *
 * The refreshes come before the first deadline and set later deadlines, so that each timer has to
 * be moved once. Calls are as large as the implementation can make them, up to 256.
 */
#include <stdio.h>

#include "bench.h"

#define WAIT_NS		(2000 * SECOND)
#define RANGE_NS	(1000 * SECOND)

#define SAMPLES		17

#define SPREAD_NS	(10 * MS)
#define MARGIN_NS	(5 * MS)
#define QUIET_NS	(20 * MS)
/* Number of lives of which the median is taken. */
#define LIVES		9
/* Number of timers whose calls are timed first, to estimate a life. They never expire. */
#define TRIED		64
#define NEVER_NS	(1000000 * SECOND)

static struct request requests[EXTRA];

/* Returns the time of calls that make @batch requests each, without the time to prepare them. */
static uint64_t run_requests(const struct impl *impl, enum operation op, unsigned int nr,
			     unsigned int batch)
{
	uint64_t begin = now_ns();
	unsigned int i;

	for (i = 0; i < nr; i++) {
		requests[i].deadline_ns = begin + requests[i].delay_ns;
		impl->prepare(op, i, &requests[i]);
	}
	begin = now_ns();
	impl->run(op, nr, batch);
	return now_ns() - begin;
}

/* Pick different timers for a sample, each with the same probability. */
static void pick(struct bench *b, uint64_t from_ns)
{
	unsigned int i, other;
	uint32_t id;

	for (i = 0; i < SAMPLE; i++) {
		other = i + random64() % (b->timers - i);
		id = b->order[other];
		b->order[other] = b->order[i];
		b->order[i] = id;
		requests[i].id = id;
		requests[i].delay_ns = from_ns + random64() % RANGE_NS;
	}
}

/* Measure the loop that surrounds the calls in each run(), with an empty body. */
static double empty_loop(unsigned int nr)
{
	double samples[SAMPLES];
	uint64_t begin;
	unsigned int i, k;

	for (k = 0; k < SAMPLES; k++) {
		begin = now_ns();
		for (i = 0; i < nr; i++)
			__asm__ volatile("" : : "r" (i));
		samples[k] = now_ns() - begin;
	}
	return median(samples, SAMPLES);
}

/* Create the timers one after the other, and arm them. */
static void fill(struct bench *b)
{
	unsigned int batch = large_batch(b->impl), first, nr, i;

	for (first = 0; first < b->timers; first += nr) {
		nr = b->timers - first < SAMPLE ? b->timers - first : SAMPLE;
		for (i = 0; i < nr; i++) {
			requests[i].id = first + i;
			requests[i].delay_ns = WAIT_NS + random64() % RANGE_NS;
		}
		if (b->impl->create)
			b->impl->create(first, nr);
		run_requests(b->impl, ARM, nr, batch);
	}
}

struct measuring {
	struct bench *b;
	unsigned int batch;
	unsigned int nr;
	double ns[NR_OPERATIONS][SAMPLES];
};

static void sample_one(struct measuring *m, enum operation op)
{
	m->ns[op][m->nr] = run_requests(m->b->impl, op, SAMPLE, m->batch);
}

/* Measure the operations: refresh some timers, stop other timers, and arm these again. */
static void take_samples(void *data)
{
	static uint64_t later_ns = WAIT_NS;
	struct measuring *m = data;

	for (; m->nr < (m->b->quick ? 9 : SAMPLES); m->nr++) {
		later_ns += RANGE_NS;
		pick(m->b, later_ns);
		sample_one(m, REFRESH);
		pick(m->b, WAIT_NS);
		sample_one(m, STOP);
		sample_one(m, ARM);
	}
}

static void measure_batch(struct bench *b, unsigned int batch)
{
	static const char * const names[NR_OPERATIONS] = {
		[ARM] = "arm", [REFRESH] = "refresh", [STOP] = "stop",
	};
	struct measuring m = { .b = b, .batch = batch };
	unsigned int op;
	double loop;

	if (b->impl->inside)
		b->impl->inside(take_samples, &m);
	else
		take_samples(&m);
	loop = empty_loop(SAMPLE / batch);
	for (op = 0; op < NR_OPERATIONS; op++)
		row(b, names[op], "uniform", batch, (median(m.ns[op], m.nr) - loop) / SAMPLE);
}

void measure_operations(struct bench *b)
{
	unsigned int i;

	b->order = allocate(b->timers, sizeof(*b->order));
	for (i = 0; i < b->timers; i++)
		b->order[i] = i;
	fill(b);
	measure_batch(b, 1);
	if (b->impl->batches)
		measure_batch(b, SAMPLE);
}

enum figure { COLLECT, EXPIRE, WHOLE, NR_FIGURES };

/**
 * struct life - a measurement of lives
 * @b: the run
 * @refreshes: number of refreshes of each timer
 * @batch: number of timers to arm or refresh in each call
 * @room: limit of expiries collected in a call
 * @arm_ns: time to arm all timers
 * @refresh_ns: time to refresh all timers once
 */
struct life {
	struct bench *b;
	unsigned int refreshes;
	unsigned int batch;
	unsigned int room;
	uint64_t arm_ns;
	uint64_t refresh_ns;
};

static uint64_t loops(uint64_t end)
{
	uint64_t nr = 0;

	while (now_ns() < end)
		nr++;
	return nr;
}

/* Do @op with @nr timers of the measurement. Returns the time of the calls. */
static uint64_t run(const struct life *l, enum operation op, unsigned int nr, uint64_t from_ns)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		requests[i].id = l->b->timers + i;
		requests[i].delay_ns = from_ns + random64() % SPREAD_NS;
	}
	return run_requests(l->b->impl, op, nr, l->batch);
}

/* Let all timers live once, and store each figure in @ns. */
static void live(const struct life *l, double *ns)
{
	/*
	 * Time until the first deadline: the calls must be over by then. Double their time,
	 * because preparing arguments takes time, too.
	 */
	uint64_t wait_ns = 2 * l->arm_ns + 2 * l->refreshes * l->refresh_ns +
			   (l->refreshes + 1) * MS + QUIET_NS + MARGIN_NS;
	uint64_t begin = now_ns(), calls_ns, end, free, nr;
	unsigned int i;

	calls_ns = run(l, ARM, EXTRA, wait_ns);
	for (i = 0; i < l->refreshes; i++)
		calls_ns += run(l, REFRESH, EXTRA, wait_ns + SPREAD_NS);
	/* Measure the speed of the loop while nothing expires. */
	free = loops(now_ns() + QUIET_NS);
	if (now_ns() > begin + wait_ns)
		printf("%s: %u refreshes: no time left\n", l->b->impl->name, l->refreshes);
	begin = now_ns();
	end = begin + wait_ns + 2 * SPREAD_NS + MARGIN_NS;
	nr = loops(end);
	ns[EXPIRE] = (end - begin) - (double)nr * QUIET_NS / free;
	begin = now_ns();
	l->b->impl->collect(EXTRA, l->room);
	ns[COLLECT] = now_ns() - begin;
	ns[EXPIRE] += ns[COLLECT];
	ns[WHOLE] = ns[EXPIRE] + calls_ns;
}

static double measure(const struct life *l, enum figure figure)
{
	double all[NR_FIGURES], ns[LIVES];
	unsigned int i;

	for (i = 0; i < LIVES; i++) {
		live(l, all);
		ns[i] = all[figure] / EXTRA;
	}
	return median(ns, LIVES);
}

static void try(struct life *l)
{
	l->arm_ns = run(l, ARM, TRIED, NEVER_NS) * EXTRA / TRIED;
	l->refresh_ns = run(l, REFRESH, TRIED, NEVER_NS) * EXTRA / TRIED;
	run(l, STOP, TRIED, NEVER_NS);
}

void measure_lives(struct bench *b)
{
	static const unsigned int refreshes[] = { 0, 10, 100 };
	struct life l = { .b = b, .batch = large_batch(b->impl) };
	const unsigned int *room;
	unsigned int i;
	char name[16];

	if (b->impl->create)
		b->impl->create(b->timers, EXTRA);
	try(&l);
	for (room = b->impl->reads; *room; room++) {
		l.room = *room;
		row(b, "expire", "collect", l.room, measure(&l, COLLECT));
	}
	/* This row collects as many expiries per call as the implementation can. */
	row(b, "expire", "whole", l.room, measure(&l, EXPIRE));
	for (i = 0; i < sizeof(refreshes) / sizeof(refreshes[0]); i++) {
		l.refreshes = refreshes[i];
		snprintf(name, sizeof(name), "%u", l.refreshes);
		row(b, "timeout", name, l.batch, measure(&l, WHOLE));
	}
}
