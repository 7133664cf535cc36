// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a seed: a wheel, tasks that use it, and their misfortunes
 *
 * Each task has timers to itself, of which all is known. Others are shared by all
 * tasks, interrupts and callbacks.
 *
 * At the end of a few seeds a crowd of users comes, each with a wheel that has too much
 * to do: the account of each CPU has to hold with up to a thousand wheels.
 */
#include <linux/err.h>
#include <linux/sched/isolation.h>

#include "sim.h"
#include "oracle.h"
#include "scenario.h"
#include "core/wheel.h"
#include "twheel_info.h"

#define PRIVATE		4	/* timers of each task */
#define SHARED		8
#define TIMERS		(SIM_USERS * PRIVATE + SHARED)
#define CROWD		3000
#define LOCKS		2
#define ENDS		2
#define MANY		6

enum kind {
	PLAIN,		/* does nothing */
	SLOW,		/* takes its time */
	AGAIN,		/* starts itself again */
	FORWARD,	/* is periodic */
	OTHER,		/* starts or stops others */
	SYNC,		/* waits for the callback of one that waits for nobody */
	LOCK,		/* takes a lock */
	TICK_END,	/* has something done at the end of the tick */
	KINDS,
};

/**
 * struct user_timer - a timer of the scenario
 * @o: the timer, and what the oracle knows of it
 * @kind: what its callback does
 * @shutting: it has been shut down, or is about to be
 * @shut: it has been shut down
 * @noted: its callback of that number has started it again
 * @gone: a stop has come after the callback of that number
 */
struct user_timer {
	struct oracle_timer o;
	enum kind kind;
	bool shutting;
	bool shut;
	u64 noted;
	u64 gone;
};

/**
 * struct user_end - work for the end of a tick
 * @end: the work
 * @wanted: when it was queued last, as a number
 * @called: when it was called last
 * @part: what callbacks on each CPU have done last, as a number
 * @seen: what it has seen of that
 */
struct user_end {
	struct twheel_tick_end end;
	u64 wanted;
	u64 called;
	u64 part[SIM_CPUS];
	u64 seen[SIM_CPUS];
};

static struct user_timer timers[TIMERS];
static struct user_timer crowd[CROWD];
static struct user_timer others[SIM_USERS];	/* on wheels of their own */
static struct user_end ends[ENDS];
static spinlock_t locks[LOCKS];	/* of users: callbacks take them, too */
static struct twheel_config config;
/* All CPUs have slots from the beginning. */
static bool prepared;
static struct twheel *wheel;
static int devices;		/* interrupts that are in a call */
static u32 far;			/* longest of the usual delays, ticks */
static u32 callback_ns;		/* longest of the usual callbacks */
static u64 order;
static bool isolation;		/* CPUs become isolated, and housekeeping again */
static u32 crowd_size;		/* timers of the crowd */
static u64 crowd_at;		/* deadline of the crowd */
static bool crowd_waits;	/* the crowd is not started yet */
static u32 crowd_last[SIM_CPUS];

#define USERS_MAX	1000
#define USER_WHEELS_MAX	4
#define USER_TIMERS	2
#define USERS_PER_MS	50	/* payers of a period */
#define USERS_MS	120

/**
 * struct user_wheel - a wheel of one of many users
 * @wheel: the wheel, or NULL
 * @timers: start themselves again for the next tick
 * @last: time of the last expiry
 * @pause: longest time between two expiries
 */
struct user_wheel {
	struct twheel *wheel;
	struct oracle_timer timers[USER_TIMERS];
	u64 last;
	u64 pause;
};

static struct user_wheel user_wheels[USERS_MAX];
static u32 nr_user_wheels;	/* 0 in most seeds */
static u32 nr_users;
static u32 wheel_ns;		/* longest callback */
static bool users_over;

static u64 ticks(u64 nr)
{
	return nr * config.tick_ns;
}

static u64 some_delay(void)
{
	switch (sim_below(16)) {
	case 0:
		return 0;
	case 1:
		return sim_random() >> (1 + sim_below(63));
	case 2:
		return ticks(sim_below(70000));
	case 3:
		return ticks(sim_below(600));
	case 4:
	case 5:
	case 6:
		return ticks(sim_below(far));
	default:
		return sim_below(3 * config.tick_ns);
	}
}

