/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/bitmap.h for user space
 */
#ifndef _SHIM_LINUX_BITMAP_H
#define _SHIM_LINUX_BITMAP_H

#include <linux/bitops.h>

static inline unsigned int bitmap_weight(const unsigned long *src,
					 unsigned int nbits)
{
	unsigned int bit, weight = 0;

	for_each_set_bit(bit, src, nbits)
		weight++;
	return weight;
}

#endif /* _SHIM_LINUX_BITMAP_H */
