/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/kernel.h for user space, and the contents of other headers that are the same in any
 * program: the files with the names of those headers include this one
 */
#ifndef _SHIM_LINUX_KERNEL_H
#define _SHIM_LINUX_KERNEL_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/build_bug.h>
#include <linux/kconfig.h>
#include <linux/math.h>
#include <linux/types.h>

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define ARRAY_SIZE(arr)	(sizeof(arr) / sizeof((arr)[0]))

#define pr_info(fmt, ...)	printf("# " fmt, ##__VA_ARGS__)

#define WARN_ON(condition) ({						\
	bool __warn = (condition);					\
	if (__warn)							\
		fprintf(stderr, "WARNING: %s:%d: %s\n", __FILE__,	\
			__LINE__, #condition);				\
	__warn; })
#define WARN_ON_ONCE(condition)	WARN_ON(condition)

/* linux/bitops.h, with the searches of linux/find.h */

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

/* linux/bitmap.h */

static inline unsigned int bitmap_weight(const unsigned long *src,
					 unsigned int nbits)
{
	unsigned int bit, weight = 0;

	for_each_set_bit(bit, src, nbits)
		weight++;
	return weight;
}

/* linux/minmax.h: each argument is evaluated once */

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

/* linux/math64.h */

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

/* linux/string.h */

#define strscpy(dst, src, size)	snprintf(dst, size, "%s", src)

static inline int match_string(const char * const *array, size_t n,
			       const char *string)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(array[i], string))
			return i;
	return -EINVAL;
}

/* linux/uidgid.h */

typedef struct {
	u32 val;
} kuid_t;

static inline bool uid_eq(kuid_t a, kuid_t b)
{
	return a.val == b.val;
}

#define INVALID_UID	((kuid_t){ (u32)-1 })
#define __kuid_val(uid)	((uid).val)
#define uid_valid(uid)	((uid).val != (u32)-1)
#define GLOBAL_ROOT_UID	((kuid_t){ 0 })

/* linux/ktime.h, linux/lockdep.h: the names that include/linux/twheel.h needs */

typedef s64 ktime_t;

#define KTIME_MAX	((s64)(~0ULL >> 1))

#define TK_OFFS_BOOT	1

ktime_t ktime_mono_to_any(ktime_t tmono, int offs);

#define NSEC_PER_USEC	1000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_SEC	1000000000L

struct lockdep_map { };
struct lock_class_key;

/* linux/prefetch.h */

#define prefetch(x)	__builtin_prefetch(x)

/* linux/version.h */

#define KERNEL_VERSION(a, b, c)	(((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 12, 0)

/* linux/module.h: a module parameter becomes an argument of the program, name=value */

struct shim_param {
	const char *name;
	void *value;
	size_t size;
	struct shim_param *next;
};

void shim_param_add(struct shim_param *param);

#define module_param(var, type, perm)					\
	static struct shim_param __param_ ## var = {			\
		.name = #var, .value = &(var), .size = sizeof(var),	\
	};								\
	static void __attribute__((__constructor__))			\
	__param_add_ ## var(void)					\
	{								\
		shim_param_add(&__param_ ## var);			\
	}								\
	struct shim_param

#define MODULE_PARM_DESC(var, text)	struct shim_param
#define MODULE_LICENSE(text)		struct shim_param
#define MODULE_DESCRIPTION(text)	struct shim_param

#endif /* _SHIM_LINUX_KERNEL_H */
