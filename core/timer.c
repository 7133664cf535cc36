// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Starting and stopping timers
 *
 * A timer is started on the base of the CPU that starts it, and remains there
 * until it expires or is stopped. So usually no two CPUs contend for a lock.
 * Isolated CPUs are spared: their timers use the base of another CPU.
 *
 * Which lock. The lock of timer->base protects the timer. timer->base changes
 * only while the timer is in no wheel: when it is not pending, or after
 * twheel_start_on() or CPU hotplug took it out under the old base's lock. In
 * transit between two bases it is TWHEEL_MOVING. Timers without a base share
 * one that never has a pending timer (twheel_wheel_unbound). A caller reads
 * timer->base, locks, and checks it again, like lock_timer_base() in
 * kernel/time/timer.c. While its callback runs, a timer remains on its base, so
 * that a waiter for the callback finds base->running there.
 *
 * The hrtimer. If armed_tick is not 0, the hrtimer may be off, or set to a tick
 * after that of a new timer. Then a start checks it, and programs it if needed.
 * See base.c.
 *
 * Rounding. A deadline is rounded up to a tick, and a tick is processed once
 * the clock reached it. So no timer expires early, even if a base missed ticks,
 * and none is due more than a tick after its deadline.
 */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/prefetch.h>
#include <linux/sched.h>

#include "wheel.h"

/*
 * Debug objects, if configured, report and repair errors of callers: timers
 * without setup, and pending timers that are set up or freed.
 */
#ifdef CONFIG_DEBUG_OBJECTS
static void *debug_hint(void *addr)
{
	return ((struct twheel_timer *)addr)->fn;
}

static bool debug_is_static(void *addr)
{
	struct twheel_timer *timer = addr;

	return !timer->node.link.next &&
	       timer->node.link.prev == TIMER_ENTRY_STATIC;
}

/*
 * Stop a timer, and wait for its callback unless the callback itself calls
 * this.
 */
static void debug_stop(struct twheel_timer *timer)
{
	struct twheel_base *base = READ_ONCE(timer->base);

	/*
	 * data_race: @running is @timer on this CPU only if its callback runs
	 * here.
	 */
	if (base > TWHEEL_MOVING && data_race(base->running) == timer &&
	    base->cpu == raw_smp_processor_id())
		twheel_stop(timer);
	else
		twheel_stop_sync(timer);
}

static bool debug_fixup_init(void *addr, enum debug_obj_state state)
{
	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	debug_stop(addr);
	debug_object_init(addr, &twheel_timer_debug_descr);
	return true;
}

static bool debug_fixup_free(void *addr, enum debug_obj_state state)
{
	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	debug_stop(addr);
	debug_object_free(addr, &twheel_timer_debug_descr);
	return true;
}

static void never_set_up(struct twheel_timer *timer)
{
	WARN_ON(1);
}

static bool debug_fixup_unknown(void *addr, enum debug_obj_state state)
{
	struct twheel_timer *timer = addr;

	if (state != ODEBUG_STATE_NOTAVAILABLE)
		return false;
	twheel_timer_setup(timer, NULL, never_set_up, 0);
	return true;
}

const struct debug_obj_descr twheel_timer_debug_descr = {
	.name			= "twheel_timer",
	.debug_hint		= debug_hint,
	.is_static_object	= debug_is_static,
	.fixup_init		= debug_fixup_init,
	.fixup_activate		= debug_fixup_unknown,
	.fixup_free		= debug_fixup_free,
	.fixup_assert_init	= debug_fixup_unknown,
};
#else
const struct debug_obj_descr twheel_timer_debug_descr;
#endif

/*
 * Warn of a delay that was probably meant as a deadline: it is the present time
 * and up to a second more. A delay in whole microseconds is not reported,
 * because it was hardly computed from the present time.
 */
static void debug_check_delay(const struct twheel_timer *timer, u64 delay_ns)
{
#ifdef CONFIG_DEBUG_OBJECTS
	u32 odd_ns;

	if (delay_ns - ktime_get() > NSEC_PER_SEC)
		return;
	div_u64_rem(delay_ns, NSEC_PER_USEC, &odd_ns);
	if (odd_ns)
		pr_warn_once("twheel: %ps waits for as long as the system is up: a deadline as a delay?\n",
			     twheel_callback_of(timer));
#endif
}

static void debug_assert_init(struct twheel_timer *timer)
{
	debug_object_assert_init(timer, &twheel_timer_debug_descr);
}

/* Deadlines and ticks */

static u64 round_up_to_tick(const struct twheel_base *base, u64 deadline,
			    u32 *offset_ns)
{
	return twheel_tick_above(base, deadline + base->tick_ns - 1, offset_ns);
}

/*
 * Returns whether the timer's callback deferred a start that is still to be
 * carried out.
 */
static bool is_deferred(const struct twheel_base *base,
			const struct twheel_timer *timer)
{
	return base->running == timer &&
	       (u64)atomic64_read(&base->deferred) > TWHEEL_DEFER_CLOSED;
}

