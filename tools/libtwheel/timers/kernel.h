/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The part of the kernel that twheel_slot.h and twheel_hier.c need
 *
 * Precedes twheel_slot.h in both files of "make amalgamation". READ_ONCE() and
 * WRITE_ONCE() come from names.h for timers of one thread, from process/kernel.h for
 * sessions.
 */
#ifndef TWHEEL_TIMERS_KERNEL_H
#define TWHEEL_TIMERS_KERNEL_H

/* Compilers */

#ifdef __GNUC__
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define __always_inline		inline __attribute__((__always_inline__))
#define noinline		__attribute__((__noinline__))
#define __maybe_unused		__attribute__((__unused__))
#else
#define likely(x)		(x)
#define unlikely(x)		(x)
#define __always_inline		inline
#define noinline
#define __alignof__(x)		sizeof(u32)
#endif

/* Options, none of which is set */
#define IS_ENABLED(option)	TWHEEL_IS_ENABLED_##option
#define TWHEEL_IS_ENABLED_CONFIG_LIST_HARDENED	0
#define TWHEEL_IS_ENABLED_CONFIG_DEBUG_LIST	0
#define WARN_ON_ONCE(condition)	(condition)

/* Types */

typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;

#define U32_MAX			((u32)~0U)
#define U64_MAX			((u64)~0ULL)

/* Arithmetic */

/* names.h defines functions in place of these macros, for compilers without the extension. */
#ifndef min
#define TWHEEL_COMPARE(x, y, op) __extension__ ({			\
	__typeof__(x) __x = (x);					\
	__typeof__(y) __y = (y);					\
	__x op __y ? __x : __y; })
#define min(x, y)		TWHEEL_COMPARE(x, y, <)
#define max(x, y)		TWHEEL_COMPARE(x, y, >)
#define min_t(type, x, y)	TWHEEL_COMPARE((type)(x), (type)(y), <)
#define clamp_t(type, x, lo, hi) \
	min_t(type, TWHEEL_COMPARE((type)(x), (type)(lo), >), hi)
#endif
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

/* Bits */

#define BITS_PER_LONG		(sizeof(long) * 8)
#define BITS_TO_LONGS(nr)	DIV_ROUND_UP(nr, BITS_PER_LONG)
#define BIT(nr)			(1UL << (nr))
#define BIT_WORD(nr)		((nr) / BITS_PER_LONG)
#define BIT_MASK(nr)		(1UL << ((nr) % BITS_PER_LONG))

#ifdef __GNUC__
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}
#else
static inline int fls64(u64 x)
{
	int bits = 0, step;

	for (step = 32; step; step /= 2)
		if (x >> step) {
			x >>= step;
			bits += step;
		}
	return bits + (x != 0);
}

static inline unsigned long __ffs(unsigned long word)
{
	return fls64(word & -word) - 1;
}
#endif

static inline void __set_bit(unsigned long nr, unsigned long *bits)
{
	bits[BIT_WORD(nr)] |= BIT_MASK(nr);
}

static inline void __clear_bit(unsigned long nr, unsigned long *bits)
{
	bits[BIT_WORD(nr)] &= ~BIT_MASK(nr);
}

static inline bool test_bit(unsigned long nr, const unsigned long *bits)
{
	return (bits[BIT_WORD(nr)] & BIT_MASK(nr)) != 0;
}

static inline unsigned long find_next_bit(const unsigned long *bits,
					  unsigned long size, unsigned long nr)
{
	for (; nr < size; nr = (nr | (BITS_PER_LONG - 1)) + 1) {
		unsigned long word = bits[BIT_WORD(nr)] >> nr % BITS_PER_LONG;

		if (word) {
			nr += __ffs(word);
			return nr < size ? nr : size;
		}
	}
	return size;
}

#define find_first_bit(bits, size)	find_next_bit(bits, size, 0)

#ifdef __GNUC__
/* A timer may span two cache lines. */
#define prefetch(p)		(__builtin_prefetch(p), \
				 __builtin_prefetch((const char *)(p) + 64))
#else
#define prefetch(p)		((void)(p))
#endif

/* Lists. In <twheel_timer.h> struct list_head has another name. */

#ifndef HAS_LIST_HEAD
struct list_head {
	struct list_head *next, *prev;
};
#endif

#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define list_entry(p, type, member)	container_of(p, type, member)
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

#endif /* TWHEEL_TIMERS_KERNEL_H */
