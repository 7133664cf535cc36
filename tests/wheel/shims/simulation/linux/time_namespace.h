/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/time_namespace.h for the simulation
 */
#ifndef _SIM_LINUX_TIME_NAMESPACE_H
#define _SIM_LINUX_TIME_NAMESPACE_H

#include <linux/sched.h>
#include <linux/types.h>

#define CONFIG_TIME_NS	1

struct time_namespace {
	struct {
		s64 monotonic;
		s64 boottime;
	} offsets;
};

/* Offsets are kept in ns. */
#define timespec64_to_ns(ts)	(*(ts))

#endif /* _SIM_LINUX_TIME_NAMESPACE_H */
