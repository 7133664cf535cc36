/* SPDX-License-Identifier: GPL-2.0 */
/* A wheel and its bases, one for each CPU */
#ifndef _TWHEEL_BASE_H
#define _TWHEEL_BASE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/debugobjects.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "expiry.h"
#include "trace.h"
#include "twheel_scheme.h"

#define TWHEEL_NAME_MAX	32

/*
 * Allocations are charged to the caller's memory cgroup. At its limit they fail
 * without a warning and kill no task, because all callers handle -ENOMEM.
 */
#define TWHEEL_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * Number of timers to move, within a wheel or between bases, before a lock is
 * released.
 */
#define TWHEEL_MOVES_PER_LOCK	64

/* Takes the place of a CPU number where there is no CPU. */
#define TWHEEL_NO_CPU	UINT_MAX

/*
 * Takes the place of the base of a timer that moves from one base to another.
 */
#define TWHEEL_MOVING	((struct twheel_base *)1)

/* Buckets of @lateness, one for each bit of a u32. */
#define TWHEEL_LATENESS_BITS	32

/* Value of @deferred while the callback of @running cannot defer a start. */
#define TWHEEL_DEFER_CLOSED	1

/**
 * struct twheel_counters - the event counters of a base
 * @started: timers started here, minus timers moved away, plus timers moved
 *	here. started = expired + stopped + pending holds at any time, on each
 *	base and in any sum over bases
 * @restarted: restarts of pending timers
 * @stopped: pending timers stopped
 * @expired: timers expired
 * @moved: timers inherited from an offline CPU
 * @ticks: ticks processed, without ticks slept through in a doze
 * @busy_ticks: ticks with at least one expiry
 * @missed_ticks: ticks processed later than their own time
 * @wakeups: runs of the hrtimer, including throttled ones
 * @yields: runs stopped early to let the system run
 * @longest_tick_ns: longest run of the hrtimer
 * @longest_lateness_ns: longest delay, from the first expired tick of a run to
 *	the begin of the run, or from its last expired tick to its end
 * @lateness: histogram of the expiries. Entry n counts those whose lateness in
 *	ns, plus 1, has bit n as its highest set bit
 *
 * All protected by the lock of the base.
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
 * @lock: protects all fields below, except where noted. No CPU ever holds the
 *	locks of two bases
 * @cpu: the CPU that drives the base: its own CPU or, while that CPU is
 *	offline, another one. %TWHEEL_NO_CPU if the base is switched off or has
 *	no slots
 * @fast_cpu: @cpu, or %TWHEEL_NO_CPU if @cpu is isolated. Starts on this CPU
 *	need not look for another base
 * @stand_in: CPU for the starts of this CPU while it is isolated or its base
 *	is switched off, or %TWHEEL_NO_CPU. Only this CPU uses @stand_in and
 *	@stand_in_changes, with interrupts off
 * @stand_in_changes: @usable_changes of the wheel when @stand_in was chosen
 * @online: true while the CPU is online. After creation written by CPU hotplug
 *	only, so cpus_read_lock() is enough to read it
 * @prepared: true once there are slots. Written under @lock
 * @tick_ns: length of a tick. Constant
 * @doze: doze after this many empty ticks in a row. 0: never doze. Constant
 * @clockid: clock of ticks and deadlines. Constant
 * @empty: runs in a row without an expiry, at most @doze
 * @late_ns: lateness of the timers of the tick in progress before their
 *	@offset_ns is subtracted, plus 1 so that the difference is never 0.
 *	Valid only in the hrtimer's function
 * @kicked: true while @kick is on its way to the CPU
 * @armed_tick: expiry tick of the hrtimer of a dozing base. U64_MAX: the
 *	hrtimer is off. 0: a start need not check, because the hrtimer fires
 *	every tick, or its function is running and programs it at the end
 * @running: timer, during its callback, or NULL. Also read without @lock
 * @deferred: deadline that the callback of @running passed to
 *	twheel_again_at(), plus @tick_ns - 1 for rounding up, a u64. 0: no start
 *	is deferred. %TWHEEL_DEFER_CLOSED: too late to defer a start. Every
 *	start of @running sets this, so a pending timer never has a deferred
 *	start. Only the callback of @running changes 0 to a deadline, and does
 *	so without @lock. Valid only while @running is set
 * @scheme: the timers
 * @counters: events since creation
 * @last_tick: last tick processed by the hrtimer's function, or slept through by
 *	the base
 * @clock_offset: @clockid minus CLOCK_MONOTONIC in the last run of the
 *	hrtimer's function, ns
 * @resume_tick: tick of the first run after a change of @clock_offset. All ticks
 *	before it may be ticks of a system sleep, so lateness is counted from here
 * @tick_ends: work for the end of the run. Accessed only by the hrtimer's
 *	function and the callbacks it calls, all on one CPU, and by
 *	twheel_tick_finish() once the hrtimer is off
 * @next_tick_end: tail of @tick_ends
 * @throttled: true if the last run was throttled: see twheel_throttle_wait().
 *	Accessed like @tick_ends
 * @timers_per_check: number of timers to expire between two clock reads.
 *	Accessed only by the hrtimer's function
 * @payer: account for the time of the ticks: entry @cpu of the wheel's payer,
 *	or NULL. Written by CPU hotplug while the hrtimer is off
 * @wheel: the wheel. Constant
 * @hrtimer: drives the base. Started under @lock, on @cpu only
 * @kick: IPI to make @cpu program @hrtimer. Sent under @lock
 * @requested: bit 0 is set by the first start on the base's own CPU that finds
 *	no slots there, and remains set
 * @request: queues the wheel's @request_work. Only the start that sets
 *	@requested queues it, so it runs once: irq_work_sync() awaits only one
 *	of two runs on two CPUs
 * @expiry: PREEMPT_RT: locks held while callbacks run, so that they inherit a
 *	waiter's priority. Taken outside @lock
 */
