// SPDX-License-Identifier: GPL-2.0
/*
 * The timers of a module: timer_list, hrtimer, and twheel by its in-kernel API
 *
 * A module replays the trace (trace.h) while it is being loaded, and prints to the kernel's log
 * what a program prints. The steps are sleeps of the thread that loads it. Timers are in an
 * array by connection, which is made after "begin": a driver has them in its own structures.
 *
 * Documents: for timer_list Documentation/core-api/kernel-api and kernel/time/timer.c:
 * mod_timer() for start and refresh, timer_delete(), and one jiffy more, since the current one has
 * begun; timer_shutdown_sync() before memory goes. For hrtimer Documentation/timers/hrtimers.rst
 * and kernel/time/hrtimer.c: hrtimer_start() of a pending one, hrtimer_cancel(). For twheel
 * Documentation/kernel-api.rst: twheel_restart_at(), twheel_stop().
 */
#define pr_fmt(fmt) "twheel-compared: " fmt

#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

#include <linux/twheel.h>

#include "core/compat.h"
#include "meter.h"
#include "trace.h"

static char *way = "";
module_param(way, charp, 0444);
MODULE_PARM_DESC(way, "timer_list, hrtimer or twheel");

static char *trace = "";
module_param(trace, charp, 0444);
MODULE_PARM_DESC(trace, "the trace's file");

static char *mode = "";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "empty, count, late or busy");

/**
 * struct way - a facility
 * @name: its name
 * @size: of a timer
 * @setup: set up a timer, once
 * @start: start it, or let it be due later; @timeout_ms from now on is @deadline
 * @stop: stop it
 * @shutdown: see to it that its callback does not run and never will
 */
struct way {
	const char *name;
	size_t size;
	void (*setup)(void *timer);
	void (*start)(void *timer, ktime_t deadline, u32 timeout_ms);
	void (*stop)(void *timer);
	void (*shutdown)(void *timer);
};

static struct trace_header *header;
static const struct trace_record *next_record;
static const struct way *used;
static void *timers;
static bool late, busy;
static ktime_t begin, busy_at;
/* Of a machine with one CPU, on which all callbacks run in interrupts. */
static u32 expired;
static ktime_t *deadlines;	/* by connection, in late and busy */
static s64 *lateness;		/* of each expiry, there too */

static void note_expired(void *timer)
{
	if (late && expired < header->expiries)
		lateness[expired] = ktime_get() - deadlines[(timer - timers) / used->size];
	expired++;
}

static void list_expired(struct timer_list *timer)
{
	note_expired(timer);
}

static void list_setup(void *timer)
{
	timer_setup((struct timer_list *)timer, list_expired, 0);
}

static void list_start(void *timer, ktime_t deadline, u32 timeout_ms)
{
	mod_timer(timer, jiffies + msecs_to_jiffies(timeout_ms) + 1);
}

static void list_stop(void *timer)
{
	timer_delete(timer);
}

static void list_shutdown(void *timer)
{
	timer_shutdown_sync(timer);
}

static enum hrtimer_restart hr_expired(struct hrtimer *timer)
{
	note_expired(timer);
	return HRTIMER_NORESTART;
}

