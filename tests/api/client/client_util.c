// SPDX-License-Identifier: GPL-2.0
/*
 * Timers that record their callbacks, and functions that wait for them
 *
 * client_expire() is the callback of all timers. It checks that it is not early, and calls @then.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "client.h"

/* Time after which a timer counts as lost. */
#define CLIENT_LOST_MS	60000

/* Number of callbacks so far, of all cases. */
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
 * Give a timer a lockdep class of its own. All other timers share a class, and lockdep reports
 * callbacks of one class that wait for each other.
 */
void client_timer_class(struct client_timer *t, struct lock_class_key *key)
{
	twheel_timer_setup_key(&t->timer, t->client->wheel, client_expire, 0,
			       "client_timer_class", key);
}

/**
 * struct client_made - objects that a case created
 * @link: entry of @made of the case
 * @wheel: a wheel, or NULL
 * @payer: payer of @wheel, or NULL
 * @nr: number of timers
 * @timers: timers
 */
struct client_made {
	struct list_head link;
	struct twheel *wheel;
	struct twheel_payer *payer;
	unsigned int nr;
	struct client_timer timers[];
};

static struct client_made *client_make(struct client *c, unsigned int nr)
{
	struct client_made *made;

	made = kvzalloc(struct_size(made, timers, nr), GFP_KERNEL | __GFP_NOFAIL);
	list_add(&made->link, &c->made);
	return made;
}

/* Returns an array of @nr timers, which live until client_clean(). */
struct client_timer *client_timers_new(struct client *c, unsigned int nr,
				       void (*then)(struct client_timer *t))
{
	struct client_made *made = client_make(c, nr);

	for (made->nr = 0; made->nr < nr; made->nr++)
		client_timer_init(c, &made->timers[made->nr], then);
	return made->timers;
}

struct client_timer *client_timer_new(struct client *c, void (*then)(struct client_timer *t))
{
	return client_timers_new(c, 1, then);
}

/* Use a new wheel from now on. client_clean() destroys it, and its payer. */
bool client_wheel_new(struct client *c, const struct twheel_config *config)
{
	struct client_made *made = client_make(c, 0);
	struct twheel *wheel = twheel_create(config);

	made->payer = config->payer;
	if (!CLIENT_CHECK(c, !IS_ERR(wheel)))
		return false;
	made->wheel = wheel;
	c->wheel = wheel;
	twheel_get_config(wheel, &c->config);
	return true;
}

