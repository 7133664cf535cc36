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

void *sim_alloc(size_t size);
void kvfree(const void *p);

#define kvmalloc_node(size, gfp, node)	((void)(node), sim_alloc(size))
#define kvzalloc_node(size, gfp, node)	((void)(node), sim_alloc(size))
#define kzalloc_node(size, gfp, node)	((void)(node), sim_alloc(size))
#define kzalloc(size, gfp)		sim_alloc(size)
#define kfree(p)			kvfree(p)
#define cpu_to_node(cpu)		((int)(cpu))

#endif /* _SIM_LINUX_SLAB_H */
