// SPDX-License-Identifier: GPL-2.0
/*
 * A scheme with the oracle beside it
 *
 * Every operation is done on the scheme and on the oracle. Then everything that a caller can see
 * is compared: the expired nodes, the number of pending nodes, the clock, the next tick, and the
 * fields of the nodes. The slots of a wheel are checked, too.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "check.h"

/* Value of @offset_ns of each node, which a scheme must not change. */
#define CHECK_SLACK	0x5eed

static void check_fail(struct twheel_check *c, u32 id, const char *error)
{
	if (c->error || !error)
		return;
	c->error = error;
	c->at = c->t->s.clock;
	c->id = id;
}

/* The last scheme, whose nodes ask_oracle() knows. */
static const struct twheel_check *asked;

/* Answer a wheel that asks for the tick of a node. Returns whether the oracle has a later tick. */
static bool ask_oracle(struct twheel_node *node)
{
	const struct twheel_check_timer *timer =
		container_of(node, struct twheel_check_timer, node);

	if (!asked || timer < asked->timers || timer >= asked->timers + asked->nr ||
	    node->expires >= timer->entry.expires)
		return false;
	node->expires = timer->entry.expires;
	node->hint |= TWHEEL_SLOT_MAY_STAY;
	return true;
}

/**
 * twheel_check_create - make a scheme with the oracle beside it
 * @ops: the scheme
 * @clock: the tick to begin after
 * @slots: number of slots, for schemes that let the caller choose
 * @nr: number of timers
 *
 * Return: the scheme with its oracle, or NULL if there is no memory.
 */
struct twheel_check *
twheel_check_create(const struct twheel_test_scheme_ops *ops, u64 clock,
		    u32 slots, u32 nr)
{
	struct twheel_check *c = kvzalloc(sizeof(*c), GFP_KERNEL);
	u32 i;

	if (!c)
		return NULL;
	c->t = ops->create(clock, slots, nr);
	c->timers = kvcalloc(nr, sizeof(*c->timers), GFP_KERNEL);
	if (!c->t || !c->timers) {
		twheel_check_destroy(c);
		return NULL;
	}
	twheel_test_ask = ask_oracle;
	asked = c;
	twheel_oracle_init(&c->o, clock);
	c->nr = nr;
	c->id = nr;
	c->armed = U64_MAX;
	for (i = 0; i < nr; i++) {
		c->timers[i].node.offset_ns = CHECK_SLACK;
		twheel_oracle_entry_init(&c->timers[i].entry);
	}
	return c;
}

/* Free the scheme and the oracle. @c may be NULL. */
void twheel_check_destroy(struct twheel_check *c)
{
	if (!c)
		return;
	if (asked == c)
		asked = NULL;
	if (c->t)
		c->t->ops->destroy(c->t);
	kvfree(c->timers);
	kvfree(c);
}

/* Returns the last tick whose processing began. */
u64 twheel_check_clock(const struct twheel_check *c)
{
	return c->t->s.clock;
}

bool twheel_check_pending(const struct twheel_check *c, u32 id)
{
	return twheel_oracle_pending(&c->timers[id].entry);
}

/*
 * Returns the tick until which a tickless wheel may sleep. For a hashed wheel it is that of the
 * first timer, because its next tick may only be where its search for a timer gave up.
 */
static u64 sleep_until(const struct twheel_check *c, u64 next)
{
	if (c->t->s.clock == U64_MAX)
		return U64_MAX;
	return c->t->s.type == TWHEEL_HIER ? next : twheel_oracle_first(&c->o);
}

/*
 * Compare the scheme with the oracle after an operation. @id: the timer of the operation, or
 * @c->nr if the operation had none.
 */
