// SPDX-License-Identifier: GPL-2.0
/*
 * Each call of delayed_work, for tools/port-to-twheel to port
 *
 * Like forms.c, for calls of delayed_work.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/workqueue.h>

struct form {
	struct delayed_work work;
	unsigned long when;
	int ms;
};

static struct form form;
static struct workqueue_struct *queue_of_forms;

static void do_form(struct work_struct *work)
{
	struct delayed_work *dw = to_delayed_work(work);
	/* struct twheel_work *dw = container_of(work, struct twheel_work, work); */
	struct form *f = container_of(dw, struct form, work);

	schedule_delayed_work(&f->work, HZ);
	/* twheel_schedule_work(&f->work, NSEC_PER_SEC); */
	f = container_of(to_delayed_work(work), struct form, work);
	/* f = container_of(container_of(work, struct twheel_work, work), struct form, work); */
	mod_delayed_work(queue_of_forms, &f->work, msecs_to_jiffies(f->ms + 1));
	/* twheel_mod_work(queue_of_forms, &f->work, (u64)(f->ms + 1) * NSEC_PER_MSEC); */
}

static DECLARE_DELAYED_WORK(lone, do_form);
/* static DEFINE_TWHEEL_WORK(lone, do_form); */

/* Queue works for a negative delay: they must be due at once, and not in centuries. */
static void queue_in_the_past(struct form *f, unsigned long at)
{
	unsigned long left = at - jiffies;

	queue_delayed_work(system_wq, &lone, at - jiffies);
	/* twheel_schedule_work(&lone, jiffies64_to_nsecs(max_t(long, at - jiffies, 0))); */
	queue_delayed_work(queue_of_forms, &f->work, left);
	/* twheel_queue_work(queue_of_forms, &f->work, jiffies64_to_nsecs(max_t(long, left, 0))); */
	mod_delayed_work(queue_of_forms, &f->work, f->ms);
	/* twheel_mod_work(queue_of_forms, &f->work, jiffies64_to_nsecs(max_t(long, f->ms, 0))); */
}

static void queue(struct form *f)
{
	queue_delayed_work(queue_of_forms, &f->work, f->when);
	/* twheel_queue_work(queue_of_forms, &f->work, jiffies64_to_nsecs(f->when)); */
	queue_delayed_work_on(1, system_wq, &f->work, 2 * HZ);
	/* twheel_schedule_work_on(1, &f->work, (u64)2 * NSEC_PER_SEC); */
	queue_delayed_work_on(1, queue_of_forms, &f->work, secs_to_jiffies(2));
	/* twheel_queue_work_on(1, queue_of_forms, &f->work, (u64)2 * NSEC_PER_SEC); */
	mod_delayed_work_on(1, queue_of_forms, &f->work, 0);
	/* twheel_mod_work_on(1, queue_of_forms, &f->work, 0); */
	schedule_delayed_work_on(1, &lone, 3);
	/* twheel_schedule_work_on(1, &lone, jiffies64_to_nsecs(3)); */
	f->ms = delayed_work_pending(&f->work);
	/* f->ms = twheel_work_pending(&f->work); */
}

static void cancel(struct form *f)
{
	cancel_delayed_work(&lone);
	/* twheel_cancel_work(&lone); */
	flush_delayed_work(&f->work);
	/* twheel_flush_work(&f->work); */
	disable_delayed_work(&f->work);
	/* twheel_disable_work(&f->work); */
	disable_delayed_work_sync(&f->work);
	/* twheel_disable_work_sync(&f->work); */
	enable_delayed_work(&f->work);
	/* twheel_enable_work(&f->work); */
	cancel_delayed_work_sync(&f->work);
	/* twheel_cancel_work_sync(&f->work); */
}

static void on_stack(void)
{
	struct delayed_work stack;
	/* struct twheel_work stack; */

	INIT_DELAYED_WORK_ONSTACK(&stack, do_form);
	/* twheel_init_work_on_stack(&stack, NULL, do_form); */
	destroy_delayed_work_on_stack(&stack);
	/* twheel_destroy_work_on_stack(&stack); */
}

static int __init works_init(void)
{
	INIT_DELAYED_WORK(&form.work, do_form);
	/* twheel_init_work(&form.work, NULL, do_form); */
	queue(&form);
	queue_in_the_past(&form, jiffies);
	cancel(&form);
	on_stack();
	return -EAGAIN;
}
module_init(works_init);

MODULE_DESCRIPTION("Forms of calls to be ported");
MODULE_LICENSE("GPL");
