// SPDX-License-Identifier: GPL-2.0
/*
 * Each form of call, for tools/port-to-twheel to port
 *
 * This module has no use, and consists of calls of timer_list. When tests/clients/port/run
 * ports it, each statement that is followed by a comment must become the text of the comment.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <net/sock.h>

#define FORM_SECONDS	3

/* Of Linux 6.13 and later. */
#ifndef secs_to_jiffies
#define secs_to_jiffies(n)	((n) * HZ)
#endif

struct form {
	struct timer_list timer, other;
	struct {
		struct timer_list timer;
	} inner;
	int seconds;
	u16 interval;
	unsigned int wait_ms;
	unsigned long when, since;
};

static struct timer_list lone;

static void defined_expired(struct timer_list *t)
{
}

static DEFINE_TIMER(defined, defined_expired);
/* static DEFINE_TWHEEL_TIMER(defined, defined_expired); */

static void expired(struct timer_list *t)
{
	struct form *f = from_timer(f, t, timer);
	/* struct form *f = container_of(t, struct form, timer); */
	struct form *same;

	same = from_timer(same, t, timer);
	/* same = container_of(t, typeof(*same), timer); */
	same = from_timer(same, t, inner.timer);
	/* same = container_of(t, typeof(*same), inner.timer); */
	mod_timer(t, jiffies);
	/* twheel_start(t, 0); */
	kfree(f == same ? NULL : same);
}

/* Start for a delay. A product must be computed with 64 bits, unless it may be negative. */
static void delays(struct form *f)
{
	struct timer_list *t = &f->timer;
	/* struct twheel_timer *t = &f->timer; */
	unsigned long left = f->when - jiffies;

	mod_timer(t, jiffies + HZ);
	/* twheel_start(t, NSEC_PER_SEC); */
	mod_timer(t, jiffies + 2 * HZ);
	/* twheel_start(t, (u64)2 * NSEC_PER_SEC); */
	mod_timer(t, HZ * FORM_SECONDS + jiffies);
	/* twheel_start(t, (u64)FORM_SECONDS * NSEC_PER_SEC); */
	mod_timer(t, jiffies + f->interval * HZ);
	/* twheel_start(t, (u64)f->interval * NSEC_PER_SEC); */
	mod_timer(t, jiffies + f->seconds * HZ);
	/* twheel_start(t, jiffies64_to_nsecs(max_t(long, f->seconds * HZ, 0))); */
	mod_timer(t, jiffies + msecs_to_jiffies(f->wait_ms + 1));
	/* twheel_start(t, (u64)(f->wait_ms + 1) * NSEC_PER_MSEC); */
	mod_timer(t, jiffies + secs_to_jiffies(FORM_SECONDS));
	/* twheel_start(t, (u64)FORM_SECONDS * NSEC_PER_SEC); */
	mod_timer(t, jiffies + secs_to_jiffies(f->wait_ms + 1));
	/* twheel_start(t, (u64)(f->wait_ms + 1) * NSEC_PER_SEC); */
	mod_timer(t, jiffies + secs_to_jiffies(f->seconds));
	/* twheel_start(t, jiffies64_to_nsecs(max_t(long, secs_to_jiffies(f->seconds), 0))); */
	mod_timer(t, 1 + jiffies);
	/* twheel_start(t, jiffies64_to_nsecs(1)); */
	mod_timer(t, jiffies + (HZ >> 2));
	/* twheel_start(t, jiffies64_to_nsecs(max_t(long, (HZ >> 2), 0))); */
	mod_timer(t, jiffies + f->when);
	/* twheel_start(t, jiffies64_to_nsecs(f->when)); */
	mod_timer(t, round_jiffies(jiffies + HZ));
	/* twheel_start(t, jiffies64_to_nsecs(round_jiffies_relative(HZ))); */
	mod_timer(t, jiffies + HZ + f->seconds);
	/* twheel_start(t, jiffies64_to_nsecs(max_t(long, HZ + f->seconds, 0))); */
	mod_timer(t, jiffies + (f->when - f->since));
	/* twheel_start(t, jiffies64_to_nsecs(max_t(long, f->when - f->since, 0))); */
	mod_timer(t, jiffies + left);
	/* twheel_start(t, jiffies64_to_nsecs(max_t(long, left, 0))); */
	switch (f->seconds) {
	case 0:
		left = f->when - 7;
		break;
	case 1:
		left = HZ;
		break;
	default:
		left = f->since - f->when;
	}
	mod_timer(t, jiffies + left);
	/* twheel_start(t, jiffies64_to_nsecs(max_t(long, left, 0))); */
}

/* Start timers that callers pass. The function is ported only if all of these timers are ported. */
static void start_both(struct timer_list *a, struct timer_list *b)
{
	mod_timer(a, jiffies + 1);
	/* twheel_start(a, jiffies64_to_nsecs(1)); */
	mod_timer(b, jiffies);
	/* twheel_start(b, 0); */
}