static void check_state(struct twheel_check *c, u32 id)
{
	struct twheel_check_timer *timer = &c->timers[id];
	u64 next = c->t->ops->next(c->t);

	check_fail(c, id, c->o.error);
	if (c->t->s.pending != c->o.pending)
		check_fail(c, id, "wrong number pending");
	if (!c->o.pending && c->o.done && next != U64_MAX)
		check_fail(c, id, "a next tick, but nothing is pending");
	if (next > twheel_oracle_first(&c->o) && c->t->s.clock != U64_MAX)
		check_fail(c, id, "the next tick is later than the truth");
	if (c->t->ops->wheel && c->armed > sleep_until(c, next))
		check_fail(c, id, "a tickless wheel would wake up too late");
	if (id == c->nr)
		return;
	if (twheel_oracle_pending(&timer->entry) == !timer->node.link.next)
		check_fail(c, id, "pending for one, but not for the other");
	/* A wheel that has not asked yet may have an earlier tick. */
	if (twheel_oracle_pending(&timer->entry) &&
	    (c->t->ops->wheel ? timer->node.expires > timer->entry.expires :
				timer->node.expires != timer->entry.expires))
		check_fail(c, id, "the node's tick was changed");
	if (timer->node.offset_ns != CHECK_SLACK)
		check_fail(c, id, "the owner's field was changed");
}

/* Returns whether a restart may have moved a node. @link: its link before the restart. */
static bool was_moved(const struct twheel_node *node,
		      const struct list_head *link)
{
	return node->link.next != link->next || node->link.prev != link->prev;
}

/* Note the next wake-up after @node joined a slot: a sleeping wheel may have to wake up earlier. */
static void check_arm(struct twheel_check *c, const struct twheel_node *node)
{
	if (c->t->ops->wheel &&
	    twheel_scheme_next_for(&c->t->s, node) < c->armed)
		c->armed = c->t->ops->next(c->t);
}

/* Start timer @id, or restart it if it is pending. */
void twheel_check_set(struct twheel_check *c, u32 id, u64 expires)
{
	struct twheel_check_timer *timer = &c->timers[id];
	struct list_head link = timer->node.link;
	u64 before = timer->node.expires;
	bool waits = c->t->ops->wheel &&
		     twheel_scheme_can_wait(&c->t->s, expires, c->armed);

	/*
	 * Stop the timer first, because no order is promised for a start between the deadline that
	 * the wheel knows and a later one that is stored.
	 */
	if (before < timer->entry.expires && expires < timer->entry.expires)
		twheel_check_stop(c, id);
	c->wakeups = 0;
	if (twheel_oracle_pending(&timer->entry)) {
		twheel_oracle_restart(&c->o, &timer->entry, expires);
		c->t->ops->restart(c->t, &timer->node, expires);
		if (expires < before || was_moved(&timer->node, &link))
			check_arm(c, &timer->node);
	} else {
		twheel_oracle_start(&c->o, &timer->entry, expires);
		timer->node.expires = expires;
		c->t->ops->start(c->t, &timer->node);
		if (!waits)
			check_arm(c, &timer->node);
	}
	c->ops++;
	check_state(c, id);
}

/* Give timer @id, if it is pending, a later tick that only the oracle knows: a wheel has to ask. */
void twheel_check_store(struct twheel_check *c, u32 id, u64 expires)
{
	struct twheel_check_timer *timer = &c->timers[id];

	if (!c->t->ops->wheel)
		twheel_check_set(c, id, expires);
	else if (twheel_oracle_pending(&timer->entry) && expires > timer->entry.expires)
		twheel_oracle_restart(&c->o, &timer->entry, expires);
	c->wakeups = 0;
	c->ops++;
}

/* Stop timer @id if it is pending. */
void twheel_check_stop(struct twheel_check *c, u32 id)
{
	struct twheel_check_timer *timer = &c->timers[id];

	if (!twheel_oracle_pending(&timer->entry))
		return;
	c->wakeups = 0;
	twheel_oracle_stop(&c->o, &timer->entry);
	c->t->ops->stop(c->t, &timer->node);
	c->ops++;
	check_state(c, id);
}

/* The state before a call of pop. */
struct twheel_check_before {
	u64 clock;
	u64 next;
	u64 cascaded;
	int work;
};

/* Check a pop that returned no node: the scheme finished @target, or used up its work. */
static void check_nothing(struct twheel_check *c, u64 target, int work)
{
	u64 clock = c->t->s.clock;

	if (work <= 0) {
		twheel_oracle_paused(&c->o, clock);
		return;
	}
	twheel_oracle_finished(&c->o, clock);
	if (clock != target)
		check_fail(c, c->nr, "finished at another tick");
	if (c->t->ops->next(c->t) <= clock && clock != U64_MAX)
		check_fail(c, c->nr, "finished, but the next tick is not later");
}

