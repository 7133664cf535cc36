// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Throttling: all wheels together take at most half of a CPU
 *
 * This works like CFS bandwidth control, in units of a softirq run and for one
 * CPU at a time. The CPU has a runtime of up to 250 us. A run of a wheel
 * consumes it, together with the interrupt that caused the run. Unlike a quota,
 * runtime is not refilled at once, but grows by half of the time that passes.
 * A wheel that uses up its slice with work left, or finds no runtime, is
 * throttled until the next period, which begins when the runtime is full again.
 *
 * All throttled wheels wait for the same time, so that one interrupt runs them
 * all. A slice is the present runtime divided by the number of wheels that are
 * expected in this period or wait for the next one. Unused time of a slice
 * remains for later wheels.
 *
 * An example. One wheel with endless work runs for 250 us, which leaves a
 * runtime of 125 us, waits for 250 us, and so takes 50 % of the CPU. Two such
 * wheels divide a runtime of 250 us. The first one runs for 125 us, and leaves
 * 187 us for two: itself in the next period, and the second one, which runs for
 * 93 us. The next period begins 500 us after the first run, so both together
 * take 218 us of 625 us. With sixteen wheels the last slice is 60 % of the first.
 *
 * Pauses are short. No wheel waits longer than 1 ms, and in its period it runs
 * for at least 5 us. So the runtime does not fall below -250 us: a run of 10 ms,
 * because of a slow callback, preemption or a hypervisor, is followed by a pause
 * of only 1 ms. This promise is for wheels without a payer.
 *
 * Wheels with timers of users have a payer, one for each user. There may be any
 * number of these. So all wheels of a payer count as one wheel, and divide one
 * slice. If it is used up before a wheel runs, this wheel runs first in the next
 * period. A period has room for 50 payers, 250 us in slices of 5 us. If it is
 * full, a payer joins the period after that. The pause therefore grows with the
 * number of busy payers: each of 200 busy payers runs about every 4 ms.
 *
 * A callback, or a wake-up of readers at the end of a run, cannot be cut short.
 * So the real time of payers' runs is also added to a deficit, of which half of
 * the time that passes is subtracted. Payers wait while the deficit is above
 * 8 ms. A payer whose last run exceeded its slice by more than 50 us tolerates
 * less: nothing at first, and all of it again after 400 times this overrun, or
 * a second. If a payer runs for 6 ms, it pauses for about 12 ms, and the other
 * payers go on. It pauses for longer if these keep up a deficit by short
 * overruns. If overruns use up 500 us of a period, the remaining payers of this
 * period have to join another one.
 */
#include <linux/kconfig.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/time64.h>

#include "throttle.h"

/* Limit of the runtime and, below 0, of overruns. */
#define RUNTIME_NS_MAX		(250 * (int)NSEC_PER_USEC)
/* Time from the lowest to the highest runtime: 1 ms. */
#define PERIOD_NS_MAX		(4 * RUNTIME_NS_MAX)
/* Shortest pause of a wheel. */
#define PERIOD_NS_MIN		(10 * (int)NSEC_PER_USEC)
/* Smallest slice of a wheel that was throttled. */
#define SLICE_NS_MIN		(5 * (int)NSEC_PER_USEC)
/* Payers that run in a period. */
#define PAYERS_PER_PERIOD	(RUNTIME_NS_MAX / SLICE_NS_MIN)
/* Deficit up to which payers need not wait. */
#define DEFICIT_NS_TOLERATED	(8 * (int)NSEC_PER_MSEC)
/* A payer tolerates less after a run that exceeded its slice by more. */
#define OVERRUN_NS_MAX		(10 * SLICE_NS_MIN)
/* Time until it tolerates as much as others, in overruns. A second at most. */
#define PENALTY_FACTOR		400
/* Limit of the deficit, for pauses of at most a second. */
#define DEFICIT_NS_MAX		(500 * (int)NSEC_PER_MSEC)
/*
 * Time of an interrupt and its softirq before the first wheel runs. Sanitizers
 * make each access a call, so that it takes about ten times as long.
 */
#define ENTRY_NS	(IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_KCSAN) ? \
			 15000 : 1500)

