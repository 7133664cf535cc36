// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Starting and stopping timers
 *
 * A timer is started on the base of the CPU that starts it and stays there
 * until it has expired or been stopped. So in the usual case no two CPUs touch
 * one lock. An isolated CPU is spared: its timers go to the base of another one.
 *
 * Which lock. timer->base names the base whose lock guards the timer. It
 * changes only while the timer is in no wheel. It is not pending then, or
 * twheel_start_on() or a CPU that goes away has taken it out under the old
 * base's lock. Until it is on the new base it is TWHEEL_MOVING. Timers that have no
 * base yet share one on which nothing is ever pending (twheel_wheel_unbound).
 * So a caller that wants the lock reads it, locks, and looks again: the
 * protocol of lock_timer_base() in kernel/time/timer.c. While a callback runs
 * its timer stays on that base, so that base->running is the place to ask.
 *
 * The hrtimer. A start has to look at it if armed_tick says so. See
 * base.c.
 *
 * Rounding. A deadline is rounded up to a tick, and a tick is processed when
 * the clock has reached it. So no timer expires early, however many ticks a
 * base has missed, and none is due more than a tick after its deadline.
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
 * Debug objects, where configured: timers that were not set up, and pending
 * ones that are set up or freed. An error of a caller is reported and put
 * right.
 */
static const struct debug_obj_descr debug_descr;

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

static bool debug_fixup_init(void *addr, enum debug_obj_state state)
{
	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	twheel_stop_sync(addr);
	debug_object_init(addr, &debug_descr);
	return true;
}

static bool debug_fixup_free(void *addr, enum debug_obj_state state)
{
	if (state != ODEBUG_STATE_ACTIVE)
		return false;
	twheel_stop_sync(addr);
	debug_object_free(addr, &debug_descr);
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

static const struct debug_obj_descr debug_descr = {
	.name			= "twheel_timer",
	.debug_hint		= debug_hint,
	.is_static_object	= debug_is_static,
	.fixup_init		= debug_fixup_init,
	.fixup_activate		= debug_fixup_unknown,
	.fixup_free		= debug_fixup_free,
	.fixup_assert_init	= debug_fixup_unknown,
};
#endif

static void debug_setup(struct twheel_timer *timer, unsigned int flags)
{
	if (flags & TWHEEL_TIMER_ON_STACK)
		debug_object_init_on_stack(timer, &debug_descr);
	else
		debug_object_init(timer, &debug_descr);
}

static void debug_assert_init(struct twheel_timer *timer)
{
	debug_object_assert_init(timer, &debug_descr);
}

static void debug_deactivate(struct twheel_timer *timer)
{
	debug_object_deactivate(timer, &debug_descr);
}

/* Deadlines and ticks. */

static u64 round_up_to_tick(const struct twheel_base *base, u64 deadline,
			    u32 *offset_ns)
{
	return twheel_tick_above(base, deadline + base->tick_ns - 1, offset_ns);
}

/* The timer's callback has noted a start. */
static bool is_noted(const struct twheel_base *base,
		     const struct twheel_timer *timer)
{
	return base->running == timer &&
	       unlikely((u64)atomic64_read(&base->again) > TWHEEL_AGAIN_CLOSED);
}

static ktime_t deadline_of(const struct twheel_base *base,
			   const struct twheel_timer *timer)
{
	/* Never started. */
	if (!timer->node.expires)
		return 0;
	return twheel_expired_deadline(timer, base->tick_ns);
}

/* On CLOCK_MONOTONIC: the clock is the base's, which is known once it is locked. */
static u64 deadline_after(u64 delay_ns)
{
	u64 deadline = ktime_get() + delay_ns;

	if (unlikely((s64)(deadline | delay_ns) < 0))
		return KTIME_MAX;
	return deadline;
}

static u64 deadline_at(ktime_t deadline)
{
	return unlikely(deadline < 0) ? 0 : deadline;
}

/* Locks and bases. */

/*
 * The timer is on its way to a base: wait. Or it has none yet: it is guarded as
 * all those are, and a start moves it on.
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
		if (likely(base > TWHEEL_MOVING)) {
			raw_spin_lock_irqsave(&base->lock, *flags);
			/* A writer meanwhile does not write @base. */
			if (likely(data_race(timer->base == base)))
				return base;
			raw_spin_unlock_irqrestore(&base->lock, *flags);
		}
		await_base(timer);
	}
}