/* Free everything that the case created, the timers of a wheel before the wheel. */
void client_clean(struct client *c)
{
	struct client_made *made, *next;

	list_for_each_entry_safe(made, next, &c->made, link) {
		while (made->nr--) {
			twheel_shutdown_sync(&made->timers[made->nr].timer);
			twheel_timer_destroy(&made->timers[made->nr].timer);
		}
		twheel_destroy(made->wheel);
		twheel_payer_destroy(made->payer);
		list_del(&made->link);
		kvfree(made);
	}
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
 * Start @t, and let its callback expect @deadline. If the deadline becomes later, @not_before is
 * written after the start, because the callback for the old deadline may still come and must not
 * count as early. If the deadline becomes earlier, @not_before is written only before the start:
 * the callback may run at once, and write @not_before for its own next start.
 */
int client_start_at(struct client_timer *t, ktime_t deadline)
{
	int ret;

	if (!twheel_pending(&t->timer) || ktime_before(deadline, READ_ONCE(t->not_before))) {
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

	if (!twheel_pending(&t->timer) || ktime_before(deadline, READ_ONCE(t->not_before)))
		WRITE_ONCE(t->not_before, deadline);
	ret = twheel_start(&t->timer, delay_ns);
	WRITE_ONCE(t->not_before, deadline);
	return ret;
}

int client_start_soon(struct client_timer *t)
{
	return client_start(t, client_delay(t->client, 5));
}

struct client_remote {
	struct irq_work work;
	int (*fn)(struct client_timer *t);
	struct client_timer *t;
	int ret;
};

static void client_remote_fn(void *arg)
{
	struct client_remote *remote = arg;

	remote->ret = remote->fn(remote->t);
}

/* Call @fn on @cpu, with interrupts off, and return its result. */
int client_call_on(int cpu, int (*fn)(struct client_timer *t), struct client_timer *t)
{
	struct client_remote remote = { .fn = fn, .t = t };

	smp_call_function_single(cpu, client_remote_fn, &remote, true);
	return remote.ret;
}

static void client_irq_fn(struct irq_work *work)
{
	client_remote_fn(container_of(work, struct client_remote, work));
}

/* Call @fn in a hard interrupt, also on PREEMPT_RT, and return its result. */
int client_in_hardirq(int (*fn)(struct client_timer *t), struct client_timer *t)
{
	struct client_remote remote = {
		.work = IRQ_WORK_INIT_HARD(client_irq_fn),
		.fn = fn,
		.t = t,
	};

	irq_work_queue(&remote.work);
	irq_work_sync(&remote.work);
	return remote.ret;
}

/* Wait for an event that should happen soon. Returns false if it did not happen. */
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

/* Wait for the only callback of @t. */
bool client_wait_once(struct client_timer *t)
{
	return client_wait(t) && CLIENT_CHECK(t->client, t->count == 1);
}

/* Start @t, which is not pending, with a short delay, and wait for its callback. */
bool client_expires(struct client_timer *t)
{
	return CLIENT_CHECK(t->client, client_start_soon(t) == 0) && client_wait(t);
}

/* Start @t by calling @start on @cpu. Returns the CPU where it expires. */
int client_expires_on(struct client_timer *t, int cpu, int (*start)(struct client_timer *t))
{
	t->not_before = client_in(0);
	CLIENT_CHECK(t->client, client_call_on(cpu, start, t) == 0);
	client_wait(t);
	/*
	 * A timer whose callback still runs would remain on that CPU at its next start, so wait for
	 * the callback.
	 */
	twheel_stop_sync(&t->timer);
	return t->cpu;
}

/* Set *@flag, after all earlier stores of this CPU are visible. */
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
	ktime_t end = client_in(in_task() ? CLIENT_LOST_MS * CLIENT_MSEC : CLIENT_IN_VAIN);

	while (!client_is_set(flag) && ktime_before(ktime_get(), end)) {
		if (in_task())
			cond_resched();
		cpu_relax();
	}
	return client_is_set(flag);
}

void client_spin(u64 ns)
{
	ktime_t end = client_in(ns);

	while (ns && ktime_before(ktime_get(), end))
		cpu_relax();
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
 * Start @t, on another CPU if there is one, and wait until its callback begins. With a single CPU,
 * the callback has also returned by then.
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

static CLIENT_CALL(by_start, twheel_start(timer, CLIENT_HOUR))
static CLIENT_CALL(by_start_at, twheel_start_at(timer, client_in(CLIENT_HOUR)))
static CLIENT_CALL(by_start_on, twheel_start_on(timer, CLIENT_HOUR, raw_smp_processor_id()))
static CLIENT_CALL(by_reduce_at, twheel_reduce_at(timer, KTIME_MAX))
static CLIENT_CALL(by_restart_at, twheel_restart_at(timer, client_in(CLIENT_HOUR)))

static int by_many(struct twheel_timer *timer,
		   void (*many)(struct twheel_request *requests, unsigned int nr))
{
	struct twheel_request r = { .timer = timer, .deadline = client_in(CLIENT_HOUR) };

	many(&r, 1);
	return r.result;
}

CLIENT_CALL(client_start_many, by_many(timer, twheel_start_many))
CLIENT_CALL(client_restart_many, by_many(timer, twheel_restart_many))
CLIENT_CALL(client_stop_many, by_many(timer, twheel_stop_many))

const struct client_call client_calls[] = {
	{ by_start, CLIENT_STARTS },
	{ by_start_at, CLIENT_STARTS },
	{ by_start_on, CLIENT_STARTS },
	{ client_start_many, CLIENT_STARTS },
	{ by_reduce_at, CLIENT_STARTS },
	{ by_restart_at, CLIENT_RESTARTS },
	{ client_restart_many, CLIENT_RESTARTS },
	{ twheel_stop, CLIENT_STOPS },
	{ twheel_stop_sync, CLIENT_STOPS },
	{ client_stop_many, CLIENT_STOPS },
	{}
};

/* Check that no call can start @timer, and that the starts return @error. */
void client_check_refused(struct client *c, struct twheel_timer *timer, int error)
{
	const struct client_call *i;

	for (i = client_calls; i->call; i++)
		if (!CLIENT_CHECK(c, i->call(timer) == (i->does == CLIENT_STARTS ? error : 0)))
			pr_info("# by %ps\n", i->call);
	CLIENT_CHECK(c, !twheel_pending(timer));
}