/*
 * Check that a pop did not move more than it was allowed to, and counted its
 * moves. If it did anything without moving the clock, the tick of the clock had
 * to be the next tick before.
 */
static void check_conduct(struct twheel_check *c, bool popped,
			  const struct twheel_check_before *before, int work)
{
	u64 moved = c->t->s.cascaded - before->cascaded;

	if (work > before->work || (s64)moved > before->work ||
	    (s64)moved > before->work - work)
		check_fail(c, c->nr, "moved more than it was allowed to");
	if ((popped || moved) && c->t->s.clock == before->clock &&
	    before->next > before->clock)
		check_fail(c, c->nr, "the tick was not finished, but not the next");
}

/* Check that a tickless wheel wakes up at most TWHEEL_CHECK_WAKEUPS times for a single timer. */
static void check_wakeups(struct twheel_check *c, u64 next)
{
	u64 clock = c->t->s.clock;

	if (c->t->s.type != TWHEEL_HIER || c->o.pending != 1 || clock != next ||
	    (twheel_oracle_first(&c->o) - clock) >> 32)
		return;
	if (++c->wakeups > TWHEEL_CHECK_WAKEUPS)
		check_fail(c, c->nr, "wakes up too often for one timer");
}

static void check_popped(struct twheel_check *c, u32 id)
{
	twheel_oracle_popped(&c->o, &c->timers[id].entry, c->t->s.clock);
	c->last = id;
	c->wakeups = 0;
	c->popped++;
}

/**
 * twheel_check_pop - move the clock on and take out the next due timer
 * @c: the scheme and the oracle
 * @target: the tick to move to
 * @work: limit of the work, see twheel_scheme_pop()
 *
 * Return: true if another call is needed to finish @target. Always false after
 * an error.
 */
bool twheel_check_pop(struct twheel_check *c, u64 target, int *work)
{
	const struct twheel_check_before before = {
		.clock = c->t->s.clock,
		.next = c->t->ops->next(c->t),
		.cascaded = c->t->s.cascaded,
		.work = *work,
	};
	struct twheel_node *node = c->t->ops->pop(c->t, target, work);
	u32 id = c->nr;

	if (node) {
		id = container_of(node, struct twheel_check_timer, node) -
		     c->timers;
		check_popped(c, id);
	} else {
		check_nothing(c, target, *work);
		if (*work > 0 && before.next > before.clock)
			check_wakeups(c, before.next);
	}
	if (c->t->s.clock > target)
		check_fail(c, id, "the clock went too far");
	check_conduct(c, node, &before, *work);
	if (node || *work > 0)
		c->pauses = 0;
	else if (++c->pauses > TWHEEL_CHECK_PAUSES)
		check_fail(c, id, "does not get on");
	c->ops++;
	c->armed = c->t->ops->next(c->t);
	check_state(c, id);
	return (node || *work <= 0) && !c->error;
}

/*
 * Check the tick until which a wheel would sleep, after it moved up to @most refreshed nodes. A
 * hierarchical wheel that moved fewer nodes must name a tick at which a timer is due, unless its
 * levels have something to do before that.
 */
void twheel_check_sleep(struct twheel_check *c, int most)
{
	struct twheel_scheme *s = &c->t->s;
	u64 moved = s->cascaded, due = twheel_oracle_first(&c->o), next;

	if (!c->t->ops->wheel)
		return;
	next = twheel_scheme_next_due(s, most);
	moved = s->cascaded - moved;
	if (moved > most)
		check_fail(c, c->nr, "moved more before sleeping than it was allowed to");
	if (next > due && s->clock != U64_MAX)
		check_fail(c, c->nr, "sleeps past a timer");
	if (s->type == TWHEEL_HIER && moved < most && next != due &&
	    next > s->clock && next < s->recheck)
		check_fail(c, c->nr, "wakes up for a timer that is due later");
	c->ops++;
	c->armed = next;
	check_state(c, c->nr);
}

/* Move the clock to @target, and take out every due timer. Returns the number of these timers. */
u32 twheel_check_advance(struct twheel_check *c, u64 target)
{
	u64 popped = c->popped;
	int work;

	do {
		work = 1000;
	} while (twheel_check_pop(c, target, &work));
	return c->popped - popped;
}