static void twheel_unlock_base(struct twheel_base *base, unsigned long flags)
	__releases(&base->lock)
{
	raw_spin_unlock_irqrestore(&base->lock, flags);
}

/*
 * Let go of @base, whose wheel the timer is not in, and lock the base of @cpu
 * with the timer on it. Never two locks at a time: in between, TWHEEL_MOVING
 * keeps others waiting in twheel_lock_base().
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
	if (unlikely(base->cpu != cpu))
		twheel_wheel_want(wheel, cpu);
	WRITE_ONCE(timer->base, base);
	return base;
}

/*
 * Returns the CPU for timers that are started here: this one or, if it is isolated,
 * another one. That remains the same while CPUs with slots neither come nor go, for
 * the order of the timers, and because the search looks at all CPUs.
 */
static unsigned int cpu_of_start(const struct twheel *wheel)
{
	unsigned int cpu = smp_processor_id();
	struct twheel_base *base = wheel->bases[cpu];
	int changes;

	if (likely(!twheel_base_is_spared(cpu)))
		return cpu;
	changes = atomic_read(&wheel->usable_changes);
	if (base->other == TWHEEL_NO_CPU || base->other_changes != changes ||
	    twheel_base_is_spared(base->other)) {
		base->other = twheel_base_nearest(wheel, cpu);
		base->other_changes = changes;
	}
	return base->other;
}

/*
 * Starting and stopping under the base's lock. Inlined functions make up the
 * usual case of the API functions. The rest is out of line, so that they need
 * not save registers for it.
 */

static __always_inline void insert(struct twheel_base *base,
				   struct twheel_timer *timer, u64 expires,
				   u32 offset_ns)
{
	debug_object_activate(timer, &debug_descr);
	twheel_base_start(base, timer, expires, offset_ns);
}

/* Returns whether the hrtimer is off or may be set too late for a timer that is started. */
static __always_inline bool sleeps_too_long(const struct twheel_base *base,
					    u64 expires)
{
	return unlikely(base->armed_tick) &&
	       !twheel_scheme_can_wait(&base->scheme, expires, base->armed_tick);
}

/*
 * As insert(), with the hrtimer off, or sleeping and maybe for too
 * long. Returns the tick for twheel_base_arm().
 */
static noinline u64 insert_asleep(struct twheel_base *base,
				  struct twheel_timer *timer, u64 expires,
				  u32 offset_ns)
{
	if (expires < base->armed_tick)
		twheel_base_wake(base);
	insert(base, timer, expires, offset_ns);
	return twheel_scheme_wakeup(&base->scheme, &timer->node);
}

/* As restart_and_move(), with the hrtimer off or sleeping. */
static noinline void restart_asleep(struct twheel_base *base,
				    struct twheel_timer *timer, u64 expires)
{
	if (expires < base->armed_tick)
		twheel_base_wake(base);
	if (twheel_scheme_restart(&base->scheme, &timer->node, expires))
		twheel_base_arm(base, twheel_scheme_wakeup(&base->scheme,
							   &timer->node));
}

/* To an earlier tick, or in a scheme that moves restarted timers. */
static noinline void restart_and_move(struct twheel_base *base,
				      struct twheel_timer *timer, u64 expires)
{
	if (unlikely(base->armed_tick))
		restart_asleep(base, timer, expires);
	else
		twheel_scheme_restart(&base->scheme, &timer->node, expires);
}

static __always_inline void restart_locked(struct twheel_base *base,
					   struct twheel_timer *timer,
					   u64 expires, u32 offset_ns)
{
	WRITE_ONCE(timer->node.offset_ns, offset_ns);
	if (unlikely(!twheel_scheme_refresh(&base->scheme, &timer->node,
					    expires)))
		restart_and_move(base, timer, expires);
	base->counters.restarted++;
	trace_twheel_start(base, timer, true);
}

/*
 * If the timer's callback has noted a start, that is made now, so that it is a
 * start as any other for whoever comes after it. If not, the callback can note
 * none from now on. Returns whether the timer is pending because of that.
 */
static noinline bool start_noted(struct twheel_base *base,
				 struct twheel_timer *timer)
{
	u64 noted;

