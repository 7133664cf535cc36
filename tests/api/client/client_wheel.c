// SPDX-License-Identifier: GPL-2.0
/*
 * Wheels: creating, draining and destroying them
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

/* Draining, on each wheel of the client. */

static void count_drained(struct twheel_timer *timer, void *arg)
{
	struct client_timer *t = container_of(timer, struct client_timer, timer);
	unsigned int *drained = arg;

	t->order = twheel_pending(timer) ? 1000 : t->order + 1;
	++*drained;
}

static void start_to_drain(struct client *c, struct client_timer **timers)
{
	int cpu = client_other_cpu();
	unsigned int i;

	for (i = 0; i < CLIENT_TIMERS_NR; i++) {
		if (i % 2 && cpu >= 0)
			twheel_start_on(&timers[i]->timer, CLIENT_HOUR << i % 19, cpu);
		else
			client_start(timers[i], CLIENT_HOUR << i % 19);
	}
}

static void drain_hands_over_each_pending_timer(struct client *c, struct client_timer **timers)
{
	unsigned int drained = 0, i;

	start_to_drain(c, timers);
	twheel_stop(&timers[17]->timer);
	CLIENT_CHECK(c, twheel_drain(c->wheel, count_drained, &drained) == CLIENT_TIMERS_NR - 1);
	CLIENT_CHECK(c, drained == CLIENT_TIMERS_NR - 1);
	for (i = 0; i < CLIENT_TIMERS_NR; i++)
		CLIENT_CHECK(c, timers[i]->order == (i != 17));
	CLIENT_CHECK(c, twheel_drain(c->wheel, count_drained, &drained) == 0);
}

static void free_drained(struct twheel_timer *timer, void *arg)
{
	client_timer_free(container_of(timer, struct client_timer, timer));
}

static void drain_may_free_the_timers(struct client *c)
{
	struct client_timer **timers = client_timers_new(c, CLIENT_TIMERS_NR);

	if (!timers)
		return;
	start_to_drain(c, timers);
	CLIENT_CHECK(c, twheel_drain(c->wheel, free_drained, NULL) == CLIENT_TIMERS_NR);
	kfree(timers);
}

const struct client_case client_drain_cases[] = {
	CLIENT_TIMERS(drain_hands_over_each_pending_timer, .needs = CLIENT_OWN),
	CLIENT_CASE(drain_may_free_the_timers, .needs = CLIENT_OWN),
	{}
};

/* Making and destroying. */

static bool refused(struct twheel_config config)
{
	struct twheel *wheel = twheel_create(&config);

	if (!IS_ERR(wheel))
		twheel_destroy(wheel);
	return wheel == ERR_PTR(-EINVAL) &&
	       twheel_check_config(&config) == -EINVAL;
}

#define REFUSED(...)	refused((struct twheel_config) { __VA_ARGS__ })

static void create_refuses_bad_configs(struct client *c)
{
	CLIENT_CHECK(c, REFUSED(.scheme = TWHEEL_NR_SCHEMES));
	CLIENT_CHECK(c, REFUSED(.scheme = -1));
	CLIENT_CHECK(c, REFUSED(.mode = TWHEEL_NR_MODES));
	CLIENT_CHECK(c, REFUSED(.mode = -1));
	CLIENT_CHECK(c, REFUSED(.clock = CLOCK_TAI));
	CLIENT_CHECK(c, REFUSED(.clock = CLOCK_BOOTTIME_ALARM));
	CLIENT_CHECK(c, REFUSED(.clock = -1));
	CLIENT_CHECK(c, REFUSED(.mode = TWHEEL_TICKLESS, .doze = 2));
	CLIENT_CHECK(c, REFUSED(.tick_ns = 1));
	CLIENT_CHECK(c, REFUSED(.tick_ns = TWHEEL_TICK_NS_MIN - 1));
	CLIENT_CHECK(c, REFUSED(.tick_ns = TWHEEL_TICK_NS_MAX + 1));
	CLIENT_CHECK(c, REFUSED(.tick_ns = NSEC_PER_MSEC + (1ULL << 32)));
	CLIENT_CHECK(c, REFUSED(.tick_ns = U64_MAX));
	CLIENT_CHECK(c, REFUSED(.slots = 64));
	CLIENT_CHECK(c, REFUSED(.scheme = TWHEEL_HASHED, .slots = 1));
	CLIENT_CHECK(c, REFUSED(.scheme = TWHEEL_HASHED,
				.slots = TWHEEL_SLOTS_MAX + 1));
	CLIENT_CHECK(c, REFUSED(.scheme = TWHEEL_HASHED,
				.slots = UINT_MAX));
}

