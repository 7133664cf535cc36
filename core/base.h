/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel and its bases, one for each CPU
 *
 * A base as timer.c, tick.c and wheel.c know it, and the functions of base.c.
 */
#ifndef _TWHEEL_BASE_H
#define _TWHEEL_BASE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/debugobjects.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "expiry.h"
#include "trace.h"
#include "twheel_scheme.h"

#define TWHEEL_NAME_MAX	32

/* The caller may be at the limit of its memory cgroup: an error will do. */
#define TWHEEL_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* Timers moved within a wheel or between bases under one hold of a lock. */
#define TWHEEL_MOVES_PER_LOCK	64

/* Number of a base on which no timer can be started. */
#define TWHEEL_NO_CPU	UINT_MAX

/* The base of a timer that has left one base and not reached the other. */
#define TWHEEL_MOVING	((struct twheel_base *)1)

/* Entries of @lateness of a base's counters: the highest bit of a u32. */
#define TWHEEL_LATENESS_BITS	32

/* The value of @again when nothing can be noted there any more. */
#define TWHEEL_AGAIN_CLOSED	1

/**
 * struct twheel_counters - the events of a base, counted
 * @started: timers started on it, less those moved away, plus those moved
 *	here. On each base started = expired + stopped + pending at any time, and
 *	so in any sum over bases
 * @restarted: restarts of pending timers
 * @stopped: pending timers stopped
 * @expired: timers expired
 * @moved: timers handed over from a CPU that went offline
 * @ticks: ticks processed. Ticks that it dozed through do not count
 * @busy_ticks: ticks at which a timer expired
 * @missed_ticks: ticks processed later than their own time
 * @wakeups: runs of the hrtimer, runs that were put off at once included
 * @yields: runs that ended with work left, to let the system run
 * @longest_tick_ns: longest run of the hrtimer
 * @longest_lateness_ns: longest time from the first tick that a run expired
 *	timers of to its begin, and from the last one to its end
 * @lateness: expiries by the highest bit of their lateness in ns plus 1. Their sum
 *	is @expired
 *
 * All guarded by the base's lock.
 */
struct twheel_counters {
	u64 started;
	u64 restarted;
	u64 stopped;
	u64 expired;
	u64 moved;
	u64 ticks;
	u64 busy_ticks;
	u64 missed_ticks;
	u64 wakeups;
	u64 yields;
	u64 longest_tick_ns;
	u64 longest_lateness_ns;
	u64 lateness[TWHEEL_LATENESS_BITS];
};

/**
 * struct twheel_base - the timers of one CPU
 * @lock: guards everything below but what says otherwise. Never taken with
 *	another base's lock held
 * @cpu: the CPU, or %TWHEEL_NO_CPU while that is not online or there are no
 *	slots
 * @local: the CPU whose starts come here unseen: @cpu, or %TWHEEL_NO_CPU if that
 *	is isolated. A start elsewhere looks where its timer belongs
 * @other: CPU on whose base @cpu, isolated, starts timers, or %TWHEEL_NO_CPU. Only that
 *	CPU uses this and @other_changes
 * @other_changes: @usable_changes of the wheel when @other was chosen
 * @online: the CPU is online. Only CPU hotplug changes it once the wheel is made,
 *	so that cpus_read_lock() will do for reading it
 * @prepared: there are slots. False only in a lazy wheel, and never again once
 *	it is true. Written under @lock
 * @tick_ns: length of a tick. Constant
 * @doze: of the empty ticks in a row, the first to be slept through. 0 if none
 *	is. Constant
 * @clock: the clock of ticks and deadlines. Constant
 * @empty: runs in a row that expired nothing, at most @doze
 * @late_ns: lateness of a timer with an @offset_ns of 0 that expires now, plus 1.
 *	Only the hrtimer's function has it, for the tick that it is at
 * @kicked: @kick is on its way to the CPU
 * @armed_tick: the tick that a dozing base's hrtimer is set for. U64_MAX
 *	while it is off. 0 while a start need not look at it: it fires every
 *	tick, or its function runs and programs it at its end
 * @running: the timer whose callback runs, or NULL. twheel_stop() looks at it
 *	without @lock
 * @again: the deadline that the callback of @running has noted with
 *	twheel_again_at(), with a tick less 1 ns added, a u64. 0 if there is none.
 *	%TWHEEL_AGAIN_CLOSED if it is too late for one. It is while the timer is
 *	pending, as each start closes it. Only that callback goes from 0 to a
 *	deadline, without @lock. Means nothing while @running is NULL
 * @scheme: the timers
 * @counters: events since it was made
 * @reached: the last tick that the hrtimer's function was run for
 * @ahead: what @clock was ahead of CLOCK_MONOTONIC then, ns
 * @resumed: the tick of the first run after @ahead had changed. All ticks before it may
 *	have been slept through, and count as late only from it on
 * @tick_ends: work for the end of the run. Only the hrtimer's function and the
 *	callbacks that it calls touch it, and one CPU runs them one by one
 * @next_tick_end: where the next of @tick_ends is linked
 * @waited: the next run has been put off to a round of twheel_share_wait().
 *	Touched as @tick_ends is
 * @timers_per_look: so many timers expire between two looks at the clock.
 *	Touched as @tick_ends is
 * @payer: the wheel's on this CPU, or NULL. Constant
 * @wheel: the wheel. Constant
 * @hrtimer: drives the base; started under @lock on @cpu only
 * @kick: asks @cpu to program @hrtimer. Sent under @lock
 * @expiry: PREEMPT_RT: locks that are held while callbacks run, to lend a
 *	waiter's priority to them. Outside @lock
 */
