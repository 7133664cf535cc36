// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: A base: the timers of one CPU, and the hrtimer that drives them
 *
 * The hrtimer is programmed on its own CPU only, under the base's lock. A start
 * programs it if it is off or set too late, and twheel_tick() does so at its
 * end. A start on another CPU sends an IPI (kick). armed_tick says whether a
 * start has to look at it.
 *
 * Dozing. An hrtimer that fires every tick need not be programmed by a start, but
 * keeps an idle CPU from sleeping. So after some empty ticks in a row a base
 * dozes: the hrtimer is set for the next slot that needs attention. The first
 * start that is due earlier wakes the base. A tickless base is the case of one empty
 * tick. It dozes after each run, and a start that is due earlier only sets the hrtimer.
 *
 * When its CPU goes offline a base hands its timers on to one that is online.
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

/*
 * For callers that take timers out, which needs no fixup. The description that
 * timers are set up with is timer.c's.
 */
const struct debug_obj_descr twheel_base_debug_descr = {
	.name = "twheel_timer",
};

/* Programming the hrtimer. */

/*
 * It fires every tick from now on. Ticks that it has dozed through were not
 * missed. If something is due by now, whose kick has taken its time, it fires
 * at once.
 */
static u64 end_doze(struct twheel_base *base)
{
	u64 now = twheel_tick_now(base);

	if (twheel_scheme_next(&base->scheme) <= now)
		now--;
	base->reached = max(base->reached, min(now, base->armed_tick - 1));
	base->armed_tick = 0;
	base->empty = 0;
	return base->reached + 1;
}

/* @tick is when a base that goes on dozing has to look after its timers next. */
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

/**
 * twheel_kicked - program a base's hrtimer for callers that could not
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
		program_hrtimer(base, twheel_scheme_next(&base->scheme));
	raw_spin_unlock(&base->lock);
}

static void kick(struct twheel_base *base)
{
	if (base->kicked || base->cpu == TWHEEL_NO_CPU)
		return;
	/*
	 * Refused only for a CPU that is offline, whose base has no number, or
	 * while the last kick is on its way.
	 */
	base->kicked = !WARN_ON_ONCE(smp_call_function_single_async(base->cpu,
								    &base->kick));
}

/*
 * Timers have been placed that need the hrtimer at @tick: is it set for later?
 * Its present time is early enough for all other timers, so that nobody looks
 * for the earliest of all.
 */
void twheel_base_arm(struct twheel_base *base, u64 tick)
{
	if (tick >= base->armed_tick)
		return;
	if (base->cpu == smp_processor_id())
		program_hrtimer(base, tick);
	else
		kick(base);
}

/*
 * The hrtimer is off or sleeps: bring the clock up to date. The ticks that were
 * slept through are over then. A deadline among them is due at the next tick, as
 * on a base that was awake.
 */
void twheel_base_wake(struct twheel_base *base)
{
	u64 now = twheel_tick_now(base);
	int work = 1;

	/*
	 * Slots that need attention are for the hrtimer's function. The search for
	 * them is long: of a batch only the first start finds a clock that lags.
	 */
	if (base->scheme.pending && now > base->scheme.clock)
		now = min(now, twheel_scheme_next(&base->scheme) - 1);
	if (now <= base->scheme.clock)
		return;
	if (base->scheme.pending)
		twheel_scheme_pop(&base->scheme, now, &work);
	else
		twheel_scheme_skip(&base->scheme, now);
	base->reached = now;
}

bool twheel_base_spare_isolated = true;

static bool is_other_cpu(const struct cpumask *mask, unsigned int other,
			 unsigned int cpu)
{
	return other != cpu && cpumask_test_cpu(other, mask) &&
	       !twheel_base_is_spared(other);
}

/*
 * Returns a CPU of @mask other than @cpu that is not isolated, of the same node if there
 * is one, or nr_cpu_ids. Isolated CPUs spread over those that are not.
 */
unsigned int twheel_base_other_cpu(const struct cpumask *mask, unsigned int cpu)
{
	const struct cpumask *node = cpumask_of_node(cpu_to_node(cpu));
	unsigned int near = 0, all = 0, isolated = 0, other, turn;

	for (other = 0; other < nr_cpu_ids; other++) {
		isolated += other < cpu && twheel_base_is_spared(other);
		if (!is_other_cpu(mask, other, cpu))
			continue;
		all++;
		near += cpumask_test_cpu(other, node);
	}
	turn = all ? isolated % (near ?: all) : 0;
	for (other = 0; other < nr_cpu_ids; other++) {
		if (is_other_cpu(mask, other, cpu) &&
		    (!near || cpumask_test_cpu(other, node)) && !turn--)
			return other;
	}
	return nr_cpu_ids;
}

/*
 * A CPU other than @cpu on whose base timers can be started: one that is isolated
 * only if there is no other. A CPU may come or go meanwhile: the caller looks again
 * under the base's lock.
 */
unsigned int twheel_base_nearest(const struct twheel *wheel, unsigned int cpu)
{
	unsigned int near = twheel_base_other_cpu(wheel->usable, cpu);

	if (near >= nr_cpu_ids)
		/* As said above. */
		near = data_race(cpumask_first(wheel->usable));
	return near < nr_cpu_ids ? near : cpu;
}

/*
 * Lock the base of @cpu, or of another CPU if that one is not online or has no
 * slots. There is one: the base of the last CPU is never switched off, and a
 * lazy wheel is given slots elsewhere before the last base with slots is.
 */
