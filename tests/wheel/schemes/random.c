// SPDX-License-Identifier: GPL-2.0
/*
 * Random use of a scheme
 *
 * A profile says where timers are started and how the clock moves. A seed
 * determines the rest, so that every run can be repeated.
 */
#include <linux/kernel.h>

#include "check.h"

#define ONE	BIT(TWHEEL_RANGE_ONE)
#define DENSE	BIT(TWHEEL_RANGE_DENSE)
#define NEAR	BIT(TWHEEL_RANGE_NEAR)
#define SHORT	BIT(TWHEEL_RANGE_SHORT)
#define LONG	BIT(TWHEEL_RANGE_LONG)
#define EDGE	BIT(TWHEEL_RANGE_EDGE)
#define BURST	BIT(TWHEEL_RANGE_BURST)
#define NEXT	BIT(TWHEEL_RANGE_NEXT)

#define DENSE_TICKS	(TWHEEL_HIER_WINDOW / 4)
#define NEAR_TICKS	(4 * TWHEEL_HIER_WINDOW)
#define SHORT_TICKS	(2 * TWHEEL_HIER_WINDOW * TWHEEL_HIER_WINDOW)

const struct twheel_profile twheel_profiles[] = {
	/* name, timers, slots, starts, steps, ops, end */
	{ "dense", 60, 64, DENSE | NEAR, ONE, 8, 0 },
	{ "sparse", 4, 64, LONG, ONE | SHORT | LONG | NEXT, 2, 0 },
	{ "short", 60, 64, DENSE | NEAR | SHORT, ONE | DENSE, 8, 0 },
	{ "long", 60, 256, SHORT | LONG, SHORT | LONG | NEXT, 8, 0 },
	{ "edges", 40, 64, EDGE, ONE | EDGE | NEXT, 6, 0 },
	{ "burst", 80, 16, BURST, ONE | DENSE | BURST | NEXT, 20, 0 },
	{ "tickless", 40, 32, NEAR | SHORT | LONG, NEXT, 4, 0 },
	{ "jumps", 40, 8, NEAR | SHORT | EDGE | LONG, LONG | BURST, 10, 0 },
	{ "two slots", 30, 2, DENSE | NEAR, ONE | DENSE | NEXT, 6, 0 },
	{ "end", 40, 16, NEAR | SHORT | EDGE | LONG,
	  ONE | DENSE | NEAR, 6, 15 },
	{ "mixed", 60, 128, ONE | DENSE | NEAR | SHORT | LONG | EDGE | BURST,
	  ONE | DENSE | NEAR | SHORT | EDGE | NEXT, 6, 0 },
};

const u32 twheel_nr_profiles = ARRAY_SIZE(twheel_profiles);

static u64 add_sat(u64 tick, u64 delta)
{
	return tick + delta < tick ? U64_MAX : tick + delta;
}

void twheel_picker_init(struct twheel_picker *p,
			const struct twheel_profile *profile, u64 seed)
{
	*p = (struct twheel_picker) {
		.rng.state = seed,
		.profile = profile,
	};
}

/* Pick a tick of any length to begin at. */
u64 twheel_pick_clock(struct twheel_picker *p)
{
	if (p->profile->end)
		return U64_MAX - twheel_rng_below(&p->rng,
						  1U << p->profile->end);
	return twheel_rng_log(&p->rng, 60);
}

/* Pick a tick near the edge of one of a level's next slots. */
static u64 pick_edge(struct twheel_picker *p, u64 clock)
{
	u32 shift = twheel_rng_below(&p->rng, TWHEEL_HIER_LEVELS) *
		    TWHEEL_HIER_BITS;
	u64 edges = 1ULL << twheel_rng_below(&p->rng, TWHEEL_HIER_BITS + 2);
	u64 edge = ((clock >> shift) + edges) << shift;

	return edge - 1 + twheel_rng_below(&p->rng, 3);
}

static u64 pick_burst(struct twheel_picker *p, u64 clock)
{
	if (p->burst <= clock || !twheel_rng_below(&p->rng, 500))
		p->burst = add_sat(clock, twheel_rng_log(&p->rng, 20));
	return p->burst;
}

static enum twheel_range pick_range(struct twheel_picker *p, u32 set)
{
	u32 range;

	do {
		range = twheel_rng_below(&p->rng, TWHEEL_RANGE_NEXT + 1);
	} while (!(set & BIT(range)));
	return range;
}

