// SPDX-License-Identifier: GPL-2.0
/*
 * A queue for each length of timeout
 *
 * All timers in a queue have one length, so the first timer is due first, and a refresh moves a
 * timer to the end. libevent calls such lengths "common timeouts". The loop looks at the first
 * timer of each queue, which is slow for many lengths.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/queue.h>

#include "replay.h"

#define QUEUES	8

struct timer {
	TAILQ_ENTRY(timer) entry;
	uint64_t deadline_ns;
	struct queue *queue;
};

TAILQ_HEAD(list, timer);

static struct queue {
	uint64_t length_ns;
	struct list timers;
} queues[QUEUES];

static unsigned int nr_queues;
static struct timer *timers;

void adapter_open(unsigned int connections)
{
	timers = allocate(connections, sizeof(*timers));
}

static struct queue *find(uint64_t length_ns)
{
	unsigned int i;

	for (i = 0; i < nr_queues; i++)
		if (queues[i].length_ns == length_ns)
			return &queues[i];
	if (nr_queues == QUEUES) {
		errno = EINVAL;
		err(1, "lengths of timeouts");
	}
	queues[nr_queues].length_ns = length_ns;
	TAILQ_INIT(&queues[nr_queues].timers);
	return &queues[nr_queues++];
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	struct timer *timer = &timers[connection];

	timer->deadline_ns = deadline_ns;
	timer->queue = find(deadline_ns - replay_now());
	TAILQ_INSERT_TAIL(&timer->queue->timers, timer, entry);
}

void adapter_stop(unsigned int connection)
{
	struct timer *timer = &timers[connection];

	TAILQ_REMOVE(&timer->queue->timers, timer, entry);
}

void adapter_refresh(unsigned int connection, uint64_t deadline_ns)
{
	adapter_stop(connection);
	adapter_start(connection, deadline_ns);
}

uint64_t adapter_first(void)
{
	uint64_t deadline = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < nr_queues; i++) {
		const struct timer *timer = TAILQ_FIRST(&queues[i].timers);

		if (timer && timer->deadline_ns < deadline)
			deadline = timer->deadline_ns;
	}
	return deadline;
}

void adapter_expire(uint64_t now)
{
	struct timer *timer;
	unsigned int i;

	for (i = 0; i < nr_queues; i++)
		while ((timer = TAILQ_FIRST(&queues[i].timers)) && timer->deadline_ns <= now) {
			TAILQ_REMOVE(&queues[i].timers, timer, entry);
			replay_expired(timer - timers);
		}
}
