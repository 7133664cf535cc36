// SPDX-License-Identifier: GPL-2.0
/*
 * Callbacks: their context, periodic timers, work for the end of a tick, and callers in hard
 * interrupt context
 */
#include <linux/delay.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "client.h"

/* Context. */

static void note_context(struct client_timer *t)
{
	t->result = IS_ENABLED(CONFIG_PREEMPT_RT) ?
		    !in_hardirq() : in_serving_softirq();
	complete(&t->done);
}

static void callback_runs_in_softirq(struct client *c, struct client_timer *t)
{
	client_start(t, client_delay(c, 5));
	client_wait(t);
	CLIENT_CHECK(c, t->result);
	CLIENT_CHECK(c, t->cpu == raw_smp_processor_id());
}

/* Freeing its own timer. */

struct client_free {
	struct client_timer t;
	struct completion *freed;
};

static void free_callback(struct client_timer *t)
{
	struct client_free *f = container_of(t, struct client_free, t);
	struct completion *freed = f->freed;

	twheel_timer_destroy(&t->timer);
	memset(f, 0x6b, sizeof(*f));
	kfree(f);
	complete(freed);
}

static void callback_frees_its_timer(struct client *c)
{
	DECLARE_COMPLETION_ONSTACK(freed);
	u64 delay = client_delay(c, 5);
	struct client_free *f;
	int i;

	for (i = 0; i < 16; i++) {
		f = kmalloc(sizeof(*f), GFP_KERNEL);
		if (!CLIENT_CHECK(c, f))
			return;
		client_timer_init(c, &f->t, free_callback);
		f->freed = &freed;
		/* Not client_start(): it writes to @f after the start. */
		f->t.not_before = client_in(delay);
		twheel_start(&f->t.timer, delay);
	}
	for (i = 0; i < 16; i++)
		wait_for_completion(&freed);
}

/* An expired timer is not pending, even if its link is in use. */

static struct list_head *client_expired;

static void link_callback(struct client_timer *t)
{
	u64 tick_ns = t->client->config.tick_ns, deadline = t->not_before;

	t->result = twheel_expired_deadline(&t->timer, tick_ns) == deadline &&
		    twheel_due_time(&t->timer, tick_ns) ==
		    DIV_ROUND_UP_ULL(deadline, tick_ns) * tick_ns;
	t->timer.node.link.prev = client_expired;
	client_expired = &t->timer.node.link;
	complete(&t->done);
}

static void expired_timers_may_be_linked(struct client *c, struct client_timer *t)
{
	int i;

	for (i = 0; i < 5; i++) {
		client_start_at(t, client_in(client_delay(c, 5) + i * 4321));
		client_wait(t);
		CLIENT_CHECK(c, t->result);
		CLIENT_CHECK(c, client_expired == &t->timer.node.link);
		CLIENT_CHECK(c, !twheel_pending(&t->timer));
		CLIENT_CHECK(c, twheel_stop(&t->timer) == 0);
		client_expired = t->timer.node.link.prev;
	}
}

/* Periodic timers. */

#define PERIODS	20

static void forward_callback(struct client_timer *t)
{
	u64 period = t->client->config.tick_ns * 3 / 2;
	u64 periods = twheel_forward(&t->timer, period);

	if (!periods)
		t->result = -ERANGE;
	WRITE_ONCE(t->not_before,
		   ktime_add_ns(t->not_before, periods * period));
	if (t->count == PERIODS) {
		twheel_stop(&t->timer);
		complete(&t->done);
	}
}

/* client_expire() checks the grid, too: a callback before its period is early. */
static void forward_keeps_to_the_grid(struct client *c, struct client_timer *t)
{
	ktime_t first = client_in(client_delay(c, 5));

	client_start_at(t, first);
	client_wait(t);
	CLIENT_CHECK(c, t->count == PERIODS);
	CLIENT_CHECK(c, t->result == 0);
	CLIENT_CHECK(c, twheel_deadline(&t->timer) == t->not_before);
}

static void forward_by_a_huge_period_never_expires(struct client *c, struct client_timer *t)
{
	client_start(t, 0);
	client_wait(t);
	CLIENT_CHECK(c, twheel_forward(&t->timer, U64_MAX) == 1);
	CLIENT_CHECK(c, twheel_remaining(&t->timer) > CLIENT_HOUR);
	client_sleep(5 * c->config.tick_ns);
	CLIENT_CHECK(c, twheel_stop(&t->timer) == 1);
	CLIENT_CHECK(c, t->count == 1);
}

