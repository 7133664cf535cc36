/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/poll.h for the simulation
 */
#ifndef _SIM_LINUX_POLL_H
#define _SIM_LINUX_POLL_H

#include <linux/fs.h>
#include <linux/wait.h>

#define EPOLLIN		1U
#define EPOLLRDNORM	0x40U
#define poll_to_key(m)	((void *)(unsigned long)(m))

/**
 * struct poll_table_struct - one who polls
 * @waiter: the entry that is put into the queue
 */
typedef struct poll_table_struct {
	struct user_waiter waiter;
} poll_table;

void poll_wait(struct file *file, wait_queue_head_t *queue, poll_table *table);

#endif /* _SIM_LINUX_POLL_H */
