// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of what twheel promises about its bases
 *
 * Timers may be late while their base is held up, by the machine or by a pause that the throttle
 * makes. A base is held up while its hrtimer is overdue, while the function of its hrtimer runs,
 * between a kick and its interrupt, and in a pause. In struct sim_held, @since is the time from
 * which on the base has been held up without a gap.
 */
#include "sim.h"
#include "oracle.h"

/* For each CPU: the counters of the base that it locked last, copied when it took the lock. */
static struct twheel_counters before[SIM_CPUS];
static u64 cascaded_before[SIM_CPUS];
/*
 * Places in one order of events: those at which each CPU last took the lock of a base, and the last
 * place given out, to a lock or to the store of a deadline.
 */
static u64 locked[SIM_CPUS], order;

/* Number of times that a wheel asked the owner of a timer, and was told a deadline. */
u64 sim_asked;

/* Time that ticks took on each CPU, less half of the time that passed. */
static struct {
	u64 at;
	s64 debt_ns;
	bool paid;	/* flag: some of this time was taken by payers */
} taken[SIM_CPUS];

/* Number of timers that are checked when the lock of a sleeping base is released. */
#define CHECKED_ASLEEP	64

void oracle_begin_bases(void)
{
	memset(taken, 0, sizeof(taken));
}

static struct twheel_base *base_of(struct hrtimer *hrtimer)
{
	return container_of(hrtimer, struct twheel_base, hrtimer);
}

void oracle_new_base(struct hrtimer *hrtimer)
{
	hrtimer->held.since = sim.now;
	hrtimer->held.forgiven = sim.behind;
}

/*
 * Note that a base is held up from now on. If its hrtimer is overdue, the base has been held up
 * since the time at which the hrtimer should have fired.
 */
static void hold_up(struct hrtimer *hrtimer)
{
	struct sim_held *held = &hrtimer->held;

	if (held->is)
		return;
	held->is = true;
	held->since = sim.now;
	if (hrtimer->queued && (u64)hrtimer->expires < sim.now)
		held->since = hrtimer->expires;
}

/*
 * Note that the hrtimer of a base is cancelled, for example by a CPU that takes the base over. If
 * the hrtimer was overdue, the base is held up from then on.
 */
void oracle_cancelled(struct hrtimer *hrtimer)
{
	if ((u64)hrtimer->expires < sim.now)
		hold_up(hrtimer);
}

static void go_on(struct hrtimer *hrtimer)
{
	struct sim_held *held = &hrtimer->held;

	if (hrtimer->running || held->kicked)
		return;
	if (hrtimer->queued && (base_of(hrtimer)->throttled ||
				(u64)hrtimer->expires <= sim.now))
		return;
	held->is = false;
}

void oracle_kick_sent(struct twheel_base *base)
{
	if (!base->scheme.pending)
		sim_fail("a base is kicked for nothing");
	hold_up(&base->hrtimer);
	base->hrtimer.held.kicked++;
}

void oracle_kicked(struct twheel_base *base)
{
	struct hrtimer *hrtimer = &base->hrtimer;

	hrtimer->held.kicked--;
	go_on(hrtimer);
	if (sim_verbose)
		sim_note("base %u was kicked, reached %llu next %llu, armed %llu, %s at %llu",
			 base->cpu, base->last_tick,
			 twheel_scheme_next(&base->scheme), base->armed_tick,
			 hrtimer->queued ? "set" : "off", hrtimer->expires);
}

void oracle_run_begins(struct hrtimer *hrtimer)
{
	struct sim_held *held = &hrtimer->held;
	struct twheel_base *base = base_of(hrtimer);

	if (!held->is)
		held->since = hrtimer->expires;
	held->is = true;
	if (sim_verbose)
		sim_note("base %u runs, clock %llu, set for %llu, held up since %llu",
			 base->cpu, base->scheme.clock, hrtimer->expires,
			 held->since);
	held->begin = sim.now;
	held->woke = sim.woke;
	held->first = 0;
	held->work = 0;
	held->waited = base->throttled;
	held->expired = base->counters.expired;
	held->cascaded = base->scheme.cascaded;
	held->asked = sim_asked;
	held->clock = base->scheme.clock;
	held->cursor = base->scheme.hand;
}

/*
 * Check that a run finds its base's locks free, and knows that they are free. Otherwise the run
 * would sleep until another task, perhaps one with a low priority, releases the lock.
 */
void oracle_takes(const struct sim_lock *lock)
{
	const struct twheel_base *base = sim_task->hrtimer ? base_of(sim_task->hrtimer) : NULL;

	if (!base || (unsigned long)lock - (unsigned long)base >= sizeof(*base))
		return;
	if (lock->owner)
		sim_fail("a run sleeps on a lock of its base");
	if (!sim_weak_knows(&lock->clock, lock->freed_by))
		sim_fail("a run may find a lock of its base held that is free");
}

