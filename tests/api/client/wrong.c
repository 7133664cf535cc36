// SPDX-License-Identifier: GPL-2.0
/*
 * Mistakes of a client, which the kernel reports
 *
 * insmod what=NAME makes one mistake. A kernel with debug objects and lockdep has to report the
 * mistake, and go on. tests/vm/guest/complaints looks for the report. The log also says whether
 * twheel dealt with the mistake:
 *
 *  twheel_wrong: mended
 */
#include <linux/completion.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <linux/twheel.h>

#define WRONG_HOUR	(3600 * (u64)NSEC_PER_SEC)

static char *what;
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "what to do");

static struct twheel_timer zeroed, timer;
static DECLARE_COMPLETION(expired);
static DEFINE_SPINLOCK(lock);

static void never_called(struct twheel_timer *timer)
{
}

static void locking_callback(struct twheel_timer *timer)
{
	spin_lock(&lock);
	spin_unlock(&lock);
	complete(&expired);
}

/* Start a timer in allocated memory, which the caller frees. */
static struct twheel_timer *start_one(void)
{
	struct twheel_timer *one = kmalloc(sizeof(*one), GFP_KERNEL);

	twheel_timer_setup(one, NULL, never_called, 0);
	twheel_start(one, WRONG_HOUR);
	return one;
}

/*
 * Run @fn as a callback, and wait for @expired. It is completed by the callback itself, or by work
 * that the callback queues for the end of its tick.
 */
static void let_expire(twheel_fn fn)
{
	twheel_timer_setup(&timer, NULL, fn, 0);
	twheel_start(&timer, 0);
	wait_for_completion(&expired);
}

static bool use_a_zeroed_timer(void)
{
	return twheel_stop(&zeroed) == 0 && twheel_stop_sync(&zeroed) == 0 &&
	       !twheel_pending(&zeroed);
}

static bool restart_a_zeroed_timer(void)
{
	return twheel_restart_at(&zeroed, KTIME_MAX) == 0;
}

/*
 * Free a pending timer. Debug objects must stop the timer, because the wheel would use the freed
 * memory.
 */
static bool free_a_pending_timer(void)
{
	kfree(start_one());
	return true;
}

static bool set_up_a_pending_timer(void)
{
	struct twheel_timer *one = start_one();
	bool mended;

	twheel_timer_setup(one, NULL, never_called, 0);
	mended = !twheel_pending(one) && twheel_start(one, WRONG_HOUR) == 0 &&
		 twheel_stop_sync(one) == 1;
	kfree(one);
	return mended;
}

static void end_of_tick(struct twheel_tick_end *end)
{
	complete(&expired);
}

static struct twheel_tick_end tick_end = { .fn = end_of_tick };

static void leaking_callback(struct twheel_timer *timer)
{
	twheel_at_tick_end(timer, &tick_end);
	preempt_disable();
}

/*
 * Check that the preempt count of the callback does not leak into this task, which the softirq
 * may have interrupted: the kernel restores it after each softirq.
 */
static bool leak_a_preempt_count(void)
{
	int count = preempt_count();

	let_expire(leaking_callback);
	twheel_stop_sync(&timer);
	return preempt_count() == count;
}

/*
 * Wait for a callback while holding a lock that the callback takes. The callback ran long before,
 * but lockdep remembers the order.
 */
static bool wait_with_the_lock_held(void)
{
	let_expire(locking_callback);
	twheel_stop_sync(&timer);
	spin_lock_bh(&lock);
	twheel_stop_sync(&timer);
	spin_unlock_bh(&lock);
	return true;
}

/*
 * Check that the work is not queued. A later tick would call it, perhaps after the module is gone.
 */
static bool queue_a_tick_end_outside_of_the_callback(void)
{
	twheel_timer_setup(&timer, NULL, never_called, 0);
	twheel_start(&timer, WRONG_HOUR);
	twheel_at_tick_end(&timer, &tick_end);
	return twheel_stop_sync(&timer) == 1 && !tick_end.queued;
}

