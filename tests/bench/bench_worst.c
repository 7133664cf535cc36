// SPDX-License-Identifier: GPL-2.0
/*
 * For how long a million timers that are due at about the same time keep a CPU
 *
 * In the loads, all timers have one deadline, or deadlines within one slot of the hierarchical
 * wheel: a slot of its second level (256 ticks) for near deadlines, of its third level for far
 * ones. In another load, all timers are refreshed just before they are due. The timers are started
 * far ahead, so that they first move down through outer slots. Callbacks only count.
 *
 * The machine has one CPU and counts instructions, so every figure is exact and the same in every
 * run.
 *
 *  irqoff_max
 *  Longest time with interrupts off. An hrtimer in hard interrupt context
 *  fires at short, uneven intervals and records how late it is. That
 *  includes entering the interrupt, so the load "none", with all timers pending
 *  and none due, is not 0.
 *  softirq_max
 *  Longest run of a softirq, from irq:softirq_entry to irq:softirq_exit.
 *  Both timer_list and wheels run there. Interrupts in between are
 *  included.
 *  last
 *  Time from the last deadline to the expiry of the last timer, as the same
 *  hrtimer finds it.
 *
 * timer_list calls each callback with interrupts on, except for TIMER_IRQSAFE timers, which every
 * delayed_work has. These are the implementation timer_list_irqsafe.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "bench.h"
#include "core/compat.h"
#include "tracepoints.h"

#define PERIOD_NS	(20 * NSEC_PER_USEC)
/* A longer period for loads with far deadlines, because the CPU is idle for long then. */
#define PERIOD_FAR_NS	(200 * NSEC_PER_USEC)
#define QUIET_MS	500
/* Length of a slot of the second level. Deadlines begin at the edge of a slot. */
#define SLOT_NS		(256 * (u64)BENCH_TICK_NS)
/* Length of a slot of the third level, about a minute. */
#define FAR_SLOT_NS	(256 * SLOT_NS)
/* All due timers must expire within this time. */
#define PATIENCE_NS	BENCH_SECONDS(300)

/**
 * struct load - many timers due at once
 * @name: its name in the results
 * @ahead_ns: time from the start of the timers to their deadlines
 * @width_ns: the range of their deadlines, or 0 if all are due in one tick
 * @period_ns: the shortest interval of the hrtimer
 * @refreshed: flag: refresh all timers shortly before the deadline
 */
struct load {
	const char *name;
	u64 ahead_ns;
	u64 width_ns;
	u64 period_ns;
	bool refreshed;
};

static const struct load loads[] = {
	{ "deadline", BENCH_SECONDS(3), 0, PERIOD_NS },
	{ "slot", BENCH_SECONDS(3), SLOT_NS, PERIOD_NS },
	{ "refreshed", BENCH_SECONDS(3), 0, PERIOD_NS, .refreshed = true },
	{ "far_deadline", BENCH_SECONDS(100), 0, PERIOD_FAR_NS },
	{ "far_slot", BENCH_SECONDS(100), FAR_SLOT_NS, PERIOD_FAR_NS },
};

/* State of the measurement. The machine has one CPU, so it needs no lock. */
static struct {
	struct hrtimer hrtimer;
	u64 period;
	u32 random;
	u64 irqoff_max;
	u32 pending;
	u64 last;
	u64 entered;
	u64 softirq_max;
} watched;

static enum hrtimer_restart note_irqoff(struct hrtimer *hrtimer)
{
	u64 now = ktime_get();
	u64 late = now - hrtimer_get_expires(hrtimer);

	watched.irqoff_max = max(watched.irqoff_max, late);
	if (!watched.last && bench_expiry->expired >= watched.pending)
		watched.last = now;
	watched.random = watched.random * 1664525 + 1013904223;
	hrtimer_set_expires(hrtimer, now + watched.period +
			    (watched.random >> 18));
	return HRTIMER_RESTART;
}

static void note_softirq_entry(void *data, unsigned int vector)
{
	watched.entered = ktime_get();
}

static void note_softirq_exit(void *data, unsigned int vector)
{
	u64 ns = ktime_get() - watched.entered;

	watched.softirq_max = max(watched.softirq_max, ns);
}

static struct bench_tracepoint tracepoints[] = {
	{ "softirq_exit", note_softirq_exit },
	{ "softirq_entry", note_softirq_entry },
};

