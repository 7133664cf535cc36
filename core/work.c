// SPDX-License-Identifier: GPL-2.0
/*
 * Expiry on a workqueue
 *
 * A twheel_work is to a twheel_timer what a delayed_work is to a timer_list:
 * the timer's callback queues a work item, which may sleep. Built on the
 * exported functions of twheel and of workqueues only.
 *
 * A delayed_work has one PENDING bit for its timer and its work item. Here the
 * timer and the item have separate states, which a lock keeps consistent: the
 * work is pending while @delayed is set or the item is queued. A callback that
 * takes the lock late, after a cancellation or a new delay, finds @delayed
 * clear or the timer pending again, and does nothing. The lock is not in the
 * twheel_work, which its own function may free as soon as the item is queued.
 */
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/spinlock.h>
#include <linux/twheel_work.h>
#include <linux/workqueue.h>

#include "compat.h"

#define LOCK_BITS	6

/*
 * Each lock has a cache line of its own, so that CPUs with different works
 * rarely share one.
 */
static struct {
	raw_spinlock_t lock;
} ____cacheline_aligned_in_smp locks[1 << LOCK_BITS] = {
	[0 ... (1 << LOCK_BITS) - 1].lock = __RAW_SPIN_LOCK_UNLOCKED(locks),
};

static raw_spinlock_t *lock_of(const struct twheel_work *work)
{
	return &locks[hash_ptr(work, LOCK_BITS)].lock;
}

/**
 * twheel_work_expired - queue a work when its timer expires
 * @timer: the timer
 *
 * For TWHEEL_WORK_INITIALIZER() and twheel_init_work() only.
 *
 * Context: Softirq.
 */
void twheel_work_expired(struct twheel_timer *timer)
{
	struct twheel_work *work = container_of(timer, struct twheel_work,
						timer);
	raw_spinlock_t *lock = lock_of(work);
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	if (work->delayed && !twheel_pending(timer)) {
		work->delayed = 0;
		queue_work_on(work->cpu, work->wq, &work->work);
	}
	raw_spin_unlock_irqrestore(lock, flags);
}
EXPORT_SYMBOL_GPL(twheel_work_expired);

/**
 * twheel_destroy_work_on_stack - finish the use of a work on the stack
 * @work: a work from twheel_init_work_on_stack(), not pending and not running
 *
 * Context: Process.
 */
void twheel_destroy_work_on_stack(struct twheel_work *work)
{
	twheel_timer_destroy(&work->timer);
	destroy_work_on_stack(&work->work);
}
EXPORT_SYMBOL_GPL(twheel_destroy_work_on_stack);

/* Note where to queue a work whose timer was started. The work's lock is held. */
static void note_delay(int cpu, struct workqueue_struct *wq, struct twheel_work *work)
{
	work->wq = wq;
	work->cpu = cpu;
	work->delayed = 1;
}

/*
 * Start the timer of a work. Returns false, with nothing changed, on failure.
 * The work's lock is held.
 */
static bool start_delay(int cpu, struct workqueue_struct *wq,
			struct twheel_work *work, u64 delay_ns)
{
	if (twheel_start(&work->timer, delay_ns) < 0)
		return false;
	note_delay(cpu, wq, work);
	return true;
}

/* Context: The work's lock is held. */
static bool is_pending(struct twheel_work *work)
{
	return work->delayed || work_pending(&work->work);
}

/* Context: The work's lock is held. */
static bool cancel_locked(struct twheel_work *work)
{
	if (!work->delayed)
		return cancel_work(&work->work);
	work->delayed = 0;
	twheel_stop(&work->timer);
	return true;
}

/**
 * twheel_queue_work_on - queue a work after a delay, to run on a given CPU
 * @cpu: CPU, kept online by the caller, or %WORK_CPU_UNBOUND
 * @wq: workqueue to use
 * @work: the work
 * @delay_ns: delay, ns. 0 queues the work at once, without its timer
 *
 * Like queue_delayed_work_on(). The timer runs on this CPU.
 *
 * Context: Any but NMI.
 * Return: as twheel_queue_work().
 */
bool twheel_queue_work_on(int cpu, struct workqueue_struct *wq,
			  struct twheel_work *work, u64 delay_ns)
{
	unsigned long flags;
	bool queued;

