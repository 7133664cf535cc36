// SPDX-License-Identifier: GPL-2.0
/*
 * Work items: functions that run in a workqueue after a delay, and may sleep
 */
#include <linux/delay.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/twheel_work.h>
#include <linux/workqueue.h>

#include "client.h"

struct client_work {
	struct twheel_work work;
	struct client *client;
	ktime_t not_before;
	int sleep_ms;
	int linger_ms;
	int queued;
	int runs;
	int cpu;
	bool again;
	bool entered;
	bool left;
	bool may_sleep;
	struct completion done;
};

static void client_work_fn(struct work_struct *work)
{
	struct client_work *w = container_of(work, struct client_work, work.work);

	if (ktime_before(ktime_get(), w->not_before))
		atomic_inc(&w->client->early);
	w->may_sleep = !in_interrupt() && !irqs_disabled();
	w->cpu = raw_smp_processor_id();
	client_set(&w->entered);
	if (w->sleep_ms)
		msleep(w->sleep_ms);
	w->runs++;
	if (w->again)
		w->queued += twheel_queue_work(w->client->wq, &w->work, 1);
	if (w->linger_ms)
		msleep(w->linger_ms);
	client_set(&w->left);
	complete(&w->done);
}

void client_run_work(struct client *c, const struct client_case *one)
{
	struct client_work *w = kzalloc(sizeof(*w), GFP_KERNEL | __GFP_NOFAIL);

	w->client = c;
	init_completion(&w->done);
	twheel_init_work(&w->work, c->wheel, client_work_fn);
	one->work(c, w);
	twheel_cancel_work_sync(&w->work);
	twheel_timer_destroy(&w->work.timer);
	kfree(w);
}

static bool client_work_queue(struct client_work *w, u64 delay_ns)
{
	w->not_before = client_in(delay_ns);
	return twheel_queue_work(w->client->wq, &w->work, delay_ns);
}

static void client_work_wait(struct client_work *w)
{
	client_wait_done(w->client, &w->done);
}

/* Queue a new @w, and check that it runs once. */
static void client_work_runs(struct client_work *w, u64 delay_ns)
{
	CLIENT_CHECK(w->client, client_work_queue(w, delay_ns));
	client_work_wait(w);
	CLIENT_CHECK(w->client, w->runs == 1);
	CLIENT_CHECK(w->client, w->may_sleep);
}

static void work_mod_changes_the_time(struct client *c, struct client_work *w)
{
	w->not_before = client_in(CLIENT_HOUR);
	CLIENT_CHECK(c, !twheel_mod_work(c->wq, &w->work, CLIENT_HOUR));
	CLIENT_CHECK(c, twheel_mod_work(c->wq, &w->work, 2 * CLIENT_HOUR));
	w->not_before = client_in(client_delay(c, 5));
	CLIENT_CHECK(c, twheel_mod_work(c->wq, &w->work, client_delay(c, 5)));
	client_work_wait(w);
	CLIENT_CHECK(c, w->runs == 1);
}

/*
 * Check that a work with no delay is queued at once. Interrupts are off, so no tick can have queued
 * it.
 */
static void check_at_once(struct client *c, struct client_work *w,
			  bool (*queue)(struct workqueue_struct *wq, struct twheel_work *work,
					u64 delay_ns))
{
	bool queued, started;

	local_irq_disable();
	queued = queue(c->wq, &w->work, 0);
	started = twheel_pending(&w->work.timer);
	local_irq_enable();
	client_work_wait(w);
	CLIENT_CHECK(c, queued);
	CLIENT_CHECK(c, !started);
}

static void work_without_a_delay_does_not_wait_for_a_tick(struct client *c, struct client_work *w)
{
	check_at_once(c, w, twheel_queue_work);
	CLIENT_CHECK(c, twheel_queue_work(c->wq, &w->work, CLIENT_HOUR));
	check_at_once(c, w, twheel_mod_work);
	CLIENT_CHECK(c, w->runs == 2);
}

/* Check that a work is not pending if its timer refuses to start. */
static void work_that_is_refused_is_not_pending(struct client *c, struct client_work *w)
{
	twheel_shutdown_sync(&w->work.timer);
	CLIENT_CHECK(c, !twheel_queue_work(c->wq, &w->work, CLIENT_HOUR));
	CLIENT_CHECK(c, !twheel_work_pending(&w->work));
	CLIENT_CHECK(c, !twheel_mod_work(c->wq, &w->work, CLIENT_HOUR));
	CLIENT_CHECK(c, !twheel_mod_work(c->wq, &w->work, CLIENT_HOUR));
	CLIENT_CHECK(c, !twheel_work_pending(&w->work));
	CLIENT_CHECK(c, !twheel_cancel_work(&w->work));
	twheel_timer_setup(&w->work.timer, c->wheel, twheel_work_expired, 0);
	client_work_runs(w, client_delay(c, 5));
}

