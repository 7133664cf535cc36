/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/kernel.h for the simulation: a warning is a failure
 */
#ifndef _SIM_LINUX_KERNEL_H
#define _SIM_LINUX_KERNEL_H

#include_next <linux/kernel.h>
#include <limits.h>

#include <linux/kconfig.h>
#include <linux/sched.h>
#include <linux/sim.h>

#undef WARN_ON
#define WARN_ON(condition) ({						\
	bool __warn = (condition);					\
									\
	if (__warn)							\
		sim_fail("warning: %s:%d: %s", __FILE__, __LINE__, #condition); \
	__warn; })
#define WARN_ONCE(condition, ...)	WARN_ON(condition)

#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof((p)->member[0]) * (n))
#define IS_ALIGNED(x, a)	(!((x) & ((typeof(x))(a) - 1)))
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((u64)(n), d)
#define array_size(a, b)	((a) * (b))
#define xchg(p, v) ({							\
	typeof(*(p)) __old;						\
									\
	sim_point();							\
	__old = *(p);							\
	*(p) = (v);							\
	__old; })
#define cmpxchg(p, o, n) ({						\
	typeof(*(p)) __old;						\
									\
	sim_point();							\
	__old = *(p);							\
	if (__old == (o))						\
		*(p) = (n);						\
	__old; })

#endif /* _SIM_LINUX_KERNEL_H */
