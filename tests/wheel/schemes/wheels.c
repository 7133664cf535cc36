// SPDX-License-Identifier: GPL-2.0
/*
 * The module's own schemes, as the tests see them
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "schemes.h"
#include "../../../twheel_info.h"

static void wheel_destroy(struct twheel_test_scheme *t)
{
	kvfree(t->s.slots);
	bitmap_free(t->s.occupied);
	kvfree(t);
}

static struct twheel_test_scheme *
wheel_create(const struct twheel_test_scheme_ops *ops,
	     u64 clock, u32 slots)
{
	struct twheel_test_scheme *t = kvzalloc(sizeof(*t), GFP_KERNEL);
	enum twheel_scheme_type type = 0;

	if (!t)
		return NULL;
	while (strcmp(twheel_scheme_info(type)->name, ops->name))
		type++;
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

static void wheel_start(struct twheel_test_scheme *t, struct twheel_node *node)
{
	twheel_scheme_start(&t->s, node);
}

/* Move a node. Out of line, as in the module, so that a refresh need not save registers. */
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

/* Pop a node like expire_tick(): most nodes by twheel_scheme_due(), one per turn by a full pop. */
static struct twheel_node *wheel_pop(struct twheel_test_scheme *t, u64 target,
				     int *work)
{
	struct twheel_slot *slot = twheel_scheme_due_slot(&t->s);
	struct twheel_node *node = NULL;

	if (t->turn && *work > 0)
		node = twheel_scheme_due(&t->s, slot);
	if (node) {
		t->turn--;
		return node;
	}
	node = twheel_scheme_pop(&t->s, target, work);
	t->turn = node ? twheel_scheme_turn(&t->s, 64) - 1 : 0;
	return node;
}

static u64 wheel_next(struct twheel_test_scheme *t)
{
	return twheel_scheme_next(&t->s);
}

#define WHEEL(scheme)							\
	static struct twheel_test_scheme *				\
	scheme ## _create(u64 clock, u32 slots, u32 capacity);		\
									\
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
	};								\
									\
	static struct twheel_test_scheme *				\
	scheme ## _create(u64 clock, u32 slots, u32 capacity)		\
	{								\
		return wheel_create(&twheel_test_ ## scheme, clock,	\
				    slots);				\
	}
#include "wheels.h"