/*
 * Note the end of a run. The next run may begin without oracle_run_begins(), because a CPU that
 * goes offline runs the base as well, but not in a softirq.
 */
void oracle_tick(const struct twheel_base *base)
{
	struct sim_held *held = &((struct twheel_base *)base)->hrtimer.held;

	held->first = 0;
	held->work = 0;
}

/*
 * Check that wheels take at most half of a CPU. The time that they took beyond half is a debt. The
 * throttle forgives most of the debt of a long callback, so a run counts at most 2 * RUN_NS_MAX. It
 * does not forgive debts of payers, but no wheel waits while such a debt is below PAID_DEBT_NS_MAX.
 * A run is not charged for the time from its last clock read to its end, in which the CPU may wait
 * for a lock, so a wheel that is busy for long may take a little more than half.
 */
static void check_throttle(const struct sim_held *held,
			   const struct twheel_base *base)
{
	u64 length = min_t(u64, sim.now - held->begin, 2 * RUN_NS_MAX);
	s64 debt = taken[sim.cpu].debt_ns;

	debt -= (s64)(sim.now - taken[sim.cpu].at) / 2;
	debt = max_t(s64, debt, 0) + (s64)length;
	taken[sim.cpu].at = sim.now;
	taken[sim.cpu].debt_ns = debt;
	taken[sim.cpu].paid |= !!base->payer;
	if (debt > 8 * RUN_NS_MAX + (taken[sim.cpu].paid ? PAID_DEBT_NS_MAX : 0))
		sim_fail("ticks have taken %lld ns more than half of the CPU",
			 debt);
}

static void check_pause(struct hrtimer *hrtimer, struct twheel_base *base)
{
	const struct sim_held *held = &hrtimer->held;
	s64 pause = hrtimer->expires - (s64)sim.now;

	if (!base->throttled || !hrtimer->queued)
		return;
	/* A payer may pause for longer: it pays for its wake-ups, and waits for other payers. */
	if (pause > (base->payer ? PAID_PAUSE_NS_MAX : PAUSE_NS_MAX))
		sim_fail("a pause of %lld ns", pause);
	if (!SIM_RT && !base->payer && held->waited && held->expired == base->counters.expired &&
	    held->cascaded == base->scheme.cascaded && held->clock == base->scheme.clock &&
	    held->cursor == base->scheme.hand)
		sim_fail("a wheel waited for its period and does nothing in it");
}

/*
 * Check that moves from an outer slot are spread over ticks. Moves of two other kinds are allowed
 * for, because all are made at the tick of an old deadline: moves of refreshed timers, and of
 * timers whose owners stored a later deadline.
 */
static void check_moves(const struct sim_held *held,
			const struct twheel_base *base)
{
	u64 moved = base->scheme.cascaded - held->cascaded;
	u64 ticks = 1 + (sim.now - held->since) / base->tick_ns;

	if (moved > 2 * MOVES_PER_TICK * (ticks + 1) + base->counters.restarted +
	    base->counters.expired - held->expired + sim_asked - held->asked)
		sim_fail("%llu timers are moved in %llu ticks", moved, ticks);
}

void oracle_run_ends(struct hrtimer *hrtimer)
{
	struct twheel_base *base = base_of(hrtimer);
	struct sim_held *held = &hrtimer->held;

	if (base->counters.expired - held->expired > TIMERS_PER_RUN)
		sim_fail("a run expires %llu timers",
			 base->counters.expired - held->expired);
	if (base->last_tick < base->scheme.clock)
		sim_fail("base %u: tick %llu is not counted", base->cpu, base->scheme.clock);
	check_moves(held, base);
	check_throttle(held, base);
	check_pause(hrtimer, base);
	oracle_run_over(base, held->begin);
	hrtimer->running = false;
	go_on(hrtimer);
	hrtimer->running = true;
}

/* Checks of the state that a base's lock protects, each time that the lock is released. */

static struct twheel_base *locked_base(struct sim_lock *lock)
{
	return container_of(lock, struct twheel_base, lock);
}

void oracle_locked(struct sim_lock *lock)
{
	struct twheel_base *base = locked_base(lock);

	before[sim.cpu] = base->counters;
	cascaded_before[sim.cpu] = base->scheme.cascaded;
	locked[sim.cpu] = oracle_next_order();
}

u64 oracle_next_order(void)
{
	return ++order;
}

/* Returns whether @order is earlier than the moment at which this CPU took the lock of a base. */
bool oracle_is_before_lock(u64 order)
{
	return order < locked[sim.cpu];
}

/*
 * Check that an expiring timer is counted in the histogram with its lateness at the last clock read
 * of the run, which was between the beginning of the run and now. A timer that became due while the
 * system slept is late from the first run after the sleep.
 */
