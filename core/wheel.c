// SPDX-License-Identifier: GPL-2.0
/*
 * Wheels: creating, draining, destroying
 *
 * A wheel has one base (base.c) for each possible CPU. It is an instance of a
 * CPU hotplug state that switches its bases on and off.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/interrupt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "compat.h"
#include "throttle.h"
#include "twheel_info.h"
#include "wheel.h"

static const char * const mode_names[TWHEEL_NR_MODES] = {
	[TWHEEL_PERIODIC]	= "periodic",
	[TWHEEL_TICKLESS]	= "tickless",
};

/*
 * Wheels by number. Readers use RCU: a wheel is freed a grace period after it
 * is erased.
 */
static DEFINE_XARRAY_FLAGS(wheels, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static u32 next_number;			/* guarded by the lock of wheels */
static atomic_t nr_wheels;
static enum cpuhp_state hotplug_state;	/* constant after init */
static struct twheel *default_wheel;	/* constant after init */
static u64 default_tick_ns;		/* constant after init */

/*
 * Base of timers that have no base yet: timers with a static initialiser,
 * timers set up before there was a default wheel, and timers never set up. None
 * of them is pending. This base has no CPU, so a start moves its timer to a
 * base of the default wheel. @wheel, @tick_ns and @clockid are copied from the
 * default wheel later.
 */
struct twheel_base twheel_wheel_unbound = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(twheel_wheel_unbound.lock),
	.cpu = TWHEEL_NO_CPU,
	.fast_cpu = TWHEEL_NO_CPU,
	.tick_ns = NSEC_PER_MSEC,
};

/* Names in /proc and in module parameters */

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

/* CPU hotplug */

/* Let @cpu drive a base that another CPU has driven so far. Moves no timer. */
static void hand_over(struct twheel_base *base, unsigned int cpu)
{
	struct twheel_payer *payer = base->wheel->config.payer;

	twheel_base_halt(base);
	twheel_tick_finish(base);
	base->payer = payer ? &payer[cpu] : NULL;
	twheel_base_drive(base, cpu);
}

static int base_online(unsigned int cpu, struct hlist_node *node)
{
	struct twheel *wheel = hlist_entry(node, struct twheel, cpuhp);
	struct twheel_base *base = wheel->bases[cpu];

	if (base->cpu != TWHEEL_NO_CPU)
		hand_over(base, cpu);
	twheel_base_online(base, cpu);
	return 0;
}

/*
 * Expire the timers that become due while the timers of a base move. The timers
 * that are due soonest move last: with millions of timers, after minutes. The
 * hrtimer is off, so call its function as HRTIMER_SOFTIRQ would.
 */
static void expire_due_timers(struct twheel_base *base)
{
	local_bh_disable();
	twheel_tick(&base->hrtimer);
	local_bh_enable();
}

static void move_timers(struct twheel_base *base, unsigned int cpu)
{
	u32 slot = base->scheme.nr_slots;

	twheel_base_switch_off(base, cpu);
	while (twheel_base_hand_on(base, &slot)) {
		expire_due_timers(base);
		cond_resched();
	}
	twheel_tick_finish(base);
}

/*
 * Hand the timers that expire on @cpu to other CPUs. Allocates nothing and
 * cannot fail.
 */
static int base_offline(unsigned int cpu, struct hlist_node *node)
{
	struct twheel *wheel = hlist_entry(node, struct twheel, cpuhp);
	unsigned int other = twheel_base_other_cpu(cpu_online_mask, cpu), i;

	if (other >= nr_cpu_ids)
		other = cpumask_any_but(cpu_online_mask, cpu);
	for_each_possible_cpu(i)
		/*
		 * data_race: only CPU hotplug, which is serialised, makes these
		 * CPUs equal.
		 */
		if (i != cpu && data_race(wheel->bases[i]->cpu) == cpu)
			hand_over(wheel->bases[i], other);
	if (!twheel_base_leave(wheel->bases[cpu]))
		return 0;
	if (twheel_base_other_cpu(wheel->usable, cpu) < nr_cpu_ids)
		move_timers(wheel->bases[cpu], cpu);
	else
		hand_over(wheel->bases[cpu], other);
	return 0;
}

/*
 * Make a wheel an instance of the hotplug state. For the default wheel, which
 * is the first one, the kernel calls base_online() on each online CPU in turn.
 * Each call runs in a thread of the CPU, and may have to wait there. To avoid
 * these waits, later wheels learn from the default wheel which CPUs are online.
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
	/* Keep CPUs from coming and going, and so @online from changing. */
	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (default_wheel->bases[cpu]->online)
			twheel_base_online(wheel->bases[cpu], cpu);
	cpus_read_unlock();
	return 0;
}

/* Payers */

/**
 * twheel_payer_create - create an account for the time of wheels
 *
 * For wheels with timers of untrusted users: create one payer for each user.
 * However many payers and wheels there are, the ticks of wheels with a payer
 * take at most half of each CPU, and delay no wheel without a payer.
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
 * @payer: the payer, or NULL. Destroy all of its wheels first
 *
 * Context: Any.
 */
