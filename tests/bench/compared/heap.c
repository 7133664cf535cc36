// SPDX-License-Identifier: GPL-2.0
/*
 * A heap in the program, binary or with ARITY children
 *
 * It is only an array: no callbacks, no queue of events, no checks. The loop waits for
 * the first deadline, by epoll_pwait2(2), whose timeout has nanoseconds.
 */
#include "replay.h"

#ifndef ARITY
#define ARITY	2
#endif

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

/* Put @entry at @place, or above or below @place if the order of the heap needs that. */
static void settle(uint32_t place, struct entry entry)
{
	uint32_t child, parent, end, i;

	for (; place; place = parent) {
		parent = (place - 1) / ARITY;
		if (heap[parent].deadline_ns <= entry.deadline_ns)
			break;
		put(place, heap[parent]);
	}
	for (; (child = ARITY * place + 1) < pending; place = child) {
		end = child + ARITY;
		if (end > pending)
			end = pending;
		for (i = child + 1; i < end; i++)
			if (heap[i].deadline_ns < heap[child].deadline_ns)
				child = i;
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

void adapter_open(unsigned int connections)
{
	heap = allocate(connections, sizeof(*heap));
	places = allocate(connections, sizeof(*places));
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	uint32_t last = pending++;

	settle(last, (struct entry) { deadline_ns, connection });
}

void adapter_refresh(unsigned int connection, uint64_t deadline_ns)
{
	settle(places[connection], (struct entry) { deadline_ns, connection });
}

void adapter_stop(unsigned int connection)
{
	take(places[connection]);
}

uint64_t adapter_first(void)
{
	return pending ? heap[0].deadline_ns : UINT64_MAX;
}

void adapter_expire(uint64_t now)
{
	while (pending && heap[0].deadline_ns <= now) {
		unsigned int connection = heap[0].id;

		adapter_stop(connection);
		replay_expired(connection);
	}
}