void oracle_lateness(const struct twheel_timer *timer)
{
	const struct twheel_base *base = timer->base;
	const struct sim_held *held = &base->hrtimer.held;
	u64 due = max(base->scheme.clock, base->resume_tick) * base->tick_ns;
	u64 rounding = base->tick_ns - 1 - timer->node.offset_ns;
	u64 low = rounding + max(held->begin, due) - due + 1;
	u64 high = rounding + sim.now - due + 1;
	int bit;

	for (bit = 0; bit < TWHEEL_LATENESS_BITS; bit++) {
		if (base->counters.lateness[bit] != before[sim.cpu].lateness[bit] &&
		    (bit < __fls(low) || bit > __fls(high)))
			sim_fail("base %u: counts a lateness of %llu to %llu ns at bit %d",
				 base->cpu, low, high, bit);
	}
}

static void check_lateness(const struct twheel_base *base)
{
	u64 sum = 0;
	int bit;

	for (bit = 0; bit < TWHEEL_LATENESS_BITS; bit++)
		sum += base->counters.lateness[bit];
	if (sum != base->counters.expired)
		sim_fail("base %u: expired %llu, in the histogram %llu",
			 base->cpu, base->counters.expired, sum);
}

/*
 * Check that the time of a suspend does not count as lateness: if a tick or a timer was due before
 * the last resume, its lateness is counted from the resume on. Nothing but a suspend may reduce a
 * lateness.
 */
static void check_sleep(struct twheel_base *base, const struct twheel_counters *then)
{
	const struct twheel_counters *now = &base->counters;
	struct sim_held *held = &base->hrtimer.held;
	u64 awake = sim.now - sim.behind - held->woke;

	if (now->missed_ticks - then->missed_ticks > awake / base->tick_ns + 1)
		sim_fail("base %u: %llu ticks missed, awake for %llu ns", base->cpu,
			 now->missed_ticks - then->missed_ticks, awake);
	if (now->longest_lateness_ns != then->longest_lateness_ns &&
	    now->longest_lateness_ns > awake + base->tick_ns)
		sim_fail("base %u: %llu ns late, awake for %llu ns", base->cpu,
			 now->longest_lateness_ns, awake);
	if (base->resume_tick == held->resumed)
		return;
	if (held->forgiven == base->clock_offset || base->clock_offset > (s64)sim.behind)
		sim_fail("base %u: lateness is forgiven without a sleep", base->cpu);
	held->forgiven = base->clock_offset;
	held->resumed = base->resume_tick;
}

void oracle_check_hold(const char *what, u64 done, u64 limit)
{
	if (done > limit)
		sim_fail("%llu timers %s under one hold of a lock", done, what);
}

/*
 * Check that the wheel wakes up for @node in time. A late start is due in the tick
 * after the clock.
 */
static void check_wakes(const struct twheel_base *base, const struct twheel_node *node)
{
	u64 tick = max(node->expires, base->scheme.clock + 1);

	if (tick < base->armed_tick ||
	    base->hrtimer.expires > twheel_time_of(base, tick))
		sim_fail("base %u: a timer is due at tick %llu, and it sleeps until tick %llu",
			 base->cpu, tick, base->armed_tick);
}

/*
 * Check that a sleeping base wakes up in time for its timers, up to CHECKED_ASLEEP of them, even
 * if timers were started or restarted while it slept.
 */
static void check_asleep(const struct twheel_base *base)
{
	const struct twheel_scheme *s = &base->scheme;
	const struct twheel_node *node;
	unsigned int left = CHECKED_ASLEEP, nr;

	if (!base->armed_tick || base->kicked || base->cpu == TWHEEL_NO_CPU || !s->pending)
		return;
	for (nr = find_first_bit(s->occupied, s->nr_slots); nr < s->nr_slots && left;
	     nr = find_next_bit(s->occupied, s->nr_slots, nr + 1))
		list_for_each_entry(node, &s->slots[nr].nodes, link)
			if (left && left--)
				check_wakes(base, node);
}

void oracle_unlock(struct sim_lock *lock)
{
	struct twheel_base *base = locked_base(lock);
	struct twheel_counters *now = &base->counters, *then = &before[sim.cpu];

	if (now->started != now->expired + now->stopped + base->scheme.pending)
		sim_fail("base %u: started %llu, expired %llu, stopped %llu, pending %llu",
			 base->cpu, now->started, now->expired, now->stopped,
			 base->scheme.pending);
	check_lateness(base);
	check_sleep(base, then);
	check_asleep(base);
	/* A base that hands timers over counts their starts down again, hence llabs(). */
	oracle_check_hold("started", llabs((s64)(now->started - then->started)), TIMERS_PER_LOCK);
	oracle_check_hold("stopped", now->stopped - then->stopped, TIMERS_PER_LOCK);
	oracle_check_hold("expired", now->expired - then->expired, 1);
	oracle_check_hold("moved", base->scheme.cascaded - cascaded_before[sim.cpu],
			  TIMERS_PER_LOCK + 1);
}
