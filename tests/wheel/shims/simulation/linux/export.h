/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/export.h for the simulation
 */
#ifndef _SIM_LINUX_EXPORT_H
#define _SIM_LINUX_EXPORT_H

#define EXPORT_SYMBOL_GPL(name)	struct sim_export_##name

#endif /* _SIM_LINUX_EXPORT_H */
