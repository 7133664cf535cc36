// SPDX-License-Identifier: GPL-2.0
/*
 * A base: the timers of one CPU, and the hrtimer that drives them
 *
 * The hrtimer is programmed on its own CPU only, under the base's lock: by a
 * start that finds it off or set too late, by twheel_tick() at its end, and
 * through an IPI (kick) for a start on behalf of another CPU. armed_tick says
 * whether a start has to look at it.
 *
 * When its CPU goes offline a base hands its timers on to one that is online.
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "twheel_base.h"

static void *debug_hint(void *addr)
{
	return ((struct twheel_timer *)addr)->fn;
}

/* Debug objects: misuse and freeing of pending timers, where configured. */
const struct debug_obj_descr twheel_base_debug_descr = {
	.name		= "twheel_timer",
	.debug_hint	= debug_hint,
};

/* Programming the hrtimer. */

static void program_hrtimer(struct twheel_base *base)
{
	u64 tick = base->scheme.clock + 1;

	lockdep_assert_held(&base->lock);
	if (base->mode == TWHEEL_TICKLESS)
		tick = twheel_scheme_next(&base->scheme);
	base->armed_tick = base->mode == TWHEEL_TICKLESS ? tick : 0;
	hrtimer_start(&base->hrtimer, twheel_time_of(base, tick),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/**
 * twheel_kicked - program a base's hrtimer for those who could not
 * @info: the base
 *
 * Context: Hard interrupt, on the base's CPU.
 */
static void twheel_kicked(void *info)
{
	struct twheel_base *base = info;

	raw_spin_lock(&base->lock);
	base->kicked = false;
	if (base->cpu != TWHEEL_NO_CPU && base->armed_tick &&
	    base->scheme.pending)
		program_hrtimer(base);
	raw_spin_unlock(&base->lock);
}

static void kick(struct twheel_base *base)
{
	if (base->kicked || base->cpu == TWHEEL_NO_CPU)
		return;
	base->kicked = true;
	smp_call_function_single_async(base->cpu, &base->kick);
}

static void program_or_kick(struct twheel_base *base)
{
	if (base->cpu == smp_processor_id())
		program_hrtimer(base);
	else
		kick(base);
}

/* @timer was placed just now: does it need the hrtimer earlier than it is set? */
void twheel_base_arm(struct twheel_base *base, const struct twheel_timer *timer)
{
	if (twheel_scheme_wakeup(&base->scheme, &timer->node) < base->armed_tick)
		program_or_kick(base);
}

/* Nothing is pending and the hrtimer is off: bring the clock up to date. */
void twheel_base_wake(struct twheel_base *base)
{
	u64 now = twheel_tick_of(base, ktime_get());

	if (!base->scheme.pending && now > base->scheme.clock) {
		twheel_scheme_skip(&base->scheme, now);
		base->reached = now;
	}
}

/*
 * Lock the base of @cpu, or of another CPU if that one is not online. There
 * is one: the base of the last CPU is never switched off.
 */
struct twheel_base *twheel_base_lock_online(struct twheel *wheel,
					    unsigned int cpu)
	__acquires(wheel->bases[cpu]->lock)
{
	struct twheel_base *base = wheel->bases[cpu];

	raw_spin_lock(&base->lock);
	while (unlikely(base->cpu == TWHEEL_NO_CPU)) {
		raw_spin_unlock(&base->lock);
		cpu = cpumask_next(cpu, cpu_possible_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_possible_mask);
		base = wheel->bases[cpu];
		raw_spin_lock(&base->lock);
	}
	return base;
}

/* Making and freeing. */

void twheel_base_free(struct twheel_base *base)
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
			     TWHEEL_GFP, node);
	occupied = kvzalloc_node(BITS_TO_LONGS(nr) * sizeof(long),
				 TWHEEL_GFP, node);
	base->scheme.slots = slot;
	base->scheme.occupied = occupied;
	if (!slot || !occupied)
		return -ENOMEM;
	twheel_scheme_init(&base->scheme, config->scheme, slot, occupied, nr,
			   twheel_tick_of(base, ktime_get()));
	return 0;
}

struct twheel_base *
twheel_base_alloc(struct twheel *wheel, unsigned int cpu,
		  enum hrtimer_restart (*tick)(struct hrtimer *hrtimer))
{
	int node = cpu_to_node(cpu);
	struct twheel_base *base = kzalloc_node(sizeof(*base),
						TWHEEL_GFP, node);

