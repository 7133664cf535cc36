/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/irq_work.h for the simulation
 */
#ifndef _SIM_LINUX_IRQ_WORK_H
#define _SIM_LINUX_IRQ_WORK_H

#include <linux/types.h>

struct irq_work {
	struct irq_work *next;
	void (*func)(struct irq_work *work);
	u64 at;
	bool queued;
};

#define IRQ_WORK_INIT(fn)	{ .func = (fn) }

bool irq_work_queue(struct irq_work *work);
void irq_work_sync(struct irq_work *work);

#endif /* _SIM_LINUX_IRQ_WORK_H */
