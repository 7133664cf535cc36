// SPDX-License-Identifier: GPL-2.0
/*
 * Load of the default wheel, for tests that measure how attackers delay the timers of other users
 *
 * @nr timers are due at each millisecond, and start again in their callbacks. The file latest_ns in
 * /sys/module/twheel_load/parameters has their longest lateness. Their deadlines are at the ticks
 * of a wheel with ticks of 1 ms, so nothing is rounded up.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/twheel.h>
#include <linux/vmalloc.h>

static unsigned int nr = 100;
module_param(nr, uint, 0444);
MODULE_PARM_DESC(nr, "timers in each millisecond");

/* Written by callbacks, which run on one CPU. Readers may see an older value. */
static u64 latest_ns;
module_param(latest_ns, ullong, 0444);
MODULE_PARM_DESC(latest_ns, "longest lateness of all timers so far, ns");

static struct twheel_timer *timers;
static u64 tick_ns;

static void load_expired(struct twheel_timer *timer)
{
	u64 deadline = twheel_expired_deadline(timer, tick_ns);

	latest_ns = max_t(u64, latest_ns, ktime_get() - deadline);
	twheel_again_at(timer, deadline + NSEC_PER_MSEC);
}

static int __init load_init(void)
{
	struct twheel_config config;
	ktime_t deadline;
	unsigned int i;

	timers = vzalloc(array_size(nr, sizeof(*timers)));
	if (!timers)
		return -ENOMEM;
	twheel_get_config(twheel_default(), &config);
	tick_ns = config.tick_ns;
	deadline = (div_u64(ktime_get(), NSEC_PER_MSEC) + 100) * NSEC_PER_MSEC;
	for (i = 0; i < nr; i++) {
		twheel_timer_setup(&timers[i], NULL, load_expired, 0);
		twheel_start_at(&timers[i], deadline);
	}
	return 0;
}
module_init(load_init);

static void __exit load_exit(void)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		twheel_shutdown_sync(&timers[i]);
	vfree(timers);
}
module_exit(load_exit);

MODULE_DESCRIPTION("Load of twheel's default wheel");
MODULE_LICENSE("GPL");
