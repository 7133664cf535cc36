/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/workqueue.h for user space: the names that include/linux/twheel.h needs
 */
#ifndef _SHIM_LINUX_WORKQUEUE_H
#define _SHIM_LINUX_WORKQUEUE_H

#include <linux/types.h>

struct workqueue_struct;
struct work_struct;

#define WORK_CPU_UNBOUND	0

typedef void (*work_func_t)(struct work_struct *work);

struct work_struct {
	struct list_head entry;
	work_func_t func;
};

#endif /* _SHIM_LINUX_WORKQUEUE_H */