static u64 pick_tick(struct twheel_picker *p, u32 set, u64 from)
{
	switch (pick_range(p, set)) {
	case TWHEEL_RANGE_DENSE:
		return add_sat(from, twheel_rng_below(&p->rng, DENSE_TICKS));
	case TWHEEL_RANGE_NEAR:
		return add_sat(from, twheel_rng_below(&p->rng, NEAR_TICKS));
	case TWHEEL_RANGE_SHORT:
		return add_sat(from, twheel_rng_below(&p->rng, SHORT_TICKS));
	case TWHEEL_RANGE_LONG:
		return add_sat(from, twheel_rng_log(&p->rng, 64));
	case TWHEEL_RANGE_EDGE:
		return pick_edge(p, from);
	case TWHEEL_RANGE_BURST:
		return pick_burst(p, from);
	default:
		return add_sat(from, 1);
	}
}

/* Pick a tick to start a timer for. A few are late. */
u64 twheel_pick_expires(struct twheel_picker *p, u64 clock)
{
	u32 late = twheel_rng_below(&p->rng, 64);

	if (late < 2)
		return clock - min_t(u64, clock, late);
	if (late == 2)
		return twheel_rng_log(&p->rng, 64);
	return pick_tick(p, p->profile->starts, clock);
}

/* Pick a later tick for a pending timer, mostly a little later. */
u64 twheel_pick_refresh(struct twheel_picker *p, u64 expires)
{
	if (twheel_rng_below(&p->rng, 2))
		return add_sat(expires, twheel_rng_below(&p->rng, 5));
	return max(expires, pick_tick(p, p->profile->starts, expires));
}

/**
 * twheel_pick_step - a tick to go on to
 * @p: the picker
 * @clock: the scheme's clock
 * @next: the scheme's next tick
 *
 * Return: a tick, not before @clock.
 */
u64 twheel_pick_step(struct twheel_picker *p, u64 clock, u64 next)
{
	enum twheel_range range = pick_range(p, p->profile->steps);

	if (range != TWHEEL_RANGE_NEXT)
		return max(clock, pick_tick(p, BIT(range), clock));
	/* With nothing pending, take one step so as not to end too soon. */
	if (next == U64_MAX)
		return add_sat(clock, 1);
	return max(clock, next);
}

/* Start, restart, refresh or stop a timer. */
static void random_op(struct twheel_check *c, struct twheel_picker *p, u32 id)
{
	switch (twheel_rng_below(&p->rng, 8)) {
	case 0:
		twheel_check_stop(c, id);
		break;
	case 1 ... 3:
		if (twheel_check_pending(c, id)) {
			twheel_check_set(c, id,
					 twheel_pick_refresh(p, c->timers[id].node.expires));
			break;
		}
		fallthrough;
	default:
		twheel_check_set(c, id,
				 twheel_pick_expires(p, twheel_check_clock(c)));
	}
}

/* Step in portions of work, often after a sleep, with operations between the portions. */
static void random_step(struct twheel_check *c, struct twheel_picker *p)
{
	int most = twheel_rng_below(&p->rng, 2) ? 4 : 1000, work = most;
	bool meddle = twheel_rng_below(&p->rng, 2);
	u32 calls = 0;
	u64 target;

	if (twheel_rng_below(&p->rng, 2))
		twheel_check_sleep(c, most);
	target = twheel_pick_step(p, twheel_check_clock(c),
				  c->t->ops->next(c->t));
	while (twheel_check_pop(c, target, &work)) {
		if (work <= 0)
			work = 1 + twheel_rng_below(&p->rng, most);
		if (++calls < 200 && meddle && !twheel_rng_below(&p->rng, 4) &&
		    twheel_check_clock(c) != U64_MAX)
			random_op(c, p, twheel_rng_below(&p->rng, c->nr));
	}
}

/**
 * twheel_check_random - use a scheme at random
 * @c: the scheme and the oracle
 * @p: the picker
 * @ops: maximum number of operations, fewer if the clock reaches its end
 */
void twheel_check_random(struct twheel_check *c, struct twheel_picker *p,
			 u64 ops)
{
	u64 end = c->ops + ops;

	while (c->ops < end && !c->error &&
	       twheel_check_clock(c) != U64_MAX) {
		if (twheel_rng_below(&p->rng, p->profile->ops))
			random_op(c, p, twheel_rng_below(&p->rng, c->nr));
		else
			random_step(c, p);
		if (!twheel_rng_below(&p->rng, 500))
			twheel_check_slots(c);
	}
	if (!c->error && twheel_check_clock(c) != U64_MAX)
		twheel_check_advance(c, U64_MAX - 1);
	if (!c->error)
		twheel_check_advance(c, U64_MAX);
	twheel_check_slots(c);
}