	if (!base)
		return NULL;
	raw_spin_lock_init(&base->lock);
	twheel_expiry_init(&base->expiry_lock);
	base->cpu = TWHEEL_NO_CPU;
	base->wheel = wheel;
	base->tick_ns = wheel->config.tick_ns;
	base->mode = wheel->config.mode;
	base->armed_tick = U64_MAX;
	base->next_tick_end = &base->tick_ends;
	twheel_hrtimer_setup(&base->hrtimer, tick,
			     HRTIMER_MODE_ABS_PINNED_SOFT);
	INIT_CSD(&base->kick, twheel_kicked, base);
	if (init_scheme(base, node)) {
		twheel_base_free(base);
		return NULL;
	}
	return base;
}

/* Wait until no IPI to this base is on its way. */
void twheel_base_wait_for_kick(struct twheel_base *base)
{
	bool kicked;

	do {
		raw_spin_lock_irq(&base->lock);
		kicked = base->kicked;
		raw_spin_unlock_irq(&base->lock);
		cpu_relax();
	} while (kicked);
}

void twheel_base_snapshot(struct twheel_base *base,
			  struct twheel_snapshot *snapshot)
{
	raw_spin_lock_irq(&base->lock);
	snapshot->counters = base->counters;
	snapshot->pending = base->scheme.pending;
	snapshot->cascaded = base->scheme.cascaded;
	raw_spin_unlock_irq(&base->lock);
}

/**
 * twheel_base_stop_any - stop one of a base's timers
 * @base: the base
 * @slot: where to go on; see twheel_scheme_any()
 *
 * Context: Process.
 * Return: a timer that was pending, or NULL if none was.
 */
struct twheel_timer *twheel_base_stop_any(struct twheel_base *base, u32 *slot)
{
	struct twheel_timer *timer = NULL;
	struct twheel_node *node;

	raw_spin_lock_irq(&base->lock);
	node = twheel_scheme_any(&base->scheme, slot);
	if (node) {
		timer = twheel_timer_of(node);
		twheel_base_stop(base, timer);
	}
	raw_spin_unlock_irq(&base->lock);
	return timer;
}

/* CPU hotplug. */

/**
 * twheel_base_online - a base's CPU has come
 * @base: the base
 * @cpu: the CPU
 *
 * Context: Process, on that CPU.
 */
void twheel_base_online(struct twheel_base *base, unsigned int cpu)
{
	raw_spin_lock_irq(&base->lock);
	base->cpu = cpu;
	if (base->scheme.pending)
		program_hrtimer(base);
	raw_spin_unlock_irq(&base->lock);
}

/* Take up to TWHEEL_MOVES_PER_LOCK timers off a base that is going away. */
static void take_timers(struct twheel_base *base, struct list_head *timers)
{
	u32 slot = base->scheme.nr_slots;
	struct twheel_node *node;
	int i;

	for (i = 0; i < TWHEEL_MOVES_PER_LOCK; i++) {
		node = twheel_scheme_any(&base->scheme, &slot);
		if (!node)
			return;
		twheel_scheme_leave(&base->scheme, node);
		twheel_link(&node->link, timers->prev, timers);
		WRITE_ONCE(twheel_timer_of(node)->base, NULL);
		base->counters.started--;
	}
}

static void put_timers(struct twheel_base *base, struct list_head *timers)
{
	struct twheel_node *node, *next;

	if (base->armed_tick == U64_MAX)
		twheel_base_wake(base);
	list_for_each_entry_safe(node, next, timers, link) {
		twheel_scheme_start(&base->scheme, node);
		WRITE_ONCE(twheel_timer_of(node)->base, base);
		base->counters.started++;
		base->counters.moved++;
		twheel_base_arm(base, twheel_timer_of(node));
	}
}

/*
 * Returns false when no timer is left. Interrupts stay off from one base to
 * the other: one that wanted such a timer would wait for us for ever.
 */
static bool hand_on_timers(struct twheel_base *base)
{
	LIST_HEAD(timers);

	local_irq_disable();
	raw_spin_lock(&base->lock);
	take_timers(base, &timers);
	base->armed_tick = U64_MAX;
	raw_spin_unlock(&base->lock);
	if (!list_empty(&timers)) {
		base = twheel_base_lock_online(base->wheel, smp_processor_id());
		put_timers(base, &timers);
		raw_spin_unlock(&base->lock);
	}
	local_irq_enable();
	return !list_empty(&timers);
}

/**
 * twheel_base_offline - a base's CPU goes away
 * @base: the base
 *
 * Its timers go to another base in chunks, with one lock at a time. Whoever
 * looks for one of them meanwhile waits in twheel_lock_base().
 *
 * Context: Process, on that CPU, which user programs have left.
 */
void twheel_base_offline(struct twheel_base *base)
{
	raw_spin_lock_irq(&base->lock);
	base->cpu = TWHEEL_NO_CPU;
	raw_spin_unlock_irq(&base->lock);
	hrtimer_cancel(&base->hrtimer);
	while (hand_on_timers(base))
		cond_resched();
}
