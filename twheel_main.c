// SPDX-License-Identifier: GPL-2.0
/*
 * Wheels, and the module
 *
 * A wheel has one base for each possible CPU. A base is a lock, the timers of
 * one scheme (twheel_hier.c, twheel_hashed.c), and an hrtimer that fires in
 * softirq context on the base's CPU (twheel_tick.c). What starts and stops
 * timers is twheel_timer.c.
 *
 * Each wheel is an instance of one CPU hotplug state: that is what switches a
 * base on and off. The module makes a default wheel from its parameters.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "twheel_internal.h"

/* Who asks for a wheel may be at a limit: an error will do. */
#define GFP_WHEEL	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

static unsigned int tick_us = 1000;
module_param(tick_us, uint, 0444);
MODULE_PARM_DESC(tick_us, "Tick of the default wheel, 50 to 1000000 us");

static char *scheme = "hier";
module_param(scheme, charp, 0444);
MODULE_PARM_DESC(scheme,
		 "Scheme of the default wheel: hier, hashed, hashed_sorted");

static char *mode = "periodic";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "Tick mode of the default wheel: periodic, tickless");

static unsigned int slots;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots,
		 "Slots of a hashed default wheel, 2 to 2^20 (default 4096)");

static const char * const scheme_names[TWHEEL_NR_SCHEMES] = {
	[TWHEEL_HIER]		= "hier",
	[TWHEEL_HASHED]		= "hashed",
	[TWHEEL_HASHED_SORTED]	= "hashed_sorted",
};

static const char * const mode_names[TWHEEL_NR_MODES] = {
	[TWHEEL_PERIODIC]	= "periodic",
	[TWHEEL_TICKLESS]	= "tickless",
};

static LIST_HEAD(wheels);		/* guarded by wheels_lock */
static DEFINE_MUTEX(wheels_lock);
static enum cpuhp_state hotplug_state;	/* constant after init */
static struct twheel *default_wheel;	/* constant after init */

/* Names that /proc shows and parameters take. */

const char *twheel_scheme_name(enum twheel_scheme_type type)
{
	return scheme_names[type];
}

const char *twheel_mode_name(enum twheel_mode tick_mode)
{
	return mode_names[tick_mode];
}

/* CPU hotplug. */

static int base_online(unsigned int cpu, struct hlist_node *node)
{
	struct twheel *wheel = hlist_entry(node, struct twheel, cpuhp);

	twheel_base_online(wheel->bases[cpu], cpu);
	return 0;
}

static int base_offline(unsigned int cpu, struct hlist_node *node)
{
	struct twheel *wheel = hlist_entry(node, struct twheel, cpuhp);

	twheel_base_offline(wheel->bases[cpu]);
	return 0;
}

/* Making and destroying wheels. */

static int check_config(struct twheel_config *config)
{
	if (config->scheme >= TWHEEL_NR_SCHEMES ||
	    config->mode >= TWHEEL_NR_MODES)
		return -EINVAL;
	if (!config->tick_ns)
		config->tick_ns = tick_us * NSEC_PER_USEC;
	if (config->tick_ns < TWHEEL_TICK_NS_MIN ||
	    config->tick_ns > TWHEEL_TICK_NS_MAX)
		return -EINVAL;
	if (config->scheme == TWHEEL_HIER)
		return config->slots ? -EINVAL : 0;
	if (!config->slots)
		config->slots = TWHEEL_SLOTS_DEFAULT;
	if (config->slots < TWHEEL_SLOTS_MIN ||
	    config->slots > TWHEEL_SLOTS_MAX)
		return -EINVAL;
	config->slots = roundup_pow_of_two(config->slots);
	return 0;
}

static void free_base(struct twheel_base *base)
{
	if (!base)
		return;
	kvfree(base->scheme.slots);
	kvfree(base->scheme.occupied);
	kfree(base);
}

