// SPDX-License-Identifier: GPL-2.0
/*
 * Timers whose every step is checked at once
 *
 * The account of a timer has a raw spinlock. It is held around each call that starts or stops the
 * timer, and the callback takes it before anything else. So at any time the account knows the
 * state that the timer must be in:
 *
 *  armed      the last start had neither an expiry nor a stop so far
 *  in_flight  number of starts that must have expired, because a later start or stop found the
 *             timer not pending, but whose callback did not take the lock yet
 *
 *  start -> 0  not armed: armed    armed: armed, in_flight + 1
 *  start -> 1  not armed: wrong    armed: armed
 *  stop  -> 1  not armed: wrong    armed: not armed
 *  stop  -> 0  not armed           armed: in_flight + 1
 *  callback    in_flight: in_flight - 1, otherwise
 *              not armed: doubled  armed: not armed
 *
 * A stop that waits is called without the lock, because the callback needs it. The caller claims
 * the timer before, so that no other caller starts it. When the stop returns 0, the callback must
 * be over: a timer that is still armed or in flight is lost.
 *
 * A drain removes a timer from the wheel, and calls back a moment later, without the lock. For
 * the account, this is a late callback. During a drain, however, it is not known whether a stop
 * waited long enough.
 */
#define pr_fmt(fmt) "twheel_torture: " fmt

#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "torture.h"

/* A timer that expires within this time is worth waiting for. */
#define TT_SOON_NS	(2 * NSEC_PER_MSEC)
/* A timer that is later than this counts as lost. */
#define TT_LOST_NS	(20 * (s64)NSEC_PER_SEC)

/**
 * struct tt_locked - a timer and its account
 * @lock: guards all fields
 * @t: the timer
 * @nr: its number, for messages
 * @rnd: random numbers for its callback
 * @armed: see above
 * @in_flight: see above
 * @claimed: a caller is in a waiting stop
 * @running: the callback runs
 * @deadline: deadline of the last start or a store, before which no callback may run
 * @stored: the last deadline that was stored. Timers with an odd number ask for it
 * @in_flight_deadline: deadline of the start in flight
 * @cpu: CPU of the start
 * @epoch: epoch of CPU hotplug, at that time
 * @last_cpu: CPU of the last callback
 */
struct tt_locked {
	raw_spinlock_t lock;
	struct tt_timer t;
	unsigned int nr;
	u32 rnd;
	bool armed;
	unsigned int in_flight;
	bool claimed;
	bool running;
	ktime_t deadline;
	u64 stored;
	ktime_t in_flight_deadline;
	int cpu;
	unsigned int epoch;
	int last_cpu;
};

static struct tt_locked *tt_locked;

static u64 tt_tick_of(ktime_t deadline)
{
	return div64_u64(deadline + tt_round.tick_ns - 1, tt_round.tick_ns);
}

/*
 * Returns true if no CPU went on- or offline since tt_hotplug_epoch() returned @epoch. The epoch is
 * odd during a change.
 */
static bool tt_epoch_is(unsigned int epoch)
{
	return !(epoch & 1) && epoch == tt_hotplug_epoch();
}

/* Functions that note the results of start and stop in the account. */

static void tt_put_in_flight(struct tt_locked *l)
{
	tt_count(TT_RACED);
	if (!l->in_flight || ktime_before(l->deadline, l->in_flight_deadline))
		l->in_flight_deadline = l->deadline;
	/* One callback may wait for the lock, and a drain may hold another start. */
	if (++l->in_flight > 2)
		tt_error("timer %u: %u callbacks have not come", l->nr,
			 l->in_flight);
}

static void tt_note_started(struct tt_locked *l, ktime_t deadline)
{
	tt_count(TT_ARMED);
	if (l->armed)
		tt_put_in_flight(l);
	l->armed = true;
	l->cpu = smp_processor_id();
	l->epoch = tt_hotplug_epoch();
	l->deadline = deadline;
}

static void tt_note_restarted(struct tt_locked *l, ktime_t deadline)
{
	tt_count(TT_RESTARTED);
	if (!l->armed)
		tt_error("timer %u: start returned 1, was not started",
			 l->nr);
	l->armed = true;
	l->deadline = deadline;
}

