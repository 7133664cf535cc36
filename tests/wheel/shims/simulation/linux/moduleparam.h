/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/moduleparam.h for the simulation: a scenario sets parameters by name
 */
#ifndef _SIM_LINUX_MODULEPARAM_H
#define _SIM_LINUX_MODULEPARAM_H

#include <linux/module.h>

struct kernel_param;

struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *param);
	int (*get)(char *value, const struct kernel_param *param);
};

int param_set_uint_minmax(const char *value, const struct kernel_param *param,
			  unsigned int min, unsigned int max);
int param_get_uint(char *value, const struct kernel_param *param);

#define module_param_cb(name, ops, var, perm)				\
	module_param(name, uint, perm) sim_ops_##name = { .value = (void *)(ops) }

#endif /* _SIM_LINUX_MODULEPARAM_H */
