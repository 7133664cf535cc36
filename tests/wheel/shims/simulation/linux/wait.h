/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/wait.h for the simulation: queues of sleepers
 */
#ifndef _SIM_LINUX_WAIT_H
#define _SIM_LINUX_WAIT_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/spinlock.h>

/**
 * struct wait_queue_head - the waiters of an event
 * @lock: guards @waiters
 * @waiters: all that wait
 */
typedef struct wait_queue_head {
	spinlock_t lock;	/* see above */
	struct list_head waiters;
} wait_queue_head_t;

/**
 * struct user_waiter - a waiter
 * @entry: in the queue
 * @queue: the queue
 * @poller: it stays in the queue when it is woken
 * @sleeping: it is about to sleep, or does
 * @woken: it was woken
 * @asleep: it has looked whether it has to sleep, and sleeps
 */
struct user_waiter {
	struct list_head entry;
	struct wait_queue_head *queue;
	bool poller;
	bool sleeping;
	bool woken;
	bool asleep;
};

void init_waitqueue_head(wait_queue_head_t *queue);
void user_wake(wait_queue_head_t *queue, int readers);
void user_wait_begin(wait_queue_head_t *queue, struct user_waiter *waiter);
long user_wait_prepare(struct user_waiter *waiter);
void user_wait_sleep(struct user_waiter *waiter);
void user_wait_end(struct user_waiter *waiter);

#define wake_up_interruptible(queue)		user_wake(queue, 1)
#define wake_up_interruptible_all(queue)	user_wake(queue, 0)
#define __wake_up(queue, mode, nr, key)		user_wake(queue, nr)

/* As the kernel's ___wait_event() does it. */
#define wait_event_interruptible_exclusive(queue, condition) ({		\
	struct user_waiter __waiter;					\
	long __ret = 0, __signal;					\
									\
	might_sleep();							\
	if (!(condition)) {						\
		user_wait_begin(&(queue), &__waiter);			\
		for (;;) {						\
			__signal = user_wait_prepare(&__waiter);	\
			if (condition)					\
				break;					\
			__ret = __signal;				\
			if (__ret)					\
				break;					\
			user_wait_sleep(&__waiter);			\
		}							\
		user_wait_end(&__waiter);				\
	}								\
	__ret; })

#endif /* _SIM_LINUX_WAIT_H */