void twheel_payer_destroy(struct twheel_payer *payer)
{
	kfree(payer);
}
EXPORT_SYMBOL_GPL(twheel_payer_destroy);

/* Slots */

/**
 * twheel_prepare_cpu - let timers be started on a CPU
 * @wheel: a wheel
 * @cpu: a possible CPU
 *
 * Timers of a CPU that is not prepared use another one. A wheel without a payer
 * prepares a CPU by itself, soon after the first start there.
 *
 * May be called from any CPU. Do not call it under migrate_disable(): it may
 * sleep for minutes in a memory cgroup at its limit, and the caller's CPU could
 * not go offline until then.
 *
 * Context: Process, may sleep.
 * Return: 0, or -ENOMEM and nothing changed.
 */
int twheel_prepare_cpu(struct twheel *wheel, unsigned int cpu)
{
	might_sleep();
	/* Pairs with install_slots(). */
	if (READ_ONCE(wheel->bases[cpu]->prepared))
		return 0;
	return twheel_base_prepare(wheel->bases[cpu], cpu);
}
EXPORT_SYMBOL_GPL(twheel_prepare_cpu);

/*
 * Slots of CPUs that nobody prepared
 *
 * A start on a CPU without slots uses another base, and requests slots for the
 * CPU. Its caller may hold any lock and cannot sleep, so an irq_work queues the
 * work.
 */

/*
 * Prepare the CPUs that starts requested. Requests are never cleared: the work
 * is repeated until there is memory for each of them.
 */
static void prepare_requested(struct work_struct *work)
{
	struct twheel *wheel = container_of(to_delayed_work(work), struct twheel,
					    request_work);
	unsigned int cpu;
	int failed = 0;

	for_each_possible_cpu(cpu)
		if (test_bit(0, &wheel->bases[cpu]->requested))
			failed |= twheel_prepare_cpu(wheel, cpu);
	if (failed)
		schedule_delayed_work(&wheel->request_work, HZ);
}

static void queue_request_work(struct irq_work *irq_work)
{
	struct twheel_base *base = container_of(irq_work, struct twheel_base, request);

	/* The work may be waiting, after it found no memory for another CPU. */
	mod_delayed_work(twheel_system_wq, &base->wheel->request_work, 0);
}

/*
 * Request slots for a CPU on which a timer was started without slots, in any
 * context but NMI.
 * A wheel with a payer gets none: twheel_prepare_cpu() charges its slots to the
 * memory cgroup of its caller, and a work could not.
 */
void twheel_wheel_request_slots(struct twheel *wheel, unsigned int cpu)
{
	if (!wheel->config.payer &&
	    !test_and_set_bit(0, &wheel->bases[cpu]->requested))
		irq_work_queue(&wheel->bases[cpu]->request);
}

/* Creating and destroying wheels */

/**
 * twheel_check_config - check a configuration, and fill in the defaults
 * @config: a configuration as for twheel_create()
 *
 * Two configurations make equal wheels if they are equal afterwards.
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
	INIT_DELAYED_WORK(&wheel->request_work, prepare_requested);
	for_each_possible_cpu(cpu) {
		wheel->bases[cpu] = twheel_base_alloc(wheel, cpu, twheel_tick);
		if (!wheel->bases[cpu]) {
			free_wheel(wheel);
			return NULL;
		}
		init_irq_work(&wheel->bases[cpu]->request, queue_request_work);
		if (config->payer)
			wheel->bases[cpu]->payer = &config->payer[cpu];
	}
	return wheel;
}

/* Prepare this CPU and, if it is isolated, the CPU for timers started here. */
static int prepare_first(struct twheel *wheel)
{
	unsigned int cpu = raw_smp_processor_id(), other = nr_cpu_ids;
	int ret = twheel_prepare_cpu(wheel, cpu);

	/* The CPU may have gone offline before it was prepared. */
	while (!ret && data_race(cpumask_empty(wheel->usable))) {
		cpu = cpumask_first(cpu_online_mask);
		ret = twheel_prepare_cpu(wheel, cpu);
	}
	/* Newer kernels free the mask of isolated CPUs a grace period after changes. */
	rcu_read_lock();
	if (twheel_base_is_isolated(cpu))
		other = twheel_base_other_cpu(cpu_online_mask, cpu);
	rcu_read_unlock();
	if (!ret && other < nr_cpu_ids)
		ret = twheel_prepare_cpu(wheel, other);
	return ret;
}