struct twheel_base {
	raw_spinlock_t lock;
	unsigned int cpu;
	unsigned int fast_cpu;
	unsigned int stand_in;
	int stand_in_changes;
	u32 tick_ns;
	u32 doze;
	clockid_t clockid;
	u32 empty;
	u32 late_ns;
	bool online;
	bool prepared;
	bool kicked;
	u64 armed_tick;
	struct twheel_timer *running;
	atomic64_t deferred;
	struct twheel_scheme scheme;
	struct twheel_counters counters;
	u64 last_tick;
	s64 clock_offset;
	u64 resume_tick;
	struct twheel_tick_end *tick_ends;
	struct twheel_tick_end **next_tick_end;
	bool throttled;
	u8 timers_per_check;
	struct twheel_payer *payer;
	struct twheel *wheel;
	struct hrtimer hrtimer;
	call_single_data_t kick;
	unsigned long requested;
	struct irq_work request;
	struct twheel_expiry expiry;
} ____cacheline_aligned_in_smp;

/**
 * struct twheel - a wheel
 * @number: number of the wheel, as in /proc/twheel. Constant
 * @cpuhp: instance of the CPU hotplug state
 * @config: configuration with all defaults filled in. Constant
 * @name: storage of @config.name
 * @rcu: frees the wheel after a grace period
 * @usable: CPUs whose bases accept new timers. A bit is written together with
 *	the @cpu of its base, under the lock of the base. Read locklessly as a hint;
 *	recheck under that lock
 * @request_work: allocates the slots of the @requested bases
 * @usable_changes: number of changes of @usable, incremented after each of
 *	them. A CPU that is isolated or has no slots chooses a base again when
 *	this differs from its @stand_in_changes
 * @bases: bases by CPU number, one for each possible CPU. Constant
 */
struct twheel {
	u32 number;
	struct hlist_node cpuhp;
	struct twheel_config config;
	char name[TWHEEL_NAME_MAX];
	struct rcu_head rcu;
	struct delayed_work request_work;
	cpumask_var_t usable;
	atomic_t usable_changes;
	struct twheel_base *bases[];
};

/**
 * struct twheel_snapshot - consistent counters of one base, or a sum of bases
 * @counters: event counters
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

/*
 * Returns whether timers that are started on @cpu use the base of another CPU,
 * unless the start names a CPU.
 */
static inline bool twheel_base_is_isolated(unsigned int cpu)
{
	return twheel_base_spare_isolated &&
	       (!housekeeping_test_cpu(cpu, HK_TYPE_TIMER) ||
		cpu_is_isolated(cpu));
}

/*
 * Update @fast_cpu at each tick, because a CPU becomes isolated, or stops being
 * so, without notice.
 */
static inline void twheel_base_update_isolated(struct twheel_base *base)
{
	base->fast_cpu = twheel_base_is_isolated(base->cpu) ? TWHEEL_NO_CPU :
							      base->cpu;
}

static inline u64 twheel_tick_of(const struct twheel_base *base, ktime_t now)
{
	return div_u64(now, base->tick_ns);
}

static inline ktime_t twheel_time_of(const struct twheel_base *base, u64 tick)
{
	return min_t(u64, tick * base->tick_ns, KTIME_MAX);
}

