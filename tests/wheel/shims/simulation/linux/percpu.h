/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/percpu.h for the simulation
 */
#ifndef _SIM_LINUX_PERCPU_H
#define _SIM_LINUX_PERCPU_H

#include <linux/sim.h>

#define DEFINE_PER_CPU(type, name)	type name[SIM_CPUS]
#define per_cpu_ptr(pointer, cpu)	(&(*(pointer))[cpu])
#define this_cpu_ptr(pointer)		per_cpu_ptr(pointer, sim.cpu)

#endif /* _SIM_LINUX_PERCPU_H */
