/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/cacheinfo.h for the simulation
 */
#ifndef _SHIM_LINUX_CACHEINFO_H
#define _SHIM_LINUX_CACHEINFO_H

#define cpu_dcache_is_aliasing()	false

#endif /* _SHIM_LINUX_CACHEINFO_H */
