/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/ktime.h for user space: the names that include/linux/twheel.h needs
 */
#ifndef _SHIM_LINUX_KTIME_H
#define _SHIM_LINUX_KTIME_H

#include <time.h>

#include <linux/types.h>

typedef s64 ktime_t;

#define KTIME_MAX	((s64)(~0ULL >> 1))

#define TK_OFFS_BOOT	1

ktime_t ktime_mono_to_any(ktime_t tmono, int offs);

#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L

#endif /* _SHIM_LINUX_KTIME_H */