static void tt_note_start(struct tt_locked *l, int ret, ktime_t deadline)
{
	if (ret < 0) {
		tt_error("timer %u: start returned %d", l->nr, ret);
		return;
	}
	if (ret)
		tt_note_restarted(l, deadline);
	else
		tt_note_started(l, deadline);
}

static void tt_note_stop(struct tt_locked *l, int ret)
{
	if (ret) {
		tt_count(TT_STOPPED);
		if (!l->armed)
			tt_error("timer %u: stop returned 1, was not started",
				 l->nr);
	} else if (l->armed) {
		tt_put_in_flight(l);
	}
	l->armed = false;
}

/* Functions that call twheel. The lock is held, and the timer is not claimed. */

static void tt_locked_start(struct tt_locked *l, u32 *rnd)
{
	u64 delay = tt_random_delay(rnd);
	ktime_t deadline = ktime_add_safe(ktime_get(), delay);

	tt_note_start(l, twheel_start(&l->t.timer, delay), deadline);
	if (tt_random_below(rnd, 4))
		return;
	/* Start it again, most likely for the same tick. */
	deadline = ktime_add_safe(ktime_get(), delay);
	tt_note_start(l, twheel_start(&l->t.timer, delay), deadline);
}

/* Choose a popular deadline: the end of this run of 16 ticks, or of a later one. */
static ktime_t tt_popular_deadline(u32 *rnd)
{
	u64 tick = (tt_tick_of(ktime_get()) | 15) + 16 * tt_random_below(rnd, 8);

	return tick * tt_round.tick_ns - tt_random_below(rnd, tt_round.tick_ns);
}

static void tt_locked_start_at(struct tt_locked *l, u32 *rnd)
{
	ktime_t deadline = tt_popular_deadline(rnd);

	tt_note_start(l, twheel_start_at(&l->t.timer, deadline), deadline);
}

static void tt_locked_start_in_the_past(struct tt_locked *l, u32 *rnd)
{
	u64 ago = tt_random_below(rnd, 10 * tt_round.tick_ns);
	ktime_t deadline = ktime_sub_ns(ktime_get(), ago);

	tt_note_start(l, twheel_start_at(&l->t.timer, deadline), deadline);
}

static void tt_locked_start_on(struct tt_locked *l, u32 *rnd)
{
	int cpu = tt_random_online_cpu(rnd);
	u64 delay = tt_random_delay(rnd);
	ktime_t deadline = ktime_add_safe(ktime_get(), delay);
	int ret = twheel_start_on(&l->t.timer, delay, cpu);

	if (ret == -EINVAL && tt_hotplug_ms)
		return;
	tt_note_start(l, ret, deadline);
	l->cpu = cpu;
	l->epoch = tt_hotplug_epoch();
}

/*
 * Restart a timer if it is pending. If it was not, the account treats the call as a stop that
 * returned 0.
 */
static void tt_locked_restart(struct tt_locked *l, u32 *rnd)
{
	ktime_t deadline = ktime_add_safe(ktime_get(), tt_random_delay(rnd));

	if (twheel_restart_at(&l->t.timer, deadline))
		tt_note_start(l, 1, deadline);
	else
		tt_note_stop(l, 0);
}

static void tt_locked_stop(struct tt_locked *l)
{
	tt_note_stop(l, twheel_stop(&l->t.timer));
}

/* Store a later deadline. The wheel finds it unless it may have looked already. */
static void tt_locked_store(struct tt_locked *l, u32 *rnd)
{
	ktime_t deadline = ktime_add_safe(ktime_get(), tt_random_delay(rnd));

	if (deadline <= max_t(u64, l->deadline, l->stored))
		return;
	WRITE_ONCE(l->stored, deadline);
	/* Before the clock is read. Pairs with the wheel, which reads its clock first. */
	smp_mb();
	if (!l->armed || l->in_flight || !ktime_before(ktime_get(), l->deadline))
		return;
	tt_count(TT_STORED);
	l->deadline = max(l->deadline, deadline);
}

