// SPDX-License-Identifier: GPL-2.0
/*
 * A binary heap in the program
 *
 * The loop waits for the first deadline, by epoll_pwait2(2), whose timeout has nanoseconds.
 */
#include "../heap.h"
#include "loop.h"
#include "replay.h"

static void open_heap(unsigned int connections)
{
	heap = allocate(connections, sizeof(*heap));
	places = allocate(connections, sizeof(*places));
}

static void start(unsigned int connection, uint64_t deadline_ns)
{
	uint32_t last = pending++;

	settle(last, (struct entry) { deadline_ns, connection });
}

static void refresh(unsigned int connection, uint64_t deadline_ns)
{
	settle(places[connection], (struct entry) { deadline_ns, connection });
}

static void stop(unsigned int connection)
{
	take(places[connection]);
}

static uint64_t first(void)
{
	return pending ? heap[0].deadline_ns : UINT64_MAX;
}

static void expire(uint64_t now)
{
	while (pending && heap[0].deadline_ns <= now) {
		unsigned int connection = heap[0].id;

		stop(connection);
		replay_expired(connection);
	}
}

static void loop(void)
{
	loop_with_timeout(first, expire);
}

const struct adapter adapter = {
	.open		= open_heap,
	.start		= start,
	.refresh	= refresh,
	.stop		= stop,
	.loop		= loop,
};
