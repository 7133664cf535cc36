/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/mm.h for the simulation: nothing of it is simulated
 */
#ifndef _SIM_LINUX_MM_H
#define _SIM_LINUX_MM_H

struct vm_area_struct {
	unsigned long vm_flags;
};

#define vm_flags_mod(vma, set, clear)	((void)(vma), (void)(set), (void)(clear))

#endif /* _SIM_LINUX_MM_H */