/**
 * struct twheel_throttle - the runtime of all wheels on a CPU
 * @stamp: time of the last begin or end of a run
 * @period: begin of the next period, or of the last one if none waits for it
 * @runtime: remaining time for wheels, ns. Negative after overruns
 * @deficit: excess time of wheels with a payer, beyond half of the CPU, ns
 * @waiting: number of payers, and wheels without a payer, waiting for @period
 * @expected: number of payers and wheels from the last period that did not run
 *	yet. A destroyed wheel is expected until the next period
 * @last_period: last period with payers. All from @period up to it are full
 * @nr_payers: number of payers in @last_period
 * @used: time of the last period used by payers, ns: %SLICE_NS_MIN for each that
 *	arrived, and all overruns since it began
 *
 * Accessed only by ticks, which run one after the other on their CPU.
 */
struct twheel_throttle {
	ktime_t stamp;
	ktime_t period;
	int runtime;
	int deficit;
	unsigned int waiting;
	unsigned int expected;
	ktime_t last_period;
	unsigned int nr_payers;
	s64 used;
};

static DEFINE_PER_CPU(struct twheel_throttle, throttles);

static void add_deficit(struct twheel_throttle *t, int ns)
{
	t->deficit = clamp(t->deficit + ns, 0, DEFICIT_NS_MAX);
}

/* Returns the time since the last stamp, as far as it matters. */
static int pass_time(struct twheel_throttle *t, ktime_t now)
{
	s64 elapsed = now - t->stamp;

	t->stamp = now;
	add_deficit(t, -(int)(clamp_t(s64, elapsed, 0, 2 * DEFICIT_NS_MAX) / 2));
	return clamp_t(s64, elapsed, 0, PERIOD_NS_MAX);
}

static void add_runtime(struct twheel_throttle *t, int ns)
{
	t->runtime = clamp(t->runtime + ns, -RUNTIME_NS_MAX, RUNTIME_NS_MAX);
}

/*
 * Expect all payers and wheels of this period. If payers wait for later periods,
 * the next one is the first of these in the future.
 */
static void begin_period(struct twheel_throttle *t, ktime_t now)
{
	u64 later;

	if (!t->waiting || now < t->period)
		return;
	t->expected = t->waiting;
	t->waiting = 0;
	t->used = 0;
	if (t->last_period <= now)
		return;
	later = div_u64(t->last_period - now - 1, PERIOD_NS_MAX);
	t->period = t->last_period - later * PERIOD_NS_MAX;
	t->waiting = later ? PAYERS_PER_PERIOD : t->nr_payers;
}

/* Divide by the payers and wheels that wait or are expected, and the caller. */
static int slice_of_runtime(const struct twheel_throttle *t)
{
	return t->runtime / (int)(t->expected + t->waiting + 1);
}

static void arrive(struct twheel_throttle *t)
{
	if (t->expected)
		t->expected--;
}

/* Returns the deficit to work off before this payer may run, ns. */
static int deficit_to_repay(const struct twheel_throttle *t,
			    const struct twheel_payer *payer)
{
	u64 tolerated = DEFICIT_NS_TOLERATED;
	u64 elapsed = t->stamp - payer->end;

	if (elapsed < payer->penalty)
		tolerated = div_u64(tolerated * elapsed, payer->penalty);
	return max(t->deficit - (int)tolerated, 0);
}

/*
 * Assign a slice to a payer when the first of its wheels arrives in its period.
 * There may be none left: after a long run several periods begin together.
 */
static void refill_payer(struct twheel_throttle *t, struct twheel_payer *payer,
			 ktime_t now)
{
	if (!payer->waiting || now < payer->period)
		return;
	payer->expected = payer->waiting;
	payer->waiting = 0;
	payer->runtime = 0;
	arrive(t);
	if (t->used >= PERIOD_NS_MAX / 2 || deficit_to_repay(t, payer))
		return;
	t->used += SLICE_NS_MIN;
	payer->runtime = max(slice_of_runtime(t), SLICE_NS_MIN);
}

/* Returns no slice if payers already wait, whom a newcomer must not overtake. */
static int slice_of_newcomer(const struct twheel_throttle *t,
			     const struct twheel_payer *payer)
{
	if (payer->waiting || payer->expected || t->last_period > t->period ||
	    deficit_to_repay(t, payer))
		return 0;
	return max(slice_of_runtime(t), 0);
}

