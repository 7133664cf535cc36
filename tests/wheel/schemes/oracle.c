// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle: what a scheme promises, in the plainest form
 *
 * The oracle is a list of all pending nodes, sorted by tick. A test tells the oracle about
 * every start, restart and stop, and about every node that the scheme pops.
 * The oracle notes the first violation:
 *
 *  - a node expired that was not pending, or at another tick than its own
 *  - the clock passed a tick, or a tick ended, and a due node was left
 *  - of two nodes of one tick, the node that was started later expired first
 *
 * For the last check every start has a number. A pending node that is restarted to the same tick
 * or to a later one may expire as if it had been started at any time between its first start and
 * its move by the wheel. The wheel moves it at the latest when its old tick is over. So such a
 * node has a range of numbers. The nodes that expired in one tick are in order if a number can be
 * chosen from each range such that no number is smaller than the number of the node before.
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

/* Begin with nothing pending. @clock is the scheme's clock. */
void twheel_oracle_init(struct twheel_oracle *o, u64 clock)
{
	*o = (struct twheel_oracle) { .clock = clock, .done = true };
	INIT_LIST_HEAD(&o->entries);
	INIT_LIST_HEAD(&o->waiting);
}

void twheel_oracle_entry_init(struct twheel_oracle_entry *e)
{
	INIT_LIST_HEAD(&e->link);
	INIT_LIST_HEAD(&e->waiting);
}

/* Returns whether a node should be pending. */
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

void twheel_oracle_start(struct twheel_oracle *o,
			 struct twheel_oracle_entry *e, u64 expires)
{
	oracle_insert(o, e, expires);
	e->from = o->starts++;
	e->to = e->from;
}

void twheel_oracle_stop(struct twheel_oracle *o,
			struct twheel_oracle_entry *e)
{
	list_del_init(&e->link);
	list_del_init(&e->waiting);
	o->pending--;
}

/* Restart a pending node for tick @expires. */
void twheel_oracle_restart(struct twheel_oracle *o,
			   struct twheel_oracle_entry *e, u64 expires)
{
	bool later = expires >= e->expires;
	u64 from = e->from, earliest = e->earliest, old_tick = e->tick;

	twheel_oracle_stop(o, e);
	twheel_oracle_start(o, e, expires);
	if (!later)
		return;
	/* If the new tick is late as well, the node may still expire at its earliest tick. */
	if (expires <= o->clock)
		e->earliest = earliest;
	e->from = from;
	e->to = U64_MAX;
	e->old_tick = old_tick;
	list_add_tail(&e->waiting, &o->waiting);
}

/* End the ranges of refreshed nodes whose old tick is over: the wheel has moved these nodes. */
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

/* Note that the clock of the scheme is @clock now. @done: the scheme finished this tick, too. */
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

/* Check a node that the scheme popped. @clock is the scheme's clock. */
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

/* Check a scheme whose pop used up its work. @clock is the scheme's clock. */
void twheel_oracle_paused(struct twheel_oracle *o, u64 clock)
{
	oracle_advance(o, clock, false);
	if (twheel_oracle_first(o) < clock)
		oracle_fail(o, "the clock passed one that was due");
}

/* Check a scheme that finished all ticks up to @clock, its clock. */
void twheel_oracle_finished(struct twheel_oracle *o, u64 clock)
{
	oracle_advance(o, clock, true);
	if (o->pending && twheel_oracle_first(o) <= clock)
		oracle_fail(o, "the tick ended, and one was left that was due");
}

/* Returns the tick of the next expiry, U64_MAX if no node is pending. */
u64 twheel_oracle_first(const struct twheel_oracle *o)
{
	if (list_empty(&o->entries))
		return U64_MAX;
	return list_first_entry(&o->entries, struct twheel_oracle_entry,
				link)->tick;
}
