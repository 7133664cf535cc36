/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/cpu.h for the simulation
 */
#ifndef _SIM_LINUX_CPU_H
#define _SIM_LINUX_CPU_H

#include <linux/cpumask.h>

void cpus_read_lock(void);
void cpus_read_unlock(void);

#endif /* _SIM_LINUX_CPU_H */
