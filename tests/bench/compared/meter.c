// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a replay for a machine, program and kernel together
 *
 * An adapter writes "begin", "full" and "end" to /proc/twheel_meter (trace.h), and its caller
 * reads the file afterwards. Runs on a machine with one CPU that counts instructions. A
 * nanosecond is an instruction, except while the CPU is idle: from the tracepoint cpu_idle to
 * the first interrupt, or to the end of cpu_idle. If the kernel has nothing to do after the
 * interrupt, it reaches cpu_idle again. The kernel's own account of idle time is not used: it is in
 * microseconds, includes a part of the path into idle, and differs from kernel to kernel.
 *
 * With the parameter "probe" the file also has the longest delay of a hard interrupt, and of a
 * thread of real-time priority. The probes fire at short, uneven intervals, and find any delay
 * that is longer than an interval. They take instructions themselves, so the other figures of
 * such a run must not be compared.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <trace/events/power.h>

#include "core/compat.h"
#include "tests/bench/tracepoints.h"
#include "trace.h"

#define PROBE_NS	(50 * NSEC_PER_USEC)
#define BEGIN_NS	(64 * NSEC_PER_SEC)

static bool probe;
module_param(probe, bool, 0644);
MODULE_PARM_DESC(probe, "measure the longest delays, too");

/**
 * struct reading - the state of the meter at one point of a replay
 * @ns: the clock
 * @idle_ns: time without instructions
 * @wakeups: number of sleeps of this process's threads
 * @free: bytes of memory
 */
struct reading {
	u64 ns;
	u64 idle_ns;
	u64 wakeups;
	u64 free;
};

enum { BEGIN, FULL, END, NR_READINGS };

static const char * const words[NR_READINGS] = { "begin", "full", "end" };
static struct reading readings[NR_READINGS];
static DEFINE_MUTEX(meter_lock);	/* guards the readings */

/* There is one CPU, and it is idle with interrupts off, so these need no lock. */
static struct {
	bool now;
	u64 since;
	u64 ns;
} idle;

static void end_idleness(void)
{
	if (idle.now)
		idle.ns += ktime_get_ns() - idle.since;
	idle.now = false;
}

static void note_idle(void *data, unsigned int state, unsigned int cpu)
{
	end_idleness();
	if (state == (unsigned int)PWR_EVENT_EXIT)
		return;
	idle.now = true;
	idle.since = ktime_get_ns();
}

static void note_timer(void *data, int vector)
{
	end_idleness();
}

static void note_irq(void *data, int irq, struct irqaction *action)
{
	end_idleness();
}

static struct bench_tracepoint tracepoints[] = {
	{ "cpu_idle", note_idle },
	{ "local_timer_entry", note_timer },
	{ "irq_handler_entry", note_irq },
};

/* There is one CPU, so these need no lock. */
static struct {
	struct hrtimer hrtimer;
	struct task_struct *thread;
	u32 random;
	u64 irqs_off_ns;
	u64 stall_ns;
} probes;

static u64 next_ns(void)
{
	probes.random = probes.random * 1664525 + 1013904223;
	return PROBE_NS + (probes.random >> 17);
}

static enum hrtimer_restart note_irqs_off(struct hrtimer *hrtimer)
{
	u64 now = ktime_get();
	u64 late = now - hrtimer_get_expires(hrtimer);

	probes.irqs_off_ns = max(probes.irqs_off_ns, late);
	hrtimer_set_expires(hrtimer, now + next_ns());
	return HRTIMER_RESTART;
}

static int note_stalls(void *unused)
{
	sched_set_fifo(current);
	while (!kthread_should_stop()) {
		ktime_t at = ktime_get() + next_ns();
		u64 late;

		set_current_state(TASK_IDLE);
		schedule_hrtimeout(&at, HRTIMER_MODE_ABS_HARD);
		late = ktime_get() - at;
		/* negative if kthread_stop() woke the thread */
		if ((s64)late > 0)
			probes.stall_ns = max(probes.stall_ns, late);
	}
	return 0;
}

