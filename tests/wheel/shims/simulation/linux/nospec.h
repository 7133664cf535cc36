/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/nospec.h for the simulation: no CPU guesses
 */
#ifndef _SIM_LINUX_NOSPEC_H
#define _SIM_LINUX_NOSPEC_H

#define array_index_nospec(index, size)	(index)

#endif /* _SIM_LINUX_NOSPEC_H */
