/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/string.h for user space
 */
#ifndef _SHIM_LINUX_STRING_H
#define _SHIM_LINUX_STRING_H

#include <errno.h>
#include <string.h>

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

#endif /* _SHIM_LINUX_STRING_H */