static void deadlines(struct form *f)
{
	mod_timer(&defined, jiffies + HZ);
	/* twheel_start(&defined, NSEC_PER_SEC); */
	timer_delete_sync(&defined);
	/* twheel_stop_sync(&defined); */
	mod_timer(&lone, f->when);
	/* twheel_start(&lone, jiffies64_to_nsecs(max_t(long, f->when - jiffies, 0))); */
	mod_timer(&lone, jiffies - 1);
	/* twheel_start(&lone, jiffies64_to_nsecs(max_t(long, jiffies - 1 - jiffies, 0))); */
	mod_timer_pending(&f->other, jiffies + 2);
	/* twheel_restart_at(&f->other, ktime_add_ns(ktime_get(), jiffies64_to_nsecs(2))); */
	f->timer.expires = jiffies + HZ;
	add_timer(&f->timer);
	/* twheel_start(&f->timer, NSEC_PER_SEC); */
	lone.expires = f->when;
	f->seconds++;
	add_timer_on(&lone, 1);
	/* twheel_start_on(&lone, jiffies64_to_nsecs(max_t(long, f->when - jiffies, 0)), 1); */
	lone.expires += 7;
	add_timer(&lone);
	/* twheel_start_at(&lone, ktime_add_ns(twheel_deadline(&lone), jiffies64_to_nsecs(7))); */
	lone.expires = f->when;
	mod_timer(&lone, lone.expires);
	/* twheel_start(&lone, jiffies64_to_nsecs(max_t(long, f->when - jiffies, 0))); */
	timer_reduce(&f->other, jiffies + HZ);
	/* twheel_reduce_at(&f->other, ktime_add_ns(ktime_get(), NSEC_PER_SEC)); */
	start_both(&f->timer, &f->other);
	f->when = f->timer.expires;
	/* f->when = (jiffies + nsecs_to_jiffies(twheel_remaining(&f->timer))); */
	f->when = lone.expires - jiffies;
	/* f->when = nsecs_to_jiffies(twheel_remaining(&lone)); */
}

static void others(struct form *f)
{
	struct timer_list stack;
	/* struct twheel_timer stack; */

	timer_setup_on_stack(&stack, expired, 0);
	/* twheel_timer_setup(&stack, NULL, expired, TWHEEL_TIMER_ON_STACK); */
	destroy_timer_on_stack(&stack);
	/* twheel_timer_destroy(&stack); */
	timer_destroy_on_stack(&stack);
	/* twheel_timer_destroy(&stack); */
	timer_setup(&lone, expired, TIMER_PINNED);
	/* twheel_timer_setup(&lone, NULL, expired, 0); */
	del_timer(&f->timer);
	/* twheel_stop(&f->timer); */
	timer_delete(&f->timer);
	/* twheel_stop(&f->timer); */
	del_timer_sync(&f->timer);
	/* twheel_stop_sync(&f->timer); */
	timer_delete_sync(&f->timer);
	/* twheel_stop_sync(&f->timer); */
	f->seconds = timer_pending(&lone);
	/* f->seconds = twheel_pending(&lone); */
	timer_shutdown_sync(&f->timer);
	/* twheel_shutdown_sync(&f->timer); */
}

/* Leave a timer of the kernel alone. */
static void kernels_expired(struct timer_list *t)
{
	struct sock *sk = from_timer(sk, t, sk_timer);
	/* struct sock *sk = from_timer(sk, t, sk_timer); */

	mod_timer(&sk->sk_timer, jiffies + HZ);
	/* mod_timer(&sk->sk_timer, jiffies + HZ); */
}

static void kernels(struct sock *sk)
{
	timer_setup(&sk->sk_timer, kernels_expired, 0);
	/* timer_setup(&sk->sk_timer, kernels_expired, 0); */
	del_timer(&sk->sk_timer);
	/* del_timer(&sk->sk_timer); */
}

static int __init forms_init(void)
{
	struct form *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	timer_setup(&f->timer, expired, 0);
	/* twheel_timer_setup(&f->timer, NULL, expired, 0); */
	timer_setup(&f->inner.timer, expired, 0);
	/* twheel_timer_setup(&f->inner.timer, NULL, expired, 0); */
	timer_setup(&f->other, expired, 0);
	/* twheel_timer_setup(&f->other, NULL, expired, 0); */
	others(f);
	delays(f);
	deadlines(f);
	kernels(NULL);
	timer_shutdown_sync(&f->other);
	/* twheel_shutdown_sync(&f->other); */
	kfree(f);
	return -EAGAIN;
}
module_init(forms_init);

MODULE_DESCRIPTION("Forms of calls to be ported");
MODULE_LICENSE("GPL");
