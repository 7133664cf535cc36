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
 * all. Wheels without a payer, which is explained below, run first. The slice
 * of such a wheel is the present runtime, divided by the number of such wheels
 * that are expected in this period or wait for the next one. Unused time of a
 * slice remains for later wheels.
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
 * because of a slow callback or a hypervisor, is followed by a pause of only
 * 1 ms. This promise is for wheels without a payer.
 *
 * A wheel with timers of a user has a payer, the account of that user. There
 * may be any number of users. So all wheels of a payer count as one wheel, and
 * share one slice. If the slice is used up before one of them runs, that wheel
 * runs first in the next period. A period has room for 50 payers, 250 us in
 * slices of 5 us. If a period is full, a payer joins the period after that. The
 * pause therefore grows with the number of busy payers: each of 200 busy payers
 * runs about every 4 ms.
 *
 * A run of a payer may take longer than its slice, so that no runtime is left for
 * the last payers of a period. Such payers are the first ones of their next period.
 * Otherwise the same payers would miss every period, because payers join a period in
 * the order in which they ran in the last one. A payer whose timers just became due
 * runs at once, without a period, but only if a slice remains for each payer that
 * waits for a period.
 *
 * Payers leave the last quarter of the runtime to wheels without a payer. They
 * divide what is above the quarter, and get no slice if nothing is. Only a run
 * that takes longer than its slice may take some of the quarter. So a wheel
 * without a payer runs at once if its timers take little time, and first in the
 * next period otherwise. A payer that had no work left since its last period
 * need not wait behind busy payers: up to ten such payers may join a period
 * that is full, and run before the busy payers.
 *
 * A callback, or a wake-up of readers at the end of a run, cannot be cut short.
 * What a payer's run takes below a runtime of -250 us is not forgiven, but is
 * added to a deficit. Time that nobody uses while the runtime is full makes up
 * for it. Payers wait while the deficit is above 8 ms. A payer that added to
 * the deficit has a penalty: for 400 times the time that it added, but for a
 * second at most, it waits while there is any deficit. So if a payer runs for 6
 * ms, it pauses for about 6 ms, and the other payers go on. It pauses for
 * longer if these are busy.
 */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/time64.h>

#include "throttle.h"

/* Highest runtime and, below 0, largest overrun. */
#define RUNTIME_NS_MAX		(250 * (int)NSEC_PER_USEC)
/*
 * Time in which the runtime grows from its lowest to its highest value: 1 ms.
 */
#define PERIOD_NS_MAX		(4 * RUNTIME_NS_MAX)
/* Smallest slice of a wheel that was throttled. */
#define SLICE_NS_MIN		(5 * (int)NSEC_PER_USEC)
/* Runtime that payers leave to wheels without a payer. */
#define RESERVED_NS		(RUNTIME_NS_MAX / 4)
/* Number of payers that a period has room for. */
#define PAYERS_PER_PERIOD	(RUNTIME_NS_MAX / SLICE_NS_MIN)
/* Payers that had no work left, and may join a period although it is full. */
#define EARLY_PER_PERIOD	(PAYERS_PER_PERIOD / 5)
/* Payers without a penalty need not wait up to this deficit. */
#define DEFICIT_NS_TOLERATED	(8 * (int)NSEC_PER_MSEC)
/*
 * Length of a penalty, as a multiple of the time that the run added to the
 * deficit. Capped at a second.
 */
#define PENALTY_FACTOR		400
/* Limit of the deficit, so that no pause is longer than a second. */
#define DEFICIT_NS_MAX		(500 * (int)NSEC_PER_MSEC)
/* Time of an interrupt and its softirq before the first wheel runs, ns. */
#define ENTRY_NS		1500

/**
 * struct twheel_sharers - payers, or wheels without a payer, that divide a runtime
 * @waiting: number of sharers waiting for the next period
 * @expected: number of sharers expected in the present period: they waited for
 *	it, and did not run yet. A destroyed wheel is expected until the next one
 */
struct twheel_sharers {
	unsigned int waiting;
	unsigned int expected;
};

/**
 * struct twheel_throttle - the runtime of all wheels on a CPU
 * @stamp: time of the last begin or end of a run
 * @period: begin of the next period, or of the present one if no wheel waits
 *	for the next
 * @runtime: remaining time for wheels, ns. Negative after overruns
 * @deficit: time taken by payers below the lowest runtime, minus later unused
 *	time, ns
 * @wheels: the wheels without a payer
 * @payers: the payers
 * @last_period: begin of the last period with payers. All periods from @period
 *	up to it are full
 * @nr_payers: number of payers in @last_period
 * @nr_early: number of payers that joined @period although it may be full: see
 *	join_early()
 *
 * Accessed only by ticks, which run one after the other on their CPU.
 */
