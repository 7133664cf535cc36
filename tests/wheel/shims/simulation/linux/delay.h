/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/delay.h for the simulation
 */
#ifndef _SIM_LINUX_DELAY_H
#define _SIM_LINUX_DELAY_H

void usleep_range(unsigned long min_us, unsigned long max_us);

#endif /* _SIM_LINUX_DELAY_H */
