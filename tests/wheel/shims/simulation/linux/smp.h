/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/smp.h for the simulation
 */
#ifndef _SIM_LINUX_SMP_H
#define _SIM_LINUX_SMP_H

#include <linux/list.h>

typedef struct sim_csd {
	struct sim_csd *next;
	void (*func)(void *info);
	void *info;
	u64 at;
	bool queued;
} call_single_data_t;

#define INIT_CSD(csd, fn, arg) \
	(*(csd) = (call_single_data_t){ .func = (fn), .info = (arg) })

int smp_call_function_single_async(int cpu, call_single_data_t *csd);
unsigned int smp_processor_id(void);
#define raw_smp_processor_id()	sim.cpu

#endif /* _SIM_LINUX_SMP_H */