/* Tails. */

#define TAIL_NR	4

struct client_tail {
	struct twheel_tick_end tail;
	atomic_t callbacks;
	int runs;
	int seen;
	struct completion done;
};

struct client_tail_timer {
	struct client_timer t;
	struct client_tail *tail;
};

static void tail_fn(struct twheel_tick_end *tail)
{
	struct client_tail *ct = container_of(tail, struct client_tail, tail);

	ct->runs++;
	ct->seen = atomic_read(&ct->callbacks);
	if (ct->seen >= TAIL_NR)
		complete(&ct->done);
}

static void tail_callback(struct client_timer *t)
{
	struct client_tail_timer *tt = container_of(t, struct client_tail_timer, t);

	atomic_inc(&tt->tail->callbacks);
	twheel_at_tick_end(&t->timer, &tt->tail->tail);
	complete(&t->done);
}

static struct client_tail_timer *tail_timers_new(struct client *c,
						 struct client_tail *tail)
{
	struct client_tail_timer *timers;
	int i;

	timers = kcalloc(TAIL_NR, sizeof(*timers), GFP_KERNEL);
	if (!CLIENT_CHECK(c, timers))
		return NULL;
	memset(tail, 0, sizeof(*tail));
	tail->tail.fn = tail_fn;
	init_completion(&tail->done);
	for (i = 0; i < TAIL_NR; i++) {
		client_timer_init(c, &timers[i].t, tail_callback);
		timers[i].tail = tail;
	}
	return timers;
}

static void tail_timers_wait_and_free(struct client *c,
				      struct client_tail_timer *timers,
				      struct client_tail *tail)
{
	int i;

	for (i = 0; i < TAIL_NR; i++)
		client_wait(&timers[i].t);
	client_wait_done(c, &tail->done);
	for (i = 0; i < TAIL_NR; i++) {
		twheel_shutdown_sync(&timers[i].t.timer);
		twheel_timer_destroy(&timers[i].t.timer);
	}
	kfree(timers);
}

static void tail_runs_once_after_the_callbacks(struct client *c)
{
	struct client_tail tail;
	struct client_tail_timer *timers = tail_timers_new(c, &tail);
	ktime_t deadline = client_in(client_delay(c, 20));
	int i;

	if (!timers)
		return;
	for (i = 0; i < TAIL_NR; i++)
		client_start_at(&timers[i].t, deadline);
	if (ktime_after(ktime_get(), deadline))
		client_slow(c);
	tail_timers_wait_and_free(c, timers, &tail);
	/* A run that takes too long is split into several, each with its own end. */
	CLIENT_CHECK(c, tail.runs <= (c->exact ? 1 : TAIL_NR));
	CLIENT_CHECK(c, tail.seen == TAIL_NR);
}

/* Callers in hard interrupt context. */

static void start_in_hardirq(void *arg)
{
	struct client_timer *t = arg;

	t->entered = in_hardirq();
	t->result = client_start(t, t->client->config.tick_ns * 3);
}

static void stop_in_hardirq(void *arg)
{
	struct client_timer *t = arg;

	t->result = twheel_stop(&t->timer);
}

static void hardirq_starts_and_stops(struct client *c, struct client_timer *t)
{
	client_in_hardirq(start_in_hardirq, t);
	CLIENT_CHECK(c, t->entered);
	CLIENT_CHECK(c, t->result == 0);
	client_wait(t);
	client_start(t, CLIENT_HOUR);
	client_in_hardirq(stop_in_hardirq, t);
	CLIENT_CHECK(c, t->result == 1);
	CLIENT_CHECK(c, !twheel_pending(&t->timer));
	CLIENT_CHECK(c, t->count == 1);
}

const struct client_case client_callback_cases[] = {
	CLIENT_TIMER(callback_runs_in_softirq, .then = note_context),
	CLIENT_CASE(callback_frees_its_timer),
	CLIENT_TIMER(expired_timers_may_be_linked, .then = link_callback),
	CLIENT_TIMER(forward_keeps_to_the_grid, .then = forward_callback),
	CLIENT_TIMER(forward_by_a_huge_period_never_expires),
	CLIENT_CASE(tail_runs_once_after_the_callbacks),
	CLIENT_TIMER(hardirq_starts_and_stops),
	{}
};
