// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that call twheel, from process context and from hard interrupts
 *
 * A worker binds itself to another CPU now and then. If its CPU goes offline, the kernel moves it.
 * Each worker also has an hrtimer, so that it can call twheel from a hard interrupt. Another thread
 * takes CPUs offline and brings them back.
 */
#define pr_fmt(fmt) "twheel_torture: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <core/compat.h>

#include "torture.h"

#define TT_WORKERS_PER_CPU	2

/**
 * struct tt_worker - a worker
 * @task: thread of the worker
 * @rnd: state of the thread's random numbers
 * @irq_rnd: state of the random numbers of @irq
 * @irq: hrtimer that calls twheel in hard interrupt context
 */
struct tt_worker {
	struct task_struct *task;
	u32 rnd;
	u32 irq_rnd;
	struct hrtimer irq;
};

static struct tt_worker *tt_workers;
static unsigned int tt_nr_workers;

/* Do an operation that is allowed in any context. */
void tt_caller_op(u32 *rnd)
{
	if (tt_random_below(rnd, 8))
		tt_shared_op(rnd);
	else
		tt_work_op(rnd);
}

static enum hrtimer_restart tt_worker_irq(struct hrtimer *irq)
{
	struct tt_worker *w = container_of(irq, struct tt_worker, irq);
	int i;

	for (i = 0; i < 4; i++) {
		tt_count(TT_FROM_HARDIRQ);
		tt_caller_op(&w->irq_rnd);
	}
	return HRTIMER_NORESTART;
}

static void tt_worker_send_irq(struct tt_worker *w)
{
	if (hrtimer_active(&w->irq))
		return;
	hrtimer_start(&w->irq,
		      ns_to_ktime(tt_random_below(&w->rnd, 200 * NSEC_PER_USEC)),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void tt_worker_op(struct tt_worker *w)
{
	u32 what = tt_random_below(&w->rnd, 64);

	if (what < 52)
		tt_shared_op(&w->rnd);
	else if (what < 56)
		tt_work_op(&w->rnd);
	else if (what < 57)
		tt_work_flush_op(&w->rnd);
	else if (what < 63)
		tt_shared_sync_op(&w->rnd);
	else
		tt_worker_send_irq(w);
}

static void tt_worker_move(struct tt_worker *w)
{
	int cpu = tt_random_online_cpu(&w->rnd);

	/* This fails if the CPU just went offline. Then the worker stays on its CPU. */
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static void tt_worker_pause(struct tt_worker *w)
{
	u32 what = tt_random_below(&w->rnd, 256);

	if (what == 0)
		tt_worker_move(w);
	else if (what < 16)
		usleep_range(100, 500 + tt_random_below(&w->rnd, 2000));
	else
		cond_resched();
}

static int tt_worker_thread(void *arg)
{
	struct tt_worker *w = arg;
	int i;

	set_user_nice(current, MAX_NICE);
	while (!kthread_should_stop()) {
		for (i = 0; i < 8; i++)
			tt_worker_op(w);
		tt_worker_pause(w);
	}
	hrtimer_cancel(&w->irq);
	return 0;
}

static void tt_worker_init(struct tt_worker *w, unsigned int nr)
{
	w->rnd = tt_seed(nr);
	w->irq_rnd = tt_seed(0x1000 + nr);
	twheel_hrtimer_setup(&w->irq, tt_worker_irq,
			     CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}

int tt_workers_start(void)
{
	struct task_struct *task;
	unsigned int i;

	tt_nr_workers = TT_WORKERS_PER_CPU * num_online_cpus();
	tt_workers = kcalloc(tt_nr_workers, sizeof(*tt_workers), GFP_KERNEL);
	if (!tt_workers)
		return -ENOMEM;
	for (i = 0; i < tt_nr_workers; i++) {
		tt_worker_init(&tt_workers[i], i);
		task = kthread_run(tt_worker_thread, &tt_workers[i],
				   "tt_worker/%u", i);
		if (IS_ERR(task))
			return PTR_ERR(task);
		tt_workers[i].task = task;
	}
	return 0;
}

void tt_workers_stop(void)
{
	unsigned int i;

	if (!tt_workers)
		return;
	for (i = 0; i < tt_nr_workers; i++)
		if (tt_workers[i].task)
			kthread_stop(tt_workers[i].task);
	kfree(tt_workers);
	tt_workers = NULL;
}

/* CPU hotplug. */

static struct task_struct *tt_hotplug_task;

static void tt_hotplug_sleep(void)
{
	unsigned int left = tt_hotplug_ms;

	for (; left && !kthread_should_stop(); left -= min(left, 20U))
		msleep(min(left, 20U));
}

static void tt_hotplug_one(unsigned int cpu)
{
	int ret;

	ret = remove_cpu(cpu);
	if (ret) {
		pr_info("CPU %u does not go: %d\n", cpu, ret);
		tt_hotplug_sleep();
		return;
	}
	tt_hotplug_sleep();
	ret = add_cpu(cpu);
	if (ret)
		pr_alert("CPU %u does not come back: %d\n", cpu, ret);
	tt_count(TT_HOTPLUGGED);
}

static int tt_hotplug_thread(void *unused)
{
	u32 rnd = tt_seed(0x20000);
	unsigned int cpu;

	while (!kthread_should_stop()) {
		cpu = tt_random_online_cpu(&rnd);
		if (cpu == cpumask_first(cpu_online_mask))
			cpu = cpumask_next(cpu, cpu_online_mask);
		tt_hotplug_sleep();
		if (cpu < nr_cpu_ids && !kthread_should_stop())
			tt_hotplug_one(cpu);
	}
	return 0;
}

int tt_hotplug_start(void)
{
	if (!tt_hotplug_ms || num_online_cpus() < 2)
		return 0;
	tt_hotplug_task = kthread_run(tt_hotplug_thread, NULL, "tt_hotplug");
	if (!IS_ERR(tt_hotplug_task))
		return 0;
	tt_hotplug_task = NULL;
	return -ENOMEM;
}

void tt_hotplug_stop(void)
{
	if (tt_hotplug_task)
		kthread_stop(tt_hotplug_task);
	tt_hotplug_task = NULL;
}
