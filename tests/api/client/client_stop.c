// SPDX-License-Identifier: GPL-2.0
/*
 * Stopping, waiting for a running callback, shutting down
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "client.h"

static unsigned int rounds = 4;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "how often each deadlock of a wait for a callback is provoked");

static void slow_callback(struct client_timer *t)
{
	client_set(&t->entered);
	mdelay(CLIENT_SLOW_MS);
	client_set(&t->left);
}

/* Wait for the running callback of a timer, as a caller without a lock does. */
static void wait_for_callback_of(struct client_timer *t)
{
	struct twheel_expiry_lock *lock;

	while (twheel_callback_announce(&t->timer, &lock))
		twheel_callback_wait(lock);
}

static void sync_calls_wait_for_the_callback(struct client *c, struct client_timer *t)
{
	if (client_enter(c, &t[0])) {
		CLIENT_CHECK(c, twheel_stop_sync(&t[0].timer) == 0);
		CLIENT_CHECK(c, client_is_set(&t[0].left));
	}
	if (client_enter(c, &t[1])) {
		CLIENT_CHECK(c, twheel_shutdown_sync(&t[1].timer) == 0);
		CLIENT_CHECK(c, client_is_set(&t[1].left));
	}
	if (client_enter(c, &t[2])) {
		wait_for_callback_of(&t[2]);
		CLIENT_CHECK(c, client_is_set(&t[2].left));
	}
}

static void a_wait_leaves_the_timer_pending(struct client *c, struct client_timer *t)
{
	client_start(t, CLIENT_HOUR);
	wait_for_callback_of(t);
	CLIENT_CHECK(c, twheel_stop(&t->timer) == 1);
}

/* Callbacks that wait for other callbacks. */

static void stop_other_callback(struct client_timer *t)
{
	struct client_timer *other = t->data;

	client_set(&t->entered);
	client_wait_for(&other->entered);
	t->result = twheel_stop_sync(&other->timer);
	client_set(&t->left);
}

/*
 * A callback that lasts long enough for another CPU to begin to wait for it, and is short enough
 * for the run to go on with the next timer of the tick.
 */
static void brief_callback(struct client_timer *t)
{
	client_set(&t->entered);
	client_spin(100 * NSEC_PER_USEC);
	client_set(&t->left);
}

/*
 * Start timers on the CPU where they expire: many with quick callbacks, then the one with the brief
 * callback, then the one after it. While callbacks are quick, the run looks at its clock only after
 * several timers. So it does not notice how long the brief callback took, and does not end there.
 */
static int start_brief_and_next(struct client_timer *t)
{
	ktime_t deadline = client_in(2 * client_delay(t->client, 5));
	int i;

	for (i = 0; i < CLIENT_TIMERS_NR + 2; i++)
		client_start_at(&t[i], deadline);
	return 0;
}

/*
 * Let a callback on this CPU wait for a brief one on the other CPU. The next callback there,
 * of the same tick, waits for the callback on this CPU.
 */
static void callbacks_may_wait_for_one_another(struct client *c, struct client_timer *t)
{
	struct client_timer *brief = &t[CLIENT_TIMERS_NR], *next = brief + 1;
	struct client_timer *here = client_timer_new(c, stop_other_callback);
	static struct lock_class_key brief_key, next_key;
	u64 delay = client_delay(c, 5);

	brief->then = brief_callback;
	next->then = stop_other_callback;
	client_timer_class(brief, &brief_key);
	client_timer_class(next, &next_key);
	here->data = brief;
	next->data = here;
	here->not_before = client_in(delay);
	client_call_on(client_other_cpu(), start_brief_and_next, t);
	/*
	 * Start this timer last, because its callback would keep this CPU from starting the others.
	 * It is due before them, and spins until the brief callback runs.
	 */
	twheel_start_on(&here->timer, delay, raw_smp_processor_id());
	CLIENT_CHECK(c, client_wait_for(&here->left));
	CLIENT_CHECK(c, client_wait_for(&next->left));
	CLIENT_CHECK(c, here->result == 0 && next->result == 0);
}

/*
 * A thread waits for the first callback of a tick. The next callback waits for the thread, so the
 * thread must not have to wait for that callback, too. The first callback lasts until the thread is
 * about to wait.
 */

#define AWAITED_MS	3

static void awaited_callback(struct client_timer *t)
{
	complete(&t->done);
	mdelay(AWAITED_MS);
}

static void next_callback(struct client_timer *t)
{
	struct client_timer *first = t->data;

	t->result = client_wait_for(&first->left) ? 0 : -ETIMEDOUT;
	complete(&t->done);
}

static int start_pair(struct client_timer *t)
{
	ktime_t deadline = client_in(client_delay(t->client, 2));

	client_start_at(&t[0], deadline);
	return client_start_at(&t[1], deadline);
}

/* Wait for the first callback. Returns false if the thread or the next callback waited too long. */
static bool wait_for_first(struct client *c, struct client_timer *t, int cpu, bool stop)
{
	bool waited;

	WRITE_ONCE(t[0].left, false);
	client_call_on(cpu, start_pair, t);
	waited = client_wait(&t[0]);
	if (stop)
		CLIENT_CHECK(c, twheel_stop_sync(&t[0].timer) == 0);
	else
		wait_for_callback_of(&t[0]);
	client_set(&t[0].left);
	return waited && client_wait(&t[1]) && CLIENT_CHECK(c, t[1].result == 0);
}

