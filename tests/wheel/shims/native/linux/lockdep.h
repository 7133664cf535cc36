/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/lockdep.h for user space: the names that include/linux/twheel.h needs
 */
#ifndef _SHIM_LINUX_LOCKDEP_H
#define _SHIM_LINUX_LOCKDEP_H

struct lockdep_map { };
struct lock_class_key;

#endif /* _SHIM_LINUX_LOCKDEP_H */
