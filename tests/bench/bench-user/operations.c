// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of arming, refreshing and stopping
 *
 * A sample is SAMPLE operations on random timers. Its arguments are laid out in
 * advance. The figure is the median of the samples, less the median of an empty
 * loop, per operation. The median leaves out the few samples that meet a timer
 * interrupt.
 *
 * Timers wait in a range of deadlines that no run reaches. A refresh moves them
 * to a later range, and the next refresh to a still later one.
 */
#include "bench.h"

#define WAIT_NS		(2000 * SECOND)
#define RANGE_NS	(1000 * SECOND)

#define SAMPLES		17

static struct request requests[SAMPLE];

/* Picks different timers for a sample, all equally likely. */
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

/* The loop of every run(), around nothing. */
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

/* Creates the timers one after the other, and arms them. */
void fill(struct bench *b)
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
		b->impl->prepare(ARM, requests, nr, batch);
		b->impl->run(ARM, nr, batch);
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
	const struct impl *impl = m->b->impl;
	uint64_t begin;

	impl->prepare(op, requests, SAMPLE, m->batch);
	begin = now_ns();
	impl->run(op, SAMPLE, m->batch);
	m->ns[op][m->nr] = now_ns() - begin;
}

/* Refreshes some timers, stops others, and arms those again. */
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
	measure_batch(b, 1);
	if (b->impl->batches)
		measure_batch(b, SAMPLE);
}
