// SPDX-License-Identifier: GPL-2.0
/*
 * Random use of one scheme, and of all of them at once
 *
 * A profile says where timers are started and how the clock moves. A seed
 * determines the rest, so that every run can be repeated.
 */
#include <linux/kernel.h>
#include <linux/slab.h>

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

/* A tick of any length to begin at. */
u64 twheel_pick_clock(struct twheel_picker *p)
{
	if (p->profile->end)
		return U64_MAX - twheel_rng_below(&p->rng,
						  1U << p->profile->end);
	return twheel_rng_log(&p->rng, 60);
}

/* A tick near the edge of one of a level's next slots. */
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

/* A tick to start a timer for. A few are late. */
u64 twheel_pick_expires(struct twheel_picker *p, u64 clock)
{
	u32 late = twheel_rng_below(&p->rng, 64);

	if (late < 2)
		return clock - min_t(u64, clock, late);
	if (late == 2)
		return twheel_rng_log(&p->rng, 64);
	return pick_tick(p, p->profile->starts, clock);
}

/* A later tick for a pending timer, mostly a little later. */
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

static void diff_fail(struct twheel_diff *d, const char *error,
		      const struct twheel_test_scheme *t)
{
	if (d->error)
		return;
	d->error = error;
	d->scheme = t->ops->name;
}

static bool diff_create_scheme(struct twheel_diff *d, u32 i, u64 clock,
			       u32 slots)
{
	d->t[i] = twheel_test_schemes[i]->create(clock, slots, d->nr);
	d->nodes[i] = kvcalloc(d->nr, sizeof(*d->nodes[i]), GFP_KERNEL);
	return d->t[i] && d->nodes[i];
}

/**
 * twheel_diff_create - make one of each scheme
 * @clock: the tick to begin after
 * @slots: number of slots, for schemes that leave the choice
 * @nr: number of timers
 *
 * Return: the schemes, or NULL if there is no memory.
 */
struct twheel_diff *twheel_diff_create(u64 clock, u32 slots, u32 nr)
{
	struct twheel_diff *d = kvzalloc(sizeof(*d), GFP_KERNEL);
	bool ok;
	u32 i;

	if (!d)
		return NULL;
	d->nr = nr;
	d->clock = clock;
	d->due = kvcalloc(nr, sizeof(*d->due), GFP_KERNEL);
	d->out = kvcalloc(nr, sizeof(*d->out), GFP_KERNEL);
	d->pending = kvcalloc(nr, sizeof(*d->pending), GFP_KERNEL);
	ok = d->due && d->out && d->pending;
	for (i = 0; ok && i < TWHEEL_TEST_NR_SCHEMES; i++)
		ok = diff_create_scheme(d, i, clock, slots);
	if (ok)
		return d;
	twheel_diff_destroy(d);
	return NULL;
}

/* Frees all schemes. @d may be NULL. */
void twheel_diff_destroy(struct twheel_diff *d)
{
	u32 i;

	if (!d)
		return;
	for (i = 0; i < TWHEEL_TEST_NR_SCHEMES; i++) {
		if (d->t[i])
			d->t[i]->ops->destroy(d->t[i]);
		kvfree(d->nodes[i]);
	}
	kvfree(d->due);
	kvfree(d->out);
	kvfree(d->pending);
	kvfree(d);
}

static void diff_set(struct twheel_diff *d, u32 id, u64 expires)
{
	struct twheel_node *node;
	u32 i;

	for (i = 0; i < TWHEEL_TEST_NR_SCHEMES; i++) {
		node = &d->nodes[i][id];
		if (d->pending[id]) {
			d->t[i]->ops->restart(d->t[i], node, expires);
		} else {
			node->expires = expires;
			d->t[i]->ops->start(d->t[i], node);
		}
	}
	d->pending[id] = true;
	d->due[id] = expires > d->clock ? expires : d->clock + 1;
	d->ops += TWHEEL_TEST_NR_SCHEMES;
}

static void diff_stop(struct twheel_diff *d, u32 id)
{
	u32 i;

	if (!d->pending[id])
		return;
	for (i = 0; i < TWHEEL_TEST_NR_SCHEMES; i++)
		d->t[i]->ops->stop(d->t[i], &d->nodes[i][id]);
	d->pending[id] = false;
	d->ops += TWHEEL_TEST_NR_SCHEMES;
}

/*
 * Lets scheme @i go on. Each node that it gives out must be due at its clock.
 */
static u32 diff_pop_all(struct twheel_diff *d, u32 i, u64 target)
{
	struct twheel_test_scheme *t = d->t[i];
	struct twheel_node *node;
	u32 popped = 0, pauses = 0, id;
	int work;

	do {
		work = 1000;
		node = t->ops->pop(t, target, &work);
		if (!node) {
			if (++pauses > TWHEEL_CHECK_PAUSES)
				diff_fail(d, "does not get on", t);
			continue;
		}
		pauses = 0;
		id = node - d->nodes[i];
		if (!d->pending[id] || d->due[id] != t->s.clock)
			diff_fail(d, "expired at another tick than its own", t);
		if (d->out[id]++ != i)
			diff_fail(d, "expired what another has not", t);
		popped++;
	} while ((node || work <= 0) && !d->error);
	d->ops += popped + 1;
	return popped;
}

/* Lets all schemes go on. Each must give out the same timers. */
static void diff_step(struct twheel_diff *d, u64 target)
{
	u32 i, id, popped, expected = 0;
	bool due;

	for (i = 0; i < TWHEEL_TEST_NR_SCHEMES && !d->error; i++) {
		popped = diff_pop_all(d, i, target);
		if (i && popped != expected)
			diff_fail(d, "expired fewer than another", d->t[i]);
		expected = popped;
	}
	d->clock = target;
	for (id = 0; id < d->nr; id++) {
		due = d->due[id] <= target;
		if (d->pending[id] && due != !!d->out[id])
			diff_fail(d, "did not expire in time", d->t[0]);
		if (d->out[id])
			d->pending[id] = false;
		d->out[id] = 0;
	}
}

static void diff_random_op(struct twheel_diff *d, struct twheel_picker *p)
{
	u32 id = twheel_rng_below(&p->rng, d->nr);

	switch (twheel_rng_below(&p->rng, 8)) {
	case 0:
		diff_stop(d, id);
		break;
	case 1 ... 3:
		if (d->pending[id]) {
			diff_set(d, id,
				 twheel_pick_refresh(p, d->nodes[0][id].expires));
			break;
		}
		fallthrough;
	default:
		diff_set(d, id, twheel_pick_expires(p, d->clock));
	}
}

/* The next tick of a random scheme, so that each of them leads at times. */
static u64 diff_next(struct twheel_diff *d, struct twheel_picker *p)
{
	u32 i = twheel_rng_below(&p->rng, TWHEEL_TEST_NR_SCHEMES);

	return d->t[i]->ops->next(d->t[i]);
}

/**
 * twheel_diff_random - use all schemes alike, at random
 * @d: the schemes
 * @p: the picker
 * @ops: maximum number of operations, summed over all schemes
 */
void twheel_diff_random(struct twheel_diff *d, struct twheel_picker *p,
			u64 ops)
{
	u64 end = d->ops + ops;

	while (d->ops < end && !d->error && d->clock != U64_MAX) {
		if (twheel_rng_below(&p->rng, p->profile->ops))
			diff_random_op(d, p);
		else
			diff_step(d, twheel_pick_step(p, d->clock,
						      diff_next(d, p)));
	}
	if (!d->error)
		diff_step(d, U64_MAX);
}
