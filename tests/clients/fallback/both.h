/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of the promises that twheel and twheel_fallback.h both make: the module does not load if
 * one of them is broken
 *
 * Included once, by a module that is built with twheel's headers or with the
 * fallback.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/stop_machine.h>
#include <linux/twheel.h>
#include <linux/twheel_work.h>

#define MS	((u64)NSEC_PER_MSEC)

#define EXPECT(condition)							\
	do {									\
		if (!(condition)) {						\
			pr_err("line %d: not %s\n", __LINE__, #condition);	\
			return -EINVAL;						\
		}								\
	} while (0)

static DECLARE_COMPLETION(done);
static unsigned int runs;
static u64 latest_ns;		/* largest lateness; nearly 2^64 after an early callback */

static void note_time(struct twheel_timer *timer)
{
	latest_ns = max_t(u64, latest_ns, ktime_get() - twheel_deadline(timer));
	runs++;
}

static void expired(struct twheel_timer *timer)
{
	note_time(timer);
	complete(&done);
}

static void expired_thrice(struct twheel_timer *timer)
{
	note_time(timer);
	if (runs < 3)
		twheel_again_at(timer, ktime_add_ns(twheel_deadline(timer), 5 * MS));
	else
		complete(&done);
}

static void worked(struct work_struct *work)
{
	struct twheel_work *w = container_of(work, struct twheel_work, work);

	if (++runs < 3)
		twheel_schedule_work(w, MS);
	else
		complete(&done);
}

/* Queue the work again every 5 ms. It takes longer, but its deadlines must not drift. */
static void worked_at(struct work_struct *work)
{
	struct twheel_work *w = container_of(work, struct twheel_work, work);

	latest_ns = max_t(u64, latest_ns, ktime_get() - twheel_work_deadline(w));
	msleep(20);
	if (++runs < 3)
		twheel_schedule_work_at(w, ktime_add_ns(twheel_work_deadline(w), 5 * MS));
	else
		complete(&done);
}

static DEFINE_TWHEEL_TIMER(defined, expired);
static DEFINE_TWHEEL_WORK(defined_work, worked);
static struct twheel_timer timer;
static struct twheel_work work;

static bool completes(void)
{
	return wait_for_completion_timeout(&done, 60 * HZ);
}

static int starts_and_stops(void)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), 3600000);

	runs = 0;
	EXPECT(twheel_stop(&timer) == 0);
	EXPECT(twheel_restart_at(&timer, deadline) == 0 && !twheel_pending(&timer));
	EXPECT(twheel_remaining(&timer) == 0);
	EXPECT(twheel_start(&timer, U64_MAX) == 0 && twheel_pending(&timer));
	EXPECT(twheel_start(&timer, 3600 * NSEC_PER_SEC) == 1);
	EXPECT(twheel_remaining(&timer) > 3000 * NSEC_PER_SEC);
	EXPECT(twheel_remaining(&timer) <= 3600 * NSEC_PER_SEC);
	EXPECT(twheel_start_at(&timer, deadline) == 1);
	EXPECT(twheel_deadline(&timer) == deadline);
	EXPECT(twheel_restart_at(&timer, deadline + 1) == 1);
	EXPECT(twheel_deadline(&timer) == deadline + 1);
	EXPECT(twheel_start_on(&timer, 3600 * NSEC_PER_SEC, 0) == 1 && twheel_pending(&timer));
	EXPECT(twheel_stop(&timer) == 1 && !twheel_pending(&timer));
	EXPECT(runs == 0);
	return 0;
}

static int expires(struct twheel_timer *t, u64 delay_ns)
{
	runs = 0;
	EXPECT(twheel_start(t, delay_ns) == 0);
	EXPECT(completes());
	EXPECT(twheel_stop_sync(t) == 0 && runs == 1);
	return 0;
}

static int is_brought_forward(void)
{
	ktime_t deadline;

	runs = 0;
	EXPECT(twheel_start(&timer, 3600 * NSEC_PER_SEC) == 0);
	EXPECT(twheel_reduce_at(&timer, ktime_add_ms(ktime_get(), 5)) == 1);
	EXPECT(completes() && runs == 1);
	EXPECT(twheel_start(&timer, 3600 * NSEC_PER_SEC) == 0);
	deadline = twheel_deadline(&timer);
	EXPECT(twheel_reduce_at(&timer, ktime_add_ms(deadline, 1)) == 1);
	EXPECT(twheel_deadline(&timer) == deadline && twheel_stop(&timer) == 1);
	return 0;
}

static ktime_t work_due, worked_after;

static void worked_once(struct work_struct *work)
{
	worked_after = ktime_get();
	complete(&done);
}

/* Start while no CPU takes interrupts, so that jiffies stands still, but the clock does not. */
static int start_behind(void *unused)
{
	mdelay(100);
	work_due = ktime_add_ms(ktime_get(), 90);
	twheel_start(&timer, 90 * MS);
	twheel_schedule_work(&work, 90 * MS);
	return 0;
}

