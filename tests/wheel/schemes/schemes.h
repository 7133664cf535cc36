/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The seven schemes of Varghese and Lauck behind one interface
 *
 * Schemes 1 to 5 are there to compare a wheel with. They exist only here, in the simplest
 * form that the paper describes.
 *
 *   scheme  name           structure                   start    per tick
 *   1       list           unsorted list               O(1)     O(n)
 *   2       sorted_list    list sorted by tick         O(n)     O(1)
 *   3       heap           binary heap                 O(log n) O(1)
 *   4       plain          wheel, list for the rest    O(1)     O(1)
 *   5       hashed_sorted  hashed wheel, sorted slots  O(n)     O(1)
 *   6       hashed         hashed wheel                O(1)     O(n / slots)
 *   7       hier           hierarchical wheel          O(1)     O(1)
 *
 * Schemes 6 and 7 are the sources of the module itself, see wheels.h. All schemes follow the
 * contract of twheel_scheme.h. But schemes 1 to 5 do not work in small portions: their pop never
 * uses up its work, and always finishes its ticks.
 *
 * Compiles in the kernel, and in user space with tests/wheel/shims/native.
 */
#ifndef _TWHEEL_TEST_SCHEMES_H
#define _TWHEEL_TEST_SCHEMES_H

/*
 * Nodes of tests are not part of a timer, so there is no owner to ask for a later deadline. Suites
 * include corrupted.h first, which defines the macro so that wheels ask the oracle.
 */
#ifndef TWHEEL_SLOT_ASK
#define TWHEEL_SLOT_ASK(node)	((void)(node), false)
#endif

#include "../../../twheel_scheme.h"

struct twheel_test_scheme;

/**
 * struct twheel_test_scheme_ops - a scheme
 * @name: its name in tests and in benchmarks
 * @create: make an empty scheme whose clock is @clock, with room for at least @capacity
 *	nodes. @slots is the number of slots, a power of two, for schemes that let the
 *	caller choose. Returns NULL if there is no memory
 * @destroy: free the scheme, and forget nodes that are still pending
 * @start: start a node, like twheel_scheme_start()
 * @restart: move a node, like twheel_scheme_refresh() or twheel_scheme_restart()
 * @stop: stop a node, like twheel_scheme_stop()
 * @pop: take out the next due node, like twheel_scheme_pop()
 * @next: next tick with something to do, like twheel_scheme_next()
 * @wheel: flag of the module's own schemes: @pop counts its work, and @s of
 *	struct twheel_test_scheme is complete
 * @collect: move the nodes of the tick at the clock to @due, for twheel_test_pop()
 */
struct twheel_test_scheme_ops {
	const char *name;
	struct twheel_test_scheme *(*create)(u64 clock, u32 slots,
					     u32 capacity);
	void (*destroy)(struct twheel_test_scheme *t);
	void (*start)(struct twheel_test_scheme *t, struct twheel_node *node);
	void (*restart)(struct twheel_test_scheme *t, struct twheel_node *node,
			u64 expires);
	void (*stop)(struct twheel_test_scheme *t, struct twheel_node *node);
	struct twheel_node *(*pop)(struct twheel_test_scheme *t, u64 target,
				   int *work);
	u64 (*next)(struct twheel_test_scheme *t);
	bool wheel;
	void (*collect)(struct twheel_test_scheme *t);
};

/**
 * struct twheel_test_scheme - timers kept by one scheme
 * @ops: the scheme
 * @s: the wheel. Other schemes use only its clock and number of pending nodes
 * @turn: in wheels, number of nodes to take with twheel_scheme_due() before the next full pop
 * @due: in other schemes, nodes that are due at the clock and not popped yet
 */
struct twheel_test_scheme {
	const struct twheel_test_scheme_ops *ops;
	struct twheel_scheme s;
	int turn;
	struct list_head due;
};

enum twheel_test_scheme_nr {
	TWHEEL_TEST_LIST,
	TWHEEL_TEST_SORTED_LIST,
	TWHEEL_TEST_HEAP,
	TWHEEL_TEST_PLAIN,
	TWHEEL_TEST_HASHED_SORTED,
	TWHEEL_TEST_WHEELS,
	TWHEEL_TEST_NR_SCHEMES = TWHEEL_TEST_WHEELS + TWHEEL_NR_SCHEMES,
};

extern const struct twheel_test_scheme_ops twheel_test_sorted_list;
extern const struct twheel_test_scheme_ops twheel_test_heap;
extern const struct twheel_test_scheme_ops twheel_test_plain;
extern const struct twheel_test_scheme_ops twheel_test_hashed_sorted;
extern const struct twheel_test_scheme_ops
#define WHEEL(scheme)	twheel_test_ ## scheme,
#include "wheels.h"
	twheel_test_list;

/* All schemes, in the order of enum twheel_test_scheme_nr. */
extern const struct twheel_test_scheme_ops * const
twheel_test_schemes[TWHEEL_TEST_NR_SCHEMES];

/*
 * Functions that schemes 1 to 5 share.
 */

/* Returns the tick at which a node expires if it is started now. */
static inline u64 twheel_test_due_tick(const struct twheel_test_scheme *t,
				       u64 expires)
{
	return expires > t->s.clock ? expires : t->s.clock + 1;
}

/* Remove a node from a list of the scheme, so that it is not pending any longer. */
static inline void twheel_test_unlink(struct twheel_node *node)
{
	list_del(&node->link);
	node->link.next = NULL;
}

void twheel_test_init(struct twheel_test_scheme *t,
		      const struct twheel_test_scheme_ops *ops, u64 clock);
struct twheel_node *twheel_test_pop(struct twheel_test_scheme *t, u64 target, int *work);

#endif /* _TWHEEL_TEST_SCHEMES_H */
