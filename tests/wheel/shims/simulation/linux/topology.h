/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/topology.h for the simulation: two nodes, of which the second has one CPU
 */
#ifndef _SIM_LINUX_TOPOLOGY_H
#define _SIM_LINUX_TOPOLOGY_H

#include <linux/cpumask.h>

#define cpu_to_node(cpu)	((int)(cpu) / 2)

static inline const struct cpumask *cpumask_of_node(int node)
{
	static const struct cpumask nodes[] = { { 3 }, { 4 } };

	return &nodes[node];
}

#endif /* _SIM_LINUX_TOPOLOGY_H */
