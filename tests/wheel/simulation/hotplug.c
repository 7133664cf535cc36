// SPDX-License-Identifier: GPL-2.0
/*
 * CPU hotplug, with one multi-instance state
 *
 * When a CPU goes offline, user programs leave it first. Then the callbacks run on
 * it, in the task that switches it off, while interrupts and softirqs still arrive. Then
 * it is off. A CPU that goes online runs its callbacks before user programs get there.
 */
#include "sim.h"
#include "oracle.h"
#include "core/base.h"

struct cpumask sim_online, sim_isolated;
const struct cpumask sim_all = { BIT(SIM_CPUS) - 1 }, sim_none;

static sim_hotplug_fn online_fn, offline_fn;
static struct hlist_head instances;	/* of struct twheel */
static int readers;
static bool writer;

void sim_hotplug_begin(void)
{
	sim_online = sim_all;
	sim_isolated = sim_none;
	INIT_HLIST_HEAD(&instances);
	readers = 0;
	writer = false;
}

/*
 * Returns whether a CPU is isolated. The caller must hold rcu_read_lock(), except in CPU hotplug:
 * newer kernels change the mask at other times, too, and free the old one by RCU.
 */
bool cpu_is_isolated(int cpu)
{
	if (!writer && !sim_is_reader(sim_task))
		sim_fail("the mask of isolated CPUs is read outside of RCU");
	return cpumask_test_cpu(cpu, &sim_isolated);
}

void cpus_read_lock(void)
{
	u64 ns = 1000;

	sim_point();
	/*
	 * The CPU of the writer may stop for long: wait twice as long each time, so that the wait
	 * takes few steps.
	 */
	for (; writer; ns = min_t(u64, 2 * ns, 100000))
		sim_sleep(ns);
	readers++;
	sim_weak_all();
}

void cpus_read_unlock(void)
{
	readers--;
	sim_point();
}

static void write_lock(void)
{
	while (writer)
		sim_sleep(1000);
	writer = true;
	while (readers)
		sim_sleep(1000);
	sim_weak_all();
}

/* Move to CPU @nr, do @work there, and leave the CPU if @work switched it off. */
static void on_cpu(unsigned int nr, void (*work)(void))
{
	struct sim_task *self = sim_task;

	self->pinned = true;
	self->cpu = nr;
	while (sim.cpu != nr)
		sim_yield();
	work();
	self->pinned = false;
	if (sim_cpus[nr].off) {
		self->cpu = sim_other_cpu();
		sim_yield();
	}
}

static void call_online(void)
{
	struct hlist_node *node;

	hlist_for_each(node, &instances)
		online_fn(sim.cpu, node);
}

/*
 * Run the callbacks for a CPU that goes offline. Check that no wheel refuses, although memory is
 * short.
 */
static void call_offline(void)
{
	struct hlist_node *node;

	hlist_for_each(node, &instances)
		if (offline_fn(sim.cpu, node))
			sim_fail("cpu %u may not go", sim.cpu);
}

static bool is_followed(const struct hrtimer *hrtimer)
{
	const struct twheel *wheel;

	hlist_for_each_entry(wheel, &instances, cpuhp)
		if (hrtimer == &wheel->bases[sim.cpu]->hrtimer)
			return true;
	return false;
}

/*
 * Move remaining hrtimers to another CPU, as the kernel does. Only a wheel that is being
 * destroyed, and was already removed from the instances, may leave an hrtimer.
 */
static void move_hrtimers(struct sim_cpu *cpu)
{
	unsigned int other = cpumask_first(&sim_online);

	while (!list_empty(&cpu->hrtimers)) {
		struct hrtimer *hrtimer = list_first_entry(&cpu->hrtimers,
							   struct hrtimer, link);

		if (is_followed(hrtimer))
			sim_fail("an hrtimer is left on a CPU that goes off");
		sim_move_hrtimer(hrtimer, other);
	}
}

/* Switch the CPU off, after its callbacks have run. The last steps have interrupts off. */
static void take_down(void)
{
	struct sim_cpu *cpu = this_sim_cpu();

	/*
	 * Wait for pending softirqs, and for the softirq thread, which may wait for a lock in the
	 * middle of a softirq.
	 */
	while (cpu->softirq || cpu->softirq_task || cpu->ksoftirqd->bh)
		sim_sleep(100);
	local_irq_disable();
	cpumask_clear_cpu(sim.cpu, &sim_online);
	sim_flush_irqs();
	move_hrtimers(cpu);
	cpu->timer_at = SIM_NEVER;
	cpu->irqs_off = false;
	cpu->off = true;
}

static bool has_users(unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < SIM_TASKS; i++)
		if (sim_tasks[i].cpu == cpu && !sim_tasks[i].pinned &&
		    !sim_tasks[i].done)
			return true;
	return false;
}

static void leave(unsigned int nr)
{
	struct sim_cpu *cpu = &sim_cpus[nr];
	unsigned int i;

	cpu->leaving = true;
	do {
		for (i = 0; i < SIM_TASKS; i++) {
			struct sim_task *task = &sim_tasks[i];

			if (task->cpu != nr || sim_stays(task) || cpu->curr == task)
				continue;
			task->cpu = sim_other_cpu();
		}
		if (has_users(nr))
			sim_sleep(1000);
	} while (has_users(nr));
}

void sim_cpu_down(unsigned int nr)
{
	struct sim_cpu *cpu = &sim_cpus[nr];

	write_lock();
	if (!cpu->off && cpumask_any_but(&sim_online, nr) < nr_cpu_ids) {
		sim_note("cpu %u goes", nr);
		oracle_cpu_goes();
		leave(nr);
		on_cpu(nr, call_offline);
		on_cpu(nr, take_down);
		oracle_cpu_gone();
		sim_note("cpu %u is gone", nr);
	}
	writer = false;
}

void sim_cpu_up(unsigned int nr)
{
	struct sim_cpu *cpu = &sim_cpus[nr];

	write_lock();
	if (cpu->off) {
		cpu->off = false;
		cpumask_set_cpu(nr, &sim_online);
		on_cpu(nr, call_online);
		cpu->leaving = false;
		sim_note("cpu %u is back", nr);
	}
	writer = false;
}

int cpuhp_setup_state_multi(enum cpuhp_state state, const char *name,
			    sim_hotplug_fn online, sim_hotplug_fn offline)
{
	online_fn = online;
	offline_fn = offline;
	return 1;
}

void cpuhp_remove_multi_state(enum cpuhp_state state)
{
	if (!hlist_empty(&instances))
		sim_fail("the hotplug state is removed with an instance");
}

int cpuhp_state_add_instance(enum cpuhp_state state, struct hlist_node *node)
{
	unsigned int cpu;

	write_lock();
	for_each_online_cpu(cpu)
		online_fn(cpu, node);
	hlist_add_head(node, &instances);
	writer = false;
	return 0;
}

int cpuhp_state_add_instance_nocalls(enum cpuhp_state state,
				     struct hlist_node *node)
{
	cpus_read_lock();
	hlist_add_head(node, &instances);
	cpus_read_unlock();
	return 0;
}

int cpuhp_state_remove_instance_nocalls(enum cpuhp_state state,
					struct hlist_node *node)
{
	cpus_read_lock();
	hlist_del(node);
	cpus_read_unlock();
	return 0;
}
