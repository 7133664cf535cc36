/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/xarray.h for the simulation: a few wheels by number
 */
#ifndef _SIM_LINUX_XARRAY_H
#define _SIM_LINUX_XARRAY_H

#include <linux/kernel.h>

#define SIM_XA_MAX	1024
#define XA_PRESENT	0
#define XA_FLAGS_ALLOC1	0
#define XA_FLAGS_ACCOUNT 0
#define xa_limit_31b	0

struct xarray {
	void *entries[SIM_XA_MAX];
};

#define DEFINE_XARRAY_FLAGS(name, flags)	struct xarray name

static inline int xa_alloc_cyclic(struct xarray *xa, u32 *id, void *entry,
				  int limit, u32 *next, gfp_t gfp)
{
	unsigned int i;

	sim_point();
	for (i = 1; i < SIM_XA_MAX; i++) {
		*next = *next % (SIM_XA_MAX - 1) + 1;
		if (!xa->entries[*next]) {
			*id = *next;
			xa->entries[*id] = entry;
			return 0;
		}
	}
	return -ENOMEM;
}

static inline void xa_erase(struct xarray *xa, unsigned long id)
{
	sim_point();
	xa->entries[id] = NULL;
}

static inline void *xa_find(struct xarray *xa, unsigned long *id,
			    unsigned long max, int filter)
{
	for (; *id < SIM_XA_MAX; ++*id)
		if (xa->entries[*id])
			return xa->entries[*id];
	return NULL;
}

#endif /* _SIM_LINUX_XARRAY_H */
