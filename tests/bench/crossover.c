// SPDX-License-Identifier: GPL-2.0
/*
 * Where scheme 6 is cheaper and where scheme 7 is
 *
 * Varghese and Lauck, section 6.2: let n timers have a mean interval of T
 * ticks. Scheme 6 with M slots looks at n / M timers every tick, at a cost of
 * c_index each. Scheme 7 with m levels moves a timer at most m times in its
 * life, at a cost of c_migrate each, or n * m * c_migrate / T a tick. For one
 * timer from start to expiry that is
 *
 *	scheme 6	c_index * T / M
 *	scheme 7	c_migrate * m
 *
 * plus, for both, the start and the expiry themselves. This measures it with n
 * timers whose intervals are uniform from 1 to 2 T. Each timer is restarted
 * when it expires, and the clock goes on tick by tick until enough have
 * expired.
 *
 * A tick with nothing to do costs the same everywhere and does not belong here.
 * It is measured first, with one timer that is far away, and subtracted.
 *
 * Rows: scheme, slots, mean interval, timers, ns per expiry, ns per tick, moves
 * per expiry (times 100).
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "../wheel/schemes/schemes.h"
#include "crossover.h"

#define EXPIRIES	20000U
#define TICKS_AT_ONCE	64
#define DRAWS		4096U
#define EVERYTHING	1000000000
#define EMPTY_TICKS	16384U

struct cell {
	const struct twheel_test_scheme_ops *ops;
	struct twheel_test_scheme *scheme;
	struct twheel_node *nodes;
	u32 slots;
	u32 interval;
	u32 nr;
	u32 expired;
	u32 ticks;
	u64 ns;
	u64 ns_empty;
	u32 draw[DRAWS];
};

static void restart(struct cell *c, struct twheel_node *node)
{
	node->expires += c->draw[c->expired++ % DRAWS];
	c->ops->start(c->scheme, node);
}

static void some_ticks(struct cell *c)
{
	struct twheel_node *node;
	int i, work;
	u64 tick;

	for (i = 0; i < TICKS_AT_ONCE; i++) {
		tick = c->scheme->s.clock + 1;
		do {
			work = EVERYTHING;
			node = c->ops->pop(c->scheme, tick, &work);
			if (node)
				restart(c, node);
		} while (node);
	}
	c->ticks += TICKS_AT_ONCE;
}

/* A random part of each interval is left, as if it had run for long. */
static void start_all(struct cell *c)
{
	u32 i;

	for (i = 0; i < DRAWS; i++)
		c->draw[i] = 1 + crossover_random(2 * c->interval);
	for (i = 0; i < c->nr; i++) {
		u32 whole = 1 + crossover_random(2 * c->interval);

		c->nodes[i].expires = c->scheme->s.clock + 1 +
				      crossover_random(whole);
		c->nodes[i].link.next = NULL;
		c->ops->start(c->scheme, &c->nodes[i]);
	}
}

static void run_until(struct cell *c, u32 expiries)
{
	u64 begin;

	c->expired = 0;
	c->ticks = 0;
	c->ns = 0;
	while (c->expired < expiries) {
		begin = crossover_begin();
		some_ticks(c);
		c->ns += crossover_end(begin);
	}
}

static void report(const struct cell *c, u64 each, u64 moves)
{
	char text[128];

	snprintf(text, sizeof(text), "%s,%u,%u,%u,%llu,%llu,%llu",
		 c->ops->name, c->slots, c->interval, c->nr, each,
		 div_u64(c->ns, c->ticks), moves);
	crossover_row(text);
}

static void measure(struct cell *c)
{
	u32 expiries = min(EXPIRIES, 4 * c->nr);
	u64 moves, empty;

	start_all(c);
	run_until(c, expiries / 4);
	moves = c->scheme->s.cascaded;
	run_until(c, expiries);
	moves = c->scheme->s.cascaded - moves;
	empty = div_u64(c->ns_empty * c->ticks, EMPTY_TICKS);
	report(c, div_u64(c->ns - min(c->ns, empty), c->expired),
	       div_u64(100 * moves, c->expired));
}

/* Leaves the scheme as it was, except for the clock. */
static void measure_empty(struct cell *c)
{
	u64 begin;

	c->nodes[0].expires = 1ULL << 40;
	c->nodes[0].link.next = NULL;
	c->ops->start(c->scheme, &c->nodes[0]);
	while (c->ticks < EMPTY_TICKS) {
		begin = crossover_begin();
		some_ticks(c);
		c->ns_empty += crossover_end(begin);
	}
	c->ops->stop(c->scheme, &c->nodes[0]);
}

static int one_cell(const struct twheel_test_scheme_ops *ops, u32 slots,
		    u32 interval, u32 nr)
{
	struct cell *c = kvzalloc(sizeof(*c), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!c)
		return ret;
	c->ops = ops;
	c->slots = slots;
	c->interval = interval;
	c->nr = nr;
	c->nodes = kvcalloc(nr, sizeof(*c->nodes), GFP_KERNEL);
	c->scheme = ops->create(0, slots, nr);
	if (c->nodes && c->scheme) {
		measure_empty(c);
		measure(c);
		ret = 0;
	}
	if (c->scheme)
		ops->destroy(c->scheme);
	kvfree(c->nodes);
	kvfree(c);
	return ret;
}

static int one_interval(u32 interval, u32 nr)
{
	static const u32 slots[] = { 256, 4096, 65536 };
	int ret = one_cell(&twheel_test_hier, 0, interval, nr);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(slots) && !ret; i++)
		ret = one_cell(&twheel_test_hashed, slots[i], interval, nr);
	return ret;
}

/* Measures everything. Returns 0 or -ENOMEM. */
int crossover(void)
{
	u32 interval;
	int ret = 0;

	for (interval = 64; interval <= 262144 && !ret; interval *= 4) {
		ret = one_interval(interval, 1000);
		if (!ret)
			ret = one_interval(interval, 100000);
	}
	return ret;
}
