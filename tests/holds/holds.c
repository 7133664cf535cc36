// SPDX-License-Identifier: GPL-2.0
/*
 * Prepare states of a wheel in which operations under a lock take long
 *
 * insmod prepares each state on each kind of wheel, and calls twheel in that state, while
 * tests/holds/meter.h measures how long the locks are held. With hotplug=1, a CPU with very many
 * timers goes offline instead, and comes back. Results are lines of KTAP in the kernel log.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include <linux/twheel.h>

#define HOLDS_MSEC	((u64)NSEC_PER_MSEC)
#define HOLDS_SEC	((u64)NSEC_PER_SEC)
#define HOLDS_HOUR	(3600 * HOLDS_SEC)
#define HOLDS_BATCH	64
#define HOLDS_NEAR	100
/* Maximum lateness of a timer of @near while its CPU goes offline and hands its timers on */
#define HOLDS_LATE	(6 * HOLDS_MSEC)

static unsigned int nr = 1000000;
module_param(nr, uint, 0444);
MODULE_PARM_DESC(nr, "number of timers");

static bool hotplug;
module_param(hotplug, bool, 0444);
MODULE_PARM_DESC(hotplug, "let a CPU go offline and come back");

static unsigned int nr_near = HOLDS_NEAR;
module_param_named(near, nr_near, uint, 0444);
MODULE_PARM_DESC(near, "number of timers that are due every millisecond meanwhile");

static struct twheel *wheel;
static struct twheel_timer *timers;
static struct twheel_asked_timer *asked;	/* timers that the wheel asks for deadlines */
static u64 stored;				/* deadline of all timers of @asked */
static u64 tick_ns;
static unsigned int cases;
static unsigned int expired;
static u64 longest_late;

static struct twheel_config configs[] = {
	{ .name = "periodic", .doze = 2 },
	{ .name = "tickless", .mode = TWHEEL_TICKLESS },
	{ .name = "hashed", .scheme = TWHEEL_HASHED, .doze = 2 },
};

/* Count an expiry. Not atomic, because all timers of a case are on one CPU. */
static void holds_expired(struct twheel_timer *timer)
{
	WRITE_ONCE(expired, expired + 1);
}

/* A timer that is due every millisecond, and records the longest lateness */
struct holds_near {
	struct twheel_timer timer;
	ktime_t deadline;
};

static struct holds_near near[HOLDS_NEAR];

static void holds_near_expired(struct twheel_timer *timer)
{
	struct holds_near *one = container_of(timer, struct holds_near, timer);

	longest_late = max_t(u64, longest_late, ktime_get() - one->deadline);
	one->deadline = ktime_get() + HOLDS_MSEC;
	twheel_again_at(timer, one->deadline);
}

static void holds_result(bool ok, const char *what)
{
	pr_info("%sok %u - %s\n", ok ? "" : "not ", ++cases, what);
}

/* Start all timers, with random deadlines from @begin to @begin + @width. */
static void start_all(ktime_t begin, u64 width)
{
	struct twheel_request requests[HOLDS_BATCH];
	unsigned int i, j;

	for (i = 0; i < nr; i += j) {
		for (j = 0; j < HOLDS_BATCH && i + j < nr; j++) {
			requests[j].timer = &timers[i + j];
			requests[j].deadline = begin + (width ? get_random_u64() % width : 0);
		}
		twheel_start_many(requests, j);
		cond_resched();
	}
}

static void stop_all(void)
{
	struct twheel_request requests[HOLDS_BATCH];
	unsigned int i, j;

	for (i = 0; i < nr; i += j) {
		for (j = 0; j < HOLDS_BATCH && i + j < nr; j++)
			requests[j].timer = &timers[i + j];
		twheel_stop_many(requests, j);
		cond_resched();
	}
}

/* Call each operation twice, the second time after a pause, in which the base goes to sleep. */
static void call_each(void)
{
	struct twheel_timer *timer = timers;
	struct twheel_expiry_lock *lock;
	int i;

	for (i = 0; i < 2; i++) {
		twheel_start(timer, 3 * HOLDS_MSEC);
		twheel_start(timer, HOLDS_MSEC);
		twheel_restart_at(timer, ktime_get() + HOLDS_HOUR);
		twheel_reduce_at(timer, ktime_get() + HOLDS_SEC);
		twheel_start_on(timer, 2 * HOLDS_MSEC, raw_smp_processor_id());
		twheel_deadline(timer);
		twheel_remaining(timer);
		if (twheel_callback_announce(timer, &lock))
			twheel_callback_wait(lock);
		twheel_stop(timer);
		twheel_start(timer, 2 * HOLDS_MSEC);
		msleep(20 * (i + 1));
	}
	twheel_stop_sync(timer);
}

/*
 * Fill and empty each slot of each level. Another timer remains pending, so that the wheel does not
 * become empty, and does not start anew.
 */
static void empty_slots(void)
{
	struct twheel_timer *timer = &timers[1];
	unsigned int level, k;

	twheel_start(&timers[2], HOLDS_HOUR);
	for (level = 0; level < 8; level++)
		for (k = 1; k < 512; k++) {
			if ((u64)k << 8 * level > div64_u64(S64_MAX / 2, tick_ns))
				break;
			twheel_start(timer, ((u64)k << 8 * level) * tick_ns);
			twheel_stop(timer);
		}
	msleep(20);
	call_each();
	twheel_stop_sync(&timers[2]);
}

static void many_timers(void)
{
	start_all(ktime_get() + HOLDS_SEC, HOLDS_HOUR);
	call_each();
	stop_all();
}

