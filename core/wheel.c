// SPDX-License-Identifier: GPL-2.0
/*
 * Wheels: making, draining, destroying
 *
 * A wheel has one base (base.c) for each possible CPU, and is an
 * instance of one CPU hotplug state, which switches its bases on and off.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "share.h"
#include "twheel_info.h"
#include "wheel.h"

static const char * const mode_names[TWHEEL_NR_MODES] = {
	[TWHEEL_PERIODIC]	= "periodic",
	[TWHEEL_TICKLESS]	= "tickless",
};

/*
 * By number. Readers are in an RCU read-side critical section, and a wheel is
 * freed a grace period after it is erased.
 */
static DEFINE_XARRAY_FLAGS(wheels, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static u32 next_number;			/* guarded by the lock of wheels */
static atomic_t nr_wheels;
static enum cpuhp_state hotplug_state;	/* constant after init */
static struct twheel *default_wheel;	/* constant after init */
static u64 default_tick_ns;		/* constant after init */

/*
 * Where timers are that have no base yet: those with a static initialiser, set up
 * before there was a default wheel, or never set up. None of them is pending. It
 * has no CPU, so that a start moves its timer to a base of the default wheel.
 * @wheel, @tick_ns and @clock are that one's, once it is there.
 */
struct twheel_base twheel_wheel_unbound = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(twheel_wheel_unbound.lock),
	.cpu = TWHEEL_NO_CPU,
	.local = TWHEEL_NO_CPU,
	.tick_ns = NSEC_PER_MSEC,
};

/* Names that /proc shows and parameters take. */

const char *twheel_wheel_scheme_name(enum twheel_scheme_type type)
{
	return twheel_scheme_info(type)->name;
}

const char *twheel_wheel_mode_name(enum twheel_mode tick_mode)
{
	return mode_names[tick_mode];
}

int twheel_wheel_scheme_by_name(const char *name)
{
	int type;

	for (type = 0; type < TWHEEL_NR_SCHEMES; type++)
		if (!strcmp(twheel_scheme_info(type)->name, name))
			return type;
	return -EINVAL;
}

int twheel_wheel_mode_by_name(const char *name)
{
	return match_string(mode_names, TWHEEL_NR_MODES, name);
}

/* CPU hotplug. */

static int base_online(unsigned int cpu, struct hlist_node *node)
{
	struct twheel *wheel = hlist_entry(node, struct twheel, cpuhp);

	twheel_base_online(wheel->bases[cpu], cpu);
	return 0;
}

/* Somewhere the timers of @cpu have to go: to no isolated CPU, if there is another. */
static int prepare_other_base(struct twheel *wheel, unsigned int cpu)
{
	unsigned int other;

	/* No other CPU goes meanwhile, and one that is given slots will do. */
	if (twheel_base_other_cpu(wheel->usable, cpu) < nr_cpu_ids)
		return 0;
	other = twheel_base_other_cpu(cpu_online_mask, cpu);
	if (other >= nr_cpu_ids)
		/* As said above. */
		other = data_race(cpumask_any_but(wheel->usable, cpu));
	if (other >= nr_cpu_ids)
		other = cpumask_any_but(cpu_online_mask, cpu);
	if (other >= nr_cpu_ids)
		return 0;
	return twheel_prepare_cpu(wheel, other);
}

static int base_offline(unsigned int cpu, struct hlist_node *node)
{
	struct twheel *wheel = hlist_entry(node, struct twheel, cpuhp);
	int ret = prepare_other_base(wheel, cpu);

	if (ret)
		return ret;
	twheel_base_offline(wheel->bases[cpu], cpu);
	return 0;
}

/*
 * Become an instance. The CPU hotplug core calls back on each CPU, one after
 * the other, in threads that may have to wait for it. The first wheel goes
 * through that. All others do without: a CPU that is online for the first wheel
 * is online for them.
 */
