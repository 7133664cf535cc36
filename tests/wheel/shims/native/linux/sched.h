/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/sched.h for user space, and the contents of other headers for a program with one thread:
 * the files with the names of those headers include this one
 */
#ifndef _SHIM_LINUX_SCHED_H
#define _SHIM_LINUX_SCHED_H

#include <stdlib.h>
#include <unistd.h>

#include <linux/kernel.h>

static inline void cond_resched(void)
{
}

/* linux/percpu.h */

#define DEFINE_PER_CPU(type, name)	type name
#define per_cpu_ptr(pointer, cpu)	(pointer)
#define this_cpu_ptr(pointer)		(pointer)

/* linux/random.h */

static inline u64 get_random_u64(void)
{
	u64 value;

	if (getentropy(&value, sizeof(value)))
		abort();
	return value;
}

/* linux/slab.h */

#define GFP_KERNEL	0

static inline void *kvzalloc(size_t size, gfp_t flags)
{
	(void)flags;
	return calloc(1, size);
}

static inline void *kvcalloc(size_t n, size_t size, gfp_t flags)
{
	(void)flags;
	return calloc(n, size);
}

static inline void kvfree(const void *p)
{
	free((void *)p);
}

#define kzalloc(size, flags)		kvzalloc(size, flags)
#define kcalloc(n, size, flags)		kvcalloc(n, size, flags)
#define kfree(p)			kvfree(p)
#define bitmap_zalloc(nbits, flags) \
	kvcalloc(BITS_TO_LONGS(nbits), sizeof(long), flags)
#define bitmap_free(map)		kvfree(map)

/* linux/spinlock.h: the names that include/linux/twheel.h needs */

typedef struct {
	unsigned int held;
} raw_spinlock_t;

typedef raw_spinlock_t spinlock_t;

#endif /* _SHIM_LINUX_SCHED_H */