	if (base->running != timer)
		return false;
	noted = atomic64_xchg(&base->again, TWHEEL_AGAIN_CLOSED);
	if (noted <= TWHEEL_AGAIN_CLOSED)
		return false;
	twheel_base_start_again(base, timer, noted);
	return true;
}

/* A timer is pending, or its callback has noted a start. Then it is now. */
static bool is_started(struct twheel_base *base, struct twheel_timer *timer)
{
	return likely(twheel_pending(timer)) || start_noted(base, timer);
}

/*
 * A start that needs more than an insertion. @cpu is where the timer goes, or
 * TWHEEL_NO_CPU if nobody says so, unless its callback runs: then it stays, or
 * waiters for the callback would ask the wrong base.
 */
static noinline int start_slow(struct twheel_base *base,
			       struct twheel_timer *timer, u64 expires,
			       u32 offset_ns, unsigned int cpu,
			       unsigned long flags)
	__releases(&base->lock)
{
	int ret = -ESHUTDOWN;

	if (unlikely(!base->wheel)) {
		ret = -ENODEV;
	} else if (start_noted(base, timer)) {
		/* One that is about to join another base still looks pending. */
		restart_locked(base, timer, expires, offset_ns);
		ret = 1;
	} else if (timer->fn) {
		if (cpu == TWHEEL_NO_CPU)
			cpu = cpu_of_start(base->wheel);
		if (base->cpu != cpu && base->running != timer)
			base = move_to_base(base, timer, cpu);
		twheel_base_arm(base, insert_asleep(base, timer, expires,
						    offset_ns));
		ret = 0;
	}
	twheel_unlock_base(base, flags);
	return ret;
}

/* The worker under all starts except twheel_start_on()'s. */
static __always_inline int start(struct twheel_base *base,
				 struct twheel_timer *timer, u64 deadline,
				 unsigned long flags)
	__releases(&base->lock)
{
	u32 offset_ns;
	u64 expires = round_up_to_tick(base, deadline, &offset_ns);
	unsigned int cpu = smp_processor_id();

	if (twheel_pending(timer)) {
		restart_locked(base, timer, expires, offset_ns);
		twheel_unlock_base(base, flags);
		return 1;
	}
	if (unlikely(base->local != cpu || !timer->fn ||
		     sleeps_too_long(base, expires) || is_noted(base, timer)))
		return start_slow(base, timer, expires, offset_ns,
				  TWHEEL_NO_CPU, flags);
	/* As start_noted(): on this CPU the callback does not run meanwhile. */
	if (base->running == timer)
		atomic64_set(&base->again, TWHEEL_AGAIN_CLOSED);
	insert(base, timer, expires, offset_ns);
	twheel_unlock_base(base, flags);
	return 0;
}

/* For callers that are too rare to have a copy of their own. */
static noinline int start_cold(struct twheel_base *base,
			       struct twheel_timer *timer, u64 deadline,
			       unsigned long flags)
	__releases(&base->lock)
{
	return start(base, timer, deadline, flags);
}

/**
 * twheel_start_at - start or restart a timer at an absolute deadline
 * @timer: the timer
 * @deadline: when it is to expire, on its wheel's clock, ns. One that has passed
 *	expires at the next tick
 *
 * A timer that is not pending is started on the base of this CPU or, if that is
 * isolated, of another one. One that is
 * pending stays on its base and gets the new deadline. A later one costs next
 * to nothing: the timer is not moved until the wheel comes to it. Among the
 * timers of its new tick it then has a place as if it had been started at some
 * time between its first start and that move. With an earlier deadline it
 * counts as started now.
 *
 * Context: Any but NMI.
 * Return: 1 if the timer was pending, 0 if it was not. Errors: -ESHUTDOWN if it
 * has been shut down or was never set up, -ENODEV before there is a default wheel.
 */
int twheel_start_at(struct twheel_timer *timer, ktime_t deadline)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);

	return start(base, timer, deadline_at(deadline), flags);
}
EXPORT_SYMBOL_GPL(twheel_start_at);