static int follow_hotplug(struct twheel *wheel)
{
	unsigned int cpu;
	int ret;

	if (!default_wheel)
		return cpuhp_state_add_instance(hotplug_state, &wheel->cpuhp);
	ret = cpuhp_state_add_instance_nocalls(hotplug_state, &wheel->cpuhp);
	if (ret)
		return ret;
	/* No CPU comes or goes, so nobody writes @online. */
	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (default_wheel->bases[cpu]->online)
			twheel_base_online(wheel->bases[cpu], cpu);
	cpus_read_unlock();
	return 0;
}

/* Payers. */

/**
 * twheel_payer_create - make somebody who pays for the time of wheels
 *
 * For wheels with the timers of strangers, one payer for each of these. However
 * many payers and wheels there are, ticks of wheels that have a payer take at most
 * half of each CPU, and make no wheel late that has none.
 *
 * Context: Process, may sleep.
 * Return: the payer, or NULL if there is no memory.
 */
struct twheel_payer *twheel_payer_create(void)
{
	return kzalloc(array_size(nr_cpu_ids, sizeof(struct twheel_payer)),
		       TWHEEL_GFP);
}
EXPORT_SYMBOL_GPL(twheel_payer_create);

/**
 * twheel_payer_destroy - free a payer
 * @payer: the payer, whose wheels are destroyed, or NULL
 *
 * Context: Any.
 */
void twheel_payer_destroy(struct twheel_payer *payer)
{
	kfree(payer);
}
EXPORT_SYMBOL_GPL(twheel_payer_destroy);

/* Making and destroying wheels. */

/**
 * twheel_check_config - what twheel_create() makes of a configuration
 * @config: a configuration. What it leaves to twheel_create() is filled in
 *
 * Two configurations make equal wheels if they are equal after that.
 *
 * Context: Any.
 * Return: 0, or -EINVAL for a parameter out of range.
 */
int twheel_check_config(struct twheel_config *config)
{
	if (config->scheme >= TWHEEL_NR_SCHEMES ||
	    config->mode >= TWHEEL_NR_MODES)
		return -EINVAL;
	if (!config->clock)
		config->clock = CLOCK_MONOTONIC;
	if (config->clock != CLOCK_MONOTONIC && config->clock != CLOCK_BOOTTIME)
		return -EINVAL;
	if (config->mode == TWHEEL_TICKLESS && config->doze > 1)
		return -EINVAL;
	if (config->mode == TWHEEL_TICKLESS)
		config->doze = 1;
	if (!config->tick_ns)
		config->tick_ns = default_tick_ns;
	if (config->tick_ns < TWHEEL_TICK_NS_MIN ||
	    config->tick_ns > TWHEEL_TICK_NS_MAX)
		return -EINVAL;
	return twheel_scheme_choose_slots(config->scheme, &config->slots);
}
EXPORT_SYMBOL_GPL(twheel_check_config);

/**
 * twheel_scheme_bounded - whether anybody may start timers on a wheel of a scheme
 * @scheme: a scheme
 *
 * Context: Any.
 * Return: true if a tick looks at a bounded number of timers beside those that are
 * due, whatever the timers are. If not, their owner decides how long a tick takes.
 */
bool twheel_scheme_bounded(enum twheel_scheme_type scheme)
{
	return twheel_scheme_info(scheme)->bounded;
}
EXPORT_SYMBOL_GPL(twheel_scheme_bounded);

static void free_wheel(struct twheel *wheel)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		twheel_base_free(wheel->bases[cpu]);
	free_cpumask_var(wheel->usable);
	kfree(wheel);
}

static struct twheel *alloc_wheel(const struct twheel_config *config)
{
	struct twheel *wheel;
	unsigned int cpu;