static void work_that_cannot_be_put_off_runs(struct client *c, struct client_work *w)
{
	w->sleep_ms = 20;
	/* queue the item again while it runs */
	queue_work(c->wq, &w->work.work);
	if (CLIENT_CHECK(c, client_wait_for(&w->entered))) {
		CLIENT_CHECK(c, queue_work(c->wq, &w->work.work));
		twheel_shutdown_sync(&w->work.timer);
		twheel_mod_work(c->wq, &w->work, CLIENT_HOUR);
	}
	client_work_wait(w);
	client_work_wait(w);
	CLIENT_CHECK(c, w->runs == 2);
}

/* Check that queueing a pending item again changes nothing, not even its time. */
static void work_is_queued_and_cancelled_once(struct client *c, struct client_work *w)
{
	CLIENT_CHECK(c, !twheel_cancel_work(&w->work));
	CLIENT_CHECK(c, client_work_queue(w, CLIENT_HOUR));
	CLIENT_CHECK(c, !twheel_queue_work(c->wq, &w->work, 0));
	client_sleep(5 * c->config.tick_ns);
	CLIENT_CHECK(c, twheel_cancel_work(&w->work));
	CLIENT_CHECK(c, !twheel_cancel_work(&w->work));
	CLIENT_CHECK(c, !twheel_cancel_work_sync(&w->work));
	client_work_queue(w, CLIENT_HOUR);
	CLIENT_CHECK(c, twheel_cancel_work_sync(&w->work));
	CLIENT_CHECK(c, w->runs == 0);
}

static void work_flush_runs_it_now(struct client *c, struct client_work *w)
{
	CLIENT_CHECK(c, !twheel_flush_work(&w->work));
	CLIENT_CHECK(c, twheel_queue_work(c->wq, &w->work, CLIENT_HOUR));
	CLIENT_CHECK(c, twheel_flush_work(&w->work));
	CLIENT_CHECK(c, w->runs == 1);
	CLIENT_CHECK(c, !twheel_cancel_work_sync(&w->work));
}

/*
 * Let the item queue itself while twheel_cancel_work_sync() waits for it, and still run when its
 * timer is due. Each time that it was queued, it must run or be cancelled.
 */
static void work_cancel_sync_accounts_for_what_was_queued(struct client *c, struct client_work *w)
{
	int runs;

	w->again = true;
	w->sleep_ms = 20;
	w->linger_ms = 20;
	w->queued = client_work_queue(w, 0);
	if (CLIENT_CHECK(c, client_wait_for(&w->entered))) {
		bool cancelled = twheel_cancel_work_sync(&w->work);

		CLIENT_CHECK(c, w->queued == w->runs + cancelled);
		runs = w->runs;
		client_sleep(5 * c->config.tick_ns);
		CLIENT_CHECK(c, w->runs == runs);
		CLIENT_CHECK(c, !work_busy(&w->work.work));
	}
}

static void work_runs_on_the_cpu_asked_for(struct client *c, struct client_work *w)
{
	int cpu = client_other_cpu();

	w->not_before = client_in(0);
	CLIENT_CHECK(c, twheel_schedule_work_on(cpu, &w->work, 0));
	client_work_wait(w);
	CLIENT_CHECK(c, w->cpu == cpu);
	CLIENT_CHECK(c, !twheel_mod_work_on(0, system_highpri_wq, &w->work, CLIENT_HOUR));
	CLIENT_CHECK(c, twheel_mod_work_on(cpu, system_highpri_wq, &w->work, 0));
	client_work_wait(w);
	CLIENT_CHECK(c, w->cpu == cpu);
	CLIENT_CHECK(c, !twheel_mod_work_on(cpu, system_highpri_wq, &w->work, CLIENT_HOUR));
	CLIENT_CHECK(c, twheel_flush_work(&w->work));
	CLIENT_CHECK(c, w->cpu == cpu);
}

