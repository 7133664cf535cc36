// SPDX-License-Identifier: GPL-2.0
/*
 * Places that tools/port-to-twheel reports
 *
 * This file is not built. The script must report each line that ends in a comment, in
 * a message that begins with the words of the comment, and no other line. It does not
 * port a timer that it reports, nor the timers and callbacks used together with it, so
 * that a driver with such a timer still compiles.
 */
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include "../elsewhere.h"	/* common has a namesake */

struct left {
	struct delayed_work deprecated;
	struct timer_list safe, set, tried, alone, half, shared, given, common;
	struct timer_list deferred, read;
	struct delayed_work busy, queued, item, called;
};

static void alike(struct timer_list *t)
{
}

static void left_as_it_is(struct left *l)
{
	timer_setup(&l->safe, alike, TIMER_IRQSAFE);	/* safe has no counterpart */
	timer_setup(&l->set, alike, 0);
	l->set.function = NULL;	/* set has no counterpart */
	timer_setup(&l->tried, alike, 0);
	timer_shutdown(&l->tried);	/* tried is passed to */
	try_to_del_timer_sync(&l->tried);	/* tried is passed to */
	timer_setup(&l->alone, alike, 0);
	l->alone.expires = jiffies;	/* alone has expires written */
	timer_setup(&l->half, alike, 0);
	add_timer(&l->half);	/* half add_timer(), and expires */
	timer_setup(&l->given, alike, 0);
	sk_reset_timer(NULL, &l->given, jiffies);	/* given is passed to */
	timer_setup(&l->common, alike, 0);
}

/* Expire shared or a kernel timer, so that shared is not ported either. */
static void shared_expired(struct timer_list *t)
{
	struct left *l = from_timer(l, t, shared);

	mod_timer(&l->shared, jiffies + HZ);
}

static void left_shared(struct left *l, struct sock *sk)
{
	timer_setup(&l->shared, shared_expired, 0);
	timer_setup(&sk->sk_timer, shared_expired, 0);	/* shared_expired is the callback */
}

static void looked(struct timer_list *t)
{
}

static int looked_at(struct left *l)
{
	timer_setup(&l->deferred, looked, TIMER_DEFERRABLE);	/* was deferrable, and will */
	timer_setup(&l->read, looked, 0);
	if (time_after(l->read.expires, jiffies))	/* reads expires, which is */
		mod_timer(&l->read, jiffies);
	BUG_ON(mod_timer(&l->read, jiffies));	/* uses the result, which */
	if (!l)
		mod_timer(&l->read, jiffies);
	else if (mod_timer_pending(&l->read, jiffies) == 0)	/* uses the result, which */
		mod_timer(&l->read, jiffies);
	else
		(void)mod_timer(&l->read, jiffies);
	if (0)
		return timer_reduce(&l->read, jiffies);	/* uses the result, which */
#ifdef LEFT
again:
#endif
	mod_timer(&l->read, jiffies);
	switch (l ? 0 : mod_timer(&l->read, jiffies)) {	/* uses the result, which */
	case 0:
		mod_timer(&l->read, jiffies);
	}
}

static void left_works(struct left *l)
{
	struct delayed_work *pending = &l->item;

	INIT_DELAYED_WORK(&l->busy, NULL);
	if (work_busy(&l->busy.work))	/* busy has no counterpart */
		return;
	INIT_DELAYED_WORK(&l->queued, NULL);
	queue_work(system_wq, &l->queued.work);	/* queued has no counterpart */
	INIT_DELAYED_WORK(&l->item, NULL);
	if (work_pending(&pending->work))	/* pending has no counterpart */
		return;
	INIT_DELAYED_WORK(&l->called, NULL);
	flush_work(&l->called.work);
	INIT_DELAYED_WORK(&l->deprecated, NULL);
	queue_delayed_work(system_unbound_wq, &l->deprecated, 1);	/* names system_unbound_wq, deprecated since */
	mod_delayed_work(system_wq, &l->deprecated, 1);	/* names system_wq, deprecated since */
}