/* Check the results of queries, which must not change the timer. */
static void tt_locked_ask(struct tt_locked *l)
{
	bool pending = twheel_pending(&l->t.timer);
	u64 left = twheel_remaining(&l->t.timer);
	ktime_t deadline = twheel_deadline(&l->t.timer);

	if (pending && !l->armed)
		tt_error("timer %u: pending, was not started", l->nr);
	if (left > deadline)
		tt_error("timer %u: %llu ns left until %lld", l->nr,
			 left, deadline);
	if (l->armed && ktime_before(deadline, l->deadline) && !l->stored)
		tt_error("timer %u: due %lld, asked for %lld", l->nr,
			 deadline, l->deadline);
}

/* Start the timer again when its callback ends. Must be called by the callback. */
static void tt_locked_at_end(struct tt_locked *l, u32 *rnd)
{
	ktime_t deadline = ktime_add_safe(ktime_get(), tt_random_delay(rnd));

	tt_count(TT_AGAIN);
	tt_note_start(l, twheel_again_at(&l->t.timer, deadline), deadline);
}

/* Report a timer that is overdue by so much that it is lost, and report it only once. */
static void tt_check_overdue(struct tt_locked *l)
{
	s64 late = ktime_to_ns(ktime_sub(ktime_get(), max_t(u64, l->deadline, l->stored)));

	if (!l->armed || late < TT_LOST_NS)
		return;
	tt_error("timer %u: due for %lld ms on CPU %d, %spending",
		 l->nr, div_s64(late, NSEC_PER_MSEC), l->cpu,
		 twheel_pending(&l->t.timer) ? "" : "not ");
	l->deadline = KTIME_MAX;
}

static void tt_locked_any_op(struct tt_locked *l, u32 *rnd)
{
	u32 what = tt_random_below(rnd, 32);

	tt_check_overdue(l);
	if (what < 8)
		tt_locked_start(l, rnd);
	else if (what < 20)
		tt_locked_start_at(l, rnd);
	else if (what < 22)
		tt_locked_start_on(l, rnd);
	else if (what < 23)
		tt_locked_start_in_the_past(l, rnd);
	else if (what < 25)
		tt_locked_restart(l, rnd);
	else if (what < 29)
		tt_locked_stop(l);
	else if (what < 31 && l->nr % 2)
		tt_locked_store(l, rnd);
	else
		tt_locked_ask(l);
}

/*
 * Start, stop or query one of @nr timers from @first on. Half of the operations use only a few of
 * these timers, so that the others have time to expire. Context: any.
 */
void tt_locked_op(u32 *rnd, unsigned int first, unsigned int nr)
{
	unsigned int among = tt_random_below(rnd, 2) ? nr : DIV_ROUND_UP(nr, 16);
	struct tt_locked *l = &tt_locked[first + tt_random_below(rnd, among)];
	unsigned long flags;

	raw_spin_lock_irqsave(&l->lock, flags);
	if (!l->claimed)
		tt_locked_any_op(l, rnd);
	raw_spin_unlock_irqrestore(&l->lock, flags);
}

/* Functions of the callback. */

static void tt_check_time(struct tt_locked *l, ktime_t now, ktime_t deadline)
{
	s64 late = ktime_to_ns(ktime_sub(now, deadline));

	if (late < 0)
		tt_error("timer %u: %lld ns early", l->nr, -late);
	if (late >= TT_LOST_NS)
		tt_error("timer %u: %lld ns late", l->nr, late);
}

static void tt_check_place(struct tt_locked *l)
{
	int cpu = smp_processor_id();

	if (cpu != l->cpu && cpu != l->last_cpu && tt_epoch_is(l->epoch))
		tt_error("timer %u: started on CPU %d, expired on %d",
			 l->nr, l->cpu, cpu);
}

/*
 * Note an expiry when two starts may be its reason: it must not come before the earlier deadline.
 */
static void tt_note_late_expiry(struct tt_locked *l, ktime_t now)
{
	ktime_t deadline = l->in_flight_deadline;

	if (l->armed)
		deadline = min(deadline, l->deadline);
	l->in_flight--;
	tt_check_time(l, now, deadline);
}

