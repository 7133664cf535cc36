/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/string.h for user space
 */
#ifndef _SHIM_LINUX_STRING_H
#define _SHIM_LINUX_STRING_H

#include <string.h>

#define strscpy(dst, src, size)	snprintf(dst, size, "%s", src)

#endif /* _SHIM_LINUX_STRING_H */