static u64 some_deadline(void)
{
	return min_t(u64, sim.now + some_delay(), KTIME_MAX);
}

static struct user_timer *timer_of(struct twheel_timer *timer)
{
	return container_of(timer, struct user_timer, o.timer);
}

/* Calls of the API. Each passes its arguments and its result to the oracle. */

/* twheel_start() without a lock, of a timer that was pending when it looked. */
static int start_unlocked(struct oracle_timer *o, struct oracle_call *call,
			  u64 delay)
{
	struct sim_cpu *cpu = this_sim_cpu();
	unsigned int turns = cpu->turns;
	int ret = twheel_start(&o->timer, delay);

	call->old = sim_weak && ret == 1 &&
		    (cpu != this_sim_cpu() || cpu->turns != turns ||
		     sim_weak_old(&o->timer.node.link.next,
				  &o->timer.node.expires));
	return ret;
}

static int start_at(struct oracle_timer *o, u64 at)
{
	struct oracle_call call;
	int ret;

	oracle_starts(o, &call, at);
	ret = twheel_start_at(&o->timer, at);
	oracle_started(o, &call, at, ret >= 0, ret == 1);
	return ret;
}

static void do_start(struct user_timer *ut, int how)
{
	struct oracle_timer *o = &ut->o;
	struct oracle_call call;
	u64 delay = some_delay(), at;
	int ret;

	at = min_t(u64, sim.now + delay, KTIME_MAX);
	sim_note("start %u how %d delay %llu at %llu", o->nr, how, delay, at);
	if (how == 1) {
		ret = start_at(o, at);
	} else {
		oracle_starts(o, &call, at);
		if (how == 2)
			ret = twheel_start_on(&o->timer, delay,
					      sim_below(SIM_CPUS));
		else
			ret = start_unlocked(o, &call, delay);
		call.unknown = ret == -EINVAL;
		oracle_started(o, &call, min_t(u64, sim.now + delay, KTIME_MAX),
			       ret >= 0, ret == 1);
	}
	sim_note("started %u: %d", o->nr, ret);
	if (ret < 0 && !(ret == -EINVAL && how == 2) &&
	    !(ret == -ESHUTDOWN && (ut->shutting || !o->private)))
		sim_fail("timer %u: start returns %d", o->nr, ret);
	if (o->private && ut->shut && ret != -ESHUTDOWN && ret != -EINVAL)
		sim_fail("timer %u: start after shutdown returns %d", o->nr, ret);
}

static void do_restart(struct user_timer *ut)
{
	struct oracle_timer *o = &ut->o;
	struct oracle_call call;
	u64 at = some_deadline();
	int ret;

	sim_note("restart %u at %llu", o->nr, at);
	oracle_starts(o, &call, at);
	ret = twheel_restart_at(&o->timer, at);
	oracle_started(o, &call, at, ret, ret);
	sim_note("restarted %u: %d", o->nr, ret);
}

/* Whichever is earlier, of the deadline that it has and @at. */
static void do_reduce(struct user_timer *ut)
{
	struct oracle_timer *o = &ut->o;
	struct oracle_call call;
	u64 at = some_deadline(), high = at;
	bool known = o->private && o->plain && o->known && !o->in_flight &&
		     o->expect == EXPECT_PENDING;
	int ret;

	sim_note("reduce %u to %llu", o->nr, at);
	oracle_starts(o, &call, at);
	ret = twheel_reduce_at(&o->timer, at);
	if (ret == 1) {
		known = known && o->expired == call.expired;
		call.low = min(at, known ? o->low : o->saved_early);
		high = min(at, known ? o->high : at);
	}
	oracle_started(o, &call, high, ret >= 0, ret == 1);
	sim_note("reduced %u: %d", o->nr, ret);
	if (ret < 0 && !(ret == -ESHUTDOWN && (ut->shutting || !o->private)))
		sim_fail("timer %u: reduce returns %d", o->nr, ret);
}