struct twheel_base *twheel_base_lock_online(struct twheel *wheel,
					    unsigned int cpu)
	__acquires(wheel->bases[cpu]->lock)
{
	struct twheel_base *base = wheel->bases[cpu];

	raw_spin_lock(&base->lock);
	while (unlikely(base->cpu == TWHEEL_NO_CPU)) {
		raw_spin_unlock(&base->lock);
		base = wheel->bases[twheel_base_nearest(wheel, cpu)];
		raw_spin_lock(&base->lock);
	}
	return base;
}

/* Making and freeing. */

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

/* Timers can be started on the base from now on. */
static void use(struct twheel_base *base, unsigned int cpu)
{
	lockdep_assert_held(&base->lock);
	base->cpu = cpu;
	twheel_base_look_for_isolation(base);
	cpumask_set_cpu(cpu, base->wheel->usable);
	atomic_inc(&base->wheel->usable_changes);
}

/* Returns false if somebody else was first. */
static bool install_slots(struct twheel_base *base,
			  const struct twheel_scheme *scheme, unsigned int cpu)
{
	bool first;

	raw_spin_lock_irq(&base->lock);
	first = !base->prepared;
	if (first) {
		base->scheme = *scheme;
		base->reached = scheme->clock;
		/* Pairs with twheel_prepare(), which wants to know no more. */
		WRITE_ONCE(base->prepared, true);
		if (base->online)
			use(base, cpu);
	}
	raw_spin_unlock_irq(&base->lock);
	return first;
}

/**
 * twheel_base_prepare - give a base its slots, if it has none
 * @base: the base
 * @cpu: its CPU, which need not be online
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
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
	base->local = TWHEEL_NO_CPU;
	base->other = TWHEEL_NO_CPU;
	base->wheel = wheel;
	base->tick_ns = wheel->config.tick_ns;
	base->doze = wheel->config.doze;
	base->clock = wheel->config.clock;
	base->ahead = twheel_base_time(base, 0);
	base->armed_tick = U64_MAX;
	base->next_tick_end = &base->tick_ends;
	base->timers_per_look = 1;
	twheel_hrtimer_setup(&base->hrtimer, tick, base->clock,
			     HRTIMER_MODE_ABS_PINNED_SOFT);
	INIT_CSD(&base->kick, twheel_kicked, base);
	if (!wheel->config.lazy && twheel_base_prepare(base, cpu)) {
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
 * @slot: where to go on. See twheel_scheme_any()
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

/**
 * twheel_base_look - look at the first timers of a slot
 * @base: the base
 * @slot: where to look for a slot that has timers. Set to the slot after it
 * @fn: called for each of up to %TWHEEL_MOVES_PER_LOCK of them, with @base->lock
 *	held
 * @arg: passed to @fn
 *
 * Context: Process.
 * Return: false if there was none any more.
 */
bool twheel_base_look(struct twheel_base *base, u32 *slot,
		      void (*fn)(struct twheel_timer *timer, void *arg),
		      void *arg)
{
	struct twheel_scheme *scheme = &base->scheme;
	int left = TWHEEL_MOVES_PER_LOCK;
	struct twheel_node *node;
	bool found = false;

	raw_spin_lock_irq(&base->lock);
	if (scheme->pending) {
		*slot = find_next_bit(scheme->occupied, scheme->nr_slots, *slot);
		found = *slot < scheme->nr_slots;
	}
	if (found) {
		list_for_each_entry(node, &scheme->slots[*slot].nodes, link) {
			if (!left--)
				break;
			fn(twheel_timer_of(node), arg);
		}
		++*slot;
	}
	raw_spin_unlock_irq(&base->lock);
	return found;
}

/* CPU hotplug. */

/**
 * twheel_base_online - a base's CPU has come
 * @base: the base
 * @cpu: the CPU
 *
 * Context: Process, on that CPU. On any while no timer can be pending.
 */
void twheel_base_online(struct twheel_base *base, unsigned int cpu)
{
	raw_spin_lock_irq(&base->lock);
	base->online = true;
	if (base->prepared)
		use(base, cpu);
	if (base->scheme.pending)
		program_hrtimer(base, twheel_scheme_next(&base->scheme));
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
		WRITE_ONCE(twheel_timer_of(node)->base, TWHEEL_MOVING);
		base->counters.started--;
	}
}

static void put_timers(struct twheel_base *base, struct list_head *timers)
{
	struct twheel_node *node, *next;
	u64 wakeup = U64_MAX;

	if (base->armed_tick == U64_MAX)
		twheel_base_wake(base);
	list_for_each_entry_safe(node, next, timers, link) {
		twheel_scheme_start(&base->scheme, node);
		WRITE_ONCE(twheel_timer_of(node)->base, base);
		base->counters.started++;
		base->counters.moved++;
		wakeup = min(wakeup, twheel_scheme_wakeup(&base->scheme, node));
	}
	twheel_base_arm(base, wakeup);
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
 * @cpu: the CPU
 *
 * Its timers go to another base in chunks, with one lock at a time. A caller
 * that looks for one of them meanwhile waits in twheel_lock_base().
 *
 * Context: Process, on that CPU, which user programs have left.
 */
void twheel_base_offline(struct twheel_base *base, unsigned int cpu)
{
	raw_spin_lock_irq(&base->lock);
	base->online = false;
	base->cpu = TWHEEL_NO_CPU;
	base->local = TWHEEL_NO_CPU;
	cpumask_clear_cpu(cpu, base->wheel->usable);
	atomic_inc(&base->wheel->usable_changes);
	raw_spin_unlock_irq(&base->lock);
	hrtimer_cancel(&base->hrtimer);
	while (hand_on_timers(base))
		cond_resched();
}
