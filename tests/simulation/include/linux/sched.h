/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/sched.h for the simulation
 */
#ifndef _SIM_LINUX_SCHED_H
#define _SIM_LINUX_SCHED_H

#define cond_resched()	sim_point()
#define might_sleep()	sim_might_sleep(__func__)

void sim_might_sleep(const char *where);

#endif /* _SIM_LINUX_SCHED_H */
