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

#define READ_ONCE(x) ({							\
	sim_point();							\
	*(const volatile typeof(x) *)&(x); })
#define WRITE_ONCE(x, val)						\
	do {								\
		typeof(x) __val = (val);				\
									\
		sim_point();						\
		*(volatile typeof(x) *)&(x) = __val;			\
	} while (0)
#define smp_load_acquire(p)		READ_ONCE(*(p))
#define smp_store_release(p, val)	WRITE_ONCE(*(p), val)

#define smp_wmb()			sim_point()
#define smp_mb__after_atomic()		sim_point()
#define data_race(x)			(x)

#define __init
#define __exit
#define __cacheline_aligned
#define ____cacheline_aligned_in_smp

#endif /* _SIM_LINUX_COMPILER_H */
