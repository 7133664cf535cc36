// SPDX-License-Identifier: GPL-2.0
/*
 * The sixth promise: all wheels together leave a CPU half of its time, and do not delay the
 * timers of another user
 *
 * The thread of the cases is the victim. It counts its steps beside the wheels, and alone.
 * Most cases need exact time: the stage that sets exact=1 has one CPU, on which an instruction
 * takes a nanosecond.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "client.h"

#define SHARE_WHEELS	16
#define SHARE_MS	200

/* Share of the CPU that the victim keeps, in thousandths. */
#define SHARE_LEFT	450
#define BYSTANDER_LATE_MAX	(3 * CLIENT_MSEC)
#define SLOW_NS			(5 * CLIENT_MSEC)

/**
 * struct attack - what the timers of one wheel do to a CPU
 * @config: configuration of the first wheel
 * @skew_ns: difference of ticks between two wheels
 * @far: number of timers due in an hour
 * @near: number of timers with a callback that restarts the timer
 * @period_ns: delay of these restarts
 * @spin_ns: duration of these callbacks
 * @slow: number of further such timers, with callbacks of %SLOW_NS
 * @paid: the wheels have a payer
 */
struct attack {
	struct twheel_config config;
	u64 skew_ns;
	unsigned int far;
	unsigned int near;
	u64 period_ns;
	u64 spin_ns;
	unsigned int slow;
	bool paid;
};

struct attack_timer {
	struct twheel_timer timer;
	const struct attack *attack;
};

struct attacker {
	struct twheel_payer *payer;
	struct twheel *wheel;
	struct attack_timer *timers;
	unsigned int nr;
};

/**
 * struct bystander - a timer of another user, every tick
 * @timer: the timer
 * @deadline: its deadline
 * @latest: maximum lateness, ns
 * @late: number of expiries later than %BYSTANDER_LATE_MAX
 */
struct bystander {
	struct twheel_timer timer;
	ktime_t deadline;
	s64 latest;
	unsigned int late;
};

static void spin(u64 ns)
{
	ktime_t end = client_in(ns);

	while (ns && ktime_before(ktime_get(), end))
		cpu_relax();
}

static void near_expired(struct twheel_timer *timer)
{
	struct attack_timer *at = container_of(timer, struct attack_timer, timer);

	spin(at->attack->spin_ns);
	twheel_start(timer, at->attack->period_ns);
}

static void slow_expired(struct twheel_timer *timer)
{
	struct attack_timer *at = container_of(timer, struct attack_timer, timer);

	spin(SLOW_NS);
	twheel_start(timer, at->attack->period_ns);
}

static void far_expired(struct twheel_timer *timer)
{
}

static void end_attack(struct attacker *attacker)
{
	unsigned int i;

	for (i = 0; attacker->timers && i < attacker->nr; i++)
		twheel_shutdown_sync(&attacker->timers[i].timer);
	kvfree(attacker->timers);
	if (!IS_ERR(attacker->wheel))
		twheel_destroy(attacker->wheel);
	twheel_payer_destroy(attacker->payer);
}

static bool begin_attack(struct attacker *attacker, const struct attack *attack,
			 unsigned int number)
{
	struct twheel_config config = attack->config;
	unsigned int i;

	config.name = "attack";
	config.tick_ns += number * attack->skew_ns;
	attacker->nr = attack->far + attack->near + attack->slow;
	attacker->timers = kvcalloc(attacker->nr, sizeof(*attacker->timers),
				    GFP_KERNEL);
	if (attack->paid)
		attacker->payer = twheel_payer_create();
	config.payer = attacker->payer;
	attacker->wheel = twheel_create(&config);
	if (IS_ERR(attacker->wheel) || !attacker->timers)
		return false;
	for (i = 0; i < attacker->nr; i++) {
		struct attack_timer *at = &attacker->timers[i];
		bool far = i < attack->far, near = i < attack->far + attack->near;

		at->attack = attack;
		twheel_timer_setup(&at->timer, attacker->wheel, far ? far_expired :
				   near ? near_expired : slow_expired, 0);
		twheel_start(&at->timer, far ? CLIENT_HOUR : attack->period_ns);
		if (i % 64 == 0)
			cond_resched();
	}
	return true;
}