static ktime_t deadline_of(const struct twheel_base *base,
			   const struct twheel_timer *timer)
{
	/* Never started. */
	if (!timer->node.expires)
		return 0;
	return twheel_expired_deadline(timer, base->tick_ns);
}

/*
 * Returns a time of CLOCK_MONOTONIC. Which clock the wheel uses is known only
 * after its base is locked.
 */
static u64 deadline_after(u64 delay_ns)
{
	u64 deadline = ktime_get() + delay_ns;

	if ((s64)(deadline | delay_ns) < 0)
		return KTIME_MAX;
	return deadline;
}

static u64 deadline_at(ktime_t deadline)
{
	return deadline < 0 ? 0 : deadline;
}

/* Asking */

/**
 * twheel_asked_expired - callback of timers that the wheel asks for their deadlines
 * @timer: the timer, of a struct twheel_asked_timer
 *
 * Calls the function of the source. The address of this callback tells the
 * wheel which timers to ask.
 *
 * Context: As a callback.
 */
void twheel_asked_expired(struct twheel_timer *timer)
{
	container_of(timer, struct twheel_asked_timer, timer)->source->fn(timer);
}
EXPORT_SYMBOL_GPL(twheel_asked_expired);

/*
 * Ask for the deadline of a pending timer of a struct twheel_asked_timer, whose
 * base is locked, before a scheme moves or expires it. Returns whether the
 * timer has a later tick now. Its slot may be too early then, as after a
 * refresh.
 */
bool twheel_timer_ask(struct twheel_timer *timer)
{
	struct twheel_asked_timer *asked = container_of(timer, struct twheel_asked_timer, timer);
	u64 deadline = asked->source->deadline(timer), expires;
	u32 offset_ns;

	if ((s64)deadline < 0)
		deadline = deadline == U64_MAX ? 0 : KTIME_MAX;
	expires = round_up_to_tick(timer->base, deadline, &offset_ns);
	if (expires <= timer->node.expires)
		return false;
	/* restart_in_tick() accesses both fields without the lock. */
	WRITE_ONCE(timer->node.expires, expires);
	WRITE_ONCE(timer->node.offset_ns, offset_ns);
	timer->node.hint |= TWHEEL_SLOT_MAY_STAY;
	return true;
}

/* Locks and bases */

/*
 * Wait for a timer in transit to reach its base. Give a timer without a base
 * the shared base, which a start will replace. Out of line because it is rare.
 */
static noinline void await_base(struct twheel_timer *timer)
{
	if (!READ_ONCE(timer->base))
		cmpxchg(&timer->base, NULL, &twheel_wheel_unbound);
	cpu_relax();
}

static struct twheel_base *
twheel_lock_base(struct twheel_timer *timer, unsigned long *flags)
	__acquires(timer->base->lock)
{
	struct twheel_base *base;

	debug_assert_init(timer);
	for (;;) {
		/* Pairs with the writes in move_to_base(). */
		base = READ_ONCE(timer->base);
		if (base > TWHEEL_MOVING) {
			raw_spin_lock_irqsave(&base->lock, *flags);
			/*
			 * data_race: a concurrent writer writes another base.
			 */
			if (data_race(timer->base == base))
				return base;
			raw_spin_unlock_irqrestore(&base->lock, *flags);
		}
		await_base(timer);
	}
}

/*
 * Release @base, which the timer is not pending on, and lock the base of @cpu
 * with the timer on it. Never holds two locks: until the timer is on the new
 * base, TWHEEL_MOVING makes other callers wait in twheel_lock_base().
 */
static struct twheel_base *move_to_base(struct twheel_base *base,
					struct twheel_timer *timer,
					unsigned int cpu)
	__must_hold(&base->lock)
{
	struct twheel *wheel = base->wheel;

	WRITE_ONCE(timer->base, TWHEEL_MOVING);
	raw_spin_unlock(&base->lock);
	base = twheel_base_lock_online(wheel, cpu);
	if (base->cpu != cpu)
		twheel_wheel_request_slots(wheel, cpu);
	WRITE_ONCE(timer->base, base);
	return base;
}

/*
 * Starting and stopping under the base's lock
 *
 * The functions that are always inlined are on the fast path of the API
 * functions, where gcc would otherwise call them. If the noinline functions
 * were inlined, the fast path would have to save registers for them.
 */

/*
 * Start a timer on a locked base whose hrtimer may be off, or set to a later
 * tick.
 */
static noinline void start_asleep(struct twheel_base *base,
				  struct twheel_timer *timer, u64 expires,
				  u32 offset_ns)
{
	if (expires < base->armed_tick)
		twheel_base_catch_up(base);
	twheel_base_start(base, timer, expires, offset_ns);
	twheel_base_arm(base, twheel_scheme_next_for(&base->scheme, &timer->node));
}