static void hr_setup(void *timer)
{
	twheel_hrtimer_setup(timer, hr_expired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}

static void hr_start(void *timer, ktime_t deadline, u32 timeout_ms)
{
	hrtimer_start(timer, deadline, HRTIMER_MODE_ABS);
}

static void hr_stop(void *timer)
{
	hrtimer_cancel(timer);
}

static void wheel_expired(struct twheel_timer *timer)
{
	note_expired(timer);
}

static void wheel_setup(void *timer)
{
	twheel_timer_setup((struct twheel_timer *)timer, NULL, wheel_expired, 0);
}

static void wheel_start(void *timer, ktime_t deadline, u32 timeout_ms)
{
	twheel_start_at(timer, deadline);
}

static void wheel_stop(void *timer)
{
	twheel_stop(timer);
}

static void wheel_shutdown(void *timer)
{
	twheel_shutdown_sync(timer);
}

static const struct way ways[] = {
	{ "timer_list", sizeof(struct timer_list), list_setup, list_start, list_stop,
	  list_shutdown },
	{ "hrtimer", sizeof(struct hrtimer), hr_setup, hr_start, hr_stop, hr_stop },
	{ "twheel", sizeof(struct twheel_timer), wheel_setup, wheel_start, wheel_stop,
	  wheel_shutdown },
};

static int read_trace(void)
{
	struct file *file = filp_open(trace, O_RDONLY, 0);
	loff_t size, pos = 0;
	ssize_t got = 0;

	if (IS_ERR(file))
		return PTR_ERR(file);
	size = i_size_read(file_inode(file));
	header = vmalloc(size);
	while (header && pos < size) {
		got = kernel_read(file, (void *)header + pos, min_t(loff_t, size - pos, SZ_1M),
				  &pos);
		if (got <= 0)
			break;
	}
	filp_close(file, NULL);
	if (!header)
		return -ENOMEM;
	if (got < 0)
		return got;
	if (header->magic != TRACE_MAGIC ||
	    pos != sizeof(*header) + header->records * sizeof(*next_record))
		return -EINVAL;
	next_record = (const struct trace_record *)(header + 1);
	return 0;
}

static int make_timers(void)
{
	u32 i;

	if (!used)
		return 0;
	timers = vzalloc(array_size(header->connections, used->size));
	if (!timers)
		return -ENOMEM;
	for (i = 0; i < header->connections; i++) {
		used->setup(timers + i * used->size);
		/* A driver does not set all of them up in one go. */
		cond_resched();
	}
	return 0;
}

static void free_timers(void)
{
	u32 i;

	for (i = 0; timers && i < header->connections; i++)
		used->shutdown(timers + i * used->size);
	vfree(timers);
}

static void operate(const struct trace_record *record, ktime_t now)
{
	void *timer = timers + record->connection * used->size;
	ktime_t deadline = now + (u64)record->timeout_ms * NSEC_PER_MSEC;

	if (record->op == TRACE_CLOSE) {
		used->stop(timer);
		return;
	}
	if (late)
		deadlines[record->connection] = deadline;
	used->start(timer, deadline, record->timeout_ms);
}

static ktime_t step_of(const struct trace_record *record)
{
	return begin + (u64)record->step * STEP_NS;
}

/* A handler that comes after the others. */
static void compute(ktime_t now)
{
	ktime_t end = ktime_get() + BUSY_MS * NSEC_PER_MSEC;

	if (!busy || now < busy_at)
		return;
	while (ktime_get() < end)
		;
	busy_at += BUSY_EVERY_MS * NSEC_PER_MSEC;
}

static void wait_for_step(void)
{
	ktime_t at = step_of(next_record);

	if (busy)
		at = min(at, busy_at);
	set_current_state(TASK_IDLE);
	schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
}

static int replay(void)
{
	int ret = 0;

	while (!ret) {
		ktime_t now;

		wait_for_step();
		now = ktime_get();
		for (; step_of(next_record) <= now && !ret; next_record++) {
			if (next_record->op == TRACE_END)
				return 0;
			if (next_record->op == TRACE_FULL)
				ret = meter_mark("full");
			else if (used)
				operate(next_record, now);
		}
		compute(now);
	}
	return ret;
}

static int compare(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return (x > y) - (x < y);
}

/* Returns -EIO if a timer is lost or was early. */
static int report(void)
{
	u32 nr = header->expiries, early = 0;

	pr_info("expired %u timers\n", expired);
	if (expired != nr)
		return -EIO;
	if (!late)
		return 0;
	sort(lateness, nr, sizeof(*lateness), compare, NULL);
	while (early < nr && lateness[early] < 0)
		early++;
	pr_info("early %u timers\n", early);
	pr_info("earliest %lld ns\n", early ? -lateness[0] : 0);
	pr_info("p50 %lld ns\n", lateness[nr / 2]);
	pr_info("p99 %lld ns\n", lateness[nr - 1 - nr / 100]);
	pr_info("worst %lld ns\n", lateness[nr - 1]);
	return early ? -EIO : 0;
}

static int prepare(void)
{
	u32 i;

	busy = !strcmp(mode, "busy");
	late = busy || !strcmp(mode, "late");
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i].name, way))
			used = &ways[i];
	if (!used || (!late && strcmp(mode, "count") && strcmp(mode, "empty")))
		return -EINVAL;
	if (!strcmp(mode, "empty"))
		used = NULL;
	if (!late)
		return 0;
	deadlines = vzalloc(array_size(header->connections, sizeof(*deadlines)));
	lateness = vzalloc(array_size(header->expiries, sizeof(*lateness)));
	return deadlines && lateness ? 0 : -ENOMEM;
}

static int measure(void)
{
	int ret = meter_mark("begin");

	begin = ktime_get();
	busy_at = begin + BUSY_EVERY_MS * NSEC_PER_MSEC;
	ret = ret ?: make_timers();
	ret = ret ?: replay();
	return ret ?: meter_mark("end");
}

static int __init compared_init(void)
{
	int ret = read_trace();

	ret = ret ?: prepare();
	ret = ret ?: measure();
	if (!ret && used)
		ret = report();
	free_timers();
	vfree(lateness);
	vfree(deadlines);
	vfree(header);
	pr_info("end %d\n", ret);
	return ret;
}
module_init(compared_init);

static void __exit compared_exit(void)
{
}
module_exit(compared_exit);

MODULE_DESCRIPTION("Replays a trace with the timers of the kernel");
MODULE_LICENSE("GPL");
