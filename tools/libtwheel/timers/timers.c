// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Timers in the program's own structures: <twheel_timer.h> on the hierarchical wheel
 *
 * twheel_hier.c moves the timers. This file decides when the program has to call. A
 * wake-up of a program costs as much as two hundred moves. So the wheel wakes it up for
 * due timers, and not to move others:
 *
 *  - A timer of level 0 moves at once if a push makes its tick later, so all timers of a
 *    slot of level 0 are due at its tick.
 *  - In a slot of an outer level, twheel_timers_next() searches for the earliest timer.
 *    The slot is moved down when that timer is due, although it begins earlier. A slot of
 *    more than TWHEEL_TIMERS_MOVES timers is not searched, but moved down in parts before
 *    it begins.
 *
 * TWHEEL_SLOT_MAY_STAY is set only in pending timers of an outer level. So one bit tells
 * twheel_timer_push() that a store is enough for a later tick.
 */

/* Most ticks that the clock may lag behind, or starts would use outer levels. */
#define LAG_MAX			(TWHEEL_HIER_WINDOW / 2)

/* Last tick. Timers due after it never expire. */
#define TICK_MAX		(TWHEEL_TIMERS_NEVER - 1)

/**
 * struct twheel_timers - a wheel
 * @scheme: timers of the wheel
 * @next: result of twheel_timers_next(), 0 if unknown. At most @outer
 * @outer: lower bound of the ticks of outer levels, 0 if unknown
 * @occupied: bitmap of @scheme
 * @slots: slots of @scheme
 */
struct twheel_timers {
	struct twheel_scheme scheme;
	u64 next;
	u64 outer;
	unsigned long occupied[BITS_TO_LONGS(TWHEEL_HIER_SLOTS)];
	struct twheel_slot slots[TWHEEL_HIER_SLOTS];
};

/* Initialise a wheel in zeroed memory. */
static struct twheel_timers *set_up(void *memory, u64 now)
{
	struct twheel_timers *w = (struct twheel_timers *)memory;
	u32 i;

	w->scheme.clock = min(now, TICK_MAX);
	w->scheme.nr_slots = TWHEEL_HIER_SLOTS;
	w->scheme.occupied = w->occupied;
	w->scheme.slots = w->slots;
	for (i = 0; i < TWHEEL_HIER_SLOTS; i++)
		INIT_LIST_HEAD(&w->slots[i].nodes);
	twheel_hier_check_levels(&w->scheme);
	return w;
}

struct twheel_timers *twheel_timers_new(uint64_t now)
{
	void *memory = calloc(1, sizeof(struct twheel_timers));

	return memory ? set_up(memory, now) : NULL;
}

struct twheel_timers *twheel_timers_init(void *memory, size_t size, uint64_t now)
{
	if (size < sizeof(struct twheel_timers))
		return NULL;
	return set_up(memset(memory, 0, sizeof(struct twheel_timers)), now);
}

void twheel_timers_free(struct twheel_timers *w)
{
	free(w);
}

/* Unlink a timer from its slot, and forget @next if it depends on the timer. */
static __always_inline void unlink_timer(struct twheel_timers *w, struct twheel_timer *timer)
{
	if (unlikely(timer->expires == w->next))
		w->next = 0;
	twheel_slot_leave(&w->scheme, timer);
}

/* Add a timer to the slot for @expires. */
static __always_inline void place_timer(struct twheel_timers *w, struct twheel_timer *timer,
					u64 expires)
{
	timer->expires = expires;
	if (expires < w->scheme.reach[0]) {
		if (unlikely(expires < w->next))
			w->next = max(expires, w->scheme.clock + 1);
	} else if (unlikely(expires < w->outer)) {
		w->outer = expires;
		w->next = min(w->next, expires);
	}
	twheel_hier_place(&w->scheme, timer, expires);
}

/* Restart a pending timer. Out of line, to keep starts short. */
static noinline void restart_timer(struct twheel_timers *w, struct twheel_timer *timer, u64 expires)
{
	if (timer->hint & TWHEEL_SLOT_MAY_STAY && expires > timer->expires) {
		timer->expires = expires;
	} else if (expires != timer->expires) {
		unlink_timer(w, timer);
		place_timer(w, timer, expires);
	}
}

void twheel_timer_start(struct twheel_timers *w, struct twheel_timer *timer, uint64_t expires)
{
	if (twheel_timer_pending(timer)) {
		restart_timer(w, timer, expires);
		return;
	}
	w->scheme.pending++;
	place_timer(w, timer, expires);
}

bool twheel_timer_stop(struct twheel_timers *w, struct twheel_timer *timer)
{
	if (!twheel_timer_pending(timer))
		return false;
	unlink_timer(w, timer);
	twheel_slot_leave_wheel(&w->scheme, timer);
	timer->hint = 0;
	return true;
}

/* Returns whether there may be work at *@now, which becomes a tick that the clock can have. */
static __always_inline bool has_work(struct twheel_timers *w, uint64_t *now)
{
	if (*now < w->next && *now - w->scheme.clock < LAG_MAX)
		return false;
	w->next = 0;
	/* Before @recheck outer levels neither move timers nor reach the next slot. */
	if (*now >= w->scheme.recheck)
		w->outer = 0;
	*now = min(max(*now, w->scheme.clock), TICK_MAX);
	return true;
}

