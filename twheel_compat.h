/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernels, all in one place
 *
 * The sources are written as for the newest kernel. What an older one lacks,
 * or has under another name, is given here under a name of our own.
 */
#ifndef _TWHEEL_COMPAT_H
#define _TWHEEL_COMPAT_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/nsproxy.h>
#include <linux/spinlock.h>
#include <linux/time_namespace.h>
#include <linux/version.h>

/*
 * Kernels that zero every variable on the stack leave those alone that say so.
 * The name came with 6.12, and the attribute with gcc 12.
 */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized	__attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

/* hrtimer_setup() came with 6.13, hrtimer_init() went with 6.15. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
static inline void
twheel_hrtimer_setup(struct hrtimer *hrtimer,
		     enum hrtimer_restart (*fn)(struct hrtimer *),
		     enum hrtimer_mode mode)
{
	hrtimer_setup(hrtimer, fn, CLOCK_MONOTONIC, mode);
}
#else
static inline void
twheel_hrtimer_setup(struct hrtimer *hrtimer,
		     enum hrtimer_restart (*fn)(struct hrtimer *),
		     enum hrtimer_mode mode)
{
	hrtimer_init(hrtimer, CLOCK_MONOTONIC, mode);
	hrtimer->function = fn;
}
#endif

/*
 * What CLOCK_MONOTONIC of the caller's time namespace is ahead of ours, ns.
 * timens_ktime_to_host() does the same for timerfd, but is not exported.
 */
static inline s64 twheel_time_ns_offset(void)
{
#ifdef CONFIG_TIME_NS
	struct time_namespace *ns = current->nsproxy->time_ns;

	return timespec64_to_ns(&ns->offsets.monotonic);
#else
	return 0;
#endif
}

/*
 * On PREEMPT_RT callbacks run in a thread that a waiter for one of them may
 * have preempted: it has to sleep on a lock that lends its priority. On other
 * kernels callbacks cannot be preempted by a waiter, which just spins.
 *
 * As base->expiry_lock and timer_sync_wait_running() in kernel/time/timer.c,
 * but that a waiter is announced while the callback still runs for sure.
 */
#ifdef CONFIG_PREEMPT_RT
typedef struct {
	spinlock_t lock;	/* held while callbacks run */
	atomic_t waiters;	/* those who want it; raised under base->lock */
} twheel_expiry_lock_t;

static inline void twheel_expiry_init(twheel_expiry_lock_t *expiry)
{
	spin_lock_init(&expiry->lock);
	atomic_set(&expiry->waiters, 0);
}

static inline void twheel_expiry_begin(twheel_expiry_lock_t *expiry)
	__acquires(&expiry->lock)
{
	spin_lock(&expiry->lock);
}

static inline void twheel_expiry_end(twheel_expiry_lock_t *expiry)
	__releases(&expiry->lock)
{
	spin_unlock(&expiry->lock);
}

static inline void twheel_expiry_announce(twheel_expiry_lock_t *expiry)
{
	atomic_inc(&expiry->waiters);
}

static inline void twheel_expiry_wait(twheel_expiry_lock_t *expiry)
{
	spin_lock_bh(&expiry->lock);
	atomic_dec(&expiry->waiters);
	spin_unlock_bh(&expiry->lock);
}

static inline bool twheel_expiry_awaited(twheel_expiry_lock_t *expiry)
{
	return atomic_read(&expiry->waiters);
}
#else
typedef struct {} twheel_expiry_lock_t;

static inline void twheel_expiry_init(twheel_expiry_lock_t *expiry) {}
static inline void twheel_expiry_begin(twheel_expiry_lock_t *expiry) {}
static inline void twheel_expiry_end(twheel_expiry_lock_t *expiry) {}
static inline void twheel_expiry_announce(twheel_expiry_lock_t *expiry) {}

static inline void twheel_expiry_wait(twheel_expiry_lock_t *expiry)
{
	cpu_relax();
}

static inline bool twheel_expiry_awaited(twheel_expiry_lock_t *expiry)
{
	return false;
}
#endif

#endif /* _TWHEEL_COMPAT_H */
