// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a seed: one wheel, used by tasks, interrupts and callbacks
 *
 * Each task has private timers, whose state the oracle knows. All tasks, interrupts and
 * callbacks use the shared timers.
 *
 * A few seeds end with up to a thousand overloaded wheels of users. They check the limits of
 * the time that wheels may use on each CPU.
 */
#include <linux/err.h>
#include <linux/sched/isolation.h>

#include "sim.h"
#include "oracle.h"
#include "scenario.h"
#include "core/wheel.h"

#define PRIVATE		4	/* private timers of each task */
#define SHARED		8
#define TIMERS		(SIM_USERS * PRIVATE + SHARED)
#define CROWD		3000	/* maximum number of timers that are started for one tick */
#define LOCKS		2
#define ENDS		2

/* Actions of a callback. */
enum kind {
	PLAIN,		/* does nothing */
	SLOW,		/* runs for up to callback_ns */
	AGAIN,		/* restarts its timer */
	OTHER,		/* starts or stops a shared timer */
	SYNC,		/* waits for a callback that does not wait itself */
	LOCK,		/* takes a lock */
	TICK_END,	/* queues work for the end of the tick */
	KINDS,
};

/* A timer of the scenario */
struct user_timer {
	struct oracle_timer o;	/* timer, and its record in the oracle */
	enum kind kind;		/* action of its callback */
	bool shutting;		/* flag: a shutdown began */
	bool shut;		/* flag: a shutdown returned */
	u64 noted;		/* number of the last callback that deferred a start */
	u64 gone;		/* number of callbacks before the last stop */
};

/* Work for the end of a tick */
struct user_end {
	struct twheel_tick_end end;
	u64 wanted;			/* order of the last time that it was queued */
	u64 called;			/* order of its last call */
	u64 part[SIM_CPUS];		/* last value that callbacks stored on each CPU */
	u64 seen[SIM_CPUS];		/* latest of these values that a call read */
};

static struct user_timer timers[TIMERS + CROWD];
static struct user_timer others[SIM_USERS];	/* timers, each on a wheel of its own */
static struct user_end ends[ENDS];
static spinlock_t locks[LOCKS];	/* taken by tasks and callbacks */
static struct twheel *wheel;
static int devices;		/* number of device interrupts and softirqs in progress */
static u32 callback_ns;		/* upper bound of the length of a callback */
static u64 order;		/* number of times that work was queued or called */
static bool isolation;		/* flag: tasks change which CPUs are isolated */
static u32 crowd_size;		/* number of timers of the crowd */
static u64 crowd_at;		/* deadline of the crowd */
static bool crowd_waits;	/* flag: the crowd is not started yet */
static bool crowd_stored;	/* flag: deadlines were stored for it */

#define USERS_MAX	1000
#define USERS_OFTEN	200	/* maximum number of users in most of the seeds with users */
#define USERS_PER_MS	50	/* number of payers that run in a period */

/* The wheel of one of many users */
struct user_wheel {
	struct twheel_payer *payer;
	struct twheel *wheel;
	struct oracle_timer timer;	/* restarted whenever it expires */
	u64 last;		/* time of the last expiry */
	u64 pause;		/* longest time between two expiries */
};

static struct user_wheel user_wheels[USERS_MAX];
static u32 nr_users;		/* 0 in most seeds */
static u32 wheel_ns;		/* upper bound of the length of the users' callbacks */
static u32 wheel_delay_ns;	/* upper bound of the delay of the users' timers */
static bool users_over;		/* flag: the users' timers are no longer restarted */

static u64 stored_deadline(struct twheel_timer *timer)
{
	struct oracle_timer *o = container_of(timer, struct oracle_timer, timer);

	o->found = READ_ONCE(o->word);
	sim_asked++;
	return o->found;
}

static void expired(struct twheel_timer *timer);

static const struct twheel_source source = {
	.deadline	= stored_deadline,
	.fn		= expired,
};

static u64 some_deadline(void)
{
	return min_t(u64, sim.now + scenario_delay(), KTIME_MAX);
}

static struct user_timer *timer_of(struct twheel_timer *timer)
{
	return container_of(timer, struct user_timer, o.timer);
}

/* Calls of the API. Each call passes its arguments and its result to the oracle. */

/* Returns whether a timer is surely pending, and its deadline known. */
static bool is_known(const struct oracle_timer *o)
{
	return o->private && o->plain && o->known && o->expect == EXPECT_PENDING;
}

