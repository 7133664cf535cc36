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
/* @new may use __old. */
#define sim_atomic(p, new, how) ({					\
	typeof(*(p)) __old;						\
									\
	sim_point();							\
	if (sim_weak)							\
		sim_weak_atomic(p, sizeof(*(p)), how);			\
	__old = *(p);							\
	*(p) = (new);							\
	if (sim_weak)							\
		sim_weak_changed(p, sizeof(*(p)), how);			\
	__old; })
#define xchg(p, v)		sim_atomic(p, v, SIM_FULL)
/* One that fails orders nothing. */
#define cmpxchg(p, o, n) ({						\
	typeof(*(p)) __was;						\
									\
	sim_point();							\
	__was = *(p);							\
	if (sim_weak)							\
		sim_weak_atomic(p, sizeof(*(p)),			\
				__was == (o) ? SIM_FULL : SIM_ONCE);	\
	if (__was == (o)) {						\
		*(p) = (n);						\
		if (sim_weak)						\
			sim_weak_changed(p, sizeof(*(p)), SIM_FULL);	\
	}								\
	__was; })

#endif /* _SIM_LINUX_KERNEL_H */
