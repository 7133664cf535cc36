/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/cpumask.h for the simulation: CPUs are bits of a word
 */
#ifndef _SIM_LINUX_CPUMASK_H
#define _SIM_LINUX_CPUMASK_H

#include <linux/bitops.h>
#include <linux/smp.h>

#define nr_cpu_ids		SIM_CPUS

extern unsigned long sim_online;
extern const unsigned long sim_all, sim_none;

#define cpu_online_mask		(&sim_online)
#define cpu_possible_mask	(&sim_all)
#define cpu_none_mask		(&sim_none)
#define cpumask_bits(mask)	(mask)

static inline bool cpu_online(unsigned int cpu)
{
	sim_point();
	return sim_online & BIT(cpu);
}

/* All are possible. */
#define cpumask_next(cpu, mask)	((cpu) + 1)
#define cpumask_first(mask)	0
#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)
#define for_each_online_cpu(cpu) \
	for_each_set_bit(cpu, &sim_online, nr_cpu_ids)

static inline unsigned int cpumask_any_but(const unsigned long *mask,
					   unsigned int cpu)
{
	unsigned long others = *mask & ~BIT(cpu);

	return others ? __ffs(others) : nr_cpu_ids;
}

#endif /* _SIM_LINUX_CPUMASK_H */