struct twheel_base {
	raw_spinlock_t lock;
	unsigned int cpu;
	unsigned int local;
	unsigned int other;
	int other_changes;
	u32 tick_ns;
	u32 doze;
	clockid_t clock;
	u32 empty;
	u32 late_ns;
	bool online;
	bool prepared;
	bool kicked;
	u64 armed_tick;
	struct twheel_timer *running;
	atomic64_t again;
	struct twheel_scheme scheme;
	struct twheel_counters counters;
	u64 reached;
	s64 ahead;
	u64 resumed;
	struct twheel_tick_end *tick_ends;
	struct twheel_tick_end **next_tick_end;
	bool waited;
	u8 timers_per_look;
	struct twheel_payer *payer;
	struct twheel *wheel;
	struct hrtimer hrtimer;
	call_single_data_t kick;
	struct twheel_expiry expiry;
} ____cacheline_aligned_in_smp;

/**
 * struct twheel - a wheel
 * @number: its number among all wheels. Constant
 * @cpuhp: instance of the CPU hotplug state
 * @config: its configuration, with the defaults filled in. Constant
 * @name: @config.name points here
 * @rcu: for freeing it
 * @usable: CPUs on whose bases timers can be started. A bit is written with the
 *	@cpu of its base, under the base's lock. For whoever looks for such a base
 *	without a lock, and looks again under it
 * @usable_changes: number of changes of @usable. An isolated CPU that sees another number
 *	than before chooses a base again
 * @bases: one for each possible CPU, by number. Constant
 */
struct twheel {
	u32 number;
	struct hlist_node cpuhp;
	struct twheel_config config;
	char name[TWHEEL_NAME_MAX];
	struct rcu_head rcu;
	cpumask_var_t usable;
	atomic_t usable_changes;
	struct twheel_base *bases[];
};

/**
 * struct twheel_snapshot - one base or a sum of bases, consistent in itself
 * @counters: see there
 * @pending: pending timers
 * @cascaded: timers moved within the wheel
 */
struct twheel_snapshot {
	struct twheel_counters counters;
	u64 pending;
	u64 cascaded;
};

/* Module parameter. Constant after init. */
extern bool twheel_base_spare_isolated;

/* Timers that are started on this CPU go to another one, unless it is named. */
static inline bool twheel_base_is_spared(unsigned int cpu)
{
	return twheel_base_spare_isolated &&
	       (!housekeeping_test_cpu(cpu, HK_TYPE_TIMER) ||
		cpu_is_isolated(cpu));
}

/* A CPU may become isolated at any time, and nobody is told: each tick looks. */
static inline void twheel_base_look_for_isolation(struct twheel_base *base)
{
	base->local = twheel_base_is_spared(base->cpu) ? TWHEEL_NO_CPU : base->cpu;
}

static inline u64 twheel_tick_of(const struct twheel_base *base, ktime_t now)
{
	return div_u64(now, base->tick_ns);
}

static inline ktime_t twheel_time_of(const struct twheel_base *base, u64 tick)
{
	return min_t(u64, tick * base->tick_ns, KTIME_MAX);
}

/* A time of CLOCK_MONOTONIC on the base's clock. */
static __always_inline ktime_t twheel_base_time(const struct twheel_base *base,
						ktime_t monotonic)
{
	return twheel_clock_time(base->clock, monotonic);
}

