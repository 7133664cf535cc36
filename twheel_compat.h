/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernels, all in one place
 *
 * The sources are written as for the newest kernel. What an older one lacks,
 * or has under another name, is given here under a name of our own.
 */
#ifndef _TWHEEL_COMPAT_H
#define _TWHEEL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>
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
 * On PREEMPT_RT callbacks run in a thread that a waiter for one of them may
 * have preempted: it has to sleep on a lock that lends its priority. On other
 * kernels callbacks cannot be preempted by a waiter, which just spins.
 */
#ifdef CONFIG_PREEMPT_RT
typedef spinlock_t twheel_expiry_lock_t;

static inline void twheel_expiry_init(twheel_expiry_lock_t *lock)
{
	spin_lock_init(lock);
}

static inline void twheel_expiry_begin(twheel_expiry_lock_t *lock)
	__acquires(lock)
{
	spin_lock(lock);
}

static inline void twheel_expiry_end(twheel_expiry_lock_t *lock)
	__releases(lock)
{
	spin_unlock(lock);
}

static inline void twheel_expiry_wait(twheel_expiry_lock_t *lock)
{
	spin_lock_bh(lock);
	spin_unlock_bh(lock);
}
#else
typedef struct {} twheel_expiry_lock_t;

static inline void twheel_expiry_init(twheel_expiry_lock_t *lock) {}
static inline void twheel_expiry_begin(twheel_expiry_lock_t *lock) {}
static inline void twheel_expiry_end(twheel_expiry_lock_t *lock) {}

static inline void twheel_expiry_wait(twheel_expiry_lock_t *lock)
{
	cpu_relax();
}
#endif

#endif /* _TWHEEL_COMPAT_H */
