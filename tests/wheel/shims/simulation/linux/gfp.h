/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/gfp.h for the simulation: pages are blocks with a count of references
 */
#ifndef _SIM_LINUX_GFP_H
#define _SIM_LINUX_GFP_H

#include <linux/mm.h>
#include <linux/slab.h>

unsigned long get_zeroed_page(gfp_t gfp);
void free_page(unsigned long addr);

#endif /* _SIM_LINUX_GFP_H */
