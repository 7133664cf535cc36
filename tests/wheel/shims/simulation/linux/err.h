/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/err.h for the simulation
 */
#ifndef _SIM_LINUX_ERR_H
#define _SIM_LINUX_ERR_H

#include <errno.h>

#define ERR_PTR(error)	((void *)(long)(error))
#define PTR_ERR(ptr)	((long)(ptr))
#define ERR_CAST(ptr)	((void *)(ptr))
#define IS_ERR(ptr)	((unsigned long)(ptr) >= (unsigned long)-4095)

#endif /* _SIM_LINUX_ERR_H */