struct twheel_throttle {
	ktime_t stamp;
	ktime_t period;
	int runtime;
	int deficit;
	struct twheel_sharers wheels;
	struct twheel_sharers payers;
	ktime_t last_period;
	unsigned int nr_payers;
	unsigned int nr_early;
};

static DEFINE_PER_CPU(struct twheel_throttle, throttles);

/*
 * Set @stamp to @now, and return the time since the last one, ns. Capped,
 * because more than that changes nothing.
 */
static int pass_time(struct twheel_throttle *t, ktime_t now)
{
	s64 elapsed = now - t->stamp;

	t->stamp = now;
	return clamp_t(s64, elapsed, 0, 2 * DEFICIT_NS_MAX);
}

/*
 * Add @ns, which may be negative, to the runtime. Time beyond the highest
 * runtime reduces the deficit. Add to the deficit, and return, what @payer
 * takes below the lowest runtime.
 */
static int add_runtime(struct twheel_throttle *t, struct twheel_payer *payer, int ns)
{
	int runtime = t->runtime + ns;
	int excess = payer ? max(-RUNTIME_NS_MAX - runtime, 0) : 0;
	int unused = max(runtime - RUNTIME_NS_MAX, 0);

	t->runtime = clamp(runtime, -RUNTIME_NS_MAX, RUNTIME_NS_MAX);
	t->deficit = clamp(t->deficit + excess - unused, 0, DEFICIT_NS_MAX);
	return excess;
}

/* Begin a period: its sharers are those that waited for it. */
static void expect_waiting(struct twheel_sharers *sharers)
{
	sharers->expected = sharers->waiting;
	sharers->waiting = 0;
}

static bool period_awaited(const struct twheel_throttle *t)
{
	return t->wheels.waiting || t->payers.waiting;
}

/*
 * Begin the next period if it is time and a wheel waits for it, and expect its
 * payers and wheels. If payers wait for later periods, the first of these
 * periods in the future becomes the next one.
 */
static void begin_period(struct twheel_throttle *t, ktime_t now)
{
	u64 later;

	if (!period_awaited(t) || now < t->period)
		return;
	expect_waiting(&t->wheels);
	expect_waiting(&t->payers);
	t->nr_early = 0;
	if (t->last_period <= now)
		return;
	later = div_u64(t->last_period - now - 1, PERIOD_NS_MAX);
	t->period = t->last_period - later * PERIOD_NS_MAX;
	t->payers.waiting = later ? PAYERS_PER_PERIOD : t->nr_payers;
}

/*
 * Return the caller's part of @runtime, beside the sharers that wait or are
 * expected.
 */
static int slice_of(int runtime, const struct twheel_sharers *sharers)
{
	return runtime / (int)(sharers->expected + sharers->waiting + 1);
}

static int slice_of_payers(const struct twheel_throttle *t)
{
	return slice_of(t->runtime - RESERVED_NS, &t->payers);
}

static void arrive_in_period(struct twheel_sharers *sharers)
{
	if (sharers->expected)
		sharers->expected--;
}

/*
 * Return the part of the deficit that unused time has to make up for before
 * this payer may run, ns.
 */
static int deficit_to_repay(const struct twheel_throttle *t,
			    const struct twheel_payer *payer)
{
	bool penalty = t->stamp - payer->end < payer->penalty;

	return max(t->deficit - (penalty ? 0 : DEFICIT_NS_TOLERATED), 0);
}

/*
 * Assign a slice to a payer when the first of its wheels arrives in its period.
 * There may be no runtime left, for example if several periods begin together
 * after a long run.
 */
static void refill_payer(struct twheel_throttle *t, struct twheel_payer *payer,
			 ktime_t now)
{
	bool none = t->runtime <= RESERVED_NS || deficit_to_repay(t, payer);

	if (!payer->waiting || now < payer->period)
		return;
	payer->waiting = false;
	arrive_in_period(&t->payers);
	payer->missed = none;
	payer->runtime = none ? 0 : max(slice_of_payers(t), SLICE_NS_MIN);
}

/*
 * Return the slice of a payer that did not wait for a period, or 0 if waiting
 * payers come first. Without that limit, runs of many payers that did not wait
 * would use up the runtime that grows for the next period, and the payers that
 * wait for that period would miss one period after the other.
 */
static int slice_of_newcomer(const struct twheel_throttle *t,
			     const struct twheel_payer *payer)
{
	int slice = slice_of_payers(t);

	if (payer->waiting || t->last_period > t->period || deficit_to_repay(t, payer))
		return 0;
	return slice < SLICE_NS_MIN ? 0 : slice;
}

/*
 * Begin a run of a wheel on this CPU. @throttled: the wheel waited for this
 * period. Returns the longest time for the run, ns, or 0 if the wheel is
 * throttled.
 */