static void do_stop(struct user_timer *ut)
{
	/* Pairs with callback_of(). */
	u64 noted = smp_load_acquire(&ut->noted);
	struct oracle_timer *o = &ut->o;
	struct oracle_call call;
	int ret;

	sim_note("stop %u", o->nr);
	oracle_stops(o, &call);
	ret = twheel_stop(&o->timer);
	oracle_stopped(o, &call, ret, false);
	sim_note("stopped %u: %d", o->nr, ret);
	/* One that is due may be on its way out. */
	if (!ret && o->private && noted && noted == o->expired &&
	    ut->gone != noted && sim.now < o->early)
		sim_fail("timer %u: a stop does not find what its callback has started",
			 o->nr);
	ut->gone = o->expired;
}

static void do_sync(struct user_timer *ut, bool shutdown)
{
	struct oracle_call call;
	int ret;

	sim_note("%s_sync %u", shutdown ? "shutdown" : "stop", ut->o.nr);
	oracle_stops(&ut->o, &call);
	ut->shutting |= shutdown;
	ret = shutdown ? twheel_shutdown_sync(&ut->o.timer) :
			 twheel_stop_sync(&ut->o.timer);
	oracle_stopped(&ut->o, &call, ret, true);
	ut->gone = ut->o.expired;
	ut->shut |= shutdown;
	sim_note("stop_sync %u: %d", ut->o.nr, ret);
}

static void do_forward(struct user_timer *ut)
{
	struct oracle_timer *o = &ut->o;
	struct oracle_call call;
	u64 period = 1 + sim_below(5 * config.tick_ns), ret;
	/* The call may or may not see a deadline that the callback just wrote. */
	bool known = o->private && o->known && !o->in_flight &&
		     o->low == o->high && (o->plain || !sim_weak);
	u64 old = o->low, low = sim.now, high, begun = o->begun;

	oracle_starts(o, &call, low);
	ret = twheel_forward(&o->timer, period);
	high = sim.now + period;
	if (ret && known && o->begun == begun + 1) {
		if (old + ret * period <= low || old + (ret - 1) * period > sim.now)
			sim_fail("timer %u: forward() by %llu periods of %llu from %llu",
				 o->nr, ret, period, old);
		call.low = old + ret * period;
		high = call.low;
	}
	call.unknown = !ret;
	oracle_started(o, &call, high, ret, false);
	sim_note("forward %u by %llu: %llu", o->nr, period, ret);
}

static void do_look(struct user_timer *ut)
{
	struct oracle_timer *o = &ut->o;
	bool known = o->private && o->plain && o->known &&
		     o->expect == EXPECT_PENDING;
	u64 deadline;

	twheel_pending(&o->timer);
	twheel_remaining(&o->timer);
	deadline = twheel_deadline(&o->timer);
	if (known && (deadline < o->low || deadline > o->high))
		sim_fail("timer %u: deadline is %llu, not %llu to %llu", o->nr,
			 deadline, o->low, o->high);
}

static struct user_timer *private_timer(unsigned int user)
{
	return &timers[user * PRIVATE + sim_below(PRIVATE)];
}

static struct user_timer *shared_timer(void)
{
	return &timers[SIM_USERS * PRIVATE + sim_below(SHARED)];
}

/* Several timers of one task in one call, none of them twice. */
static void do_many(unsigned int user, int how)
{
	struct twheel_request requests[MANY];
	struct oracle_call calls[MANY];
	struct user_timer *uts[MANY];
	unsigned int nr = 1 + sim_below(PRIVATE), i;

	for (i = 0; i < nr; i++) {
		struct oracle_timer *o = &timers[user * PRIVATE + i].o;

		uts[i] = &timers[user * PRIVATE + i];
		requests[i].timer = &o->timer;
		requests[i].deadline = some_deadline();
		if (how < 2)
			oracle_starts(o, &calls[i], requests[i].deadline);
		else
			oracle_stops(o, &calls[i]);
	}
	sim_note("many: %d, from %u", how, uts[0]->o.nr);
	if (how == 0)
		twheel_start_many(requests, nr);
	else if (how == 1)
		twheel_restart_many(requests, nr);
	else
		twheel_stop_many(requests, nr);
	for (i = 0; i < nr; i++) {
		struct oracle_timer *o = &uts[i]->o;
		int ret = requests[i].result;

		uts[i]->gone = o->expired;
		sim_note("many %u: %d", o->nr, ret);
		if (how == 2)
			oracle_stopped(o, &calls[i], ret, false);
		else
			oracle_started(o, &calls[i], requests[i].deadline,
				       how ? ret : ret >= 0, ret == 1);
		if (ret < 0 && !uts[i]->shut)
			sim_fail("timer %u: start_many() says %d", o->nr, ret);
	}
}