/*
 * Start a timer with twheel_start(). It takes no lock if it finds the timer pending, so with weak
 * memory it may count as made before an earlier call.
 */
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

/* Functions that start a timer. */
enum how {
	START,
	START_ON,
	START_AT,
	RESTART,
	REDUCE,
	DEFER,		/* by twheel_again_at() */
};

static const char * const how_names[] = {
	"start", "start on a CPU", "start at a time", "restart", "reduce", "start again",
};

/* Start a timer. @when: a delay for START and START_ON, a time for the other functions. */
static int call_start(struct oracle_timer *o, enum how how, u64 when, unsigned int cpu)
{
	bool known = is_known(o) && !o->in_flight, is_delay = how <= START_ON;
	u64 high = when;
	struct oracle_call call;
	int ret = 0;

	sim_note("%s %u at %llu", how_names[how], o->nr, is_delay ? sim.now + when : when);
	oracle_starts(o, &call, is_delay ? sim.now + when : when);
	switch (how) {
	case START:
		ret = start_unlocked(o, &call, when);
		break;
	case START_ON:
		ret = twheel_start_on(&o->timer, when, cpu);
		break;
	case START_AT:
		ret = twheel_start_at(&o->timer, when);
		break;
	case RESTART:
		ret = twheel_restart_at(&o->timer, when);
		break;
	case REDUCE:
		ret = twheel_reduce_at(&o->timer, when);
		call.keeps = true;
		if (ret != 1)
			break;
		/* The earlier of @when and the old deadline counts. The old one may be unknown. */
		known = known && o->expired == call.expired;
		call.low = min(when, known ? o->low : o->saved_early);
		high = min(when, known ? o->high : when);
		break;
	case DEFER:
		ret = twheel_again_at(&o->timer, when);
		break;
	}
	if (is_delay)
		high = sim.now + when;
	call.unknown = ret == -EINVAL;
	oracle_started(o, &call, high, how == RESTART ? ret : ret >= 0, ret == 1);
	sim_note("%s %u: %d", how_names[how], o->nr, ret);
	return ret;
}

static int do_start(struct user_timer *ut, enum how how)
{
	struct oracle_timer *o = &ut->o;
	u64 when = how <= START_ON ? scenario_delay() : some_deadline();
	int ret = call_start(o, how, when, sim_below(SIM_CPUS));

	if (ret < 0 && !(ret == -EINVAL && how == START_ON) &&
	    !(ret == -ESHUTDOWN && (ut->shutting || !o->private)))
		sim_fail("timer %u: %s returns %d", o->nr, how_names[how], ret);
	if (o->private && ut->shut && ret >= 0 && how != RESTART)
		sim_fail("timer %u: %s after shutdown returns %d", o->nr, how_names[how], ret);
	return ret;
}

static void do_stop(struct user_timer *ut)
{
	/* Pairs with callback_of(). */
	u64 noted = smp_load_acquire(&ut->noted);
	struct oracle_timer *o = &ut->o;
	struct oracle_call call;
	int ret;

	sim_note("stop %u", o->nr);
	oracle_begin_call(o, &call);
	ret = twheel_stop(&o->timer);
	oracle_stopped(o, &call, ret, false);
	sim_note("stopped %u: %d", o->nr, ret);
	/* A timer that is due may be expiring at this moment. */
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
	oracle_begin_call(&ut->o, &call);
	ut->shutting |= shutdown;
	ret = shutdown ? twheel_shutdown_sync(&ut->o.timer) :
			 twheel_stop_sync(&ut->o.timer);
	oracle_stopped(&ut->o, &call, ret, true);
	ut->gone = ut->o.expired;
	ut->shut |= shutdown;
	sim_note("stop_sync %u: %d", ut->o.nr, ret);
}

static void do_wait(struct user_timer *ut)
{
	struct twheel_expiry_lock *lock;
	struct oracle_call call;

	sim_note("wait for %u", ut->o.nr);
	oracle_begin_call(&ut->o, &call);
	while (twheel_callback_announce(&ut->o.timer, &lock))
		twheel_callback_wait(lock);
	oracle_waited(&ut->o, &call);
	sim_note("waited for %u", ut->o.nr);
}

static void sync_or_wait(struct user_timer *ut)
{
	if (sim_chance(3))
		do_wait(ut);
	else
		do_sync(ut, false);
}

