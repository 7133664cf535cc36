// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: The hrtimer's function: what happens at a tick
 *
 * Tick n of a wheel is at n * tick_ns on the wheel's clock, on all CPUs. A base
 * that could not run in time processes the ticks it missed in order.
 *
 * Bounds. The lock is released for each callback, and after at most
 * TWHEEL_MOVES_PER_LOCK moves. A run ends after WORK_PER_RUN timers, and at
 * most one move for each, even if more are due. It ends earlier when it used up
 * this wheel's slice of the CPU (throttle.c). A wheel with a payer then leaves
 * work for the end of the tick to the next run.
 */
#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "base.h"
#include "compat.h"
#include "throttle.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Limit of the timers that a run expires, or moves if none is due. */
#define WORK_PER_RUN	1024
/*
 * Target time between two clock reads, ns, and maximum number of timers between
 * them.
 */
#define CHECK_NS	(10 * NSEC_PER_USEC)
#define TIMERS_PER_CHECK	64
/* Shortest time that a timer is expected to take, ns, as a shift. */
#define TIMER_NS_SHIFT	9

/**
 * twheel_at_tick_end - defer work until the callbacks of this tick have run
 * @timer: the timer whose callback calls this, and that is not freed yet
 * @end: the work. Nothing happens if it is queued already
 *
 * For work that one call can do for all timers of a tick, such as waking up a
 * reader. @end->fn is called once, after all callbacks of this base that queued
 * @end.
 *
 * The callback and @end->fn are in one RCU read-side critical section. @end may
 * be freed a grace period after the last callback that queued it returned, for
 * example with kfree_rcu(). But a wheel with a payer may leave @end to its next
 * run. To free an @end of such a wheel, wait until twheel_tick_end_queued()
 * returns false, and then for the grace period.
 *
 * Context: A timer's callback.
 */
void twheel_at_tick_end(struct twheel_timer *timer, struct twheel_tick_end *end)
{
	/* Stable while the callback runs: see start_slow(). */
	struct twheel_base *base = READ_ONCE(timer->base);

	/* Only the tick that called us changes @running to and from @timer. */
	if (WARN_ON_ONCE(base <= TWHEEL_MOVING || data_race(base->running) != timer))
		return;
	/* Pairs with run_tick_ends(). */
	if (test_and_set_bit(0, &end->queued))
		return;
	end->next = NULL;
	*base->next_tick_end = end;
	base->next_tick_end = &end->next;
}
EXPORT_SYMBOL_GPL(twheel_at_tick_end);

/* Like call_timer_fn() in kernel/time/timer.c. */
static void call_timer(struct twheel_timer *timer, twheel_fn fn)
{
#ifdef CONFIG_LOCKDEP
	/* A copy, because the callback may free the timer. See may_wait_for(). */
	struct lockdep_map lockdep_map;

	lockdep_copy_map(&lockdep_map, &timer->lockdep_map);
#endif
	lock_map_acquire(&lockdep_map);
	fn(timer);
	lock_map_release(&lockdep_map);
}

/*
 * Call a timer's callback. Report if it leaks a preempt count, which was @count
 * before: the softirq core restores the count after this run. Returns false if
 * the run has to end, because all expiry locks have waiters.
 */
static bool expire_timer(struct twheel_base *base, struct twheel_timer *timer,
			 int count)
	__releases(&base->lock) __acquires(&base->lock)
{
	/*
	 * note_late() computed the part of the lateness that all timers of the
	 * tick share. @late is never 0. restart_in_tick() may write @offset_ns
	 * concurrently, in one access.
	 */
	u32 late = base->late_ns - data_race(timer->node.offset_ns);
	twheel_fn fn = timer->fn;
	u64 deferred;
	bool go_on;

	atomic64_set(&base->deferred, 0);
	twheel_base_set_running(base, timer);
	base->counters.expired++;
	base->counters.lateness[__fls(late)]++;
	debug_object_deactivate(timer, &twheel_timer_debug_descr);
	trace_twheel_expire(base, timer);
	raw_spin_unlock_irq(&base->lock);
	call_timer(timer, fn);
	/*
	 * The timer may be freed by now: base->running is only compared, and
	 * our caller clears it before releasing the lock. A callback that
	 * called twheel_again_at() promised that its timer still exists.
	 */
	raw_spin_lock_irq(&base->lock);
	WARN_ONCE(count != preempt_count(),
		  "twheel: %pS preempt leak: %08x -> %08x\n", fn, count,
		  preempt_count());
	deferred = atomic64_read(&base->deferred);
	if (deferred > TWHEEL_DEFER_CLOSED)
		twheel_base_start_deferred(base, timer, deferred);
	if (!twheel_expiry_awaited(&base->expiry))
		return true;
	/*
	 * Let waiters for this callback go on before this run calls another
	 * one, which may itself wait for one of these waiters.
	 */
	twheel_base_set_running(base, NULL);
	raw_spin_unlock_irq(&base->lock);
	twheel_expiry_end(&base->expiry);
	go_on = twheel_expiry_begin(&base->expiry);
	raw_spin_lock_irq(&base->lock);
	return go_on;
}