/* Converts CLOCK_MONOTONIC to the base's clock. Inlined into starts. */
static __always_inline ktime_t twheel_base_time(const struct twheel_base *base,
						ktime_t monotonic)
{
	return twheel_clock_time(base->clockid, monotonic);
}

static inline u64 twheel_tick_now(const struct twheel_base *base)
{
	return twheel_tick_of(base, twheel_base_time(base, ktime_get()));
}

static inline struct twheel_timer *twheel_timer_of(struct twheel_node *node)
{
	return container_of(node, struct twheel_timer, node);
}

/*
 * Set the timer whose callback is about to run, or NULL if none is. Called by
 * the tick under @base->lock, after it carried out any deferred start.
 */
static inline void
twheel_base_set_running(struct twheel_base *base, struct twheel_timer *timer)
{
	/* Pairs with stop_deferred(). */
	smp_store_release(&base->running, timer);
}

extern const struct debug_obj_descr twheel_timer_debug_descr;

/*
 * Returns the expiry tick of a timer. @deadline is its deadline plus a tick
 * less 1 ns, so that the division rounds up: otherwise the timer could be
 * early. twheel_expired_deadline() recovers the deadline from *@offset_ns.
 */
static inline u64 twheel_tick_above(const struct twheel_base *base,
				    u64 deadline, u32 *offset_ns)
{
	return div_u64_rem(deadline, base->tick_ns, offset_ns);
}

/*
 * Start a timer that is not pending, under the lock of its base. The caller has
 * told debug objects that the timer is active, and has to check the hrtimer.
 * Always inlined, like the next three functions, into the fast paths of timer.c
 * and tick.c.
 */
static __always_inline void
twheel_base_start_active(struct twheel_base *base, struct twheel_timer *timer,
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

static __always_inline void twheel_base_start(struct twheel_base *base,
					      struct twheel_timer *timer,
					      u64 expires, u32 offset_ns)
{
	debug_object_activate(timer, &twheel_timer_debug_descr);
	twheel_base_start_active(base, timer, expires, offset_ns);
}

/*
 * Carry out a start that twheel_again_at() deferred, and told debug objects of.
 * @deferred is the value of @base->deferred.
 */
static __always_inline void
twheel_base_start_deferred(struct twheel_base *base, struct twheel_timer *timer,
			   u64 deferred)
{
	u32 offset_ns;
	u64 expires = twheel_tick_above(base, deferred, &offset_ns);

	twheel_base_start_active(base, timer, expires, offset_ns);
}

/* Stop a timer, under the lock of its base. Returns whether it was pending. */
static __always_inline bool twheel_base_stop(struct twheel_base *base,
					     struct twheel_timer *timer)
{
	if (!twheel_pending(timer))
		return false;
	twheel_scheme_stop(&base->scheme, &timer->node);
	base->counters.stopped++;
	debug_object_deactivate(timer, &twheel_timer_debug_descr);
	trace_twheel_stop(base, timer);
	return true;
}

struct twheel_base *
twheel_base_alloc(struct twheel *wheel, unsigned int cpu,
		  enum hrtimer_restart (*tick)(struct hrtimer *hrtimer));
void twheel_base_free(struct twheel_base *base);
int twheel_base_prepare(struct twheel_base *base, unsigned int cpu);
unsigned int twheel_base_other_cpu(const struct cpumask *mask, unsigned int cpu);
unsigned int twheel_base_stand_in(const struct twheel *wheel, unsigned int cpu);
struct twheel_base *twheel_base_lock_online(struct twheel *wheel,
					    unsigned int cpu)
	__acquires(wheel->bases[cpu]->lock);
void twheel_base_arm(struct twheel_base *base, u64 tick);
void twheel_base_catch_up(struct twheel_base *base);
void twheel_base_online(struct twheel_base *base, unsigned int cpu);
bool twheel_base_leave(struct twheel_base *base);
void twheel_base_halt(struct twheel_base *base);
void twheel_base_drive(struct twheel_base *base, unsigned int cpu);
void twheel_base_switch_off(struct twheel_base *base, unsigned int cpu);
bool twheel_base_hand_on(struct twheel_base *base, u32 *slot);
void twheel_base_wait_for_kick(struct twheel_base *base);
void twheel_base_snapshot(struct twheel_base *base,
			  struct twheel_snapshot *snapshot);
struct twheel_timer *twheel_base_stop_any(struct twheel_base *base, u32 *slot);

/* tick.c */
enum hrtimer_restart twheel_tick(struct hrtimer *hrtimer);
void twheel_tick_finish(struct twheel_base *base);

#endif /* _TWHEEL_BASE_H */
