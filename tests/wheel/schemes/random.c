// SPDX-License-Identifier: GPL-2.0
/*
 * Random use of a scheme
 *
 * A profile says where timers are started and how the clock moves. A seed or the input of a
 * fuzzer determines the rest, so that every run can be repeated.
 */
#include <linux/kernel.h>

#include "check.h"

/* How far away timers are started, and how far the clock moves in one go. */
enum ticks {
	ONE = BIT(0),	/* one tick */
	DENSE = BIT(1),	/* part of a window of the lowest level */
	NEAR = BIT(2),	/* some windows of the lowest level */
	SHORT = BIT(3),	/* two windows of the level above */
	LONG = BIT(4),	/* any number of bits up to 64 */
	EDGE = BIT(5),	/* about an edge of a level */
	BURST = BIT(6),	/* the same tick, for a while */
	NEXT = BIT(7),	/* the next tick of the scheme */
};

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

/**
 * struct picker - picks ticks as a profile says
 * @rng: random numbers
 * @profile: the profile
 * @burst: tick that BURST picks at present
 */
struct picker {
	struct twheel_rng *rng;
	const struct twheel_profile *profile;
	u64 burst;
};

/* Pick the clock to begin at: a number of any length up to 60 bits, or near U64_MAX. */
static u64 pick_clock(struct picker *p)
{
	if (p->profile->end)
		return U64_MAX - twheel_rng_below(p->rng,
						  1U << p->profile->end);
	return twheel_rng_log(p->rng, 60);
}

/* Pick a tick near the edge of one of a level's next slots. */
static u64 pick_edge(struct picker *p, u64 clock)
{
	u32 shift = twheel_rng_below(p->rng, TWHEEL_HIER_LEVELS) *
		    TWHEEL_HIER_BITS;
	u64 edges = 1ULL << twheel_rng_below(p->rng, TWHEEL_HIER_BITS + 2);
	u64 edge = ((clock >> shift) + edges) << shift;

	return edge - 1 + twheel_rng_below(p->rng, 3);
}

static u64 pick_burst(struct picker *p, u64 clock)
{
	if (p->burst <= clock || !twheel_rng_below(p->rng, 500))
		p->burst = add_sat(clock, twheel_rng_log(p->rng, 20));
	return p->burst;
}

static enum ticks pick_range(struct picker *p, u32 set)
{
	enum ticks range;

	do {
		range = BIT(twheel_rng_below(p->rng, 8));
	} while (!(set & range));
	return range;
}

static u64 pick_tick(struct picker *p, u32 set, u64 from)
{
	switch (pick_range(p, set)) {
	case DENSE:
		return add_sat(from, twheel_rng_below(p->rng, DENSE_TICKS));
	case NEAR:
		return add_sat(from, twheel_rng_below(p->rng, NEAR_TICKS));
	case SHORT:
		return add_sat(from, twheel_rng_below(p->rng, SHORT_TICKS));
	case LONG:
		return add_sat(from, twheel_rng_log(p->rng, 64));
	case EDGE:
		return pick_edge(p, from);
	case BURST:
		return pick_burst(p, from);
	default:
		return add_sat(from, 1);
	}
}

/* Pick a tick to start a timer for. A few of these ticks are in the past. */
static u64 pick_expires(struct picker *p, u64 clock)
{
	u32 late = twheel_rng_below(p->rng, 64);

	if (late < 2)
		return clock - min_t(u64, clock, late);
	if (late == 2)
		return twheel_rng_log(p->rng, 64);
	return pick_tick(p, p->profile->starts, clock);
}

/* Pick a tick for a refresh, not before @expires: half of the time fewer than five ticks later. */
static u64 pick_refresh(struct picker *p, u64 expires)
{
	if (twheel_rng_below(p->rng, 2))
		return add_sat(expires, twheel_rng_below(p->rng, 5));
	return max(expires, pick_tick(p, p->profile->starts, expires));
}

/* Pick a tick to go on to, not before @clock. @next is the scheme's next tick. */
static u64 pick_step(struct picker *p, u64 clock, u64 next)
{
	enum ticks range = pick_range(p, p->profile->steps);

	if (range != NEXT)
		return max(clock, pick_tick(p, range, clock));
	/* If nothing is pending go on by one tick, as U64_MAX would end the run. */
	if (next == U64_MAX)
		return add_sat(clock, 1);
	return max(clock, next);
}

/* Start, restart, refresh or stop a timer, or store its tick. */
static void random_op(struct twheel_check *c, struct picker *p, u32 id)
{
	switch (twheel_rng_below(p->rng, 8)) {
	case 0:
		twheel_check_stop(c, id);
		break;
	case 1 ... 3:
		if (twheel_check_pending(c, id)) {
			u64 expires = pick_refresh(p, c->timers[id].entry.expires);

			if (twheel_rng_below(p->rng, 2))
				twheel_check_store(c, id, expires);
			else
				twheel_check_set(c, id, expires);
			break;
		}
		fallthrough;
	default:
		twheel_check_set(c, id,
				 pick_expires(p, twheel_check_clock(c)));
	}
}

/* Move the clock in portions of work, half of the times with operations between the portions. */
static void random_step(struct twheel_check *c, struct picker *p)
{
	int most = twheel_rng_below(p->rng, 2) ? 4 : 1000, work = most;
	bool meddle = twheel_rng_below(p->rng, 2);
	u32 calls = 0;
	u64 target;

	if (twheel_rng_below(p->rng, 2))
		twheel_check_sleep(c, most);
	target = pick_step(p, twheel_check_clock(c), c->t->ops->next(c->t));
	while (twheel_check_pop(c, target, &work)) {
		if (work <= 0)
			work = 1 + twheel_rng_below(p->rng, most);
		if (++calls < 200 && meddle && !twheel_rng_below(p->rng, 4) &&
		    twheel_check_clock(c) != U64_MAX)
			random_op(c, p, twheel_rng_below(p->rng, c->nr));
	}
}

/**
 * twheel_check_random - use a scheme at random
 * @ops: the scheme
 * @profile: the way of using it
 * @rng: random numbers
 * @nr_ops: maximum number of operations, fewer if the clock reaches its end
 *
 * Return: the scheme and its oracle after the run, or NULL if there is no memory.
 */
struct twheel_check *
twheel_check_random(const struct twheel_test_scheme_ops *ops, const struct twheel_profile *profile,
		    struct twheel_rng *rng, u64 nr_ops)
{
	struct picker p = { .rng = rng, .profile = profile };
	struct twheel_check *c;

	c = twheel_check_create(ops, pick_clock(&p), profile->slots, profile->timers);
	if (!c)
		return NULL;
	while (c->ops < nr_ops && !c->error && twheel_check_clock(c) != U64_MAX) {
		if (twheel_rng_below(rng, profile->ops))
			random_op(c, &p, twheel_rng_below(rng, c->nr));
		else
			random_step(c, &p);
		if (!twheel_rng_below(rng, 500))
			twheel_check_slots(c);
	}
	if (!c->error && twheel_check_clock(c) != U64_MAX)
		twheel_check_advance(c, U64_MAX - 1);
	if (!c->error)
		twheel_check_advance(c, U64_MAX);
	twheel_check_slots(c);
	return c;
}
