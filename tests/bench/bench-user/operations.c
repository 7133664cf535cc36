// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of creating, arming, refreshing and stopping
 *
 * A sample is SAMPLE operations on random timers, or one batch if that is more.
 * Its arguments are laid out in advance. The figure is the median of the
 * samples, less the median of an empty loop, per operation. The median leaves
 * out the few samples that meet a timer interrupt. Creating is sampled while
 * the timers are created, and the last samples count, when almost all timers
 * exist.
 *
 * Timers wait in a range of deadlines that no run reaches. A refresh moves them
 * to a later range, and the next refresh to a still later one.
 */
#include "bench.h"

#define WAIT_NS		(2000 * SECOND)
#define RANGE_NS	(1000 * SECOND)

#define SAMPLES		17

static struct request requests[BATCH_MAX];

/* Picks @nr different timers, all equally likely. */
static void pick(struct bench *b, struct request *to, unsigned int nr,
		 uint64_t from_ns, uint64_t range_ns)
{
	unsigned int i, other;
	uint32_t id;

	for (i = 0; i < nr; i++) {
		other = i + random64() % (b->timers - i);
		id = b->order[other];
		b->order[other] = b->order[i];
		b->order[i] = id;
		to[i].id = id;
		to[i].delay_ns = from_ns + random64() % range_ns;
	}
}

static double timed(struct bench *b, enum operation op, unsigned int nr,
		    unsigned int batch)
{
	uint64_t begin = now_ns();

	b->impl->run(op, nr, batch);
	return now_ns() - begin;
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

/* Filling. */

/* The last samples of a phase of filling. */
struct recent {
	double ns[SAMPLES];
	unsigned int nr;
};

static void remember(struct recent *recent, double ns)
{
	recent->ns[recent->nr++ % SAMPLES] = ns;
}

static void report_create(struct bench *b, struct recent *recent,
			  unsigned int batch)
{
	unsigned int nr = recent->nr < SAMPLES ? recent->nr : SAMPLES;
	unsigned int calls = b->impl->batches ? SAMPLE / batch : SAMPLE;

	if (nr)
		row(b, "create", "uniform", batch,
		    (median(recent->ns, nr) - empty_loop(calls)) /
		    (batch > SAMPLE ? batch : SAMPLE));
}

static void arm_all(struct bench *b, unsigned int first, unsigned int nr,
		    unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		requests[i].id = first + i;
		requests[i].delay_ns = WAIT_NS + random64() % RANGE_NS;
	}
	b->impl->prepare(ARM, requests, nr, batch);
}

/* For implementations whose timers are created by arming them. */
static void fill_armed(struct bench *b, unsigned int first, unsigned int end,
		       unsigned int batch)
{
	unsigned int sample = batch > SAMPLE ? batch : SAMPLE;
	struct recent recent = {};
	double ns;

	while (first < end) {
		unsigned int nr = end - first < sample ? end - first : sample;

		arm_all(b, first, nr, batch);
		ns = timed(b, ARM, nr, batch);
		if (nr == sample)
			remember(&recent, ns);
		first += nr;
	}
	report_create(b, &recent, batch);
}

/* Fills in equal parts, one for each size of batch. */
static void fill_batches(struct bench *b)
{
	const unsigned int *batch;
	unsigned int parts = 0, part = 0;

	for (batch = b->impl->batches; *batch; batch++)
		parts++;
	for (batch = b->impl->batches; *batch; batch++, part++)
		fill_armed(b, (uint64_t)b->timers * part / parts,
			   (uint64_t)b->timers * (part + 1) / parts, *batch);
}

static void fill_created(struct bench *b)
{
	unsigned int nr, first = 0;
	struct recent recent = {};
	uint64_t begin, ns;

	for (; first < b->timers; first += nr) {
		nr = b->timers - first < SAMPLE ? b->timers - first : SAMPLE;
		begin = now_ns();
		b->impl->create(first, nr);
		ns = now_ns() - begin;
		if (nr == SAMPLE)
			remember(&recent, ns);
		arm_all(b, first, nr, 1);
		b->impl->run(ARM, nr, 1);
	}
	report_create(b, &recent, 1);
}

void fill(struct bench *b)
{
	if (b->impl->created_armed)
		fill_batches(b);
	else
		fill_created(b);
}

/* Arming, refreshing, stopping. */

struct samples {
	double ns[NR_OPERATIONS][SAMPLES];
	unsigned int nr;
};

static void sample_one(struct bench *b, struct samples *s, enum operation op,
		       unsigned int nr, unsigned int batch)
{
	b->impl->prepare(op, requests, nr, batch);
	s->ns[op][s->nr] = timed(b, op, nr, batch);
}

/* Refreshes some timers, stops others, and arms those again. */
static void sample(struct bench *b, struct samples *s, unsigned int nr,
		   unsigned int batch)
{
	static uint64_t later_ns = WAIT_NS;

	later_ns += RANGE_NS;
	pick(b, requests, nr, later_ns, RANGE_NS);
	sample_one(b, s, REFRESH, nr, batch);
	pick(b, requests, nr, WAIT_NS, RANGE_NS);
	sample_one(b, s, STOP, nr, batch);
	sample_one(b, s, ARM, nr, batch);
	s->nr++;
}

struct measuring {
	struct bench *b;
	unsigned int batch;
	unsigned int nr;
	struct samples samples;
};

static void take_samples(void *data)
{
	struct measuring *m = data;

	while (m->samples.nr < (m->b->quick ? 9 : SAMPLES))
		sample(m->b, &m->samples, m->nr, m->batch);
}

static void measure_batch(struct bench *b, unsigned int batch)
{
	struct measuring m = { .b = b, .batch = batch };
	unsigned int op;
	double loop;

	m.nr = batch > SAMPLE ? batch : SAMPLE;
	if (batch > b->timers)
		return;
	if (b->impl->inside)
		b->impl->inside(take_samples, &m);
	else
		take_samples(&m);
	loop = empty_loop(m.nr / batch);
	for (op = ARM; op < NR_OPERATIONS; op++)
		row(b, operation_names[op], "uniform", batch,
		    (median(m.samples.ns[op], m.samples.nr) - loop) / m.nr);
}

void measure_operations(struct bench *b)
{
	const unsigned int *batch;

	for (batch = b->impl->batches ?: one_by_one; *batch; batch++)
		measure_batch(b, *batch);
}
