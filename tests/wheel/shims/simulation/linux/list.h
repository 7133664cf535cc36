/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/list.h for the simulation: lists are changed under locks, so that no link is a point
 */
#ifndef _SIM_LINUX_LIST_H
#define _SIM_LINUX_LIST_H

#include <linux/compiler.h>

#pragma push_macro("READ_ONCE")
#pragma push_macro("WRITE_ONCE")
#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, val)	((x) = (val))
#include_next <linux/list.h>
#pragma pop_macro("READ_ONCE")
#pragma pop_macro("WRITE_ONCE")

struct hlist_node {
	struct hlist_node *next, **pprev;
};

#define hlist_entry(ptr, type, member)	container_of(ptr, type, member)

#endif /* _SIM_LINUX_LIST_H */
