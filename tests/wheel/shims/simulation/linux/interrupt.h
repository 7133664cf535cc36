/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/interrupt.h for the simulation
 */
#ifndef _SIM_LINUX_INTERRUPT_H
#define _SIM_LINUX_INTERRUPT_H

#include <linux/preempt.h>
#include <linux/spinlock.h>

#endif /* _SIM_LINUX_INTERRUPT_H */