/*
 * Move a restarted timer while the hrtimer is off, or set to a later tick. Out
 * of line, because restart_and_move() would save registers for it, which takes
 * a tenth of the time of a restart.
 */
static noinline void restart_asleep(struct twheel_base *base,
				    struct twheel_timer *timer, u64 expires)
{
	if (expires < base->armed_tick)
		twheel_base_catch_up(base);
	if (twheel_scheme_restart(&base->scheme, &timer->node, expires))
		twheel_base_arm(base, twheel_scheme_next_for(&base->scheme,
							     &timer->node));
}

/*
 * Restart a timer that cannot remain in its slot: to an earlier tick, or in a
 * scheme that moves restarted timers.
 */
static noinline void restart_and_move(struct twheel_base *base,
				      struct twheel_timer *timer, u64 expires)
{
	if (base->armed_tick)
		restart_asleep(base, timer, expires);
	else
		twheel_scheme_restart(&base->scheme, &timer->node, expires);
}

static __always_inline void restart_locked(struct twheel_base *base,
					   struct twheel_timer *timer,
					   u64 expires, u32 offset_ns)
{
	WRITE_ONCE(timer->node.offset_ns, offset_ns);
	if (!twheel_scheme_refresh(&base->scheme, &timer->node, expires))
		restart_and_move(base, timer, expires);
	base->counters.restarted++;
	trace_twheel_start(base, timer, true);
}

/*
 * Carry out a start that the callback deferred, so that later callers see a
 * pending timer. From now on the callback cannot defer a start. Returns whether
 * a deferred start made the timer pending.
 */
static noinline bool start_deferred(struct twheel_base *base,
				    struct twheel_timer *timer)
{
	u64 deferred;

	if (base->running != timer)
		return false;
	deferred = atomic64_xchg(&base->deferred, TWHEEL_DEFER_CLOSED);
	if (deferred <= TWHEEL_DEFER_CLOSED)
		return false;
	twheel_base_start_deferred(base, timer, deferred);
	return true;
}

/* Returns whether the timer is pending, after carrying out a deferred start. */
static bool is_started(struct twheel_base *base, struct twheel_timer *timer)
{
	return twheel_pending(timer) || start_deferred(base, timer);
}

/*
 * Start or restart a timer in any case, on the base of @cpu. With TWHEEL_NO_CPU
 * a pending timer remains on its base, and a timer that is not pending is
 * started on the base for this CPU. While its callback is running a timer
 * remains on its base, where waiters for the callback look. Out of line,
 * because start_timer() would save registers for it.
 */
static noinline int start_slow(struct twheel_base *base,
			       struct twheel_timer *timer, u64 deadline,
			       unsigned int cpu, unsigned long flags)
	__releases(&base->lock)
{
	u32 offset_ns;
	u64 expires = round_up_to_tick(base, deadline, &offset_ns);
	int ret = is_started(base, timer);

	if (ret && (cpu == TWHEEL_NO_CPU || base->cpu == cpu ||
		    base->running == timer)) {
		restart_locked(base, timer, expires, offset_ns);
		goto unlock;
	}
	if (ret) {
		/* The timer looks pending until it is on the other base. */
		twheel_scheme_leave(&base->scheme, &timer->node);
		base->counters.started--;
		base->counters.restarted++;
		debug_object_deactivate(timer, &twheel_timer_debug_descr);
	} else if (!base->wheel) {
		ret = -ENODEV;
		goto unlock;
	} else if (!timer->fn) {
		ret = -ESHUTDOWN;
		goto unlock;
	}
	if (cpu == TWHEEL_NO_CPU) {
		cpu = smp_processor_id();
		if (twheel_base_is_isolated(cpu))
			cpu = twheel_base_stand_in(base->wheel, cpu);
	}
	if (base->cpu != cpu && base->running != timer)
		base = move_to_base(base, timer, cpu);
	start_asleep(base, timer, expires, offset_ns);
unlock:
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return ret;
}

/*
 * Start a timer that is not pending. Returns false if only start_slow() can
 * start it, for example because it needs another base.
 */
static __always_inline bool start_fast(struct twheel_base *base,
				       struct twheel_timer *timer, u64 expires,
				       u32 offset_ns)
{
	if (base->fast_cpu != smp_processor_id() || !timer->fn ||
	    is_deferred(base, timer))
		return false;
	/*
	 * Like start_deferred(). The callback cannot defer a start now: it
	 * called this, or was interrupted by the caller of this on this CPU.
	 */
	if (base->running == timer)
		atomic64_set(&base->deferred, TWHEEL_DEFER_CLOSED);
	/* Does the hrtimer have to fire earlier for this timer? */
	if (base->armed_tick &&
	    !twheel_scheme_can_wait(&base->scheme, expires, base->armed_tick))
		start_asleep(base, timer, expires, offset_ns);
	else
		twheel_base_start(base, timer, expires, offset_ns);
	return true;
}

