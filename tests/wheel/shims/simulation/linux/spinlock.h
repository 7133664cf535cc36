/* SPDX-License-Identifier: GPL-2.0 */
/*
 * linux/spinlock.h for the simulation: they spin, or with CONFIG_PREEMPT_RT spinlock_t sleeps
 */
#ifndef _SIM_LINUX_SPINLOCK_H
#define _SIM_LINUX_SPINLOCK_H

#include <linux/kernel.h>

/**
 * struct sim_lock - a lock
 * @owner: who holds it, or NULL
 * @magic: it has been set up, and not been freed
 * @clock: what its last owner knew
 */
typedef struct sim_lock {
	struct sim_task *owner;
	unsigned int magic;
	struct sim_clock clock;
} raw_spinlock_t;

typedef struct sim_lock spinlock_t;

#define SIM_LOCK_MAGIC	0x10c4ab1eU

#define __RAW_SPIN_LOCK_UNLOCKED(name)	{ .magic = SIM_LOCK_MAGIC }
#define DEFINE_SPINLOCK(name)	spinlock_t name = __RAW_SPIN_LOCK_UNLOCKED(name)

void sim_raw_lock(struct sim_lock *lock);
void sim_raw_unlock(struct sim_lock *lock);
void sim_lock(struct sim_lock *lock);
void sim_unlock(struct sim_lock *lock);
bool sim_irq_save(void);
void sim_irq_restore(bool off);
bool sim_holds(const struct sim_lock *lock);

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	*lock = (raw_spinlock_t)__RAW_SPIN_LOCK_UNLOCKED(lock);
}

#define raw_spin_lock(lock)	sim_raw_lock(lock)
#define raw_spin_unlock(lock)	sim_raw_unlock(lock)
#define local_irq_save(flags)	((flags) = sim_irq_save())
#define local_irq_restore(flags) sim_irq_restore(flags)
#define local_irq_disable()	((void)sim_irq_save())
#define local_irq_enable()	sim_irq_restore(false)

#define raw_spin_lock_irqsave(lock, flags)				\
	do {								\
		local_irq_save(flags);					\
		raw_spin_lock(lock);					\
	} while (0)

static inline void raw_spin_unlock_irqrestore(raw_spinlock_t *lock,
					      unsigned long flags)
{
	raw_spin_unlock(lock);
	local_irq_restore(flags);
}

static inline void raw_spin_lock_irq(raw_spinlock_t *lock)
{
	local_irq_disable();
	raw_spin_lock(lock);
}

static inline void raw_spin_unlock_irq(raw_spinlock_t *lock)
{
	raw_spin_unlock(lock);
	local_irq_enable();
}

#define spin_lock_init(lock)	raw_spin_lock_init(lock)
#ifdef CONFIG_PREEMPT_RT
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
#else
#define spin_lock(lock)		sim_lock(lock)
#define spin_unlock(lock)	sim_unlock(lock)
#endif

void local_bh_disable(void);
void local_bh_enable(void);
void spin_lock_bh(spinlock_t *lock);
void spin_unlock_bh(spinlock_t *lock);

#define cpu_relax()		sim_relax()

#endif /* _SIM_LINUX_SPINLOCK_H */