static void wait_for_first_on(struct client *c, struct client_timer *t, int cpu)
{
	unsigned int i;

	t[1].then = next_callback;
	t[1].data = t;
	for (i = 0; i < rounds; i++)
		if (!wait_for_first(c, t, cpu, i % 2))
			break;
}

/* On PREEMPT_RT, this thread has a lower priority than the thread that runs the callbacks. */
static void waiter_returns_before_the_next_callback(struct client *c, struct client_timer *t)
{
	wait_for_first_on(c, t, client_other_cpu());
}

/* Wait in a thread that preempts the callback. */
static void preempting_waiter_returns_before_the_next_callback(struct client *c,
							       struct client_timer *t)
{
	sched_set_fifo(current);
	wait_for_first_on(c, t, raw_smp_processor_id());
	sched_set_normal(current, 0);
}

static int delay_waiter(struct kprobe *probe, struct pt_regs *regs)
{
	mdelay(2 * AWAITED_MS);
	return 0;
}

/* Delay the waiter, so that the first callback returns before it can sleep. */
static void late_waiter_returns_before_the_next_callback(struct client *c, struct client_timer *t)
{
	struct kprobe probe = {
		.symbol_name = "twheel:wait_for_callback",
		.pre_handler = delay_waiter,
	};
	int ret = register_kprobe(&probe);

	if (ret == -EOPNOTSUPP) {
		c->skipped = "no kprobes";
	} else if (CLIENT_CHECK(c, ret == 0)) {
		wait_for_first_on(c, t, client_other_cpu());
		unregister_kprobe(&probe);
	}
}

/* Restart the timer, due at once, and continue: a shutdown finds it both running and pending. */
static void endless_slow_callback(struct client_timer *t)
{
	t->result = client_start(t, 0);
	client_set(&t->entered);
	mdelay(CLIENT_SLOW_MS);
}

static void shutdown_ends_a_timer_that_restarts_itself(struct client *c, struct client_timer *t)
{
	struct client_timer *end = t + 5;
	unsigned int count;
	int stopped;

	for (; t < end && client_enter(c, t); t++) {
		stopped = twheel_shutdown_sync(&t->timer);
		/*
		 * The shutdown may find the timer pending. Otherwise the next callback ran, which
		 * cannot start its timer.
		 */
		CLIENT_CHECK(c, stopped || t->result == -ESHUTDOWN);
		CLIENT_CHECK(c, !twheel_pending(&t->timer));
		count = t->count;
		client_sleep(2 * c->config.tick_ns);
		CLIENT_CHECK(c, t->count == count);
	}
}

/* Restart the timer of this callback until a shutdown forbids it. */
static void restarting_callback(struct client_timer *t)
{
	ktime_t end = client_in(CLIENT_IN_VAIN);

	client_set(&t->entered);
	do
		t->result = client_start(t, CLIENT_HOUR);
	while (t->result >= 0 && ktime_before(ktime_get(), end));
}

static void callback_cannot_restart_during_shutdown(struct client *c, struct client_timer *t)
{
	if (client_enter(c, t)) {
		twheel_shutdown_sync(&t->timer);
		CLIENT_CHECK(c, t->result == -ESHUTDOWN);
		CLIENT_CHECK(c, !twheel_pending(&t->timer));
	}
}

static void shut_down_cannot_start_before_a_setup(struct client *c, struct client_timer *t)
{
	client_start(t, CLIENT_HOUR);
	CLIENT_CHECK(c, twheel_shutdown_sync(&t->timer) == 1);
	client_check_refused(c, &t->timer, -ESHUTDOWN);
	CLIENT_CHECK(c, !twheel_pending(&t->timer));
	CLIENT_CHECK(c, twheel_shutdown_sync(&t->timer) == 0);
	client_timer_init(c, t, NULL);
	client_expires(t);
}

const struct client_case client_stop_cases[] = {
	CLIENT_CASE(sync_calls_wait_for_the_callback, .then = slow_callback, .nr = 3),
	CLIENT_CASE(a_wait_leaves_the_timer_pending),
	CLIENT_CASE(callbacks_may_wait_for_one_another, .nr = CLIENT_TIMERS_NR + 2,
		    .needs = CLIENT_CPUS),
	CLIENT_CASE(waiter_returns_before_the_next_callback, .then = awaited_callback,
		    .nr = 2, .needs = CLIENT_CPUS),
	CLIENT_CASE(preempting_waiter_returns_before_the_next_callback,
		    .then = awaited_callback, .nr = 2, .needs = CLIENT_RT),
	CLIENT_CASE(late_waiter_returns_before_the_next_callback,
		    .then = awaited_callback, .nr = 2, .needs = CLIENT_CPUS | CLIENT_RT),
	CLIENT_CASE(shutdown_ends_a_timer_that_restarts_itself, .then = endless_slow_callback,
		    .nr = 5),
	CLIENT_CASE(callback_cannot_restart_during_shutdown, .then = restarting_callback,
		    .needs = CLIENT_CPUS),
	CLIENT_CASE(shut_down_cannot_start_before_a_setup),
	{}
};