u32 twheel_throttle_begin(struct twheel_payer *payer, ktime_t now,
			  bool throttled)
{
	struct twheel_throttle *t = this_cpu_ptr(&throttles);
	int elapsed = pass_time(t, now);
	/*
	 * Charge for the interrupt that led to this run. If another run ended
	 * only just before, both share an interrupt: charge for no more time
	 * than has passed since then.
	 */
	int entry = min(elapsed, ENTRY_NS);

	add_runtime(t, payer, elapsed / 2 - entry);
	begin_period(t, now);
	if (payer) {
		refill_payer(t, payer, now);
		return throttled ? payer->runtime : slice_of_newcomer(t, payer);
	}
	if (throttled)
		arrive_in_period(&t->wheels);
	return max(slice_of(t->runtime, &t->wheels), throttled ? SLICE_NS_MIN : 0);
}

/*
 * Account for a run, at its end. @preempted_ns: time in which other tasks ran.
 */
void twheel_throttle_end(struct twheel_payer *payer, ktime_t now,
			 u64 preempted_ns)
{
	struct twheel_throttle *t = this_cpu_ptr(&throttles);
	int elapsed = pass_time(t, now);
	int took = elapsed - (int)min_t(u64, elapsed, preempted_ns);
	int excess = add_runtime(t, payer, elapsed / 2 - took);

	if (!payer)
		return;
	payer->end = now;
	payer->penalty = min_t(u64, (u64)excess * PENALTY_FACTOR, NSEC_PER_SEC);
	payer->runtime = max(payer->runtime - took, 0);
}

/*
 * Set the next period, if no wheel waits for it yet, to the time at which the
 * runtime is full. The present runtime is for the wheels that are expected in
 * this period. They use it up, and earn half of it while they run.
 */
static void set_period(struct twheel_throttle *t, ktime_t now)
{
	int missing = RUNTIME_NS_MAX - t->runtime;

	begin_period(t, now);
	if (period_awaited(t))
		return;
	if (t->wheels.expected || t->payers.expected)
		missing = max(missing, RUNTIME_NS_MAX);
	t->period = now + clamp(2 * missing, 1, PERIOD_NS_MAX);
}

/*
 * Join the next period beside the payers that wait for it, although it may be
 * full. Otherwise a user with a timer now and then would wait as long as busy
 * users do. Return false if enough other payers already joined.
 */
static bool join_early(struct twheel_throttle *t, struct twheel_payer *payer)
{
	if (t->nr_early == EARLY_PER_PERIOD)
		return false;
	t->nr_early++;
	t->payers.waiting++;
	payer->period = t->period;
	return true;
}

/*
 * Join the first period with room for a payer, or a later one if the deficit
 * has to become smaller first.
 */
static void join_period(struct twheel_throttle *t, struct twheel_payer *payer,
			ktime_t now)
{
	int deficit = deficit_to_repay(t, payer);
	/* The runtime is full before the deficit becomes smaller. */
	ktime_t repaid = now + 2 * (s64)(deficit + RUNTIME_NS_MAX - t->runtime);

	if (t->last_period < t->period) {
		t->last_period = t->period;
		t->nr_payers = 0;
	}
	if (t->nr_payers == PAYERS_PER_PERIOD) {
		t->last_period += PERIOD_NS_MAX;
		t->nr_payers = 0;
	}
	t->nr_payers++;
	t->payers.waiting += t->last_period == t->period;
	payer->period = t->last_period;
	if (deficit && repaid > t->last_period)
		payer->period += PERIOD_NS_MAX *
			div_u64(repaid - t->last_period + PERIOD_NS_MAX - 1,
				PERIOD_NS_MAX);
}

/*
 * Throttle a wheel until the next period, or a later one. @now: the time passed
 * to twheel_throttle_begin() or twheel_throttle_end() of this run. @throttled:
 * the wheel waited for this period. @limit_ns: what twheel_throttle_begin()
 * returned. Return the time of the next run: without a payer, at most
 * PERIOD_NS_MAX from now.
 */
ktime_t twheel_throttle_wait(struct twheel_payer *payer, ktime_t now,
			     bool throttled, s64 limit_ns)
{
	struct twheel_throttle *t = this_cpu_ptr(&throttles);
	bool newcomer = !throttled && !limit_ns;

	set_period(t, now);
	if (!payer) {
		t->wheels.waiting++;
		return t->period;
	}
	if (now >= payer->period && !(newcomer && join_early(t, payer)))
		join_period(t, payer, now);
	payer->waiting = true;
	/*
	 * The order in a period: wheels without a payer, wheels of payers that
	 * found no runtime in their last period, wheels that had no slice,
	 * other wheels.
	 */
	if (limit_ns)
		return payer->period + 3;
	return payer->period + (payer->missed ? 1 : 2);
}
