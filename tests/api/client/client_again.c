// SPDX-License-Identifier: GPL-2.0
/*
 * A callback that starts its own timer again with twheel_again_at()
 *
 * The timer looks started to all callers at once, although the tick starts it after the
 * callback has returned. With one CPU all other calls come later, with the same results.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "client.h"

static int again_in(struct client_timer *t, u64 delay)
{
	WRITE_ONCE(t->not_before, client_in(delay));
	return twheel_again_at(&t->timer, t->not_before);
}

#define AGAIN_NR	20

static void again_callback(struct client_timer *t)
{
	if (t->count == AGAIN_NR)
		complete(&t->done);
	else if (again_in(t, t->count * t->client->config.tick_ns / 3))
		t->result = -EBUSY;
	else if (twheel_deadline(&t->timer) != t->not_before)
		t->result = -ERANGE;
}

static void again_expires(struct client *c, struct client_timer *t)
{
	client_start(t, client_delay(c, 5));
	client_wait(t);
	CLIENT_CHECK(c, t->count == AGAIN_NR);
	CLIENT_CHECK(c, t->result == 0);
	CLIENT_CHECK(c, twheel_deadline(&t->timer) == t->not_before);
	CLIENT_CHECK(c, twheel_stop(&t->timer) == 0);
}

/* Callbacks that make several calls. Each digit of the result is the return value of one. */

static void note(struct client_timer *t, int answer)
{
	t->result = t->result * 10 + (answer < 0 ? 9 : answer);
}

/* Run callback @then. It must return @answers, and leave the timer pending or not. */
static void check_answers(struct client *c,
			  void (*then)(struct client_timer *t), int answers,
			  bool pending)
{
	struct client_timer *t = client_timer_new(c, then);

	if (!t)
		return;
	client_start(t, client_delay(c, 5));
	client_wait(t);
	CLIENT_CHECK(c, twheel_stop_sync(&t->timer) == pending);
	if (!CLIENT_CHECK(c, t->result == answers))
		pr_info("# answers %d, not %d\n", t->result, answers);
	CLIENT_CHECK(c, t->count == 1);
	client_timer_free(t);
}

static void again_and_start(struct client_timer *t)
{
	note(t, twheel_again_at(&t->timer, 0));
	note(t, twheel_start(&t->timer, CLIENT_HOUR));
	note(t, twheel_pending(&t->timer));
	note(t, twheel_again_at(&t->timer, client_in(CLIENT_HOUR)));
	complete(&t->done);
}

static void again_and_again(struct client_timer *t)
{
	note(t, twheel_again_at(&t->timer, 0));
	note(t, twheel_again_at(&t->timer, client_in(CLIENT_HOUR)));
	note(t, twheel_restart_at(&t->timer, client_in(CLIENT_HOUR)));
	complete(&t->done);
}

static void again_and_reduce(struct client_timer *t)
{
	note(t, twheel_again_at(&t->timer, client_in(CLIENT_HOUR)));
	note(t, twheel_reduce_at(&t->timer, KTIME_MAX));
	note(t, twheel_deadline(&t->timer) == KTIME_MAX);
	note(t, twheel_reduce_at(&t->timer, client_in(CLIENT_HOUR / 2)));
	note(t, twheel_remaining(&t->timer) <= CLIENT_HOUR / 2);
	complete(&t->done);
}

static void start_and_again(struct client_timer *t)
{
	note(t, twheel_start(&t->timer, 0));
	note(t, twheel_again_at(&t->timer, client_in(CLIENT_HOUR)));
	note(t, twheel_deadline(&t->timer) > client_in(CLIENT_HOUR / 2));
	complete(&t->done);
}

static void again_and_stop(struct client_timer *t)
{
	note(t, twheel_again_at(&t->timer, 0));
	note(t, twheel_stop(&t->timer));
	note(t, twheel_stop(&t->timer));
	note(t, twheel_again_at(&t->timer, 0));
	note(t, twheel_stop(&t->timer));
	complete(&t->done);
}

static void again_and_forward(struct client_timer *t)
{
	note(t, twheel_again_at(&t->timer, 0));
	note(t, twheel_forward(&t->timer, CLIENT_HOUR));
	note(t, twheel_deadline(&t->timer) == 0);
	note(t, twheel_start(&t->timer, CLIENT_HOUR));
	complete(&t->done);
}

static void again_and_many(struct client_timer *t)
{
	struct twheel_request r = {
		.timer = &t->timer,
		.deadline = client_in(CLIENT_HOUR),
	};

	note(t, twheel_again_at(&t->timer, 0));
	twheel_restart_many(&r, 1);
	note(t, r.result);
	twheel_stop_many(&r, 1);
	note(t, r.result);
	note(t, twheel_again_at(&t->timer, 0));
	twheel_stop_many(&r, 1);
	note(t, r.result);
	note(t, twheel_again_at(&t->timer, 0));
	twheel_start_many(&r, 1);
	note(t, r.result);
	complete(&t->done);
}

static void again_never(struct client_timer *t)
{
	note(t, twheel_again_at(&t->timer, KTIME_MAX));
	note(t, twheel_deadline(&t->timer) == KTIME_MAX);
	complete(&t->done);
}

static void again_is_a_start_to_its_callback(struct client *c)
{
	check_answers(c, again_and_start, 111, true);
	check_answers(c, again_and_again, 11, true);
	check_answers(c, again_and_reduce, 1011, true);
	check_answers(c, start_and_again, 11, true);
	check_answers(c, again_and_stop, 1001, false);
	check_answers(c, again_and_forward, 11, true);
	check_answers(c, again_and_many, 110101, true);
	check_answers(c, again_never, 1, true);
}

