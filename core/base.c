// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: A base: the timers of one CPU, and the hrtimer that drives them
 *
 * The hrtimer is programmed on its own CPU only, under the lock of the base: by
 * twheel_tick() at its end, and by a start if the hrtimer is off or set too
 * late. A start on another CPU sends an IPI (kick). armed_tick tells a start
 * whether it has to check the hrtimer.
 *
 * Dozing. An hrtimer that fires every tick spares starts the programming, but
 * wakes an idle CPU. So a base dozes after some empty ticks in a row: the
 * hrtimer is set to the next slot that needs attention. The first start with an
 * earlier deadline ends the doze. A tickless base dozes after each run, and a
 * start with an earlier deadline only reprograms the hrtimer.
 *
 * When its CPU goes offline, a base hands its timers to the base of another
 * CPU. If no other base has slots, another CPU drives this base instead, until
 * the CPU is back. So nothing has to be allocated when a CPU goes offline.
 */
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "base.h"
#include "compat.h"
#include "twheel_info.h"

/* Programming the hrtimer. */

/*
 * End a doze: fire on every tick again. Ticks slept through do not count as
 * missed. If a timer is already due because the kick came late, fire
 * immediately. Returns the tick to fire at.
 */
static u64 end_doze(struct twheel_base *base)
{
	u64 now = twheel_tick_now(base);

	if (twheel_scheme_next(&base->scheme) <= now)
		now--;
	base->last_tick = max(base->last_tick, min(now, base->armed_tick - 1));
	base->armed_tick = 0;
	base->empty = 0;
	return base->last_tick + 1;
}

/*
 * Program the hrtimer. On a tickless base it fires at @tick, when a slot needs
 * attention. Any other base ends its doze.
 */