/* Check that enabling a work takes as many calls as were made to disable it. */
static void work_disabled_is_not_queued(struct client *c, struct client_work *w)
{
	client_work_queue(w, CLIENT_HOUR);
	CLIENT_CHECK(c, twheel_disable_work(&w->work));
	CLIENT_CHECK(c, !twheel_work_pending(&w->work));
	CLIENT_CHECK(c, !client_work_queue(w, 0));
	CLIENT_CHECK(c, !twheel_mod_work(c->wq, &w->work, 0));
	CLIENT_CHECK(c, !twheel_mod_work(c->wq, &w->work, CLIENT_HOUR));
	CLIENT_CHECK(c, !twheel_disable_work_sync(&w->work));
	CLIENT_CHECK(c, !twheel_cancel_work_sync(&w->work));
	CLIENT_CHECK(c, !twheel_enable_work(&w->work));
	CLIENT_CHECK(c, !client_work_queue(w, 0));
	CLIENT_CHECK(c, twheel_enable_work(&w->work));
	client_sleep(3 * c->config.tick_ns);
	CLIENT_CHECK(c, w->runs == 0);
	client_work_runs(w, 0);
}

/* For the cases below that set up their own work items, without client_run_work(). */

static DECLARE_COMPLETION(work_done);

static void work_done_fn(struct work_struct *work)
{
	complete(&work_done);
}

static void free_work_fn(struct work_struct *work)
{
	struct twheel_work *w = container_of(work, struct twheel_work, work);

	twheel_timer_destroy(&w->timer);
	memset(w, 0x6b, sizeof(*w));
	kfree(w);
	complete(&work_done);
}

/*
 * Free the item in its own function. It may run on another CPU before twheel_queue_work() returns.
 */
static void work_frees_itself(struct client *c, struct client_timer *t)
{
	struct twheel_work *w;
	int i;

	for (i = 0; i < 50; i++) {
		w = kmalloc(sizeof(*w), GFP_KERNEL | __GFP_NOFAIL);
		twheel_init_work(w, c->wheel, free_work_fn);
		/* queued at once, and queued by its timer */
		twheel_queue_work(c->wq, w, i % 2);
		wait_for_completion(&work_done);
	}
}

static DEFINE_TWHEEL_WORK(static_work, work_done_fn);

static void work_with_a_static_initialiser(struct client *c, struct client_timer *t)
{
	CLIENT_CHECK(c, !twheel_work_pending(&static_work));
	CLIENT_CHECK(c, !twheel_cancel_work_sync(&static_work));
	CLIENT_CHECK(c, twheel_queue_work(c->wq, &static_work, 0));
	client_wait_done(c, &work_done);
	twheel_cancel_work_sync(&static_work);
}

static struct twheel_work *awaited;

static void waiting_work_fn(struct work_struct *work)
{
	twheel_flush_work(awaited);
	twheel_cancel_work_sync(awaited);
	complete(&work_done);
}

/*
 * Wait for a work in the function of another one. Lockdep accepts this, because it distinguishes
 * works by the place where they are set up.
 */
static void a_work_may_wait_for_another(struct client *c, struct client_work *other)
{
	struct twheel_work work;

	awaited = &other->work;
	twheel_init_work_on_stack(&work, c->wheel, waiting_work_fn);
	client_work_runs(other, 0);
	other->sleep_ms = 5;
	client_work_queue(other, 0);
	CLIENT_CHECK(c, twheel_schedule_work(&work, 0));
	client_wait_done(c, &work_done);
	twheel_cancel_work_sync(&work);
	twheel_destroy_work_on_stack(&work);
}

const struct client_case client_work_cases[] = {
	CLIENT_WORK(work_mod_changes_the_time),
	CLIENT_WORK(work_without_a_delay_does_not_wait_for_a_tick),
	CLIENT_WORK(work_that_is_refused_is_not_pending),
	CLIENT_WORK(work_that_cannot_be_put_off_runs),
	CLIENT_WORK(work_is_queued_and_cancelled_once),
	CLIENT_WORK(work_flush_runs_it_now),
	CLIENT_WORK(work_cancel_sync_accounts_for_what_was_queued),
	CLIENT_CASE(work_frees_itself),
	CLIENT_WORK(work_runs_on_the_cpu_asked_for, .needs = CLIENT_CPUS),
	CLIENT_WORK(work_disabled_is_not_queued),
	CLIENT_CASE(work_with_a_static_initialiser, .needs = CLIENT_DEFAULT),
	CLIENT_WORK(a_work_may_wait_for_another),
	{}
};
