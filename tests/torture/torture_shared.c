// SPDX-License-Identifier: GPL-2.0
/*
 * Many callers that use the same few timers, without any lock
 *
 * These callers meet the races inside of twheel. Two CPUs may start a timer at once, a stop may
 * come while it moves to another base, or its callback may restart it while another CPU stops it.
 * At no time is the state of such a timer known, but its account must come out even. Each start
 * that returned 0 found the timer not pending and left it pending. Either one callback or one
 * stop that returned 1 ended that. So, when no call and no callback runs any more,
 *
 *  starts that returned 0 = callbacks + stops that returned 1 + drained
 *
 * for every timer. Besides, two callbacks of one timer must never run at the same time.
 */
#define pr_fmt(fmt) "twheel_torture: " fmt

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "torture.h"

/**
 * struct tt_shared - a timer and its account
 * @t: the timer
 * @nr: its number, for messages
 * @starts: number of starts with result 0
 * @stops: number of stops with result 1
 * @callbacks: number of callbacks
 * @drained: number of drains of this timer
 * @running: number of callbacks that run now
 */
struct tt_shared {
	struct tt_timer t;
	unsigned int nr;
	atomic_t starts;
	atomic_t stops;
	atomic_t callbacks;
	atomic_t drained;
	atomic_t running;
};

static struct tt_shared *tt_shared;

static void tt_shared_note_start(struct tt_shared *s, int ret)
{
	if (ret < 0) {
		tt_error("shared %u: start returned %d", s->nr, ret);
	} else if (ret) {
		tt_count(TT_RESTARTED);
	} else {
		atomic_inc(&s->starts);
		tt_count(TT_ARMED);
	}
}

static void tt_shared_note_stop(struct tt_shared *s, int ret)
{
	if (ret) {
		atomic_inc(&s->stops);
		tt_count(TT_STOPPED);
	}
}

/* Choose a delay. Most are a few ticks, so that the timer expires while other threads use it. */
static u64 tt_shared_delay(u32 *rnd)
{
	u32 ticks = tt_random_below(rnd, 8) ? 3 : 300;

	return tt_random_below(rnd, ticks * tt_round.tick_ns);
}

static void tt_shared_start(struct tt_shared *s, u32 *rnd)
{
	u64 delay = tt_shared_delay(rnd);
	int ret;

	switch (tt_random_below(rnd, 8)) {
	case 0:
		ret = twheel_start_on(&s->t.timer, delay, tt_random_online_cpu(rnd));
		if (ret == -EINVAL && tt_hotplug_ms)
			return;
		break;
	case 1:
		if (twheel_restart_at(&s->t.timer, ktime_add_ns(ktime_get(), delay)))
			tt_count(TT_RESTARTED);
		return;
	case 2:
		ret = twheel_start_at(&s->t.timer, ktime_add_ns(ktime_get(), delay));
		break;
	default:
		if (tt_random_below(rnd, 2))
			tt_shared_note_start(s, twheel_start(&s->t.timer, delay));
		/* The second start often has the same tick, which takes another path in twheel. */
		ret = twheel_start(&s->t.timer, delay);
	}
	tt_shared_note_start(s, ret);
}

/* Start the timer again when its callback ends. Must be called by the callback. */
static void tt_shared_again(struct tt_shared *s, u32 *rnd)
{
	u64 delay = tt_shared_delay(rnd);

	tt_count(TT_AGAIN);
	tt_shared_note_start(s, twheel_again_at(&s->t.timer, ktime_add_ns(ktime_get(), delay)));
}

/* Start or stop a timer. Context: any. */
void tt_shared_op(u32 *rnd)
{
	struct tt_shared *s = &tt_shared[tt_random_below(rnd, tt_nshared)];

	if (tt_random_below(rnd, 3))
		tt_shared_start(s, rnd);
	else
		tt_shared_note_stop(s, twheel_stop(&s->t.timer));
}

/* Stop a timer and wait for its callback. Context: process. */
void tt_shared_sync_op(u32 *rnd)
{
	struct tt_shared *s = &tt_shared[tt_random_below(rnd, tt_nshared)];

	tt_count(TT_SYNCED);
	tt_shared_note_stop(s, twheel_stop_sync(&s->t.timer));
}

static void tt_shared_expire(struct twheel_timer *timer)
{
	struct tt_shared *s = container_of(timer, struct tt_shared, t.timer);
	u32 rnd = ktime_get_ns() | 1, what;

	if (atomic_inc_return(&s->running) != 1)
		tt_error("shared %u: two callbacks at a time", s->nr);
	atomic_inc(&s->callbacks);
	tt_count(TT_EXPIRED);
	tt_random(&rnd);
	if (!READ_ONCE(tt_round.quiet)) {
		what = tt_random_below(&rnd, 8);
		if (what < 3)
			tt_shared_again(s, &rnd);
		if (what == 2 || what == 3)
			tt_shared_start(s, &rnd);
		if (tt_random_below(&rnd, 4) == 0) {
			tt_count(TT_FROM_SOFTIRQ);
			tt_shared_op(&rnd);
		}
	}
	if (tt_random_below(&rnd, 8) == 0)
		udelay(tt_random_below(&rnd, 32));
	atomic_dec(&s->running);
}

static void tt_shared_drained(struct tt_timer *t)
{
	struct tt_shared *s = container_of(t, struct tt_shared, t);

	atomic_inc(&s->drained);
}

int tt_shared_setup(void)
{
	unsigned int i;

	tt_shared = kvcalloc(tt_nshared, sizeof(*tt_shared), GFP_KERNEL);
	if (!tt_shared)
		return -ENOMEM;
	for (i = 0; i < tt_nshared; i++) {
		tt_shared[i].nr = i;
		tt_shared[i].t.drained = tt_shared_drained;
		twheel_timer_setup(&tt_shared[i].t.timer, tt_round.wheel, tt_shared_expire, 0);
	}
	return 0;
}

static void tt_shared_settle(struct tt_shared *s)
{
	int starts, ends;

	tt_shared_note_stop(s, twheel_stop_sync(&s->t.timer));
	starts = atomic_read(&s->starts);
	ends = atomic_read(&s->callbacks) + atomic_read(&s->stops) +
	       atomic_read(&s->drained);
	if (starts == ends && !atomic_read(&s->running))
		return;
	tt_error("shared %u: %d starts, %d callbacks, %d stops, %d drained, %d running",
		 s->nr, starts, atomic_read(&s->callbacks),
		 atomic_read(&s->stops), atomic_read(&s->drained),
		 atomic_read(&s->running));
}

/* Stop every timer and check its account. There are no callers any more. */
void tt_shared_finish(void)
{
	unsigned int i;

	if (!tt_shared)
		return;
	for (i = 0; i < tt_nshared; i++)
		tt_shared_settle(&tt_shared[i]);
	kvfree(tt_shared);
	tt_shared = NULL;
}