/**
 * struct tick_run - one run of twheel_tick()
 * @begin: time of the begin. CLOCK_MONOTONIC, like all times in throttle.c
 * @checked: time of the last clock read, and finally the end of the run
 * @jiffy: jiffies at @checked. If it changed, a callback may be slow
 * @limit_ns: limit of the time of the run
 * @clock_offset: clock of the base minus CLOCK_MONOTONIC, ns
 * @work: timers left to expire, or to move if none is due
 * @target: last tick to process
 * @first: tick of the first expired timer
 * @last: tick of the last expired timer, U64_MAX if there is none yet
 */
struct tick_run {
	ktime_t begin;
	ktime_t checked;
	unsigned long jiffy;
	s64 limit_ns;
	s64 clock_offset;
	int work;
	u64 target;
	u64 first;
	u64 last;
};

/*
 * Returns how late @tick is at @time, which is on CLOCK_MONOTONIC. The lateness
 * of a tick that passed while the system slept counts from the resume.
 */
static s64 late_for(const struct twheel_base *base, const struct tick_run *run,
		    u64 tick, ktime_t time)
{
	return time + run->clock_offset -
	       twheel_time_of(base, max(tick, base->resume_tick));
}

/*
 * Compute the lateness of the timers of this tick: from their deadlines, which
 * are in the tick before it, to the last clock read. A timer that was started
 * after its deadline counts as one with a deadline in that tick.
 */
static void note_late(struct twheel_base *base, const struct tick_run *run)
{
	s64 late = late_for(base, run, base->scheme.clock, run->checked);

	base->late_ns = clamp_t(s64, late, 0, S32_MAX) + base->tick_ns;
}

/*
 * Expire at most @budget of the timers due at one tick. Returns the rest of
 * @budget, 0 if it is time to read the clock, or -1 if the run cannot continue.
 */
static int expire_tick(struct twheel_base *base, struct tick_run *run,
		       struct twheel_node *node, int budget)
	__must_hold(&base->lock)
{
	struct twheel_slot *slot = twheel_scheme_due_slot(&base->scheme);
	int turn = twheel_scheme_turn(&base->scheme, budget);
	int count = preempt_count();
	u64 tick = base->scheme.clock;

	if (run->last != tick) {
		note_late(base, run);
		if (run->last == U64_MAX)
			run->first = tick;
		run->last = tick;
		base->counters.busy_ticks++;
	}
	budget -= turn;
	do {
		if (!expire_timer(base, twheel_timer_of(node), count))
			return -1;
		if (jiffies - run->jiffy)
			return 0;
	} while (--turn && (node = twheel_scheme_due(&base->scheme, slot)));
	return budget + turn;
}

/*
 * Adapt the number of timers between two clock reads. A clock read costs a
 * third of an expiry with a short callback, but a callback may also take a
 * thousand times as long. So double the number if that many timers expired
 * (@full) and were fast, halve it if they were slow, and drop to 1 if they were
 * very slow. Jiffies are cheap to read, and reveal a slow callback among many
 * short ones.
 */
static void note_check(struct twheel_base *base, struct tick_run *run,
		       ktime_t now, bool full)
{
	u64 passed = now - run->checked;

	run->checked = now;
	run->jiffy = jiffies;
	if (passed > 8 * CHECK_NS)
		base->timers_per_check = 1;
	else if (passed > CHECK_NS)
		base->timers_per_check = DIV_ROUND_UP(base->timers_per_check, 2);
	else if (full && base->timers_per_check < TIMERS_PER_CHECK)
		base->timers_per_check *= 2;
}

