// SPDX-License-Identifier: GPL-2.0
/*
 * The timers of a module: timer_list, hrtimer, and twheel by its in-kernel API
 *
 * The module replays the trace (trace.h) while it is being loaded, and prints to the kernel's log
 * what a program would print. The thread that loads it sleeps until each step. Timers are in an
 * array by connection, because a driver has timers in its own structures.
 *
 * For timer_list it follows Documentation/core-api/kernel-api and kernel/time/timer.c: mod_timer()
 * to start and refresh, timer_delete(), one jiffy more, because the current jiffy has already
 * begun, and timer_shutdown_sync() before memory is freed. For hrtimer it follows
 * Documentation/timers/hrtimers.rst and kernel/time/hrtimer.c: hrtimer_start() of a pending timer,
 * hrtimer_cancel(). For twheel it follows Documentation/kernel-api.rst: twheel_start_at(),
 * twheel_stop(). With twheel_store a refresh is a store, which twheel_asked_setup() allows.
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

/* Names of user space that steps.h uses. */
#define MS		((u64)NSEC_PER_MSEC)
#define EARLY_MOST	0
#define now_ns		ktime_get_ns
#define print		pr_info
#define sort_numbers(numbers, nr)	sort(numbers, nr, sizeof(s64), compare, NULL)

#include "steps.h"

static char *way = "";
module_param(way, charp, 0444);
MODULE_PARM_DESC(way, "timer_list, hrtimer, twheel or twheel_store");

static char *trace = "";
module_param(trace, charp, 0444);
MODULE_PARM_DESC(trace, "the trace's file");

static char *mode = "";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "empty, count, late or busy");

/**
 * struct way - a facility
 * @name: its name
 * @size: size of a timer
 * @setup: set up a timer, once
 * @start: start the timer, or move its deadline to @deadline, which is @timeout_ms from now
 * @stop: stop the timer
 * @shutdown: wait for the timer's callback, and prevent further calls
 */
struct way {
	const char *name;
	size_t size;
	void (*setup)(void *timer);
	void (*start)(void *timer, ktime_t deadline, u32 timeout_ms);
	void (*stop)(void *timer);
	void (*shutdown)(void *timer);
};

static const struct way *used;
static void *timers;

/* Count an expiry. Callbacks do not race: there is one CPU, and all callbacks run in interrupts. */
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

/* A timer, and beside it the deadline that its owner stores. */
struct stored_timer {
	struct twheel_asked_timer asked;
	u64 deadline;
};

static u64 stored_deadline(struct twheel_timer *timer)
{
	return READ_ONCE(container_of(timer, struct stored_timer, asked.timer)->deadline);
}

static void stored_expired(struct twheel_timer *timer)
{
	u64 deadline = stored_deadline(timer);

	/* The owner may have stored a later deadline after the wheel read the old one. */
	if (unlikely(deadline > ktime_get()))
		twheel_again_at(timer, deadline);
	else
		note_expired(timer);
}

static const struct twheel_source stored_source = {
	.deadline	= stored_deadline,
	.fn		= stored_expired,
};

static void stored_setup(void *timer)
{
	twheel_asked_setup((struct twheel_asked_timer *)timer, NULL, &stored_source, 0);
}

static void stored_start(void *timer, ktime_t deadline, u32 timeout_ms)
{
	struct stored_timer *stored = timer;

	WRITE_ONCE(stored->deadline, deadline);
	if (!twheel_pending(&stored->asked.timer))
		twheel_start_at(&stored->asked.timer, deadline);
}

static const struct way ways[] = {
	{ "timer_list", sizeof(struct timer_list), list_setup, list_start, list_stop,
	  list_shutdown },
	{ "hrtimer", sizeof(struct hrtimer), hr_setup, hr_start, hr_stop, hr_stop },
	{ "twheel", sizeof(struct twheel_timer), wheel_setup, wheel_start, wheel_stop,
	  wheel_shutdown },
	{ "twheel_store", sizeof(struct stored_timer), stored_setup, stored_start, wheel_stop,
	  wheel_shutdown },
};

static int read_trace(void)
{
	struct file *file = filp_open(trace, O_RDONLY, 0);
	loff_t size, pos = 0;
	void *memory;

	if (IS_ERR(file))
		return PTR_ERR(file);
	size = i_size_read(file_inode(file));
	memory = vmalloc(size);
	while (memory && pos < size)
		if (kernel_read(file, memory + pos, min_t(loff_t, size - pos, SZ_1M), &pos) <= 0)
			break;
	filp_close(file, NULL);
	if (!memory)
		return -ENOMEM;
	return set_trace(memory, pos) ? 0 : -EINVAL;
}

static int make_timers(void)
{
	u32 i;

	if (empty)
		return 0;
	timers = vzalloc(array_size(header->connections, used->size));
	if (!timers)
		return -ENOMEM;
	for (i = 0; i < header->connections; i++) {
		used->setup(timers + i * used->size);
		/* Let others run, because a driver does not set up all of its timers at once. */
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

static void mark(const char *word)
{
	meter_mark(word);
}

static void operate(const struct trace_record *record)
{
	void *timer = timers + record->connection * used->size;
	u64 deadline = now + record->timeout_ms * MS;

	if (empty)
		return;
	if (record->op == TRACE_CLOSE) {
		used->stop(timer);
		return;
	}
	if (late)
		deadlines[record->connection] = deadline;
	used->start(timer, deadline, record->timeout_ms);
}

static void replay(void)
{
	bool more = true;

	while (more) {
		ktime_t at = next_step();

		set_current_state(TASK_IDLE);
		schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
		more = carry_out();
		compute();
	}
}

static int prepare(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i].name, way))
			used = &ways[i];
	if (!used || !set_mode(mode))
		return -EINVAL;
	if (!late)
		return 0;
	deadlines = vzalloc(array_size(header->connections, sizeof(*deadlines)));
	lateness = vzalloc(array_size(header->expiries, sizeof(*lateness)));
	return deadlines && lateness ? 0 : -ENOMEM;
}

static int measure(void)
{
	int ret = 0;

	/*
	 * Memory counts from "begin" on, so allocate the timers after it. But with the probes,
	 * allocate them before: the allocator clears the array in one call, and fills its lists
	 * with interrupts off, which would hide the delays that timers cause.
	 */
	if (meter_probes())
		ret = make_timers();
	ret = ret ?: meter_mark("begin");
	begin_steps();
	if (!timers)
		ret = ret ?: make_timers();
	if (ret)
		return ret;
	replay();
	mark("end");
	return empty || report() ? 0 : -EIO;
}

static int __init compared_init(void)
{
	int ret = read_trace();

	ret = ret ?: prepare();
	ret = ret ?: measure();
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