	wheel = kzalloc(struct_size(wheel, bases, nr_cpu_ids),
			TWHEEL_GFP);
	if (!wheel)
		return NULL;
	if (!zalloc_cpumask_var(&wheel->usable, TWHEEL_GFP)) {
		kfree(wheel);
		return NULL;
	}
	wheel->config = *config;
	strscpy(wheel->name, config->name ?: "unnamed", sizeof(wheel->name));
	wheel->config.name = wheel->name;
	for_each_possible_cpu(cpu) {
		wheel->bases[cpu] = twheel_base_alloc(wheel, cpu, twheel_tick);
		if (!wheel->bases[cpu]) {
			free_wheel(wheel);
			return NULL;
		}
		if (config->payer)
			wheel->bases[cpu]->payer = &config->payer[cpu];
	}
	return wheel;
}

/**
 * twheel_prepare_cpu - let timers of a lazy wheel be started on a CPU
 * @wheel: a wheel
 * @cpu: a possible CPU
 *
 * Without it they are started on another CPU. The default wheel is prepared by
 * itself, soon after the first start on a CPU. The caller may be on any CPU, and
 * must not be kept there by migrate_disable(): it may sleep for minutes in a memory
 * cgroup at its limit, and the CPU could not go offline before that ends.
 *
 * Context: Process, may sleep.
 * Return: 0, or -ENOMEM and nothing has changed.
 */
int twheel_prepare_cpu(struct twheel *wheel, unsigned int cpu)
{
	/* Pairs with install_slots(). */
	if (likely(READ_ONCE(wheel->bases[cpu]->prepared)))
		return 0;
	return twheel_base_prepare(wheel->bases[cpu], cpu);
}
EXPORT_SYMBOL_GPL(twheel_prepare_cpu);

/**
 * twheel_prepare - let timers of a lazy wheel be started on this CPU
 * @wheel: a wheel
 *
 * As twheel_prepare_cpu(). The caller may be moved to another CPU meanwhile: then
 * nothing is wrong but that.
 *
 * Context: Process, may sleep.
 * Return: 0, or -ENOMEM and nothing has changed.
 */
int twheel_prepare(struct twheel *wheel)
{
	return twheel_prepare_cpu(wheel, raw_smp_processor_id());
}
EXPORT_SYMBOL_GPL(twheel_prepare);

/*
 * Slots of the default wheel, whose users do not call twheel_prepare(). A start
 * that finds none on its CPU goes to another base and asks for them here. It may
 * hold any lock and cannot wait. So an interrupt of its own queues the work that
 * makes them.
 */

/*
 * CPUs that have been asked for, each once. A bit is set without a lock and never
 * cleared, so that the work can be repeated until there is memory.
 */
static struct cpumask wanted;

static void prepare_wanted(struct work_struct *work);
static DECLARE_DELAYED_WORK(wanted_work, prepare_wanted);

static void prepare_wanted(struct work_struct *work)
{
	unsigned int cpu;
	int failed = 0;

	for_each_possible_cpu(cpu)
		if (cpumask_test_cpu(cpu, &wanted))
			failed |= twheel_prepare_cpu(default_wheel, cpu);
	if (failed)
		schedule_delayed_work(&wanted_work, HZ);
}

static void queue_wanted_work(struct irq_work *irq_work)
{
	schedule_delayed_work(&wanted_work, 0);
}

static struct irq_work wanted_irq = IRQ_WORK_INIT(queue_wanted_work);

/**
 * twheel_wheel_want - a start has found no slots on a CPU
 * @wheel: the wheel
 * @cpu: the CPU
 *
 * Context: Any but NMI.
 */
void twheel_wheel_want(struct twheel *wheel, unsigned int cpu)
{
	if (wheel == default_wheel && !cpumask_test_and_set_cpu(cpu, &wanted))
		irq_work_queue(&wanted_irq);
}

/*
 * If this CPU is going away, base_offline() has prepared another one. If it is
 * isolated, another one has to take the timers that are started here.
 */