static void one_tick(void)
{
	unsigned int before = READ_ONCE(expired);

	start_all(ktime_get() + HOLDS_SEC, 0);
	call_each();
	while (READ_ONCE(expired) - before < nr - 1)
		msleep(20);
}

/*
 * Start all timers for one deadline, and refresh all of them. So at the first deadline the wheel
 * has to move all timers of one slot.
 */
static void refreshed_slot(void)
{
	ktime_t begin = ktime_get() + 2 * HOLDS_SEC;

	start_all(begin, 0);
	start_all(begin + 2 * HOLDS_SEC, 600 * HOLDS_SEC);
	while (ktime_get() < begin + HOLDS_SEC)
		msleep(20);
	call_each();
	stop_all();
}

static u64 stored_deadline(struct twheel_timer *timer)
{
	return READ_ONCE(stored);
}

static const struct twheel_source source = {
	.deadline	= stored_deadline,
	.fn		= holds_expired,
};

/*
 * Start all timers for one deadline, and delay all of them by a single store. So at the first
 * deadline the wheel has to ask for the deadlines of all timers of one slot, and to move the
 * timers.
 */
static void stored_slot(void)
{
	ktime_t begin = ktime_get() + 2 * HOLDS_SEC;
	unsigned int i, stopped = 0;

	stored = 0;
	for (i = 0; i < nr; i++) {
		twheel_asked_setup(&asked[i], wheel, &source, 0);
		twheel_start_at(&asked[i].timer, begin);
		if (!(i % HOLDS_BATCH))
			cond_resched();
	}
	while (ktime_get() < begin - 100 * HOLDS_MSEC)
		msleep(20);
	WRITE_ONCE(stored, begin + 600 * HOLDS_SEC);
	while (ktime_get() < begin + HOLDS_SEC)
		msleep(20);
	for (i = 0; i < nr; i++) {
		stopped += twheel_stop(&asked[i].timer);
		if (!(i % HOLDS_BATCH))
			cond_resched();
	}
	holds_result(stopped == nr, "a store delays all timers");
}

static void drained(void)
{
	start_all(ktime_get() + HOLDS_SEC, HOLDS_HOUR);
	holds_result(twheel_drain(wheel, NULL, NULL) == nr, "a drain finds all timers");
}

static bool holds_begin(const struct twheel_config *config)
{
	struct twheel_config made;
	unsigned int i;

	wheel = twheel_create(config);
	if (IS_ERR(wheel))
		return false;
	twheel_get_config(wheel, &made);
	tick_ns = made.tick_ns;
	for (i = 0; i < nr; i++)
		twheel_timer_setup(&timers[i], wheel, holds_expired, 0);
	return true;
}

static void holds_states(const struct twheel_config *config)
{
	if (!holds_begin(config))
		return holds_result(false, config->name);
	empty_slots();
	many_timers();
	one_tick();
	refreshed_slot();
	stored_slot();
	drained();
	twheel_destroy(wheel);
	holds_result(true, config->name);
}

/* Start all timers on this CPU. No other CPU has slots of the wheel then. */
static long start_on_this_cpu(void *arg)
{
	unsigned int i;

	if (!holds_begin(arg))
		return -ENOMEM;
	start_all(ktime_get() + HOLDS_HOUR, 1000 * HOLDS_HOUR);
	for (i = 0; i < nr_near; i++) {
		twheel_timer_setup(&near[i].timer, wheel, holds_near_expired, 0);
		near[i].deadline = ktime_get() + HOLDS_MSEC;
		twheel_start_at(&near[i].timer, near[i].deadline);
	}
	msleep(100);
	longest_late = 0;
	return 0;
}

/*
 * Let the CPU of all timers go offline and come back. @everywhere: CPU 0 has slots, so the timers
 * move there. Otherwise no other CPU has slots.
 */
static void holds_hotplug(struct twheel_config *config, bool everywhere)
{
	unsigned int cpu = cpumask_last(cpu_online_mask), i;
	bool ok;

	if (!cpu || work_on_cpu(cpu, start_on_this_cpu, config))
		return holds_result(false, config->name);
	ok = !everywhere || !twheel_prepare_cpu(wheel, 0);
	ok = ok && !remove_cpu(cpu);
	msleep(100);
	ok = ok && !add_cpu(cpu);
	msleep(100);
	pr_info("# figures: %s%s, %llu us late\n", config->name, everywhere ? "" : ", one base",
		div_u64(longest_late, NSEC_PER_USEC));
	/* A tick of a hashed wheel also visits timers that are not due, so timers may be late. */
	holds_result(ok && (config->scheme == TWHEEL_HASHED || longest_late < HOLDS_LATE),
		     "timers are not late while their CPU goes offline");
	for (i = 0; i < nr_near; i++)
		twheel_shutdown_sync(&near[i].timer);
	stop_all();
	twheel_destroy(wheel);
}

static int __init holds_init(void)
{
	unsigned int i;

	nr_near = min_t(unsigned int, nr_near, HOLDS_NEAR);
	timers = vcalloc(nr, sizeof(*timers));
	asked = vcalloc(nr, sizeof(*asked));
	if (!timers || !asked) {
		vfree(asked);
		vfree(timers);
		return -ENOMEM;
	}
	for (i = 0; i < ARRAY_SIZE(configs); i++) {
		if (!hotplug) {
			holds_states(&configs[i]);
		} else {
			holds_hotplug(&configs[i], false);
			holds_hotplug(&configs[i], true);
		}
	}
	pr_info("1..%u\n", cases);
	vfree(asked);
	vfree(timers);
	return 0;
}
module_init(holds_init);

static void __exit holds_exit(void)
{
}
module_exit(holds_exit);

MODULE_DESCRIPTION("Long holds of twheel's locks");
MODULE_LICENSE("GPL");