/* Start or restart a timer. */
static __always_inline int start_timer(struct twheel_base *base,
				       struct twheel_timer *timer, u64 deadline,
				       unsigned long flags)
	__releases(&base->lock)
{
	u32 offset_ns;
	u64 expires = round_up_to_tick(base, deadline, &offset_ns);

	if (twheel_pending(timer)) {
		restart_locked(base, timer, expires, offset_ns);
		raw_spin_unlock_irqrestore(&base->lock, flags);
		return 1;
	}
	if (!start_fast(base, timer, expires, offset_ns))
		return start_slow(base, timer, deadline, TWHEEL_NO_CPU, flags);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return 0;
}

/**
 * twheel_start_at - start or restart a timer at an absolute deadline
 * @timer: the timer
 * @deadline: deadline on the wheel's clock, ns. A timer with a deadline in the
 *	past expires at the next tick
 *
 * A timer that is not pending is started on the base of this CPU or, if this
 * CPU is isolated, of another one.
 *
 * A pending timer remains on its base and gets the new deadline. A later
 * deadline costs next to nothing: the wheel moves the timer when it reaches the
 * old tick. Among the timers of its new tick, it expires as if it had been
 * started at some time between its first start and that move. With an earlier
 * deadline it counts as started now.
 *
 * Context: Any but NMI.
 * Return: 1 if the timer was pending, 0 if it was not. -ESHUTDOWN if it was
 * shut down or never set up, -ENODEV before there is a default wheel.
 */
int twheel_start_at(struct twheel_timer *timer, ktime_t deadline)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);

	return start_timer(base, timer, deadline_at(deadline), flags);
}
EXPORT_SYMBOL_GPL(twheel_start_at);

/*
 * Restart a timer that was pending when the caller checked, if its tick remains
 * the same. Returns whether it did.
 *
 * A timer that is restarted more often than once a tick mostly keeps its tick.
 * Then only the offset of its deadline within the tick changes, which affects
 * neither wheel nor hrtimer and needs no lock.
 *
 * A restart without a lock counts as made while the timer was pending with that
 * tick. If another caller changes the tick, or the timer expires, before the
 * offset is written, a reader may find the deadline off by less than a tick.
 * The time of the expiry is not affected.
 *
 * 32-bit kernels read a tick in two halves and always lock.
 */
static __always_inline bool restart_in_tick(struct twheel_timer *timer, u64 deadline)
{
	/*
	 * Read without the lock, because all bases of a wheel have one tick and
	 * clock.
	 */
	struct twheel_base *base = READ_ONCE(timer->base);
	u32 offset_ns;

	/*
	 * The tick is read without the lock of the base. So whoever changes the
	 * tick of a timer does so with WRITE_ONCE(), for example in
	 * twheel_base_start() and twheel_scheme_refresh().
	 */
	if (!IS_ENABLED(CONFIG_64BIT) ||
	    base <= TWHEEL_MOVING || base->clockid == CLOCK_BOOTTIME ||
	    READ_ONCE(timer->node.expires) !=
		    round_up_to_tick(base, deadline, &offset_ns))
		return false;
	/* Pairs with twheel_expired_deadline(). */
	WRITE_ONCE(timer->node.offset_ns, offset_ns);
	return true;
}

/**
 * twheel_start - start or restart a timer
 * @timer: the timer
 * @delay_ns: delay from now, ns. The deadline is at most KTIME_MAX
 *
 * Like twheel_start_at() at @delay_ns from now, with a fast path for timers
 * that are restarted more often than once a tick: if the timer is pending with
 * the same tick, on a wheel on CLOCK_MONOTONIC nothing is locked, counted or
 * traced. If other callers start the timer concurrently, twheel_deadline() may
 * be off by less than a tick.
 *
 * To convert other units use ms_to_ktime() and ktime_set(), also on 32 bits.
 *
 * Context: Any but NMI.
 * Return: 1 if the timer was pending, 0 if it was not. -ESHUTDOWN if it was
 * shut down or never set up, -ENODEV before there is a default wheel.
 */
int twheel_start(struct twheel_timer *timer, u64 delay_ns)
{
	struct twheel_base *base;
	unsigned long flags;
	u64 deadline;

	/*
	 * Reading the clock waits for earlier loads, but not for prefetches: so
	 * fetch the timer from memory in that time. With a million timers a
	 * start then takes 1.1 times as long as with timer_list, and 1.9 times
	 * as long without prefetches.
	 */
	prefetch(&timer->node);
	prefetch(&timer->fn);
	debug_check_delay(timer, delay_ns);
	deadline = deadline_after(delay_ns);
	/*
	 * restart_in_tick() reads the tick after this, so the tick belongs to
	 * the start seen here. Pairs with twheel_base_start().
	 */
	if (smp_load_acquire(&timer->node.link.next) && restart_in_tick(timer, deadline))
		return 1;
	base = twheel_lock_base(timer, &flags);
	return start_timer(base, timer, twheel_base_time(base, deadline), flags);
}
EXPORT_SYMBOL_GPL(twheel_start);

