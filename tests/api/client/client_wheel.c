// SPDX-License-Identifier: GPL-2.0
/*
 * Creating, draining and destroying wheels
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <core/base.h>

#include "client.h"

/* Draining, which is tested on each wheel of the client. */

static void count_drained(struct twheel_timer *timer, void *arg)
{
	struct client_timer *t = container_of(timer, struct client_timer, timer);
	unsigned int *drained = arg;

	t->order = twheel_pending(timer) ? 1000 : t->order + 1;
	++*drained;
}

static void start_to_drain(struct client_timer *t, unsigned int nr)
{
	int cpu = client_other_cpu();

	if (nr % 2 && cpu >= 0)
		twheel_start_on(&t->timer, CLIENT_HOUR << nr % 19, cpu);
	else
		client_start(t, CLIENT_HOUR << nr % 19);
}

static void drain_hands_over_each_pending_timer(struct client *c, struct client_timer *t)
{
	unsigned int drained = 0, i;

	for (i = 0; i < CLIENT_TIMERS_NR; i++)
		start_to_drain(&t[i], i);
	twheel_stop(&t[17].timer);
	CLIENT_CHECK(c, twheel_drain(c->wheel, count_drained, &drained) == CLIENT_TIMERS_NR - 1);
	CLIENT_CHECK(c, drained == CLIENT_TIMERS_NR - 1);
	for (i = 0; i < CLIENT_TIMERS_NR; i++)
		CLIENT_CHECK(c, t[i].order == (i != 17));
	CLIENT_CHECK(c, twheel_drain(c->wheel, count_drained, &drained) == 0);
}

static void free_drained(struct twheel_timer *timer, void *arg)
{
	twheel_shutdown_sync(timer);
	twheel_timer_destroy(timer);
	kfree(container_of(timer, struct client_timer, timer));
}

static void drain_may_free_the_timers(struct client *c, struct client_timer *t)
{
	unsigned int i;

	for (i = 0; i < CLIENT_TIMERS_NR; i++) {
		t = kmalloc(sizeof(*t), GFP_KERNEL | __GFP_NOFAIL);
		client_timer_init(c, t, NULL);
		start_to_drain(t, i);
	}
	CLIENT_CHECK(c, twheel_drain(c->wheel, free_drained, NULL) == CLIENT_TIMERS_NR);
}

const struct client_case client_drain_cases[] = {
	CLIENT_CASE(drain_hands_over_each_pending_timer, .nr = CLIENT_TIMERS_NR,
		    .needs = CLIENT_OWN),
	CLIENT_CASE(drain_may_free_the_timers, .needs = CLIENT_OWN),
	{}
};

/* Creating and destroying. */

/*
 * Check that invalid configurations are refused. The selftests check the configurations that users
 * can pass.
 */
static void create_refuses_bad_configs(struct client *c, struct client_timer *t)
{
	static const struct twheel_config configs[] = {
		{ .scheme = TWHEEL_NR_SCHEMES },
		{ .mode = TWHEEL_NR_MODES },
		{ .mode = TWHEEL_TICKLESS, .doze = 2 },
		{ .tick_ns = NSEC_PER_MSEC + (1ULL << 32) },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(configs); i++)
		if (!CLIENT_CHECK(c, twheel_create(&configs[i]) == ERR_PTR(-EINVAL)))
			pr_info("# config %u\n", i);
}

/*
 * Create a wheel with the configuration @asked, check that it has @expected, and let a timer
 * expire.
 */
static void check_created(struct client *c, struct twheel_config asked,
			  const struct twheel_config *expected)
{
	const struct twheel_config *config = &c->config;
	char name[] = "mine";
	struct client_timer *t;

	asked.name = name;
	if (!client_wheel_new(c, &asked))
		return;
	/* The wheel must have a copy of the name. */
	name[0] = 'x';
	CLIENT_CHECK(c, !strcmp(config->name, "mine"));
	CLIENT_CHECK(c, config->scheme == expected->scheme);
	CLIENT_CHECK(c, config->mode == expected->mode);
	CLIENT_CHECK(c, config->tick_ns == expected->tick_ns);
	CLIENT_CHECK(c, config->slots == expected->slots);
	CLIENT_CHECK(c, config->doze == expected->doze);
	CLIENT_CHECK(c, config->clock == (expected->clock ?: CLOCK_MONOTONIC));
	t = client_timer_new(c, NULL);
	client_start(t, 1);
	client_wait(t);
	client_clean(c);
}