static void bystander_expired(struct twheel_timer *timer)
{
	struct bystander *b = container_of(timer, struct bystander, timer);
	s64 late = ktime_get() - b->deadline;

	b->latest = max(b->latest, late);
	b->late += late > (s64)BYSTANDER_LATE_MAX;
	b->deadline += CLIENT_MSEC;
	twheel_start_at(timer, b->deadline);
}

/* Returns the steps of the victim in SHARE_MS, and in @held_up its longest wait. */
static u64 victim(u64 *held_up)
{
	ktime_t now = ktime_get(), last = now;
	ktime_t end = now + SHARE_MS * CLIENT_MSEC;
	u64 steps = 0;

	for (*held_up = 0; now < end; last = now) {
		now = ktime_get();
		*held_up = max_t(u64, *held_up, now - last);
		steps++;
		if (steps % 64 == 0)
			cond_resched();
	}
	return steps;
}

static u64 victim_beside_bystander(u64 *held_up, struct bystander *b)
{
	u64 steps;

	b->latest = 0;
	b->late = 0;
	twheel_timer_setup(&b->timer, NULL, bystander_expired,
			   TWHEEL_TIMER_ON_STACK);
	b->deadline = client_in(CLIENT_MSEC);
	twheel_start_at(&b->timer, b->deadline);
	steps = victim(held_up);
	twheel_shutdown_sync(&b->timer);
	twheel_timer_destroy(&b->timer);
	return steps;
}

static void attack_with(struct client *c, const struct attack *attack,
			unsigned int wheels, u64 alone)
{
	struct attacker attackers[SHARE_WHEELS] = {};
	unsigned int i, made = 0;
	u64 steps, left, held_up;
	struct bystander b;

	while (made < wheels &&
	       CLIENT_CHECK(c, begin_attack(&attackers[made], attack, made)))
		made++;
	steps = victim_beside_bystander(&held_up, &b);
	left = div64_u64(steps * 1000, alone);
	pr_info("# %u wheels: %llu/1000 of the CPU left, held up for %llu us, bystander %llu us late\n",
		wheels, left, div_u64(held_up, NSEC_PER_USEC),
		div_u64(b.latest, NSEC_PER_USEC));
	CLIENT_CHECK(c, left >= SHARE_LEFT);
	/* The time slice of another thread may be in between. */
	CLIENT_CHECK(c, held_up <= 5 * CLIENT_MSEC + (attack->slow ? SLOW_NS : 0));
	/* The softirq's thread may wait for the victim once. */
	CLIENT_CHECK(c, b.late <= 1 || attack->slow);
	CLIENT_CHECK(c, b.latest <= 10 * CLIENT_MSEC);
	for (i = 0; i < min(made + 1, wheels); i++)
		end_attack(&attackers[i]);
}

static void attack_with_up_to(struct client *c, const struct attack *attack,
			      unsigned int wheels_max)
{
	u64 alone, held_up;
	unsigned int wheels;

	alone = victim(&held_up);
	for (wheels = 1; wheels <= wheels_max; wheels *= 4)
		attack_with(c, attack, wheels, alone);
}

static void idle_wheels_leave_half_of_a_cpu(struct client *c)
{
	static const struct attack attack = {
		.config = { .tick_ns = TWHEEL_TICK_NS_MIN },
		.skew_ns = 1000,
		.far = 1,
	};

	attack_with_up_to(c, &attack, SHARE_WHEELS);
}

/* The hand looks at many timers that are due in an hour. */
static void long_slots_leave_half_of_a_cpu(struct client *c)
{
	static const struct attack attack = {
		.config = {
			.scheme = TWHEEL_HASHED,
			.slots = TWHEEL_SLOTS_MIN,
			.tick_ns = TWHEEL_TICK_NS_MIN,
		},
		.far = 12000,
		.near = 200,
		.period_ns = TWHEEL_TICK_NS_MIN,
	};

	attack_with_up_to(c, &attack, SHARE_WHEELS);
}