/* Returns whether the holder of any lock may wait for the callback, which takes none. */
static bool is_waitable(const struct user_timer *ut)
{
	return ut->kind == PLAIN || ut->kind == SLOW;
}

/* Callbacks. */

static void tick_end(struct twheel_tick_end *end)
{
	struct user_end *ue = container_of(end, struct user_end, end);
	unsigned int cpu;

	ue->called = ++order;
	for (cpu = 0; cpu < SIM_CPUS; cpu++) {
		/* This function may run on another CPU at the same time. */
		u64 part = READ_ONCE(ue->part[cpu]);

		ue->seen[cpu] = max(ue->seen[cpu], part);
	}
}

static void any_op(struct user_timer *ut)
{
	switch (sim_below(4)) {
	case 0:
		do_stop(ut);
		break;
	case 1:
		if (sim_chance(2))
			do_reduce(ut);
		else
			do_restart(ut);
		break;
	default:
		do_start(ut, sim_below(3));
	}
}

static int do_again(struct user_timer *ut)
{
	struct oracle_timer *o = &ut->o;
	struct oracle_call call;
	u64 at = some_deadline();
	int ret;

	oracle_starts(o, &call, at);
	ret = twheel_again_at(&o->timer, at);
	oracle_started(o, &call, at, ret >= 0, ret == 1);
	sim_note("again %u at %llu: %d", o->nr, at, ret);
	o->strict = false;
	return ret;
}

static void take_lock(void)
{
	spinlock_t *lock = &locks[sim_below(LOCKS)];

	spin_lock(lock);
	sim_spend(sim_below(callback_ns));
	spin_unlock(lock);
}

static void callback_of(struct user_timer *ut)
{
	struct user_timer *other;
	struct user_end *ue;
	bool noted = false;

	switch (ut->kind) {
	case SLOW:
		sim_spend(sim_below(callback_ns));
		break;
	case AGAIN:
		if (sim_chance(2))
			noted = do_again(ut) >= 0;
		if (sim_chance(2))
			do_start(ut, sim_below(3));
		if (sim_chance(4)) {
			sim_spend(sim_below(callback_ns));
			do_start(ut, sim_below(3));
		}
		if (sim_chance(2))
			do_forward(ut);
		if (!noted)
			break;
		/* Pairs with do_stop(). */
		smp_store_release(&ut->noted, ut->o.expired);
		break;
	case FORWARD:
		if (sim_below(8))
			do_forward(ut);
		break;
	case OTHER:
		any_op(shared_timer());
		break;
	case SYNC:
		other = shared_timer();
		if (is_waitable(other))
			do_sync(other, false);
		break;
	case LOCK:
		take_lock();
		break;
	case TICK_END:
		ue = &ends[sim_below(ENDS)];
		ue->wanted = ++order;
		WRITE_ONCE(ue->part[sim.cpu], ue->wanted);
		twheel_at_tick_end(&ut->o.timer, &ue->end);
		break;
	default:
		break;
	}
}

static void expired(struct twheel_timer *timer)
{
	struct user_timer *ut = timer_of(timer);

	oracle_callback(&ut->o);
	sim_note("expired %u", ut->o.nr);
	sim_spend(sim_below(200));
	callback_of(ut);
	oracle_callback_ends(&ut->o);
}

