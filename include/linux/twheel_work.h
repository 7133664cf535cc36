/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expiry on a workqueue, where it may sleep
 *
 * A twheel_work is to a twheel_timer what a delayed_work is to a timer_list,
 * and its functions correspond to the functions of delayed_work.
 */
#ifndef _LINUX_TWHEEL_WORK_H
#define _LINUX_TWHEEL_WORK_H

#include <linux/twheel.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/**
 * struct twheel_work - a work item that a timer queues
 * @work: the work
 * @timer: queues @work on @wq when it expires
 * @wq: where to queue it
 * @cpu: where it runs, or %WORK_CPU_UNBOUND for wherever the timer expires
 * @delayed: @timer was started, and @work has neither been queued by it nor
 *	cancelled
 * @disabled: calls of twheel_disable_work() without one of twheel_enable_work(),
 *	and calls of twheel_cancel_work_sync() under way. Until it is 0 nothing
 *	is queued
 */
struct twheel_work {
	struct work_struct work;
	struct twheel_timer timer;
	struct workqueue_struct *wq;
	int cpu;
	unsigned int delayed:1;
	unsigned int disabled:31;
};

/**
 * TWHEEL_WORK_INITIALIZER - a work on the default wheel that needs no setup
 * @name: the variable or field
 * @function: what to do
 */
#define TWHEEL_WORK_INITIALIZER(name, function) {			\
		.work = __WORK_INITIALIZER((name).work, (function)),	\
		.timer = TWHEEL_TIMER_INITIALIZER(twheel_work_expired),	\
	}

/**
 * DEFINE_TWHEEL_WORK - define a work on the default wheel
 * @name: the variable. "static" goes before DEFINE_TWHEEL_WORK()
 * @function: what to do
 */
#define DEFINE_TWHEEL_WORK(name, function)				\
	struct twheel_work name = TWHEEL_WORK_INITIALIZER(name, function)

#define __twheel_init_work(_work, _wheel, _flags)			\
	do {								\
		twheel_timer_setup(&(_work)->timer, _wheel,		\
				   twheel_work_expired, _flags);	\
		(_work)->delayed = 0;					\
		(_work)->disabled = 0;					\
	} while (0)

/**
 * twheel_init_work - prepare a work
 * @_work: the work
 * @_wheel: the wheel that its timer uses, NULL for the default one
 * @_fn: what to do
 *
 * Context: Any.
 */
#define twheel_init_work(_work, _wheel, _fn)				\
	do {								\
		INIT_WORK(&(_work)->work, _fn);				\
		__twheel_init_work(_work, _wheel, 0);			\
	} while (0)

/**
 * twheel_init_work_on_stack - prepare a work on the stack
 * @_work: the work. Before it is gone it takes a twheel_destroy_work_on_stack()
 * @_wheel: the wheel that its timer uses, NULL for the default one
 * @_fn: what to do
 *
 * Context: Process.
 */
#define twheel_init_work_on_stack(_work, _wheel, _fn)			\
	do {								\
		INIT_WORK_ONSTACK(&(_work)->work, _fn);			\
		__twheel_init_work(_work, _wheel, TWHEEL_TIMER_ON_STACK); \
	} while (0)

void twheel_work_expired(struct twheel_timer *timer);
void twheel_destroy_work_on_stack(struct twheel_work *work);
bool twheel_queue_work_on(int cpu, struct workqueue_struct *wq,
			  struct twheel_work *work, u64 delay_ns);
bool twheel_mod_work_on(int cpu, struct workqueue_struct *wq,
			struct twheel_work *work, u64 delay_ns);
bool twheel_work_pending(struct twheel_work *work);
bool twheel_cancel_work(struct twheel_work *work);
bool twheel_cancel_work_sync(struct twheel_work *work);
bool twheel_disable_work(struct twheel_work *work);
bool twheel_disable_work_sync(struct twheel_work *work);
bool twheel_enable_work(struct twheel_work *work);
bool twheel_flush_work(struct twheel_work *work);

/**
 * twheel_queue_work - queue a work after a delay
 * @wq: where to queue it
 * @work: the work
 * @delay_ns: the delay, ns
 *
 * As queue_delayed_work().
 *
 * Context: Any but NMI.
 * Return: false if the work was pending already, or is disabled, or
 * twheel_cancel_work_sync() is waiting for it, or its timer cannot be started
 * (see twheel_start()), and nothing has changed.
 */
static inline bool twheel_queue_work(struct workqueue_struct *wq,
				     struct twheel_work *work, u64 delay_ns)
{
	return twheel_queue_work_on(WORK_CPU_UNBOUND, wq, work, delay_ns);
}

/**
 * twheel_mod_work - queue a work after a delay, or change its delay
 * @wq: where to queue it
 * @work: the work
 * @delay_ns: the delay from now, ns
 *
 * As mod_delayed_work(). An item that is queued already, its delay over, is
 * taken off its queue. While the work is disabled, or twheel_cancel_work_sync()
 * is waiting for it, that is all that happens. If its timer cannot be started
 * (see twheel_start()) nothing changes.
 *
 * Context: Any but NMI.
 * Return: whether the work was pending.
 */
static inline bool twheel_mod_work(struct workqueue_struct *wq,
				   struct twheel_work *work, u64 delay_ns)
{
	return twheel_mod_work_on(WORK_CPU_UNBOUND, wq, work, delay_ns);
}

#endif /* _LINUX_TWHEEL_WORK_H */