static void short_callbacks_leave_half_of_a_cpu(struct client *c)
{
	static const struct attack attack = {
		.config = { .tick_ns = CLIENT_MSEC },
		.near = 950,
		.period_ns = 1,
		.spin_ns = 1000,
	};

	attack_with_up_to(c, &attack, SHARE_WHEELS);
}

/* Sixteen wheels with such callbacks would take more than a pause makes up for. */
static void long_callbacks_leave_half_of_a_cpu(struct client *c)
{
	static const struct attack attack = {
		.config = { .tick_ns = CLIENT_MSEC },
		.near = 20,
		.period_ns = 1,
		.spin_ns = 100 * NSEC_PER_USEC,
	};

	attack_with_up_to(c, &attack, 4);
}

/*
 * A run reads the clock rarely while callbacks are quick. On a wheel with a payer it must not
 * run many slow callbacks after that.
 */
static void slow_callbacks_behind_quick_ones_leave_half_of_a_cpu(struct client *c)
{
	static const struct attack attack = {
		.config = { .tick_ns = CLIENT_MSEC },
		.near = 63,
		.period_ns = 1,
		.slow = 64,
		.paid = true,
	};

	attack_with_up_to(c, &attack, 1);
}

/*
 * Stalls: for 50 ms nothing runs while many timers are due, as if a hypervisor had stopped the
 * machine. This happens in a callback, between two runs, or in a run that a real-time thread
 * preempts, which takes PREEMPT_RT.
 *
 * A case measures the time from the stall to the next callback, and to the expiry of a timer
 * on another wheel that was due during the stall.
 */

#define STALL_NS	(50 * CLIENT_MSEC)
#define STALL_NR	3000
/* Length of a pause, a run and an interrupt. */
#define STALL_PAUSE_MAX	(CLIENT_MSEC + 50 * NSEC_PER_USEC)
#define STALL_LATE_MAX	(STALL_PAUSE_MAX + 250 * NSEC_PER_USEC)

/**
 * struct stall - a stall and what follows
 * @in_callback: action of the first callback, or NULL
 * @go: completed to let the thread preempt the run
 * @gone: completed after the thread's stall
 * @over: end of the stall
 * @last: end of the last callback, or of the stall
 * @pause: longest time from @last to a callback
 * @expired: number of callbacks
 * @other: time of the expiry on the other wheel
 */
struct stall {
	void (*in_callback)(struct stall *stall);
	struct completion go;
	struct completion gone;
	ktime_t over;
	ktime_t last;
	u64 pause;
	unsigned int expired;
	ktime_t other;
};

struct stall_timer {
	struct twheel_timer timer;
	struct stall *stall;
};

static void stall_cpu(struct stall *stall)
{
	spin(STALL_NS);
	stall->over = ktime_get();
	stall->last = stall->over;
}

static void let_thread_stall(struct stall *stall)
{
	complete(&stall->go);
}

static int stall_thread(void *data)
{
	struct stall *stall = data;

	sched_set_fifo(current);
	wait_for_completion(&stall->go);
	stall_cpu(stall);
	complete(&stall->gone);
	return 0;
}

static bool begin_thread(struct stall *stall)
{
	struct task_struct *thread = kthread_run(stall_thread, stall,
						 "twheel_stall");

	return !IS_ERR(thread);
}

static void stall_expired(struct twheel_timer *timer)
{
	struct stall_timer *st = container_of(timer, struct stall_timer, timer);
	struct stall *stall = st->stall;
	s64 pause = ktime_get() - stall->last;

	if (stall->expired++)
		stall->pause = max_t(u64, stall->pause, pause);
	else if (stall->in_callback)
		stall->in_callback(stall);
	stall->last = ktime_get();
}

static void other_expired(struct twheel_timer *timer)
{
	struct stall_timer *st = container_of(timer, struct stall_timer, timer);

	st->stall->other = ktime_get();
}