static void program_hrtimer(struct twheel_base *base, u64 tick)
{
	lockdep_assert_held(&base->lock);
	if (base->doze == 1)
		base->armed_tick = tick;
	else
		tick = end_doze(base);
	hrtimer_start(&base->hrtimer, twheel_time_of(base, tick),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* Interrupt on the base's CPU, for a start on another CPU: see kick_base(). */
static void twheel_kicked(void *info)
{
	struct twheel_base *base = info;

	raw_spin_lock(&base->lock);
	base->kicked = false;
	/* Another CPU may drive the base by now: then this kicks that CPU. */
	if (base->cpu != TWHEEL_NO_CPU && base->armed_tick &&
	    base->scheme.pending)
		twheel_base_arm(base, twheel_scheme_next(&base->scheme));
	raw_spin_unlock(&base->lock);
}

static void kick_base(struct twheel_base *base)
{
	if (base->kicked || base->cpu == TWHEEL_NO_CPU)
		return;
	/*
	 * This fails only if the CPU is offline, or the last kick is on its
	 * way.
	 */
	base->kicked = !WARN_ON_ONCE(smp_call_function_single_async(base->cpu,
								    &base->kick));
}

/*
 * Make sure that the hrtimer fires at @tick or earlier, for timers that were
 * just added. For all other timers it is already set early enough, so there is
 * no need to search for the earliest.
 */
void twheel_base_arm(struct twheel_base *base, u64 tick)
{
	if (tick >= base->armed_tick)
		return;
	if (base->cpu == smp_processor_id())
		program_hrtimer(base, tick);
	else
		kick_base(base);
}

/*
 * Bring the clock of a sleeping base up to date: its hrtimer is off, or set to
 * a later tick. The ticks slept through are over then, and a deadline among
 * them is due at the next tick, as on a base that was awake.
 */
void twheel_base_catch_up(struct twheel_base *base)
{
	u64 now = twheel_tick_now(base);
	int work = 1;

	/*
	 * Leave slots that need attention to the hrtimer's function.
	 * twheel_scheme_next() is expensive, but runs only once for many starts:
	 * the first start brings the clock up to date.
	 */
	if (base->scheme.pending && now > base->scheme.clock)
		now = min(now, twheel_scheme_next(&base->scheme) - 1);
	if (now <= base->scheme.clock)
		return;
	if (base->scheme.pending)
		twheel_scheme_pop(&base->scheme, now, &work);
	else
		twheel_scheme_skip(&base->scheme, now);
	base->last_tick = now;
}

bool twheel_base_spare_isolated = true;

static bool is_other_cpu(const struct cpumask *mask, unsigned int other,
			 unsigned int cpu)
{
	return other != cpu && cpumask_test_cpu(other, mask) &&
	       !twheel_base_is_isolated(other);
}

/*
 * Returns a CPU of @mask that is neither @cpu nor isolated, on the same node if
 * possible, or nr_cpu_ids. Spreads isolated CPUs evenly over the CPUs that it
 * returns for them.
 */
unsigned int twheel_base_other_cpu(const struct cpumask *mask, unsigned int cpu)
{
	const struct cpumask *node = cpumask_of_node(cpu_to_node(cpu));
	unsigned int near = 0, all = 0, isolated = 0, other, nth;

	for (other = 0; other < nr_cpu_ids; other++) {
		isolated += other < cpu && twheel_base_is_isolated(other);
		if (!is_other_cpu(mask, other, cpu))
			continue;
		all++;
		near += cpumask_test_cpu(other, node);
	}
	nth = all ? isolated % (near ?: all) : 0;
	for (other = 0; other < nr_cpu_ids; other++) {
		if (is_other_cpu(mask, other, cpu) &&
		    (!near || cpumask_test_cpu(other, node)) && !nth--)
			return other;
	}
	return nr_cpu_ids;
}

static unsigned int find_stand_in(const struct twheel *wheel, unsigned int cpu)
{
	unsigned int other = twheel_base_other_cpu(wheel->usable, cpu);

	if (other >= nr_cpu_ids)
		/*
		 * data_race: the caller checks this choice under the base's
		 * lock.
		 */
		other = data_race(cpumask_first(wheel->usable));
	return other < nr_cpu_ids ? other : cpu;
}

/*
 * Returns a CPU other than @cpu whose base accepts timers, an isolated one only
 * if there is no other. CPUs may come or go, so recheck under the base's lock.
 *
 * Called with interrupts off. This CPU keeps its choice until a base comes or
 * goes, because moving to another base would change the order of timers, and the
 * search visits all CPUs twice.
 */
unsigned int twheel_base_stand_in(const struct twheel *wheel, unsigned int cpu)
{
	/*
	 * Read this before @usable, so that a choice from an outdated @usable
	 * is not kept. Pairs with the writers of @usable.
	 */
	int changes = atomic_read_acquire(&wheel->usable_changes);
	struct twheel_base *base = wheel->bases[cpu];

	if (cpu != smp_processor_id())
		return find_stand_in(wheel, cpu);
	if (base->stand_in == TWHEEL_NO_CPU || base->stand_in_changes != changes ||
	    twheel_base_is_isolated(base->stand_in)) {
		base->stand_in = find_stand_in(wheel, cpu);
		base->stand_in_changes = changes;
	}
	return base->stand_in;
}

/*
 * Lock the base of @cpu, or another base if @cpu is offline or has no slots.
 * There always is a base with slots: the last one is never switched off,
 * because another CPU drives it when its CPU goes offline.
 */
struct twheel_base *twheel_base_lock_online(struct twheel *wheel,
					    unsigned int cpu)
	__acquires(wheel->bases[cpu]->lock)
{
	struct twheel_base *base = wheel->bases[cpu];

	raw_spin_lock(&base->lock);
	while (base->cpu == TWHEEL_NO_CPU) {
		raw_spin_unlock(&base->lock);
		base = wheel->bases[twheel_base_stand_in(wheel, cpu)];
		raw_spin_lock(&base->lock);
	}
	return base;
}

/* Creation and release */

static void free_slots(struct twheel_scheme *scheme)
{
	kvfree(scheme->slots);
	kvfree(scheme->occupied);
}

static int alloc_slots(struct twheel_base *base, struct twheel_scheme *scheme,
		       unsigned int cpu)
{
	const struct twheel_config *config = &base->wheel->config;
	u32 nr = twheel_scheme_slots(config->scheme, config->slots);
	int node = cpu_to_node(cpu);

	scheme->slots = kvmalloc_node(array_size(nr, sizeof(*scheme->slots)),
				      TWHEEL_GFP, node);
	scheme->occupied = kvzalloc_node(BITS_TO_LONGS(nr) * sizeof(long),
					 TWHEEL_GFP, node);
	if (!scheme->slots || !scheme->occupied) {
		free_slots(scheme);
		return -ENOMEM;
	}
	twheel_scheme_init(scheme, config->scheme, scheme->slots,
			   scheme->occupied, nr,
			   twheel_tick_now(base));
	return 0;
}

/* Accept timers on a base from now on, to expire on @cpu. */
static void enable_base(struct twheel_base *base, unsigned int cpu)
{
	lockdep_assert_held(&base->lock);
	base->cpu = cpu;
	twheel_base_update_isolated(base);
	/* The bit of another CPU, whose base @cpu drives, is still set. */
	if (base == base->wheel->bases[cpu])
		cpumask_set_cpu(cpu, base->wheel->usable);
	/* Pairs with twheel_base_stand_in(). */
	(void)atomic_inc_return_release(&base->wheel->usable_changes);
}

/*
 * Let a base use the slots of @scheme. Returns false if another caller was
 * first, and the caller has to free them.
 */
static bool install_slots(struct twheel_base *base,
			  const struct twheel_scheme *scheme, unsigned int cpu)
{
	bool first;

	raw_spin_lock_irq(&base->lock);
	first = !base->prepared;
	if (first) {
		base->scheme = *scheme;
		base->last_tick = scheme->clock;
		/* Pairs with twheel_prepare_cpu(). */
		WRITE_ONCE(base->prepared, true);
		if (base->online)
			enable_base(base, cpu);
	}
	raw_spin_unlock_irq(&base->lock);
	return first;
}

/* Give a base its slots, if it has none. Its CPU need not be online. */
int twheel_base_prepare(struct twheel_base *base, unsigned int cpu)
{
	struct twheel_scheme scheme;
	int ret = alloc_slots(base, &scheme, cpu);

	if (ret)
		return ret;
	if (!install_slots(base, &scheme, cpu))
		free_slots(&scheme);
	return 0;
}

void twheel_base_free(struct twheel_base *base)
{
	if (!base)
		return;
	free_slots(&base->scheme);
	kfree(base);
}

struct twheel_base *
twheel_base_alloc(struct twheel *wheel, unsigned int cpu,
		  enum hrtimer_restart (*tick)(struct hrtimer *hrtimer))
{
	struct twheel_base *base = kzalloc_node(sizeof(*base), TWHEEL_GFP,
						cpu_to_node(cpu));

	if (!base)
		return NULL;
	raw_spin_lock_init(&base->lock);
	twheel_expiry_init(&base->expiry);
	base->cpu = TWHEEL_NO_CPU;
	base->fast_cpu = TWHEEL_NO_CPU;
	base->stand_in = TWHEEL_NO_CPU;
	base->wheel = wheel;
	base->tick_ns = wheel->config.tick_ns;
	base->doze = wheel->config.doze;
	base->clockid = wheel->config.clock;
	base->clock_offset = twheel_base_time(base, 0);
	base->armed_tick = U64_MAX;
	base->next_tick_end = &base->tick_ends;
	base->timers_per_check = 1;
	twheel_hrtimer_setup(&base->hrtimer, tick, base->clockid,
			     HRTIMER_MODE_ABS_PINNED_SOFT);
	INIT_CSD(&base->kick, twheel_kicked, base);
	return base;
}

/* Wait until no IPI to this base is in flight. */
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

/* Stop and return any pending timer, or NULL. @slot: see twheel_scheme_any(). */
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

/* CPU hotplug */

/*
 * Mark a base as online, and accept timers if it has slots. Runs on the CPU
 * that comes online, or on any CPU while no timer is pending.
 */
void twheel_base_online(struct twheel_base *base, unsigned int cpu)
{
	raw_spin_lock_irq(&base->lock);
	base->online = true;
	if (base->prepared)
		enable_base(base, cpu);
	if (base->scheme.pending)
		twheel_base_arm(base, twheel_scheme_next(&base->scheme));
	raw_spin_unlock_irq(&base->lock);
}

/*
 * Stop the hrtimer of a base before another CPU drives the base. When this returns,
 * the hrtimer's function is not running, and no start programs the hrtimer.
 */
void twheel_base_halt(struct twheel_base *base)
{
	bool halted;

	do {
		hrtimer_cancel(&base->hrtimer);
		raw_spin_lock_irq(&base->lock);
		/* A start may have programmed the hrtimer in the meantime. */
		halted = !hrtimer_active(&base->hrtimer);
		if (halted)
			base->armed_tick = 0;
		raw_spin_unlock_irq(&base->lock);
	} while (!halted);
}

/* Let @cpu drive a base that was halted, even if it is the base of another CPU. */
void twheel_base_drive(struct twheel_base *base, unsigned int cpu)
{
	raw_spin_lock_irq(&base->lock);
	enable_base(base, cpu);
	base->armed_tick = U64_MAX;
	if (base->scheme.pending)
		twheel_base_arm(base, twheel_scheme_next(&base->scheme));
	raw_spin_unlock_irq(&base->lock);
}

/*
 * Mark the CPU of a base as offline, so that a base that receives its slots
 * later does not accept timers yet. Returns true if the base has slots already:
 * then its timers have to move to another CPU.
 */
bool twheel_base_leave(struct twheel_base *base)
{
	bool prepared;

	raw_spin_lock_irq(&base->lock);
	base->online = false;
	prepared = base->prepared;
	raw_spin_unlock_irq(&base->lock);
	return prepared;
}

/*
 * Move up to TWHEEL_MOVES_PER_LOCK timers from a base that is switched off to
 * @timers.
 */
static void take_timers(struct twheel_base *base, struct list_head *timers,
			u32 *slot)
{
	struct twheel_node *node;
	int i;

	for (i = 0; i < TWHEEL_MOVES_PER_LOCK; i++) {
		node = twheel_scheme_any(&base->scheme, slot);
		if (!node)
			return;
		twheel_scheme_leave(&base->scheme, node);
		twheel_link(&node->link, timers->prev, timers);
		WRITE_ONCE(twheel_timer_of(node)->base, TWHEEL_MOVING);
		base->counters.started--;
	}
}

static void put_timers(struct twheel_base *base, struct list_head *timers)
{
	struct twheel_node *node, *next;
	u64 tick = U64_MAX;

	if (base->armed_tick == U64_MAX)
		twheel_base_catch_up(base);
	list_for_each_entry_safe(node, next, timers, link) {
		twheel_scheme_start(&base->scheme, node);
		WRITE_ONCE(twheel_timer_of(node)->base, base);
		base->counters.started++;
		base->counters.moved++;
		tick = min(tick, twheel_scheme_next_for(&base->scheme, node));
	}
	twheel_base_arm(base, tick);
}

/*
 * Move some timers from a base that is switched off to another base. Returns
 * false if no timer is left. @slot: see twheel_scheme_any().
 *
 * Never holds two locks. While timers are on their way, callers that want to
 * lock one of them spin in twheel_lock_base(). So interrupts stay disabled: a
 * handler on this CPU would spin for ever.
 */
bool twheel_base_hand_on(struct twheel_base *base, u32 *slot)
{
	LIST_HEAD(timers);

	local_irq_disable();
	raw_spin_lock(&base->lock);
	take_timers(base, &timers, slot);
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

/*
 * Switch off the base of this CPU, which goes offline. twheel_base_hand_on()
 * moves its timers to another base.
 */
void twheel_base_switch_off(struct twheel_base *base, unsigned int cpu)
{
	raw_spin_lock_irq(&base->lock);
	base->cpu = TWHEEL_NO_CPU;
	base->fast_cpu = TWHEEL_NO_CPU;
	cpumask_clear_cpu(cpu, base->wheel->usable);
	/*
	 * Make the CPUs that use this base choose another one. Otherwise a
	 * start on a CPU without slots would try this base again and again,
	 * with interrupts off. Pairs with twheel_base_stand_in().
	 */
	(void)atomic_inc_return_release(&base->wheel->usable_changes);
	raw_spin_unlock_irq(&base->lock);
	hrtimer_cancel(&base->hrtimer);
}
