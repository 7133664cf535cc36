// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that come and go under the timers
 */
#define pr_fmt(fmt) "twheel_torture: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>

#include "torture.h"

static struct task_struct *tt_hotplug_task;
static unsigned int tt_epoch;

/*
 * Returns the number of begins and ends of changes, which is odd during a change.
 * A timer stayed on its CPU if the number was even at its start and is the
 * same at its expiry.
 */
unsigned int tt_hotplug_epoch(void)
{
	return READ_ONCE(tt_epoch);
}

static void tt_epoch_next(void)
{
	/* Orders the number against the change of the CPU. */
	smp_mb();
	WRITE_ONCE(tt_epoch, tt_epoch + 1);
	/* Orders the change of the CPU against the new number. */
	smp_mb();
}

static void tt_hotplug_sleep(void)
{
	unsigned int left = tt_params.hotplug_ms;

	for (; left && !kthread_should_stop(); left -= min(left, 20U))
		msleep(min(left, 20U));
}

static void tt_hotplug_one(unsigned int cpu)
{
	int ret;

	tt_epoch_next();
	ret = remove_cpu(cpu);
	tt_epoch_next();
	if (ret) {
		pr_info("CPU %u does not go: %d\n", cpu, ret);
		tt_hotplug_sleep();
		return;
	}
	tt_hotplug_sleep();
	tt_epoch_next();
	ret = add_cpu(cpu);
	tt_epoch_next();
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
	if (!tt_params.hotplug_ms || num_online_cpus() < 2)
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
