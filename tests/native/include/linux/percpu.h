/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/percpu.h for user space: nothing, its user has one CPU
 */
#ifndef _SHIM_LINUX_PERCPU_H
#define _SHIM_LINUX_PERCPU_H

#endif /* _SHIM_LINUX_PERCPU_H */
