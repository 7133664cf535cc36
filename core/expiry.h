/* SPDX-License-Identifier: GPL-2.0 */
/**
 * DOC: Waiting for a callback: the locks that a base's callbacks run under
 *
 * On PREEMPT_RT callbacks run in a thread that a waiter for one of them may
 * have preempted. The waiter sleeps on a lock, which lends its priority to that
 * thread. On other kernels a waiter cannot preempt callbacks, and spins.
 *
 * The next callback may itself wait for the waiter. So a waiter must never
 * sleep on a lock that is held for a later callback. In kernel/time/timer.c
 * timer_sync_wait_running() does not promise that. The thread lets
 * base->expiry_lock go and takes it again. A waiter that was preempted before
 * it queued has missed that, and from a waiter of lower priority the thread
 * takes the lock back before that wakes up.
 *
 * Here there are several locks, one for each turn. A waiter announces itself at
 * the turn in which its callback runs, and sleeps on the lock of this turn
 * only. If it is awaited the thread goes on to another turn, one at which
 * nobody is announced. Usually nobody waits, and one turn lasts for ever.
 *
 * If all turns have waiters that have not come to run yet, the thread has to
 * sleep until one of them has.
 */
#ifndef _TWHEEL_EXPIRY_H
#define _TWHEEL_EXPIRY_H

#include <linux/atomic.h>
#include <linux/spinlock.h>

#ifdef CONFIG_PREEMPT_RT
#define TWHEEL_EXPIRY_TURNS	8

/**
 * struct twheel_expiry_turn - a lock that is held while callbacks run
 * @lock: held by the thread that runs callbacks, and briefly by each waiter
 * @waiters: waiters that are announced and have not had @lock yet. Raised under
 *	base->lock during a callback that runs in this turn
 */
struct twheel_expiry_turn {
	spinlock_t lock;	/* held while callbacks run */
	atomic_t waiters;
};

/**
 * struct twheel_expiry - the turns of a base
 * @turns: all of them
 * @turn: the turn in which callbacks run, or NULL. Written by the thread that
 *	runs them, while none runs. Read by it, and under base->lock during a
 *	callback
 */
struct twheel_expiry {
	struct twheel_expiry_turn turns[TWHEEL_EXPIRY_TURNS];
	struct twheel_expiry_turn *turn;
};

static inline void twheel_expiry_init(struct twheel_expiry *expiry)
{
	int i;

	for (i = 0; i < TWHEEL_EXPIRY_TURNS; i++) {
		spin_lock_init(&expiry->turns[i].lock);
		atomic_set(&expiry->turns[i].waiters, 0);
	}
}

/* Returns false if there is no turn without waiters: no callback may run. */
static inline bool twheel_expiry_begin(struct twheel_expiry *expiry)
{
	int i;

	for (i = 0; i < TWHEEL_EXPIRY_TURNS; i++) {
		struct twheel_expiry_turn *turn = &expiry->turns[i];

		/* Pairs with twheel_expiry_wait(). */
		if (atomic_read_acquire(&turn->waiters))
			continue;
		spin_lock(&turn->lock);
		expiry->turn = turn;
		return true;
	}
	return false;
}

static inline void twheel_expiry_end(struct twheel_expiry *expiry)
{
	struct twheel_expiry_turn *turn = expiry->turn;

	expiry->turn = NULL;
	if (turn)
		spin_unlock(&turn->lock);
}

/* Under base->lock, while the callback runs that the caller will wait for. */
static inline struct twheel_expiry_turn *
twheel_expiry_announce(struct twheel_expiry *expiry)
{
	atomic_inc(&expiry->turn->waiters);
	return expiry->turn;
}

/*
 * Softirqs stay on: with them off this would wait for all callbacks that this
 * CPU runs.
 */
static inline void twheel_expiry_wait(struct twheel_expiry_turn *turn)
{
	spin_lock(&turn->lock);
	spin_unlock(&turn->lock);
	/* The lock is not touched after this. Pairs with twheel_expiry_begin(). */
	atomic_dec_return_release(&turn->waiters);
}

static inline bool twheel_expiry_awaited(struct twheel_expiry *expiry)
{
	return atomic_read(&expiry->turn->waiters);
}
#else
struct twheel_expiry_turn {};
struct twheel_expiry {};

static inline void twheel_expiry_init(struct twheel_expiry *expiry) {}

static inline bool twheel_expiry_begin(struct twheel_expiry *expiry)
{
	return true;
}

static inline void twheel_expiry_end(struct twheel_expiry *expiry) {}

static inline struct twheel_expiry_turn *
twheel_expiry_announce(struct twheel_expiry *expiry)
{
	return NULL;
}

static inline void twheel_expiry_wait(struct twheel_expiry_turn *turn)
{
	cpu_relax();
}

static inline bool twheel_expiry_awaited(struct twheel_expiry *expiry)
{
	return false;
}
#endif
#endif /* _TWHEEL_EXPIRY_H */
