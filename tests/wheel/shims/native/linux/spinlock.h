/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/spinlock.h for user space: the names that include/linux/twheel.h needs
 */
#ifndef _SHIM_LINUX_SPINLOCK_H
#define _SHIM_LINUX_SPINLOCK_H

typedef struct {
	unsigned int held;
} raw_spinlock_t;

typedef raw_spinlock_t spinlock_t;

#endif /* _SHIM_LINUX_SPINLOCK_H */
