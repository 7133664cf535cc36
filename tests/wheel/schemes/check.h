/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A scheme with the oracle beside it, and random use of both
 */
#ifndef _TWHEEL_TEST_CHECK_H
#define _TWHEEL_TEST_CHECK_H

#include "oracle.h"
#include "rng.h"
#include "schemes.h"

/* Number of consecutive calls of pop that may use up their work without returning a node. */
#define TWHEEL_CHECK_PAUSES	20000

/*
 * Limit of the wake-ups of a hierarchical wheel with one timer, which is due within 2^32
 * ticks: one for each level, and one for a refresh.
 */
#define TWHEEL_CHECK_WAKEUPS	4

/*
 * The maximum number of nodes of a level that are moved together, ahead of
 * their ticks.
 */
#define TWHEEL_CHECK_MOVED_TOGETHER	32

/**
 * struct twheel_check_timer - a node and what the oracle knows of it
 * @node: the node
 * @entry: the oracle's entry
 */
struct twheel_check_timer {
	struct twheel_node node;
	struct twheel_oracle_entry entry;
};

/**
 * struct twheel_check - a scheme with the oracle beside it
 * @t: the scheme
 * @o: the oracle
 * @timers: the nodes
 * @nr: number of @timers
 * @ops: operations done so far
 * @popped: number of expiries so far
 * @last: number of the last expired timer
 * @pauses: number of consecutive calls of pop that used up their work without returning a node
 * @wakeups: number of wake-ups of the scheme since the last operation on its only timer
 * @armed: next wake-up of a tickless wheel, as a tick
 * @error: the first failure, in words, or NULL
 * @at: tick of the failure
 * @id: number of the affected timer, or @nr
 */
struct twheel_check {
	struct twheel_test_scheme *t;
	struct twheel_oracle o;
	struct twheel_check_timer *timers;
	u32 nr;
	u64 ops;
	u64 popped;
	u32 last;
	u32 pauses;
	u32 wakeups;
	u64 armed;
	const char *error;
	u64 at;
	u32 id;
};

struct twheel_check *
twheel_check_create(const struct twheel_test_scheme_ops *ops, u64 clock,
		    u32 slots, u32 nr);
void twheel_check_destroy(struct twheel_check *c);
u64 twheel_check_clock(const struct twheel_check *c);
bool twheel_check_pending(const struct twheel_check *c, u32 id);
void twheel_check_set(struct twheel_check *c, u32 id, u64 expires);
void twheel_check_store(struct twheel_check *c, u32 id, u64 expires);
void twheel_check_stop(struct twheel_check *c, u32 id);
bool twheel_check_pop(struct twheel_check *c, u64 target, int *work);
void twheel_check_sleep(struct twheel_check *c, int most);
u32 twheel_check_advance(struct twheel_check *c, u64 target);
u32 twheel_check_slot_of(const struct twheel_check *c, u32 id);
void twheel_check_slots(struct twheel_check *c);

/* Gives a node a later tick of the oracle, or returns false. NULL before twheel_check_create(). */
extern bool (*twheel_test_ask)(struct twheel_node *node);

/*
 * Random use.
 */

/**
 * struct twheel_profile - a way of using a scheme
 * @name: its name
 * @timers: number of timers
 * @slots: number of slots, for schemes that let the caller choose
 * @starts: how far ahead timers are started, as a set of enum ticks of random.c
 * @steps: how far the clock moves in a step, as such a set
 * @ops: average number of operations between two moves of the clock
 * @end: begin in the last 2^@end ticks before U64_MAX, or anywhere if 0
 */
struct twheel_profile {
	const char *name;
	u32 timers;
	u32 slots;
	u32 starts;
	u32 steps;
	u32 ops;
	u32 end;
};

extern const struct twheel_profile twheel_profiles[];
extern const u32 twheel_nr_profiles;

struct twheel_check *
twheel_check_random(const struct twheel_test_scheme_ops *ops, const struct twheel_profile *profile,
		    struct twheel_rng *rng, u64 nr_ops);

#endif /* _TWHEEL_TEST_CHECK_H */