struct twheel_timer *twheel_timers_expired(struct twheel_timers *w, uint64_t now)
{
	struct twheel_timer *timer;
	int work = TWHEEL_TIMERS_MOVES;

	if (!has_work(w, &now))
		return NULL;
	timer = twheel_hier_pop(&w->scheme, now, &work);
	if (timer)
		timer->hint = 0;
	return timer;
}

unsigned int twheel_timers_advance(struct twheel_timers *w, uint64_t now, unsigned int most)
{
	int work = clamp_t(u32, most, TWHEEL_TIMERS_MOVES, INT32_MAX);
	struct twheel_scheme *s = &w->scheme;
	unsigned int count = 0, end;
	struct twheel_timer *timer;
	struct twheel_slot *slot;

	if (!has_work(w, &now))
		return 0;
	while (count < most && (timer = twheel_hier_pop(s, now, &work))) {
		slot = twheel_hier_due_slot(s);
		/* Alternate moves and expiries while timers have to be moved. */
		end = s->quota ? min(most, count + TWHEEL_HIER_BATCH) : most;
		do {
			timer->hint = 0;
			timer->fn(timer);
		} while (++count < end && (timer = twheel_hier_due(s, slot)));
	}
	return count;
}

/*
 * Move timers away that were pushed beyond the end of the slot. Returns the first tick of
 * the others, or TWHEEL_TIMERS_NEVER.
 */
static u64 first_of_slot(struct twheel_scheme *s, struct twheel_slot *slot, u64 end)
{
	struct twheel_timer_link *head = &slot->nodes, *link = head->next, *next;
	u64 first = TWHEEL_TIMERS_NEVER;
	struct twheel_timer *timer;

	for (; link != head; link = next) {
		next = link->next;
		timer = list_entry(link, struct twheel_timer, link);
		if (timer->expires <= end) {
			first = min(first, timer->expires);
			continue;
		}
		twheel_slot_leave(s, timer);
		twheel_hier_place(s, timer, timer->expires);
		s->cascaded++;
	}
	return first;
}

/*
 * Returns the tick at which an outer level needs a call. Slots that begin at @next or later are
 * not searched: the result is then the first tick of the slot.
 */
static u64 next_of_level(struct twheel_scheme *s, unsigned int level, u64 next, int *work)
{
	unsigned int shift = twheel_hier_shift(level);
	struct twheel_slot *slot;
	u32 distance;
	u64 nr, first;

	while ((distance = next_occupied(s, level))) {
		nr = (s->clock >> shift) + distance;
		if (nr << shift >= next)
			return nr << shift;
		slot = twheel_hier_slot(s, level, nr << shift);
		if (slot->count > (u32)*work)
			return cascade_tick(s, level, nr);
		*work -= slot->count;
		first = first_of_slot(s, slot, ((nr + 1) << shift) - 1);
		if (!list_empty(&slot->nodes))
			return first;
	}
	return TWHEEL_TIMERS_NEVER;
}

uint64_t twheel_timers_next(struct twheel_timers *w)
{
	struct twheel_scheme *s = &w->scheme;
	int work = TWHEEL_TIMERS_MOVES;
	u64 next = TWHEEL_TIMERS_NEVER;
	unsigned int level;
	u32 distance;

	if (!s->pending) {
		w->next = TWHEEL_TIMERS_NEVER;
		w->outer = TWHEEL_TIMERS_NEVER;
	}
	if (w->next)
		return w->next;
	if (s->level || !list_empty(&twheel_hier_due_slot(s)->nodes))
		return s->clock;
	distance = next_occupied(s, 0);
	if (distance)
		next = s->clock + distance;
	/* Slots of level 0 come and go with each push. Search outer levels less often. */
	if (next > w->outer) {
		w->outer = TWHEEL_TIMERS_NEVER;
		for (level = 1; s->levels >> level; level++)
			w->outer = min(w->outer, next_of_level(s, level, next, &work));
	}
	w->next = min(next, w->outer);
	return w->next;
}

uint64_t twheel_timers_count(const struct twheel_timers *w)
{
	return w->scheme.pending;
}

/* Returns the first timer in the slots from @nr on, or NULL. */
static struct twheel_timer *first_from(struct twheel_scheme *s, u32 nr)
{
	nr = find_next_bit(s->occupied, s->nr_slots, nr);
	if (nr >= s->nr_slots)
		return NULL;
	return list_first_entry(&s->slots[nr].nodes, struct twheel_timer, link);
}

struct twheel_timer *twheel_timers_each(struct twheel_timers *w, const struct twheel_timer *timer)
{
	uintptr_t next, slots = (uintptr_t)w->slots;

	if (!timer)
		return first_from(&w->scheme, 0);
	next = (uintptr_t)timer->link.next;
	if (next - slots >= sizeof(w->slots))
		return list_entry(timer->link.next, struct twheel_timer, link);
	/* At the end of a slot, the next link is the head of its list. */
	return first_from(&w->scheme, (next - slots) / sizeof(*w->slots) + 1);
}
