// SPDX-License-Identifier: GPL-2.0
/*
 * For how long a million due timers keep a CPU
 *
 * Runs on a machine with one CPU that counts instructions, so every figure is
 * exact and the same in every run.
 *
 *  irqoff_max
 *	Longest time with interrupts off. An hrtimer in hard interrupt context
 *	fires at short, uneven intervals and records how late it is. That
 *	includes entering the interrupt, so "none", with all timers pending and
 *	none due, is not 0.
 *  softirq_max
 *	Longest run of a softirq, from irq:softirq_entry to irq:softirq_exit.
 *	Both timer_list and wheels run there. Interrupts in between are
 *	included.
 *  last
 *	How long after the last deadline the last timer has expired, as the same
 *	hrtimer finds it.
 *
 * timer_list calls each callback with interrupts on, except for TIMER_IRQSAFE
 * timers, which every delayed_work has. These are implementation
 * timer_list_irqsafe.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "bench.h"
#include "core/compat.h"
#include "tracepoints.h"

#define PERIOD_NS	(20 * NSEC_PER_USEC)
/* Timers that come down from far away leave the CPU idle for long. */
#define PERIOD_FAR_NS	(200 * NSEC_PER_USEC)
#define QUIET_MS	500

/* Measurements. There is one CPU, so they need no lock. */
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
	bench_row(b, "irqoff_max", load, 1, "ns", 100 * watched.irqoff_max);
	bench_row(b, "softirq_max", load, 1, "ns", 100 * watched.softirq_max);
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

static int watch_load(struct bench *b, const struct bench_load *load)
{
	u64 deadline = bench_load_start(b, load) + load->width_ns;
	int ret;

	ret = begin_watch(load->far ? PERIOD_FAR_NS : PERIOD_NS, b->pending);
	if (load->refreshed && !ret)
		ret = bench_load_refresh(b, &deadline);
	if (!ret)
		ret = bench_load_wait(b);
	/* The hrtimer may not have fired since. */
	if (!watched.last)
		watched.last = ktime_get();
	end_watch(b, load->name);
	bench_row(b, "last", load->name, 1, "ns",
		  100 * (watched.last - min(watched.last, deadline)));
	return ret;
}

/**
 * bench_bounded - longest time with interrupts off, longest softirq
 * @impl: the implementation
 * @pending: number of timers
 *
 * Return: 0, or a negative error number.
 */
int bench_bounded(const struct bench_impl *impl, u32 pending)
{
	struct bench *b = bench_create(impl, bench_dists, pending);
	const struct bench_load *load;
	int ret;

	if (!b)
		return -ENOMEM;
	ret = watch_none(b);
	for (load = bench_loads; load->name && !ret; load++)
		ret = watch_load(b, load);
	bench_empty(b);
	bench_destroy(b);
	return ret;
}