/* Stall between two runs, the only time at which this thread runs. */
static void stall_when_some_have_expired(struct stall *stall)
{
	while (READ_ONCE(stall->expired) < STALL_NR / 10)
		cond_resched();
	local_irq_disable();
	stall_cpu(stall);
	local_irq_enable();
}

static void check_stall(struct client *c, const struct stall *stall)
{
	s64 late = stall->other - stall->over;

	pr_info("# longest pause %llu us, another wheel %lld us late\n",
		div_u64(stall->pause, NSEC_PER_USEC),
		div_s64(late, NSEC_PER_USEC));
	CLIENT_CHECK(c, stall->expired == STALL_NR);
	CLIENT_CHECK(c, stall->over);
	CLIENT_CHECK(c, stall->pause <= STALL_PAUSE_MAX);
	CLIENT_CHECK(c, stall->other);
	CLIENT_CHECK(c, late <= (s64)STALL_LATE_MAX);
}

static void run_stall(struct client *c, struct stall *stall,
		      struct stall_timer *timers, struct twheel *other)
{
	ktime_t deadline = client_in(10 * CLIENT_MSEC);
	int i;

	if (stall->in_callback == let_thread_stall &&
	    !CLIENT_CHECK(c, begin_thread(stall)))
		return;
	for (i = 0; i <= STALL_NR; i++) {
		timers[i].stall = stall;
		if (i < STALL_NR)
			twheel_timer_setup(&timers[i].timer, NULL,
					   stall_expired, 0);
		else
			twheel_timer_setup(&timers[i].timer, other,
					   other_expired, 0);
		twheel_start_at(&timers[i].timer,
				i < STALL_NR ? deadline : deadline + STALL_NS / 2);
	}
	if (!stall->in_callback)
		stall_when_some_have_expired(stall);
	if (stall->in_callback == let_thread_stall)
		wait_for_completion(&stall->gone);
	msleep(200);
	check_stall(c, stall);
	for (i = 0; i <= STALL_NR; i++)
		twheel_shutdown_sync(&timers[i].timer);
}

static void stall_with(struct client *c, void (*in_callback)(struct stall *stall))
{
	struct twheel_config config = { .name = "other" };
	struct stall stall = { .in_callback = in_callback };
	struct stall_timer *timers;
	struct twheel *other;

	init_completion(&stall.go);
	init_completion(&stall.gone);
	timers = kvcalloc(STALL_NR + 1, sizeof(*timers), GFP_KERNEL);
	other = twheel_create(&config);
	if (CLIENT_CHECK(c, timers && !IS_ERR(other)))
		run_stall(c, &stall, timers, other);
	if (!IS_ERR(other))
		twheel_destroy(other);
	kvfree(timers);
}

static void stall_in_a_callback_is_followed_by_a_short_pause(struct client *c)
{
	stall_with(c, stall_cpu);
}

static void stall_between_runs_is_followed_by_a_short_pause(struct client *c)
{
	stall_with(c, NULL);
}

static void stall_of_a_preempted_run_is_followed_by_a_short_pause(struct client *c)
{
	stall_with(c, let_thread_stall);
}

const struct client_case client_share_cases[] = {
	CLIENT_CASE(idle_wheels_leave_half_of_a_cpu, .needs = CLIENT_EXACT),
	CLIENT_CASE(long_slots_leave_half_of_a_cpu, .needs = CLIENT_EXACT),
	CLIENT_CASE(short_callbacks_leave_half_of_a_cpu, .needs = CLIENT_EXACT),
	CLIENT_CASE(long_callbacks_leave_half_of_a_cpu, .needs = CLIENT_EXACT),
	CLIENT_CASE(slow_callbacks_behind_quick_ones_leave_half_of_a_cpu, .needs = CLIENT_EXACT),
	CLIENT_CASE(stall_in_a_callback_is_followed_by_a_short_pause, .needs = CLIENT_EXACT),
	CLIENT_CASE(stall_between_runs_is_followed_by_a_short_pause, .needs = CLIENT_EXACT),
	CLIENT_CASE(stall_of_a_preempted_run_is_followed_by_a_short_pause, .needs = CLIENT_EXACT),
	{}
};
