/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/kernel.h for user space
 */
#ifndef _SHIM_LINUX_KERNEL_H
#define _SHIM_LINUX_KERNEL_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define ARRAY_SIZE(arr)	(sizeof(arr) / sizeof((arr)[0]))

#define pr_info(fmt, ...)	printf("# " fmt, ##__VA_ARGS__)

#define WARN_ON(condition) ({						\
	bool __warn = (condition);					\
	if (__warn)							\
		fprintf(stderr, "WARNING: %s:%d: %s\n", __FILE__,	\
			__LINE__, #condition);				\
	__warn; })
#define WARN_ON_ONCE(condition)	WARN_ON(condition)

#endif /* _SHIM_LINUX_KERNEL_H */
