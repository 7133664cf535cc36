/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/bitops.h for user space, and the searches of linux/find.h
 */
#ifndef _SHIM_LINUX_BITOPS_H
#define _SHIM_LINUX_BITOPS_H

#include <linux/math.h>
#include <linux/types.h>

#define BITS_PER_LONG	(8 * __SIZEOF_LONG__)

#define BITS_TO_LONGS(nr)	DIV_ROUND_UP(nr, BITS_PER_LONG)
#define BIT_WORD(nr)		((nr) / BITS_PER_LONG)
#define BIT(nr)			(1UL << (nr))
#define BIT_ULL(nr)		(1ULL << (nr))
#define BIT_MASK(nr)		(1UL << ((nr) % BITS_PER_LONG))

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline int fls_long(unsigned long x)
{
	return fls64(x);
}

static inline unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

static inline unsigned long __fls(unsigned long word)
{
	return BITS_PER_LONG - 1 - __builtin_clzl(word);
}

static inline void __set_bit(unsigned long nr, unsigned long *addr)
{
	addr[BIT_WORD(nr)] |= BIT_MASK(nr);
}

static inline void __clear_bit(unsigned long nr, unsigned long *addr)
{
	addr[BIT_WORD(nr)] &= ~BIT_MASK(nr);
}

static inline bool test_bit(unsigned long nr, const unsigned long *addr)
{
	return addr[BIT_WORD(nr)] & BIT_MASK(nr);
}

static inline unsigned long find_next_bit(const unsigned long *addr,
					  unsigned long size,
					  unsigned long offset)
{
	unsigned long word, i;

	if (offset >= size)
		return size;
	i = BIT_WORD(offset);
	word = addr[i] & (~0UL << (offset % BITS_PER_LONG));
	while (!word) {
		if (++i * BITS_PER_LONG >= size)
			return size;
		word = addr[i];
	}
	offset = i * BITS_PER_LONG + __ffs(word);
	return offset < size ? offset : size;
}

static inline unsigned long find_first_bit(const unsigned long *addr,
					   unsigned long size)
{
	return find_next_bit(addr, size, 0);
}

static inline unsigned long find_last_bit(const unsigned long *addr,
					  unsigned long size)
{
	unsigned long i = BITS_TO_LONGS(size), word;

	while (i--) {
		word = addr[i];
		if (i == BIT_WORD(size) && size % BITS_PER_LONG)
			word &= ~0UL >> (BITS_PER_LONG - size % BITS_PER_LONG);
		if (word)
			return i * BITS_PER_LONG + __fls(word);
	}
	return size;
}

#define for_each_set_bit(bit, addr, size)				\
	for ((bit) = find_next_bit((addr), (size), 0); (bit) < (size);	\
	     (bit) = find_next_bit((addr), (size), (bit) + 1))

#endif /* _SHIM_LINUX_BITOPS_H */