static void create_completes_a_config_and_copies_its_name(struct client *c, struct client_timer *t)
{
	static const struct {
		struct twheel_config asked;
		unsigned int slots;
	} configs[] = {
		{ { }, 0 },
		{ { .scheme = TWHEEL_HASHED }, TWHEEL_SLOTS_DEFAULT },
		{ { .scheme = TWHEEL_HASHED, .slots = 65 }, 128 },
		{ { .clock = CLOCK_BOOTTIME }, 0 },
		/* the largest and smallest values */
		{ { .mode = TWHEEL_TICKLESS, .doze = 1, .tick_ns = TWHEEL_TICK_NS_MAX }, 0 },
		{ { .doze = UINT_MAX, .tick_ns = TWHEEL_TICK_NS_MAX }, 0 },
		{ { .doze = UINT_MAX, .tick_ns = TWHEEL_TICK_NS_MIN }, 0 },
		{ { .tick_ns = TWHEEL_TICK_NS_MIN, .scheme = TWHEEL_HASHED,
		    .slots = TWHEEL_SLOTS_MAX }, TWHEEL_SLOTS_MAX },
		{ { .tick_ns = TWHEEL_TICK_NS_MIN, .scheme = TWHEEL_HASHED,
		    .slots = TWHEEL_SLOTS_MIN }, TWHEEL_SLOTS_MIN },
	};
	u64 tick_ns = c->config.tick_ns;
	struct twheel_config expected;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(configs); i++) {
		expected = configs[i].asked;
		expected.slots = configs[i].slots;
		expected.tick_ns = expected.tick_ns ?: tick_ns;
		check_created(c, configs[i].asked, &expected);
	}
}

/*
 * Check a deadline on CLOCK_BOOTTIME. A wrong clock shows only in the simulation, where this clock
 * is ahead of CLOCK_MONOTONIC.
 */
static void a_wheel_on_boottime(struct client *c, struct client_timer *t)
{
	const struct twheel_config config = { .clock = CLOCK_BOOTTIME };
	ktime_t before;

	CLIENT_CHECK(c, twheel_clock_time(CLOCK_BOOTTIME, KTIME_MAX) == KTIME_MAX);
	if (!client_wheel_new(c, &config))
		return;
	t = client_timer_new(c, NULL);
	before = ktime_get_boottime();
	twheel_start(&t->timer, CLIENT_HOUR);
	CLIENT_CHECK(c, twheel_start(&t->timer, 2 * CLIENT_HOUR) == 1);
	CLIENT_CHECK(c, twheel_deadline(&t->timer) >= before + 2 * CLIENT_HOUR);
	CLIENT_CHECK(c, twheel_remaining(&t->timer) <= 2 * CLIENT_HOUR);
}

/* Destroy a wheel right after the callback of its last timer. */
static void destroy_right_after_the_last_timer(struct client *c, struct client_timer *t)
{
	struct twheel_config config = { .name = "brief", .mode = TWHEEL_TICKLESS };
	int i;

	for (i = 0; i < 20 && client_wheel_new(c, &config); i++) {
		t = client_timer_new(c, NULL);
		client_start(t, 0);
		client_wait(t);
		client_clean(c);
	}
}

/* Slots of a CPU. */

static long create_default(void *arg)
{
	struct client *c = arg;
	struct twheel_config config = {};

	return client_wheel_new(c, &config) ? 0 : -ENOMEM;
}

static long prepare(void *wheel)
{
	return twheel_prepare_cpu(wheel, raw_smp_processor_id());
}

