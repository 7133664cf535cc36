// SPDX-License-Identifier: GPL-2.0
/*
 * Test the in-kernel interface under many concurrent calls, as rcutorture tests RCU
 *
 * insmod returns at once, and a thread runs rounds until the time is over. Each round makes a
 * wheel, with another scheme and mode than the round before. Threads, callbacks, hard interrupts,
 * drains and CPU hotplug then use the wheel's timers at the same time. At its end, a round stops
 * the timers, checks the counts of starts and ends of each timer, destroys the wheel, and prints
 * the counters. The first errors are lines with "!!!". The last line is
 *
 *  twheel_torture: SUCCESS    or  twheel_torture: FAILURE
 *
 * rmmod ends the run early, and then the last line is about the part that ran.
 */
#define pr_fmt(fmt) "twheel_torture: " fmt

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "torture.h"

/* Length of a round, and time between two drains, ms */
#define TT_ROUND_MS	5000
#define TT_DRAIN_MS	700

/* Number of errors that are printed. Further errors are only counted. */
#define TT_ERRORS_SHOWN	20

struct tt_round tt_round;

unsigned int tt_nshared = 16;
module_param_named(nshared, tt_nshared, uint, 0444);
MODULE_PARM_DESC(nshared, "timers that half of the calls hammer (16)");

unsigned int tt_hotplug_ms;
module_param_named(hotplug_ms, tt_hotplug_ms, uint, 0444);
MODULE_PARM_DESC(hotplug_ms, "a CPU is off and on for so long; 0: no hotplug (0)");

static unsigned int seconds = 30;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "how long to run; 0: until rmmod (30)");

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of all random numbers (1)");

static struct task_struct *tt_main_task;
static ktime_t tt_begin;

/* Counters and messages. */

static DEFINE_PER_CPU(unsigned long [TT_NR_COUNTS], tt_counts);

static const char * const tt_count_names[TT_NR_COUNTS] = {
	"armed", "restarted", "stopped", "expired", "drained", "synced", "again", "stored",
	"hardirq", "softirq", "worked", "hotplugged", "errors",
};

void tt_count(enum tt_count what)
{
	this_cpu_inc(tt_counts[what]);
}

static u64 tt_total(enum tt_count what)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		/* A slightly old value is good enough. */
		sum += data_race(per_cpu(tt_counts, cpu)[what]);
	return sum;
}

void tt_error(const char *fmt, ...)
{
	static atomic_t shown = ATOMIC_INIT(0);
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	tt_count(TT_ERRORS);
	if (atomic_inc_return(&shown) > TT_ERRORS_SHOWN)
		return;
	va_start(args, fmt);
	vaf.va = &args;
	pr_alert("!!! %pV\n", &vaf);
	va_end(args);
}

static void tt_counts_print(const char *when)
{
	char line[320];
	int what, len = 0;

	for (what = 0; what < TT_NR_COUNTS; what++)
		len += scnprintf(line + len, sizeof(line) - len, " %s %llu",
				 tt_count_names[what], tt_total(what));
	pr_info("%s:%s\n", when, line);
}

/* Random choices of all parts of the module. */

u32 tt_seed(unsigned int nr)
{
	u32 state = (seed + 1) * 2654435761U ^ nr * 2246822519U;
	int i;

	state |= 1;
	for (i = 0; i < 8; i++)
		tt_random(&state);
	return state;
}

/* Returns a CPU that is online, but may go offline at any moment. */
unsigned int tt_random_online_cpu(u32 *rnd)
{
	unsigned int cpu = tt_random_below(rnd, nr_cpu_ids);

	cpu = cpumask_next(cpu - 1, cpu_online_mask);
	return cpu < nr_cpu_ids ? cpu : cpumask_first(cpu_online_mask);
}

/* Begin and end of a round. */

static void tt_drained(struct twheel_timer *timer, void *arg)
{
	unsigned long *handed_over = arg;

	++*handed_over;
	tt_count(TT_DRAINED);
	tt_shared_drained(timer);
}

static void tt_drain(void)
{
	unsigned long handed_over = 0;
	unsigned long ret = twheel_drain(tt_round.wheel, tt_drained, &handed_over);

	if (ret != handed_over)
		tt_error("drain returned %lu for %lu timers", ret, handed_over);
}

