// SPDX-License-Identifier: GPL-2.0
/*
 * Many callers that use the same few work items
 *
 * As with the shared timers, the starts and the ends of each item must be equal in number. A call
 * of twheel_queue_work() that returned true, or of twheel_mod_work() that returned false, made the
 * item pending. Then either one run or one cancel that returned true ended that. The items have a
 * wheel of their own, which is never drained.
 */
#define pr_fmt(fmt) "twheel_torture: " fmt

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/twheel_work.h>
#include <linux/workqueue.h>

#include "torture.h"

#define TT_NR_WORKS	4

/**
 * struct tt_work - a work item, and the counts of its starts and ends
 * @work: the item
 * @nr: number of the item, for messages
 * @queued: number of times that the item became pending
 * @cancelled: number of cancels with result true
 * @runs: number of runs of the item
 */
struct tt_work {
	struct twheel_work work;
	unsigned int nr;
	atomic_t queued;
	atomic_t cancelled;
	atomic_t runs;
};

static struct tt_work *tt_works;
static struct workqueue_struct *tt_wq;
static struct twheel *tt_work_wheel;

static u64 tt_work_delay(u32 *rnd)
{
	return tt_random_below(rnd, 3 * tt_round.tick_ns);
}

static void tt_work_queue(struct tt_work *w, u32 *rnd)
{
	if (twheel_queue_work(tt_wq, &w->work, tt_work_delay(rnd)))
		atomic_inc(&w->queued);
}

static void tt_work_mod(struct tt_work *w, u32 *rnd)
{
	if (!twheel_mod_work(tt_wq, &w->work, tt_work_delay(rnd)))
		atomic_inc(&w->queued);
}

static void tt_work_cancel(struct tt_work *w)
{
	if (twheel_cancel_work(&w->work))
		atomic_inc(&w->cancelled);
}

/* Queue, delay or cancel an item. Context: any. */
void tt_work_op(u32 *rnd)
{
	struct tt_work *w = &tt_works[tt_random_below(rnd, TT_NR_WORKS)];
	u32 what = tt_random_below(rnd, 4);

	if (what < 2)
		tt_work_queue(w, rnd);
	else if (what < 3)
		tt_work_mod(w, rnd);
	else
		tt_work_cancel(w);
}

/*
 * Run an item now and wait for it by a flush. twheel_cancel_work_sync() could not be used here,
 * because other callers may queue the item again. Context: process.
 */
void tt_work_flush_op(u32 *rnd)
{
	struct tt_work *w = &tt_works[tt_random_below(rnd, TT_NR_WORKS)];

	tt_count(TT_SYNCED);
	twheel_flush_work(&w->work);
}

static void tt_work_fn(struct work_struct *work)
{
	struct tt_work *w = container_of(work, struct tt_work, work.work);
	u32 rnd = tt_seed(atomic_inc_return(&w->runs));

	tt_count(TT_WORKED);
	if (!READ_ONCE(tt_round.quiet) && tt_random_below(&rnd, 4) == 0)
		tt_work_queue(w, &rnd);
}

int tt_work_setup(const struct twheel_config *config)
{
	unsigned int i;

	tt_work_wheel = twheel_create(config);
	tt_wq = alloc_workqueue("tt_work", WQ_UNBOUND, 0);
	tt_works = kcalloc(TT_NR_WORKS, sizeof(*tt_works), GFP_KERNEL);
	if (IS_ERR(tt_work_wheel) || !tt_wq || !tt_works)
		return -ENOMEM;
	for (i = 0; i < TT_NR_WORKS; i++) {
		tt_works[i].nr = i;
		twheel_init_work(&tt_works[i].work, tt_work_wheel, tt_work_fn);
	}
	return 0;
}

static void tt_work_settle(struct tt_work *w)
{
	int queued, ended;

	if (twheel_cancel_work_sync(&w->work))
		atomic_inc(&w->cancelled);
	queued = atomic_read(&w->queued);
	ended = atomic_read(&w->cancelled) + atomic_read(&w->runs);
	if (queued != ended)
		tt_error("work %u: queued %d, cancelled %d, ran %d", w->nr,
			 queued, atomic_read(&w->cancelled),
			 atomic_read(&w->runs));
}

/*
 * Cancel all items and check their counts, after all callers have ended. Also clean up after a
 * setup that failed.
 */
void tt_work_finish(void)
{
	unsigned int i;

	if (tt_works && tt_wq && !IS_ERR_OR_NULL(tt_work_wheel))
		for (i = 0; i < TT_NR_WORKS; i++)
			tt_work_settle(&tt_works[i]);
	if (tt_wq)
		destroy_workqueue(tt_wq);
	if (!IS_ERR_OR_NULL(tt_work_wheel))
		twheel_destroy(tt_work_wheel);
	kfree(tt_works);
	tt_works = NULL;
	tt_wq = NULL;
	tt_work_wheel = NULL;
}
