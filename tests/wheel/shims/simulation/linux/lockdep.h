/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/lockdep.h for the simulation
 */
#ifndef _SIM_LINUX_LOCKDEP_H
#define _SIM_LINUX_LOCKDEP_H

#include_next <linux/lockdep.h>

#define lockdep_assert_preemption_enabled()	do { } while (0)
#define lockdep_assert_held(lock)					\
	do {								\
		if (!sim_holds(lock))					\
			sim_fail("%s:%d: lock not held", __FILE__, __LINE__); \
	} while (0)
#define lock_map_acquire(map)	do { } while (0)
#define lock_map_release(map)	do { } while (0)
#define lockdep_init_map(map, name, key, subclass) \
	((void)(name), (void)(key))

#endif /* _SIM_LINUX_LOCKDEP_H */
