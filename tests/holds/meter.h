/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measure for how long a module holds its locks, and has interrupts off
 *
 * tests/vm/build includes this file before each source file of the twheel.ko that it makes for
 * stock-6.12-meter. It replaces the kernel's macros and functions for locks. On a machine that
 * counts instructions as its time, each takes 1 ns, and reading the clock takes about 60 ns.
 *
 * Writing to /sys/module/twheel/parameters/holds prints a line for each place in the sources
 * that takes a lock, and sets the times to 0:
 *
 *	holds: twheel_lock_base &base->lock held 1234 irqs off 1250
 */
#ifndef _METER_H
#define _METER_H

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

#define METER_CPUS	64
#define METER_DEPTH	8

/* A place in the sources that takes a lock or turns interrupts off */
struct meter_place {
	const char *function;
	const char *what;
	u64 held;			/* longest hold, ns */
	u64 irqs_off;			/* longest time with interrupts off, ns */
	struct meter_place *next;
	atomic_t known;
};

/*
 * The locks that a CPU holds. An interrupt uses the entries after those of the code that it
 * interrupts.
 */
struct meter_cpu {
	int depth;
	struct {
		const void *lock;
		struct meter_place *place;
		u64 since;
	} held[METER_DEPTH];
	struct meter_place *off_place;	/* place that turned interrupts off, NULL if they are on */
	u64 off_since;
};

/* Weak, so that the module has one variable although each source file has this definition. */
struct meter_cpu meter_cpus[METER_CPUS] __weak;
struct meter_place *meter_places __weak;

static __always_inline void meter_know(struct meter_place *place)
{
	if (likely(atomic_read(&place->known)) || atomic_xchg(&place->known, 1))
		return;
	do {
		place->next = READ_ONCE(meter_places);
	} while (cmpxchg(&meter_places, place->next, place) != place->next);
}

static inline void meter_lock(const void *lock, struct meter_place *place)
{
	struct meter_cpu *cpu = &meter_cpus[raw_smp_processor_id() % METER_CPUS];
	int i = cpu->depth++;

	barrier();
	meter_know(place);
	if (WARN_ON_ONCE(i >= METER_DEPTH))
		return;
	cpu->held[i].lock = lock;
	cpu->held[i].place = place;
	cpu->held[i].since = ktime_get_mono_fast_ns();
}

static inline void meter_unlock(const void *lock)
{
	struct meter_cpu *cpu = &meter_cpus[raw_smp_processor_id() % METER_CPUS];
	int i = cpu->depth - 1;
	struct meter_place *place;

	if (WARN_ON_ONCE(i < 0 || cpu->held[i].lock != lock))
		return;
	place = cpu->held[i].place;
	place->held = max(place->held, ktime_get_mono_fast_ns() - cpu->held[i].since);
	barrier();
	cpu->depth--;
}

static inline void meter_irqs_off(struct meter_place *place)
{
	struct meter_cpu *cpu = &meter_cpus[raw_smp_processor_id() % METER_CPUS];

	meter_know(place);
	cpu->off_place = place;
	cpu->off_since = ktime_get_mono_fast_ns();
}

static inline void meter_irqs_on(void)
{
	struct meter_cpu *cpu = &meter_cpus[raw_smp_processor_id() % METER_CPUS];
	struct meter_place *place = cpu->off_place;

	if (!place)
		return;
	place->irqs_off = max(place->irqs_off, ktime_get_mono_fast_ns() - cpu->off_since);
	cpu->off_place = NULL;
}

#define METER_PLACE(what_it_is)						\
	static struct meter_place __place = { .function = __func__, .what = what_it_is }

