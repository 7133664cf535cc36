/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/math64.h for user space
 */
#ifndef _SHIM_LINUX_MATH64_H
#define _SHIM_LINUX_MATH64_H

#include <linux/math.h>
#include <linux/types.h>

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)(((__uint128_t)a * b) >> shift);
}

static inline u64 mul_u64_u32_shr(u64 a, u32 b, unsigned int shift)
{
	return mul_u64_u64_shr(a, b, shift);
}

#endif /* _SHIM_LINUX_MATH64_H */
