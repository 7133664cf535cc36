/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel as twheel_main.c keeps it and /proc shows it
 */
#ifndef _TWHEEL_INTERNAL_H
#define _TWHEEL_INTERNAL_H

#include <linux/cache.h>
#include <linux/debugobjects.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "twheel_compat.h"
#include "twheel_scheme.h"

#define TWHEEL_NAME_MAX	32

/* Timers moved within a wheel or between bases under one hold of a lock. */
#define TWHEEL_MOVES_PER_LOCK	64

/* Number of a base whose CPU is not online. */
#define TWHEEL_NO_CPU	UINT_MAX

/**
 * struct twheel_counters - what has happened on a base
 * @started: timers started on it, less those moved away, plus those moved
 *	here: started = expired + stopped + pending on each base at any time,
 *	and so in any sum over bases
 * @restarted: restarts of pending timers
 * @stopped: pending timers stopped
 * @expired: timers expired
 * @moved: timers handed over from a CPU that went offline
 * @ticks: ticks processed; a tickless base counts those it woke for
 * @busy_ticks: ticks at which a timer expired
 * @missed_ticks: ticks processed later than their own time
 * @wakeups: runs of the hrtimer
 * @yields: runs that ended with work left, to let the system run
 * @longest_tick_ns: longest run of the hrtimer
 * @longest_lateness_ns: longest time from the first tick that a run expired
 *	timers of to its begin, and from the last one to its end
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
};

/**
 * struct twheel_base - the timers of one CPU
 * @lock: guards everything below but what says otherwise. Never taken with
 *	another base's lock held
 * @cpu: the CPU, or %TWHEEL_NO_CPU while that is not online
 * @tick_ns: length of a tick; constant
 * @mode: when to tick; constant
 * @ticking: the hrtimer's function runs; it programs the hrtimer at its end,
 *	others must not
 * @kicked: @kick is on its way to the CPU
 * @armed_tick: the tick that a tickless base's hrtimer is set for; 0 while
 *	the hrtimer fires every tick or @ticking, so that a start need not look
 *	at it; U64_MAX while it is off
 * @running: the timer whose callback runs, or NULL
 * @scheme: the timers
 * @counters: what has happened
 * @reached: the last tick that the hrtimer's function was run for
 * @tails: work for the end of the run; only for the hrtimer's function and
 *	the callbacks that it calls, which one CPU runs one after the other
 * @tails_end: where the next of @tails is linked
 * @wheel: the wheel; constant
 * @hrtimer: drives the base; started under @lock on @cpu only
 * @kick: asks @cpu to program @hrtimer; sent under @lock
 * @expiry_lock: PREEMPT_RT: held while callbacks run, to lend a waiter's
 *	priority to them, and let go between two of them if somebody waits.
 *	Outside @lock
 */
struct twheel_base {
	raw_spinlock_t lock;
	unsigned int cpu;
	u32 tick_ns;
	u8 mode;
	bool ticking;
	bool kicked;
	u64 armed_tick;
	struct twheel_timer *running;
	struct twheel_scheme scheme;
	struct twheel_counters counters;
	u64 reached;
	struct twheel_tail *tails;
	struct twheel_tail **tails_end;
	struct twheel *wheel;
	struct hrtimer hrtimer;
	call_single_data_t kick;
	twheel_expiry_lock_t expiry_lock;
} ____cacheline_aligned_in_smp;

/**
 * struct twheel - a wheel
 * @list: in the list of all wheels, guarded by its mutex
 * @cpuhp: instance of the CPU hotplug state
 * @config: what it was made from, with its defaults filled in; constant
 * @name: @config.name points here
 * @bases: one for each possible CPU, by number; constant
 */
struct twheel {
	struct list_head list;
	struct hlist_node cpuhp;
	struct twheel_config config;
	char name[TWHEEL_NAME_MAX];
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

extern const struct debug_obj_descr twheel_debug_descr;

static inline u64 twheel_tick_of(const struct twheel_base *base, ktime_t now)
{
	return div_u64(now, base->tick_ns);
}

static inline ktime_t twheel_time_of(const struct twheel_base *base, u64 tick)
{
	return min_t(u64, tick * base->tick_ns, KTIME_MAX);
}

static inline struct twheel_timer *twheel_timer_of(struct twheel_node *node)
{
	return container_of(node, struct twheel_timer, node);
}

/* twheel_timer.c */
void twheel_kicked(void *info);
struct twheel_timer *twheel_stop_any(struct twheel_base *base, u32 *slot);
void twheel_base_online(struct twheel_base *base, unsigned int cpu);
void twheel_base_offline(struct twheel_base *base);

/* twheel_tick.c */
enum hrtimer_restart twheel_tick(struct hrtimer *hrtimer);

/* twheel_main.c */
const char *twheel_scheme_name(enum twheel_scheme_type type);
const char *twheel_mode_name(enum twheel_mode tick_mode);
void twheel_take_snapshot(struct twheel_base *base,
			  struct twheel_snapshot *snapshot);
int twheel_for_each(int (*fn)(struct twheel *wheel, void *arg), void *arg);

/* twheel_proc.c, twheel_chardev.c */
int twheel_proc_init(void);
void twheel_proc_exit(void);
int twheel_chardev_init(void);
void twheel_chardev_exit(void);

#endif /* _TWHEEL_INTERNAL_H */
