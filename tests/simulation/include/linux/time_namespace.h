/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/time_namespace.h for the simulation: not configured
 */
#ifndef _SIM_LINUX_TIME_NAMESPACE_H
#define _SIM_LINUX_TIME_NAMESPACE_H

#endif /* _SIM_LINUX_TIME_NAMESPACE_H */
