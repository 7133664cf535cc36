/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/slab.h for the simulation: nothing that is freed is used again in a run
 */
#ifndef _SIM_LINUX_SLAB_H
#define _SIM_LINUX_SLAB_H

#include <linux/kernel.h>

#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_RETRY_MAYFAIL	0
#define __GFP_NOWARN		0

struct kmem_cache;

void *sim_alloc(size_t size);
void *sim_alloc_aligned(size_t size, size_t align);
void kvfree(const void *p);

#define kvmalloc_node(size, gfp, node)	((void)(node), sim_alloc(size))
#define kvzalloc_node(size, gfp, node)	((void)(node), sim_alloc(size))
#define kzalloc_node(size, gfp, node)	((void)(node), sim_alloc(size))
#define kzalloc(size, gfp)		sim_alloc(size)
#define kfree(p)			kvfree(p)

/* Allocations that only sessions make take their time. */
void *user_alloc(size_t size);

#define kvzalloc(size, gfp)		user_alloc(size)
#define kvcalloc(n, size, gfp)		user_alloc((n) * (size))
#define kcalloc(n, size, gfp)		user_alloc((n) * (size))

#define SLAB_ACCOUNT			0

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
				     unsigned int align, unsigned int flags,
				     void (*ctor)(void *));
void kmem_cache_destroy(struct kmem_cache *cache);
void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp);
void kmem_cache_free(struct kmem_cache *cache, void *object);

#endif /* _SIM_LINUX_SLAB_H */