static const char *check_slot(const struct twheel_scheme *s, u32 nr,
			      u64 *nodes)
{
	const struct twheel_slot *slot = &s->slots[nr];
	struct twheel_node *node;
	bool bit = test_bit(nr, s->occupied);
	u32 count = 0;

	list_for_each_entry(node, &slot->nodes, link) {
		if (node->link.next->prev != &node->link)
			return "a slot's list is broken";
		count++;
	}
	*nodes += count;
	if (count > slot->count || !count != !slot->count)
		return "a slot's count is wrong";
	if (bit != !!count)
		return "a slot's bit is wrong";
	return NULL;
}

/*
 * Check that the wheel will look at a level again early enough to move one node in a tick. It may
 * look later if it then moves the shares of several ticks together: few nodes, and the shares of
 * at most half of the ticks that are left.
 */
static void check_level(struct twheel_check *c, u32 level)
{
	const struct twheel_scheme *s = &c->t->s;
	u32 shift = level * TWHEEL_HIER_BITS;
	u64 next = (s->clock >> shift) + 1;
	u32 nr = level * TWHEEL_HIER_RING + (next & TWHEEL_HIER_MASK);
	u64 left = (next << shift) - s->clock, ahead = s->recheck - s->clock;
	const struct list_head *pos;
	u64 count = 0, share;

	/* This tick has not come to the level yet, or the next tick looks at it anyway. */
	if (s->level > level || ahead <= 1)
		return;
	list_for_each(pos, &s->slots[nr].nodes)
		count++;
	if (s->level == level)
		count -= min_t(u64, count, s->quota);
	if (!count || (ahead < left && count <= left - ahead))
		return;
	if (ahead > left / 2) {
		check_fail(c, c->nr, "a level is looked at too late");
		return;
	}
	/*
	 * The share of the next tick. It may be too high by two, because one or two ticks
	 * fewer are left after nodes of several ticks moved together.
	 */
	share = div64_u64(count, left - ahead);
	if (ahead * (max_t(u64, share, 3) - 2) > TWHEEL_CHECK_MOVED_TOGETHER)
		check_fail(c, c->nr, "too much is moved at once");
}

/* Check @levels and @recheck, which save the wheel from looking at all levels at each tick. */
static void check_levels(struct twheel_check *c)
{
	const struct twheel_scheme *s = &c->t->s;
	u64 window = s->clock | (TWHEEL_HIER_WINDOW - 1);
	u32 level, nr;

	for (nr = 0; nr < s->nr_slots; nr += TWHEEL_HIER_RING)
		if (!(s->levels & BIT(nr / TWHEEL_HIER_RING)) &&
		    find_next_bit(s->occupied, nr + TWHEEL_HIER_RING, nr) <
		    nr + TWHEEL_HIER_RING)
			check_fail(c, c->nr, "the bit of a level is wrong");
	for (level = 1; level < TWHEEL_HIER_LEVELS; level++)
		check_level(c, level);
	if (s->recheck > window && s->recheck - 1 > window)
		check_fail(c, c->nr, "the end of a window is passed");
}

/* Returns the number of the slot of a pending timer in a wheel. */
u32 twheel_check_slot_of(const struct twheel_check *c, u32 id)
{
	const struct twheel_scheme *s = &c->t->s;
	const struct list_head *link = c->timers[id].node.link.next;
	const struct twheel_slot *slot;

	for (;; link = link->next) {
		slot = list_entry(link, struct twheel_slot, nodes);
		if (slot >= s->slots && slot < s->slots + s->nr_slots)
			return slot - s->slots;
	}
}

/* Check every slot of a wheel. */
void twheel_check_slots(struct twheel_check *c)
{
	const struct twheel_scheme *s = &c->t->s;
	u64 count = 0;
	u32 nr;

	if (!c->t->ops->wheel)
		return;
	for (nr = 0; nr < s->nr_slots; nr++)
		check_fail(c, c->nr, check_slot(s, nr, &count));
	if (count != s->pending)
		check_fail(c, c->nr, "the slots do not add up");
	if (s->type == TWHEEL_HIER)
		check_levels(c);
}