/* Check the order of a crowd: its timers were started one after the other, for one tick. */
static void crowd_expired(struct twheel_timer *timer)
{
	struct user_timer *ut = timer_of(timer);
	u32 *last = &crowd_last[sim.cpu];

	oracle_callback(&ut->o);
	if (ut->o.nr < *last && !sim_cpu_goes && ut->o.strict)
		sim_fail("timer %u overtakes timer %u", *last, ut->o.nr);
	*last = ut->o.nr;
	sim_spend(1 + sim_below(callback_ns));
	oracle_callback_ends(&ut->o);
}

/* Interrupts of devices, and their softirqs. */
void sim_device(bool softirq)
{
	struct user_timer *ut = shared_timer();

	if (!scenario.ready || !scenario.ops_left)
		return;
	devices++;
	if (softirq && is_waitable(ut) && sim_chance(2))
		do_sync(ut, false);
	else
		any_op(ut);
	devices--;
}

/* Tasks. */

/* Rather one whose callback runs. */
static struct user_timer *timer_to_await(void)
{
	struct user_timer *ut = &timers[SIM_USERS * PRIVATE];
	u32 i;

	for (i = 0; i < SHARED; i++)
		if (ut[i].o.running && is_waitable(&ut[i]) && sim_below(4))
			return &ut[i];
	return shared_timer();
}

static void lock_and_wait(void)
{
	struct user_timer *ut = timer_to_await();
	spinlock_t *lock = &locks[sim_below(LOCKS)];

	if (!SIM_RT)
		local_bh_disable();
	spin_lock(lock);
	if (is_waitable(ut))
		do_sync(ut, false);
	else
		sim_spend(sim_below(1000));
	spin_unlock(lock);
	if (!SIM_RT)
		local_bh_enable();
}

/* Wait for one of many callbacks of a run, with a lock held that the others want. */
static void rendezvous(void)
{
	u64 at = sim.now + sim_below(3 * config.tick_ns);
	u32 i;

	for (i = 0; i < SHARED; i++)
		start_at(&timers[SIM_USERS * PRIVATE + i].o, at);
	at = (at / config.tick_ns + 1) * config.tick_ns;
	sim_note("all shared ones are started for %llu", at);
	if (at > sim.now)
		sim_sleep(at - sim.now + sim_below(2 * callback_ns));
	lock_and_wait();
}

static void setup(struct user_timer *ut)
{
	twheel_timer_setup(&ut->o.timer, wheel, expired, 0);
	ut->shutting = false;
	ut->shut = false;
	ut->o.known = true;
	ut->o.low = 0;
	ut->o.high = 0;
}

/*
 * Let a timer expire on another CPU, and return when its callback begins there, without
 * sleeping or taking a lock after that.
 */
static void await_callback(struct user_timer *ut)
{
	struct oracle_timer *o = &ut->o;
	u64 expired = o->expired;
	struct oracle_call call;
	unsigned int i;
	int ret;

	oracle_starts(o, &call, sim.now);
	ret = twheel_start_on(&o->timer, 0, (sim.cpu + 1) % SIM_CPUS);
	call.unknown = ret == -EINVAL;
	oracle_started(o, &call, sim.now, ret >= 0, ret == 1);
	for (i = 0; i < 200 && o->expired == expired; i++)
		sim_relax();
}

/*
 * Stop a timer whose callback, on another CPU, just deferred a start, of which this CPU
 * does not know.
 */
static void stop_after_callback(struct user_timer *ut)
{
	int count = preempt_count();
	unsigned int i;

	preempt_count_set(count + 1);
	await_callback(ut);
	for (i = 0; i < 200 && ut->o.running; i++)
		sim_relax();
	sim_spend(sim_below(300));
	do_stop(ut);
	preempt_count_set(count);
}

/* Forward a timer whose callback, on another CPU, is about to note a start. */
static void forward_in_callback(struct user_timer *ut)
{
	int count = preempt_count();

	preempt_count_set(count + 1);
	await_callback(ut);
	do_forward(ut);
	preempt_count_set(count);
}

