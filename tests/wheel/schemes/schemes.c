// SPDX-License-Identifier: GPL-2.0
/*
 * The table of all schemes, and what schemes 1 to 5 share
 *
 * Schemes 1 to 5 process a tick in two steps. First they move the due nodes to a separate list, in
 * the order in which the nodes have to expire. Then they pop the nodes from there. So a node that
 * is started late, in the middle of a tick, cannot be mistaken for a node of this tick.
 */
#include "schemes.h"

const struct twheel_test_scheme_ops * const
twheel_test_schemes[TWHEEL_TEST_NR_SCHEMES] = {
	[TWHEEL_TEST_LIST] = &twheel_test_list,
	[TWHEEL_TEST_SORTED_LIST] = &twheel_test_sorted_list,
	[TWHEEL_TEST_HEAP] = &twheel_test_heap,
	[TWHEEL_TEST_PLAIN] = &twheel_test_plain,
	[TWHEEL_TEST_HASHED_SORTED] = &twheel_test_hashed_sorted,
#define WHEEL(scheme)	&twheel_test_ ## scheme,
#include "wheels.h"
};

/* Initialise a scheme without pending nodes, whose first tick is @clock + 1. */
void twheel_test_init(struct twheel_test_scheme *t,
		      const struct twheel_test_scheme_ops *ops, u64 clock)
{
	t->ops = ops;
	t->s.clock = clock;
	t->s.pending = 0;
	INIT_LIST_HEAD(&t->due);
}

/* Move the clock on to the next tick with something to do. Returns whether it moved. */
static bool step(struct twheel_test_scheme *t, u64 target)
{
	u64 clock = t->s.clock;

	if (clock >= target)
		return false;
	if (target - clock > 1)
		t->s.clock = min(target, t->ops->next(t));
	else
		t->s.clock = target;
	return true;
}

/* Pop a node like twheel_scheme_pop(), for schemes that always finish their ticks. */
struct twheel_node *twheel_test_pop(struct twheel_test_scheme *t, u64 target, int *work)
{
	struct twheel_node *node;

	while (list_empty(&t->due) && step(t, target))
		t->ops->collect(t);
	node = list_first_entry_or_null(&t->due, struct twheel_node, link);
	if (node) {
		twheel_test_unlink(node);
		t->s.pending--;
	}
	return node;
}