static void check_config(struct client *c, const struct twheel_config *config,
			 const struct twheel_config *expected)
{
	CLIENT_CHECK(c, config->scheme == expected->scheme);
	CLIENT_CHECK(c, config->mode == expected->mode);
	CLIENT_CHECK(c, config->tick_ns == expected->tick_ns);
	CLIENT_CHECK(c, config->slots == expected->slots);
	CLIENT_CHECK(c, config->doze == expected->doze);
	CLIENT_CHECK(c, config->clock == (expected->clock ?: CLOCK_MONOTONIC));
}

/* Create a wheel, check its description, and let a timer expire. */
static void check_created(struct client *c, const struct twheel_config *asked,
			  const struct twheel_config *expected)
{
	struct twheel_config checked = *asked;
	struct client_timer *t;

	CLIENT_CHECK(c, !twheel_check_config(&checked));
	check_config(c, &checked, expected);
	if (!client_wheel_new(c, asked))
		return;
	check_config(c, &c->config, expected);
	if (asked->name)
		CLIENT_CHECK(c, !strcmp(c->config.name, asked->name));
	t = client_timer_new(c, NULL);
	if (t) {
		client_start(t, 1);
		client_wait(t);
	}
	client_timer_free(t);
	twheel_destroy(c->wheel);
}

static void create_completes_a_config(struct client *c)
{
	struct twheel_config def, configs[][2] = {
		{ { }, { } },
		{ { .scheme = TWHEEL_HASHED },
		  { .scheme = TWHEEL_HASHED, .slots = TWHEEL_SLOTS_DEFAULT } },
		{ { .scheme = TWHEEL_HASHED, .slots = 65 },
		  { .scheme = TWHEEL_HASHED, .slots = 128 } },
	};
	unsigned int i;

	twheel_get_config(twheel_default(), &def);
	for (i = 0; i < ARRAY_SIZE(configs); i++) {
		configs[i][1].tick_ns = def.tick_ns;
		check_created(c, &configs[i][0], &configs[i][1]);
	}
}

static void create_at_the_limits(struct client *c)
{
	static const struct twheel_config configs[] = {
		{ .mode = TWHEEL_TICKLESS, .doze = 1, .tick_ns = TWHEEL_TICK_NS_MAX },
		{ .doze = UINT_MAX, .tick_ns = TWHEEL_TICK_NS_MAX },
		{ .doze = UINT_MAX, .tick_ns = TWHEEL_TICK_NS_MIN },
		{ .tick_ns = TWHEEL_TICK_NS_MIN, .scheme = TWHEEL_HASHED,
		  .slots = TWHEEL_SLOTS_MAX },
		{ .tick_ns = TWHEEL_TICK_NS_MIN, .scheme = TWHEEL_HASHED,
		  .slots = TWHEEL_SLOTS_MIN },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(configs); i++)
		check_created(c, &configs[i], &configs[i]);
}

static void the_name_is_copied(struct client *c)
{
	struct twheel_config config = { };
	struct twheel *wheel;
	char name[] = "mine";

	config.name = name;
	wheel = twheel_create(&config);
	if (!CLIENT_CHECK(c, !IS_ERR(wheel)))
		return;
	name[0] = 'x';
	twheel_get_config(wheel, &config);
	CLIENT_CHECK(c, !strcmp(config.name, "mine"));
	twheel_destroy(wheel);
}

