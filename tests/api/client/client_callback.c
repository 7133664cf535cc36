// SPDX-License-Identifier: GPL-2.0
/*
 * Callbacks, work for the end of a tick, and callers in hard interrupt context
 */
#include <linux/preempt.h>
#include <linux/slab.h>

#include "client.h"

/* Callbacks that free their own timer. */

static void free_callback(struct client_timer *t)
{
	struct completion *freed = t->data;

	twheel_timer_destroy(&t->timer);
	memset(t, 0x6b, sizeof(*t));
	kfree(t);
	complete(freed);
}

static void callback_frees_its_timer(struct client *c, struct client_timer *t)
{
	u64 delay = client_delay(c, 5);
	struct client_timer *own;
	int i;

	for (i = 0; i < 16; i++) {
		own = kmalloc(sizeof(*own), GFP_KERNEL | __GFP_NOFAIL);
		client_timer_init(c, own, free_callback);
		own->data = &t->done;
		/* client_start() would write to @own after the start, when it may be freed. */
		own->not_before = client_in(delay);
		twheel_start(&own->timer, delay);
	}
	for (i = 0; i < 16; i++)
		wait_for_completion(&t->done);
}

/* Work for the end of a tick. */

#define TAIL_NR	4

static struct {
	struct twheel_tick_end end;
	atomic_t callbacks;
	int runs;
	int seen;
	struct completion done;
} tail;

static void tail_fn(struct twheel_tick_end *end)
{
	tail.runs++;
	tail.seen = atomic_read(&tail.callbacks);
	if (tail.seen >= TAIL_NR)
		complete(&tail.done);
}

static void tail_callback(struct client_timer *t)
{
	atomic_inc(&tail.callbacks);
	twheel_at_tick_end(&t->timer, &tail.end);
	complete(&t->done);
}

static void tail_runs_once_after_the_callbacks(struct client *c, struct client_timer *t)
{
	ktime_t deadline = client_in(client_delay(c, 20));
	int i;

	memset(&tail, 0, sizeof(tail));
	tail.end.fn = tail_fn;
	init_completion(&tail.done);
	for (i = 0; i < TAIL_NR; i++)
		client_start_at(&t[i], deadline);
	if (ktime_after(ktime_get(), deadline))
		c->slow = true;
	for (i = 0; i < TAIL_NR; i++)
		client_wait(&t[i]);
	client_wait_done(c, &tail.done);
	/* A run that takes too long is split into several, each with its own end. */
	CLIENT_CHECK(c, tail.runs <= (c->exact ? 1 : TAIL_NR));
	CLIENT_CHECK(c, tail.seen == TAIL_NR);
}

/* Callers in hard interrupt context. */

static int start_in_hardirq(struct client_timer *t)
{
	return in_hardirq() ? client_start(t, 3 * t->client->config.tick_ns) : -EPERM;
}

static int stop_in_hardirq(struct client_timer *t)
{
	return twheel_stop(&t->timer);
}

static void hardirq_starts_and_stops(struct client *c, struct client_timer *t)
{
	CLIENT_CHECK(c, client_in_hardirq(start_in_hardirq, t) == 0);
	client_wait_once(t);
	client_start(t, CLIENT_HOUR);
	CLIENT_CHECK(c, client_in_hardirq(stop_in_hardirq, t) == 1);
	CLIENT_CHECK(c, !twheel_pending(&t->timer));
	CLIENT_CHECK(c, t->count == 1);
}

const struct client_case client_callback_cases[] = {
	CLIENT_CASE(callback_frees_its_timer),
	CLIENT_CASE(tail_runs_once_after_the_callbacks, .then = tail_callback, .nr = TAIL_NR),
	CLIENT_CASE(hardirq_starts_and_stops),
	{}
};
