/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/build_bug.h for user space
 */
#ifndef _SHIM_LINUX_BUILD_BUG_H
#define _SHIM_LINUX_BUILD_BUG_H

#include <linux/kernel.h>

#endif /* _SHIM_LINUX_BUILD_BUG_H */
