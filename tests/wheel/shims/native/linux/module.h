/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/module.h and linux/moduleparam.h for user space
 *
 * A module parameter becomes an argument of the program: name=value.
 */
#ifndef _SHIM_LINUX_MODULE_H
#define _SHIM_LINUX_MODULE_H

#include <linux/kernel.h>

struct shim_param {
	const char *name;
	void *value;
	size_t size;
	struct shim_param *next;
};

void shim_param_add(struct shim_param *param);

#define module_param(var, type, perm)					\
	static struct shim_param __param_ ## var = {			\
		.name = #var, .value = &(var), .size = sizeof(var),	\
	};								\
	static void __attribute__((__constructor__))			\
	__param_add_ ## var(void)					\
	{								\
		shim_param_add(&__param_ ## var);			\
	}								\
	struct shim_param

#define MODULE_PARM_DESC(var, text)	struct shim_param
#define MODULE_LICENSE(text)		struct shim_param
#define MODULE_DESCRIPTION(text)	struct shim_param

#endif /* _SHIM_LINUX_MODULE_H */