/* The rest of restart_after(): most callers need not save registers for it. */
static noinline int start_other_tick(struct twheel_timer *timer, u64 deadline,
				     u64 expires, u32 offset_ns)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);

	if (unlikely(!twheel_pending(timer)))
		return start_cold(base, timer, deadline, flags);
	restart_locked(base, timer, expires, offset_ns);
	twheel_unlock_base(base, flags);
	return 1;
}

/* As well. Most callers need not convert a time for it either. */
static noinline int start_converted(struct twheel_timer *timer, u64 deadline)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);

	return start_cold(base, timer, twheel_base_time(base, deadline), flags);
}

/*
 * A relative start of a timer that was pending when it was looked at.
 *
 * A timer that is pushed back more often than once a tick mostly has its new
 * tick already. Then only the place of its deadline in the tick changes. It
 * needs no lock, as neither the wheel nor the hrtimer has anything to do.
 *
 * This restart counts as made while the timer was pending with that tick.
 * Somebody else may give the timer another tick, or the tick may expire it,
 * before the place is written. A reader may find the deadline off by less than
 * a tick then. When the timer expires is not affected.
 *
 * Not on 32 bits, which read a tick in two halves.
 */
static noinline int restart_after(struct twheel_timer *timer, u64 deadline)
{
	u64 expires;
	/* As in twheel_lock_base(). All bases of its wheel have one tick and clock. */
	struct twheel_base *base = READ_ONCE(timer->base);
	u32 offset_ns;

	if (unlikely(base <= TWHEEL_MOVING || base->clock == CLOCK_BOOTTIME))
		return start_converted(timer, deadline);
	expires = round_up_to_tick(base, deadline, &offset_ns);
	/* Pairs with twheel_base_start() and twheel_scheme_refresh(). */
	if (IS_ENABLED(CONFIG_64BIT) &&
	    READ_ONCE(timer->node.expires) == expires) {
		/* Pairs with twheel_expired_deadline(). */
		WRITE_ONCE(timer->node.offset_ns, offset_ns);
		return 1;
	}
	return start_other_tick(timer, deadline, expires, offset_ns);
}

/**
 * twheel_start - start or restart a timer
 * @timer: the timer
 * @delay_ns: time from now after which it is to expire, ns. More than 2^63 - 1
 *	from boot is the same as that
 *
 * As twheel_start_at() at @delay_ns from now. Many callers push a timer back more
 * often than once a tick. So if the timer is pending and due in the same tick
 * already, on a wheel on CLOCK_MONOTONIC nothing is locked, counted or traced. If
 * others start the timer at the same time, twheel_deadline() may be off by less than
 * a tick.
 *
 * For other units there are ms_to_ktime() and ktime_set(), also on 32 bits.
 *
 * Context: Any but NMI.
 * Return: 1 if the timer was pending, 0 if it was not. Errors: -ESHUTDOWN if it
 * has been shut down or was never set up, -ENODEV before there is a default wheel.
 */
int twheel_start(struct twheel_timer *timer, u64 delay_ns)
{
	struct twheel_base *base;
	unsigned long flags;
	u64 deadline;

	/*
	 * The clock waits for loads before it, but not for a prefetch: the timer
	 * comes from memory while the clock is read.
	 */
	prefetchw(&timer->node);
	prefetchw(&timer->fn);
	deadline = deadline_after(delay_ns);
	/*
	 * Its tick is read after that, and belongs to the start that is seen
	 * here. Pairs with twheel_base_start().
	 */
	if (unlikely(smp_load_acquire(&timer->node.link.next)))
		return restart_after(timer, deadline);
	base = twheel_lock_base(timer, &flags);
	return start(base, timer, twheel_base_time(base, deadline), flags);
}
EXPORT_SYMBOL_GPL(twheel_start);

/**
 * twheel_again_at - a callback starts its own timer again
 * @timer: the timer whose callback calls this
 * @deadline: as for twheel_start_at()
 *
 * As twheel_start_at(), at less cost: the deadline is noted, and the tick starts
 * the timer when the callback has returned. It takes its base's lock then anyway.
 * So the timer must not be freed before that.
 *
 * Until then twheel_pending() says that the timer is not pending. All that starts,
 * restarts or stops the timer takes it as started. The deadline of a later start
 * holds, and a stop returns 1. twheel_stop_sync() waits for the callback and stops
 * what the tick has started.
 *
 * Context: The timer's callback.
 * Return: 1 if the timer was pending, 0 if it was not, -ESHUTDOWN if it has
 * been shut down, -EINVAL if its callback does not run.
 */
