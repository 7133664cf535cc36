/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/module.h for the simulation
 */
#ifndef _SIM_LINUX_MODULE_H
#define _SIM_LINUX_MODULE_H

#include_next <linux/module.h>

#include <linux/moduleparam.h>

#define THIS_MODULE	NULL
#define pr_err(...)	do { } while (0)

#endif /* _SIM_LINUX_MODULE_H */
