/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/log2.h in user space
 */
#ifndef _SHIM_LINUX_LOG2_H
#define _SHIM_LINUX_LOG2_H

#include <linux/bitops.h>

#define roundup_pow_of_two(n)	(1U << fls((n) - 1))

#endif /* _SHIM_LINUX_LOG2_H */
