/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The functions of <linux/twheel.h> and <linux/twheel_work.h> by timer_list, for a module that
 * is also built where there is no twheel
 *
 * Copy this file into the module, under both names, and let its Kbuild choose between the copies
 * and the originals: see "Recipes" in Documentation/kernel-api.rst. The sources of the module are
 * the same for both.
 *
 * What differs from twheel:
 *
 *  - A timer expires up to three jiffies late, and one with a long delay up to an eighth of the
 *    delay: both are timers of timer_list. None is early. All timers that are due together expire
 *    in one softirq.
 *  - Timers with the same deadline expire in any order. TIMER_SOFTIRQ runs before the softirqs of
 *    the network.
 *  - A wheel is a name: its tick and its doze mean nothing, and CLOCK_BOOTTIME is refused.
 *    twheel_destroy() waits for an RCU grace period.
 *  - twheel_again_at() starts the timer at once.
 *  - twheel_start_on() stops a pending timer first. In between the timer is not pending.
 *  - If two callers start a timer at once, twheel_deadline() may return the deadline of either of
 *    them.
 *  - twheel_work_deadline() returns only deadlines that were given to twheel_queue_work_at() or
 *    twheel_schedule_work_at(), and no ends of delays.
 *  - A timer of twheel_asked_setup() is not asked for its deadline. Its callback runs at the
 *    deadline of the last start, finds the later deadline that the owner stored, and starts the
 *    timer again, as any callback of a source does. In between twheel_pending() may be false, and
 *    twheel_stop() and twheel_restart() may return 0.
 *  - The fallback lacks timers on the stack, and the functions for many timers, for the end of a
 *    tick, for payers, for draining a wheel and for announcing a waiter.
 */
#ifndef _LINUX_TWHEEL_H
#define _LINUX_TWHEEL_H
#define _LINUX_TWHEEL_WORK_H

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

/* TWHEEL_API_VERSION of the <linux/twheel.h> that this file stands for. */
#define TWHEEL_API_VERSION	1
#define TWHEEL_FALLBACK		1
#define TWHEEL_DOZE_DEFAULT	2

enum twheel_scheme_type { TWHEEL_HIER, TWHEEL_HASHED };
enum twheel_mode { TWHEEL_PERIODIC, TWHEEL_TICKLESS };
struct twheel;
struct twheel_timer;

struct twheel_config {
	const char *name;
	enum twheel_scheme_type scheme;
	enum twheel_mode mode;
	u64 tick_ns;
	unsigned int slots, doze;
	clockid_t clock;
};

struct twheel_timer {
	struct timer_list timer;
	u64 deadline;
	void (*fn)(struct twheel_timer *timer);
};

struct twheel_source {
	u64 (*deadline)(struct twheel_timer *timer);
	void (*fn)(struct twheel_timer *timer);
};

struct twheel_asked_timer {
	struct twheel_timer timer;
};

struct twheel_work {
	union {
		struct work_struct work;
		struct delayed_work delayed;
	};
	ktime_t deadline;
};

/* Called by timer_list. */
static inline void twheel_fallback_expired(struct timer_list *timer)
{
	struct twheel_timer *t = container_of(timer, struct twheel_timer, timer);

	t->fn(t);
}

/*
 * Return the number of jiffies until a deadline, plus 1 because the present jiffy has begun. While
 * interrupts are off jiffies falls behind the clock, and leaps forward later. The coarse clock
 * falls behind with it. So count from the coarse clock, and read jiffies after it.
 */
static inline unsigned long twheel_fallback_until(ktime_t deadline)
{
	u64 ns = max_t(s64, deadline - ktime_get_coarse(), 0);

	return min_t(u64, nsecs_to_jiffies64(ns + TICK_NSEC - 1) + 1, MAX_JIFFY_OFFSET);
}

static inline unsigned long twheel_fallback_expires(ktime_t deadline)
{
	unsigned long delay = twheel_fallback_until(deadline);

	return jiffies + delay;
}

static inline ktime_t twheel_fallback_deadline(u64 delay_ns)
{
	return ktime_add_safe(ktime_get(), min_t(u64, delay_ns, KTIME_MAX));
}

#define TWHEEL_TIMER_INITIALIZER(function) {					\
		.timer = __TIMER_INITIALIZER(twheel_fallback_expired, 0),	\
		.fn = (function),						\
	}
#define DEFINE_TWHEEL_TIMER(name, function)					\
	struct twheel_timer name = TWHEEL_TIMER_INITIALIZER(function)

/* A macro, so that each place that sets timers up has a lockdep class of its own. */
#define twheel_timer_setup(t, wheel, function, flags)				\
	do {									\
		BUILD_BUG_ON(flags);						\
		timer_setup(&(t)->timer, twheel_fallback_expired, 0);		\
		(t)->deadline = 0;						\
		(t)->fn = (function);						\
	} while (0)

#define twheel_asked_setup(asked, wheel, timer_source, flags)			\
	twheel_timer_setup(&(asked)->timer, wheel, (timer_source)->fn, flags)

static inline int twheel_fallback_start(struct twheel_timer *t, ktime_t deadline,
					int (*start)(struct timer_list *timer,
						     unsigned long expires))
{
	if (!READ_ONCE(t->timer.function))
		return -ESHUTDOWN;
	t->deadline = deadline;
	return start(&t->timer, twheel_fallback_expires(deadline));
}

