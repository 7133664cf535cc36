/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/cache.h for the simulation
 */
#ifndef _SIM_LINUX_CACHE_H
#define _SIM_LINUX_CACHE_H

#include <linux/compiler.h>

#endif /* _SIM_LINUX_CACHE_H */