/* All times of its timers are on that clock. */
static void a_wheel_on_boottime(struct client *c)
{
	struct twheel_config config = { .name = "boottime", .clock = CLOCK_BOOTTIME };
	struct client_timer *t;
	ktime_t before, after;

	twheel_check_config(&config);
	check_created(c, &config, &config);
	before = ktime_get_boottime();
	after = twheel_clock_time(CLOCK_BOOTTIME, ktime_get());
	CLIENT_CHECK(c, before <= after && after <= ktime_get_boottime());
	CLIENT_CHECK(c, twheel_clock_time(CLOCK_BOOTTIME, KTIME_MAX) == KTIME_MAX);
	CLIENT_CHECK(c, twheel_clock_time(CLOCK_MONOTONIC, before) == before);
	if (!client_wheel_new(c, &config))
		return;
	t = client_timer_new(c, NULL);
	if (t) {
		before = ktime_get_boottime();
		twheel_start(&t->timer, CLIENT_HOUR);
		after = ktime_get_boottime();
		CLIENT_CHECK(c, twheel_deadline(&t->timer) >= before + CLIENT_HOUR);
		CLIENT_CHECK(c, twheel_deadline(&t->timer) <= after + CLIENT_HOUR);
		CLIENT_CHECK(c, twheel_remaining(&t->timer) <= CLIENT_HOUR);
		CLIENT_CHECK(c, twheel_start(&t->timer, 2 * CLIENT_HOUR) == 1);
		CLIENT_CHECK(c, twheel_deadline(&t->timer) >= before + 2 * CLIENT_HOUR);
		twheel_start_at(&t->timer, after + NSEC_PER_MSEC);
		client_wait(t);
		CLIENT_CHECK(c, ktime_get_boottime() >= after + NSEC_PER_MSEC);
	}
	client_timer_free(t);
	twheel_destroy(c->wheel);
}

static void destroy_takes_null(struct client *c)
{
	twheel_destroy(NULL);
}

static void no_wheel_means_the_default_one(struct client *c)
{
	struct client_timer *t;

	c->wheel = NULL;
	twheel_get_config(twheel_default(), &c->config);
	t = client_timer_new(c, NULL);
	if (t) {
		client_start(t, client_delay(c, 5));
		client_wait(t);
	}
	client_timer_free(t);
}

/* The callback has only just run when its wheel is destroyed. */
static void destroy_right_after_the_last_timer(struct client *c)
{
	struct twheel_config config = { .name = "brief", .mode = TWHEEL_TICKLESS };
	struct client_timer *t;
	int i;

	for (i = 0; i < 20; i++) {
		if (!client_wheel_new(c, &config))
			break;
		t = client_timer_new(c, NULL);
		if (t) {
			client_start(t, 0);
			client_wait(t);
		}
		client_timer_free(t);
		twheel_destroy(c->wheel);
	}
}

/* Slots. */

static long create_default(void *arg)
{
	struct client *c = arg;
	struct twheel_config config = {};

	return client_wheel_new(c, &config) ? 0 : -ENOMEM;
}

static long prepare(void *wheel)
{
	return twheel_prepare(wheel);
}

static void start_here(void *arg)
{
	struct client_timer *t = arg;

	client_start(t, client_delay(t->client, 5));
}

/* Returns on which CPU a timer expires that is started on @cpu. */
static int expires_on(struct client *c, int cpu)
{
	struct client_timer *t = client_timer_new(c, NULL);
	int ran = -1;

	if (!t)
		return -1;
	smp_call_function_single(cpu, start_here, t, true);
	if (client_wait(t))
		ran = t->cpu;
	client_timer_free(t);
	return ran;
}

/* What nobody prepares takes no memory of others than the payer. */
static void a_wheel_with_a_payer_has_slots_where_prepared(struct client *c)
{
	struct twheel_config config = { .payer = twheel_payer_create() };
	int here = raw_smp_processor_id();
	int cpu = client_other_cpu();
	int i;

	if (client_wheel_new(c, &config)) {
		CLIENT_CHECK(c, expires_on(c, here) == here);
		for (i = 0; i < 10; i++)
			CLIENT_CHECK(c, expires_on(c, cpu) == here);
		CLIENT_CHECK(c, work_on_cpu(cpu, prepare, c->wheel) == 0);
		CLIENT_CHECK(c, expires_on(c, cpu) == cpu);
		CLIENT_CHECK(c, work_on_cpu(cpu, prepare, c->wheel) == 0);
		CLIENT_CHECK(c, expires_on(c, here) == here);
		twheel_destroy(c->wheel);
	}
	twheel_payer_destroy(config.payer);
}

