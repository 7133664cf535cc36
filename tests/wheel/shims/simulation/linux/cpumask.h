/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/cpumask.h for the simulation: CPUs are bits of a word
 */
#ifndef _SIM_LINUX_CPUMASK_H
#define _SIM_LINUX_CPUMASK_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/slab.h>
#include <linux/smp.h>

#define nr_cpu_ids		SIM_CPUS

struct cpumask {
	unsigned long bits;
};

typedef struct cpumask *cpumask_var_t;

extern struct cpumask sim_online;
extern const struct cpumask sim_all, sim_none;

#define cpu_online_mask		((const struct cpumask *)&sim_online)
#define cpu_possible_mask	(&sim_all)
#define cpu_none_mask		(&sim_none)
#define cpumask_bits(mask)	(&(mask)->bits)

static inline bool zalloc_cpumask_var(cpumask_var_t *mask, gfp_t gfp)
{
	*mask = kzalloc(sizeof(**mask), gfp);
	return *mask;
}

#define free_cpumask_var(mask)	kfree(mask)

static inline unsigned long sim_mask(const struct cpumask *mask)
{
	return READ_ONCE(mask->bits);
}

static inline bool cpumask_test_cpu(unsigned int cpu, const struct cpumask *mask)
{
	return sim_mask(mask) & BIT(cpu);
}

static inline void cpumask_set_cpu(unsigned int cpu, struct cpumask *mask)
{
	set_bit(cpu, &mask->bits);
}

static inline void cpumask_clear_cpu(unsigned int cpu, struct cpumask *mask)
{
	sim_atomic(&mask->bits, __old & ~BIT(cpu), SIM_ONCE);
}

static inline bool cpumask_test_and_set_cpu(unsigned int cpu,
					    struct cpumask *mask)
{
	return test_and_set_bit(cpu, &mask->bits);
}

static inline bool cpu_online(unsigned int cpu)
{
	return cpumask_test_cpu(cpu, cpu_online_mask);
}

static inline unsigned int sim_first(unsigned long mask)
{
	return mask ? __ffs(mask) : nr_cpu_ids;
}

#define cpumask_first(mask)	sim_first(sim_mask(mask))
#define cpumask_first_and(a, b)	sim_first(sim_mask(a) & sim_mask(b))
#define cpumask_any_but(mask, cpu) \
	sim_first(sim_mask(mask) & ~BIT(cpu))

/* All are possible. */
#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)
#define for_each_online_cpu(cpu) \
	for_each_set_bit(cpu, &sim_online.bits, nr_cpu_ids)

#endif /* _SIM_LINUX_CPUMASK_H */
