// SPDX-License-Identifier: GPL-2.0
/*
 * Timers that come and go with their memory
 *
 * Half of the timers are started and forgotten: their callback frees them. The
 * others are kept for a while, then shut down and freed. For each of those
 * exactly one thing must have happened: its callback, or a shutdown that
 * stopped it. Under KASAN this shows whether twheel touches a timer after its
 * end.
 */
#define pr_fmt(fmt) "twheel_torture: " fmt

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/rwsem.h>
#include <linux/slab.h>

#include "torture.h"

/**
 * struct tt_churn - a timer in memory of its own
 * @t: the timer
 * @deadline: no callback may come before this time
 * @ends: callbacks and drains
 * @running: nonzero while the callback runs
 */
struct tt_churn {
	struct tt_timer t;
	ktime_t deadline;
	atomic_t ends;
	atomic_t running;
};

/* A callback takes long enough to be found running. */
#define TT_CHURN_SLOW_US	20

/* Forgotten timers that have not been freed yet. */
static atomic_t tt_forgotten = ATOMIC_INIT(0);

/*
 * When a drain hands a timer over, the timer no longer looks pending. Its owner
 * must not free it in the meantime.
 */
static DECLARE_RWSEM(tt_drain_sem);

void tt_churn_drain_begin(void)
{
	down_write(&tt_drain_sem);
}

void tt_churn_drain_end(void)
{
	up_write(&tt_drain_sem);
}

static void tt_churn_note_expired(struct tt_churn *c, ktime_t now)
{
	tt_count(TT_EXPIRED);
	tt_note_lateness("churn", 0, ktime_to_ns(ktime_sub(now, c->deadline)));
}

static void tt_forgotten_expire(struct tt_timer *t, ktime_t now)
{
	struct tt_churn *c = container_of(t, struct tt_churn, t);

	tt_churn_note_expired(c, now);
	tt_free(&c->t, c);
	atomic_dec(&tt_forgotten);
}

static void tt_forgotten_drained(struct tt_timer *t)
{
	struct tt_churn *c = container_of(t, struct tt_churn, t);

	tt_free(&c->t, c);
	atomic_dec(&tt_forgotten);
}

static const struct tt_kind tt_forgotten_kind = {
	.expire = tt_forgotten_expire,
	.drained = tt_forgotten_drained,
};

static void tt_kept_expire(struct tt_timer *t, ktime_t now)
{
	struct tt_churn *c = container_of(t, struct tt_churn, t);

	atomic_inc(&c->running);
	tt_churn_note_expired(c, now);
	atomic_inc(&c->ends);
	udelay(TT_CHURN_SLOW_US);
	atomic_dec(&c->running);
}

static void tt_kept_drained(struct tt_timer *t)
{
	struct tt_churn *c = container_of(t, struct tt_churn, t);

	atomic_inc(&c->ends);
}

static const struct tt_kind tt_kept_kind = {
	.expire = tt_kept_expire,
	.drained = tt_kept_drained,
};

static struct tt_churn *tt_churn_start(const struct tt_kind *kind, u64 delay)
{
	struct tt_churn *c = kzalloc(sizeof(*c), GFP_KERNEL);
	ktime_t deadline = ktime_add_safe(ktime_get(), delay);

	if (!c)
		return NULL;
	tt_count(TT_ALLOCATED);
	tt_setup(&c->t, kind);
	c->deadline = deadline;
	tt_count(TT_ARMED);
	/* A forgotten timer may be freed from here on. */
	if (twheel_start_at(&c->t.timer, deadline))
		tt_error(TT_WRONG, "churn: start of a new timer did not return 0");
	return c;
}

static void tt_forget_one(u32 *rnd)
{
	u64 delay = tt_random_below(rnd, 100 * tt_round.tick_ns);

	if (atomic_inc_return(&tt_forgotten) > tt_params.ntimers ||
	    !tt_churn_start(&tt_forgotten_kind, delay))
		atomic_dec(&tt_forgotten);
}

static void tt_churn_end(struct tt_churn *c)
{
	int stopped, ends;

	down_read(&tt_drain_sem);
	stopped = twheel_shutdown_sync(&c->t.timer);
	tt_count(TT_SHUTDOWN);
	if (stopped)
		tt_count(TT_STOPPED);
	if (atomic_read(&c->running))
		tt_error(TT_RUNNING, "churn: callback runs after shutdown");
	ends = stopped + atomic_read(&c->ends);
	if (ends != 1)
		tt_error(ends ? TT_DOUBLED : TT_LOST,
			 "churn: shutdown returned %d, %d callbacks", stopped,
			 ends - stopped);
	tt_free(&c->t, c);
	up_read(&tt_drain_sem);
}

/* Starts a timer, or ends one that was started before. Context: process. */
void tt_churn_op(u32 *rnd, struct tt_churn **kept)
{
	struct tt_churn **one = &kept[tt_random_below(rnd, TT_CHURN_KEPT)];

	if (tt_random_below(rnd, 2)) {
		tt_forget_one(rnd);
	} else if (*one) {
		tt_churn_end(*one);
		*one = NULL;
	} else {
		*one = tt_churn_start(&tt_kept_kind,
				      tt_random_below(rnd, 50 * tt_round.tick_ns));
	}
}

/* The worker ends. */
void tt_churn_release(struct tt_churn **kept)
{
	int i;

	for (i = 0; i < TT_CHURN_KEPT; i++) {
		if (kept[i])
			tt_churn_end(kept[i]);
		kept[i] = NULL;
	}
}

/* The workers are gone. All forgotten timers must expire. */
void tt_churn_finish(void)
{
	unsigned int left_ms = tt_params.late_ms;
	int lost;

	for (; atomic_read(&tt_forgotten) && left_ms >= 20; left_ms -= 20)
		msleep(20);
	lost = atomic_read(&tt_forgotten);
	if (!lost)
		return;
	tt_error(TT_LOST, "churn: %d forgotten timers have not expired", lost);
	/* At least the pending ones can be freed. */
	tt_drain();
}
