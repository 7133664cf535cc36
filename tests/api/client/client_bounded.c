// SPDX-License-Identifier: GPL-2.0
/*
 * The fifth promise: many timers that are due at once expire in runs of a
 * bounded number
 *
 * Work for the end of a tick runs once at the end of each run of a base, and so
 * counts them. The time that is left for the rest of the system is in
 * client_share.c.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "client.h"

/* Number of timers, and the maximum that a run may expire. */
#define BURST_NR	5000
#define RUN_MAX		1024

/* How far ahead the timers are started; doubled when that was too short. */
static u64 burst_lead_ms = 50;

struct burst {
	struct twheel_tick_end tail;
	u64 tick_ns;
	unsigned int runs;
	unsigned int in_run;
	unsigned int longest;
	unsigned int total;
	unsigned int early;
	struct completion done;
};

struct burst_timer {
	struct twheel_timer timer;
	struct burst *burst;
};

static void burst_tail(struct twheel_tick_end *tail)
{
	struct burst *burst = container_of(tail, struct burst, tail);

	burst->runs++;
	burst->longest = max(burst->longest, burst->in_run);
	burst->total += burst->in_run;
	burst->in_run = 0;
	if (burst->total == BURST_NR)
		complete(&burst->done);
}

static void burst_callback(struct twheel_timer *timer)
{
	struct burst_timer *bt = container_of(timer, struct burst_timer, timer);
	struct burst *burst = bt->burst;
	ktime_t now = ktime_get();

	if (now < twheel_expired_deadline(timer, burst->tick_ns))
		burst->early++;
	burst->in_run++;
	twheel_at_tick_end(timer, &burst->tail);
}

static void burst_start(struct client *c, struct burst *burst,
			struct burst_timer *timers)
{
	ktime_t deadline = client_in(client_delay(c, burst_lead_ms));
	int i;

	for (i = 0; i < BURST_NR; i++) {
		timers[i].burst = burst;
		twheel_timer_setup(&timers[i].timer, c->wheel, burst_callback,
				   0);
		twheel_start_at(&timers[i].timer, deadline);
	}
	/* Timers started after their deadline do not all come in one burst. */
	if (ktime_get() > deadline) {
		client_slow(c);
		burst_lead_ms *= 2;
	}
}

static void burst_check(struct client *c, const struct burst *burst)
{
	if (!CLIENT_CHECK(c, burst->total == BURST_NR))
		return;
	CLIENT_CHECK(c, !burst->early);
	CLIENT_CHECK(c, burst->longest <= RUN_MAX);
	CLIENT_CHECK(c, burst->runs >= DIV_ROUND_UP(BURST_NR, RUN_MAX));
}

static void many_timers_of_a_tick_expire_in_runs(struct client *c)
{
	struct burst burst = {
		.tail.fn = burst_tail,
		.tick_ns = c->config.tick_ns,
	};
	struct burst_timer *timers;
	int i;

	timers = kvcalloc(BURST_NR, sizeof(*timers), GFP_KERNEL);
	if (!CLIENT_CHECK(c, timers))
		return;
	init_completion(&burst.done);
	burst_start(c, &burst, timers);
	client_wait_done(c, &burst.done);
	for (i = 0; i < BURST_NR; i++) {
		twheel_shutdown_sync(&timers[i].timer);
		twheel_timer_destroy(&timers[i].timer);
	}
	burst_check(c, &burst);
	kvfree(timers);
}

const struct client_case client_bounded_cases[] = {
	CLIENT_CASE(many_timers_of_a_tick_expire_in_runs),
	{}
};
