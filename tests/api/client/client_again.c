// SPDX-License-Identifier: GPL-2.0
/*
 * A callback that starts its own timer again with twheel_again_at()
 *
 * Other callers must find the timer started at once, although the tick starts it only after the
 * callback. On a machine with one CPU, their calls come after the callback, with the same results.
 */
#include <linux/delay.h>

#include "client.h"

/*
 * Calls that a callback makes. The results form a decimal number, with one digit for each call. The
 * digit 9 stands for an error.
 */

static CLIENT_CALL(again_now, twheel_again_at(timer, 0))
static CLIENT_CALL(again_later, twheel_again_at(timer, client_in(CLIENT_HOUR)))
static CLIENT_CALL(again_never, twheel_again_at(timer, KTIME_MAX))
static CLIENT_CALL(start_now, twheel_start(timer, 0))
static CLIENT_CALL(start_later, twheel_start(timer, CLIENT_HOUR))
static CLIENT_CALL(restart_later, twheel_restart_at(timer, client_in(CLIENT_HOUR)))
static CLIENT_CALL(reduce_not, twheel_reduce_at(timer, KTIME_MAX))
static CLIENT_CALL(reduce_to_half, twheel_reduce_at(timer, client_in(CLIENT_HOUR / 2)))
static CLIENT_CALL(is_pending, twheel_pending(timer))
static CLIENT_CALL(is_now, twheel_deadline(timer) == 0)
static CLIENT_CALL(is_in_half, twheel_remaining(timer) <= CLIENT_HOUR / 2)
static CLIENT_CALL(is_later, twheel_deadline(timer) > client_in(CLIENT_HOUR / 2))
static CLIENT_CALL(is_never, twheel_deadline(timer) == KTIME_MAX)

struct answers {
	int (*calls[7])(struct twheel_timer *timer);
	int answers;
	bool pending;
};

static struct answers again_answers[] = {
	{ { again_now, start_later, is_pending, again_later }, 111, true },
	{ { again_now, again_later, restart_later }, 11, true },
	{ { again_later, reduce_not, is_never, reduce_to_half, is_in_half }, 1011, true },
	{ { start_now, again_later, is_later }, 11, true },
	{ { again_now, twheel_stop, twheel_stop, again_now, twheel_stop }, 1001, false },
	{ { again_now, is_now, start_later }, 11, true },
	{ { again_now, client_restart_many, client_stop_many, again_now, client_stop_many,
	    again_now, client_start_many }, 110101, true },
	{ { again_never, is_never }, 1, true },
};

static void make_calls(struct client_timer *t)
{
	const struct answers *a = t->data;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(a->calls) && a->calls[i]; i++) {
		ret = a->calls[i](&t->timer);
		t->result = t->result * 10 + (ret < 0 ? 9 : ret);
	}
	complete(&t->done);
}

static void again_is_a_start_to_its_callback(struct client *c, struct client_timer *t)
{
	struct answers *a;

	for (a = again_answers; a < again_answers + ARRAY_SIZE(again_answers); a++, t++) {
		t->data = a;
		client_expires(t);
		CLIENT_CHECK(c, twheel_stop_sync(&t->timer) == a->pending);
		if (!CLIENT_CHECK(c, t->result == a->answers))
			pr_info("# answers %d, not %d\n", t->result, a->answers);
		CLIENT_CHECK(c, t->count == 1);
	}
}

static void again_slowly(struct client_timer *t)
{
	t->result = twheel_again_at(&t->timer, client_in(CLIENT_HOUR));
	client_set(&t->entered);
	mdelay(CLIENT_SLOW_MS);
	client_set(&t->left);
}

/*
 * Check that @fn finds the timer started if it is called while the callback runs. After the
 * callback, the timer must be @pending, which depends on @fn.
 */
static void check_others(struct client *c, int (*fn)(struct twheel_timer *timer), bool pending)
{
	struct client_timer *t = client_timer_new(c, again_slowly);

	if (!client_enter(c, t))
		return;
	if (!CLIENT_CHECK(c, fn(&t->timer) == 1))
		pr_info("# by %ps\n", fn);
	client_wait_for(&t->left);
	CLIENT_CHECK(c, t->result == 0);
	CLIENT_CHECK(c, twheel_stop_sync(&t->timer) == pending);
	CLIENT_CHECK(c, t->count == 1);
}

static void again_is_a_start_to_others(struct client *c, struct client_timer *t)
{
	const struct client_call *i;

	for (i = client_calls; i->call; i++)
		check_others(c, i->call, i->does != CLIENT_STOPS);
	check_others(c, twheel_shutdown_sync, false);
}

static void again_late(struct client_timer *t)
{
	client_set(&t->entered);
	mdelay(CLIENT_SLOW_MS);
	t->result = twheel_again_at(&t->timer, client_in(CLIENT_HOUR));
	client_set(&t->left);
}

/* Shut the timer down while its callback runs, before or after twheel_again_at(). */
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
	t->result = twheel_again_at(&t[1].timer, 0);
	complete(&t->done);
}

static void again_elsewhere_is_refused(struct client *c, struct client_timer *t)
{
	CLIENT_CHECK(c, twheel_again_at(&t->timer, 0) == -EINVAL);
	CLIENT_CHECK(c, !twheel_pending(&t->timer));
	client_expires(t);
	CLIENT_CHECK(c, t->result == -EINVAL);
	CLIENT_CHECK(c, twheel_stop_sync(&t[1].timer) == 0);
	CLIENT_CHECK(c, t[1].count == 0);
}

const struct client_case client_again_cases[] = {
	CLIENT_CASE(again_is_a_start_to_its_callback, .then = make_calls,
		    .nr = ARRAY_SIZE(again_answers)),
	CLIENT_CASE(again_is_a_start_to_others),
	CLIENT_CASE(again_after_a_shutdown_is_refused, .then = again_late),
	CLIENT_CASE(again_elsewhere_is_refused, .then = again_of_another, .nr = 2),
	{}
};