static int init_scheme(struct twheel_base *base, int node)
{
	const struct twheel_config *config = &base->wheel->config;
	u32 nr = twheel_scheme_slots(config->scheme, config->slots);
	struct twheel_slot *slot;
	unsigned long *occupied;

	slot = kvmalloc_node(array_size(nr, sizeof(*slot)),
			     GFP_WHEEL, node);
	occupied = kvzalloc_node(BITS_TO_LONGS(nr) * sizeof(long),
				 GFP_WHEEL, node);
	base->scheme.slots = slot;
	base->scheme.occupied = occupied;
	if (!slot || !occupied)
		return -ENOMEM;
	twheel_scheme_init(&base->scheme, config->scheme, slot, occupied, nr,
			   twheel_tick_of(base, ktime_get()));
	return 0;
}

static struct twheel_base *alloc_base(struct twheel *wheel, unsigned int cpu)
{
	int node = cpu_to_node(cpu);
	struct twheel_base *base = kzalloc_node(sizeof(*base),
						GFP_WHEEL, node);

	if (!base)
		return NULL;
	raw_spin_lock_init(&base->lock);
	twheel_expiry_init(&base->expiry_lock);
	base->cpu = TWHEEL_NO_CPU;
	base->wheel = wheel;
	base->tick_ns = wheel->config.tick_ns;
	base->mode = wheel->config.mode;
	base->armed_tick = U64_MAX;
	base->tails_end = &base->tails;
	twheel_hrtimer_setup(&base->hrtimer, twheel_tick,
			     HRTIMER_MODE_ABS_PINNED_SOFT);
	INIT_CSD(&base->kick, twheel_kicked, base);
	if (init_scheme(base, node)) {
		free_base(base);
		return NULL;
	}
	return base;
}

static void free_wheel(struct twheel *wheel)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		free_base(wheel->bases[cpu]);
	kfree(wheel);
}

static struct twheel *alloc_wheel(const struct twheel_config *config)
{
	struct twheel *wheel;
	unsigned int cpu;

	wheel = kzalloc(struct_size(wheel, bases, nr_cpu_ids),
			GFP_WHEEL);
	if (!wheel)
		return NULL;
	wheel->config = *config;
	strscpy(wheel->name, config->name ?: "unnamed", sizeof(wheel->name));
	wheel->config.name = wheel->name;
	for_each_possible_cpu(cpu) {
		wheel->bases[cpu] = alloc_base(wheel, cpu);
		if (!wheel->bases[cpu]) {
			free_wheel(wheel);
			return NULL;
		}
	}
	return wheel;
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
	int ret = check_config(&checked);

	if (ret)
		return ERR_PTR(ret);
	wheel = alloc_wheel(&checked);
	if (!wheel)
		return ERR_PTR(-ENOMEM);
	ret = cpuhp_state_add_instance(hotplug_state, &wheel->cpuhp);
	if (ret) {
		free_wheel(wheel);
		return ERR_PTR(ret);
	}
	mutex_lock(&wheels_lock);
	list_add_tail(&wheel->list, &wheels);
	mutex_unlock(&wheels_lock);
	return wheel;
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

	while ((timer = twheel_stop_any(base, &slot))) {
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
 *	promised order but that of one tick's timers of one base; or NULL
 * @arg: passed to @fn
 *
 * The caller sees to it that nothing starts timers meanwhile: those may or
 * may not be found. Callbacks that run are not waited for. A wheel to be
 * drained must not be used by a struct twheel_work: its timer would be stopped
 * behind its back.
 *
 * Context: Process, may sleep, and so may @fn; not from CPU hotplug callbacks.
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

/* Wait until no IPI to this base is on its way. */
static void wait_for_kick(struct twheel_base *base)
{
	bool kicked;

	do {
		raw_spin_lock_irq(&base->lock);
		kicked = base->kicked;
		raw_spin_unlock_irq(&base->lock);
		cpu_relax();
	} while (kicked);
}

/**
 * twheel_destroy - free a wheel
 * @wheel: a wheel from twheel_create(), or NULL. None of its timers may be
 *	pending, nor be used afterwards
 *
 * Waits for callbacks that run. If timers are pending all the same, that is
 * the caller's error: they are stopped, with a warning.
 *
 * Context: Process, may sleep; not a callback.
 */
void twheel_destroy(struct twheel *wheel)
{
	unsigned int cpu;

	if (!wheel)
		return;
	/* From a callback it would wait for itself: better leak it. */
	if (WARN_ON_ONCE(in_interrupt()))
		return;
	mutex_lock(&wheels_lock);
	list_del(&wheel->list);
	mutex_unlock(&wheels_lock);
	cpuhp_state_remove_instance_nocalls(hotplug_state, &wheel->cpuhp);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&wheel->bases[cpu]->hrtimer);
	WARN_ON_ONCE(twheel_drain(wheel, NULL, NULL));
	for_each_possible_cpu(cpu)
		wait_for_kick(wheel->bases[cpu]);
	/* The last kick may have let the flag go and not yet the lock. */
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&wheel->bases[cpu]->hrtimer);
	free_wheel(wheel);
}
EXPORT_SYMBOL_GPL(twheel_destroy);