/**
 * twheel_create - create a wheel
 * @config: its parameters
 *
 * Allocates the slots of this CPU. The slots of another CPU follow soon after
 * the first start there, see twheel_prepare_cpu().
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

static unsigned long drain_wheel(struct twheel *wheel,
				 void (*fn)(struct twheel_timer *timer,
					    void *arg),
				 void *arg)
{
	unsigned long drained = 0;
	unsigned int cpu;

	/* Keep CPUs from handing timers to a base that is drained already. */
	cpus_read_lock();
	for_each_possible_cpu(cpu)
		drained += drain_base(wheel->bases[cpu], fn, arg);
	cpus_read_unlock();
	return drained;
}

/**
 * twheel_drain - stop all pending timers of a wheel
 * @wheel: a wheel of the caller. The default wheel is left alone, with a warning
 * @fn: function to call with each timer that was stopped before it expired, or
 *	NULL. In order only among the timers of one tick and base
 * @arg: argument of @fn
 *
 * The caller must keep others from starting timers, because this may miss such
 * timers. Does not wait for running callbacks. Do not drain a wheel that a
 * struct twheel_work uses: the work would not notice a stop.
 *
 * No CPU goes offline during this call, or its timers might move to a base that
 * is already drained. So @fn must not wait for CPU hotplug, even indirectly.
 *
 * Context: Process, may sleep, and so may @fn, not from CPU hotplug callbacks.
 * Return: number of timers stopped.
 */
unsigned long twheel_drain(struct twheel *wheel,
			   void (*fn)(struct twheel_timer *timer, void *arg),
			   void *arg)
{
	might_sleep();
	/* The timers of the default wheel belong to all modules. */
	if (WARN_ON_ONCE(wheel == default_wheel))
		return 0;
	return drain_wheel(wheel, fn, arg);
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
 * Waits only for running callbacks, and for slots that are being allocated. It
 * is an error of the caller if timers are pending: they are stopped, with a
 * warning.
 *
 * Context: Process, may sleep, not a callback.
 */
void twheel_destroy(struct twheel *wheel)
{
	unsigned int cpu;

	if (!wheel)
		return;
	/* A callback would wait for itself. twheel owns the default wheel. */
	if (WARN_ON_ONCE(in_interrupt() || wheel == default_wheel))
		return;
	/* No timer is started any more, so no slots are requested. */
	for_each_possible_cpu(cpu)
		irq_work_sync(&wheel->bases[cpu]->request);
	cancel_delayed_work_sync(&wheel->request_work);
	xa_erase(&wheels, wheel->number);
	atomic_dec(&nr_wheels);
	cpuhp_state_remove_instance_nocalls(hotplug_state, &wheel->cpuhp);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&wheel->bases[cpu]->hrtimer);
	WARN_ON_ONCE(drain_wheel(wheel, NULL, NULL));
	for_each_possible_cpu(cpu)
		twheel_base_wait_for_kick(wheel->bases[cpu]);
	/* A kick may have started an hrtimer again. */
	for_each_possible_cpu(cpu) {
		hrtimer_cancel(&wheel->bases[cpu]->hrtimer);
		twheel_tick_finish(wheel->bases[cpu]);
	}
	/* The last kick and readers of /proc/twheel may still use the wheel. */
	call_rcu(&wheel->rcu, free_wheel_rcu);
}
EXPORT_SYMBOL_GPL(twheel_destroy);

/**
 * twheel_default - return the wheel made from the module's parameters
 *
 * Context: Any.
 * Return: the wheel, which lives as long as the module. NULL before twheel is
 * initialised, which only code that is built into the kernel can see.
 */
struct twheel *twheel_default(void)
{
	/* Pairs with twheel_wheel_create_default(). */
	return READ_ONCE(default_wheel);
}
EXPORT_SYMBOL_GPL(twheel_default);

/**
 * twheel_number - return the number of a wheel in /proc/twheel
 * @wheel: the wheel
 *
 * Context: Any.
 * Return: the number, 1 for the default wheel.
 */
unsigned int twheel_number(const struct twheel *wheel)
{
	return wheel->number;
}
EXPORT_SYMBOL_GPL(twheel_number);

/**
 * twheel_get_config - return the parameters of a wheel
 * @wheel: the wheel
 * @config: result, with all defaults filled in, and the name of @wheel
 *
 * Context: Any.
 */
void twheel_get_config(const struct twheel *wheel, struct twheel_config *config)
{
	*config = wheel->config;
}
EXPORT_SYMBOL_GPL(twheel_get_config);

/* For /proc/twheel */

/*
 * Returns the wheel with the lowest number from *@number on, and sets *@number
 * to its number. The caller holds the RCU read lock.
 */
struct twheel *twheel_wheel_find(unsigned long *number)
{
	return xa_find(&wheels, number, ULONG_MAX, XA_PRESENT);
}

unsigned int twheel_wheel_count(void)
{
	return atomic_read(&nr_wheels);
}

/* For the module */

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
	twheel_wheel_unbound.clockid = wheel->config.clock;
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

	default_wheel = NULL;
	twheel_destroy(wheel);
	cpuhp_remove_multi_state(hotplug_state);
	/* See twheel_destroy(). */
	rcu_barrier();
}
