// SPDX-License-Identifier: GPL-2.0
/*
 * Starting and restarting: deadlines, lateness and order
 */
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>

#include "client.h"

/* Largest delay of a callback by an interrupt and earlier callbacks, where time is exact. */
#define CLIENT_LATE_MAX_NS	(500 * NSEC_PER_USEC)

static void note_context(struct client_timer *t)
{
	t->result = IS_ENABLED(CONFIG_PREEMPT_RT) ? !in_hardirq() : in_serving_softirq();
	complete(&t->done);
}

static void start_expires_once_in_softirq(struct client *c, struct client_timer *t)
{
	CLIENT_CHECK(c, !twheel_pending(&t->timer));
	client_expires(t);
	CLIENT_CHECK(c, !twheel_pending(&t->timer));
	CLIENT_CHECK(c, t->result);
	CLIENT_CHECK(c, t->cpu == raw_smp_processor_id());
	client_sleep(5 * c->config.tick_ns);
	CLIENT_CHECK(c, t->count == 1);
	CLIENT_CHECK(c, twheel_stop(&t->timer) == 0);
}

static void restart_later_and_earlier(struct client *c, struct client_timer *t)
{
	CLIENT_CHECK(c, client_start(t, client_delay(c, 30)) == 0);
	if (!client_start(t, CLIENT_HOUR)) {
		c->slow = true;
		return;
	}
	client_sleep(2 * client_delay(c, 30));
	CLIENT_CHECK(c, client_start(t, client_delay(c, 10)) == 1);
	client_wait_once(t);
}

/* Check that twheel_reduce_at() never makes a deadline later, not even by a nanosecond. */
static void reduce_takes_the_earlier_deadline(struct client *c, struct client_timer *t)
{
	ktime_t deadline = client_in(CLIENT_HOUR);

	CLIENT_CHECK(c, twheel_reduce_at(&t->timer, deadline) == 0);
	CLIENT_CHECK(c, twheel_deadline(&t->timer) == deadline);
	CLIENT_CHECK(c, twheel_reduce_at(&t->timer, deadline + 1) == 1);
	CLIENT_CHECK(c, twheel_reduce_at(&t->timer, KTIME_MAX) == 1);
	CLIENT_CHECK(c, twheel_deadline(&t->timer) == deadline);
	CLIENT_CHECK(c, twheel_reduce_at(&t->timer, deadline - 1) == 1);
	CLIENT_CHECK(c, twheel_deadline(&t->timer) == deadline - 1);
	WRITE_ONCE(t->not_before, client_in(client_delay(c, 5)));
	CLIENT_CHECK(c, twheel_reduce_at(&t->timer, t->not_before) == 1);
	client_wait_once(t);
}

/* Use the longest delays, which end beyond the range of the clock. */
static void far_deadlines_stay_pending(struct client *c, struct client_timer *t)
{
	CLIENT_CHECK(c, client_start(t, U64_MAX) == 0);
	CLIENT_CHECK(c, client_start_at(t, KTIME_MAX) == 1);
	client_sleep(5 * c->config.tick_ns);
	CLIENT_CHECK(c, t->count == 0);
	CLIENT_CHECK(c, client_start_soon(t) == 1);
	client_wait(t);
	CLIENT_CHECK(c, t->count == 1);
}

static void start_on_expires_on_that_cpu(struct client *c, struct client_timer *t)
{
	int cpu = client_other_cpu();

	t->not_before = client_in(client_delay(c, 5));
	/* A start must also move a timer that is pending on another CPU. */
	CLIENT_CHECK(c, twheel_start(&t->timer, CLIENT_HOUR) == 0);
	CLIENT_CHECK(c, twheel_start_on(&t->timer, client_delay(c, 5), cpu) == 1);
	client_wait(t);
	CLIENT_CHECK(c, t->cpu == cpu);
	/*
	 * A timer that is started while its callback runs remains on that CPU, so wait for the
	 * callback.
	 */
	twheel_stop_sync(&t->timer);
	client_expires(t);
	CLIENT_CHECK(c, t->cpu == raw_smp_processor_id());
	CLIENT_CHECK(c, twheel_start_on(&t->timer, 0, -1) == -EINVAL);
	CLIENT_CHECK(c, twheel_start_on(&t->timer, 0, nr_cpu_ids) == -EINVAL);
	CLIENT_CHECK(c, !twheel_pending(&t->timer));
}

/*
 * Return true if the CPU is isolated. RCU is needed because newer kernels change the mask of
 * isolated CPUs, and free the old one after a grace period.
 */
static bool client_is_isolated(int cpu)
{
	bool isolated;

	rcu_read_lock();
	isolated = !housekeeping_test_cpu(cpu, HK_TYPE_TIMER) || cpu_is_isolated(cpu);
	rcu_read_unlock();
	return isolated;
}

int client_isolated_cpu(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (client_is_isolated(cpu))
			return cpu;
	return -1;
}

static int client_start_there(struct client_timer *t)
{
	return twheel_start_on(&t->timer, client_delay(t->client, 5), smp_processor_id());
}

/* Check that an isolated CPU runs a timer only if the start names this CPU. */
static void isolated_cpu_has_timers_that_name_it(struct client *c, struct client_timer *t)
{
	int cpu = client_isolated_cpu();

	CLIENT_CHECK(c, client_expires_on(t, cpu, client_start_soon) != cpu);
	CLIENT_CHECK(c, client_expires_on(t, cpu, client_start_there) == cpu);
	/* The next start that does not name the CPU moves the timer away again. */
	CLIENT_CHECK(c, client_expires_on(t, cpu, client_start_soon) != cpu);
}