int twheel_again_at(struct twheel_timer *timer, ktime_t deadline)
{
	/* Stays on this base while the callback runs: see start_slow(). */
	struct twheel_base *base = READ_ONCE(timer->base);
	s64 none = 0;

	/* data_race: only while its callback runs here can it be @timer. */
	if (unlikely(base <= TWHEEL_MOVING || data_race(base->running) != timer))
		return -EINVAL;
	if (unlikely(deadline < 0 ||
		     !atomic64_try_cmpxchg(&base->again, &none,
					     deadline + base->tick_ns - 1)))
		return twheel_start_at(timer, deadline);
	return 0;
}
EXPORT_SYMBOL_GPL(twheel_again_at);

/**
 * twheel_restart_at - restart a timer if it is pending
 * @timer: the timer
 * @deadline: when it is to expire, on its wheel's clock, ns
 *
 * As mod_timer_pending(): for callers to whom a timer that has just expired is
 * another matter than a timer that they can still push back.
 *
 * Context: Any but NMI.
 * Return: 1 if the timer was pending and has the new deadline, 0 if it was not
 * and nothing has changed.
 */
int twheel_restart_at(struct twheel_timer *timer, ktime_t deadline)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);
	bool pending = is_started(base, timer);
	u32 offset_ns;
	u64 expires = round_up_to_tick(base, deadline_at(deadline), &offset_ns);

	if (pending)
		restart_locked(base, timer, expires, offset_ns);
	twheel_unlock_base(base, flags);
	return pending;
}
EXPORT_SYMBOL_GPL(twheel_restart_at);

/**
 * twheel_reduce_at - start a timer, or bring its deadline forward
 * @timer: the timer
 * @deadline: when it is to expire at the latest, on its wheel's clock, ns
 *
 * As timer_reduce(): for a timer that serves several purposes, each with a
 * deadline of its own. A timer that is pending with an earlier deadline keeps that.
 *
 * Context: Any but NMI.
 * Return: as twheel_start_at(). 1 does not say which of the deadlines holds.
 */
int twheel_reduce_at(struct twheel_timer *timer, ktime_t deadline)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);

	if (is_started(base, timer) && deadline_of(base, timer) <= deadline) {
		twheel_unlock_base(base, flags);
		return 1;
	}
	return start_cold(base, timer, deadline_at(deadline), flags);
}
EXPORT_SYMBOL_GPL(twheel_reduce_at);

/**
 * twheel_start_on - start a timer on a given CPU
 * @timer: the timer
 * @delay_ns: time from now after which it is to expire, ns
 * @cpu: where its callback is to run
 *
 * If the timer is pending it is taken out first, and counted as restarted. If
 * its callback runs on another CPU the timer is started there. In a lazy wheel,
 * as the default one is, that is not prepared on @cpu the timer goes to a CPU
 * where it is. See twheel_prepare_cpu().
 *
 * Context: Any but NMI.
 * Return: 1 if the timer was pending, 0 if it was not, -ESHUTDOWN and -ENODEV
 * as twheel_start(), -EINVAL if there is no such CPU or it is not online.
 */
int twheel_start_on(struct twheel_timer *timer, u64 delay_ns, int cpu)
{
	u64 deadline = deadline_after(delay_ns);
	struct twheel_base *base;
	unsigned long flags;
	u64 expires;
	u32 offset_ns;

	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -EINVAL;
	base = twheel_lock_base(timer, &flags);
	deadline = twheel_base_time(base, deadline);
	expires = round_up_to_tick(base, deadline, &offset_ns);
	if (!twheel_pending(timer))
		return start_slow(base, timer, expires, offset_ns, cpu, flags);
	if (base->cpu == cpu || base->running == timer)
		return start_cold(base, timer, deadline, flags);

	twheel_scheme_leave(&base->scheme, &timer->node);
	base->counters.started--;
	debug_deactivate(timer);
	base = move_to_base(base, timer, cpu);
	base->counters.restarted++;
	start_slow(base, timer, expires, offset_ns, cpu, flags);
	return 1;
}
EXPORT_SYMBOL_GPL(twheel_start_on);