static int begin_watch(u64 period, u32 pending)
{
	memset(&watched, 0, sizeof(watched));
	watched.entered = ktime_get();
	watched.period = period;
	watched.pending = pending;
	twheel_hrtimer_setup(&watched.hrtimer, note_irqoff,
			     CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&watched.hrtimer, period, HRTIMER_MODE_REL_PINNED_HARD);
	return bench_tracepoints_insert(tracepoints, ARRAY_SIZE(tracepoints));
}

static void end_watch(const struct bench *b, const char *load)
{
	hrtimer_cancel(&watched.hrtimer);
	bench_tracepoints_remove(tracepoints, ARRAY_SIZE(tracepoints));
	bench_row(b, "irqoff_max", load, 100 * watched.irqoff_max);
	bench_row(b, "softirq_max", load, 100 * watched.softirq_max);
}

/*
 * Sleep by an hrtimer. msleep() would use a timer_list, which may be late behind the million
 * timers.
 */
static void sleep_until(ktime_t at)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
}

/* Start or restart all timers. They are due at @begin, or spread over @width_ns from @begin on. */
static void give_deadlines(struct bench *b, u64 begin, u64 width_ns, void (*start)(struct bench *b))
{
	/* convert this time only once, because timer_list's conversion is inexact */
	u64 same = b->impl->absolute(begin);
	u32 width = div_u64(width_ns, NSEC_PER_USEC);
	u32 from, i;

	for (from = 0; from < b->pending; from += BENCH_BATCH) {
		bench_pick(b, from, min(b->pending - from, BENCH_BATCH + 0U));
		for (i = 0; i < b->nr; i++)
			b->when[i] = !width ? same :
				b->impl->absolute(begin + (u64)bench_random_below(width) *
						  NSEC_PER_USEC);
		start(b);
		cond_resched();
	}
}

/* Start the timers of a load. Returns the first deadline, on CLOCK_MONOTONIC. */
static u64 start_load(struct bench *b, const struct load *load)
{
	u64 slot = max(load->width_ns, SLOT_NS);
	u64 begin = slot * DIV64_U64_ROUND_UP(ktime_get() + load->ahead_ns, slot);

	bench_expiry->restart = false;
	bench_expiry->expired = 0;
	give_deadlines(b, begin, load->width_ns, b->impl->start_at);
	return begin;
}

/*
 * Refresh a crowd just before it is due, and change its @deadline. The first refresh only
 * measures how long it takes to refresh all timers, because a wheel moves nothing then. The
 * second one begins three times as long before the deadline. Returns -ETIME if a timer expired
 * too early.
 */
static int refresh_load(struct bench *b, u64 *deadline)
{
	u64 begin = ktime_get(), took;

	*deadline += SLOT_NS;
	give_deadlines(b, *deadline, 0, b->impl->restart);
	took = ktime_get() - begin;
	sleep_until(*deadline - 3 * took);
	*deadline += BENCH_SECONDS(3);
	give_deadlines(b, *deadline, 0, b->impl->restart);
	return bench_expiry->expired ? -ETIME : 0;
}

static int wait_for_expiries(const struct bench *b)
{
	u64 end = ktime_get() + PATIENCE_NS;

	while (READ_ONCE(bench_expiry->expired) < b->pending) {
		if (ktime_get() > end)
			return -ETIMEDOUT;
		msleep(20);
	}
	return 0;
}

static int watch_none(struct bench *b)
{
	int ret;

	bench_fill(b);
	bench_expiry->expired = 0;
	ret = begin_watch(PERIOD_NS, b->pending);
	msleep(QUIET_MS);
	end_watch(b, "none");
	bench_empty(b);
	return ret;
}

static int watch_load(struct bench *b, const struct load *load)
{
	u64 deadline = start_load(b, load) + load->width_ns;
	int ret;

	ret = begin_watch(load->period_ns, b->pending);
	if (load->refreshed && !ret)
		ret = refresh_load(b, &deadline);
	if (!ret)
		ret = wait_for_expiries(b);
	/* The hrtimer notes the time of the last expiry, but may not have fired since then. */
	if (!watched.last)
		watched.last = ktime_get();
	end_watch(b, load->name);
	bench_row(b, "last", load->name,
		  100 * (watched.last - min(watched.last, deadline)));
	return ret;
}

/* Measure all loads. Returns 0, or a negative error number. */
int bench_worst(struct bench *b)
{
	int ret = watch_none(b);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(loads) && !ret; i++)
		ret = watch_load(b, &loads[i]);
	bench_empty(b);
	return ret;
}