static void tt_note_expired(struct tt_locked *l, ktime_t now)
{
	tt_count(TT_EXPIRED);
	if (l->running)
		tt_error("timer %u: two callbacks at a time", l->nr);
	l->running = true;
	if (l->in_flight) {
		tt_note_late_expiry(l, now);
	} else if (l->armed) {
		l->armed = false;
		tt_check_time(l, now, l->deadline);
		tt_check_place(l);
	} else {
		tt_error("timer %u: callback without a start", l->nr);
	}
	l->last_cpu = smp_processor_id();
}

/* Use the timer in one of the ways in which callbacks use their own timer. */
static void tt_locked_again(struct tt_locked *l)
{
	u32 what = tt_random_below(&l->rnd, 16);

	if (l->claimed || READ_ONCE(tt_round.quiet))
		return;
	if (what < 2)
		tt_locked_start(l, &l->rnd);
	else if (what < 4)
		tt_locked_start_at(l, &l->rnd);
	else if (what < 10)
		tt_locked_at_end(l, &l->rnd);
}

static u64 tt_locked_stored(struct twheel_timer *timer)
{
	return READ_ONCE(container_of(timer, struct tt_locked, t.timer)->stored);
}

static void tt_locked_expire(struct twheel_timer *timer)
{
	struct tt_locked *l = container_of(timer, struct tt_locked, t.timer);
	ktime_t now = ktime_get();
	unsigned long flags;
	u32 rnd;

	raw_spin_lock_irqsave(&l->lock, flags);
	tt_note_expired(l, now);
	tt_locked_again(l);
	rnd = tt_random(&l->rnd);
	raw_spin_unlock_irqrestore(&l->lock, flags);

	if (rnd % 8 == 0)
		udelay(rnd % 64);
	if (rnd % 4 == 0 && !READ_ONCE(tt_round.quiet)) {
		tt_count(TT_FROM_SOFTIRQ);
		tt_caller_op(&rnd);
	}

	raw_spin_lock_irqsave(&l->lock, flags);
	l->running = false;
	raw_spin_unlock_irqrestore(&l->lock, flags);
}

static const struct twheel_source tt_locked_source = {
	.deadline	= tt_locked_stored,
	.fn		= tt_locked_expire,
};

static void tt_locked_set_up(struct tt_locked *l)
{
	if (l->nr % 2)
		twheel_asked_setup(&l->t.asked, tt_round.wheel, &tt_locked_source, 0);
	else
		twheel_timer_setup(&l->t.timer, tt_round.wheel, tt_locked_expire, 0);
}

/*
 * Note that a drain took the timer. If another start is in flight, it is not known which of the
 * two the drain took. So the other one may expire from the earlier deadline on, on any CPU.
 */
static void tt_note_drained(struct tt_locked *l)
{
	if (!l->armed && !l->in_flight) {
		tt_error("timer %u: drained without a start", l->nr);
	} else if (!l->in_flight) {
		l->armed = false;
	} else {
		l->in_flight--;
		l->deadline = min(l->deadline, l->in_flight_deadline);
		l->epoch |= 1;
	}
}

static void tt_locked_drained(struct tt_timer *t)
{
	struct tt_locked *l = container_of(t, struct tt_locked, t);
	unsigned long flags;

	raw_spin_lock_irqsave(&l->lock, flags);
	tt_note_drained(l);
	raw_spin_unlock_irqrestore(&l->lock, flags);
}

/* Stops that wait for the callback. */

static bool tt_claim(struct tt_locked *l)
{
	bool claimed;

	raw_spin_lock_irq(&l->lock);
	claimed = !l->claimed;
	l->claimed = true;
	raw_spin_unlock_irq(&l->lock);
	return claimed;
}

/* Returns true if there was no drain at any time since @drains was read. */
static bool tt_no_drain_since(unsigned int drains)
{
	/* Pairs with the barriers in tt_drain(). */
	smp_mb();
	return !(drains & 1) && drains == READ_ONCE(tt_round.drains);
}

/*
 * Check that the timer is neither armed nor in flight after a stop that waited. @ret is the
 * result of the stop.
 */
