/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/percpu.h for user space, which has one CPU
 */
#ifndef _SHIM_LINUX_PERCPU_H
#define _SHIM_LINUX_PERCPU_H

#define DEFINE_PER_CPU(type, name)	type name
#define per_cpu_ptr(pointer, cpu)	(pointer)
#define this_cpu_ptr(pointer)		(pointer)

#endif /* _SHIM_LINUX_PERCPU_H */