/**
 * twheel_again_at - start a timer again from its own callback
 * @timer: the timer, whose callback calls this
 * @deadline: deadline on the wheel's clock, ns
 *
 * Like twheel_start_at(), but cheaper: the start is deferred until the callback
 * returns, when the tick takes the lock of the base anyway. So the timer must
 * not be freed before that.
 *
 * Until then twheel_pending() returns false. All functions that start, restart
 * or stop the timer treat it as started: a later start overrides the deadline,
 * and a stop returns 1. twheel_stop_sync() waits for the callback first.
 *
 * Context: The timer's callback.
 * Return: 1 if the timer was pending, 0 if it was not, -ESHUTDOWN if it was
 * shut down, -EINVAL outside its callback.
 */
int twheel_again_at(struct twheel_timer *timer, ktime_t deadline)
{
	/* Stable while the callback runs: see start_slow(). */
	struct twheel_base *base = READ_ONCE(timer->base);
	unsigned long flags;
	s64 none = 0;
	bool deferred;

	/* data_race: @running is @timer only while its callback runs here. */
	if (base <= TWHEEL_MOVING || data_race(base->running) != timer)
		return -EINVAL;
	/*
	 * Debug objects have to see the start before another caller carries it
	 * out.
	 */
	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS))
		raw_spin_lock_irqsave(&base->lock, flags);
	deferred = deadline >= 0 &&
		   atomic64_try_cmpxchg(&base->deferred, &none,
					deadline + base->tick_ns - 1);
	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS)) {
		if (deferred)
			debug_object_activate(timer, &twheel_timer_debug_descr);
		raw_spin_unlock_irqrestore(&base->lock, flags);
	}
	return deferred ? 0 : twheel_start_at(timer, deadline);
}
EXPORT_SYMBOL_GPL(twheel_again_at);

/*
 * Restart a timer if it is pending. @deadline is a time of the wheel's clock if
 * @ours, and of CLOCK_MONOTONIC otherwise. Out of line, because
 * twheel_restart() would save registers for it: 6 of some 70 instructions.
 */
static noinline int restart_pending(struct twheel_timer *timer, u64 deadline, bool ours)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);
	bool pending = is_started(base, timer);
	u32 offset_ns;
	u64 expires = round_up_to_tick(base, ours ? deadline : twheel_base_time(base, deadline),
				       &offset_ns);

	if (pending)
		restart_locked(base, timer, expires, offset_ns);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return pending;
}

/**
 * twheel_restart - restart a timer if it is pending, after a delay
 * @timer: the timer
 * @delay_ns: delay from now, ns. The deadline is at most KTIME_MAX
 *
 * Like twheel_restart_at() at @delay_ns from now, with the fast path of
 * twheel_start(). For a timeout that begins again with each packet until it
 * expires.
 *
 * Context: Any but NMI.
 * Return: as twheel_restart_at().
 */
int twheel_restart(struct twheel_timer *timer, u64 delay_ns)
{
	u64 deadline;

	/* As in twheel_start(). */
	prefetch(&timer->node);
	debug_check_delay(timer, delay_ns);
	deadline = deadline_after(delay_ns);
	/* Pairs with twheel_base_start(). */
	if (smp_load_acquire(&timer->node.link.next) && restart_in_tick(timer, deadline))
		return 1;
	return restart_pending(timer, deadline, false);
}
EXPORT_SYMBOL_GPL(twheel_restart);

/**
 * twheel_restart_at - restart a timer if it is pending
 * @timer: the timer
 * @deadline: deadline on the wheel's clock, ns
 *
 * Like mod_timer_pending(): never starts a timer that just expired.
 *
 * Context: Any but NMI.
 * Return: 1 if the timer was pending, and has the new deadline. 0 if it was
 * not, and nothing changed.
 */
int twheel_restart_at(struct twheel_timer *timer, ktime_t deadline)
{
	return restart_pending(timer, deadline_at(deadline), true);
}
EXPORT_SYMBOL_GPL(twheel_restart_at);

/**
 * twheel_reduce_at - start a timer, or bring its deadline forward
 * @timer: the timer
 * @deadline: latest deadline, on the wheel's clock, ns
 *
 * Like timer_reduce(): for a timer with several purposes, each with its own
 * deadline. A pending timer with an earlier deadline keeps it.
 *
 * Context: Any but NMI.
 * Return: as twheel_start_at(). 1 does not say which deadline is in effect.
 */
int twheel_reduce_at(struct twheel_timer *timer, ktime_t deadline)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);

	if (is_started(base, timer) && deadline_of(base, timer) <= deadline) {
		raw_spin_unlock_irqrestore(&base->lock, flags);
		return 1;
	}
	return start_slow(base, timer, deadline_at(deadline), TWHEEL_NO_CPU,
			  flags);
}
EXPORT_SYMBOL_GPL(twheel_reduce_at);

