// SPDX-License-Identifier: GPL-2.0
/*
 * Schemes 6 and 7, the module's own, as the tests see them
 */
#include <linux/slab.h>

#include "schemes.h"

static void wheel_destroy(struct twheel_test_scheme *t)
{
	kvfree(t->s.slots);
	bitmap_free(t->s.occupied);
	kvfree(t);
}

static struct twheel_test_scheme *
wheel_create(const struct twheel_test_scheme_ops *ops,
	     enum twheel_scheme_type type, u64 clock, u32 slots)
{
	struct twheel_test_scheme *t = kvzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	slots = twheel_scheme_slots(type, slots);
	t->ops = ops;
	t->s.slots = kvcalloc(slots, sizeof(*t->s.slots), GFP_KERNEL);
	t->s.occupied = bitmap_zalloc(slots, GFP_KERNEL);
	if (!t->s.slots || !t->s.occupied) {
		wheel_destroy(t);
		return NULL;
	}
	twheel_scheme_init(&t->s, type, t->s.slots, t->s.occupied, slots,
			   clock);
	return t;
}

static struct twheel_test_scheme *hier_create(u64 clock, u32 slots,
					      u32 capacity)
{
	return wheel_create(&twheel_test_hier, TWHEEL_HIER, clock, slots);
}

static struct twheel_test_scheme *hashed_create(u64 clock, u32 slots,
						u32 capacity)
{
	return wheel_create(&twheel_test_hashed, TWHEEL_HASHED, clock, slots);
}

static void wheel_start(struct twheel_test_scheme *t, struct twheel_node *node)
{
	twheel_scheme_start(&t->s, node);
}

/* Out of line, as in the module: the refresh saves no registers for it. */
static noinline void wheel_move(struct twheel_test_scheme *t,
				struct twheel_node *node, u64 expires)
{
	twheel_scheme_restart(&t->s, node, expires);
}

static void wheel_restart(struct twheel_test_scheme *t,
			  struct twheel_node *node, u64 expires)
{
	if (!twheel_scheme_refresh(&t->s, node, expires))
		wheel_move(t, node, expires);
}

static void wheel_stop(struct twheel_test_scheme *t, struct twheel_node *node)
{
	twheel_scheme_stop(&t->s, node);
}

/* Half of the calls try the shorter way first. */
static struct twheel_node *wheel_pop(struct twheel_test_scheme *t, u64 target,
				     int *work)
{
	struct twheel_slot *slot = twheel_scheme_due_slot(&t->s);
	struct twheel_node *node = NULL;
	u64 moved = t->s.cascaded;

	if (t->s.pending % 2 && *work > 0 &&
	    !twheel_scheme_due(&t->s, slot, twheel_scheme_moves(&t->s), &node))
		node = NULL;
	*work -= t->s.cascaded - moved;
	return node ?: twheel_scheme_pop(&t->s, target, work);
}

static u64 wheel_next(struct twheel_test_scheme *t)
{
	return twheel_scheme_next(&t->s);
}

#define DEFINE_WHEEL(scheme)						\
	const struct twheel_test_scheme_ops twheel_test_ ## scheme = {	\
		.name = #scheme,					\
		.create = scheme ## _create,				\
		.destroy = wheel_destroy,				\
		.start = wheel_start,					\
		.restart = wheel_restart,				\
		.stop = wheel_stop,					\
		.pop = wheel_pop,					\
		.next = wheel_next,					\
		.wheel = true,						\
	}

DEFINE_WHEEL(hier);
DEFINE_WHEEL(hashed);
