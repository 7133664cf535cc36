/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/random.h for user space
 */
#ifndef _SHIM_LINUX_RANDOM_H
#define _SHIM_LINUX_RANDOM_H

#include <stdlib.h>
#include <unistd.h>

#include <linux/types.h>

static inline u64 get_random_u64(void)
{
	u64 value;

	if (getentropy(&value, sizeof(value)))
		abort();
	return value;
}

#endif /* _SHIM_LINUX_RANDOM_H */
