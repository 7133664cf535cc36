// SPDX-License-Identifier: GPL-2.0
/*
 * Counting events, and printing the counts
 */
#define pr_fmt(fmt) "twheel_torture: " fmt

#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/stdarg.h>
#include <linux/string.h>

#include "torture.h"

/* The first errors are printed in full, the others only counted. */
#define TT_ERRORS_SHOWN	20

static DEFINE_PER_CPU(unsigned long [TT_NR_COUNTS], tt_counts);
static atomic_t tt_shown = ATOMIC_INIT(0);

static const char * const tt_count_names[TT_NR_COUNTS] = {
	[TT_ARMED]		= "armed",
	[TT_RESTARTED]		= "restarted",
	[TT_STOPPED]		= "stopped",
	[TT_EXPIRED]		= "expired",
	[TT_DRAINED]		= "drained",
	[TT_RACED]		= "raced",
	[TT_SYNCED]		= "synced",
	[TT_SHUTDOWN]		= "shutdown",
	[TT_FORWARDED]		= "forwarded",
	[TT_AGAIN]		= "again",
	[TT_FROM_HARDIRQ]	= "hardirq",
	[TT_FROM_SOFTIRQ]	= "softirq",
	[TT_WORKED]		= "worked",
	[TT_HOTPLUGGED]		= "hotplugged",
	[TT_EARLY]		= "early",
	[TT_LOST]		= "lost",
	[TT_DOUBLED]		= "doubled",
	[TT_OVERLAP]		= "overlap",
	[TT_STRAY]		= "stray",
	[TT_RUNNING]		= "running",
	[TT_WRONG]		= "wrong",
};

void tt_count(enum tt_count what)
{
	this_cpu_inc(tt_counts[what]);
}

/* Check timer @nr of a @kind, which expired @late_ns after its deadline. */
void tt_note_lateness(const char *kind, unsigned int nr, s64 late_ns)
{
	if (late_ns < 0) {
		tt_error(TT_EARLY, "%s %u: %lld ns early", kind, nr, -late_ns);
		return;
	}
	if (late_ns >= (s64)tt_params.late_ms * NSEC_PER_MSEC)
		tt_error(TT_LOST, "%s %u: %lld ms late", kind, nr,
			 div_s64(late_ns, NSEC_PER_MSEC));
}

u64 tt_total(enum tt_count what)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		/* A slightly old value is good enough. */
		sum += data_race(per_cpu(tt_counts, cpu)[what]);
	return sum;
}

u64 tt_errors(void)
{
	u64 sum = 0;
	int what;

	for (what = TT_FIRST_ERROR; what < TT_NR_COUNTS; what++)
		sum += tt_total(what);
	return sum;
}

void tt_error(enum tt_count what, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	tt_count(what);
	if (atomic_inc_return(&tt_shown) > TT_ERRORS_SHOWN)
		return;
	va_start(args, fmt);
	vaf.va = &args;
	pr_alert("!!! %s: %pV\n", tt_count_names[what], &vaf);
	va_end(args);
}

static void tt_print_range(const char *when, int from, int to)
{
	char line[256];
	int what, len = 0;

	for (what = from; what < to; what++)
		len += scnprintf(line + len, sizeof(line) - len, " %s %llu",
				 tt_count_names[what], tt_total(what));
	pr_info("%s:%s\n", when, line);
}

void tt_counts_print(const char *when)
{
	tt_print_range(when, 0, TT_FIRST_ERROR);
	tt_print_range(when, TT_FIRST_ERROR, TT_NR_COUNTS);
	if (tt_errors())
		pr_alert("%s: !!! %llu errors\n", when, tt_errors());
}