static void do_look(struct user_timer *ut)
{
	struct oracle_timer *o = &ut->o;
	bool known = is_known(o);
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

/* Start or stop several timers of one task in one call, each at most once. */
static void do_many(unsigned int user, int how)
{
	struct twheel_request requests[PRIVATE];
	struct oracle_call calls[PRIVATE];
	struct user_timer *ut = &timers[user * PRIVATE];
	unsigned int nr = 1 + sim_below(PRIVATE), i;

	for (i = 0; i < nr; i++) {
		requests[i].timer = &ut[i].o.timer;
		requests[i].deadline = some_deadline();
		if (how < 2)
			oracle_starts(&ut[i].o, &calls[i], requests[i].deadline);
		else
			oracle_begin_call(&ut[i].o, &calls[i]);
	}
	sim_note("many: %d, from %u", how, ut->o.nr);
	if (how == 0)
		twheel_start_many(requests, nr);
	else if (how == 1)
		twheel_restart_many(requests, nr);
	else
		twheel_stop_many(requests, nr);
	for (i = 0; i < nr; i++, ut++) {
		int ret = requests[i].result;

		ut->gone = ut->o.expired;
		sim_note("many %u: %d", ut->o.nr, ret);
		if (how == 2)
			oracle_stopped(&ut->o, &calls[i], ret, false);
		else
			oracle_started(&ut->o, &calls[i], requests[i].deadline,
				       how ? ret : ret >= 0, ret == 1);
		if (ret < 0 && !ut->shut)
			sim_fail("timer %u: start_many() says %d", ut->o.nr, ret);
	}
}

/* Returns whether the callback takes no lock, so that it can be waited for with any lock held. */
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
		/* Read once: a callback on another CPU may store at the same time. */
		u64 part = READ_ONCE(ue->part[cpu]);

		ue->seen[cpu] = max(ue->seen[cpu], part);
	}
}

static enum how any_start(void)
{
	return START + sim_below(3);
}