static void private_op(unsigned int user)
{
	struct user_timer *ut = private_timer(user);
	u32 i;

	/* Rather one whose callback runs. */
	for (i = 0; i < PRIVATE; i++)
		if (timers[user * PRIVATE + i].o.running && sim_chance(2))
			ut = &timers[user * PRIVATE + i];
	if (ut->shut && sim_chance(2))
		setup(ut);
	switch (sim_below(16)) {
	case 0:
	case 1:
		if (sim_weak && ut->kind == AGAIN)
			stop_after_callback(ut);
		else
			do_stop(ut);
		break;
	case 2:
	case 3:
		do_sync(ut, false);
		break;
	case 4:
		do_sync(ut, true);
		break;
	case 5:
		do_restart(ut);
		break;
	case 6:
		do_reduce(ut);
		break;
	case 7:
		if (ut->kind == AGAIN && sim_chance(2))
			forward_in_callback(ut);
		else
			do_forward(ut);
		break;
	case 8:
	case 9:
		do_look(ut);
		break;
	case 10:
		do_many(user, sim_below(3));
		break;
	default:
		do_start(ut, sim_below(3));
	}
}

static void start_crowd(void)
{
	u64 at = sim.now + ticks(600 + sim_below(400));
	u32 i;

	crowd_waits = false;
	crowd_at = at;
	for (i = 0; i < crowd_size; i++)
		if (start_at(&crowd[i].o, at) < 0)
			sim_fail("timer %u of the crowd is not started", i);
	sim_note("a crowd of %u is started for %llu", crowd_size, at);
}

static void hotplug(void)
{
	unsigned int cpu = sim_below(SIM_CPUS);

	if (sim_chance(2)) {
		sim_cpu_up(cpu);
		return;
	}
	sim_memory_short = true;
	sim_cpu_down(cpu);
	sim_memory_short = false;
}

/* Change the isolated CPUs, as creating or removing a partition of cpusets does. */
static void isolate(void)
{
	WRITE_ONCE(sim_isolated.bits, sim_below(BIT(SIM_CPUS)));
	sim_note("isolated CPUs are %lx now", sim_isolated.bits);
}

static void second_wheel(unsigned int user)
{
	struct user_timer *ut = &others[user];
	struct twheel_config other = config;
	struct twheel *w;

	sim_memory_short = sim_chance(4);
	w = twheel_create(&other);
	sim_memory_short = false;
	if (IS_ERR(w))
		return;
	/* A kick may be on its way when it is destroyed. */
	memset(ut, 0, sizeof(*ut));
	twheel_timer_setup(&ut->o.timer, w, expired, 0);
	do_start(ut, 2);
	do_sync(ut, false);
	twheel_destroy(w);
}

void scenario_op(unsigned int user)
{
	switch (sim_below(32)) {
	case 0:
		if (SIM_RT || sim_chance(2))
			rendezvous();
		else
			lock_and_wait();
		break;
	case 1:
		if (sim_chance(4) && !(sim_options.without & SIM_HOTPLUG))
			hotplug();
		if (isolation && sim_chance(2))
			isolate();
		break;
	case 2:
		if (sim_chance(8))
			second_wheel(user);
		break;
	case 3:
		twheel_prepare(wheel);
		break;
	case 4:
		if (crowd_waits && sim_chance(4))
			start_crowd();
		break;
	case 5:
	case 6:
	case 7:
	case 8:
		any_op(shared_timer());
		break;
	default:
		private_op(user);
	}
	scenario_pause(config.tick_ns, far);
}