static int slice_of_payer(struct twheel_payer *payer)
{
	if (payer->expected)
		payer->expected--;
	if (!payer->runtime)
		return 0;
	return max(payer->runtime / (int)(payer->expected + 1), SLICE_NS_MIN);
}

/*
 * Begin a run of a wheel on this CPU. @throttled: it waited for this period.
 * Returns the longest time for the run, ns, or 0 if the wheel is throttled.
 */
u32 twheel_throttle_begin(struct twheel_payer *payer, ktime_t now,
			  bool throttled)
{
	struct twheel_throttle *t = this_cpu_ptr(&throttles);
	int elapsed = pass_time(t, now);
	/* A run right after another one takes no interrupt. */
	int entry = min(elapsed, ENTRY_NS);
	int slice;

	add_runtime(t, elapsed / 2 - entry);
	begin_period(t, now);
	if (payer) {
		refill_payer(t, payer, now);
		slice = throttled ? slice_of_payer(payer) :
				slice_of_newcomer(t, payer);
		/* Last: a payer with a deficit must not wait for this very call. */
		add_deficit(t, entry);
		return slice;
	}
	if (throttled)
		arrive(t);
	return max(slice_of_runtime(t), throttled ? SLICE_NS_MIN : 0);
}

/* Account for a run. @limit_ns is the result of twheel_throttle_begin(). */
void twheel_throttle_end(struct twheel_payer *payer, ktime_t now, s64 limit_ns)
{
	struct twheel_throttle *t = this_cpu_ptr(&throttles);
	int took = clamp_t(s64, now - t->stamp, 0, DEFICIT_NS_MAX);
	int overrun = max_t(s64, took - limit_ns, 0);
	int elapsed = pass_time(t, now);

	add_runtime(t, elapsed / 2 - elapsed);
	if (!payer)
		return;
	add_deficit(t, took);
	t->used += overrun;
	payer->end = now;
	payer->penalty = overrun <= OVERRUN_NS_MAX ? 0 :
		min_t(u64, (u64)overrun * PENALTY_FACTOR, NSEC_PER_SEC);
	payer->runtime = max(payer->runtime - elapsed, 0);
}

/*
 * Set the next period when the first wheel waits for it: when the runtime is
 * full. The present runtime is for wheels expected in this period, which use it
 * up and earn half of it while they run.
 */
static void set_period(struct twheel_throttle *t, ktime_t now)
{
	int missing = RUNTIME_NS_MAX - t->runtime;

	begin_period(t, now);
	if (t->waiting)
		return;
	if (t->expected)
		missing = max(missing, RUNTIME_NS_MAX);
	t->period = now + clamp(2 * missing, PERIOD_NS_MIN, PERIOD_NS_MAX);
}

/* Join the first period with room, or a later one because of the deficit. */
static void join_period(struct twheel_throttle *t, struct twheel_payer *payer,
			ktime_t now)
{
	ktime_t repaid = now + 2 * (s64)deficit_to_repay(t, payer);

	if (t->last_period < t->period) {
		t->last_period = t->period;
		t->nr_payers = 0;
	}
	if (t->nr_payers == PAYERS_PER_PERIOD) {
		t->last_period += PERIOD_NS_MAX;
		t->nr_payers = 0;
	}
	t->nr_payers++;
	t->waiting += t->last_period == t->period;
	payer->period = t->last_period;
	if (repaid > t->last_period)
		payer->period += PERIOD_NS_MAX *
			div_u64(repaid - t->last_period + PERIOD_NS_MAX - 1,
				PERIOD_NS_MAX);
}

/*
 * Throttle a wheel until the next period, or a later one. @now is that of the
 * last call of the functions above. @passed_over: the wheel waited for a period
 * and got no slice in it. Returns the time of the next run, without a payer at
 * most PERIOD_NS_MAX from now.
 */
ktime_t twheel_throttle_wait(struct twheel_payer *payer, ktime_t now,
			     bool passed_over)
{
	struct twheel_throttle *t = this_cpu_ptr(&throttles);

	set_period(t, now);
	if (!payer) {
		t->waiting++;
		return t->period;
	}
	if (now >= payer->period)
		join_period(t, payer, now);
	payer->waiting++;
	/* Order within a period: no payer, passed over, all others. */
	return payer->period + (passed_over ? 1 : 2);
}
