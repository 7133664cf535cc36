// SPDX-License-Identifier: GPL-2.0
/*
 * The schemes under libFuzzer, against the oracle
 *
 * The input is a program for a scheme. Its first bytes say how it begins, and
 * the others are operations with their operands. If the oracle of tests/wheel/schemes
 * finds anything wrong, the program aborts, and libFuzzer keeps the input.
 *
 * -DFUZZ_SCHEME=twheel_test_hier chooses the scheme at compile time. libFuzzer
 * calls the function named by -DFUZZ_ENTRY=LLVMFuzzerTestOneInput.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../schemes/check.h"

/* An operand cannot name more. */
#define TIMERS		32

struct input {
	const u8 *data;
	size_t left;
};

static u8 take(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

/* Take a number of any length: mantissa, exponent. */
static u64 take_number(struct input *in)
{
	u64 mantissa = take(in);

	return mantissa << (take(in) & 63);
}

static u64 add_sat(u64 tick, u64 delta)
{
	return tick + delta < tick ? U64_MAX : tick + delta;
}

/* Take a tick at or beside the edge of a slot of some level. */
static u64 take_edge(struct input *in, u64 clock)
{
	u32 shift = take(in) % TWHEEL_HIER_LEVELS * TWHEEL_HIER_BITS;
	u64 slots = take(in);

	return (((clock >> shift) + slots) << shift) + take(in) % 3 - 1;
}

static void step(struct twheel_check *c, struct input *in, u64 target)
{
	u8 how = take(in);
	int portion = how & 128 ? how & 15 : 1000, work = portion;
	u32 calls = 0, most = how & 64 ? 1 + (how & 15) : U32_MAX;

	while (calls++ < most && twheel_check_pop(c, target, &work))
		if (work <= 0)
			work = portion ? portion : 1;
}

static void move(struct twheel_check *c, struct input *in, u8 how)
{
	u64 clock = twheel_check_clock(c), next = c->t->ops->next(c->t);

	switch (how) {
	case 4 ... 7:
		twheel_check_sleep(c, 1 << (how & 3));
		break;
	case 0:
		step(c, in, add_sat(clock, take(in)));
		break;
	case 1:
		step(c, in, add_sat(clock, take_number(in)));
		break;
	case 2:
		step(c, in, max(clock, take_edge(in, clock)));
		break;
	default:
		/* With nothing pending, do not go to the end of time. */
		step(c, in, next == U64_MAX ? clock : max(clock, next));
	}
}

static void operate(struct twheel_check *c, struct input *in)
{
	u64 clock = twheel_check_clock(c);
	u8 op = take(in), id = op & 31;

	switch (op >> 5) {
	case 0:
		twheel_check_stop(c, id);
		break;
	case 1:
		twheel_check_set(c, id, add_sat(clock, take(in)));
		break;
	case 2:
		twheel_check_set(c, id, add_sat(clock, take_number(in)));
		break;
	case 3:
		twheel_check_set(c, id, take_edge(in, clock));
		break;
	case 4:
		twheel_check_set(c, id, add_sat(c->timers[id].node.expires,
						take(in)));
		break;
	case 5:
		twheel_check_set(c, id, take_number(in));
		break;
	default:
		move(c, in, id & 7);
	}
}

/* Run one program. libFuzzer wants 0. */
int FUZZ_ENTRY(const u8 *data, size_t size)
{
	struct input in = { .data = data, .left = size };
	u32 slots = 2U << (take(&in) & 7);
	u64 clock = take_number(&in);
	struct twheel_check *c;

	/* Some begin shortly before the end of time. */
	if (take(&in) & 1)
		clock = ~clock;
	c = twheel_check_create(&FUZZ_SCHEME, clock, slots, TIMERS);
	if (!c)
		return 0;
	while (in.left && !c->error && twheel_check_clock(c) != U64_MAX)
		operate(c, &in);
	if (!c->error)
		twheel_check_slots(c);
	if (!c->error && twheel_check_clock(c) != U64_MAX)
		twheel_check_advance(c, U64_MAX);
	if (c->error) {
		fprintf(stderr, "%s: %s (timer %u, clock %llu, %llu operations)\n",
			c->t->ops->name, c->error, c->id, c->at, c->ops);
		abort();
	}
	twheel_check_destroy(c);
	return 0;
}
