// SPDX-License-Identifier: GPL-2.0
/* Make plans from a seed or from the bytes of a fuzzer */
#include <string.h>

#include "life.h"

static u64 state;
static const u8 *input;
static size_t left;

/* Return a number below @limit, from the seed or from the input, after whose end bytes are 0. */
static u64 below(u64 limit)
{
	u64 value = 0, most;

	if (!input)
		return random_number(&state) % limit;
	for (most = limit - 1; most; most >>= 8) {
		value = value << 8 | (left ? *input++ : 0);
		left -= !!left;
	}
	return value % limit;
}

static bool one_in(unsigned int n)
{
	return below(n) == n - 1;
}

/* Draw a time. With a real clock most times are short, because a life waits for these timers. */
static u64 some_time(const struct kind *kind)
{
	static const u64 edges[] = {
		0, 1, MS - 1, MS, 63 * MS, 64 * MS, 4095 * MS, 4096 * MS, HOUR,
		1ULL << 50, KTIME_MAX - SECOND, KTIME_MAX - 1, KTIME_MAX,
	};
	unsigned int choice = below(kind->virtual ? 8 : 12);

	if (choice == 0)
		return edges[below(ARRAY_SIZE(edges))];
	if (choice == 1)
		return HOUR + below(1 << 20) * US;
	if (choice == 2)
		return kind->virtual ? 1ULL << below(63) : below(40 * MS);
	if (choice == 3)
		return below(kind->virtual ? 6000 : 4) * MS;
	return choice < 6 ? below(100) * 50 * US : below(3 * MS);
}

static struct twheel_setup some_setup(const struct kind *kind)
{
	static const u32 words[] = { 0, 0, 3, 25, 600 };
	struct twheel_setup setup = {
		.shared_ids = words[below(ARRAY_SIZE(words))],
		.max_timers = one_in(4) ? 30 + below(20) : 0,
	};

	if (setup.max_timers && setup.shared_ids > setup.max_timers)
		setup.shared_ids = 3;
	if (one_in(2)) {
		setup.flags = TWHEEL_SETUP_PRIVATE;
		setup.tick_ns = one_in(2) ? 0 : 50 * US * (1 + below(40));
		setup.clock = kind->virtual && one_in(4) ? TWHEEL_CLOCK_BOOTTIME : 0;
	}
	return setup;
}

/* Relative frequency of each kind of step */
static const u8 shares[NR_STEPS] = {
	[STEP_START] = 30, [STEP_STOP] = 8, [STEP_GET] = 5, [STEP_LIST] = 2, [STEP_DRAIN] = 1,
	[STEP_SUBMIT] = 3, [STEP_BATCH] = 5, [STEP_READ] = 12, [STEP_WAIT] = 7, [STEP_POLL] = 3,
	[STEP_STORE] = 8, [STEP_PUSH] = 4, [STEP_SLEEP] = 7, [STEP_STATS] = 3, [STEP_INFO] = 1,
	[STEP_SETUP] = 1, [STEP_WRONG] = 4, [STEP_SPOILT] = 3, [STEP_SWARM] = 2, [STEP_FORK] = 1,
	[STEP_LOOK] = 2,
};

/*
 * Draw a kind of step. Threads that take turns have only steps on their sessions, because the turn
 * changes where a step locks a session.
 */
static enum what some_step(const struct kind *kind)
{
	unsigned int nr = kind->turns ? STEP_SETUP : NR_STEPS, sum = 0, choice, i;

	for (i = 0; i < nr; i++)
		sum += shares[i];
	choice = below(sum);
	for (i = 0; choice >= shares[i]; i++)
		choice -= shares[i];
	return i;
}

static void make_step(struct step *step, const struct kind *kind, enum what what)
{
	*step = (struct step){
		.what = what,
		.thread = below(kind->threads),
		.session = one_in(5),
		.how = below(6),
		.count = 1 + below(one_in(4) ? ROOM : 3),
		.id = one_in(8) ? 25 + below(3) : below(25),
		.delay = some_time(kind),
		.period = one_in(6) ? 1 + some_time(kind) : 0,
		.flags = below(3) ? 0 : TWHEEL_START_ABS,
	};
	if (one_in(40))
		step->flags |= 2U << below(31);
	if (one_in(60))
		step->reserved = 1U << below(32);
	if (one_in(80))
		step->delay |= 1ULL << 63;
	if (kind->bad && host_has_device() && one_in(8))
		step->place = below(NR_PLACES);
	else
		step->place = one_in(3) ? PLACE_END : PLACE_STACK;
	if (kind->refusals && one_in(3))
		step->refused = 1 + below(4);
	if (kind->turns)
		step->turn = 1 + below(3);
	/* A sleep in real time is short. */
	if (what == STEP_SLEEP && !kind->virtual)
		step->delay = step->delay % (2 * MS);
}

/* Add the operations of a batch to a plan. */
static void make_batch(struct plan *plan, struct step *batch)
{
	unsigned int i;

	batch->count = 1 + below(one_in(3) ? OPS : 5);
	for (i = 0; i < batch->count && plan->nr < STEPS; i++) {
		struct step *step = &plan->steps[plan->nr++];

		make_step(step, plan->kind, one_in(4) ? STEP_STOP : STEP_START);
		step->thread = batch->thread;
		step->session = batch->session;
		step->part = true;
	}
}

void plan_make(struct plan *plan, const struct kind *kind, u64 seed, const u8 *bytes, size_t size)
{
	unsigned int i, steps;

	memset(plan, 0, sizeof(*plan));
	state = seed * 0x9e3779b97f4a7c15ULL | 1;
	input = bytes;
	left = size;
	plan->kind = kind;
	plan->seed = seed;
	for (i = 0; i < SESSIONS; i++)
		plan->setups[i] = some_setup(kind);
	steps = bytes ? STEPS : 20 + below(STEPS - 20);
	while (plan->nr < steps && (!bytes || left)) {
		struct step *step = &plan->steps[plan->nr++];

		make_step(step, kind, some_step(kind));
		if (step->what == STEP_SUBMIT || step->what == STEP_BATCH)
			make_batch(plan, step);
	}
}
