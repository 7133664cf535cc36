// SPDX-License-Identifier: GPL-2.0
/*
 * All wheels together leave a CPU almost half of its time, and do not delay the timers of another
 * user
 *
 * The thread of the cases is the victim. It counts the steps of a loop while the wheels run, and
 * while they do not. Most cases need exact time: the stage that sets exact=1 has one CPU, on which
 * an instruction takes a nanosecond.
 */
#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/sched.h>

#include "client.h"

#define SHARE_MS	200

/* Share of the CPU that the victim keeps, in thousandths. */
#define SHARE_LEFT	450
#define BYSTANDER_LATE_MAX	(3 * CLIENT_MSEC)
#define SLOW_NS			(5 * CLIENT_MSEC)

/**
 * struct attack - what the timers of one wheel do to a CPU
 * @config: configuration of the first wheel
 * @skew_ns: difference of ticks between two wheels
 * @wheels: largest number of wheels
 * @far: number of timers due in an hour
 * @near: number of timers whose callbacks restart them
 * @period_ns: delay of these restarts
 * @spin_ns: duration of these callbacks
 * @slow: number of additional timers like @near, but with callbacks of %SLOW_NS
 * @paid: the wheels have a payer
 */
struct attack {
	struct twheel_config config;
	u64 skew_ns;
	unsigned int wheels;
	unsigned int far;
	unsigned int near;
	u64 period_ns;
	u64 spin_ns;
	unsigned int slow;
	bool paid;
};

/*
 * The bystander is a timer of another user with a period of 1 ms. Its largest lateness, and how
 * often it was later than BYSTANDER_LATE_MAX.
 */
static s64 bystander_latest;
static unsigned int bystander_late;

static void near_expired(struct client_timer *t)
{
	const struct attack *attack = t->data;

	client_spin(attack->spin_ns);
	twheel_start(&t->timer, attack->period_ns);
}

static void slow_expired(struct client_timer *t)
{
	const struct attack *attack = t->data;

	client_spin(SLOW_NS);
	twheel_start(&t->timer, attack->period_ns);
}

static void start_attackers(struct client *c, struct attack *attack, unsigned int nr,
			    u64 delay_ns, void (*then)(struct client_timer *t))
{
	struct client_timer *t = client_timers_new(c, nr, then);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		t[i].data = attack;
		twheel_start(&t[i].timer, delay_ns);
		if (i % 64 == 0)
			cond_resched();
	}
}

static bool begin_attack(struct client *c, struct attack *attack, unsigned int number)
{
	struct twheel_config config = attack->config;

	config.name = "attack";
	config.tick_ns += number * attack->skew_ns;
	if (attack->paid)
		config.payer = twheel_payer_create();
	if (!client_wheel_new(c, &config))
		return false;
	start_attackers(c, attack, attack->far, CLIENT_HOUR, NULL);
	start_attackers(c, attack, attack->near, attack->period_ns, near_expired);
	start_attackers(c, attack, attack->slow, attack->period_ns, slow_expired);
	return true;
}

static void bystander_expired(struct client_timer *t)
{
	s64 late = t->fired - t->not_before;

	bystander_latest = max(bystander_latest, late);
	bystander_late += late > (s64)BYSTANDER_LATE_MAX;
	client_start_at(t, t->not_before + CLIENT_MSEC);
}

/* Count the steps of the victim in SHARE_MS. @held_up is its longest wait between two steps. */
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

static u64 victim_beside_bystander(struct client *c, u64 *held_up)
{
	struct client_timer *t;
	u64 steps;

	c->wheel = twheel_default();
	t = client_timer_new(c, bystander_expired);
	bystander_latest = 0;
	bystander_late = 0;
	client_start_at(t, client_in(CLIENT_MSEC));
	steps = victim(held_up);
	twheel_shutdown_sync(&t->timer);
	return steps;
}