	raw_spin_lock_irqsave(lock_of(work), flags);
	queued = !work->disabled && !is_pending(work) &&
		 (delay_ns ? start_delay(cpu, wq, work, delay_ns) :
			     queue_work_on(cpu, wq, &work->work));
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	return queued;
}
EXPORT_SYMBOL_GPL(twheel_queue_work_on);

/**
 * twheel_schedule_work_on - queue a work on the kernel's queue, on a given CPU
 * @cpu: CPU, kept online by the caller, or %WORK_CPU_UNBOUND
 * @work: the work
 * @delay_ns: delay, ns. 0 queues the work at once, without its timer
 *
 * Like schedule_delayed_work_on(). The name of the kernel's queue depends on
 * the kernel's version.
 *
 * Context: Any but NMI.
 * Return: as twheel_queue_work().
 */
bool twheel_schedule_work_on(int cpu, struct twheel_work *work, u64 delay_ns)
{
	return twheel_queue_work_on(cpu, twheel_system_wq, work, delay_ns);
}
EXPORT_SYMBOL_GPL(twheel_schedule_work_on);

/**
 * twheel_queue_work_at - queue a work at a given time
 * @wq: workqueue to use
 * @work: the work
 * @deadline: time of the clock of the work's wheel. A deadline in the past is
 *	due at the next tick
 *
 * A work that queues itself again a period after twheel_work_deadline() does
 * not drift, neither by the time that it runs nor by the time that it waits in
 * the queue.
 *
 * Context: Any but NMI.
 * Return: as twheel_queue_work().
 */
bool twheel_queue_work_at(struct workqueue_struct *wq, struct twheel_work *work,
			  ktime_t deadline)
{
	unsigned long flags;
	bool queued;

	raw_spin_lock_irqsave(lock_of(work), flags);
	queued = !work->disabled && !is_pending(work) &&
		 twheel_start_at(&work->timer, deadline) >= 0;
	if (queued)
		note_delay(WORK_CPU_UNBOUND, wq, work);
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	return queued;
}
EXPORT_SYMBOL_GPL(twheel_queue_work_at);

/**
 * twheel_schedule_work_at - queue a work on the kernel's queue at a given time
 * @work: the work
 * @deadline: as for twheel_queue_work_at()
 *
 * Context: Any but NMI.
 * Return: as twheel_queue_work().
 */
bool twheel_schedule_work_at(struct twheel_work *work, ktime_t deadline)
{
	return twheel_queue_work_at(twheel_system_wq, work, deadline);
}
EXPORT_SYMBOL_GPL(twheel_schedule_work_at);

/**
 * twheel_mod_work_on - queue a work after a delay, or change delay and CPU
 * @cpu: CPU, kept online by the caller, or %WORK_CPU_UNBOUND
 * @wq: workqueue to use
 * @work: the work
 * @delay_ns: delay from now, ns. 0 queues the work at once, without its timer
 *
 * Like mod_delayed_work_on().
 *
 * Context: Any but NMI.
 * Return: as twheel_mod_work().
 */
bool twheel_mod_work_on(int cpu, struct workqueue_struct *wq,
			struct twheel_work *work, u64 delay_ns)
{
	unsigned long flags;
	bool pending;

	raw_spin_lock_irqsave(lock_of(work), flags);
	pending = work->delayed;
	if (work->disabled || !delay_ns)
		pending = cancel_locked(work);
	else if (!start_delay(cpu, wq, work, delay_ns))
		pending = is_pending(work);
	else if (!pending)
		pending = cancel_work(&work->work);
	if (!work->disabled && !delay_ns)
		queue_work_on(cpu, wq, &work->work);
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	return pending;
}
EXPORT_SYMBOL_GPL(twheel_mod_work_on);

/**
 * twheel_work_pending - return whether a work is pending
 * @work: the work
 *
 * Like delayed_work_pending().
 *
 * Context: Any but NMI.
 * Return: true from when it is queued until it begins to run or is cancelled.
 */
bool twheel_work_pending(struct twheel_work *work)
{
	unsigned long flags;
	bool pending;

	raw_spin_lock_irqsave(lock_of(work), flags);
	pending = is_pending(work);
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	return pending;
}
EXPORT_SYMBOL_GPL(twheel_work_pending);

