// SPDX-License-Identifier: GPL-2.0
/*
 * Many callers that use the same timers, without any lock
 *
 * Half of the calls use a few timers, so that calls for one timer race: two CPUs may start it at
 * once, a stop may come while it moves to another base, or its callback may restart it while
 * another CPU stops it. The other calls use a crowd of timers, so that the wheel has many. The
 * state of such a timer is never known, but its ends can be counted. Each start that returned 0
 * found the timer not pending and left it pending. Then one callback, one stop that returned 1, or
 * one drain ended that. So, when no call and no callback runs any more,
 *
 *  starts that returned 0 = callbacks + stops that returned 1 + drained
 *
 * for every timer. Two callbacks of one timer must never run at the same time, and a timer that is
 * due must expire.
 */
#define pr_fmt(fmt) "twheel_torture: " fmt

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "torture.h"

#define TT_CROWD	512
/* A timer that is later than this counts as lost. */
#define TT_LOST_MS	20000

/**
 * struct tt_shared - a timer, and the counts of its starts and ends
 * @asked: the timer, if it has an odd @nr: the wheel asks for its deadline
 * @timer: the timer
 * @stored: the deadline that the wheel reads when it asks
 * @nr: number of the timer, for messages
 * @starts: number of starts with result 0
 * @stops: number of stops with result 1
 * @callbacks: number of callbacks
 * @drained: number of drains of this timer
 * @running: number of callbacks that run now
 */
struct tt_shared {
	union {
		struct twheel_asked_timer asked;
		struct twheel_timer timer;
	};
	u64 stored;
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

static bool tt_is_of_crowd(const struct tt_shared *s)
{
	return s->nr >= tt_nshared;
}

static struct tt_shared *tt_shared_any(u32 *rnd)
{
	if (tt_random_below(rnd, 2))
		return &tt_shared[tt_random_below(rnd, tt_nshared)];
	return &tt_shared[tt_nshared + tt_random_below(rnd, TT_CROWD)];
}

/*
 * Choose a delay. Most delays are a few ticks, so that the timer expires while other threads use
 * it. Some timers of the crowd have delays that are longer than the round.
 */
static u64 tt_shared_delay(const struct tt_shared *s, u32 *rnd)
{
	u32 what = tt_random_below(rnd, 32), ticks = what < 28 ? 3 : 300;

	if (what == 0 && tt_is_of_crowd(s))
		return 3600ULL * NSEC_PER_SEC << tt_random_below(rnd, 20);
	if (what < 16 && tt_is_of_crowd(s))
		ticks = 200;
	return tt_random_below(rnd, ticks * tt_round.tick_ns);
}

static void tt_shared_start(struct tt_shared *s, u32 *rnd)
{
	u64 delay = tt_shared_delay(s, rnd);
	int ret;

	switch (tt_random_below(rnd, 8)) {
	case 0:
		ret = twheel_start_on(&s->timer, delay, tt_random_online_cpu(rnd));
		if (ret == -EINVAL && tt_hotplug_ms)
			return;
		break;
	case 1:
		if (twheel_restart_at(&s->timer, ktime_add_ns(ktime_get(), delay)))
			tt_count(TT_RESTARTED);
		return;
	case 2:
		ret = twheel_start_at(&s->timer, ktime_add_ns(ktime_get(), delay));
		break;
	default:
		if (tt_random_below(rnd, 2))
			tt_shared_note_start(s, twheel_start(&s->timer, delay));
		/* Start the timer again. For the same tick, twheel takes another path. */
		ret = twheel_start(&s->timer, delay);
	}
	tt_shared_note_start(s, ret);
}

/* Start the timer again when its callback ends. Must be called by the callback. */
static void tt_shared_again(struct tt_shared *s, u32 *rnd)
{
	u64 delay = tt_shared_delay(s, rnd);

	tt_count(TT_AGAIN);
	tt_shared_note_start(s, twheel_again_at(&s->timer, ktime_add_ns(ktime_get(), delay)));
}

/* Start a timer, store a deadline for it, or stop it. Context: any. */
void tt_shared_op(u32 *rnd)
{
	struct tt_shared *s = tt_shared_any(rnd);
	u32 what = tt_random_below(rnd, 8);

	if (what < 5) {
		tt_shared_start(s, rnd);
	} else if (what < 6 && s->nr % 2) {
		tt_count(TT_STORED);
		WRITE_ONCE(s->stored, ktime_get_ns() + tt_shared_delay(s, rnd));
	} else {
		tt_shared_note_stop(s, twheel_stop(&s->timer));
	}
}

/* Stop a timer and wait for its callback. Context: process. */
void tt_shared_sync_op(u32 *rnd)
{
	struct tt_shared *s = tt_shared_any(rnd);

	tt_count(TT_SYNCED);
	tt_shared_note_stop(s, twheel_stop_sync(&s->timer));
}

static void tt_shared_expire(struct twheel_timer *timer)
{
	struct tt_shared *s = container_of(timer, struct tt_shared, timer);
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

static u64 tt_shared_stored(struct twheel_timer *timer)
{
	return READ_ONCE(container_of(timer, struct tt_shared, timer)->stored);
}

static const struct twheel_source tt_shared_source = {
	.deadline	= tt_shared_stored,
	.fn		= tt_shared_expire,
};

void tt_shared_drained(struct twheel_timer *timer)
{
	atomic_inc(&container_of(timer, struct tt_shared, timer)->drained);
}

int tt_shared_setup(void)
{
	struct tt_shared *s;
	unsigned int i;

	tt_shared = kvcalloc(tt_nshared + TT_CROWD, sizeof(*tt_shared), GFP_KERNEL);
	if (!tt_shared)
		return -ENOMEM;
	for (i = 0; i < tt_nshared + TT_CROWD; i++) {
		s = &tt_shared[i];
		s->nr = i;
		if (i % 2)
			twheel_asked_setup(&s->asked, tt_round.wheel, &tt_shared_source, 0);
		else
			twheel_timer_setup(&s->timer, tt_round.wheel, tt_shared_expire, 0);
	}
	return 0;
}

static bool tt_is_overdue(struct tt_shared *s)
{
	return twheel_pending(&s->timer) &&
	       max_t(u64, twheel_deadline(&s->timer), s->stored) < ktime_get();
}

static void tt_shared_settle(struct tt_shared *s)
{
	int starts, ends, i;

	for (i = 0; tt_is_overdue(s) && i < TT_LOST_MS / 20; i++)
		msleep(20);
	if (i == TT_LOST_MS / 20)
		tt_error("shared %u: is due, and does not expire", s->nr);
	tt_shared_note_stop(s, twheel_stop_sync(&s->timer));
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

/* Stop every timer and check its counts, after all callers have ended. */
void tt_shared_finish(void)
{
	unsigned int i;

	if (!tt_shared)
		return;
	for (i = 0; i < tt_nshared + TT_CROWD; i++)
		tt_shared_settle(&tt_shared[i]);
	kvfree(tt_shared);
	tt_shared = NULL;
}