static void attack_with(struct client *c, struct attack *attack, unsigned int wheels, u64 alone)
{
	u64 left, held_up;
	unsigned int i;

	for (i = 0; i < wheels; i++)
		if (!begin_attack(c, attack, i))
			return;
	left = div64_u64(victim_beside_bystander(c, &held_up) * 1000, alone);
	pr_info("# %u wheels: %llu/1000 of the CPU left, held up for %llu us, bystander %llu us late\n",
		wheels, left, div_u64(held_up, NSEC_PER_USEC),
		div_u64(bystander_latest, NSEC_PER_USEC));
	CLIENT_CHECK(c, left >= SHARE_LEFT);
	/* Between two steps, another thread may run for a time slice. */
	CLIENT_CHECK(c, held_up <= 5 * CLIENT_MSEC + (attack->slow ? SLOW_NS : 0));
	/* Once, ksoftirqd may have to wait until the victim leaves the CPU. */
	CLIENT_CHECK(c, bystander_late <= 1 || attack->slow);
	CLIENT_CHECK(c, bystander_latest <= 10 * CLIENT_MSEC);
}

static void leave_half_of_a_cpu(struct client *c, struct client_timer *t)
{
	struct attack *attack = t->data;
	u64 alone, held_up;
	unsigned int wheels;

	alone = victim(&held_up);
	for (wheels = 1; wheels <= attack->wheels; wheels *= 4) {
		attack_with(c, attack, wheels, alone);
		client_clean(c);
	}
}

static struct attack idle_wheels = {
	.config = { .tick_ns = TWHEEL_TICK_NS_MIN },
	.skew_ns = 1000,
	.wheels = 16,
	.far = 1,
};

/*
 * An attack with many timers that are due in an hour. The wheel has only two slots, so each tick
 * looks at many of these timers.
 */
static struct attack long_slots = {
	.config = {
		.scheme = TWHEEL_HASHED,
		.slots = TWHEEL_SLOTS_MIN,
		.tick_ns = TWHEEL_TICK_NS_MIN,
	},
	.wheels = 16,
	.far = 12000,
	.near = 200,
	.period_ns = TWHEEL_TICK_NS_MIN,
};

static struct attack short_callbacks = {
	.config = { .tick_ns = CLIENT_MSEC },
	.wheels = 16,
	.near = 950,
	.period_ns = 1,
	.spin_ns = 1000,
};

/*
 * Callbacks that take long. The attack has only four wheels: sixteen would take more time than a
 * pause makes up for.
 */
static struct attack long_callbacks = {
	.config = { .tick_ns = CLIENT_MSEC },
	.wheels = 4,
	.near = 20,
	.period_ns = 1,
	.spin_ns = 100 * NSEC_PER_USEC,
};

/*
 * Slow callbacks after quick ones. While callbacks are quick, a run reads the clock rarely. On a
 * wheel with a payer it must still not run many slow callbacks after them.
 */
static struct attack slow_callbacks_behind_quick_ones = {
	.config = { .tick_ns = CLIENT_MSEC },
	.wheels = 1,
	.near = 63,
	.period_ns = 1,
	.slow = 64,
	.paid = true,
};

/*
 * A stall: for 50 ms nothing else runs while many timers become due, as if a hypervisor stopped the
 * machine. The first callback takes that long.
 *
 * The case measures the time from the stall to the next callback, and to the expiry of a timer on
 * another wheel that became due during the stall.
 */

#define STALL_NS	(50 * CLIENT_MSEC)
#define STALL_NR	3000
/* Limits: the length of a pause, and the length of a pause, a run and an interrupt together. */
#define STALL_PAUSE_MAX	(CLIENT_MSEC + 50 * NSEC_PER_USEC)
#define STALL_LATE_MAX	(STALL_PAUSE_MAX + 250 * NSEC_PER_USEC)

/**
 * struct stall - a stall and what follows
 * @over: end of the stall
 * @last: end of the last callback
 * @pause: longest time from @last to a callback
 * @expired: number of callbacks
 */
static struct stall {
	ktime_t over;
	ktime_t last;
	u64 pause;
	unsigned int expired;
} stall;

static void stall_expired(struct client_timer *t)
{
	if (stall.expired++) {
		stall.pause = max_t(u64, stall.pause, t->fired - stall.last);
	} else {
		client_spin(STALL_NS);
		stall.over = ktime_get();
	}
	stall.last = ktime_get();
}