/*
 * Check that timers which two isolated CPUs start expire on two different CPUs, neither of them
 * isolated. The numbers of the isolated CPUs are consecutive.
 */
static void isolated_cpus_spread(struct client *c, struct client_timer *t)
{
	int isolated = client_isolated_cpu(), cpu, i, cpus[2];

	if (num_online_cpus() < 4 || !client_is_isolated(isolated + 1)) {
		c->skipped = "it takes two isolated CPUs and two others";
		return;
	}
	for_each_online_cpu(cpu)
		CLIENT_CHECK(c, twheel_prepare_cpu(c->wheel, cpu) == 0);
	for (i = 0; i < 4; i++) {
		cpu = client_expires_on(t, isolated + i % 2, client_start_soon);
		CLIENT_CHECK(c, i < 2 || cpus[i % 2] == cpu);
		cpus[i % 2] = cpu;
		CLIENT_CHECK(c, !client_is_isolated(cpu));
	}
	CLIENT_CHECK(c, cpus[0] != cpus[1]);
}

#define CLIENT_QUIET_NS	(20 * (u64)NSEC_PER_SEC)

static void client_next_period(struct client_timer *t)
{
	twheel_again_at(&t->timer, twheel_deadline(&t->timer) + t->client->config.tick_ns);
}

/*
 * Let an isolated CPU start a periodic timer, and run it for 20 s. The timer must not interrupt
 * that CPU: tests/vm/guest/isolated counts the interrupts.
 */
static void isolated_cpu_is_left_alone(struct client *c, struct client_timer *t)
{
	int cpu = client_isolated_cpu();

	CLIENT_CHECK(c, client_call_on(cpu, client_start_soon, t) == 0);
	client_sleep(CLIENT_QUIET_NS);
	CLIENT_CHECK(c, t->count > 100);
	CLIENT_CHECK(c, t->cpu != cpu);
}

/* Check the lateness. A deadline that is rounded wrongly by a tick shows in the minimum, too. */
static void check_lateness(struct client *c)
{
	s64 min = atomic64_read(&c->late_min), max = atomic64_read(&c->late_max);

	pr_info("# late by %lld to %lld us, tick %llu us\n",
		div_s64(min, NSEC_PER_USEC), div_s64(max, NSEC_PER_USEC),
		div_u64(c->config.tick_ns, NSEC_PER_USEC));
	CLIENT_CHECK(c, !c->exact || max <= (s64)(c->config.tick_ns + CLIENT_LATE_MAX_NS));
	CLIENT_CHECK(c, !c->exact || min < (s64)c->config.tick_ns);
}

#define RANDOM_NR	300

/*
 * Choose a delay below 2^@bits ticks. Each number of bits is equally likely, so that all levels of
 * a wheel are used.
 */
static u64 random_delay(struct client *c, unsigned int bits)
{
	u64 ticks = get_random_u32() & (BIT(get_random_u32() % bits) - 1);

	return ticks * c->config.tick_ns + get_random_u32() % (u32)c->config.tick_ns;
}

/*
 * Start or stop @t at random. Returns 1 if it became pending, -1 if it was pending and is not any
 * more.
 */
static int random_operation(struct client *c, struct client_timer *t)
{
	u64 delay = random_delay(c, 18);

	switch (get_random_u32() % 6) {
	case 0:
		return -twheel_stop(&t->timer);
	case 1:
		return !client_start(t, delay);
	default:
		return !client_start_at(t, client_in(delay));
	}
}

static bool is_missed(struct client *c, struct client_timer *t)
{
	s64 late = ktime_to_ns(ktime_sub(ktime_get(), READ_ONCE(t->not_before)));

	return twheel_pending(&t->timer) &&
	       late > (s64)(c->config.tick_ns + CLIENT_LATE_MAX_NS);
}

/* Start and stop timers at random. Sometimes sleep in between, so that the wheel may doze. */
static void never_early_and_one_tick_late(struct client *c, struct client_timer *t)
{
	unsigned int operations = c->exact ? 10000 : 300, nr, i;
	int started = 0, expired = 0, missed = 0;

	for (nr = 0; nr < operations; nr++) {
		started += random_operation(c, &t[get_random_u32() % RANDOM_NR]);
		if (get_random_u32() % 64)
			continue;
		client_sleep(random_delay(c, c->exact ? 11 : 6));
		for (i = 0; i < RANDOM_NR; i++)
			missed += is_missed(c, &t[i]);
	}
	for (i = 0; i < RANDOM_NR; i++) {
		started -= twheel_stop_sync(&t[i].timer);
		expired += t[i].count;
	}
	pr_info("# %u operations, %d expiries\n", nr, expired);
	CLIENT_CHECK(c, !c->exact || !missed);
	CLIENT_CHECK(c, started == expired);
	check_lateness(c);
}

const struct client_case client_start_cases[] = {
	CLIENT_CASE(start_expires_once_in_softirq, .then = note_context),
	CLIENT_CASE(restart_later_and_earlier),
	CLIENT_CASE(reduce_takes_the_earlier_deadline),
	CLIENT_CASE(far_deadlines_stay_pending),
	CLIENT_CASE(start_on_expires_on_that_cpu, .needs = CLIENT_CPUS),
	CLIENT_CASE(isolated_cpu_is_left_alone, .then = client_next_period,
		    .needs = CLIENT_DEFAULT | CLIENT_ISOLATED),
	CLIENT_CASE(isolated_cpu_has_timers_that_name_it, .needs = CLIENT_ISOLATED),
	CLIENT_CASE(isolated_cpus_spread, .needs = CLIENT_ISOLATED),
	CLIENT_CASE(never_early_and_one_tick_late, .nr = RANDOM_NR),
	{}
};
