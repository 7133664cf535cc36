/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/kconfig.h for the simulation: options are macros, as CONFIG_64BIT=1
 */
#ifndef _SIM_LINUX_KCONFIG_H
#define _SIM_LINUX_KCONFIG_H

#define __SIM_PLACEHOLDER_1		0,
#define __sim_second(first, second, ...)	second
#define __sim_is_one(value)		__sim_is_set(__SIM_PLACEHOLDER_##value)
#define __sim_is_set(arg)		__sim_second(arg 1, 0)
#define __sim_expand(value)		__sim_is_one(value)
#define IS_ENABLED(option)		__sim_expand(option)

#endif /* _SIM_LINUX_KCONFIG_H */
