/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/workqueue.h for the simulation: one work, and one task that does it
 */
#ifndef _SIM_LINUX_WORKQUEUE_H
#define _SIM_LINUX_WORKQUEUE_H

#include <linux/types.h>

#define HZ	1000

struct work_struct {
	void (*func)(struct work_struct *work);
};

struct delayed_work {
	struct work_struct work;
};

#define DECLARE_DELAYED_WORK(n, fn) \
	struct delayed_work n = { .work = { .func = (fn) } }

bool schedule_delayed_work(struct delayed_work *work, unsigned long delay);
bool cancel_delayed_work_sync(struct delayed_work *work);

#endif /* _SIM_LINUX_WORKQUEUE_H */
