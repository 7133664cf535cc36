/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/uidgid.h for the simulation
 */
#ifndef _SIM_LINUX_UIDGID_H
#define _SIM_LINUX_UIDGID_H

#include <linux/types.h>

typedef struct {
	u32 val;
} kuid_t;

static inline bool uid_eq(kuid_t a, kuid_t b)
{
	return a.val == b.val;
}

#define __kuid_val(uid)	((uid).val)

#endif /* _SIM_LINUX_UIDGID_H */
