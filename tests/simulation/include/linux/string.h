/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/string.h for the simulation
 */
#ifndef _SIM_LINUX_STRING_H
#define _SIM_LINUX_STRING_H

#include_next <linux/string.h>
#include <errno.h>

static inline int match_string(const char * const *array, size_t n,
			       const char *string)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(array[i], string))
			return i;
	return -EINVAL;
}

#endif /* _SIM_LINUX_STRING_H */