/* Returns how many timers to expire before the next clock read, 0 to stop. */
static int timers_to_check(const struct twheel_base *base,
			   const struct tick_run *run)
{
	s64 left_ns = run->limit_ns - (run->checked - run->begin);
	int timers;

	if (run->work <= 0 || left_ns <= 0)
		return 0;
	timers = min_t(int, base->timers_per_check, run->work);
	return min(timers, 1 + (int)(left_ns >> TIMER_NS_SHIFT));
}

/*
 * Expire the timers that are due up to @run->target. Returns false if the run
 * stopped early and some of them are left.
 */
static bool expire_timers(struct twheel_base *base, struct tick_run *run)
{
	struct twheel_node *node;
	int timers, left, work;

	while ((timers = timers_to_check(base, run))) {
		left = timers;
		work = TWHEEL_MOVES_PER_LOCK;
		while (left > 0 &&
		       (node = twheel_scheme_pop(&base->scheme, run->target,
						 &work))) {
			left = expire_tick(base, run, node, left);
		}
		twheel_base_set_running(base, NULL);
		if (left > 0 && work > 0)
			return true;
		if (left < 0)
			break;
		run->work -= timers - left + TWHEEL_MOVES_PER_LOCK - work;
		raw_spin_unlock_irq(&base->lock);
		note_check(base, run, ktime_get(), !left);
		raw_spin_lock_irq(&base->lock);
		note_late(base, run);
	}
	return twheel_scheme_next(&base->scheme) > run->target;
}

/*
 * Call the work that callbacks queued with twheel_at_tick_end(). Returns false
 * if a payer's slice is used up and work is left. @run is NULL at teardown,
 * when all work is called.
 */
static bool run_tick_ends(struct twheel_base *base, const struct tick_run *run)
{
	struct twheel_tick_end *end;

	while ((end = base->tick_ends)) {
		base->tick_ends = end->next;
		if (!end->next)
			base->next_tick_end = &base->tick_ends;
		/*
		 * Read @end->next before a callback on another base finds the
		 * bit clear, queues @end again and writes @end->next. Pairs
		 * with twheel_at_tick_end(), as does the barrier below: @fn
		 * sees the work of each callback that found the bit set.
		 */
		clear_bit_unlock(0, &end->queued);
		/* See above. */
		smp_mb__after_atomic();
		end->fn(end);
		/*
		 * A user may cause many calls of @fn, and none of them can be
		 * cut short.
		 */
		if (base->tick_ends && run && base->payer &&
		    ktime_get() - run->begin >= run->limit_ns)
			return false;
	}
	return true;
}

/*
 * Call the work for the end of a tick that the last run left, once the hrtimer
 * is off for good.
 */
void twheel_tick_finish(struct twheel_base *base)
{
	local_bh_disable();
	/* See twheel_at_tick_end(). */
	rcu_read_lock();
	run_tick_ends(base, NULL);
	rcu_read_unlock();
	local_bh_enable();
}

static void count_ticks(struct twheel_base *base, u64 target)
{
	struct twheel_counters *c = &base->counters;
	u64 first = max(base->last_tick + 1, base->resume_tick);

	c->wakeups++;
	if (target < first)
		return;
	/* Ticks slept through in a doze were not missed. */
	if (base->armed_tick)
		first = clamp(base->armed_tick, first, target);
	c->ticks += target - first + 1;
	c->missed_ticks += target - first;
	base->last_tick = target;
}

/*
 * Rearm the hrtimer. An unfinished run continues at a time that is computed from a
 * fresh clock reading: HRTIMER_SOFTIRQ samples the clock once per pass, and would
 * rerun anything that expires before that sample.
 */
