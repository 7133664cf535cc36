// SPDX-License-Identifier: GPL-2.0
/*
 * Timers that record their callbacks, and waiting for them
 *
 * Each callback of the client goes through client_expire(), which checks that it is not
 * early.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include <core/compat.h>

#include "client.h"

/* A timer that has not expired after this time is lost. */
#define CLIENT_LOST_MS	60000

/* Number of callbacks of the running case so far. */
static atomic_t client_callbacks = ATOMIC_INIT(0);

static void client_note_lateness(struct client *c, s64 late)
{
	if (late > atomic64_read(&c->late_max))
		atomic64_set(&c->late_max, late);
	if (late < atomic64_read(&c->late_min))
		atomic64_set(&c->late_min, late);
}

static void client_expire(struct twheel_timer *timer)
{
	struct client_timer *t = container_of(timer, struct client_timer, timer);
	void (*then)(struct client_timer *t) = t->then;
	ktime_t now = ktime_get();
	s64 late = ktime_to_ns(ktime_sub(now, READ_ONCE(t->not_before)));

	if (late < 0)
		atomic_inc(&t->client->early);
	else
		client_note_lateness(t->client, late);
	t->fired = now;
	t->cpu = smp_processor_id();
	t->order = atomic_inc_return(&client_callbacks);
	WRITE_ONCE(t->count, t->count + 1);
	/* @then may free the timer, so do not touch it from here on. */
	if (then)
		then(t);
	else
		complete(&t->done);
}

/* Set up a timer in memory of the caller. */
void client_timer_init(struct client *c, struct client_timer *t,
		       void (*then)(struct client_timer *t))
{
	memset(t, 0, sizeof(*t));
	t->client = c;
	t->then = then;
	init_completion(&t->done);
	twheel_timer_setup(&t->timer, c->wheel, client_expire, 0);
}

/*
 * Give a timer its own lockdep class. All other timers share one, so lockdep does not let
 * their callbacks wait for one another.
 */
void client_timer_class(struct client_timer *t, struct lock_class_key *key)
{
	twheel_timer_setup_key(&t->timer, t->client->wheel, client_expire, 0,
			       "client_timer_class", key);
}

/* Returns a new timer. If that fails it returns NULL, and the case fails. */
struct client_timer *client_timer_new(struct client *c,
				      void (*then)(struct client_timer *t))
{
	struct client_timer *t = kmalloc(sizeof(*t), GFP_KERNEL);

	if (CLIENT_CHECK(c, t))
		client_timer_init(c, t, then);
	return t;
}

void client_timer_free(struct client_timer *t)
{
	if (!t)
		return;
	twheel_shutdown_sync(&t->timer);
	twheel_timer_destroy(&t->timer);
	kfree(t);
}

/* Returns an array of @nr new timers, or NULL. */
struct client_timer **client_timers_new(struct client *c, unsigned int nr)
{
	struct client_timer **timers = kcalloc(nr, sizeof(*timers), GFP_KERNEL);
	unsigned int i;

	if (!CLIENT_CHECK(c, timers))
		return NULL;
	for (i = 0; i < nr; i++) {
		timers[i] = client_timer_new(c, NULL);
		if (!timers[i]) {
			client_timers_free(timers, i);
			return NULL;
		}
	}
	return timers;
}

void client_timers_free(struct client_timer **timers, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		client_timer_free(timers[i]);
	kfree(timers);
}

/* Run the rest of the case on a new wheel, which the case destroys. */
bool client_wheel_new(struct client *c, const struct twheel_config *config)
{
	struct twheel *wheel = twheel_create(config);

	if (!CLIENT_CHECK(c, !IS_ERR(wheel)))
		return false;
	c->wheel = wheel;
	twheel_get_config(wheel, &c->config);
	return true;
}

/* Returns the time @delay_ns from now. */
ktime_t client_in(u64 delay_ns)
{
	return ktime_add_ns(ktime_get(), delay_ns);
}

/* Returns a short delay: @ms, but at least three ticks of the wheel. */
u64 client_delay(const struct client *c, u64 ms)
{
	return c->patience * max(ms * CLIENT_MSEC, 3 * c->config.tick_ns);
}

