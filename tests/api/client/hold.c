// SPDX-License-Identifier: GPL-2.0
/*
 * A module that has timers pending until it is unloaded
 *
 * For tests/vm/guest/callbacks, which looks for them in debugfs: some in more slots than
 * one look goes through, many in one slot, and a work.
 */
#include <linux/module.h>

#include <linux/twheel_work.h>

#define HOLD_SLOTS	70
#define HOLD_MANY	100
#define HOLD_MINUTE	(60 * (u64)NSEC_PER_SEC)
#define HOLD_HOUR	(60 * HOLD_MINUTE)

static struct twheel_timer slots[HOLD_SLOTS];
static struct twheel_timer many[HOLD_MANY];

static void hold_slots(struct twheel_timer *timer)
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

	for (i = 0; i < HOLD_SLOTS; i++) {
		twheel_timer_setup(&slots[i], NULL, hold_slots, 0);
		/* A slot has some 66 s there. */
		twheel_start_on(&slots[i], (20 + 3 * i) * HOLD_MINUTE, 0);
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

	for (i = 0; i < HOLD_SLOTS; i++)
		twheel_shutdown_sync(&slots[i]);
	for (i = 0; i < HOLD_MANY; i++)
		twheel_shutdown_sync(&many[i]);
	twheel_cancel_work_sync(&work);
}
module_exit(hold_exit);

MODULE_DESCRIPTION("Timers that stay pending");
MODULE_LICENSE("GPL");