void scenario_choose(void)
{
	static const u64 lengths[] = { 50000, 100000, 1000000, 4000000, 999983 };
	static const unsigned int dozes[] = { 0, 2, 8 };

	memset(&config, 0, sizeof(config));
	/* Most often the hierarchical one. */
	config.scheme = sim_chance(4) ? 1 + sim_below(TWHEEL_NR_SCHEMES - 1) : TWHEEL_HIER;
	config.mode = sim_chance(2) ? TWHEEL_TICKLESS : TWHEEL_PERIODIC;
	config.clock = sim.behind ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
	config.tick_ns = lengths[sim_below(ARRAY_SIZE(lengths))];
	if (config.mode == TWHEEL_PERIODIC)
		config.doze = dozes[sim_below(ARRAY_SIZE(dozes))];
	if (!twheel_scheme_info(config.scheme)->slots)
		config.slots = 2 << sim_below(10);
	prepared = !sim_chance(4);
	isolation = sim_chance(4);
	far = 2 + sim_below(sim_chance(2) ? 20 : 300);
	callback_ns = 1 + sim_below(sim_chance(4) ? 400000 : 5000);
	crowd_size = sim_chance(32) ? 1 + sim_below(CROWD) : 0;
	crowd_waits = crowd_size;
	nr_users = sim_chance(2048) ? 1 + sim_below(USERS_MAX) : 0;
	nr_user_wheels = min_t(u32, nr_users * (1 + sim_below(USER_WHEELS_MAX)),
			       USERS_MAX);
	wheel_ns = 1 + sim_below(5000);
	crowd_at = 0;
	devices = 0;
	memset(crowd_last, 0, sizeof(crowd_last));
}

static void make_timers(void)
{
	u32 i;

	memset(timers, 0, sizeof(timers));
	for (i = 0; i < TIMERS; i++) {
		timers[i].kind = sim_chance(2) ? PLAIN : sim_below(KINDS);
		timers[i].o.private = i < SIM_USERS * PRIVATE;
		timers[i].o.plain = timers[i].kind != AGAIN &&
				    timers[i].kind != FORWARD;
		oracle_add(&timers[i].o);
		setup(&timers[i]);
	}
	if (crowd_size)
		memset(crowd, 0, crowd_size * sizeof(crowd[0]));
	for (i = 0; i < crowd_size; i++) {
		crowd[i].o.private = true;
		crowd[i].o.plain = true;
		oracle_add(&crowd[i].o);
		twheel_timer_setup(&crowd[i].o.timer, wheel, crowd_expired, 0);
	}
	for (i = 0; i < ENDS; i++)
		ends[i] = (struct user_end){ .end.fn = tick_end };
	for (i = 0; i < LOCKS; i++)
		spin_lock_init(&locks[i]);
	order = 0;
}

void scenario_begin(void)
{
	unsigned int cpu;

	oracle_begin(config.tick_ns);
	sim_reset_wheel();
	sim_reset_throttle();
	if (isolation)
		isolate();
	if (twheel_wheel_init(config.tick_ns) ||
	    twheel_wheel_create_default(&config))
		sim_fail("no wheel");
	wheel = twheel_default();
	for (cpu = 0; prepared && cpu < SIM_CPUS; cpu++)
		twheel_prepare_cpu(wheel, cpu);
	sim_note("a %s %s wheel, tick %llu, slots %u, doze %u%s",
		 twheel_wheel_mode_name(config.mode),
		 twheel_scheme_info(config.scheme)->name, config.tick_ns,
		 config.slots, config.doze, prepared ? ", prepared" : "");
	make_timers();
}

static void start_of_user(struct oracle_timer *o)
{
	unsigned int cpu = sim_below(SIM_CPUS);
	struct oracle_call call;
	int ret;

	oracle_starts(o, &call, sim.now);
	ret = twheel_start_on(&o->timer, 1, cpu_online(cpu) ? cpu : sim.cpu);
	oracle_started(o, &call, sim.now + 1, ret >= 0, ret == 1);
}

static void user_expired(struct twheel_timer *timer)
{
	struct oracle_timer *o = container_of(timer, struct oracle_timer, timer);
	struct user_wheel *uw = user_wheels;

	oracle_callback(o);
	uw += ((char *)timer - (char *)uw) / sizeof(*uw);
	/* After a suspend the wheels first catch up with its ticks. */
	if (uw->last > sim.woke)
		uw->pause = max(uw->pause, sim.now - sim.behind - uw->last);
	uw->last = sim.now - sim.behind;
	sim_spend(sim_below(wheel_ns));
	if (!READ_ONCE(users_over))
		start_of_user(o);
	oracle_callback_ends(o);
}