/**
 * twheel_forward - start a periodic timer's next period
 * @timer: the timer, usually in its own callback
 * @period_ns: the period, ns, not 0. More than 2^63 - 1 is the same as that
 *
 * Moves the deadline on by as many periods as it takes to be after now, and
 * starts the timer. Deadlines stay on the grid of the first one, however late
 * a callback is. A timer that was stopped before its deadline stays stopped
 * until that has passed, as hrtimer_forward() leaves it alone.
 *
 * Context: Any but NMI.
 * Return: by how many periods the deadline was moved, 1 if none was missed. With 0
 * nothing was done: the timer is pending or shut down, or its deadline is after
 * now.
 */
u64 twheel_forward(struct twheel_timer *timer, u64 period_ns)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);
	bool pending = is_started(base, timer);
	ktime_t deadline = deadline_of(base, timer);
	ktime_t now = twheel_base_time(base, ktime_get());
	u64 periods;

	if (pending || now < deadline || WARN_ON_ONCE(!period_ns)) {
		twheel_unlock_base(base, flags);
		return 0;
	}
	period_ns = min_t(u64, period_ns, KTIME_MAX);
	periods = div64_u64(now - deadline, period_ns) + 1;
	deadline = min_t(u64, deadline + periods * period_ns, KTIME_MAX);
	if (start_cold(base, timer, deadline, flags) < 0)
		return 0;
	return periods;
}
EXPORT_SYMBOL_GPL(twheel_forward);

/*
 * A timer that is not pending may be about to be started again by its callback.
 * Without a lock: if the callback has returned by now that start has been made.
 */
static bool may_be_noted(struct twheel_timer *timer)
{
	/* As in twheel_lock_base(). */
	struct twheel_base *base = READ_ONCE(timer->base);

	if (!base)
		return false;
	/* Pairs with twheel_base_set_running(). */
	if (base > TWHEEL_MOVING && smp_load_acquire(&base->running) != timer)
		return twheel_pending(timer);
	return true;
}

/* A stop of a timer that was not pending when it was looked at. */
static noinline int stop_noted(struct twheel_timer *timer)
{
	struct twheel_base *base;
	unsigned long flags;
	bool stopped;

	if (!may_be_noted(timer))
		return 0;
	base = twheel_lock_base(timer, &flags);
	stopped = is_started(base, timer) && twheel_base_stop(base, timer);
	twheel_unlock_base(base, flags);
	return stopped;
}

/**
 * twheel_stop - stop a timer
 * @timer: the timer
 *
 * Does not wait for a callback that has begun.
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
	/* Nothing ever makes a pending timer look stopped. */
	if (unlikely(!twheel_pending(timer)))
		return stop_noted(timer);
	base = twheel_lock_base(timer, &flags);
	stopped = twheel_base_stop(base, timer);
	twheel_unlock_base(base, flags);
	return likely(stopped) ? stopped : stop_noted(timer);
}
EXPORT_SYMBOL_GPL(twheel_stop);

/*
 * Many timers at a time: the base's lock is taken once for all that are on one
 * base, and let go after TWHEEL_MOVES_PER_LOCK of them all the same. A
 * request's worker returns the base whose lock is held then: a start may have
 * to go on to another base. *@wakeup is the tick for twheel_base_arm(), so that
 * the hrtimer is programmed once for all that are started.
 */

static __always_inline struct twheel_base *
start_request(struct twheel_base *base, struct twheel_request *r, u64 *wakeup)
{
	struct twheel_timer *timer = r->timer;
	unsigned int cpu = smp_processor_id();
	u32 offset_ns;
	u64 expires = round_up_to_tick(base, deadline_at(r->deadline), &offset_ns);

	r->result = 0;
	if (unlikely(base->running == timer))
		start_noted(base, timer);
	if (twheel_pending(timer)) {
		restart_locked(base, timer, expires, offset_ns);
		r->result = 1;
	} else if (unlikely(!timer->fn)) {
		r->result = -ESHUTDOWN;
	} else {
		/* As in start_slow(). */
		if (unlikely(base->local != cpu && base->running != timer)) {
			if (!base->wheel) {
				r->result = -ENODEV;
				return base;
			}
			cpu = cpu_of_start(base->wheel);
		}
		if (unlikely(base->cpu != cpu && base->running != timer)) {
			/* If nothing was put there, that CPU is left alone. */
			if (*wakeup != U64_MAX)
				twheel_base_arm(base, *wakeup);
			*wakeup = U64_MAX;
			base = move_to_base(base, timer, cpu);
		}
		if (unlikely(sleeps_too_long(base, expires)))
			*wakeup = min(*wakeup, insert_asleep(base, timer, expires,
							     offset_ns));
		else
			insert(base, timer, expires, offset_ns);
	}
	return base;
}

