// SPDX-License-Identifier: GPL-2.0
/*
 * A binary heap in the program. An expiry leaves the heap
 */
#include "../heap.h"
#include "bench.h"

static struct entry args[BATCH_MAX];

static void heap_open(unsigned int timers)
{
	heap = allocate(timers + EXTRA, sizeof(*heap));
	places = allocate(timers + EXTRA, sizeof(*places));
}

static void heap_prepare(enum operation op, const struct request *requests,
			 unsigned int nr, unsigned int batch)
{
	uint64_t now = now_ns();
	unsigned int i;

	for (i = 0; i < nr; i++) {
		args[i].id = requests[i].id;
		args[i].deadline_ns = now + requests[i].delay_ns;
	}
	(void)op;
	(void)batch;
}

static void heap_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (op == ARM)
			settle(pending++, args[i]);
		else if (op == REFRESH)
			settle(places[args[i].id], args[i]);
		else
			take(places[args[i].id]);
	}
	(void)batch;
}

static unsigned int heap_collect(unsigned int nr, unsigned int batch)
{
	unsigned int done = 0;
	uint64_t now;

	while (done < nr) {
		now = now_ns();
		while (done < nr && pending && heap[0].deadline_ns <= now) {
			take(0);
			done++;
		}
	}
	(void)batch;
	return done;
}

static const unsigned int any_number[] = { EXTRA, 0 };

const struct impl impl_heap = {
	.name		= "heap",
	.batches	= one_by_one,
	.reads		= any_number,
	.in_process	= true,
	.created_armed	= true,
	.open		= heap_open,
	.prepare	= heap_prepare,
	.run		= heap_run,
	.collect	= heap_collect,
};
