// SPDX-License-Identifier: GPL-2.0
/*
 * What tools/timer_list-to-twheel.cocci reports
 *
 * Not built: what is left as it is does not compile among the rest.
 */
#include <linux/timer.h>

static struct timer_list timer;

static void expired(struct timer_list *t)
{
	t->function = NULL;				/* no counterpart */
}

static int left(void)
{
	timer_setup(&timer, expired, TIMER_DEFERRABLE);	/* was deferrable */
	timer_setup(&timer, expired, TIMER_IRQSAFE);	/* no counterpart */
	timer_reduce(&timer, jiffies + 1);		/* no counterpart */
	timer_shutdown(&timer);				/* no counterpart */
	if (time_after(timer.expires, jiffies))		/* reads expires */
		timer.expires = jiffies;
	return try_to_del_timer_sync(&timer);		/* no counterpart */
}