/**
 * twheel_default - the wheel that the module made from its parameters
 *
 * Context: Any.
 * Return: the wheel; it lives as long as the module.
 */
struct twheel *twheel_default(void)
{
	return default_wheel;
}
EXPORT_SYMBOL_GPL(twheel_default);

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

void twheel_take_snapshot(struct twheel_base *base,
			  struct twheel_snapshot *snapshot)
{
	raw_spin_lock_irq(&base->lock);
	snapshot->counters = base->counters;
	snapshot->pending = base->scheme.pending;
	snapshot->cascaded = base->scheme.cascaded;
	raw_spin_unlock_irq(&base->lock);
}

int twheel_for_each(int (*fn)(struct twheel *wheel, void *arg), void *arg)
{
	struct twheel *wheel;
	int ret = 0;

	mutex_lock(&wheels_lock);
	list_for_each_entry(wheel, &wheels, list) {
		ret = fn(wheel, arg);
		if (ret)
			break;
	}
	mutex_unlock(&wheels_lock);
	return ret;
}

/* The module. */

static int parse_parameters(struct twheel_config *config)
{
	int type = match_string(scheme_names, TWHEEL_NR_SCHEMES, scheme);
	int tick_mode = match_string(mode_names, TWHEEL_NR_MODES, mode);

	if (type < 0) {
		pr_err("scheme=%s: not hier, hashed or hashed_sorted\n",
		       scheme);
		return -EINVAL;
	}
	if (tick_mode < 0) {
		pr_err("mode=%s: not periodic or tickless\n", mode);
		return -EINVAL;
	}
	if (tick_us < 50 || tick_us > USEC_PER_SEC) {
		pr_err("tick_us=%u: not from 50 to 1000000\n", tick_us);
		return -EINVAL;
	}
	*config = (struct twheel_config) {
		.name = "default",
		.scheme = type,
		.mode = tick_mode,
		.slots = slots,
	};
	if (check_config(config)) {
		pr_err("slots=%u: not from 2 to 1048576, or scheme=hier\n",
		       slots);
		return -EINVAL;
	}
	return 0;
}

static int __init create_default_wheel(void)
{
	struct twheel_config config;
	int ret = parse_parameters(&config);

	if (ret)
		return ret;
	default_wheel = twheel_create(&config);
	return PTR_ERR_OR_ZERO(default_wheel);
}

static int __init twheel_init(void)
{
	int ret;

	ret = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "twheel:online",
				      base_online, base_offline);
	if (ret < 0)
		return ret;
	hotplug_state = ret;
	ret = create_default_wheel();
	if (ret)
		goto err_hotplug;
	ret = twheel_proc_init();
	if (ret)
		goto err_wheel;
	ret = twheel_chardev_init();
	if (ret)
		goto err_proc;
	pr_info("%s wheel, %s tick of %u us\n", scheme, mode, tick_us);
	return 0;

err_proc:
	twheel_proc_exit();
err_wheel:
	twheel_destroy(default_wheel);
err_hotplug:
	cpuhp_remove_multi_state(hotplug_state);
	return ret;
}

static void __exit twheel_exit(void)
{
	twheel_chardev_exit();
	twheel_proc_exit();
	twheel_destroy(default_wheel);
	cpuhp_remove_multi_state(hotplug_state);
}

module_init(twheel_init);
module_exit(twheel_exit);

MODULE_AUTHOR("The twheel developers");
MODULE_DESCRIPTION("Hashed and hierarchical timing wheels");
MODULE_LICENSE("GPL");
