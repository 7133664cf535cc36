/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/poison.h for user space: nothing of it is used
 */
#ifndef _SHIM_LINUX_POISON_H
#define _SHIM_LINUX_POISON_H

#endif /* _SHIM_LINUX_POISON_H */
