/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/sched/isolation.h for the simulation: a seed has isolated CPUs, and they change
 */
#ifndef _SIM_LINUX_SCHED_ISOLATION_H
#define _SIM_LINUX_SCHED_ISOLATION_H

#include <linux/cpumask.h>

#define HK_TYPE_TIMER			0
#define housekeeping_test_cpu(cpu, type) true

extern struct cpumask sim_isolated;

static inline bool cpu_is_isolated(int cpu)
{
	return cpumask_test_cpu(cpu, &sim_isolated);
}

#endif /* _SIM_LINUX_SCHED_ISOLATION_H */