/*
 * Starts timers on a CPU until it has slots of its own. Until then they expire on
 * another CPU, and none is lost.
 */
static void wait_for_slots(struct client *c, int cpu)
{
	int tries = 1000;

	while (!c->failed && expires_on(c, cpu) != cpu)
		CLIENT_CHECK(c, --tries);
}

static void default_wheel_has_slots_where_timers_start(struct client *c)
{
	wait_for_slots(c, client_other_cpu());
}

/* The first one finds none, and is on the CPU that created the wheel. */
static void a_new_wheel_has_slots_where_timers_start(struct client *c)
{
	int cpu = client_other_cpu();

	if (create_default(c) == 0) {
		CLIENT_CHECK(c, expires_on(c, cpu) == raw_smp_processor_id());
		wait_for_slots(c, cpu);
		twheel_destroy(c->wheel);
	}
}

/* The only CPU with slots goes away, with a timer. */
static void a_new_wheel_keeps_its_timers_at_hotplug(struct client *c)
{
	int cpu = client_other_cpu();
	struct client_timer *t;

	if (work_on_cpu(cpu, create_default, c))
		return;
	t = client_timer_new(c, NULL);
	if (t) {
		client_start(t, CLIENT_HOUR);
		if (remove_cpu(cpu)) {
			c->skipped = "no CPU can go offline";
		} else {
			CLIENT_CHECK(c, client_start(t, client_delay(c, 5)) == 1);
			client_wait(t);
			CLIENT_CHECK(c, t->cpu != cpu);
			CLIENT_CHECK(c, add_cpu(cpu) == 0);
		}
	}
	client_timer_free(t);
	twheel_destroy(c->wheel);
}

/* Work for the end of a tick, which a run of a payer leaves to the next one. */

#define ENDS	64

static struct {
	struct twheel_tick_end ends[ENDS];
	struct twheel_timer timer;
	struct completion begun;
	atomic_t done;
} leaving;

static void end_slowly(struct twheel_tick_end *end)
{
	complete(&leaving.begun);
	mdelay(4);
	atomic_inc(&leaving.done);
}

static void queue_ends(struct twheel_timer *timer)
{
	int i;

	for (i = 0; i < ENDS; i++)
		twheel_at_tick_end(timer, &leaving.ends[i]);
}

/* Wait for the first of many, on @cpu and a wheel with this payer. Returns the wheel. */
static struct twheel *begin_to_leave(struct client *c, struct twheel_payer *payer, int cpu)
{
	const struct twheel_config config = { .payer = payer };
	struct twheel *wheel = twheel_create(&config);
	int i;

	if (!CLIENT_CHECK(c, !IS_ERR(wheel)))
		return NULL;
	memset(&leaving, 0, sizeof(leaving));
	init_completion(&leaving.begun);
	for (i = 0; i < ENDS; i++)
		leaving.ends[i].fn = end_slowly;
	twheel_timer_setup(&leaving.timer, wheel, queue_ends, 0);
	CLIENT_CHECK(c, twheel_prepare_cpu(wheel, cpu) == 0);
	CLIENT_CHECK(c, twheel_start_on(&leaving.timer, 0, cpu) == 0);
	client_wait_done(c, &leaving.begun);
	return wheel;
}

static void end_leaving(struct client *c, struct twheel *wheel, struct twheel_payer *payer)
{
	twheel_shutdown_sync(&leaving.timer);
	twheel_destroy(wheel);
	twheel_payer_destroy(payer);
	CLIENT_CHECK(c, atomic_read(&leaving.done) == ENDS);
	twheel_timer_destroy(&leaving.timer);
}

static void destroy_does_what_a_run_left(struct client *c)
{
	struct twheel_payer *payer = twheel_payer_create();
	struct twheel *wheel = begin_to_leave(c, payer, raw_smp_processor_id());

	if (wheel)
		end_leaving(c, wheel, payer);
}

