/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/prefetch.h for user space
 */
#ifndef _SHIM_LINUX_PREFETCH_H
#define _SHIM_LINUX_PREFETCH_H

#define prefetch(x)	__builtin_prefetch(x)
#define prefetchw(x)	__builtin_prefetch(x, 1)

#endif /* _SHIM_LINUX_PREFETCH_H */
