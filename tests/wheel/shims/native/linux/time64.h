/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/time64.h for user space
 */
#ifndef _SHIM_LINUX_TIME64_H
#define _SHIM_LINUX_TIME64_H

#include <linux/ktime.h>

#endif /* _SHIM_LINUX_TIME64_H */
