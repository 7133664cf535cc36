/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/compiler.h for the simulation: each access that others may see is a point
 */
#ifndef _SIM_LINUX_COMPILER_H
#define _SIM_LINUX_COMPILER_H

#include_next <linux/compiler.h>

#include <linux/sim.h>

#undef READ_ONCE
#undef WRITE_ONCE
#undef smp_load_acquire

/* The size of a pointer's target, 0 if it is no pointer. */
#define sim_is_pointer(x)	(__builtin_classify_type(x) == 5)
#define sim_pointee(x)							\
	(sim_is_pointer(x) ?						\
	 sizeof(*__builtin_choose_expr(sim_is_pointer(x), x, (char *)0)) : 0)

#define sim_load(x, how) ({						\
	sim_point();							\
	*(const volatile typeof(x) *)(sim_weak ?			\
		sim_weak_load(&(x), sizeof(x), sim_pointee(x), how) : &(x)); })
#define sim_store(x, val, how)						\
	do {								\
		typeof(x) __val = (val);				\
									\
		sim_point();						\
		if (sim_weak)						\
			sim_weak_store(&(x), &__val, sizeof(x), how);	\
		*(volatile typeof(x) *)&(x) = __val;			\
	} while (0)
#define sim_barrier(how)						\
	do {								\
		sim_point();						\
		if (sim_weak)						\
			sim_weak_##how();				\
	} while (0)

#define READ_ONCE(x)			sim_load(x, SIM_ONCE)
#define WRITE_ONCE(x, val)		sim_store(x, val, SIM_ONCE)
#define smp_load_acquire(p)		sim_load(*(p), SIM_ACQUIRE)
#define smp_store_release(p, val)	sim_store(*(p), val, SIM_RELEASE)

#define smp_mb()			sim_barrier(mb)
#define smp_rmb()			sim_barrier(rmb)
#define smp_wmb()			sim_barrier(wmb)
#define smp_mb__after_atomic()		smp_mb()
#define data_race(x)			(x)

#define __init
#define __exit
#define __cacheline_aligned
#define ____cacheline_aligned_in_smp

#endif /* _SIM_LINUX_COMPILER_H */