/*
 * Start @t, and have its callback expect @deadline. Until a later deadline is set a callback
 * for the old one must not count as early. An earlier one is written first and only once:
 * the callback may have run and changed it before a second write.
 */
int client_start_at(struct client_timer *t, ktime_t deadline)
{
	int ret;

	if (!twheel_pending(&t->timer) ||
	    ktime_before(deadline, READ_ONCE(t->not_before))) {
		WRITE_ONCE(t->not_before, deadline);
		return twheel_start_at(&t->timer, deadline);
	}
	ret = twheel_start_at(&t->timer, deadline);
	WRITE_ONCE(t->not_before, deadline);
	return ret;
}

int client_start(struct client_timer *t, u64 delay_ns)
{
	ktime_t deadline = client_in(delay_ns);
	int ret;

	if (!twheel_pending(&t->timer) ||
	    ktime_before(deadline, READ_ONCE(t->not_before)))
		WRITE_ONCE(t->not_before, deadline);
	ret = twheel_start(&t->timer, delay_ns);
	WRITE_ONCE(t->not_before, deadline);
	return ret;
}

/* Wait for an event that happens soon. Returns false if it did not happen. */
bool client_wait_done(struct client *c, struct completion *done)
{
	unsigned long timeout = msecs_to_jiffies(CLIENT_LOST_MS);

	return CLIENT_CHECK(c, wait_for_completion_timeout(done, timeout));
}

/* Wait for the next callback of @t. Returns false if there was none. */
bool client_wait(struct client_timer *t)
{
	return client_wait_done(t->client, &t->done);
}

/* Set *@flag after all earlier stores. */
void client_set(bool *flag)
{
	/* Pairs with client_is_set(). */
	smp_store_release(flag, true);
}

bool client_is_set(bool *flag)
{
	/* Pairs with client_set(). */
	return smp_load_acquire(flag);
}

/* Wait for *@flag without sleeping. Returns false if it was never set. */
bool client_wait_for(bool *flag)
{
	ktime_t end = client_in(CLIENT_LOST_MS * CLIENT_MSEC);

	while (!client_is_set(flag)) {
		if (ktime_after(ktime_get(), end))
			return false;
		cond_resched();
		cpu_relax();
	}
	return true;
}

void client_sleep(u64 ns)
{
	unsigned long us = max_t(u64, div_u64(ns, NSEC_PER_USEC), 1);

	usleep_range(us, us + 100);
}

/* Returns an online CPU other than this one, or -1. */
int client_other_cpu(void)
{
	int cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());

	return cpu < nr_cpu_ids ? cpu : -1;
}

/*
 * Start @t, on another CPU if there is one, and wait until its callback has begun. With one
 * CPU the callback has also ended by then.
 */
bool client_enter(struct client *c, struct client_timer *t)
{
	int cpu = client_other_cpu();
	u64 delay = client_delay(c, 5);

	if (cpu < 0)
		cpu = raw_smp_processor_id();
	t->not_before = client_in(delay);
	twheel_start_on(&t->timer, delay, cpu);
	return CLIENT_CHECK(c, client_wait_for(&t->entered));
}

struct client_irq {
	struct hrtimer hrtimer;
	void (*fn)(void *arg);
	void *arg;
	struct completion done;
};

static enum hrtimer_restart client_irq_fn(struct hrtimer *hrtimer)
{
	struct client_irq *irq = container_of(hrtimer, struct client_irq, hrtimer);

	irq->fn(irq->arg);
	complete(&irq->done);
	return HRTIMER_NORESTART;
}

/* Call @fn in a hard interrupt, also on PREEMPT_RT, and wait for its end. */
void client_in_hardirq(void (*fn)(void *arg), void *arg)
{
	struct client_irq *irq = kzalloc(sizeof(*irq), GFP_KERNEL);

	if (!irq)
		return;
	irq->fn = fn;
	irq->arg = arg;
	init_completion(&irq->done);
	twheel_hrtimer_setup(&irq->hrtimer, client_irq_fn,
			     CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&irq->hrtimer, ms_to_ktime(1),
		      HRTIMER_MODE_REL_PINNED_HARD);
	wait_for_completion(&irq->done);
	hrtimer_cancel(&irq->hrtimer);
	kfree(irq);
}