static int expires_on(struct client_timer *t, int cpu)
{
	return client_expires_on(t, cpu, client_start_soon);
}

/* Check that a wheel with a payer has slots only where it was created or prepared. */
static void a_wheel_with_a_payer_has_slots_where_prepared(struct client *c, struct client_timer *t)
{
	struct twheel_config config = { .payer = twheel_payer_create() };
	int here = raw_smp_processor_id();
	int cpu = client_other_cpu();
	int i;

	if (!client_wheel_new(c, &config))
		return;
	t = client_timer_new(c, NULL);
	CLIENT_CHECK(c, expires_on(t, here) == here);
	for (i = 0; i < 10; i++)
		CLIENT_CHECK(c, expires_on(t, cpu) == here);
	CLIENT_CHECK(c, work_on_cpu(cpu, prepare, c->wheel) == 0);
	CLIENT_CHECK(c, expires_on(t, cpu) == cpu);
	CLIENT_CHECK(c, work_on_cpu(cpu, prepare, c->wheel) == 0);
	CLIENT_CHECK(c, expires_on(t, here) == here);
}

/*
 * Start a timer on @cpu again and again, until it expires there. It expires on another CPU as long
 * as @cpu has no slots.
 */
static void wait_for_slots(struct client *c, struct client_timer *t, int cpu)
{
	int tries = 1000;

	while (!c->failed && expires_on(t, cpu) != cpu)
		CLIENT_CHECK(c, --tries);
}

static void default_wheel_has_slots_where_timers_start(struct client *c, struct client_timer *t)
{
	wait_for_slots(c, t, client_other_cpu());
}

/*
 * Check that a new wheel has slots only on the CPU that created it, and gets them on another CPU
 * after the first timer there.
 */
static void a_new_wheel_has_slots_where_timers_start(struct client *c, struct client_timer *t)
{
	int cpu = client_other_cpu();

	if (create_default(c))
		return;
	t = client_timer_new(c, NULL);
	CLIENT_CHECK(c, expires_on(t, cpu) == raw_smp_processor_id());
	wait_for_slots(c, t, cpu);
}

/* Take the only CPU with slots offline, while a timer is pending there. */
static void a_new_wheel_keeps_its_timers_at_hotplug(struct client *c, struct client_timer *t)
{
	int cpu = client_other_cpu();

	if (work_on_cpu(cpu, create_default, c))
		return;
	t = client_timer_new(c, NULL);
	client_start(t, CLIENT_HOUR);
	if (remove_cpu(cpu)) {
		c->skipped = "no CPU can go offline";
		return;
	}
	CLIENT_CHECK(c, client_start_soon(t) == 1);
	client_wait(t);
	CLIENT_CHECK(c, t->cpu != cpu);
	CLIENT_CHECK(c, add_cpu(cpu) == 0);
}

/*
 * Slow work for the end of a tick. A run of a wheel with a payer does only a part of this work. The
 * rest must be done when the wheel is destroyed, or the CPU goes offline.
 */

#define ENDS	64

static struct {
	struct twheel_tick_end ends[ENDS];
	struct completion begun;
	atomic_t done;
} leaving;

static void end_slowly(struct twheel_tick_end *end)
{
	complete(&leaving.begun);
	mdelay(4);
	atomic_inc(&leaving.done);
}

static void queue_ends(struct client_timer *t)
{
	int i;

	for (i = 0; i < ENDS; i++)
		twheel_at_tick_end(&t->timer, &leaving.ends[i]);
}

/* Queue the work on @cpu, on a wheel with a payer, and wait until it begins. */
static bool begin_to_leave(struct client *c, int cpu)
{
	const struct twheel_config config = { .payer = twheel_payer_create() };
	int i;

	if (!client_wheel_new(c, &config))
		return false;
	memset(&leaving, 0, sizeof(leaving));
	init_completion(&leaving.begun);
	for (i = 0; i < ENDS; i++)
		leaving.ends[i].fn = end_slowly;
	CLIENT_CHECK(c, twheel_prepare_cpu(c->wheel, cpu) == 0);
	CLIENT_CHECK(c, twheel_start_on(&client_timer_new(c, queue_ends)->timer, 0, cpu) == 0);
	return client_wait_done(c, &leaving.begun);
}

