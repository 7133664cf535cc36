/* SPDX-License-Identifier: GPL-2.0 */
/**
 * DOC: Waiting for a callback: the locks that a base's callbacks run under
 *
 * On PREEMPT_RT callbacks run in a thread, which a waiter for one of them may
 * have preempted. The waiter sleeps on a lock that the thread holds, and so
 * lends the thread its priority. On other kernels a waiter spins.
 *
 * The next callback may itself wait for the waiter. So a waiter must never
 * sleep on a lock that is held for a later callback. timer_sync_wait_running()
 * of kernel/time/timer.c does not guarantee that: its thread releases
 * base->expiry_lock and takes it again. A waiter that was preempted before it
 * queued misses that moment, and if the waiter has a lower priority, the thread
 * takes the lock back before the waiter wakes up.
 *
 * Here a base has several locks. A waiter announces itself at the lock under
 * which the callback that it waits for is running, and sleeps on this lock
 * only. The thread then continues under another lock without waiters. Usually
 * there are no waiters, and the thread keeps using the first lock.
 *
 * If each lock has a waiter that did not get it yet, the run of the hrtimer
 * ends without further callbacks, and a later run continues.
 */
#ifndef _TWHEEL_EXPIRY_H
#define _TWHEEL_EXPIRY_H

#include <linux/atomic.h>
#include <linux/spinlock.h>

#define TWHEEL_EXPIRY_LOCKS	(IS_ENABLED(CONFIG_PREEMPT_RT) ? 8 : 0)

/**
 * struct twheel_expiry_lock - a lock held while callbacks run
 * @lock: held by the thread while it runs callbacks, and briefly by each waiter
 * @waiters: number of announced waiters, until they get @lock. Incremented
 *	under base->lock, during a callback that runs under @lock
 */
struct twheel_expiry_lock {
	spinlock_t lock;	/* held while callbacks run */
	atomic_t waiters;
};

/**
 * struct twheel_expiry - the expiry locks of a base
 * @held: the lock that callbacks run under now, or NULL. Written by the thread
 *	between callbacks. Read by the thread and, during a callback, under
 *	base->lock
 * @locks: all locks of the base
 */
struct twheel_expiry {
	struct twheel_expiry_lock *held;
	struct twheel_expiry_lock locks[TWHEEL_EXPIRY_LOCKS];
};

static inline void twheel_expiry_init(struct twheel_expiry *expiry)
{
	int i;

	for (i = 0; i < TWHEEL_EXPIRY_LOCKS; i++) {
		spin_lock_init(&expiry->locks[i].lock);
		atomic_set(&expiry->locks[i].waiters, 0);
	}
}

/*
 * Take a lock without waiters, to run callbacks under it. Returns false if all
 * locks have waiters: then no callback may run.
 */
static inline bool twheel_expiry_begin(struct twheel_expiry *expiry)
{
	int i;

	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		return true;
	for (i = 0; i < TWHEEL_EXPIRY_LOCKS; i++) {
		struct twheel_expiry_lock *lock = &expiry->locks[i];

		/* Pairs with twheel_expiry_wait(). */
		if (atomic_read_acquire(&lock->waiters))
			continue;
		spin_lock(&lock->lock);
		expiry->held = lock;
		return true;
	}
	return false;
}

static inline void twheel_expiry_end(struct twheel_expiry *expiry)
{
	struct twheel_expiry_lock *lock = expiry->held;

	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	if (!lock)
		return;
	expiry->held = NULL;
	spin_unlock(&lock->lock);
}

/*
 * Announce a waiter for the callback that is running, under base->lock. Returns
 * the lock to wait at.
 */
static inline struct twheel_expiry_lock *
twheel_expiry_announce(struct twheel_expiry *expiry)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		atomic_inc(&expiry->held->waiters);
	return expiry->held;
}

/*
 * Wait for the callback. Softirqs remain enabled, because on PREEMPT_RT
 * disabling them would wait for all callbacks of this CPU.
 */
static inline void twheel_expiry_wait(struct twheel_expiry_lock *lock)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT)) {
		cpu_relax();
		return;
	}
	spin_lock(&lock->lock);
	spin_unlock(&lock->lock);
	/* Let the thread take the lock. Pairs with twheel_expiry_begin(). */
	atomic_dec_return_release(&lock->waiters);
}

static inline bool twheel_expiry_awaited(struct twheel_expiry *expiry)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) &&
	       atomic_read(&expiry->held->waiters);
}

#endif /* _TWHEEL_EXPIRY_H */
