/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/rcupdate.h for the simulation
 */
#ifndef _SIM_LINUX_RCUPDATE_H
#define _SIM_LINUX_RCUPDATE_H

#include <linux/types.h>

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *rcu);
	unsigned long waits_for;
	void *object;
};

void rcu_read_lock(void);
void rcu_read_unlock(void);
void call_rcu(struct rcu_head *rcu, void (*func)(struct rcu_head *rcu));
void rcu_barrier(void);
void sim_free_rcu(struct rcu_head *rcu);

#define kvfree_rcu(ptr, member)						\
	do {								\
		(ptr)->member.object = (ptr);				\
		call_rcu(&(ptr)->member, sim_free_rcu);			\
	} while (0)
#define kfree_rcu(ptr, member)	kvfree_rcu(ptr, member)

#endif /* _SIM_LINUX_RCUPDATE_H */
