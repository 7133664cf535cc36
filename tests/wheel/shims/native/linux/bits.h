/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/bits.h for user space: in linux/bitops.h
 */
#ifndef _SHIM_LINUX_BITS_H
#define _SHIM_LINUX_BITS_H

#include <linux/bitops.h>

#endif /* _SHIM_LINUX_BITS_H */