static int prepare_first(struct twheel *wheel)
{
	unsigned int cpu = raw_smp_processor_id(), other = nr_cpu_ids;
	int ret = twheel_prepare_cpu(wheel, cpu);

	/* The newest kernels free the mask of isolated CPUs a grace period after a change. */
	rcu_read_lock();
	if (twheel_base_is_spared(cpu))
		other = twheel_base_other_cpu(cpu_online_mask, cpu);
	rcu_read_unlock();
	if (!ret && other < nr_cpu_ids)
		ret = twheel_prepare_cpu(wheel, other);
	return ret;
}

/**
 * twheel_create - make a wheel
 * @config: its parameters
 *
 * Context: Process, may sleep.
 * Return: the wheel, or ERR_PTR() of -EINVAL for a parameter out of range or
 * -ENOMEM.
 */
struct twheel *twheel_create(const struct twheel_config *config)
{
	struct twheel_config checked = *config;
	struct twheel *wheel;
	int ret = twheel_check_config(&checked);

	if (ret)
		return ERR_PTR(ret);
	wheel = alloc_wheel(&checked);
	if (!wheel)
		return ERR_PTR(-ENOMEM);
	ret = follow_hotplug(wheel);
	if (ret)
		goto err_free;
	ret = prepare_first(wheel);
	if (ret)
		goto err_remove;
	ret = xa_alloc_cyclic(&wheels, &wheel->number, wheel, xa_limit_31b,
			      &next_number, TWHEEL_GFP);
	if (ret < 0)
		goto err_remove;
	atomic_inc(&nr_wheels);
	return wheel;

err_remove:
	cpuhp_state_remove_instance_nocalls(hotplug_state, &wheel->cpuhp);
err_free:
	free_wheel(wheel);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(twheel_create);

static unsigned long drain_base(struct twheel_base *base,
				void (*fn)(struct twheel_timer *timer,
					   void *arg),
				void *arg)
{
	u32 slot = base->scheme.nr_slots;
	struct twheel_timer *timer;
	unsigned long drained = 0;

	while ((timer = twheel_base_stop_any(base, &slot))) {
		drained++;
		if (fn)
			fn(timer, arg);
		cond_resched();
	}
	return drained;
}

/**
 * twheel_drain - stop all pending timers of a wheel
 * @wheel: a wheel of the caller's own. Not the default one: that has the timers
 *	of others, who would wait for them in vain
 * @fn: called with each timer that was stopped and had not expired, in no
 *	promised order, except among one tick's timers of one base, or NULL
 * @arg: passed to @fn
 *
 * The caller sees to it that nothing starts timers meanwhile: those may or
 * may not be found. Callbacks that run are not waited for. A wheel to be
 * drained must not be used by a struct twheel_work: its timer would be stopped
 * behind its back.
 *
 * No CPU goes offline meanwhile, or its timers might go to a base that has been
 * drained. So @fn must not wait for CPU hotplug, nor take a lock that is held by
 * somebody who does.
 *
 * Context: Process, may sleep, and so may @fn, not from CPU hotplug callbacks.
 * Return: how many timers were stopped.
 */
unsigned long twheel_drain(struct twheel *wheel,
			   void (*fn)(struct twheel_timer *timer, void *arg),
			   void *arg)
{
	unsigned long drained = 0;
	unsigned int cpu;

	might_sleep();
	/* No CPU may hand its timers to one that has been drained. */
	cpus_read_lock();
	for_each_possible_cpu(cpu)
		drained += drain_base(wheel->bases[cpu], fn, arg);
	cpus_read_unlock();
	return drained;
}
EXPORT_SYMBOL_GPL(twheel_drain);

static void free_wheel_rcu(struct rcu_head *rcu)
{
	free_wheel(container_of(rcu, struct twheel, rcu));
}

/**
 * twheel_destroy - free a wheel
 * @wheel: a wheel from twheel_create(), or NULL. None of its timers may be
 *	pending, nor be used afterwards
 *
 * Waits for callbacks that run, and for nothing else. If timers are pending all
 * the same, that is the caller's error: they are stopped, with a warning.
 *
 * Context: Process, may sleep, not a callback.
 */
void twheel_destroy(struct twheel *wheel)
{
	unsigned int cpu;

	if (!wheel)
		return;
	/* A callback would wait for itself. The default wheel is not the caller's. */
	if (WARN_ON_ONCE(in_interrupt() || wheel == default_wheel))
		return;
	xa_erase(&wheels, wheel->number);
	atomic_dec(&nr_wheels);
	cpuhp_state_remove_instance_nocalls(hotplug_state, &wheel->cpuhp);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&wheel->bases[cpu]->hrtimer);
	WARN_ON_ONCE(twheel_drain(wheel, NULL, NULL));
	for_each_possible_cpu(cpu)
		twheel_base_wait_for_kick(wheel->bases[cpu]);
	/* A kick may have programmed it. */
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&wheel->bases[cpu]->hrtimer);
	/*
	 * The last kick may not have returned yet, and /proc/twheel may have
	 * found the wheel before it was erased.
	 */
	call_rcu(&wheel->rcu, free_wheel_rcu);
}
EXPORT_SYMBOL_GPL(twheel_destroy);