static void destroy_does_what_a_run_left(struct client *c, struct client_timer *t)
{
	begin_to_leave(c, raw_smp_processor_id());
	client_clean(c);
	CLIENT_CHECK(c, atomic_read(&leaving.done) == ENDS);
}

static void offline_does_what_a_run_left(struct client *c, struct client_timer *t)
{
	int cpu = client_other_cpu();

	if (!begin_to_leave(c, cpu))
		return;
	if (remove_cpu(cpu)) {
		c->skipped = "no CPU can go offline";
		return;
	}
	CLIENT_CHECK(c, atomic_read(&leaving.done) == ENDS);
	CLIENT_CHECK(c, add_cpu(cpu) == 0);
	client_clean(c);
	CLIENT_CHECK(c, atomic_read(&leaving.done) == ENDS);
}

/*
 * twheel_remaining() must not mix the times of two starts. While it runs, an interrupt from another
 * CPU starts a timer that was just stopped, with a shorter delay. The interrupt mostly arrives at
 * the end of a hold of the lock, when interrupts are switched on again.
 */

#define INTERRUPTS	300

static int start_shorter(struct client_timer *t)
{
	return twheel_start(&t->timer, CLIENT_HOUR);
}

static int interrupt(void *arg)
{
	struct client_timer *t = arg;

	while (!kthread_should_stop()) {
		if (client_is_set(&t->entered)) {
			WRITE_ONCE(t->entered, false);
			client_call_on(t->cpu, start_shorter, t);
		}
		cond_resched();
	}
	return 0;
}

static bool remaining_is_right(struct client_timer *t)
{
	bool right = true;

	twheel_start(&t->timer, 2 * CLIENT_HOUR);
	twheel_stop(&t->timer);
	client_set(&t->entered);
	do {
		right &= twheel_remaining(&t->timer) <= CLIENT_HOUR;
		cond_resched();
	} while (!twheel_pending(&t->timer));
	twheel_stop(&t->timer);
	return right;
}

static void remaining_is_of_one_start(struct client *c, struct client_timer *t)
{
	struct task_struct *thread;
	int left = INTERRUPTS;

	thread = kthread_create(interrupt, t, "twheel_client_interrupt");
	if (!CLIENT_CHECK(c, !IS_ERR(thread)))
		return;
	t->cpu = raw_smp_processor_id();
	kthread_bind(thread, client_other_cpu());
	wake_up_process(thread);
	while (left && CLIENT_CHECK(c, remaining_is_right(t)))
		left--;
	kthread_stop(thread);
}

/* Use a timer that is zeroed but not set up, as in a structure that is not used yet. */
static void never_set_up(struct client *c, struct client_timer *t)
{
	static struct twheel_timer zeroed;

	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS) || IS_ENABLED(CONFIG_LOCKDEP)) {
		c->skipped = "this kernel reports it: see the program complaints";
		return;
	}
	CLIENT_CHECK(c, !twheel_pending(&zeroed));
	client_check_refused(c, &zeroed, -ESHUTDOWN);
	CLIENT_CHECK(c, twheel_deadline(&zeroed) == 0);
	CLIENT_CHECK(c, twheel_remaining(&zeroed) == 0);
	CLIENT_CHECK(c, twheel_shutdown_sync(&zeroed) == 0);
	CLIENT_CHECK(c, !twheel_pending(&zeroed));
}

/* Timers with a static initialiser, alone and as a member of a structure. */

static DECLARE_COMPLETION(static_expired);

static void complete_static(struct twheel_timer *timer)
{
	complete(&static_expired);
}

static DEFINE_TWHEEL_TIMER(lone, complete_static);
static DEFINE_TWHEEL_TIMER(one_of_many, complete_static);
static struct {
	int cpu;
	struct twheel_timer timer;
} embedded = {
	.timer = TWHEEL_TIMER_INITIALIZER(complete_static),
};