static int begin_probes(void)
{
	struct task_struct *thread;

	if (!probe || probes.thread)
		return 0;
	thread = kthread_run(note_stalls, NULL, "twheel_meter");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	/* Wait for the thread, because its first delay would include its creation. */
	msleep(20);
	probes.thread = thread;
	probes.irqs_off_ns = 0;
	probes.stall_ns = 0;
	hrtimer_start(&probes.hrtimer, PROBE_NS, HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static void end_probes(void)
{
	if (!probes.thread)
		return;
	hrtimer_cancel(&probes.hrtimer);
	kthread_stop(probes.thread);
	probes.thread = NULL;
}

/**
 * meter_probes - tell whether the meter measures the longest delays
 *
 * Context: any.
 * Return: 1 if it does, 0 otherwise.
 */
int meter_probes(void)
{
	return probe;
}
EXPORT_SYMBOL_GPL(meter_probes);

static u64 wakeups(void)
{
	struct task_struct *thread;
	u64 nr = current->signal->nvcsw;

	rcu_read_lock();
	for_each_thread(current, thread)
		nr += thread->nvcsw;
	rcu_read_unlock();
	return nr;
}

/* Returns the number of free pages of a zone, including those in the list of this CPU. */
static u64 free_pages_of(struct zone *zone)
{
	u64 pages = zone_page_state(zone, NR_FREE_PAGES);

	if (populated_zone(zone))
		pages += per_cpu_ptr(zone->per_cpu_pageset, 0)->count;
	return pages;
}

static void take_reading(struct reading *reading)
{
	u64 pages = 0;
	unsigned int i;

	for (i = 0; i < MAX_NR_ZONES; i++)
		pages += free_pages_of(&NODE_DATA(0)->node_zones[i]);
	reading->free = pages * PAGE_SIZE;
	reading->wakeups = wakeups();
	reading->idle_ns = idle.ns;
	reading->ns = ktime_get_ns();
}

/*
 * Wait for a multiple of BEGIN_NS, where every replay begins. Ticks, a wheel's slots of up to
 * 512 ms and the work that the kernel does each second then come at the same times of every replay.
 */
static void wait_for_tick(void)
{
	ktime_t at = (div64_u64(ktime_get_ns(), BEGIN_NS) + 1) * BEGIN_NS;

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
}

/**
 * meter_mark - take a reading of the meter
 * @word: "begin", "full" or "end"
 *
 * Context: may sleep.
 * Return: 0, -EINVAL for another word, or the error of starting the probes.
 */
int meter_mark(const char *word)
{
	int which = match_string(words, NR_READINGS, word), ret = 0;

	if (which < 0)
		return which;
	mutex_lock(&meter_lock);
	if (which == BEGIN) {
		wait_for_tick();
		ret = begin_probes();
	}
	take_reading(&readings[which]);
	if (which == BEGIN)
		readings[FULL] = readings[BEGIN];
	if (which == END)
		end_probes();
	mutex_unlock(&meter_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(meter_mark);

static ssize_t meter_write(struct file *file, const char __user *buf, size_t size, loff_t *pos)
{
	char word[8] = {};
	int ret;

	if (size >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, buf, size))
		return -EFAULT;
	ret = meter_mark(strim(word));
	return ret ?: size;
}

static int meter_show(struct seq_file *seq, void *unused)
{
	const struct reading *begin = &readings[BEGIN], *end = &readings[END];

	mutex_lock(&meter_lock);
	seq_printf(seq, "instructions %llu n\n", end->ns - begin->ns -
		   (end->idle_ns - begin->idle_ns));
	seq_printf(seq, "wakeups %llu n\n", end->wakeups - begin->wakeups);
	seq_printf(seq, "memory %lld bytes\n", begin->free - readings[FULL].free);
	if (probe) {
		seq_printf(seq, "irqs_off %llu ns\n", probes.irqs_off_ns);
		seq_printf(seq, "stall %llu ns\n", probes.stall_ns);
	}
	mutex_unlock(&meter_lock);
	return 0;
}

static int meter_open(struct inode *inode, struct file *file)
{
	return single_open(file, meter_show, NULL);
}

static const struct proc_ops meter_ops = {
	.proc_open	= meter_open,
	.proc_read	= seq_read,
	.proc_write	= meter_write,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
};

static int __init meter_init(void)
{
	int ret;

	if (num_online_cpus() != 1)
		return -EINVAL;
	twheel_hrtimer_setup(&probes.hrtimer, note_irqs_off, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_HARD);
	ret = bench_tracepoints_insert(tracepoints, ARRAY_SIZE(tracepoints));
	if (ret)
		return ret;
	if (proc_create("twheel_meter", 0600, NULL, &meter_ops))
		return 0;
	bench_tracepoints_remove(tracepoints, ARRAY_SIZE(tracepoints));
	return -ENOMEM;
}
module_init(meter_init);

static void __exit meter_exit(void)
{
	remove_proc_entry("twheel_meter", NULL);
	end_probes();
	bench_tracepoints_remove(tracepoints, ARRAY_SIZE(tracepoints));
}
module_exit(meter_exit);

MODULE_DESCRIPTION("What a replay of timers takes from a machine");
MODULE_LICENSE("GPL");