static void make_user_wheel(struct user_wheel *uw, struct twheel_payer *payer)
{
	struct twheel_config user = {
		.scheme = TWHEEL_HASHED, .slots = TWHEEL_SLOTS_MIN,
		.tick_ns = config.tick_ns, .clock = config.clock,
		.payer = payer,
	};
	u32 i;

	uw->wheel = twheel_create(&user);
	if (IS_ERR(uw->wheel))
		sim_fail("no wheel for a user");
	uw->last = sim.now - sim.behind;
	uw->pause = 0;
	for (i = 0; i < USER_TIMERS; i++) {
		memset(&uw->timers[i], 0, sizeof(uw->timers[i]));
		twheel_timer_setup(&uw->timers[i].timer, uw->wheel, user_expired,
				   0);
		start_of_user(&uw->timers[i]);
	}
}

/*
 * Check the pauses, as if all users were on one CPU. They have periods in turn, the wheels
 * of a user take turns, and their timers, too.
 */
static void check_user_wheels(void)
{
	u64 rounds = (nr_users / USERS_PER_MS + 3) *
		     (nr_user_wheels / nr_users + 1) * USER_TIMERS;
	u32 i;

	for (i = 0; i < nr_user_wheels; i++)
		if (user_wheels[i].pause > rounds * NSEC_PER_MSEC + ticks(3))
			sim_fail("a wheel of %u, with %u users, pauses for %llu ns",
				 nr_user_wheels, nr_users, user_wheels[i].pause);
}

/* Run the wheels of the users, after everything else. */
static void come_as_users(void)
{
	struct twheel_payer *payers[USERS_MAX];
	u32 i, j;

	sim_note("%u users come with %u wheels", nr_users, nr_user_wheels);
	users_over = false;
	for (i = 0; i < nr_users; i++)
		payers[i] = twheel_payer_create();
	for (i = 0; i < nr_user_wheels; i++) {
		make_user_wheel(&user_wheels[i], payers[i % nr_users]);
		sim_note("wheel %u of a user", i);
	}
	for (i = 0; i < USERS_MS; i++) {
		sim_sleep(NSEC_PER_MSEC);
		sim_note("users are busy");
	}
	WRITE_ONCE(users_over, true);
	check_user_wheels();
	for (i = 0; i < nr_user_wheels; i++) {
		for (j = 0; j < USER_TIMERS; j++)
			twheel_shutdown_sync(&user_wheels[i].timers[j].timer);
		twheel_destroy(user_wheels[i].wheel);
		sim_note("wheel %u of a user is gone", i);
	}
	for (i = 0; i < nr_users; i++)
		twheel_payer_destroy(payers[i]);
}

static void count_drained(struct twheel_timer *timer, void *arg)
{
	oracle_drained(&timer_of(timer)->o);
}

void scenario_end(void)
{
	u32 i;

	while (scenario.busy || devices)
		sim_sleep(ticks(1));
	sim_options.without |= SIM_STEAL | SIM_LATENCY | SIM_DEVICE;
	scenario.ready = false;
	for (i = 0; crowd_waits && i < TIMERS; i++)
		do_sync(&timers[i], false);
	if (crowd_waits)
		start_crowd();
	if (crowd_at > sim.now)
		sim_sleep(crowd_at - sim.now);
	do {
		sim_sleep(20000000 + ticks(2));
	} while (oracle_any_late());
	if (nr_user_wheels)
		come_as_users();
	if (sim_chance(2)) {
		twheel_drain(wheel, count_drained, NULL);
		for (i = 0; i < SIM_USERS * PRIVATE; i++)
			if (timers[i].o.plain && twheel_pending(&timers[i].o.timer))
				sim_fail("timer %u: is left by a drain", i);
	}
	for (i = 0; i < TIMERS; i++)
		do_sync(&timers[i], false);
	for (i = 0; i < crowd_size; i++)
		do_sync(&crowd[i], false);
	oracle_end();
	twheel_wheel_exit();
	/* No run is under way any more. */
	for (i = 0; i < ENDS; i++) {
		if (ends[i].called < ends[i].wanted)
			sim_fail("end of tick %u was queued and never called", i);
		if (memcmp(ends[i].seen, ends[i].part, sizeof(ends[i].seen)))
			sim_fail("end of tick %u has not seen what a callback did",
				 i);
	}
}
