/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/cred.h for the simulation
 */
#ifndef _SIM_LINUX_CRED_H
#define _SIM_LINUX_CRED_H

#include <linux/uidgid.h>

kuid_t current_euid(void);

#endif /* _SIM_LINUX_CRED_H */
