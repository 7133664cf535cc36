/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/random.h for the simulation
 */
#ifndef _SIM_LINUX_RANDOM_H
#define _SIM_LINUX_RANDOM_H

#include <linux/types.h>

u64 sim_random(void);

#define get_random_u64()	sim_random()

#endif /* _SIM_LINUX_RANDOM_H */
