/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/hashtable.h for the simulation
 */
#ifndef _SIM_LINUX_HASHTABLE_H
#define _SIM_LINUX_HASHTABLE_H

#include <linux/list.h>

struct hlist_head {
	struct hlist_node *first;
};

#define DEFINE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define hash_bucket(table, key)		(&(table)[(key) % ARRAY_SIZE(table)])
#define hash_add(table, node, key) \
	hlist_add_head(node, hash_bucket(table, key))
#define hash_del(node)			hlist_del(node)
#define hash_for_each_possible(table, obj, member, key)			\
	for (struct hlist_node *__node = hash_bucket(table, key)->first; \
	     __node && ((obj) = hlist_entry(__node, typeof(*(obj)), member)); \
	     __node = __node->next)

static inline void hlist_add_head(struct hlist_node *node,
				  struct hlist_head *head)
{
	node->next = head->first;
	if (head->first)
		head->first->pprev = &node->next;
	head->first = node;
	node->pprev = &head->first;
}

static inline void hlist_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

#endif /* _SIM_LINUX_HASHTABLE_H */