static __always_inline struct twheel_base *
restart_request(struct twheel_base *base, struct twheel_request *r, u64 *wakeup)
{
	u32 offset_ns;
	u64 expires = round_up_to_tick(base, deadline_at(r->deadline), &offset_ns);

	r->result = is_started(base, r->timer);
	if (likely(r->result))
		restart_locked(base, r->timer, expires, offset_ns);
	return base;
}

static __always_inline struct twheel_base *
stop_request(struct twheel_base *base, struct twheel_request *r, u64 *wakeup)
{
	r->result = is_started(base, r->timer) &&
		    twheel_base_stop(base, r->timer);
	return base;
}

static __always_inline void
for_many(struct twheel_request *r, unsigned int nr,
	 struct twheel_base *(*fn)(struct twheel_base *base,
				   struct twheel_request *r, u64 *wakeup))
{
	struct twheel_request *end = r + nr;

	while (r < end) {
		unsigned long flags;
		struct twheel_base *base = twheel_lock_base(r->timer, &flags);
		struct twheel_request *pause =
			min(end, r + TWHEEL_MOVES_PER_LOCK);
		u64 wakeup = U64_MAX;

		do {
			base = fn(base, r++, &wakeup);
		} while (r < pause && READ_ONCE(r->timer->base) == base);
		if (unlikely(wakeup != U64_MAX))
			twheel_base_arm(base, wakeup);
		twheel_unlock_base(base, flags);
	}
}

/**
 * twheel_start_many - start or restart many timers
 * @requests: the timers and their deadlines. Receive their results
 * @nr: how many
 *
 * As twheel_start_at() for each in turn, at less cost.
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
 * @requests: the timers and their deadlines. Receive their results
 * @nr: how many
 *
 * As twheel_restart_at() for each in turn, at less cost.
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
 * @requests: the timers. Receive their results
 * @nr: how many
 *
 * As twheel_stop() for each in turn, at less cost.
 *
 * Context: Any but NMI.
 */
void twheel_stop_many(struct twheel_request *requests, unsigned int nr)
{
	for_many(requests, nr, stop_request);
}
EXPORT_SYMBOL_GPL(twheel_stop_many);

/*
 * Stops the timer. Sets *@stopped if it was pending. Returns whether its
 * callback runs. Then the caller is announced at *@turn and has to wait there.
 * While its callback runs a pending timer is left alone. The callback could
 * start it once more after that, and there would be two stops to report. After
 * a shutdown nothing can start it. A caller who cannot wait stops it at once.
 */
static bool try_to_stop(struct twheel_timer *timer, bool shutdown, bool may_wait,
			bool *stopped, struct twheel_expiry_turn **turn)
{
	unsigned long flags;
	struct twheel_base *base = twheel_lock_base(timer, &flags);
	bool running = base->running == timer;

	if (shutdown)
		start_noted(base, timer);
	if ((shutdown || !may_wait || !running) && twheel_base_stop(base, timer))
		*stopped = true;
	if (shutdown)
		timer->fn = NULL;
	if (running && may_wait)
		*turn = twheel_expiry_announce(&base->expiry);
	twheel_unlock_base(base, flags);
	return running && may_wait;
}

/* A function of its own, for a test to delay its caller before it waits. */
static noinline void wait_for_callback(struct twheel_expiry_turn *turn)
{
	twheel_expiry_wait(turn);
}

/*
 * To lockdep a callback holds a lock of the timer's, see call_timer(). A waiter
 * takes that lock. If there is a report here the waiter holds a lock
 * that the callback takes, or is the callback.
 */
static void look_for_deadlock(struct twheel_timer *timer)
{
#ifdef CONFIG_LOCKDEP
	unsigned long flags;

	debug_assert_init(timer);
	local_irq_save(flags);
	lock_map_acquire(&timer->lockdep_map);
	lock_map_release(&timer->lockdep_map);
	local_irq_restore(flags);
#endif
}

