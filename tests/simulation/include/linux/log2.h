/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/log2.h for the simulation
 */
#ifndef _SIM_LINUX_LOG2_H
#define _SIM_LINUX_LOG2_H

#include <linux/bitops.h>

#define roundup_pow_of_two(n)	(1U << fls((n) - 1))

#endif /* _SIM_LINUX_LOG2_H */
