/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/capability.h for the simulation
 */
#ifndef _SIM_LINUX_CAPABILITY_H
#define _SIM_LINUX_CAPABILITY_H

#include <linux/cred.h>
#include <linux/user_namespace.h>

#define CAP_SYS_NICE		23
#define CAP_SYS_RESOURCE	24

bool ns_capable_noaudit(struct user_namespace *ns, int cap);

#endif /* _SIM_LINUX_CAPABILITY_H */