/**
 * twheel_default - the wheel that the module made from its parameters
 *
 * Context: Any.
 * Return: the wheel. It lives as long as the module. NULL before twheel is
 * initialised, which only code that is built into the kernel can see.
 */
struct twheel *twheel_default(void)
{
	/* Pairs with twheel_wheel_create_default(). */
	return READ_ONCE(default_wheel);
}
EXPORT_SYMBOL_GPL(twheel_default);

/**
 * twheel_number - the number by which /proc/twheel names a wheel
 * @wheel: the wheel
 *
 * Context: Any.
 * Return: the number. The default wheel's is 1.
 */
unsigned int twheel_number(const struct twheel *wheel)
{
	return wheel->number;
}
EXPORT_SYMBOL_GPL(twheel_number);

/**
 * twheel_get_config - the parameters of a wheel
 * @wheel: the wheel
 * @config: receives them, with nothing left at a default. The name is valid
 *	as long as the wheel
 *
 * Context: Any.
 */
void twheel_get_config(const struct twheel *wheel, struct twheel_config *config)
{
	*config = wheel->config;
}
EXPORT_SYMBOL_GPL(twheel_get_config);

/* For /proc/twheel. */

/* The wheel of @number or, as @number then says, the next one, under RCU. */
struct twheel *twheel_wheel_find(unsigned long *number)
{
	return xa_find(&wheels, number, ULONG_MAX, XA_PRESENT);
}

unsigned int twheel_wheel_count(void)
{
	return atomic_read(&nr_wheels);
}

/* For the module. */

int twheel_wheel_create_default(const struct twheel_config *config)
{
	struct twheel *wheel = twheel_create(config);

	if (IS_ERR(wheel))
		return PTR_ERR(wheel);
	/* Pairs with twheel_default(). */
	smp_store_release(&default_wheel, wheel);
	raw_spin_lock_irq(&twheel_wheel_unbound.lock);
	twheel_wheel_unbound.wheel = wheel;
	twheel_wheel_unbound.tick_ns = wheel->config.tick_ns;
	twheel_wheel_unbound.clock = wheel->config.clock;
	raw_spin_unlock_irq(&twheel_wheel_unbound.lock);
	return 0;
}

int twheel_wheel_init(u64 tick_ns)
{
	int ret = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "twheel:online",
					  base_online, base_offline);

	if (ret < 0)
		return ret;
	hotplug_state = ret;
	default_tick_ns = tick_ns;
	return 0;
}

void twheel_wheel_exit(void)
{
	struct twheel *wheel = default_wheel;

	/* Nobody starts timers any more. */
	irq_work_sync(&wanted_irq);
	cancel_delayed_work_sync(&wanted_work);
	default_wheel = NULL;
	twheel_destroy(wheel);
	cpuhp_remove_multi_state(hotplug_state);
	/* See twheel_destroy(). */
	rcu_barrier();
}
