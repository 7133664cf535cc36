/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/uidgid.h for user space
 */
#ifndef _SHIM_LINUX_UIDGID_H
#define _SHIM_LINUX_UIDGID_H

#include <linux/types.h>

typedef struct {
	u32 val;
} kuid_t;

static inline bool uid_eq(kuid_t a, kuid_t b)
{
	return a.val == b.val;
}

#define INVALID_UID	((kuid_t){ (u32)-1 })
#define __kuid_val(uid)	((uid).val)
#define uid_valid(uid)	((uid).val != (u32)-1)
#define GLOBAL_ROOT_UID	((kuid_t){ 0 })

#endif /* _SHIM_LINUX_UIDGID_H */