static void offline_does_what_a_run_left(struct client *c)
{
	struct twheel_payer *payer;
	struct twheel *wheel;
	int cpu = client_other_cpu();

	payer = twheel_payer_create();
	wheel = begin_to_leave(c, payer, cpu);
	if (!wheel)
		return;
	if (remove_cpu(cpu)) {
		c->skipped = "no CPU can go offline";
	} else {
		CLIENT_CHECK(c, atomic_read(&leaving.done) == ENDS);
		CLIENT_CHECK(c, add_cpu(cpu) == 0);
	}
	end_leaving(c, wheel, payer);
}

/*
 * A timer that was stopped is started for a shorter time by an interrupt of another CPU,
 * which mostly comes as soon as interrupts are on again: at the end of a hold of the lock.
 */

#define INTERRUPTS	300

struct interrupted {
	struct twheel_timer timer;
	int cpu;
	bool wanted;
};

static void not_called(struct twheel_timer *timer)
{
}

static void start_shorter(void *arg)
{
	struct interrupted *i = arg;

	twheel_start(&i->timer, CLIENT_HOUR);
}

static int interrupt(void *arg)
{
	struct interrupted *i = arg;

	while (!kthread_should_stop()) {
		/* Pairs with remaining_is_right(). */
		if (smp_load_acquire(&i->wanted)) {
			WRITE_ONCE(i->wanted, false);
			smp_call_function_single(i->cpu, start_shorter, i, true);
		}
		cond_resched();
	}
	return 0;
}

static bool remaining_is_right(struct interrupted *i)
{
	bool right = true;

	twheel_start(&i->timer, 2 * CLIENT_HOUR);
	twheel_stop(&i->timer);
	/* Pairs with interrupt(). */
	smp_store_release(&i->wanted, true);
	do {
		right &= twheel_remaining(&i->timer) <= CLIENT_HOUR;
		cond_resched();
	} while (!twheel_pending(&i->timer));
	twheel_stop(&i->timer);
	return right;
}

static void remaining_is_of_one_start(struct client *c)
{
	struct interrupted i = { .cpu = raw_smp_processor_id() };
	int cpu = client_other_cpu(), left = INTERRUPTS;
	struct task_struct *thread;

	if (cpu < 0) {
		c->skipped = "only one CPU is online";
		return;
	}
	thread = kthread_create(interrupt, &i, "twheel_client_interrupt");
	if (!CLIENT_CHECK(c, !IS_ERR(thread)))
		return;
	twheel_timer_setup(&i.timer, c->wheel, not_called, TWHEEL_TIMER_ON_STACK);
	kthread_bind(thread, cpu);
	wake_up_process(thread);
	while (left && CLIENT_CHECK(c, remaining_is_right(&i)))
		left--;
	kthread_stop(thread);
	twheel_shutdown_sync(&i.timer);
	twheel_timer_destroy(&i.timer);
}

/* A timer that was zeroed and not set up, as in a structure not used yet. */
static void never_set_up(struct client *c)
{
	static struct twheel_timer zeroed;
	struct twheel_request request = { .deadline = KTIME_MAX };
	struct twheel_timer *timer = &zeroed;

	if (IS_ENABLED(CONFIG_DEBUG_OBJECTS) || IS_ENABLED(CONFIG_LOCKDEP)) {
		c->skipped = "this kernel reports it: see the program complaints";
		return;
	}
	request.timer = timer;
	CLIENT_CHECK(c, !twheel_pending(timer));
	CLIENT_CHECK(c, twheel_stop(timer) == 0);
	CLIENT_CHECK(c, twheel_stop_sync(timer) == 0);
	CLIENT_CHECK(c, twheel_restart_at(timer, KTIME_MAX) == 0);
	CLIENT_CHECK(c, twheel_start(timer, CLIENT_HOUR) == -ESHUTDOWN);
	CLIENT_CHECK(c, twheel_start_on(timer, 0, 0) == -ESHUTDOWN);
	CLIENT_CHECK(c, twheel_reduce_at(timer, 0) == -ESHUTDOWN);
	CLIENT_CHECK(c, twheel_forward(timer, CLIENT_HOUR) == 0);
	CLIENT_CHECK(c, twheel_deadline(timer) == 0);
	CLIENT_CHECK(c, twheel_remaining(timer) == 0);
	twheel_stop_many(&request, 1);
	CLIENT_CHECK(c, request.result == 0);
	twheel_restart_many(&request, 1);
	CLIENT_CHECK(c, request.result == 0);
	twheel_start_many(&request, 1);
	CLIENT_CHECK(c, request.result == -ESHUTDOWN);
	CLIENT_CHECK(c, twheel_shutdown_sync(timer) == 0);
	CLIENT_CHECK(c, !twheel_pending(timer));
}

