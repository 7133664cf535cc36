// SPDX-License-Identifier: GPL-2.0
#include "mine.h"

static void mine_fn(struct timer_list *t)
{
	struct mine *m = from_timer(m, t, rh_timer);

	mod_timer(&m->rh_timer, jiffies + HZ);
}

void mine_init(struct mine *m)
{
	timer_setup(&m->rh_timer, mine_fn, 0);
}
