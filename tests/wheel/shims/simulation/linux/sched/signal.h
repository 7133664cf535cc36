/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/sched/signal.h for the simulation
 */
#ifndef _SIM_LINUX_SCHED_SIGNAL_H
#define _SIM_LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>

bool signal_pending(const struct task_struct *task);
bool fatal_signal_pending(const struct task_struct *task);

#endif /* _SIM_LINUX_SCHED_SIGNAL_H */