static void stall_is_followed_by_a_short_pause(struct client *c, struct client_timer *t)
{
	static const struct twheel_config config = { .name = "other" };
	ktime_t deadline = client_in(10 * CLIENT_MSEC);
	struct client_timer *other;
	s64 late;
	int i;

	stall = (struct stall) {};
	if (!client_wheel_new(c, &config))
		return;
	other = client_timer_new(c, NULL);
	for (i = 0; i < STALL_NR; i++)
		client_start_at(&t[i], deadline);
	client_start_at(other, deadline + STALL_NS / 2);
	msleep(200);
	late = other->fired - stall.over;
	pr_info("# longest pause %llu us, another wheel %lld us late\n",
		div_u64(stall.pause, NSEC_PER_USEC), div_s64(late, NSEC_PER_USEC));
	CLIENT_CHECK(c, stall.expired == STALL_NR);
	CLIENT_CHECK(c, stall.pause <= STALL_PAUSE_MAX);
	CLIENT_CHECK(c, other->count == 1);
	CLIENT_CHECK(c, late <= (s64)STALL_LATE_MAX);
}

/*
 * On PREEMPT_RT, a task preempts the thread of softirqs in a callback. The time of the preemption
 * must not count as time of the wheel's payer, which would delay the next callback.
 */

#define PREEMPTION_NS	(10 * CLIENT_MSEC)
#define PREEMPTED_LATE_MAX	(3 * CLIENT_MSEC)

/* Wake up the thread of the cases, which preempts this callback. */
static void preempted_expired(struct client_timer *t)
{
	twheel_start(&t->timer, CLIENT_MSEC);
	complete(&t->done);
}

static void a_payer_does_not_pay_for_a_preemption(struct client *c, struct client_timer *t)
{
	struct twheel_config config = {
		.name = "preempted", .tick_ns = CLIENT_MSEC, .payer = twheel_payer_create(),
	};
	ktime_t over;
	s64 late;

	if (!client_wheel_new(c, &config))
		return;
	t = client_timer_new(c, preempted_expired);
	sched_set_fifo(current);
	twheel_start(&t->timer, CLIENT_MSEC);
	wait_for_completion(&t->done);
	client_spin(PREEMPTION_NS);
	over = ktime_get();
	sched_set_normal(current, 0);
	wait_for_completion(&t->done);
	late = t->fired - over;
	pr_info("# next callback %lld us after the preemption\n", div_s64(late, NSEC_PER_USEC));
	CLIENT_CHECK(c, t->count == 2);
	CLIENT_CHECK(c, late <= (s64)PREEMPTED_LATE_MAX);
}

const struct client_case client_share_cases[] = {
	CLIENT_LIKE(idle_wheels_leave_half_of_a_cpu, leave_half_of_a_cpu,
		    .data = &idle_wheels, .needs = CLIENT_EXACT),
	CLIENT_LIKE(long_slots_leave_half_of_a_cpu, leave_half_of_a_cpu,
		    .data = &long_slots, .needs = CLIENT_EXACT),
	CLIENT_LIKE(short_callbacks_leave_half_of_a_cpu, leave_half_of_a_cpu,
		    .data = &short_callbacks, .needs = CLIENT_EXACT),
	CLIENT_LIKE(long_callbacks_leave_half_of_a_cpu, leave_half_of_a_cpu,
		    .data = &long_callbacks, .needs = CLIENT_EXACT),
	CLIENT_LIKE(slow_callbacks_behind_quick_ones_leave_half_of_a_cpu, leave_half_of_a_cpu,
		    .data = &slow_callbacks_behind_quick_ones, .needs = CLIENT_EXACT),
	CLIENT_CASE(stall_is_followed_by_a_short_pause, .then = stall_expired,
		    .nr = STALL_NR, .needs = CLIENT_EXACT),
	CLIENT_CASE(a_payer_does_not_pay_for_a_preemption, .needs = CLIENT_EXACT | CLIENT_RT),
	{}
};
