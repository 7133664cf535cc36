/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/nsproxy.h for the simulation
 */
#ifndef _SIM_LINUX_NSPROXY_H
#define _SIM_LINUX_NSPROXY_H

#include <linux/types.h>

struct nsproxy {
	struct time_namespace *time_ns;
};

/**
 * struct task_struct - what the module looks at of a task
 * @nsproxy: its namespaces
 */
struct task_struct {
	struct nsproxy *nsproxy;
};

#endif /* _SIM_LINUX_NSPROXY_H */
