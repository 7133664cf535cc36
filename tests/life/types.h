/* SPDX-License-Identifier: GPL-2.0 */
/* Types and macros of the kernel that starts.c uses, for a user program */
#ifndef LIFE_TYPES_H
#define LIFE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#define KTIME_MAX	((s64)(~0ULL >> 1))
#define BIT(nr)		(1UL << (nr))
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define min_t(type, a, b)					\
	({							\
		type a_ = (a), b_ = (b);			\
								\
		a_ < b_ ? a_ : b_;				\
	})
#define max_t(type, a, b)					\
	({							\
		type c_ = (a), d_ = (b);			\
								\
		c_ > d_ ? c_ : d_;				\
	})
#define min(a, b)	min_t(__typeof__(a), a, b)
#define max(a, b)	max_t(__typeof__(a), a, b)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif /* LIFE_TYPES_H */