static void a_static_timer_needs_no_setup(struct client *c, struct client_timer *t)
{
	struct twheel_request request = { .timer = &one_of_many };

	CLIENT_CHECK(c, !twheel_pending(&lone));
	CLIENT_CHECK(c, twheel_stop_sync(&lone) == 0);
	CLIENT_CHECK(c, twheel_restart_at(&lone, KTIME_MAX) == 0);
	CLIENT_CHECK(c, twheel_deadline(&lone) == 0);
	CLIENT_CHECK(c, twheel_start(&lone, CLIENT_HOUR) == 0);
	CLIENT_CHECK(c, twheel_start_at(&lone, client_in(CLIENT_MSEC)) == 1);
	client_wait_done(c, &static_expired);
	CLIENT_CHECK(c, twheel_start_on(&embedded.timer, 0, 0) == 0);
	client_wait_done(c, &static_expired);
	twheel_start_many(&request, 1);
	CLIENT_CHECK(c, request.result == 0);
	client_wait_done(c, &static_expired);
	CLIENT_CHECK(c, twheel_start(&lone, CLIENT_HOUR) == 0);
	CLIENT_CHECK(c, twheel_stop_sync(&lone) == 1);
	CLIENT_CHECK(c, twheel_stop_sync(&embedded.timer) == 0);
	CLIENT_CHECK(c, twheel_stop_sync(&one_of_many) == 0);
}

/*
 * A timer of a module that is built into the kernel may be used before twheel is initialised. The
 * base of timers that never started has no wheel then.
 */

static DEFINE_TWHEEL_TIMER(too_soon, complete_static);

static struct twheel *set_wheel(struct twheel_base *base, struct twheel *wheel)
{
	raw_spin_lock_irq(&base->lock);
	swap(base->wheel, wheel);
	raw_spin_unlock_irq(&base->lock);
	return wheel;
}

static void without_a_default_wheel_no_timer_starts(struct client *c, struct client_timer *t)
{
	struct twheel *wheel;

	/* This stop gives the timer the base of timers that never started. */
	CLIENT_CHECK(c, twheel_stop_sync(&too_soon) == 0);
	wheel = set_wheel(too_soon.base, NULL);
	client_check_refused(c, &too_soon, -ENODEV);
	set_wheel(too_soon.base, wheel);
	CLIENT_CHECK(c, twheel_start(&too_soon, 0) == 0);
	client_wait_done(c, &static_expired);
	CLIENT_CHECK(c, twheel_stop_sync(&too_soon) == 0);
}

const struct client_case client_wheel_cases[] = {
	CLIENT_CASE(create_refuses_bad_configs),
	CLIENT_CASE(create_completes_a_config_and_copies_its_name),
	CLIENT_CASE(a_wheel_on_boottime),
	CLIENT_CASE(remaining_is_of_one_start, .needs = CLIENT_CPUS),
	CLIENT_CASE(never_set_up),
	CLIENT_CASE(a_static_timer_needs_no_setup),
	CLIENT_CASE(without_a_default_wheel_no_timer_starts),
	CLIENT_CASE(destroy_right_after_the_last_timer),
	CLIENT_CASE(a_wheel_with_a_payer_has_slots_where_prepared, .needs = CLIENT_CPUS),
	CLIENT_CASE(a_new_wheel_has_slots_where_timers_start, .needs = CLIENT_CPUS),
	CLIENT_CASE(a_new_wheel_keeps_its_timers_at_hotplug, .needs = CLIENT_CPUS),
	CLIENT_CASE(destroy_does_what_a_run_left),
	CLIENT_CASE(offline_does_what_a_run_left, .needs = CLIENT_CPUS),
	{}
};

const struct client_case client_default_cases[] = {
	CLIENT_CASE(default_wheel_has_slots_where_timers_start, .needs = CLIENT_CPUS),
	{}
};