static int stop_sync(struct twheel_timer *timer, bool shutdown)
{
	/* The interrupt may have interrupted the callback, and would wait for ever. */
	bool may_wait = !WARN_ON_ONCE(in_hardirq());
	struct twheel_expiry_turn *turn;
	bool stopped = false;

	/* On PREEMPT_RT twheel_expiry_wait() sleeps if the callback runs. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		lockdep_assert_preemption_enabled();
	if (may_wait)
		look_for_deadlock(timer);
	/* By now the timer may be on another base: ours, even. */
	while (try_to_stop(timer, shutdown, may_wait, &stopped, &turn))
		wait_for_callback(turn);
	return stopped;
}

/**
 * twheel_stop_sync - stop a timer and wait for its callback
 * @timer: the timer
 *
 * When it returns the timer is not pending and its callback does not run,
 * provided that nobody else starts the timer meanwhile.
 *
 * Context: Process or softirq, not the timer's own callback, nor with a lock
 * held or interrupt disabled that the callback needs.
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
 * As twheel_stop_sync(), and from then on the timer cannot be started: for
 * tearing down what may start the timer from its callback or elsewhere. A new
 * twheel_timer_setup() makes it usable again.
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
 * twheel_timer_setup_key - the function behind twheel_timer_setup()
 * @timer: as there
 * @wheel: as there
 * @fn: as there
 * @flags: as there
 * @name: lockdep's name of the timer, where configured
 * @key: lockdep's class of it
 *
 * For callers that set up timers for others, and pass their class.
 *
 * Context: Any.
 */
void twheel_timer_setup_key(struct twheel_timer *timer, struct twheel *wheel,
			    twheel_fn fn, unsigned int flags, const char *name,
			    struct lock_class_key *key)
{
	if (!wheel)
		wheel = twheel_default();
	debug_setup(timer, flags);
	timer->node.link.next = NULL;
	timer->node.expires = 0;
	timer->node.offset_ns = 0;
	timer->base = wheel ? wheel->bases[raw_smp_processor_id()] : NULL;
	timer->fn = fn;
	lockdep_init_map(&timer->lockdep_map, name, key, 0);
}
EXPORT_SYMBOL_GPL(twheel_timer_setup_key);

/**
 * twheel_timer_destroy - done with a timer on the stack
 * @timer: a timer set up with %TWHEEL_TIMER_ON_STACK, not pending
 *
 * Context: Any.
 */
void twheel_timer_destroy(struct twheel_timer *timer)
{
	debug_object_free(timer, &debug_descr);
}
EXPORT_SYMBOL_GPL(twheel_timer_destroy);

/**
 * twheel_deadline - when a timer is due
 * @timer: the timer
 *
 * Context: Any but NMI.
 * Return: the deadline of its last start, on its wheel's clock, ns.
 */
ktime_t twheel_deadline(const struct twheel_timer *timer)
{
	unsigned long flags;
	/* The first look at a static timer gives it a base, and changes nothing else. */
	struct twheel_base *base = twheel_lock_base((struct twheel_timer *)timer,
						    &flags);
	ktime_t deadline;

	if (is_noted(base, timer))
		start_noted(base, (struct twheel_timer *)timer);
	deadline = deadline_of(base, timer);
	twheel_unlock_base(base, flags);
	return deadline;
}
EXPORT_SYMBOL_GPL(twheel_deadline);

/**
 * twheel_remaining - how long until a timer is due
 * @timer: the timer
 *
 * Context: Any but NMI.
 * Return: time until its deadline, ns. 0 if that has passed or the timer is
 * not pending.
 */
u64 twheel_remaining(const struct twheel_timer *timer)
{
	unsigned long flags;
	/* As in twheel_deadline(). */
	struct twheel_base *base = twheel_lock_base((struct twheel_timer *)timer,
						    &flags);
	ktime_t deadline = twheel_pending(timer) ? deadline_of(base, timer) : 0;
	ktime_t now = twheel_base_time(base, ktime_get());

	twheel_unlock_base(base, flags);
	return deadline > now ? deadline - now : 0;
}
EXPORT_SYMBOL_GPL(twheel_remaining);
