// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of an expiry, and of a tick with nothing due
 *
 * A loop in process context keeps reading the clock. When two readings are further apart than
 * usual, the loop lost the CPU to an interrupt, to the softirqs after it, or to another task.
 * That gap, less the usual distance, is the cost of the interruption with its entry and exit. The
 * loop keeps the CPU from idling, so that the kernel's own tick is always there, and no work of
 * the idle loop is counted.
 *
 *  tick_empty
 *  All timers are pending and none is due: the median of all gaps. For a wheel this
 *  is the gap of its tick, which comes every millisecond. The kernel's tick comes only
 *  every four milliseconds. timer_list and hrtimer have no tick of their own: for them
 *  the figure is the gap of the kernel's tick.
 *  expire_restart
 *  Callbacks restart their timers an interval after the expired deadline,
 *  as periodic timers do. The figure is the sum of the gaps in a window of
 *  time, less the gaps of a window with nothing due, divided by the number
 *  of expiries. It is the cost that an expiry adds to the ticks, including
 *  the timer's moves in the wheel between two expiries.
 *  expire_again
 *  The same with twheel_again_at(). Only wheels have it.
 *
 * The time of another task must not count. Hardly any half second passes without another task,
 * because kcompactd alone runs twice in it. So a window is made of slices, and a slice in which
 * another task ran is left out.
 *
 * To have enough expiries in such a window, intervals are scaled to about ten expiries a
 * millisecond. The mean interval is 100 ms for 1000 timers, 1 s for 10,000 timers, 10 s for 100,000
 * timers, and 30 s for 1,000,000 timers. Timers start with a random part of their interval, as if
 * they had been running for long.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "bench.h"

#define WINDOW_NS	(500 * NSEC_PER_MSEC)
#define SLICE_NS	(20 * NSEC_PER_MSEC)
#define SETTLE_MS	300
#define MAX_GAPS	16384
/* Give up on a window after this many times its length, if other tasks spoil too many slices. */
#define PATIENCE	8
#define SHORTEST_MEAN	(20 * NSEC_PER_MSEC)
#define LONGEST_MEAN	BENCH_SECONDS(30)

struct bench_expiry *bench_expiry;

/**
 * struct gaps - the gaps in a window
 * @nr: number of gaps
 * @usual: distance of two readings without an interruption, ns
 * @expired: number of expiries
 * @lost: sum of all gaps, ns
 * @missing: time that the windows lack because of other tasks, ns
 * @ns: lengths of the first MAX_GAPS gaps, ns
 */
struct gaps {
	u32 nr;
	u32 usual;
	u32 expired;
	u64 lost;
	u64 missing;
	u32 ns[MAX_GAPS];
};

static unsigned long switches(void)
{
	return current->nvcsw + current->nivcsw;
}

static void note_gap(struct gaps *gaps, u32 ns)
{
	gaps->lost += ns;
	if (gaps->nr < MAX_GAPS)
		gaps->ns[gaps->nr++] = ns;
}

/*
 * Note gaps until @end. @last is the last reading of the clock, and must be passed to the next
 * call.
 */
static void watch_until(struct gaps *gaps, u64 end, u64 *last)
{
	u64 now;

	while (*last < end) {
		cond_resched();
		now = ktime_get();
		if (unlikely(now - *last >= 2 * gaps->usual)) {
			note_gap(gaps, now - *last - gaps->usual);
			now = ktime_get();
		}
		*last = now;
	}
}

/* Note the gaps of a slice. If another task ran meanwhile, forget them and return false. */
static bool watch_slice(struct gaps *gaps, u64 length, u64 *last)
{
	u32 nr = gaps->nr, expired = bench_expiry->expired;
	unsigned long before = switches();
	u64 lost = gaps->lost;

	watch_until(gaps, *last + length, last);
	if (switches() != before) {
		gaps->nr = nr;
		gaps->lost = lost;
		return false;
	}
	gaps->expired += bench_expiry->expired - expired;
	return true;
}

