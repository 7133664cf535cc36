/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/preempt.h for the simulation
 */
#ifndef _SIM_LINUX_PREEMPT_H
#define _SIM_LINUX_PREEMPT_H

#include <linux/types.h>

int preempt_count(void);
void preempt_count_set(int count);
bool in_hardirq(void);
bool in_interrupt(void);
void migrate_disable(void);
void migrate_enable(void);

#endif /* _SIM_LINUX_PREEMPT_H */
