// SPDX-License-Identifier: GPL-2.0
/*
 * A module that has timers pending until it is unloaded
 *
 * For tests/vm/guest/callbacks, which looks for them in debugfs: a few that are
 * far from each other, many in one slot, and a work.
 */
#include <linux/module.h>

#include <linux/twheel_work.h>

#define HOLD_FEW	3
#define HOLD_MANY	100
#define HOLD_HOUR	(3600 * (u64)NSEC_PER_SEC)

static struct twheel_timer few[HOLD_FEW];
static struct twheel_timer many[HOLD_MANY];

static void hold_few(struct twheel_timer *timer)
{
}

static void hold_many(struct twheel_timer *timer)
{
}

static void hold_work(struct work_struct *work)
{
}

static DEFINE_TWHEEL_WORK(work, hold_work);

static int __init hold_init(void)
{
	int i;

	for (i = 0; i < HOLD_FEW; i++) {
		twheel_timer_setup(&few[i], NULL, hold_few, 0);
		twheel_start(&few[i], (i + 1) * HOLD_HOUR);
	}
	for (i = 0; i < HOLD_MANY; i++) {
		twheel_timer_setup(&many[i], NULL, hold_many, 0);
		twheel_start_on(&many[i], 1000 * HOLD_HOUR, 0);
	}
	twheel_queue_work(system_wq, &work, HOLD_HOUR);
	return 0;
}
module_init(hold_init);

static void __exit hold_exit(void)
{
	int i;

	for (i = 0; i < HOLD_FEW; i++)
		twheel_shutdown_sync(&few[i]);
	for (i = 0; i < HOLD_MANY; i++)
		twheel_shutdown_sync(&many[i]);
	twheel_cancel_work_sync(&work);
}
module_exit(hold_exit);

MODULE_DESCRIPTION("Timers that stay pending");
MODULE_LICENSE("GPL");
