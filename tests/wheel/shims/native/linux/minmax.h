/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/minmax.h for user space: each argument is evaluated once
 */
#ifndef _SHIM_LINUX_MINMAX_H
#define _SHIM_LINUX_MINMAX_H

#define __shim_cmp(x, y, op) ({			\
	typeof(x) __x = (x);			\
	typeof(y) __y = (y);			\
	(void)(&__x == &__y);			\
	__x op __y ? __x : __y; })

#define min(x, y)		__shim_cmp(x, y, <)
#define max(x, y)		__shim_cmp(x, y, >)
#define min_t(type, x, y)	__shim_cmp((type)(x), (type)(y), <)
#define max_t(type, x, y)	__shim_cmp((type)(x), (type)(y), >)
#define max3(x, y, z)		max(max(x, y), z)
#define clamp(x, lo, hi)	min(max(x, lo), hi)
#define clamp_t(type, x, lo, hi) min_t(type, max_t(type, x, lo), hi)
#define swap(a, b) \
	do { typeof(a) __tmp = (a); (a) = (b); (b) = __tmp; } while (0)

#endif /* _SHIM_LINUX_MINMAX_H */