/* Check that timers of the default wheel still expire after the attempt. */
static bool destroy_the_default_wheel(void)
{
	twheel_destroy(twheel_default());
	let_expire(locking_callback);
	return twheel_stop_sync(&timer) == 0;
}

static int stopped[2];

static void stop_in_interrupt(struct irq_work *work)
{
	stopped[0] = twheel_stop_sync(&timer);
	twheel_start(&timer, WRONG_HOUR);
	stopped[1] = twheel_shutdown_sync(&timer);
}

static DEFINE_IRQ_WORK(interrupt, stop_in_interrupt);

static void interrupted_callback(struct twheel_timer *timer)
{
	twheel_start(timer, WRONG_HOUR);
	irq_work_queue(&interrupt);
	while (irq_work_is_busy(&interrupt))
		cpu_relax();
	complete(&expired);
}

/*
 * Stop a timer in an interrupt of its own callback. A wait would never end, because the callback
 * cannot return before the interrupt does.
 */
static bool wait_in_an_interrupt(void)
{
	let_expire(interrupted_callback);
	return twheel_stop_sync(&timer) == 0 && stopped[0] == 1 && stopped[1] == 1 &&
	       twheel_start(&timer, WRONG_HOUR) < 0;
}

static void freeing_callback(struct twheel_timer *timer)
{
	twheel_again_at(timer, ktime_get() + WRONG_HOUR);
	kfree(timer);
	complete(&expired);
}

/*
 * Free a timer whose start is deferred to the end of its callback. Debug objects must report it,
 * because the tick would start it.
 */
static bool free_a_timer_that_starts_again(void)
{
	struct twheel_timer *one = kmalloc(sizeof(*one), GFP_KERNEL);

	twheel_timer_setup(one, NULL, freeing_callback, 0);
	twheel_start(one, 0);
	wait_for_completion(&expired);
	return true;
}

static bool take_a_deadline_for_a_delay(void)
{
	twheel_timer_setup(&timer, NULL, never_called, 0);
	twheel_start(&timer, 10ULL * NSEC_PER_SEC);
	twheel_start(&timer, ktime_add_ms(ktime_get(), 10) | 1);
	return twheel_stop_sync(&timer) == 1;
}

static bool drain_the_default_wheel(void)
{
	twheel_timer_setup(&timer, NULL, never_called, 0);
	twheel_start(&timer, WRONG_HOUR);
	return twheel_drain(twheel_default(), NULL, NULL) == 0 && twheel_stop_sync(&timer) == 1;
}

static bool prepare_with_a_lock_held(void)
{
	int ret;

	spin_lock(&lock);
	ret = twheel_prepare_cpu(twheel_default(), smp_processor_id());
	spin_unlock(&lock);
	return ret == 0;
}

#define WRONG(name)	{ #name, name }

static const struct {
	const char *name;
	bool (*run)(void);
} wrongs[] = {
	WRONG(use_a_zeroed_timer),
	WRONG(restart_a_zeroed_timer),
	WRONG(free_a_pending_timer),
	WRONG(set_up_a_pending_timer),
	WRONG(leak_a_preempt_count),
	WRONG(queue_a_tick_end_outside_of_the_callback),
	WRONG(destroy_the_default_wheel),
	WRONG(wait_in_an_interrupt),
	WRONG(free_a_timer_that_starts_again),
	WRONG(take_a_deadline_for_a_delay),
	WRONG(drain_the_default_wheel),
	WRONG(prepare_with_a_lock_held),
	WRONG(wait_with_the_lock_held),
};

static int __init wrong_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrongs); i++) {
		if (!what || strcmp(what, wrongs[i].name))
			continue;
		if (wrongs[i].run())
			pr_info("twheel_wrong: mended\n");
		return 0;
	}
	return -EINVAL;
}
module_init(wrong_init);

static void __exit wrong_exit(void)
{
}
module_exit(wrong_exit);

MODULE_DESCRIPTION("Misuse of twheel's in-kernel interface");
MODULE_LICENSE("GPL");