/**
 * twheel_start_on - start a timer on a given CPU
 * @timer: the timer
 * @delay_ns: delay from now, ns
 * @cpu: CPU for its callback
 *
 * A pending timer is taken off its base first, and counted as restarted. But
 * while its callback is running on another CPU, the timer remains on the base
 * of that CPU. If the wheel is not prepared on @cpu, the timer uses another
 * CPU. See twheel_prepare_cpu().
 *
 * Context: Any but NMI.
 * Return: 1 if the timer was pending, 0 if it was not, -ESHUTDOWN and -ENODEV
 * as twheel_start(), -EINVAL if @cpu does not exist or is offline.
 */
int twheel_start_on(struct twheel_timer *timer, u64 delay_ns, int cpu)
{
	u64 deadline = deadline_after(delay_ns);
	struct twheel_base *base;
	unsigned long flags;

	debug_check_delay(timer, delay_ns);
	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -EINVAL;
	base = twheel_lock_base(timer, &flags);
	return start_slow(base, timer, twheel_base_time(base, deadline), cpu,
			  flags);
}
EXPORT_SYMBOL_GPL(twheel_start_on);

/*
 * Stop a timer that was not pending when the caller checked. Its callback may
 * have deferred a start. Rare.
 */
static noinline int stop_deferred(struct twheel_timer *timer)
{
	/* Like twheel_lock_base(). */
	struct twheel_base *base = READ_ONCE(timer->base);
	unsigned long flags;
	bool stopped;

	if (!base)
		return 0;
	/*
	 * If the callback has returned, its deferred start was carried out.
	 * Pairs with twheel_base_set_running().
	 */
	if (base > TWHEEL_MOVING && smp_load_acquire(&base->running) != timer &&
	    !twheel_pending(timer))
		return 0;
	base = twheel_lock_base(timer, &flags);
	stopped = is_started(base, timer) && twheel_base_stop(base, timer);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return stopped;
}

/**
 * twheel_stop - stop a timer
 * @timer: the timer
 *
 * Does not wait for a running callback.
 *
 * Context: Any but NMI.
 * Return: 1 if the timer was pending: its callback will not be called for this
 * start. 0 if it was not.
 */
int twheel_stop(struct twheel_timer *timer)
{
	struct twheel_base *base;
	unsigned long flags;
	bool stopped;

	debug_assert_init(timer);
	/* A pending timer looks pending even while it moves to another base. */
	if (!twheel_pending(timer))
		return stop_deferred(timer);
	base = twheel_lock_base(timer, &flags);
	stopped = twheel_base_stop(base, timer);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return stopped || stop_deferred(timer);
}
EXPORT_SYMBOL_GPL(twheel_stop);

/*
 * Starting and stopping many timers
 *
 * The lock of a base is taken once for successive timers of that base, and
 * released after TWHEEL_MOVES_PER_LOCK of them at the latest. The functions for
 * one request are always inlined into the loop, which would otherwise call them
 * by pointer.
 */

static __always_inline void start_request(struct twheel_base *base,
					  struct twheel_request *r,
					  unsigned long *flags)
{
	u64 deadline = deadline_at(r->deadline);
	u32 offset_ns;
	u64 expires = round_up_to_tick(base, deadline, &offset_ns);

	r->result = twheel_pending(r->timer);
	if (r->result) {
		restart_locked(base, r->timer, expires, offset_ns);
	} else if (!start_fast(base, r->timer, expires, offset_ns)) {
		r->result = start_slow(base, r->timer, deadline, TWHEEL_NO_CPU,
				       *flags);
		/* start_slow() released the lock: the timer may be gone. */
		raw_spin_lock_irqsave(&base->lock, *flags);
	}
}

static void restart_request(struct twheel_base *base, struct twheel_request *r,
			    unsigned long *flags)
{
	u32 offset_ns;
	u64 expires = round_up_to_tick(base, deadline_at(r->deadline), &offset_ns);

	r->result = is_started(base, r->timer);
	if (r->result)
		restart_locked(base, r->timer, expires, offset_ns);
}

static __always_inline void stop_request(struct twheel_base *base,
					 struct twheel_request *r,
					 unsigned long *flags)
{
	r->result = is_started(base, r->timer) &&
		    twheel_base_stop(base, r->timer);
}

static __always_inline void
for_many(struct twheel_request *r, unsigned int nr,
	 void (*fn)(struct twheel_base *base, struct twheel_request *r,
		    unsigned long *flags))
{
	struct twheel_request *end = r + nr;

	while (r < end) {
		unsigned long flags;
		struct twheel_base *base = twheel_lock_base(r->timer, &flags);
		struct twheel_request *pause =
			min(end, r + TWHEEL_MOVES_PER_LOCK);

		do {
			fn(base, r++, &flags);
		} while (r < pause && READ_ONCE(r->timer->base) == base);
		raw_spin_unlock_irqrestore(&base->lock, flags);
	}
}