/* Timers with a static initialiser, alone and in a structure. */

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

static bool wait_for_static(struct client *c)
{
	return client_wait_done(c, &static_expired);
}

static void a_static_timer_needs_no_setup(struct client *c)
{
	struct twheel_request request = { .timer = &one_of_many };

	CLIENT_CHECK(c, !twheel_pending(&lone));
	CLIENT_CHECK(c, twheel_stop_sync(&lone) == 0);
	CLIENT_CHECK(c, twheel_restart_at(&lone, KTIME_MAX) == 0);
	CLIENT_CHECK(c, twheel_deadline(&lone) == 0);
	CLIENT_CHECK(c, twheel_start(&lone, CLIENT_HOUR) == 0);
	CLIENT_CHECK(c, twheel_start_at(&lone, client_in(CLIENT_MSEC)) == 1);
	wait_for_static(c);
	CLIENT_CHECK(c, twheel_start_on(&embedded.timer, 0, 0) == 0);
	wait_for_static(c);
	twheel_start_many(&request, 1);
	CLIENT_CHECK(c, request.result == 0);
	wait_for_static(c);
	CLIENT_CHECK(c, twheel_start(&lone, CLIENT_HOUR) == 0);
	CLIENT_CHECK(c, twheel_stop_sync(&lone) == 1);
	CLIENT_CHECK(c, twheel_stop_sync(&embedded.timer) == 0);
	CLIENT_CHECK(c, twheel_stop_sync(&one_of_many) == 0);
}

/*
 * As it is for a module that is built into the kernel, before twheel is
 * initialised: the base of timers that have not been started has no wheel.
 */

static DEFINE_TWHEEL_TIMER(too_soon, complete_static);

static struct twheel *set_wheel(struct twheel_base *base, struct twheel *wheel)
{
	raw_spin_lock_irq(&base->lock);
	swap(base->wheel, wheel);
	raw_spin_unlock_irq(&base->lock);
	return wheel;
}

static void without_a_default_wheel_no_timer_starts(struct client *c)
{
	struct twheel_request request = {
		.timer = &too_soon,
		.deadline = KTIME_MAX,
	};
	struct twheel *wheel;

	/* That is enough to have a base. */
	CLIENT_CHECK(c, twheel_stop_sync(&too_soon) == 0);
	wheel = set_wheel(too_soon.base, NULL);
	CLIENT_CHECK(c, twheel_start(&too_soon, 0) == -ENODEV);
	CLIENT_CHECK(c, twheel_start_at(&too_soon, 0) == -ENODEV);
	CLIENT_CHECK(c, twheel_start_on(&too_soon, 0, 0) == -ENODEV);
	twheel_start_many(&request, 1);
	CLIENT_CHECK(c, request.result == -ENODEV);
	CLIENT_CHECK(c, twheel_restart_at(&too_soon, 0) == 0);
	CLIENT_CHECK(c, twheel_reduce_at(&too_soon, 0) == -ENODEV);
	CLIENT_CHECK(c, !twheel_pending(&too_soon));
	CLIENT_CHECK(c, twheel_stop_sync(&too_soon) == 0);
	set_wheel(too_soon.base, wheel);
	CLIENT_CHECK(c, twheel_start(&too_soon, 0) == 0);
	client_wait_done(c, &static_expired);
	CLIENT_CHECK(c, twheel_stop_sync(&too_soon) == 0);
}

const struct client_case client_wheel_cases[] = {
	CLIENT_CASE(create_refuses_bad_configs),
	CLIENT_CASE(create_completes_a_config),
	CLIENT_CASE(create_at_the_limits),
	CLIENT_CASE(the_name_is_copied),
	CLIENT_CASE(a_wheel_on_boottime),
	CLIENT_CASE(destroy_takes_null),
	CLIENT_CASE(no_wheel_means_the_default_one),
	CLIENT_CASE(remaining_is_of_one_start),
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
