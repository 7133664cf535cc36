/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/pid.h for the simulation
 */
#ifndef _SIM_LINUX_PID_H
#define _SIM_LINUX_PID_H

#include <linux/types.h>

struct pid {
	int refs;
	int nr;
};

struct pid *get_pid(struct pid *pid);
void put_pid(struct pid *pid);
pid_t pid_vnr(struct pid *pid);

#endif /* _SIM_LINUX_PID_H */
