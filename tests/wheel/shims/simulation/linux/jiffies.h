/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/jiffies.h for the simulation
 */
#ifndef _SIM_LINUX_JIFFIES_H
#define _SIM_LINUX_JIFFIES_H

#include <linux/sim.h>

#define jiffies		((unsigned long)(sim.now / 1000000))
#define time_after(a, b)	((long)((b) - (a)) < 0)

#endif /* _SIM_LINUX_JIFFIES_H */