static void tt_note_settled(struct tt_locked *l, int ret, unsigned int drains)
{
	raw_spin_lock_irq(&l->lock);
	if (l->running)
		tt_error("timer %u: callback runs after a stop that waits",
			 l->nr);
	if (!tt_no_drain_since(drains)) {
		tt_note_stop(l, ret);
	} else if (l->in_flight || (l->armed && !ret)) {
		tt_error("timer %u: neither expired nor stopped, armed %d, in flight %u",
			 l->nr, l->armed, l->in_flight);
		l->armed = false;
		l->in_flight = 0;
	} else {
		tt_note_stop(l, ret);
	}
	raw_spin_unlock_irq(&l->lock);
}

static void tt_unclaim(struct tt_locked *l)
{
	raw_spin_lock_irq(&l->lock);
	l->claimed = false;
	raw_spin_unlock_irq(&l->lock);
}

static void tt_settle(struct tt_locked *l)
{
	unsigned int drains = READ_ONCE(tt_round.drains);

	tt_count(TT_SYNCED);
	/* Pairs with the barriers in tt_drain(). */
	smp_mb();
	tt_note_settled(l, twheel_stop_sync(&l->t.timer), drains);
}

/* Check that a shutdown prevents starts, then make the timer usable by a new setup. */
static void tt_shut_down(struct tt_locked *l)
{
	unsigned int drains = READ_ONCE(tt_round.drains);
	int ret;

	tt_count(TT_SHUTDOWN);
	/* Pairs with the barriers in tt_drain(). */
	smp_mb();
	tt_note_settled(l, twheel_shutdown_sync(&l->t.timer), drains);
	ret = twheel_start(&l->t.timer, 0);
	if (ret != -ESHUTDOWN) {
		tt_error("timer %u: start after shutdown returned %d",
			 l->nr, ret);
		twheel_shutdown_sync(&l->t.timer);
	}
	tt_locked_set_up(l);
}

/* If @l is due soon, wait until then, because a stop is most difficult while the timer expires. */
static void tt_wait_until_due(struct tt_locked *l, u32 *rnd)
{
	ktime_t now = ktime_get();
	ktime_t due = 0;

	raw_spin_lock_irq(&l->lock);
	if (l->armed && ktime_before(l->deadline, ktime_add_ns(now, TT_SOON_NS)))
		due = tt_tick_of(l->deadline) * tt_round.tick_ns;
	raw_spin_unlock_irq(&l->lock);
	due = ktime_add_ns(due, tt_random_below(rnd, 64 * NSEC_PER_USEC));
	while (ktime_before(ktime_get(), due))
		cpu_relax();
}

/* Stop one of @nr timers from @first on, and wait for its callback. Context: process. */
void tt_locked_sync_op(u32 *rnd, unsigned int first, unsigned int nr)
{
	struct tt_locked *l = &tt_locked[first + tt_random_below(rnd, nr)];

	if (!tt_claim(l))
		return;
	tt_wait_until_due(l, rnd);
	if (tt_random_below(rnd, 8))
		tt_settle(l);
	else
		tt_shut_down(l);
	tt_unclaim(l);
}

/* Begin and end of a round. */

static void tt_locked_init(struct tt_locked *l, unsigned int nr)
{
	raw_spin_lock_init(&l->lock);
	l->nr = nr;
	l->rnd = tt_seed(0x10000 + nr);
	l->cpu = -1;
	l->last_cpu = -1;
	l->t.drained = tt_locked_drained;
	tt_locked_set_up(l);
}

int tt_locked_setup(void)
{
	unsigned int i;

	tt_locked = kvcalloc(TT_TIMERS, sizeof(*tt_locked), GFP_KERNEL);
	if (!tt_locked)
		return -ENOMEM;
	for (i = 0; i < TT_TIMERS; i++)
		tt_locked_init(&tt_locked[i], i);
	return 0;
}

/* Stop every timer and check its account. There are no callers any more. */
void tt_locked_finish(void)
{
	unsigned int i;

	if (!tt_locked)
		return;
	for (i = 0; i < TT_TIMERS; i++) {
		raw_spin_lock_irq(&tt_locked[i].lock);
		tt_check_overdue(&tt_locked[i]);
		raw_spin_unlock_irq(&tt_locked[i].lock);
		tt_settle(&tt_locked[i]);
	}
	kvfree(tt_locked);
	tt_locked = NULL;
}