/**
 * twheel_start_many - start or restart many timers
 * @requests: timers and deadlines. Receives the results
 * @nr: number of requests
 *
 * Like twheel_start_at() for each request in order, but cheaper.
 *
 * Context: Any but NMI.
 */
void twheel_start_many(struct twheel_request *requests, unsigned int nr)
{
	for_many(requests, nr, start_request);
}
EXPORT_SYMBOL_GPL(twheel_start_many);

/**
 * twheel_restart_many - restart the pending ones of many timers
 * @requests: timers and deadlines. Receives the results
 * @nr: number of requests
 *
 * Like twheel_restart_at() for each request in order, but cheaper.
 *
 * Context: Any but NMI.
 */
void twheel_restart_many(struct twheel_request *requests, unsigned int nr)
{
	for_many(requests, nr, restart_request);
}
EXPORT_SYMBOL_GPL(twheel_restart_many);

/**
 * twheel_stop_many - stop many timers
 * @requests: timers. Receives the results
 * @nr: number of requests
 *
 * Like twheel_stop() for each request in order, but cheaper.
 *
 * Context: Any but NMI.
 */
void twheel_stop_many(struct twheel_request *requests, unsigned int nr)
{
	for_many(requests, nr, stop_request);
}
EXPORT_SYMBOL_GPL(twheel_stop_many);

/*
 * Stop a timer, and set *@stopped if it was pending. If its callback is
 * running, announce the caller at *@lock and return true: the caller must wait
 * there. A pending timer is left alone while its callback runs, because the
 * callback could start it once more, and two stops could not be reported. A
 * shutdown keeps the callback from starting the timer, and a caller that cannot
 * wait stops it at once.
 */
static bool try_to_stop(struct twheel_timer *timer, bool shutdown, bool may_wait,
			bool *stopped, struct twheel_expiry_lock **lock)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);
	bool running = base->running == timer;

	if (shutdown)
		start_deferred(base, timer);
	if ((shutdown || !may_wait || !running) && twheel_base_stop(base, timer))
		*stopped = true;
	if (shutdown)
		timer->fn = NULL;
	if (running && may_wait)
		*lock = twheel_expiry_announce(&base->expiry);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return running && may_wait;
}

/* noinline: a test delays callers here. */
static noinline void wait_for_callback(struct twheel_expiry_lock *lock)
{
	twheel_expiry_wait(lock);
}

/*
 * Check whether the caller may wait for the timer's callback. Returns false in a
 * hard interrupt, which would spin for ever if it interrupted the callback.
 *
 * Tells lockdep that the caller waits for a lock of the timer, which the callback
 * holds: see call_timer(). So lockdep reports a caller that is the callback, or
 * holds a lock that the callback takes.
 */
static bool may_wait_for(struct twheel_timer *timer)
{
	bool may_wait = !WARN_ON_ONCE(in_hardirq());

	/* On PREEMPT_RT twheel_expiry_wait() sleeps. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		lockdep_assert_preemption_enabled();
#ifdef CONFIG_LOCKDEP
	if (may_wait) {
		unsigned long flags;

		debug_assert_init(timer);
		local_irq_save(flags);
		lock_map_acquire(&timer->lockdep_map);
		lock_map_release(&timer->lockdep_map);
		local_irq_restore(flags);
	}
#endif
	return may_wait;
}

static int stop_sync(struct twheel_timer *timer, bool shutdown)
{
	bool may_wait = may_wait_for(timer);
	struct twheel_expiry_lock *lock;
	bool stopped = false;

	/* Look up the base again after each wait: the timer may have moved. */
	while (try_to_stop(timer, shutdown, may_wait, &stopped, &lock))
		wait_for_callback(lock);
	return stopped;
}

/**
 * twheel_stop_sync - stop a timer and wait for its callback
 * @timer: the timer
 *
 * When this returns, the timer is not pending and its callback is not running,
 * provided that no other caller starts the timer concurrently.
 *
 * Context: Process or softirq, but not the timer's own callback. The caller
 * must not hold a lock, or disable an interrupt, that the callback needs.
 * Return: 1 if the timer was pending, 0 if it was not.
 */
int twheel_stop_sync(struct twheel_timer *timer)
{
	return stop_sync(timer, false);
}
EXPORT_SYMBOL_GPL(twheel_stop_sync);

/**
 * twheel_shutdown_sync - stop a timer for good
 * @timer: the timer
 *
 * Like twheel_stop_sync(), but afterwards every start fails, in its callback or
 * elsewhere, until twheel_timer_setup() sets the timer up again. For teardown.
 *
 * Context: As twheel_stop_sync().
 * Return: 1 if the timer was pending, 0 if it was not.
 */
int twheel_shutdown_sync(struct twheel_timer *timer)
{
	return stop_sync(timer, true);
}
EXPORT_SYMBOL_GPL(twheel_shutdown_sync);