static inline int twheel_start_at(struct twheel_timer *t, ktime_t deadline)
{
	return twheel_fallback_start(t, deadline, mod_timer);
}

static inline int twheel_start(struct twheel_timer *t, u64 delay_ns)
{
	return twheel_start_at(t, twheel_fallback_deadline(delay_ns));
}

static inline int twheel_again_at(struct twheel_timer *t, ktime_t deadline)
{
	return twheel_start_at(t, deadline);
}

static inline int twheel_restart_at(struct twheel_timer *t, ktime_t deadline)
{
	if (!READ_ONCE(t->timer.function) ||
	    !mod_timer_pending(&t->timer, twheel_fallback_expires(deadline)))
		return 0;
	t->deadline = deadline;
	return 1;
}

static inline int twheel_restart(struct twheel_timer *t, u64 delay_ns)
{
	return twheel_restart_at(t, twheel_fallback_deadline(delay_ns));
}

static inline int twheel_reduce_at(struct twheel_timer *t, ktime_t deadline)
{
	if (timer_pending(&t->timer) && (ktime_t)t->deadline <= deadline)
		return 1;
	return twheel_fallback_start(t, deadline, timer_reduce);
}

static inline int twheel_start_on(struct twheel_timer *t, u64 delay_ns, int cpu)
{
	int pending = timer_delete(&t->timer);

	if (!READ_ONCE(t->timer.function))
		return -ESHUTDOWN;
	t->deadline = twheel_fallback_deadline(delay_ns);
	t->timer.expires = twheel_fallback_expires(t->deadline);
	add_timer_on(&t->timer, cpu);
	return pending;
}

static inline int twheel_stop(struct twheel_timer *t)
{
	return timer_delete(&t->timer);
}

static inline int twheel_stop_sync(struct twheel_timer *t)
{
	return timer_delete_sync(&t->timer);
}

static inline int twheel_shutdown_sync(struct twheel_timer *t)
{
	return timer_shutdown_sync(&t->timer);
}

static inline bool twheel_pending(const struct twheel_timer *t)
{
	return timer_pending(&t->timer);
}

static inline ktime_t twheel_deadline(const struct twheel_timer *t)
{
	return t->deadline;
}

static inline u64 twheel_remaining(const struct twheel_timer *t)
{
	return twheel_pending(t) ? max_t(s64, t->deadline - ktime_get(), 0) : 0;
}

static inline struct twheel *twheel_default(void)
{
	return NULL;
}

static inline struct twheel *twheel_create(const struct twheel_config *config)
{
	return config->clock == CLOCK_BOOTTIME ? ERR_PTR(-EINVAL) : NULL;
}

/* Wait for running callbacks: an RCU grace period waits for softirqs, too. */
static inline void twheel_destroy(struct twheel *wheel)
{
	synchronize_rcu();
}

#define TWHEEL_WORK_INITIALIZER(name, function)					\
	{ .delayed = __DELAYED_WORK_INITIALIZER((name).delayed, (function), 0) }
#define DEFINE_TWHEEL_WORK(name, function)					\
	struct twheel_work name = TWHEEL_WORK_INITIALIZER(name, function)
#define twheel_init_work(w, wheel, function)					\
	do {									\
		INIT_DELAYED_WORK(&(w)->delayed, function);			\
		(w)->deadline = 0;						\
	} while (0)

/* Without a delay a work is queued at once. */
static inline unsigned long twheel_fallback_delay(u64 ns)
{
	return ns ? twheel_fallback_until(twheel_fallback_deadline(ns)) : 0;
}

#define twheel_queue_work(wq, w, ns)						\
	queue_delayed_work(wq, &(w)->delayed, twheel_fallback_delay(ns))
#define twheel_mod_work(wq, w, ns)						\
	mod_delayed_work(wq, &(w)->delayed, twheel_fallback_delay(ns))
#define twheel_schedule_work(w, ns)						\
	schedule_delayed_work(&(w)->delayed, twheel_fallback_delay(ns))

/*
 * Change the deadline of a work and queue it, and take the change back if that fails. The work
 * may run, and read its deadline, before @queue returns.
 */
#define twheel_fallback_work_at(w, at, queue)					\
	({									\
		ktime_t __last = (w)->deadline;					\
		bool __queued;							\
										\
		(w)->deadline = (at);						\
		__queued = (queue);						\
		if (!__queued)							\
			(w)->deadline = __last;					\
		__queued;							\
	})

static inline bool twheel_queue_work_at(struct workqueue_struct *wq, struct twheel_work *work,
					ktime_t deadline)
{
	return twheel_fallback_work_at(work, deadline,
				       queue_delayed_work(wq, &work->delayed,
							  twheel_fallback_until(deadline)));
}

static inline bool twheel_schedule_work_at(struct twheel_work *work, ktime_t deadline)
{
	return twheel_fallback_work_at(work, deadline,
				       schedule_delayed_work(&work->delayed,
							     twheel_fallback_until(deadline)));
}

static inline ktime_t twheel_work_deadline(const struct twheel_work *work)
{
	return work->deadline;
}

#define twheel_work_pending(w)		delayed_work_pending(&(w)->delayed)
#define twheel_cancel_work(w)		cancel_delayed_work(&(w)->delayed)
#define twheel_cancel_work_sync(w)	cancel_delayed_work_sync(&(w)->delayed)
#define twheel_flush_work(w)		flush_delayed_work(&(w)->delayed)

#endif /* _LINUX_TWHEEL_H */
