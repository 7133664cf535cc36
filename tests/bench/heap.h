/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A binary heap of deadlines in an array, as a program may have one of its own
 *
 * It is no more than that: no callbacks, no queue of events, no checks.
 */
#include <stdint.h>

struct entry {
	uint64_t deadline_ns;
	uint32_t id;
};

static struct entry *heap;
static uint32_t *places;	/* by id */
static uint32_t pending;

static void put(uint32_t place, struct entry entry)
{
	heap[place] = entry;
	places[entry.id] = place;
}

/* Put @entry at @place, or above or below it. */
static void settle(uint32_t place, struct entry entry)
{
	uint32_t child, parent;

	for (; place; place = parent) {
		parent = (place - 1) / 2;
		if (heap[parent].deadline_ns <= entry.deadline_ns)
			break;
		put(place, heap[parent]);
	}
	for (; (child = 2 * place + 1) < pending; place = child) {
		if (child + 1 < pending &&
		    heap[child + 1].deadline_ns < heap[child].deadline_ns)
			child++;
		if (entry.deadline_ns <= heap[child].deadline_ns)
			break;
		put(place, heap[child]);
	}
	put(place, entry);
}

static void take(uint32_t place)
{
	struct entry last = heap[--pending];

	if (place < pending)
		settle(place, last);
}