/**
 * twheel_callback_announce - announce a wait for a timer's running callback
 * @timer: the timer
 * @lock: out: where to wait, for twheel_callback_wait()
 *
 * For a caller that finds its own data in the middle of an expiry, while it
 * holds a lock that the callback takes. With the lock held, so that the timer
 * cannot go away, it announces itself. Then it releases the lock, calls
 * twheel_callback_wait(), and looks at the data again. A pending timer remains
 * pending. Unlike a loop that sleeps, this lends the callback the caller's
 * priority on PREEMPT_RT.
 *
 * Context: Any but NMI and hard interrupts. The wheel must exist until
 * twheel_callback_wait() returns.
 * Return: true if the callback is running: the caller must call twheel_callback_wait().
 * A timer that is not pending because it is about to expire counts as running.
 */
bool twheel_callback_announce(struct twheel_timer *timer, struct twheel_expiry_lock **lock)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);
	bool running = base->running == timer;

	if (running)
		*lock = twheel_expiry_announce(&base->expiry);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return running;
}
EXPORT_SYMBOL_GPL(twheel_callback_announce);

/**
 * twheel_callback_wait - wait for a callback that twheel_callback_announce() found
 * @lock: from twheel_callback_announce()
 *
 * On PREEMPT_RT this returns after the callback. On other kernels it may return
 * before the callback does, so call twheel_callback_announce() again.
 *
 * Context: As twheel_stop_sync().
 */
void twheel_callback_wait(struct twheel_expiry_lock *lock)
{
	/* On PREEMPT_RT twheel_expiry_wait() sleeps. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		lockdep_assert_preemption_enabled();
	wait_for_callback(lock);
}
EXPORT_SYMBOL_GPL(twheel_callback_wait);

/**
 * twheel_timer_setup_key - set up a timer with a lockdep class
 * @timer: see twheel_timer_setup()
 * @wheel: see twheel_timer_setup()
 * @fn: see twheel_timer_setup()
 * @flags: see twheel_timer_setup()
 * @name: name of the timer for lockdep, where configured
 * @key: class of the timer for lockdep
 *
 * For callers that set up timers on behalf of others, and pass their class.
 *
 * Context: Any.
 */
void twheel_timer_setup_key(struct twheel_timer *timer, struct twheel *wheel,
			    twheel_fn fn, unsigned int flags, const char *name,
			    struct lock_class_key *key)
{
	if (!wheel)
		wheel = twheel_default();
	if (flags & TWHEEL_TIMER_ON_STACK)
		debug_object_init_on_stack(timer, &twheel_timer_debug_descr);
	else
		debug_object_init(timer, &twheel_timer_debug_descr);
	timer->node.link.next = NULL;
	timer->node.expires = 0;
	timer->node.offset_ns = 0;
	timer->base = wheel ? wheel->bases[raw_smp_processor_id()] : NULL;
	timer->fn = fn;
	lockdep_init_map(&timer->lockdep_map, name, key, 0);
}
EXPORT_SYMBOL_GPL(twheel_timer_setup_key);

/**
 * twheel_timer_destroy - finish the use of a timer on the stack
 * @timer: a timer set up with %TWHEEL_TIMER_ON_STACK, not pending
 *
 * Context: Any.
 */
void twheel_timer_destroy(struct twheel_timer *timer)
{
	debug_object_free(timer, &twheel_timer_debug_descr);
}
EXPORT_SYMBOL_GPL(twheel_timer_destroy);

/**
 * twheel_deadline - return the deadline of a timer
 * @timer: the timer
 *
 * Context: Any but NMI.
 * Return: the deadline of its last start, on its wheel's clock, ns.
 */
ktime_t twheel_deadline(const struct twheel_timer *timer)
{
	unsigned long flags;
	/* Changes @timer only to give a static timer its first base. */
	struct twheel_base *base = twheel_lock_base((struct twheel_timer *)timer,
						    &flags);
	ktime_t deadline;

	if (is_deferred(base, timer))
		start_deferred(base, (struct twheel_timer *)timer);
	deadline = deadline_of(base, timer);
	raw_spin_unlock_irqrestore(&base->lock, flags);
	return deadline;
}
EXPORT_SYMBOL_GPL(twheel_deadline);

/**
 * twheel_remaining - return the time until a timer is due
 * @timer: the timer
 *
 * Context: Any but NMI.
 * Return: time until its deadline, ns. 0 after it, or if not pending.
 */
u64 twheel_remaining(const struct twheel_timer *timer)
{
	unsigned long flags;
	/* See twheel_deadline(). */
	struct twheel_base *base = twheel_lock_base((struct twheel_timer *)timer,
						    &flags);
	ktime_t deadline = twheel_pending(timer) ? deadline_of(base, timer) : 0;
	ktime_t now = twheel_base_time(base, ktime_get());

	raw_spin_unlock_irqrestore(&base->lock, flags);
	return deadline > now ? deadline - now : 0;
}
EXPORT_SYMBOL_GPL(twheel_remaining);
