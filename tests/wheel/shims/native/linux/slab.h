/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/slab.h for user space
 */
#ifndef _SHIM_LINUX_SLAB_H
#define _SHIM_LINUX_SLAB_H

#include <linux/kernel.h>

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

#endif /* _SHIM_LINUX_SLAB_H */