static int is_never_early(void)
{
	runs = 0;
	latest_ns = 0;
	twheel_init_work(&work, NULL, worked_once);
	EXPECT(stop_machine(start_behind, NULL, NULL) == 0);
	EXPECT(completes() && completes() && runs == 1);
	EXPECT(latest_ns < 60 * NSEC_PER_SEC);
	EXPECT(worked_after >= work_due);
	return 0;
}

/* A timer whose owner stores a later deadline after the start. Only the stored deadline counts. */
static struct twheel_asked_timer asked;
static u64 stored;

static u64 stored_deadline(struct twheel_timer *timer)
{
	return READ_ONCE(stored);
}

static void expired_or_stored(struct twheel_timer *timer)
{
	u64 deadline = stored_deadline(timer);

	if (deadline > ktime_get()) {
		twheel_again_at(timer, deadline);
		return;
	}
	note_time(timer);
	complete(&done);
}

static const struct twheel_source source = {
	.deadline = stored_deadline,
	.fn = expired_or_stored,
};

static int asks(void)
{
	ktime_t first = ktime_add_ms(ktime_get(), 5);

	runs = 0;
	twheel_asked_setup(&asked, NULL, &source, 0);
	EXPECT(twheel_start_at(&asked.timer, first) == 0);
	WRITE_ONCE(stored, ktime_add_ms(first, 50));
	EXPECT(completes());
	EXPECT(twheel_shutdown_sync(&asked.timer) == 0 && runs == 1);
	EXPECT(twheel_deadline(&asked.timer) == stored);
	return 0;
}

static int goes_on(struct twheel *wheel)
{
	ktime_t first = ktime_add_ms(ktime_get(), 5);

	runs = 0;
	twheel_timer_setup(&timer, wheel, expired_thrice, 0);
	EXPECT(twheel_start_at(&timer, first) == 0);
	EXPECT(completes());
	EXPECT(twheel_stop_sync(&timer) == 0 && runs == 3);
	EXPECT(twheel_deadline(&timer) == ktime_add_ms(first, 10));
	EXPECT(twheel_shutdown_sync(&timer) == 0);
	EXPECT(twheel_start(&timer, MS) == -ESHUTDOWN && !twheel_pending(&timer));
	return 0;
}

static int works(struct twheel_work *w)
{
	runs = 0;
	EXPECT(twheel_schedule_work(w, 3600 * NSEC_PER_SEC) && twheel_work_pending(w));
	EXPECT(!twheel_schedule_work(w, MS));
	EXPECT(twheel_cancel_work_sync(w) && !twheel_work_pending(w) && runs == 0);
	EXPECT(twheel_schedule_work(w, MS));
	EXPECT(completes());
	EXPECT(!twheel_cancel_work_sync(w) && runs == 3);
	return 0;
}

static int works_at(void)
{
	ktime_t first = ktime_add_ms(ktime_get(), 5), hour = ktime_add_ms(first, 3600000);

	runs = 0;
	twheel_init_work(&work, NULL, worked_at);
	EXPECT(twheel_schedule_work_at(&work, hour) && twheel_work_pending(&work));
	EXPECT(!twheel_schedule_work_at(&work, first));
	EXPECT(twheel_work_deadline(&work) == hour);
	EXPECT(twheel_cancel_work_sync(&work) && runs == 0);
	EXPECT(twheel_schedule_work_at(&work, first));
	EXPECT(completes());
	EXPECT(!twheel_cancel_work_sync(&work) && runs == 3);
	EXPECT(twheel_work_deadline(&work) == ktime_add_ms(first, 10));
	return 0;
}

static int all(void)
{
	struct twheel_config config = { .name = "both", .tick_ns = 10 * MS };
	struct twheel *wheel = twheel_create(&config);
	int ret;

	EXPECT(!IS_ERR(wheel));
	ret = goes_on(wheel);
	twheel_destroy(wheel);
	if (ret)
		return ret;
	twheel_timer_setup(&timer, NULL, expired, 0);
	twheel_init_work(&work, NULL, worked);
	ret = starts_and_stops() ?: expires(&timer, 0) ?: expires(&timer, 3 * MS) ?:
	      expires(&timer, 300 * MS) ?: expires(&defined, MS) ?: is_brought_forward() ?:
	      works(&work) ?: works(&defined_work) ?: works_at() ?: asks() ?: is_never_early();
	if (ret)
		return ret;
	EXPECT(latest_ns < 60 * NSEC_PER_SEC);
	return 0;
}

static int __init both_init(void)
{
	BUILD_BUG_ON(TWHEEL_API_VERSION != 1);
	return all();
}

static void __exit both_exit(void)
{
	twheel_shutdown_sync(&timer);
	twheel_shutdown_sync(&defined);
}

module_init(both_init);
module_exit(both_exit);
MODULE_DESCRIPTION("What twheel and its fallback both promise");
MODULE_LICENSE("GPL");
