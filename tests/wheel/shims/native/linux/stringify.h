/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/stringify.h for user space: nothing of it is used
 */
#ifndef _SHIM_LINUX_STRINGIFY_H
#define _SHIM_LINUX_STRINGIFY_H

#endif /* _SHIM_LINUX_STRINGIFY_H */
