/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/nsproxy.h for the simulation: not configured
 */
#ifndef _SIM_LINUX_NSPROXY_H
#define _SIM_LINUX_NSPROXY_H

#endif /* _SIM_LINUX_NSPROXY_H */
