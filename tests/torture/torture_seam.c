// SPDX-License-Identifier: GPL-2.0
/*
 * Between the torture and twheel's interface
 *
 * A test that has never failed has not shown that it can. With broken=N the
 * seam breaks one promise now and then, as a faulty wheel would, but without
 * harm to memory. The run must then end in FAILURE.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/processor.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "torture.h"

/* One in this many calls goes wrong. A prime, to avoid falling into step. */
#define TT_FAULT_EVERY	97

/* How long a broken variant waits for the moment at which it does harm. */
#define TT_MOMENT_US	500

static const char * const tt_broken_names[TT_NR_BROKEN] = {
	[TT_BREAK_NOTHING]	= "nothing",
	[TT_BREAK_LOST]		= "lost",
	[TT_BREAK_DOUBLED]	= "doubled",
	[TT_BREAK_EARLY]	= "early",
	[TT_BREAK_SYNC]		= "sync",
	[TT_BREAK_ORDER]	= "order",
	[TT_BREAK_LEAK]		= "leak",
	[TT_BREAK_START_RACE]	= "start_race",
	[TT_BREAK_STOP_RACE]	= "stop_race",
	[TT_BREAK_DRAIN]	= "drain",
	[TT_BREAK_LATE]		= "late",
	[TT_BREAK_CPU]		= "cpu",
};

static atomic_t tt_fault_calls = ATOMIC_INIT(0);

/* The callback that has to wait for the next one on its CPU. */
static DEFINE_PER_CPU(struct tt_timer *, tt_held_back);

/* Memory that the broken variant keeps until the round ends. */
static LLIST_HEAD(tt_kept_memory);

const char *tt_broken_name(unsigned int broken)
{
	return broken < TT_NR_BROKEN ? tt_broken_names[broken] : NULL;
}

static bool tt_is_broken(enum tt_broken what)
{
	return unlikely(tt_params.broken == what);
}

static bool tt_fault(enum tt_broken what)
{
	return tt_is_broken(what) &&
	       atomic_inc_return(&tt_fault_calls) % TT_FAULT_EVERY == 0;
}

/*
 * A race that never happens is no fault, and races are rare where CPUs hardly
 * ever run at the same time. So if @t is about to expire on another CPU, wait
 * until it does.
 */
static void tt_await_moment(struct tt_timer *t)
{
	ktime_t end = ktime_add_us(ktime_get(), TT_MOMENT_US);

	if (twheel_remaining(&t->timer) > TT_MOMENT_US * NSEC_PER_USEC)
		return;
	while (twheel_pending(&t->timer) && ktime_before(ktime_get(), end))
		cpu_relax();
}

/* The belief of a caller that looks without the lock, then takes a while. */
static bool tt_seemed_pending(struct tt_timer *t, enum tt_broken what)
{
	bool pending = twheel_pending(&t->timer);

	if (pending && tt_fault(what))
		tt_await_moment(t);
	return pending;
}

/*
 * Lets this callback and the next one on this CPU change places. Callbacks on a
 * CPU come one after the other.
 */
static void tt_expire_reordered(struct tt_timer *t, ktime_t now)
{
	struct tt_timer *held = raw_cpu_read(tt_held_back);

	if (!held && t->kind->stays && tt_fault(TT_BREAK_ORDER)) {
		raw_cpu_write(tt_held_back, t);
		return;
	}
	t->kind->expire(t, now);
	if (held) {
		raw_cpu_write(tt_held_back, NULL);
		held->kind->expire(held, now);
	}
}

static void tt_expire(struct twheel_timer *timer)
{
	struct tt_timer *t = container_of(timer, struct tt_timer, timer);
	ktime_t now = ktime_get();

	if (t->magic != TT_MAGIC) {
		tt_error(TT_CORRUPT, "callback for %p, magic %x", t, t->magic);
		return;
	}
	/* Gives a stop that has not waited time to be noticed. */
	if (READ_ONCE(t->awaited))
		udelay(TT_MOMENT_US);
	if (t->kind->stays && tt_fault(TT_BREAK_DOUBLED))
		t->kind->expire(t, now);
	if (tt_is_broken(TT_BREAK_ORDER))
		tt_expire_reordered(t, now);
	else
		t->kind->expire(t, now);
}

void tt_setup(struct tt_timer *t, const struct tt_kind *kind)
{
	t->kind = kind;
	t->magic = TT_MAGIC;
	twheel_timer_setup(&t->timer, tt_round.wheel, tt_expire, 0);
}

/* Frees @memory, of which @t is a part. */
void tt_free(struct tt_timer *t, void *memory)
{
	t->magic = 0;
	if (tt_fault(TT_BREAK_LEAK)) {
		llist_add(memory, &tt_kept_memory);
		return;
	}
	kfree(memory);
	tt_count(TT_FREED);
}

