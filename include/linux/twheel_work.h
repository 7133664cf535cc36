/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expiry on a workqueue, where it may sleep
 *
 * A twheel_work is to a twheel_timer what a delayed_work is to a timer_list.
 * Its functions correspond to the functions of delayed_work.
 */
#ifndef _LINUX_TWHEEL_WORK_H
#define _LINUX_TWHEEL_WORK_H

#include <linux/twheel.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/**
 * struct twheel_work - a work item queued by a timer
 * @work: the work
 * @timer: timer to queue @work on @wq
 * @wq: workqueue
 * @cpu: CPU to run on. %WORK_CPU_UNBOUND: where the timer expires
 * @delayed: true while @timer is started, until it queues @work or is cancelled
 * @disabled: number of twheel_disable_work() calls without
 *	twheel_enable_work(), plus twheel_cancel_work_sync() calls in progress.
 *	The work is queued only while this is 0
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
 * TWHEEL_WORK_INITIALIZER - initialise a work on the default wheel
 * @name: name of the variable or field
 * @function: function to run
 *
 * The work needs no setup.
 */
#define TWHEEL_WORK_INITIALIZER(name, function) {			\
		.work = __WORK_INITIALIZER((name).work, (function)),	\
		.timer = TWHEEL_TIMER_INITIALIZER(twheel_work_expired),	\
	}

/**
 * DEFINE_TWHEEL_WORK - define a work on the default wheel
 * @name: name of the variable. May be preceded by "static"
 * @function: function to run
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
 * @_wheel: wheel of its timer, NULL for the default wheel
 * @_fn: function to run
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
 * @_work: the work. Needs twheel_destroy_work_on_stack() at the end of its life
 * @_wheel: wheel of its timer, NULL for the default wheel
 * @_fn: function to run
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
bool twheel_queue_work_at(struct workqueue_struct *wq, struct twheel_work *work,
			  ktime_t deadline);
bool twheel_schedule_work_on(int cpu, struct twheel_work *work, u64 delay_ns);
bool twheel_schedule_work_at(struct twheel_work *work, ktime_t deadline);
bool twheel_mod_work_on(int cpu, struct workqueue_struct *wq,
			struct twheel_work *work, u64 delay_ns);
bool twheel_work_pending(struct twheel_work *work);
ktime_t twheel_work_deadline(const struct twheel_work *work);
bool twheel_cancel_work(struct twheel_work *work);
bool twheel_cancel_work_sync(struct twheel_work *work);
bool twheel_disable_work(struct twheel_work *work);
bool twheel_disable_work_sync(struct twheel_work *work);
bool twheel_enable_work(struct twheel_work *work);
bool twheel_flush_work(struct twheel_work *work);

/**
 * twheel_queue_work - queue a work after a delay
 * @wq: workqueue to use
 * @work: the work
 * @delay_ns: delay, ns. 0 queues the work at once, without its timer
 *
 * Like queue_delayed_work().
 *
 * Context: Any but NMI.
 * Return: false, and nothing changed, if the work was pending or disabled, or
 * is being cancelled by twheel_cancel_work_sync(), or its timer cannot be
 * started (see twheel_start()).
 */
static inline bool twheel_queue_work(struct workqueue_struct *wq,
				     struct twheel_work *work, u64 delay_ns)
{
	return twheel_queue_work_on(WORK_CPU_UNBOUND, wq, work, delay_ns);
}

/**
 * twheel_schedule_work - queue a work on the kernel's queue after a delay
 * @work: the work
 * @delay_ns: delay, ns. 0 queues the work at once, without its timer
 *
 * Like schedule_delayed_work().
 *
 * Context: Any but NMI.
 * Return: as twheel_queue_work().
 */
static inline bool twheel_schedule_work(struct twheel_work *work, u64 delay_ns)
{
	return twheel_schedule_work_on(WORK_CPU_UNBOUND, work, delay_ns);
}

/**
 * twheel_mod_work - queue a work after a delay, or change its delay
 * @wq: workqueue to use
 * @work: the work
 * @delay_ns: delay from now, ns. 0 queues the work at once, without its timer
 *
 * Like mod_delayed_work(). An item that is already queued, because its delay is
 * over, is taken off its queue. Nothing else is done if the work is disabled,
 * or being cancelled by twheel_cancel_work_sync(). Nothing changes if its timer
 * cannot be started (see twheel_start()).
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