/* The kernel's own functions and macros, which the macros below replace, under other names */
static __always_inline void meter_spin_lock(spinlock_t *lock) { spin_lock(lock); }
static __always_inline void meter_spin_unlock(spinlock_t *lock) { spin_unlock(lock); }
static __always_inline void meter_spin_lock_bh(spinlock_t *lock) { spin_lock_bh(lock); }
static __always_inline void meter_spin_unlock_bh(spinlock_t *lock) { spin_unlock_bh(lock); }
static __always_inline void meter_local_irq_disable(void) { local_irq_disable(); }
static __always_inline void meter_local_irq_enable(void) { local_irq_enable(); }

#define METER_LOCK(take, lock) do {					\
	METER_PLACE(#lock);						\
	take;								\
	meter_lock(lock, &__place);					\
} while (0)

/* Like METER_LOCK(), and measure interrupts that are off unless they were before (@was_off). */
#define METER_LOCK_IRQ(take, lock, was_off) do {			\
	METER_PLACE(#lock);						\
	bool __off = was_off;						\
									\
	take;								\
	if (!__off)							\
		meter_irqs_off(&__place);				\
	meter_lock(lock, &__place);					\
} while (0)

#define METER_UNLOCK(release, lock) do {				\
	meter_unlock(lock);						\
	release;							\
} while (0)

#define METER_UNLOCK_IRQ(release, lock, stays_off) do {			\
	meter_unlock(lock);						\
	if (!(stays_off))						\
		meter_irqs_on();					\
	release;							\
} while (0)

#undef raw_spin_lock
#undef raw_spin_unlock
#undef raw_spin_lock_irq
#undef raw_spin_unlock_irq
#undef raw_spin_lock_irqsave
#undef raw_spin_unlock_irqrestore
#undef local_irq_disable
#undef local_irq_enable

#define spin_lock(lock)		METER_LOCK(meter_spin_lock(lock), lock)
#define spin_unlock(lock)	METER_UNLOCK(meter_spin_unlock(lock), lock)
#define spin_lock_bh(lock)	METER_LOCK(meter_spin_lock_bh(lock), lock)
#define spin_unlock_bh(lock)	METER_UNLOCK(meter_spin_unlock_bh(lock), lock)
#define raw_spin_lock(lock)	METER_LOCK(_raw_spin_lock(lock), lock)
#define raw_spin_unlock(lock)	METER_UNLOCK(_raw_spin_unlock(lock), lock)
#define raw_spin_lock_irq(lock)						\
	METER_LOCK_IRQ(_raw_spin_lock_irq(lock), lock, irqs_disabled())
#define raw_spin_unlock_irq(lock)					\
	METER_UNLOCK_IRQ(_raw_spin_unlock_irq(lock), lock, false)
#define raw_spin_lock_irqsave(lock, flags)				\
	METER_LOCK_IRQ(flags = _raw_spin_lock_irqsave(lock), lock, irqs_disabled())
#define raw_spin_unlock_irqrestore(lock, flags)				\
	METER_UNLOCK_IRQ(_raw_spin_unlock_irqrestore(lock, flags), lock,	\
			 raw_irqs_disabled_flags(flags))

#define local_irq_disable() do {					\
	METER_PLACE("interrupts");					\
	meter_local_irq_disable();					\
	meter_irqs_off(&__place);					\
} while (0)

#define local_irq_enable() do {						\
	meter_irqs_on();						\
	meter_local_irq_enable();					\
} while (0)

/* The parameter is in the main source file of twheel.ko, the only one with TWHEEL_VERSION. */
#ifdef TWHEEL_VERSION
static int meter_print(const char *value, const struct kernel_param *param)
{
	struct meter_place *place;

	for (place = meter_places; place; place = place->next) {
		pr_info("holds: %s %s held %llu irqs off %llu\n", place->function, place->what,
			place->held, place->irqs_off);
		place->held = 0;
		place->irqs_off = 0;
	}
	return 0;
}

static const struct kernel_param_ops meter_ops = { .set = meter_print };
module_param_cb(holds, &meter_ops, NULL, 0200);
#endif

#endif /* _METER_H */
