// SPDX-License-Identifier: GPL-2.0
/*
 * What the promises say has to happen, in the plainest form
 *
 * A list of what is pending, sorted by tick. Who tests a scheme tells the
 * oracle of every start, restart and stop, and of everything that the scheme
 * gives out, and the oracle notes the first thing that should not have been:
 *
 *  - a node came out that was not pending, or at another tick than its own;
 *  - the clock went on to or past a tick at which something was left;
 *  - of two nodes of one tick the one that was started later came out first.
 *
 * For the last every start has a number. A pending node that is restarted to
 * the same tick or a later one may take its place as if it had been started at
 * any time between its first start and the time when the wheel has moved it,
 * which is when its old tick is over, at the latest. So it has a range of
 * numbers. What came out in one tick is in order if from each range a number
 * can be chosen such that the numbers do not fall.
 */
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/minmax.h>

#include "oracle.h"

static void oracle_fail(struct twheel_oracle *o, const char *error)
{
	if (!o->error)
		o->error = error;
}

/**
 * twheel_oracle_init - begin with nothing pending
 * @o: the oracle
 * @clock: the scheme's clock
 */
void twheel_oracle_init(struct twheel_oracle *o, u64 clock)
{
	*o = (struct twheel_oracle) { .clock = clock, .done = true };
	INIT_LIST_HEAD(&o->entries);
	INIT_LIST_HEAD(&o->waiting);
}

/**
 * twheel_oracle_entry_init - a node that is not pending
 * @e: its entry
 */
void twheel_oracle_entry_init(struct twheel_oracle_entry *e)
{
	INIT_LIST_HEAD(&e->link);
	INIT_LIST_HEAD(&e->waiting);
}

/**
 * twheel_oracle_pending - whether a node should be pending
 * @e: its entry
 *
 * Return: true if it should.
 */
bool twheel_oracle_pending(const struct twheel_oracle_entry *e)
{
	return !list_empty(&e->link);
}

static void oracle_insert(struct twheel_oracle *o,
			  struct twheel_oracle_entry *e, u64 expires)
{
	struct twheel_oracle_entry *pos;

	e->expires = expires;
	e->tick = expires > o->clock ? expires : o->clock + 1;
	e->earliest = e->tick;
	list_for_each_entry_reverse(pos, &o->entries, link)
		if (pos->tick <= e->tick)
			break;
	list_add(&e->link, &pos->link);
	o->pending++;
}

/**
 * twheel_oracle_start - a node is started
 * @o: the oracle
 * @e: its entry
 * @expires: its tick
 */
void twheel_oracle_start(struct twheel_oracle *o,
			 struct twheel_oracle_entry *e, u64 expires)
{
	oracle_insert(o, e, expires);
	e->from = o->starts++;
	e->to = e->from;
}

/**
 * twheel_oracle_stop - a node is stopped
 * @o: the oracle
 * @e: its entry
 */
void twheel_oracle_stop(struct twheel_oracle *o,
			struct twheel_oracle_entry *e)
{
	list_del_init(&e->link);
	list_del_init(&e->waiting);
	o->pending--;
}

/**
 * twheel_oracle_restart - a pending node is restarted
 * @o: the oracle
 * @e: its entry
 * @expires: its new tick
 */
void twheel_oracle_restart(struct twheel_oracle *o,
			   struct twheel_oracle_entry *e, u64 expires)
{
	bool later = expires >= e->expires;
	u64 from = e->from, earliest = e->earliest, old_tick = e->tick;

	twheel_oracle_stop(o, e);
	twheel_oracle_start(o, e, expires);
	if (!later)
		return;
	/* If it was late and still is, then it may be as if nothing happened. */
	if (expires <= o->clock)
		e->earliest = earliest;
	e->from = from;
	e->to = U64_MAX;
	e->old_tick = old_tick;
	list_add_tail(&e->waiting, &o->waiting);
}

/* Those whose old tick is over have been moved, if they were to be. */
static void oracle_settle(struct twheel_oracle *o)
{
	struct twheel_oracle_entry *e, *tmp;

	list_for_each_entry_safe(e, tmp, &o->waiting, waiting) {
		if (e->old_tick < o->clock ||
		    (e->old_tick == o->clock && o->done)) {
			e->to = o->starts;
			list_del_init(&e->waiting);
		}
	}
}

/* The scheme is at @clock now, and has finished all ticks before it. */
static void oracle_advance(struct twheel_oracle *o, u64 clock, bool done)
{
	if (clock < o->clock)
		oracle_fail(o, "the clock went back");
	if (clock != o->clock)
		o->order = 0;
	o->clock = clock;
	o->done = done;
	oracle_settle(o);
}

/**
 * twheel_oracle_popped - the scheme gave out a node
 * @o: the oracle
 * @e: its entry
 * @clock: the scheme's clock
 */
void twheel_oracle_popped(struct twheel_oracle *o,
			  struct twheel_oracle_entry *e, u64 clock)
{
	oracle_advance(o, clock, false);
	if (!twheel_oracle_pending(e)) {
		oracle_fail(o, "came out, but was not pending");
		return;
	}
	if (e->earliest > clock)
		oracle_fail(o, "came out early");
	if (e->tick < clock)
		oracle_fail(o, "came out late");
	if (twheel_oracle_first(o) < clock)
		oracle_fail(o, "the clock passed one that was due");
	o->order = max(o->order, e->from);
	if (o->order > e->to)
		oracle_fail(o, "came out after one that was started later");
	twheel_oracle_stop(o, e);
}

/**
 * twheel_oracle_paused - the scheme has used up its work
 * @o: the oracle
 * @clock: the scheme's clock
 */
void twheel_oracle_paused(struct twheel_oracle *o, u64 clock)
{
	oracle_advance(o, clock, false);
	if (twheel_oracle_first(o) < clock)
		oracle_fail(o, "the clock passed one that was due");
}

/**
 * twheel_oracle_finished - the scheme has nothing to give out any more
 * @o: the oracle
 * @clock: the scheme's clock, up to which all should have been given out
 */
void twheel_oracle_finished(struct twheel_oracle *o, u64 clock)
{
	oracle_advance(o, clock, true);
	if (o->pending && twheel_oracle_first(o) <= clock)
		oracle_fail(o, "the tick ended, and one was left that was due");
}

/**
 * twheel_oracle_first - when something has to come out next
 * @o: the oracle
 *
 * Return: a tick, or U64_MAX if nothing is pending.
 */
u64 twheel_oracle_first(const struct twheel_oracle *o)
{
	if (list_empty(&o->entries))
		return U64_MAX;
	return list_first_entry(&o->entries, struct twheel_oracle_entry,
				link)->tick;
}
