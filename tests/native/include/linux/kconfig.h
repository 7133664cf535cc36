/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/kconfig.h for user space: no option is set
 */
#ifndef _SHIM_LINUX_KCONFIG_H
#define _SHIM_LINUX_KCONFIG_H

#define IS_ENABLED(CONFIG_option)	0

#endif /* _SHIM_LINUX_KCONFIG_H */