static void any_op(struct user_timer *ut)
{
	switch (sim_below(4)) {
	case 0:
		do_stop(ut);
		break;
	case 1:
		do_start(ut, sim_chance(2) ? REDUCE : RESTART);
		break;
	default:
		do_start(ut, any_start());
	}
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

	switch (ut->kind) {
	case SLOW:
		sim_spend(sim_below(callback_ns));
		break;
	case AGAIN:
		if (sim_chance(2)) {
			/* Later starts in this callback only move the timer: it remains pending. */
			if (do_start(ut, DEFER) >= 0)
				/* Pairs with do_stop(). */
				smp_store_release(&ut->noted, ut->o.expired);
			ut->o.strict = false;
		}
		if (sim_chance(2))
			do_start(ut, any_start());
		if (sim_chance(4)) {
			sim_spend(sim_below(callback_ns));
			do_start(ut, any_start());
		}
		if (sim_chance(2))
			do_start(ut, RESTART);
		break;
	case OTHER:
		any_op(shared_timer());
		break;
	case SYNC:
		other = shared_timer();
		if (is_waitable(other))
			sync_or_wait(other);
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

/* Serve an interrupt of a device, or its softirq. */
void sim_device(bool softirq)
{
	struct user_timer *ut = shared_timer();

	if (!scenario.ready || !scenario.ops_left)
		return;
	devices++;
	if (softirq && is_waitable(ut) && sim_chance(2))
		sync_or_wait(ut);
	else
		any_op(ut);
	devices--;
}

/* Tasks. */

/* Returns a shared timer, preferably one whose callback runs. */
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
		sync_or_wait(ut);
	else
		sim_spend(sim_below(1000));
	spin_unlock(lock);
	if (!SIM_RT)
		local_bh_enable();
}

/* Wait for one of many callbacks of a run, with a lock held that other callbacks want. */
static void rendezvous(void)
{
	u64 at = sim.now + sim_below(scenario_ticks(3));
	u32 i;

	for (i = 0; i < SHARED; i++)
		call_start(&timers[SIM_USERS * PRIVATE + i].o, START_AT, at, 0);
	at = scenario_ticks(at / scenario_ticks(1) + 1);
	sim_note("all shared ones are started for %llu", at);
	if (at > sim.now)
		sim_sleep(at - sim.now + sim_below(2 * callback_ns));
	lock_and_wait();
}

static void setup(struct user_timer *ut)
{
	if (ut->o.asks)
		twheel_asked_setup(&ut->o.asked, wheel, &source, 0);
	else
		twheel_timer_setup(&ut->o.timer, wheel, expired, 0);
	/*
	 * Sometimes use a timer that was set up statically: it has no base before its first call.
	 */
	if (sim_chance(2))
		ut->o.timer.base = NULL;
	ut->shutting = false;
	ut->shut = false;
	ut->o.known = !ut->o.asks;
	ut->o.low = 0;
	ut->o.high = 0;
}

/*
 * Let a timer expire on another CPU, and restart it while its callback there is about to note a
 * start, or stop it after that. With weak memory, stop it after a deferred start that this CPU need
 * not know of. So this task neither sleeps nor takes a lock once the callback has begun.
 */
static void disturb_callback(struct user_timer *ut, bool stop)
{
	int count = preempt_count();
	u64 expired = ut->o.expired;
	unsigned int i;

	preempt_count_set(count + 1);
	call_start(&ut->o, START_ON, 0, (sim.cpu + 1) % SIM_CPUS);
	for (i = 0; i < 200 && ut->o.expired == expired; i++)
		sim_relax();
	if (stop) {
		for (i = 0; i < 200; i++) {
			if (sim_weak ? !ut->o.running : READ_ONCE(ut->noted) == ut->o.expired)
				break;
			sim_relax();
		}
		sim_spend(sim_below(300));
		do_stop(ut);
	} else {
		do_start(ut, RESTART);
	}
	preempt_count_set(count);
}

static u64 some_word(const struct oracle_timer *o)
{
	if (sim_chance(16))
		return sim_chance(2) ? U64_MAX : 0;
	if (sim_chance(2))
		return o->early + sim_below(scenario_ticks(4));
	return some_deadline();
}

/* Store a deadline, or many of them just when the timer is due. */
static void do_store(struct oracle_timer *o)
{
	u32 i, nr = 1;

	if (sim_chance(4) && o->early > sim.now && o->early - sim.now < scenario_ticks(8)) {
		sim_sleep(o->early - sim.now);
		nr = 1 + sim_below(20);
	}
	for (i = 0; i < nr; i++) {
		u64 word = some_word(o);

		sim_note("store %llu for %u", word, o->nr);
		oracle_store(o, word);
		if (nr > 1)
			sim_spend(sim_below(scenario_ticks(1) / 4));
	}
}

/* Store later deadlines for the crowd. The wheel may move it to inner slots in the meantime. */
static void store_crowd(void)
{
	u32 i;

	crowd_stored = true;
	sim_note("deadlines are stored for a crowd of %u", crowd_size);
	for (i = 0; i < crowd_size; i++)
		oracle_store(&timers[TIMERS + i].o, crowd_at + sim_below(scenario_ticks(2000)));
}

static void private_op(unsigned int user)
{
	struct user_timer *ut = private_timer(user);
	u32 i;

	/* Prefer a timer whose callback runs. */
	for (i = 0; i < PRIVATE; i++)
		if (timers[user * PRIVATE + i].o.running && sim_chance(2))
			ut = &timers[user * PRIVATE + i];
	if (ut->shut && sim_chance(2))
		setup(ut);
	if (ut->o.asks && sim_chance(2)) {
		do_store(&ut->o);
		return;
	}
	switch (sim_below(16)) {
	case 0 ... 1:
		if (ut->kind == AGAIN && (sim_weak || sim_chance(2)))
			disturb_callback(ut, true);
		else
			do_stop(ut);
		break;
	case 2 ... 4:
		if (sim_chance(3))
			do_sync(ut, true);
		else
			sync_or_wait(ut);
		break;
	case 5:
		do_start(ut, RESTART);
		break;
	case 6:
		do_start(ut, REDUCE);
		break;
	case 7:
		if (ut->kind == AGAIN && sim_chance(2))
			disturb_callback(ut, false);
		else
			do_start(ut, RESTART);
		break;
	case 8 ... 9:
		do_look(ut);
		break;
	case 10:
		do_many(user, sim_below(3));
		break;
	default:
		do_start(ut, any_start());
	}
}

static void start_crowd(void)
{
	u64 at = sim.now + scenario_ticks(600 + sim_below(400));
	u32 i;

	crowd_waits = false;
	crowd_at = at;
	for (i = 0; i < crowd_size; i++)
		if (call_start(&timers[TIMERS + i].o, START_AT, at, 0) < 0)
			sim_fail("timer %u of the crowd is not started", i);
	sim_note("a crowd of %u is started for %llu", crowd_size, at);
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
	struct twheel *w;

	sim_memory_short = sim_chance(4);
	w = twheel_create(&scenario.config);
	sim_memory_short = false;
	if (IS_ERR(w))
		return;
	/*
	 * A start on another CPU sends a kick, which may arrive when the wheel is already being
	 * destroyed.
	 */
	memset(ut, 0, sizeof(*ut));
	twheel_timer_setup(&ut->o.timer, w, expired, 0);
	do_start(ut, START_ON);
	do_sync(ut, false);
	twheel_destroy(w);
}

void scenario_op(unsigned int user)
{
	if (sim_cpus_go && sim_chance(4))
		scenario_hotplug();
	switch (sim_below(32)) {
	case 0:
		if (SIM_RT || sim_chance(2))
			rendezvous();
		else
			lock_and_wait();
		break;
	case 1:
		if (sim_chance(4))
			scenario_hotplug();
		if (isolation && sim_chance(2))
			isolate();
		break;
	case 2:
		if (sim_chance(8))
			second_wheel(user);
		break;
	case 3:
		twheel_prepare_cpu(wheel, raw_smp_processor_id());
		break;
	case 4:
		if (crowd_waits && sim_chance(4))
			start_crowd();
		else if (crowd_at && !crowd_waits && timers[TIMERS].o.asks && !crowd_stored)
			store_crowd();
		break;
	case 5 ... 8:
		any_op(shared_timer());
		break;
	default:
		private_op(user);
	}
}

void scenario_choose(void)
{
	isolation = sim_chance(4);
	if (isolation)
		sim_isolated.bits = sim_below(BIT(SIM_CPUS));
	callback_ns = 1 + sim_below(sim_chance(4) ? 400000 : 5000);
	crowd_size = sim_chance(32) ? 1 + sim_below(CROWD) : 0;
	crowd_waits = crowd_size;
	nr_users = 0;
	if (sim_chance(128))
		nr_users = 1 + sim_below(sim_chance(8) ? USERS_MAX : USERS_OFTEN);
	wheel_ns = 1 + sim_below(10000);
	wheel_delay_ns = sim_chance(2) ? 1 : NSEC_PER_MSEC;
	crowd_at = 0;
	crowd_stored = false;
	devices = 0;
}

static void make_timers(void)
{
	bool crowd_asks = sim_chance(2);
	u32 i;

	memset(timers, 0, (TIMERS + crowd_size) * sizeof(timers[0]));
	for (i = 0; i < TIMERS + crowd_size; i++) {
		if (i >= TIMERS)
			timers[i].kind = SLOW;
		else
			timers[i].kind = sim_chance(2) ? PLAIN : sim_below(KINDS);
		timers[i].o.private = i < SIM_USERS * PRIVATE || i >= TIMERS;
		timers[i].o.plain = timers[i].kind != AGAIN;
		timers[i].o.asks = i < TIMERS ? timers[i].o.private && sim_chance(3) : crowd_asks;
		oracle_add(&timers[i].o);
		setup(&timers[i]);
	}
	for (i = 0; i < ENDS; i++)
		ends[i] = (struct user_end){ .end.fn = tick_end };
	for (i = 0; i < LOCKS; i++)
		spin_lock_init(&locks[i]);
	order = 0;
}

void scenario_begin(void)
{
	wheel = twheel_default();
	make_timers();
}

static void start_of_user(struct oracle_timer *o)
{
	unsigned int cpu = sim_below(SIM_CPUS);

	call_start(o, START_ON, 1 + sim_below(wheel_delay_ns), cpu_online(cpu) ? cpu : sim.cpu);
}

/*
 * Note how long the timer of a user did not expire. A pause with a suspend in it does not count,
 * because the wheels first have to catch up.
 */
static void note_pause(struct user_wheel *uw)
{
	if (uw->last > sim.woke)
		uw->pause = max(uw->pause, sim.now - sim.behind - uw->last);
}

static void user_expired(struct twheel_timer *timer)
{
	struct user_wheel *uw = container_of(timer, struct user_wheel, timer.timer);

	oracle_callback(&uw->timer);
	note_pause(uw);
	uw->last = sim.now - sim.behind;
	sim_spend(sim_below(wheel_ns));
	if (!READ_ONCE(users_over))
		start_of_user(&uw->timer);
	oracle_callback_ends(&uw->timer);
}

static void make_user_wheel(struct user_wheel *uw)
{
	struct twheel_payer *payer = twheel_payer_create();
	struct twheel_config user = {
		.scheme = TWHEEL_HASHED, .slots = TWHEEL_SLOTS_MIN,
		.tick_ns = scenario_ticks(1), .clock = scenario.config.clock,
		.payer = payer,
	};

	*uw = (struct user_wheel) {
		.payer	= payer,
		.wheel	= twheel_create(&user),
		.last	= sim.now - sim.behind,
	};
	if (IS_ERR(uw->wheel))
		sim_fail("no wheel for a user");
	twheel_timer_setup(&uw->timer.timer, uw->wheel, user_expired, 0);
	start_of_user(&uw->timer);
}

/*
 * Run the wheels of the users, after all other events of the seed. Check that no user pauses for
 * longer than @longest, which is computed as if all users were on one CPU:
 *
 *  - Two turns. In a turn each user has a slice. A turn takes a period of 1 ms for each 50 users,
 *    one period for the rest of them, and one because a user may just miss its period. A user may
 *    need a second turn, because runs here may be longer than a slice, and leave no runtime to the
 *    last users of a period. These users are the first of their next period.
 *  - 2 ms more, because users change places within a period, and a softirq may be held up.
 *  - The delay of the timer, and three ticks for its rounding.
 */
static void come_as_users(void)
{
	u64 longest = (nr_users / USERS_PER_MS + 3) * 2 * NSEC_PER_MSEC + scenario_ticks(3) +
		      wheel_delay_ns;
	struct user_wheel *uw;
	u64 ms;

	users_over = false;
	for (uw = user_wheels; uw < user_wheels + nr_users; uw++) {
		make_user_wheel(uw);
		sim_note("a wheel of %u users is made", nr_users);
	}
	/* Wait for the longest pause twice. */
	for (ms = 2 * longest / NSEC_PER_MSEC; ms; ms--) {
		sim_sleep(NSEC_PER_MSEC);
		sim_note("users are busy");
	}
	for (uw = user_wheels; uw < user_wheels + nr_users; uw++) {
		note_pause(uw);
		if (uw->pause > longest)
			sim_fail("a wheel of %u users pauses for %llu ns", nr_users, uw->pause);
	}
	WRITE_ONCE(users_over, true);
	for (uw = user_wheels; uw < user_wheels + nr_users; uw++) {
		twheel_shutdown_sync(&uw->timer.timer);
		twheel_destroy(uw->wheel);
		twheel_payer_destroy(uw->payer);
		sim_note("a wheel of a user is gone");
	}
}

static void count_drained(struct twheel_timer *timer, void *arg)
{
	oracle_drained(&timer_of(timer)->o);
}

void scenario_end(void)
{
	u32 i;

	while (scenario.busy || devices)
		sim_sleep(scenario_ticks(1));
	sim_calm = true;
	scenario.ready = false;
	for (i = 0; crowd_waits && i < TIMERS; i++)
		do_sync(&timers[i], false);
	if (crowd_waits)
		start_crowd();
	if (crowd_at > sim.now)
		sim_sleep(crowd_at - sim.now);
	do {
		sim_sleep(20000000 + scenario_ticks(2));
	} while (oracle_any_late());
	if (nr_users)
		come_as_users();
	if (sim_chance(2)) {
		sim_drain(wheel, count_drained);
		for (i = 0; i < SIM_USERS * PRIVATE; i++)
			if (timers[i].o.plain && twheel_pending(&timers[i].o.timer))
				sim_fail("timer %u: is left by a drain", i);
	}
	for (i = 0; i < TIMERS + crowd_size; i++)
		do_sync(&timers[i], false);
	oracle_end();
	twheel_wheel_exit();
	/* No tick runs any more, so all queued work was called. */
	for (i = 0; i < ENDS; i++) {
		if (ends[i].called < ends[i].wanted)
			sim_fail("end of tick %u was queued and never called", i);
		if (memcmp(ends[i].seen, ends[i].part, sizeof(ends[i].seen)))
			sim_fail("end of tick %u has not seen what a callback did",
				 i);
	}
}
