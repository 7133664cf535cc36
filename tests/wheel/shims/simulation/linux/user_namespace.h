/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/user_namespace.h for the simulation
 */
#ifndef _SIM_LINUX_USER_NAMESPACE_H
#define _SIM_LINUX_USER_NAMESPACE_H

#include <linux/cred.h>

/* @root is the id that its root has in the initial one. */
struct user_namespace {
	struct user_namespace *parent;
	kuid_t owner;
	kuid_t root;
};

extern struct user_namespace init_user_ns;

struct user_namespace *current_user_ns(void);

static inline kuid_t make_kuid(struct user_namespace *ns, u32 uid)
{
	return ns->root;
}

#endif /* _SIM_LINUX_USER_NAMESPACE_H */