static enum hrtimer_restart rearm(struct twheel_base *base,
				  const struct tick_run *run, bool done)
{
	bool throttled = base->throttled;
	ktime_t next;

	base->armed_tick = U64_MAX;
	base->throttled = false;
	if (base->cpu == TWHEEL_NO_CPU || (!base->scheme.pending && !base->tick_ends))
		return HRTIMER_NORESTART;
	base->armed_tick = 0;
	twheel_base_update_isolated(base);
	if (!done) {
		base->throttled = true;
		next = run->clock_offset +
		       twheel_throttle_wait(base->payer, run->checked, throttled,
					    run->limit_ns);
	} else {
		base->empty = run->last == U64_MAX ? min(base->empty + 1, base->doze) : 0;
		/*
		 * Doze if the next tick would be empty tick number @doze in a
		 * row.
		 */
		if (base->doze && base->empty + 1 >= base->doze)
			base->armed_tick = twheel_scheme_next_due(&base->scheme,
								  TWHEEL_MOVES_PER_LOCK);
		next = twheel_time_of(base, base->armed_tick ?: run->target + 1);
	}
	/*
	 * An interrupt may have started the hrtimer before twheel_tick() took
	 * the lock. Only hrtimer_start() may change the time of a queued
	 * hrtimer.
	 */
	if (hrtimer_is_queued(&base->hrtimer)) {
		hrtimer_start(&base->hrtimer, next, HRTIMER_MODE_ABS_PINNED_SOFT);
		return HRTIMER_NORESTART;
	}
	hrtimer_set_expires(&base->hrtimer, next);
	return HRTIMER_RESTART;
}

/*
 * Process the ticks of a base, as the hrtimer's function, in softirq context:
 * PER_TICK_BOOKKEEPING and EXPIRY_PROCESSING of the paper.
 */
enum hrtimer_restart twheel_tick(struct hrtimer *hrtimer)
{
	struct twheel_base *base = container_of(hrtimer, struct twheel_base,
						hrtimer);
	struct twheel_counters *c = &base->counters;
	struct tick_run run = {
		.begin = ktime_get(),
		.jiffy = jiffies,
		.work = WORK_PER_RUN,
		.last = U64_MAX,
	};
	u64 preempted_ns = twheel_preempted_ns(), cascaded, expired;
	enum hrtimer_restart restart;
	bool done;

	run.checked = run.begin;
	run.clock_offset = twheel_base_time(base, run.begin) - run.begin;
	run.limit_ns = twheel_throttle_begin(base->payer, run.begin,
					     base->throttled);
	if (!run.limit_ns) {
		/* Other wheels used up this CPU's runtime. */
		raw_spin_lock_irq(&base->lock);
		c->wakeups++;
		restart = rearm(base, &run, false);
		raw_spin_unlock_irq(&base->lock);
		return restart;
	}

	/* See twheel_at_tick_end(). */
	rcu_read_lock();
	done = twheel_expiry_begin(&base->expiry);
	raw_spin_lock_irq(&base->lock);
	cascaded = base->scheme.cascaded;
	expired = c->expired;
	run.target = max(twheel_tick_of(base, run.begin + run.clock_offset),
			 base->scheme.clock);
	if (base->clock_offset != run.clock_offset) {
		base->clock_offset = run.clock_offset;
		base->resume_tick = run.target;
	}
	count_ticks(base, run.target);
	base->armed_tick = 0;
	/* Work that the last run left is first. */
	done = done && !base->tick_ends && expire_timers(base, &run);
	cascaded = base->scheme.cascaded - cascaded;
	expired = c->expired - expired;
	raw_spin_unlock_irq(&base->lock);
	if (!run_tick_ends(base, &run))
		done = false;
	twheel_expiry_end(&base->expiry);

	note_check(base, &run, ktime_get(), false);
	twheel_throttle_end(base->payer, run.checked,
			    twheel_preempted_ns() - preempted_ns);

	raw_spin_lock_irq(&base->lock);
	if (cascaded)
		trace_twheel_cascade(base, cascaded);
	trace_twheel_tick(base, expired, run.checked - run.begin);
	c->longest_tick_ns = max_t(s64, c->longest_tick_ns,
				   run.checked - run.begin);
	if (run.last != U64_MAX)
		c->longest_lateness_ns =
			max3((s64)c->longest_lateness_ns,
			     late_for(base, &run, run.first, run.begin),
			     late_for(base, &run, run.last, run.checked));
	if (!done)
		c->yields++;
	restart = rearm(base, &run, done);
	raw_spin_unlock_irq(&base->lock);
	rcu_read_unlock();
	return restart;
}