/* The tick of now. */
static inline u64 twheel_tick_now(const struct twheel_base *base)
{
	return twheel_tick_of(base, twheel_base_time(base, ktime_get()));
}

static inline struct twheel_timer *twheel_timer_of(struct twheel_node *node)
{
	return container_of(node, struct twheel_timer, node);
}

/*
 * Under @base->lock, by the tick. A start that was noted has been made by now.
 */
static inline void
twheel_base_set_running(struct twheel_base *base, struct twheel_timer *timer)
{
	/* Pairs with may_be_noted(). */
	smp_store_release(&base->running, timer);
}

extern const struct debug_obj_descr twheel_base_debug_descr;

/*
 * Rounding up is what keeps a timer from being early. So @deadline has a tick
 * less 1 ns added. *@offset_ns is what twheel_expired_deadline() needs to have
 * the deadline back.
 */
static inline u64 twheel_tick_above(const struct twheel_base *base,
				    u64 deadline, u32 *offset_ns)
{
	return div_u64_rem(deadline, base->tick_ns, offset_ns);
}

/**
 * twheel_base_start - start a timer that is not pending
 * @base: the timer's base
 * @timer: the timer
 * @expires: its tick
 * @offset_ns: the place of its deadline in the tick before that
 *
 * Does not look at the hrtimer, nor tell debug objects.
 *
 * Context: @base->lock held.
 */
static __always_inline void twheel_base_start(struct twheel_base *base,
					      struct twheel_timer *timer,
					      u64 expires, u32 offset_ns)
{
	WRITE_ONCE(timer->node.expires, expires);
	WRITE_ONCE(timer->node.offset_ns, offset_ns);
	/* Before the timer is pending. Pairs with twheel_start(). */
	smp_wmb();
	twheel_scheme_start_at(&base->scheme, &timer->node, expires);
	base->counters.started++;
	trace_twheel_start(base, timer, false);
}

/* Start a timer as its callback has noted. @noted is what @base->again was. */
static __always_inline void twheel_base_start_again(struct twheel_base *base,
						    struct twheel_timer *timer,
						    u64 noted)
{
	u32 offset_ns;
	u64 expires = twheel_tick_above(base, noted, &offset_ns);

	debug_object_activate(timer, &twheel_base_debug_descr);
	twheel_base_start(base, timer, expires, offset_ns);
}

/**
 * twheel_base_stop - stop a timer if it is pending
 * @base: the timer's base
 * @timer: the timer
 *
 * Context: @base->lock held.
 * Return: whether the timer was pending.
 */
static __always_inline bool twheel_base_stop(struct twheel_base *base,
					     struct twheel_timer *timer)
{
	if (!twheel_pending(timer))
		return false;
	twheel_scheme_stop(&base->scheme, &timer->node);
	base->counters.stopped++;
	debug_object_deactivate(timer, &twheel_base_debug_descr);
	trace_twheel_stop(base, timer);
	return true;
}

struct twheel_base *
twheel_base_alloc(struct twheel *wheel, unsigned int cpu,
		  enum hrtimer_restart (*tick)(struct hrtimer *hrtimer));
void twheel_base_free(struct twheel_base *base);
int twheel_base_prepare(struct twheel_base *base, unsigned int cpu);
unsigned int twheel_base_other_cpu(const struct cpumask *mask, unsigned int cpu);
unsigned int twheel_base_nearest(const struct twheel *wheel, unsigned int cpu);
struct twheel_base *twheel_base_lock_online(struct twheel *wheel,
					    unsigned int cpu)
	__acquires(wheel->bases[cpu]->lock);
void twheel_base_arm(struct twheel_base *base, u64 tick);
void twheel_base_wake(struct twheel_base *base);
void twheel_base_online(struct twheel_base *base, unsigned int cpu);
void twheel_base_offline(struct twheel_base *base, unsigned int cpu);
void twheel_base_wait_for_kick(struct twheel_base *base);
void twheel_base_snapshot(struct twheel_base *base,
			  struct twheel_snapshot *snapshot);
bool twheel_base_look(struct twheel_base *base, u32 *slot,
		      void (*fn)(struct twheel_timer *timer, void *arg),
		      void *arg);
struct twheel_timer *twheel_base_stop_any(struct twheel_base *base, u32 *slot);

/* tick.c */
enum hrtimer_restart twheel_tick(struct hrtimer *hrtimer);

#endif /* _TWHEEL_BASE_H */