static void tt_choose_config(struct twheel_config *config, unsigned int round)
{
	static const unsigned int ticks_us[] = { 1000, 250, 4000, 100 };

	config->scheme = round % TWHEEL_NR_SCHEMES;
	/* Shift the mode every six rounds, so that each scheme runs in each mode. */
	config->mode = (round + round / 6) % TWHEEL_NR_MODES;
	/* Every other periodic wheel dozes. */
	if (config->mode == TWHEEL_PERIODIC)
		config->doze = round % 4 & 2;
	config->tick_ns = ticks_us[round % ARRAY_SIZE(ticks_us)] * NSEC_PER_USEC;
	if (config->scheme != TWHEEL_HIER)
		config->slots = 256;
}

static int tt_make_wheel(const struct twheel_config *config)
{
	struct twheel *wheel = twheel_create(config);
	int ret, cpu;

	if (IS_ERR(wheel))
		return PTR_ERR(wheel);
	/* Give each CPU slots, so that timers are on all CPUs from the beginning. */
	for_each_possible_cpu(cpu) {
		ret = twheel_prepare_cpu(wheel, cpu);
		if (ret) {
			twheel_destroy(wheel);
			return ret;
		}
	}
	tt_round = (struct tt_round) {
		.wheel = wheel,
		.tick_ns = config->tick_ns,
	};
	return 0;
}

static int tt_round_begin(unsigned int round)
{
	struct twheel_config config = { .name = "torture" };
	int ret;

	tt_choose_config(&config, round);
	pr_info("round %u: scheme %d, mode %d, tick %llu us\n", round,
		config.scheme, config.mode,
		div_u64(config.tick_ns, NSEC_PER_USEC));
	ret = tt_make_wheel(&config);
	if (ret)
		return ret;
	ret = tt_shared_setup();
	if (!ret)
		ret = tt_work_setup(&config);
	if (!ret)
		ret = tt_workers_start();
	if (!ret)
		ret = tt_hotplug_start();
	return ret;
}

/* End a round, or clean up after a round that could not begin. */
static void tt_round_end(void)
{
	if (IS_ERR_OR_NULL(tt_round.wheel))
		return;
	tt_hotplug_stop();
	tt_workers_stop();
	WRITE_ONCE(tt_round.quiet, true);
	tt_shared_finish();
	tt_work_finish();
	twheel_destroy(tt_round.wheel);
	tt_round.wheel = NULL;
}

static bool tt_time_is_over(void)
{
	return kthread_should_stop() ||
	       (seconds && ktime_ms_delta(ktime_get(), tt_begin) >=
				seconds * MSEC_PER_SEC);
}

static void tt_round_run(void)
{
	ktime_t begin = ktime_get();
	ktime_t last_drain = begin;

	while (ktime_ms_delta(ktime_get(), begin) < TT_ROUND_MS &&
	       !tt_time_is_over()) {
		msleep(20);
		if (ktime_ms_delta(ktime_get(), last_drain) >= TT_DRAIN_MS) {
			tt_drain();
			last_drain = ktime_get();
		}
	}
}

/* The thread that runs all rounds. */

static int tt_main(void *unused)
{
	unsigned int round = 0;
	int ret = 0;

	tt_begin = ktime_get();
	while (!ret && !tt_time_is_over()) {
		ret = tt_round_begin(round++);
		if (!ret)
			tt_round_run();
		tt_round_end();
		tt_counts_print("running");
	}
	if (ret)
		pr_alert("!!! could not run: %d\n", ret);
	tt_counts_print("end");
	/* A run without any expiry tested nothing. */
	pr_info("%s\n", !ret && !tt_total(TT_ERRORS) && tt_total(TT_EXPIRED) ?
		"SUCCESS" : "FAILURE");
	while (!kthread_should_stop())
		msleep(50);
	return 0;
}

static int __init tt_init(void)
{
	if (!tt_nshared)
		return -EINVAL;
	tt_main_task = kthread_run(tt_main, NULL, "twheel_torture");
	return PTR_ERR_OR_ZERO(tt_main_task);
}
module_init(tt_init);

static void __exit tt_exit(void)
{
	kthread_stop(tt_main_task);
}
module_exit(tt_exit);

MODULE_DESCRIPTION("Torture of twheel's in-kernel interface");
MODULE_LICENSE("GPL");