/* A start that is lost before it has begun. */
static bool tt_start_is_lost(struct tt_timer *t)
{
	return t->kind->stays && !twheel_pending(&t->timer) &&
	       tt_fault(TT_BREAK_LOST);
}

static ktime_t tt_break_deadline(struct tt_timer *t, ktime_t deadline)
{
	if (tt_fault(TT_BREAK_EARLY))
		return ktime_sub_ns(deadline, 3 * tt_round.tick_ns);
	if (t->kind->stays && tt_fault(TT_BREAK_LATE))
		return ktime_add_safe(deadline, 3600LL * NSEC_PER_SEC);
	return deadline;
}

int tt_start_at(struct tt_timer *t, ktime_t deadline)
{
	bool pending = tt_seemed_pending(t, TT_BREAK_START_RACE);
	int ret;

	if (tt_start_is_lost(t))
		return 0;
	ret = twheel_start_at(&t->timer, tt_break_deadline(t, deadline));
	return ret >= 0 && tt_is_broken(TT_BREAK_START_RACE) ? pending : ret;
}

/* For the callback of @t. */
int tt_again_at(struct tt_timer *t, ktime_t deadline)
{
	tt_count(TT_AGAIN);
	if (tt_start_is_lost(t))
		return 0;
	return twheel_again_at(&t->timer, tt_break_deadline(t, deadline));
}

int tt_start(struct tt_timer *t, u64 delay_ns)
{
	ktime_t now = ktime_get();

	if (tt_params.broken != TT_BREAK_NOTHING)
		return tt_start_at(t, ktime_add_safe(now, delay_ns));
	return twheel_start(&t->timer, delay_ns);
}

int tt_start_on(struct tt_timer *t, u64 delay_ns, int cpu)
{
	if (tt_is_broken(TT_BREAK_CPU))
		return tt_start(t, delay_ns);
	return twheel_start_on(&t->timer, delay_ns, cpu);
}

int tt_restart_at(struct tt_timer *t, ktime_t deadline)
{
	return twheel_restart_at(&t->timer, tt_break_deadline(t, deadline));
}

int tt_stop(struct tt_timer *t)
{
	bool pending = tt_seemed_pending(t, TT_BREAK_STOP_RACE);
	int ret = twheel_stop(&t->timer);

	return tt_is_broken(TT_BREAK_STOP_RACE) ? pending : ret;
}

/* A stop that does not wait although it should. */
static int tt_stop_unsync(struct tt_timer *t)
{
	int ret;

	/* Pairs with tt_expire(). It may see the flag late. */
	WRITE_ONCE(t->awaited, true);
	tt_await_moment(t);
	ret = twheel_stop(&t->timer);
	WRITE_ONCE(t->awaited, false);
	return ret;
}

int tt_stop_sync(struct tt_timer *t)
{
	if (tt_is_broken(TT_BREAK_SYNC))
		return tt_stop_unsync(t);
	return twheel_stop_sync(&t->timer);
}

int tt_shutdown_sync(struct tt_timer *t)
{
	if (tt_is_broken(TT_BREAK_SYNC))
		return tt_stop_unsync(t);
	return twheel_shutdown_sync(&t->timer);
}

/* Really stops @t, because broken variants must not harm reused memory. */
void tt_make_safe(struct tt_timer *t)
{
	if (tt_is_broken(TT_BREAK_SYNC))
		twheel_shutdown_sync(&t->timer);
}

static void tt_drained(struct twheel_timer *timer, void *arg)
{
	struct tt_timer *t = container_of(timer, struct tt_timer, timer);
	unsigned long *handed_over = arg;

	++*handed_over;
	tt_count(TT_DRAINED);
	if (t->kind->stays && tt_fault(TT_BREAK_DRAIN))
		return;
	t->kind->drained(t);
}

unsigned long tt_drain(void)
{
	unsigned long handed_over = 0;
	unsigned long ret = twheel_drain(tt_round.wheel, tt_drained, &handed_over);

	if (ret != handed_over)
		tt_error(TT_WRONG, "drain returned %lu for %lu timers", ret,
			 handed_over);
	return ret;
}

/*
 * At the end of a round, releases everything that the broken variants hold
 * back.
 */
void tt_seam_flush(void)
{
	struct llist_node *node = llist_del_all(&tt_kept_memory);
	int cpu;

	while (node) {
		struct llist_node *next = node->next;

		kfree(node);
		node = next;
	}
	for_each_possible_cpu(cpu)
		per_cpu(tt_held_back, cpu) = NULL;
}