static void again_slowly(struct client_timer *t)
{
	t->result = twheel_again_at(&t->timer, client_in(CLIENT_HOUR));
	client_set(&t->entered);
	mdelay(CLIENT_SLOW_MS);
	client_set(&t->left);
}

static int by_start(struct twheel_timer *timer)
{
	return twheel_start(timer, CLIENT_HOUR);
}

static int by_start_on(struct twheel_timer *timer)
{
	return twheel_start_on(timer, CLIENT_HOUR, raw_smp_processor_id());
}

static int by_restart_at(struct twheel_timer *timer)
{
	return twheel_restart_at(timer, client_in(CLIENT_HOUR));
}

static int by_reduce_at(struct twheel_timer *timer)
{
	return twheel_reduce_at(timer, KTIME_MAX);
}

static int by_start_many(struct twheel_timer *timer)
{
	struct twheel_request r = {
		.timer = timer,
		.deadline = client_in(CLIENT_HOUR),
	};

	twheel_start_many(&r, 1);
	return r.result;
}

static int by_stop_many(struct twheel_timer *timer)
{
	struct twheel_request r = { .timer = timer };

	twheel_stop_many(&r, 1);
	return r.result;
}

/* @fn finds the timer started, and its effect is still there after the callback. */
static void check_others(struct client *c, int (*fn)(struct twheel_timer *timer),
			 bool pending)
{
	struct client_timer *t = client_timer_new(c, again_slowly);

	if (!t)
		return;
	if (client_enter(c, t)) {
		CLIENT_CHECK(c, fn(&t->timer) == 1);
		client_wait_for(&t->left);
		CLIENT_CHECK(c, t->result == 0);
		CLIENT_CHECK(c, twheel_stop_sync(&t->timer) == pending);
		CLIENT_CHECK(c, t->count == 1);
	}
	client_timer_free(t);
}

static void again_is_a_start_to_others(struct client *c)
{
	check_others(c, by_start, true);
	check_others(c, by_start_on, true);
	check_others(c, by_restart_at, true);
	check_others(c, by_reduce_at, true);
	check_others(c, by_start_many, true);
	check_others(c, twheel_stop, false);
	check_others(c, by_stop_many, false);
	check_others(c, twheel_stop_sync, false);
	check_others(c, twheel_shutdown_sync, false);
}

static void again_on_request(struct client_timer *t)
{
	ktime_t end = client_in(CLIENT_IN_VAIN);

	client_set(&t->entered);
	while (!twheel_pending(&t->timer) && ktime_before(ktime_get(), end))
		cpu_relax();
	t->result = twheel_again_at(&t->timer, client_in(2 * CLIENT_HOUR));
	client_set(&t->left);
}

static void again_after_a_start_is_a_restart(struct client *c, struct client_timer *t)
{
	if (client_enter(c, t)) {
		CLIENT_CHECK(c, twheel_start(&t->timer, CLIENT_HOUR) == 0);
		client_wait_for(&t->left);
		CLIENT_CHECK(c, t->result == 1);
		CLIENT_CHECK(c, twheel_remaining(&t->timer) > CLIENT_HOUR);
		CLIENT_CHECK(c, twheel_stop_sync(&t->timer) == 1);
	}
}

static void again_late(struct client_timer *t)
{
	client_set(&t->entered);
	mdelay(CLIENT_SLOW_MS);
	t->result = twheel_again_at(&t->timer, client_in(CLIENT_HOUR));
	client_set(&t->left);
}

/* The shutdown or the deferred start may come first. */
static void again_after_a_shutdown_is_refused(struct client *c, struct client_timer *t)
{
	int stopped;

	if (client_enter(c, t)) {
		stopped = twheel_shutdown_sync(&t->timer);
		CLIENT_CHECK(c, client_is_set(&t->left));
		CLIENT_CHECK(c, t->result == (stopped ? 0 : -ESHUTDOWN));
		CLIENT_CHECK(c, !twheel_pending(&t->timer));
	}
}

static void again_of_another(struct client_timer *t)
{
	t->result = twheel_again_at(&t->other->timer, 0);
	complete(&t->done);
}

static void again_elsewhere_is_refused(struct client *c)
{
	struct client_timer *t = client_timer_new(c, again_of_another);
	struct client_timer *other = client_timer_new(c, NULL);

	if (t && other) {
		CLIENT_CHECK(c, twheel_again_at(&t->timer, 0) == -EINVAL);
		CLIENT_CHECK(c, !twheel_pending(&t->timer));
		t->other = other;
		client_start(t, client_delay(c, 5));
		client_wait(t);
		CLIENT_CHECK(c, t->result == -EINVAL);
		CLIENT_CHECK(c, twheel_stop_sync(&other->timer) == 0);
		CLIENT_CHECK(c, other->count == 0);
	}
	client_timer_free(t);
	client_timer_free(other);
}

const struct client_case client_again_cases[] = {
	CLIENT_TIMER(again_expires, .then = again_callback),
	CLIENT_CASE(again_is_a_start_to_its_callback),
	CLIENT_CASE(again_is_a_start_to_others),
	CLIENT_TIMER(again_after_a_start_is_a_restart, .then = again_on_request,
		     .needs = CLIENT_CPUS),
	CLIENT_TIMER(again_after_a_shutdown_is_refused, .then = again_late),
	CLIENT_CASE(again_elsewhere_is_refused),
	{}
};
