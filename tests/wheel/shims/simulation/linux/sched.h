/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/sched.h for the simulation
 */
#ifndef _SIM_LINUX_SCHED_H
#define _SIM_LINUX_SCHED_H

#define cond_resched()	sim_point()
#define might_sleep()	sim_might_sleep(__func__)

struct pid;
struct task_struct;

void sim_might_sleep(const char *where);

/* Of the tasks of simulation-session. */
struct task_struct *sim_current(void);
struct pid *task_tgid(struct task_struct *task);

#define current		sim_current()

#endif /* _SIM_LINUX_SCHED_H */
