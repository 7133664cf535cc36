/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/compiler.h for user space
 */
#ifndef _SHIM_LINUX_COMPILER_H
#define _SHIM_LINUX_COMPILER_H

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, val)	(*(volatile typeof(x) *)&(x) = (val))

/* One for the other: the pairs are the sources'. */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)

/* For mutants: no statement. */
#define barrier()	__asm__ __volatile__("" : : : "memory")

#define compiletime_assert(condition, text)	_Static_assert(condition, text)

#define fallthrough	__attribute__((__fallthrough__))

#ifndef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))
#endif
#define noinline	__attribute__((__noinline__))
#define __maybe_unused	__attribute__((__unused__))
#define __must_check	__attribute__((__warn_unused_result__))
#define __printf(a, b)	__attribute__((__format__(printf, a, b)))

#define __user
#define __force
#define __acquires(x)
#define __releases(x)
#define __must_hold(x)

#endif /* _SHIM_LINUX_COMPILER_H */
