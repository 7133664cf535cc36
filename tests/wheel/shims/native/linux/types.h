/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/types.h for user space: the exported header and the kernel's own names, and
 * linux/compiler.h
 */
#ifndef _SHIM_LINUX_TYPES_H
#define _SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, val)	(*(volatile typeof(x) *)&(x) = (val))

/* The compiler's acquire for the kernel's. The sources say what it pairs with. */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)

/* Mutants put this in place of a statement. */
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

typedef __u8 u8;
typedef __s8 s8;
typedef __u16 u16;
typedef __s16 s16;
typedef __u32 u32;
typedef __s32 s32;
/* As in the kernel, where it is unsigned long long on every machine. */
typedef unsigned long long u64;
typedef long long s64;

typedef unsigned int gfp_t;

#define U32_MAX	((u32)~0U)
#define S32_MAX	((s32)(U32_MAX >> 1))
#define U64_MAX	((u64)~0ULL)

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#endif /* _SHIM_LINUX_TYPES_H */
