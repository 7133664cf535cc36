/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/ktime.h for the simulation
 */
#ifndef _SIM_LINUX_KTIME_H
#define _SIM_LINUX_KTIME_H

#include_next <linux/ktime.h>

#include <linux/sim.h>

ktime_t ktime_get(void);

#define ktime_get_ns()	((u64)ktime_get())

#endif /* _SIM_LINUX_KTIME_H */
