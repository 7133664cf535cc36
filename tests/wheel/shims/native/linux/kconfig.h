/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/kconfig.h for user space: options are macros, as CONFIG_64BIT=1
 */
#ifndef _SHIM_LINUX_KCONFIG_H
#define _SHIM_LINUX_KCONFIG_H

#define __SHIM_PLACEHOLDER_1		0,
#define __shim_second(first, second, ...)	second
#define __shim_is_one(value)		__shim_is_set(__SHIM_PLACEHOLDER_##value)
#define __shim_is_set(arg)		__shim_second(arg 1, 0)
#define __shim_expand(value)		__shim_is_one(value)
#define IS_ENABLED(option)		__shim_expand(option)

#endif /* _SHIM_LINUX_KCONFIG_H */