/**
 * twheel_work_deadline - return when the delay of a work ends or ended
 * @work: the work
 *
 * Context: Any. Stable while nobody queues the work, as in its own function.
 * Return: the last deadline of its timer. A work that was queued with a delay
 * of 0 keeps its previous deadline.
 */
ktime_t twheel_work_deadline(const struct twheel_work *work)
{
	return twheel_deadline(&work->timer);
}
EXPORT_SYMBOL_GPL(twheel_work_deadline);

/**
 * twheel_cancel_work - cancel a pending work
 * @work: the work
 *
 * Does not wait for a running work.
 *
 * Context: Any but NMI.
 * Return: whether the work was pending.
 */
bool twheel_cancel_work(struct twheel_work *work)
{
	unsigned long flags;
	bool pending;

	raw_spin_lock_irqsave(lock_of(work), flags);
	pending = cancel_locked(work);
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	return pending;
}
EXPORT_SYMBOL_GPL(twheel_cancel_work);

/*
 * Change the number of calls that disabled a work. Returns whether it is 0
 * afterwards.
 */
static bool count_disabled(struct twheel_work *work, int change)
{
	unsigned long flags;
	bool enabled;

	raw_spin_lock_irqsave(lock_of(work), flags);
	if (!WARN_ON_ONCE(change < 0 && !work->disabled))
		work->disabled += change;
	enabled = !work->disabled;
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	return enabled;
}

/**
 * twheel_disable_work - cancel a work, and keep it from being queued
 * @work: the work
 *
 * Like disable_delayed_work(). Does not wait for a running work.
 *
 * Context: Any but NMI.
 * Return: whether the work was pending.
 */
bool twheel_disable_work(struct twheel_work *work)
{
	count_disabled(work, 1);
	return twheel_cancel_work(work);
}
EXPORT_SYMBOL_GPL(twheel_disable_work);

/**
 * twheel_disable_work_sync - disable a work and wait until it is not running
 * @work: the work
 *
 * Context: Process, may sleep, not the work itself.
 * Return: whether the work was pending.
 */
bool twheel_disable_work_sync(struct twheel_work *work)
{
	bool pending = twheel_disable_work(work);

	/* A callback that took the lock late may still run. */
	twheel_stop_sync(&work->timer);
	if (cancel_work_sync(&work->work))
		pending = true;
	return pending;
}
EXPORT_SYMBOL_GPL(twheel_disable_work_sync);

/**
 * twheel_enable_work - undo a twheel_disable_work() or
 * twheel_disable_work_sync()
 * @work: the work
 *
 * The work is not queued by this, even if a caller tried to queue it while it
 * was disabled.
 *
 * Context: Any but NMI.
 * Return: whether all calls are undone, so that the work can be queued.
 */
bool twheel_enable_work(struct twheel_work *work)
{
	return count_disabled(work, -1);
}
EXPORT_SYMBOL_GPL(twheel_enable_work);

/**
 * twheel_cancel_work_sync - cancel a work and wait until it is not running
 * @work: the work
 *
 * Like cancel_delayed_work_sync(): a work that queues itself fails to do so
 * during this call. Afterwards the work is neither running nor pending,
 * provided that no other caller queues it.
 *
 * Context: Process, may sleep, not the work itself.
 * Return: whether the work was pending.
 */
bool twheel_cancel_work_sync(struct twheel_work *work)
{
	bool pending = twheel_disable_work_sync(work);

	twheel_enable_work(work);
	return pending;
}
EXPORT_SYMBOL_GPL(twheel_cancel_work_sync);

/**
 * twheel_flush_work - run a pending work now and wait for it
 * @work: the work, which must not free itself
 *
 * Like flush_delayed_work().
 *
 * Context: Process, may sleep, not the work itself.
 * Return: false if the work was idle.
 */
bool twheel_flush_work(struct twheel_work *work)
{
	unsigned long flags;
	bool pending;

	raw_spin_lock_irqsave(lock_of(work), flags);
	pending = work->delayed;
	work->delayed = 0;
	if (pending) {
		twheel_stop(&work->timer);
		queue_work_on(work->cpu, work->wq, &work->work);
	}
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	/* The work may finish before flush_work() finds it pending. */
	return flush_work(&work->work) || pending;
}
EXPORT_SYMBOL_GPL(twheel_flush_work);
