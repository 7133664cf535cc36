/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/bug.h for user space
 */
#ifndef _SHIM_LINUX_BUG_H
#define _SHIM_LINUX_BUG_H

#include <linux/kconfig.h>
#include <linux/kernel.h>

#define WARN(condition, ...)	WARN_ON(condition)

#endif /* _SHIM_LINUX_BUG_H */