static void watch(struct gaps *gaps, u64 window)
{
	u64 last = ktime_get(), latest = last + PATIENCE * window;
	u64 slice = min_t(u64, window, SLICE_NS);

	gaps->nr = 0;
	gaps->lost = 0;
	gaps->expired = 0;
	while (window && last < latest)
		if (watch_slice(gaps, slice, &last))
			window -= slice;
	gaps->missing += window;
}

/* Find the usual distance of two readings. While it is 0, every reading counts as a gap. */
static void find_usual(struct gaps *gaps)
{
	u32 i, least = U32_MAX;

	gaps->usual = 0;
	watch(gaps, 100 * NSEC_PER_USEC);
	for (i = 0; i < gaps->nr; i++)
		least = min(least, gaps->ns[i]);
	gaps->usual = least;
}

static u64 scaled(const struct bench *b, u64 ns)
{
	u64 mean = clamp_t(u64, (u64)b->pending * 100 * NSEC_PER_USEC,
			   SHORTEST_MEAN, LONGEST_MEAN);

	return mul_u64_u64_div_u64(ns, mean, b->dist->mean_ns);
}

static void draw_delays(struct bench *b)
{
	u32 i;

	bench_expiry->restart = true;
	for (i = 0; i < BENCH_DRAWS; i++)
		bench_expiry->delay[i] =
			b->impl->relative(scaled(b, b->dist->draw()));
}

/* Start every timer with a random part of its interval. */
static void start_all(struct bench *b)
{
	u64 now = ktime_get(), ns;
	u32 from, i;

	for (from = 0; from < b->pending; from += BENCH_BATCH) {
		bench_pick(b, from, min(b->pending - from, BENCH_BATCH + 0U));
		for (i = 0; i < b->nr; i++) {
			ns = mul_u64_u32_shr(b->dist->draw(),
					     bench_random_below(U32_MAX), 32);
			b->when[i] = b->impl->absolute(now + scaled(b, ns));
			if (b->impl->wheel)
				b->batch[i]->deadline = b->when[i];
		}
		b->impl->start_at(b);
		cond_resched();
	}
}

static void watch_empty(struct bench *b, struct gaps *gaps)
{
	bench_expiry->restart = false;
	bench_fill(b);
	msleep(20);
	watch(gaps, WINDOW_NS);
	bench_empty(b);
}

/*
 * Print the cost of an expiry. A window with expiries loses more time than @lost, the loss of a
 * window without expiries. The difference is the cost of the expiries. Without it, print no row.
 */
static void measure_expiry(struct bench *b, struct gaps *gaps,
			   const char *operation, u64 lost)
{
	msleep(SETTLE_MS);
	watch(gaps, WINDOW_NS);
	if (gaps->lost > lost && gaps->expired)
		bench_row(b, operation, b->dist->name,
			  div_u64(100 * (gaps->lost - lost), gaps->expired));
}

static void measure(struct bench *b, struct gaps *gaps)
{
	u64 lost;

	find_usual(gaps);
	watch_empty(b, gaps);
	lost = gaps->lost;
	bench_row(b, "tick_empty", b->dist->name,
		  100 * (u64)bench_median(gaps->ns, gaps->nr));
	draw_delays(b);
	start_all(b);
	measure_expiry(b, gaps, "expire_restart", lost);
	if (b->impl->wheel) {
		bench_expiry->again = true;
		measure_expiry(b, gaps, "expire_again", lost);
		bench_expiry->again = false;
	}
	bench_expiry->restart = false;
	bench_empty(b);
}

int bench_ticks(struct bench *b)
{
	struct gaps *gaps = vzalloc(sizeof(*gaps));
	int ret;

	if (!gaps)
		return -ENOMEM;
	measure(b, gaps);
	/* Windows are compared by their sums, so a window that lacks time is useless. */
	ret = gaps->missing ? -EBUSY : 0;
	vfree(gaps);
	return ret;
}
