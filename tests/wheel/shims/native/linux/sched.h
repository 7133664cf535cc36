/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/sched.h for user space
 */
#ifndef _SHIM_LINUX_SCHED_H
#define _SHIM_LINUX_SCHED_H

static inline void cond_resched(void)
{
}

#endif /* _SHIM_LINUX_SCHED_H */
