/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/cpuhotplug.h for the simulation
 */
#ifndef _SIM_LINUX_CPUHOTPLUG_H
#define _SIM_LINUX_CPUHOTPLUG_H

#include <linux/list.h>

enum cpuhp_state {
	CPUHP_AP_ONLINE_DYN,
};

typedef int (*sim_hotplug_fn)(unsigned int cpu, struct hlist_node *node);

int cpuhp_setup_state_multi(enum cpuhp_state state, const char *name,
			    sim_hotplug_fn online, sim_hotplug_fn offline);
void cpuhp_remove_multi_state(enum cpuhp_state state);
int cpuhp_state_add_instance(enum cpuhp_state state, struct hlist_node *node);
int cpuhp_state_add_instance_nocalls(enum cpuhp_state state,
				     struct hlist_node *node);
int cpuhp_state_remove_instance_nocalls(enum cpuhp_state state,
					struct hlist_node *node);

#endif /* _SIM_LINUX_CPUHOTPLUG_H */
