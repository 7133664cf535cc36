// SPDX-License-Identifier: GPL-2.0
/*
 * Expiry on a workqueue
 *
 * A twheel_work is to a twheel_timer what a delayed_work is to a timer_list:
 * the timer's callback queues a work item, which may sleep. Everything here
 * goes through include/linux/twheel.h and the workqueue's own interface.
 *
 * A delayed_work is one word, its PENDING bit, and so one thing to whoever asks.
 * Here there are two, timer and work item, and a lock makes one of them: the
 * work is pending while @delayed is set or the item is queued. A callback that
 * is late for the lock finds @delayed clear, or the timer pending again: what
 * it was called for has been cancelled or put off. The lock is not in the work,
 * which may free itself as soon as it is queued.
 */
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/spinlock.h>
#include <linux/twheel.h>
#include <linux/workqueue.h>

#define LOCK_BITS	6

static raw_spinlock_t locks[1 << LOCK_BITS] = {
	[0 ... (1 << LOCK_BITS) - 1] = __RAW_SPIN_LOCK_UNLOCKED(locks),
};

static raw_spinlock_t *lock_of(const struct twheel_work *work)
{
	return &locks[hash_ptr(work, LOCK_BITS)];
}

static void work_expired(struct twheel_timer *timer)
{
	struct twheel_work *work = container_of(timer, struct twheel_work,
						timer);
	raw_spinlock_t *lock = lock_of(work);
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	if (work->delayed && !twheel_pending(timer)) {
		work->delayed = false;
		queue_work(work->wq, &work->work);
	}
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * twheel_init_work - prepare a work
 * @work: the work
 * @wheel: the wheel that its timer uses, NULL for the default one
 * @fn: what to do
 *
 * Context: Any.
 */
void twheel_init_work(struct twheel_work *work, struct twheel *wheel,
		      work_func_t fn)
{
	INIT_WORK(&work->work, fn);
	twheel_timer_setup(&work->timer, wheel, work_expired, 0);
	work->wq = NULL;
	work->delayed = false;
	work->cancelling = 0;
}
EXPORT_SYMBOL_GPL(twheel_init_work);

/* The work's lock is held. */
static void start_delay(struct workqueue_struct *wq, struct twheel_work *work,
			u64 delay_ns)
{
	work->wq = wq;
	work->delayed = true;
	twheel_start(&work->timer, delay_ns);
}

/**
 * twheel_queue_work - queue a work after a delay
 * @wq: where to queue it
 * @work: the work
 * @delay_ns: the delay, ns
 *
 * As queue_delayed_work().
 *
 * Context: Any but NMI.
 * Return: false if the work was pending already, or twheel_cancel_work_sync()
 * is waiting for it, and nothing has changed.
 */
bool twheel_queue_work(struct workqueue_struct *wq, struct twheel_work *work,
		       u64 delay_ns)
{
	unsigned long flags;
	bool queued;

	raw_spin_lock_irqsave(lock_of(work), flags);
	queued = !work->cancelling && !work->delayed &&
		 !work_pending(&work->work);
	if (queued)
		start_delay(wq, work, delay_ns);
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	return queued;
}
EXPORT_SYMBOL_GPL(twheel_queue_work);

/**
 * twheel_mod_work - queue a work after a delay, or change its delay
 * @wq: where to queue it
 * @work: the work
 * @delay_ns: the delay from now, ns
 *
 * As mod_delayed_work(). An item that is queued already, its delay over, is
 * taken off its queue first. While twheel_cancel_work_sync() is waiting for the
 * work that is all that happens.
 *
 * Context: Any but NMI.
 * Return: whether the work was pending.
 */
bool twheel_mod_work(struct workqueue_struct *wq, struct twheel_work *work,
		     u64 delay_ns)
{
	unsigned long flags;
	bool pending;

	raw_spin_lock_irqsave(lock_of(work), flags);
	pending = work->delayed || cancel_work(&work->work);
	if (!work->cancelling)
		start_delay(wq, work, delay_ns);
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	return pending;
}
EXPORT_SYMBOL_GPL(twheel_mod_work);

/**
 * twheel_cancel_work - cancel a pending work
 * @work: the work
 *
 * Does not wait for a work that runs.
 *
 * Context: Any but NMI.
 * Return: whether the work was pending.
 */
bool twheel_cancel_work(struct twheel_work *work)
{
	unsigned long flags;
	bool pending;

	raw_spin_lock_irqsave(lock_of(work), flags);
	pending = work->delayed;
	work->delayed = false;
	if (pending)
		twheel_stop(&work->timer);
	else
		pending = cancel_work(&work->work);
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	return pending;
}
EXPORT_SYMBOL_GPL(twheel_cancel_work);

static void count_cancelling(struct twheel_work *work, int change)
{
	unsigned long flags;

	raw_spin_lock_irqsave(lock_of(work), flags);
	work->cancelling += change;
	raw_spin_unlock_irqrestore(lock_of(work), flags);
}

/**
 * twheel_cancel_work_sync - cancel a work and wait until it does not run
 * @work: the work
 *
 * As cancel_delayed_work_sync(): a work that queues itself does so in vain
 * while it is waited for. When this returns the work neither runs nor is
 * pending, provided that nobody queues it after that.
 *
 * Context: Process, may sleep, not the work itself.
 * Return: whether the work was pending.
 */
bool twheel_cancel_work_sync(struct twheel_work *work)
{
	bool pending;

	count_cancelling(work, 1);
	pending = twheel_cancel_work(work);
	/* A callback that came too late for the lock may still run. */
	twheel_stop_sync(&work->timer);
	if (cancel_work_sync(&work->work))
		pending = true;
	count_cancelling(work, -1);
	return pending;
}
EXPORT_SYMBOL_GPL(twheel_cancel_work_sync);

/**
 * twheel_flush_work - run a pending work now and wait for it
 * @work: the work, which must not free itself: it is waited for
 *
 * As flush_delayed_work().
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
	work->delayed = false;
	if (pending) {
		twheel_stop(&work->timer);
		queue_work(work->wq, &work->work);
	}
	raw_spin_unlock_irqrestore(lock_of(work), flags);
	/* It may be done before it can be waited for. */
	return flush_work(&work->work) || pending;
}
EXPORT_SYMBOL_GPL(twheel_flush_work);
