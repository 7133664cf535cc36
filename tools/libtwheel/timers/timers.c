// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Timers in the program's own structures: <twheel_timer.h> on the hierarchical wheel
 *
 * twheel_hier.c moves the timers. This file decides when the program has to call. A
 * wake-up costs as much as two hundred moves. So the wheel wakes the program up for due
 * timers, and not to move others:
 *
 *  - If a push makes the deadline of a timer in level 0 later, the timer moves to another slot
 *    at once. So every timer in a slot of level 0 is due in the tick of the slot.
 *
 *  - In the next occupied slot of each outer level, twheel_timers_next() searches for the
 *    earliest timer. The timers of the slot move down when that timer is due, and not already at
 *    the first tick of the slot. A slot of more than TWHEEL_TIMERS_MOVES timers is not searched:
 *    its timers move down in parts, before the first tick of the slot.
 *
 * TWHEEL_SLOT_MAY_STAY is set only in pending timers of an outer level. So one bit tells
 * twheel_timer_push() that it only has to store a later deadline.
 *
 * Deadlines are exact, in the program's unit of time. A tick of the wheel is 2^shift units. Most
 * timers are stopped or pushed before the clock reaches their tick, and only the others are put
 * in order:
 *
 *  - When the clock reaches a tick, its timers are sorted by insertion, from @unsorted into
 *    @front. They are few, or started in the order of their deadlines.
 *
 *  - If an insertion passes too many timers, the timers of the tick are distributed to a row of
 *    256 lists by the next eight bits of their deadlines. Then one list after the other is
 *    sorted like a tick. A list that is still too long is distributed to the next row.
 *
 * Each step keeps the order of equal deadlines, and can be interrupted after any timer. A stop
 * unlinks a timer from any of these lists.
 */

/*
 * Maximum number of ticks by which the wheel's clock may lag behind. With more, starts would use
 * outer levels.
 */
#define LAG_MAX			(TWHEEL_HIER_WINDOW / 2)

/* Latest time of the clock. TWHEEL_TIMERS_NEVER is in a later tick, so such timers never expire. */
#define NOW_MAX(w)		(TWHEEL_TIMERS_NEVER - (1ULL << twheel_scheme_shift(&(w)->scheme)))

/*
 * Number of timers that the insertions of a sort may pass: PASSES for each timer, and PASSES_FIRST
 * in addition. With more, it is faster to distribute the timers to a row.
 */
#define PASSES			4
#define PASSES_FIRST		128

/* Maximum number of timers to move in a call, so that the number of passes fits into an int. */
#define WORK_MAX		(1 << 28)

/*
 * Maximum number of timers of a list to look at for the earliest one. If there are more, a wake-up
 * at the lower bound of their deadlines costs less than the search.
 */
#define SEARCH_MAX		256

/* Number of lists in a row, as a power of two, and number of rows that divide a tick into units. */
#define ROW_BITS		8
#define ROW			(1U << ROW_BITS)
#define ROWS			DIV_ROUND_UP(TWHEEL_TIMERS_WIDTH_MAX, ROW_BITS)

/**
 * enum list - lists of timers that are not in a slot
 * @FRESH: timers started at a time in the past, for the next call. Otherwise a callback that
 *	starts its timer for the present time would keep one call busy for ever
 * @LATE: timers started at a time in the past, for this call
 * @UNSORTED: timers of the clock's tick, in the order of their starts
 * @FRONT: first timers of the clock's tick, in order, started before the timers of @UNSORTED
 * @FIRST_ROW: first list of the rows, which have the rest of the clock's tick
 */
enum list { FRESH, LATE, UNSORTED, FRONT, FIRST_ROW };

#define NR_LISTS		(FIRST_ROW + ROWS * ROW)

/**
 * struct twheel_timers - a wheel
 * @scheme: timers of the wheel. Its clock may lag behind @now
 * @next: lower bound of the deadlines of timers outside FRESH and LATE, 0 if unknown. At most
 *	@outer
 * @outer: lower bound of the deadlines of outer levels, 0 if unknown
 * @lagging: first tick in which a call moves the clock even if no timer is due
 * @cascade: tick for moving down a slot of an outer level. A call in this tick moves the slot.
 *	Without such a call the program wakes up at the end of the tick, which is @outer then
 * @now: latest time at which timers may have expired
 * @near: last deadline in the tick of @now
 * @soon: deadlines before it belong in level 0, or are not after @near
 * @late: @now when the first timer of LATE was started. Timers due by then expire first
 * @front_end: last deadline of FRONT
 * @row_ends: last deadline of each row in use
 * @rows: number of rows in use, each of which refines one list of the row before
 * @in_round: true if the last call of twheel_timers_expired() returned a timer, and not NULL
 * @used: bitmap of initialised @lists
 * @lists: see enum list
 * @occupied: bitmap of @scheme
 * @slots: slots of @scheme
 */
struct twheel_timers {
	struct twheel_scheme scheme;
	u64 next;
	u64 outer;
	u64 lagging;
	u64 cascade;
	u64 now;
	u64 near;
	u64 soon;
	u64 late;
	u64 front_end;
	u64 row_ends[ROWS];
	u32 rows;
	bool in_round;
	unsigned long used[BITS_TO_LONGS(NR_LISTS)];
	struct list_head lists[NR_LISTS];
	unsigned long occupied[BITS_TO_LONGS(TWHEEL_HIER_SLOTS)];
	struct twheel_slot slots[TWHEEL_HIER_SLOTS];
};

/* Returns the last deadline in the tick of @time. */
static __always_inline u64 tick_end(const struct twheel_timers *w, u64 time)
{
	return time | ((1ULL << twheel_scheme_shift(&w->scheme)) - 1);
}

static void set_now(struct twheel_timers *w, u64 now)
{
	w->now = now;
	w->near = tick_end(w, now);
	w->soon = max(w->scheme.reach[0], w->near + 1);
}

/* Set the clock of a wheel without timers. */
static void set_clock(struct twheel_timers *w, u64 now)
{
	now = min(now, NOW_MAX(w));
	w->scheme.clock = twheel_scheme_tick(&w->scheme, now);
	twheel_hier_check_levels(&w->scheme);
	set_now(w, now);
	w->front_end = w->near;
}

/* Initialise a wheel in zeroed memory. */
static struct twheel_timers *set_up(void *memory, u64 now)
{
	struct twheel_timers *w = (struct twheel_timers *)memory;
	struct twheel_scheme *s = &w->scheme;
	u32 i;

	s->nr_slots = TWHEEL_HIER_SLOTS;
	s->occupied = w->occupied;
	s->slots = w->slots;
	twheel_hier_init_levels(s, 1);
	for (i = 0; i < FIRST_ROW; i++) {
		__set_bit(i, w->used);
		INIT_LIST_HEAD(&w->lists[i]);
	}
	set_clock(w, now);
	return w;
}

TWHEEL_TIMERS_API
struct twheel_timers *twheel_timers_new(uint64_t now)
{
	void *memory = calloc(1, sizeof(struct twheel_timers));

	return memory ? set_up(memory, now) : NULL;
}

TWHEEL_TIMERS_API
struct twheel_timers *twheel_timers_init(void *memory, size_t size, uint64_t now)
{
	if (size < sizeof(struct twheel_timers))
		return NULL;
	return set_up(memset(memory, 0, sizeof(struct twheel_timers)), now);
}

#ifndef TWHEEL_TIMERS_WIDTH
TWHEEL_TIMERS_API
void twheel_timers_width(struct twheel_timers *w, unsigned int bits)
{
	w->scheme.shift = min(bits, TWHEEL_TIMERS_WIDTH_MAX);
	set_clock(w, w->now);
}
#endif

TWHEEL_TIMERS_API
void twheel_timers_free(struct twheel_timers *w)
{
	free(w);
}

static __always_inline struct twheel_timer *timer_of(struct list_head *link)
{
	return list_entry(link, struct twheel_timer, link);
}

/* Add a timer at the end of a list. */
static void append(struct list_head *list, struct twheel_timer *timer)
{
	twheel_link(&timer->link, list->prev, list);
}

/* Move all timers of @from, which is not empty, between @prev and @next. */
static void splice(struct list_head *from, struct list_head *prev, struct list_head *next)
{
	twheel_unlink(prev, from->next);
	twheel_unlink(from->prev, next);
	INIT_LIST_HEAD(from);
}

/*
 * Unlink a timer from its slot or list, and forget @next if it depends on the timer. If both
 * neighbours are the same, they are the head, and the timer was the last one: clear the bit of its
 * slot in @occupied.
 */
static __always_inline void unlink_timer(struct twheel_timers *w, struct twheel_timer *timer)
{
	struct list_head *prev = timer->link.prev, *next = timer->link.next;

	if (unlikely(timer->expires == w->next))
		w->next = 0;
	twheel_unlink(prev, next);
	if (unlikely(prev == next) && (uintptr_t)prev - (uintptr_t)w->slots < sizeof(w->slots))
		twheel_slot_vacate(&w->scheme, list_entry(prev, struct twheel_slot, nodes));
}

/* Add a timer that is due by @near. */
static noinline void place_near(struct twheel_timers *w, struct twheel_timer *timer)
{
	struct twheel_scheme *s = &w->scheme;
	u64 expires = timer->expires;

	timer->hint = 0;
	if (expires <= w->now) {
		append(&w->lists[FRESH], timer);
		return;
	}
	w->next = min(w->next, expires);
	if (twheel_scheme_tick(s, expires) == s->clock) {
		append(&w->lists[UNSORTED], timer);
	} else {
		/* If the clock lags far behind, the timer belongs in an outer level. */
		w->outer = min(w->outer, expires);
		twheel_hier_place(s, timer, expires);
	}
}

/* Add a timer to the list for @expires. */
static __always_inline void place_timer(struct twheel_timers *w, struct twheel_timer *timer,
					u64 expires)
{
	struct twheel_scheme *s = &w->scheme;
	struct twheel_slot *slot;

	timer->expires = expires;
	if (expires >= w->soon) {
		if (unlikely(expires < w->outer)) {
			w->outer = expires;
			w->next = min(w->next, expires);
		}
		twheel_hier_place_outer(s, timer, expires);
	} else if (likely(expires > w->near)) {
		if (unlikely(expires < w->next))
			w->next = expires;
		slot = twheel_hier_slot(s, 0, twheel_scheme_tick(s, expires));
		twheel_hier_join(s, slot, timer, 0, false);
	} else {
		place_near(w, timer);
	}
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

TWHEEL_TIMERS_API
void twheel_timer_start(struct twheel_timers *w, struct twheel_timer *timer, uint64_t expires)
{
	if (twheel_timer_pending(timer)) {
		restart_timer(w, timer, expires);
		return;
	}
	w->scheme.pending++;
	place_timer(w, timer, expires);
}

TWHEEL_TIMERS_API
bool twheel_timer_stop(struct twheel_timers *w, struct twheel_timer *timer)
{
	if (!twheel_timer_pending(timer))
		return false;
	unlink_timer(w, timer);
	twheel_slot_leave_wheel(&w->scheme, timer);
	timer->hint = 0;
	return true;
}

/* Returns the number of low bits of a deadline in which the timers of a list of @row differ. */
static unsigned int row_shift(const struct twheel_timers *w, u32 row)
{
	int left = (int)twheel_scheme_shift(&w->scheme) - (int)(row + 1) * ROW_BITS;

	return left > 0 ? left : 0;
}

/* Add a timer that is due after @front_end to its list in the rows. */
static void join_row(struct twheel_timers *w, struct twheel_timer *timer)
{
	u32 row = w->rows, nr;

	do
		row--;
	while (timer->expires > w->row_ends[row]);
	nr = FIRST_ROW + row * ROW + (timer->expires >> row_shift(w, row)) % ROW;
	if (!test_bit(nr, w->used)) {
		__set_bit(nr, w->used);
		INIT_LIST_HEAD(&w->lists[nr]);
	}
	append(&w->lists[nr], timer);
}

/*
 * Returns the first list of the rows, or NULL if they are empty, and sets @begin to the first
 * deadline that belongs in the list. Closes empty rows.
 */
static struct list_head *first_of_rows(struct twheel_timers *w, u64 *begin)
{
	struct list_head *list;
	u32 nr, end;

	while (w->rows) {
		end = FIRST_ROW + w->rows * ROW;
		nr = find_next_bit(w->used, end, end - ROW);
		list = &w->lists[nr];
		if (nr == end) {
			w->front_end = w->row_ends[--w->rows];
		} else if (list_empty(list)) {
			__clear_bit(nr, w->used);
		} else {
			*begin = timer_of(list->next)->expires >> row_shift(w, w->rows - 1) <<
				 row_shift(w, w->rows - 1);
			return list;
		}
	}
	return NULL;
}

/*
 * Move the timers of @list, the first ones of the clock's tick, to UNSORTED, or to FRONT if they
 * are in order. @is_sorted: they have one deadline. A single timer is in order, too.
 */
static void take_list(struct twheel_timers *w, struct list_head *list, bool is_sorted)
{
	struct list_head *to = &w->lists[is_sorted || list->next == list->prev ? FRONT : UNSORTED];

	splice(list, to->prev, to);
}

/*
 * Sort timers of the clock's tick, at least the first ones. Reduces *@work by the number of timers
 * visited. Returns false if *@work was not enough.
 *
 * While the sort is not complete, the unsorted timers follow the sorted ones in FRONT.
 */
static noinline bool sort(struct twheel_timers *w, int *work)
{
	struct list_head *front = &w->lists[FRONT], *unsorted = &w->lists[UNSORTED];
	struct list_head *link = unsorted->next, *prev = front->prev, *next;
	u64 last = prev == front ? 0 : timer_of(prev)->expires, end = w->front_end, expires;
	int most = *work, passes = PASSES_FIRST + PASSES * most;

	splice(unsorted, prev, front);
	for (; link != front && most; link = next, most--) {
		next = link->next;
		expires = timer_of(link)->expires;
		if (likely(expires >= last && expires <= end)) {
			last = expires;
			continue;
		}
		prev = link->prev;
		twheel_unlink(prev, next);
		if (expires > end) {
			join_row(w, timer_of(link));
			continue;
		}
		do
			prev = prev->prev;
		while (--passes > PASSES * most && prev != front &&
		       timer_of(prev)->expires > expires);
		if (likely(passes > PASSES * most)) {
			twheel_link(link, prev, prev->next);
			continue;
		}
		/* Distribute the timers, beginning with the sorted ones. */
		twheel_link(link, next->prev, next);
		w->row_ends[w->rows++] = end;
		w->front_end = 0;
		end = 0;
		next = front->next;
	}
	w->scheme.cascaded += *work - most;
	*work = most;
	if (link == front)
		return true;
	prev = link->prev;
	twheel_unlink(front->prev, unsorted);
	twheel_unlink(unsorted, link);
	twheel_unlink(prev, front);
	return false;
}

/* Take out the first timer of a list. */
static __always_inline struct twheel_timer *take_first(struct twheel_timers *w,
						       struct list_head *list)
{
	struct twheel_timer *timer = timer_of(list->next);

	twheel_unlink(list, timer->link.next);
	twheel_slot_leave_wheel(&w->scheme, timer);
	timer->hint = 0;
	return timer;
}

/* Take out the first timer of FRONT. Returns NULL if it is not due at @now. */
static __always_inline struct twheel_timer *pop_front(struct twheel_timers *w, u64 now)
{
	struct list_head *front = &w->lists[FRONT];

	if (list_empty(front) || timer_of(front->next)->expires > now)
		return NULL;
	twheel_slot_take_hint(timer_of(front->next));
	return take_first(w, front);
}

/* Begin the clock's tick with the timers of its slot. */
static void arrive(struct twheel_timers *w)
{
	struct twheel_scheme *s = &w->scheme;
	struct twheel_slot *slot = twheel_hier_due_slot(s);

	w->front_end = tick_end(w, twheel_scheme_deadline(s, s->clock));
	if (is_empty(slot))
		return;
	take_list(w, &slot->nodes, !twheel_scheme_shift(s));
	twheel_slot_vacate(s, slot);
}

/* Advance the clock and take out the next timer that is due at @now. Compare hier_pop(). */
static noinline struct twheel_timer *advance_and_pop(struct twheel_timers *w, u64 now, int *work)
{
	struct list_head *front = &w->lists[FRONT], *list;
	struct twheel_scheme *s = &w->scheme;
	u64 target = twheel_scheme_tick(s, now), begin;
	struct twheel_timer *timer;
	unsigned int shift;
	bool alternate;

	while (*work > 0) {
		alternate = s->recheck - s->clock <= 1 && !list_empty(front);
		if (s->quota)
			hier_cascade(s, alternate ? TWHEEL_HIER_TURN : U32_MAX, work);
		if (!list_empty(&w->lists[UNSORTED]) && !sort(w, work))
			break;
		timer = pop_front(w, now);
		if (timer)
			return timer;
		list = list_empty(front) ? first_of_rows(w, &begin) : front;
		if (list && list != front && begin <= now) {
			/* Extend FRONT only now. Until now, starts could need earlier lists. */
			shift = row_shift(w, w->rows - 1);
			w->front_end = begin | ((1ULL << shift) - 1);
			__clear_bit(list - w->lists, w->used);
			take_list(w, list, !shift);
		} else if (!s->quota) {
			if (list || s->clock == target)
				return NULL;
			hier_advance(s, target);
			w->soon = max(w->soon, s->reach[0]);
			arrive(w);
		}
	}
	return NULL;
}

static u64 search_next(struct twheel_timers *w);

/* Returns whether no timer outside of FRESH and LATE is due at @now. */
static __always_inline bool none_due(const struct twheel_timers *w, u64 now)
{
	return now < w->next && twheel_scheme_tick(&w->scheme, now) < w->lagging;
}

/* Returns whether no timer of FRESH and LATE waits for the next call. */
static __always_inline bool none_wait(const struct twheel_timers *w)
{
	return list_empty(&w->lists[FRESH]) && list_empty(&w->lists[LATE]);
}

/* Take out the first timer of LATE, or return NULL. */
static __always_inline struct twheel_timer *pop_late(struct twheel_timers *w)
{
	struct list_head *late = &w->lists[LATE];

	return list_empty(late) ? NULL : take_first(w, late);
}

/* Take out the next timer that expires at @now. A timer of LATE follows the timers due by @late. */
static __always_inline struct twheel_timer *pop(struct twheel_timers *w, u64 now, int *work)
{
	struct twheel_timer *timer;
	bool behind = true;

	if (unlikely(!list_empty(&w->lists[LATE])))
		now = w->late;
	if (likely(list_empty(&w->lists[UNSORTED]) && !w->scheme.quota)) {
		timer = pop_front(w, now);
		if (timer)
			return timer;
		behind = w->scheme.clock != twheel_scheme_tick(&w->scheme, now) || w->rows;
	}
	if (behind) {
		timer = advance_and_pop(w, now, work);
		if (timer || *work <= 0)
			return timer;
	}
	return pop_late(w);
}

/* Begin a call at @now. If @new_round, let the timers of FRESH expire in this call. */
static __always_inline void begin(struct twheel_timers *w, u64 now, bool new_round)
{
	struct list_head *late = &w->lists[LATE], *fresh = &w->lists[FRESH];
	u64 before = w->now;

	if (now > before)
		set_now(w, min(now, NOW_MAX(w)));
	if (unlikely(!list_empty(fresh)) && new_round && list_empty(late)) {
		splice(fresh, late, late);
		w->late = before;
	}
}

/* Prepare for pop() to move the clock. If the tick of @next began, move the clock there at once. */
static __always_inline void begin_advance(struct twheel_timers *w)
{
	struct twheel_scheme *s = &w->scheme;
	u64 next = twheel_scheme_tick(s, w->next), tick = twheel_scheme_tick(s, w->now);

	w->next = 0;
	/* Before @recheck outer levels neither move timers nor reach the next slot. */
	if (tick >= s->recheck)
		w->outer = 0;
	if (next > s->clock && next <= tick && next < s->recheck) {
		s->clock = next;
		arrive(w);
	}
}

TWHEEL_TIMERS_API
struct twheel_timer *twheel_timers_expired(struct twheel_timers *w, uint64_t now)
{
	bool others = !none_due(w, now);
	struct twheel_timer *timer = NULL;
	int work = TWHEEL_TIMERS_MOVES;

	if (others || !none_wait(w)) {
		begin(w, now, !w->in_round);
		if (others)
			begin_advance(w);
		timer = others ? pop(w, w->now, &work) : pop_late(w);
		/* Without a due timer, search for the next one: see call_due(). */
		if (others && !timer && !w->in_round && work == TWHEEL_TIMERS_MOVES)
			search_next(w);
	}
	w->in_round = timer;
	return timer;
}

/* Call the functions of timers in FRESH and LATE, while no others are due. */
static noinline unsigned int call_late(struct twheel_timers *w, u64 now, unsigned int most)
{
	struct twheel_timer *timer;
	unsigned int count = 0;

	begin(w, now, true);
	for (; count < most && (timer = pop_late(w)); count++)
		timer->fn(timer);
	return count;
}

/*
 * Call the functions of all due timers. If no timer is due, search for the next one. Otherwise the
 * wheel would look at each empty tick of a program that calls in each tick.
 */
static noinline unsigned int call_due(struct twheel_timers *w, u64 now, unsigned int most)
{
	const int all = clamp_t(u32, most, TWHEEL_TIMERS_MOVES, WORK_MAX);
	struct list_head *unsorted = &w->lists[UNSORTED];
	unsigned int count = 0, end;
	struct twheel_timer *timer;
	int work = all;
	u64 until;

	begin(w, now, true);
	begin_advance(w);
	now = w->now;
	while (count < most && (timer = pop(w, now, &work))) {
		/* Alternate moves and expiries while timers have to be moved. */
		end = w->scheme.quota ? min(most, count + TWHEEL_HIER_TURN) : most;
		until = list_empty(&w->lists[LATE]) ? now : w->late;
		do
			timer->fn(timer);
		while (++count < end && list_empty(unsorted) && (timer = pop_front(w, until)));
	}
	if (!count && work == all)
		search_next(w);
	return count;
}

/*
 * Decide first whether a timer is due, because most calls of a program that is awake anyway find
 * none.
 */
TWHEEL_TIMERS_API
unsigned int twheel_timers_advance(struct twheel_timers *w, uint64_t now, unsigned int most)
{
	if (!none_due(w, now))
		return call_due(w, now, most);
	return none_wait(w) ? 0 : call_late(w, now, most);
}

/* Returns @time moved by @by, at most @most, at least 0. */
static u64 shifted(u64 time, int64_t by, u64 most)
{
	if (by < 0)
		return time < 0 - (u64)by ? 0 : time + (u64)by;
	return most - time < (u64)by ? most : time + (u64)by;
}

TWHEEL_TIMERS_API
void twheel_timers_shift(struct twheel_timers *w, int64_t by)
{
	struct twheel_scheme *s = &w->scheme;
	struct list_head all, *list, *link;
	struct twheel_timer *timer;
	u32 nr;

	/*
	 * Begin with the outer levels, to keep the order of the starts: of two timers with one
	 * deadline, the timer in an outer level was started first.
	 */
	INIT_LIST_HEAD(&all);
	for (nr = s->nr_slots; nr--; )
		if (test_bit(nr, s->occupied)) {
			splice(&s->slots[nr].nodes, all.prev, &all);
			twheel_slot_vacate(s, &s->slots[nr]);
		}
	for (nr = NR_LISTS; nr--; ) {
		list = &w->lists[nr];
		if (test_bit(nr, w->used) && !list_empty(list))
			splice(list, all.prev, &all);
	}
	w->rows = 0;
	w->next = 0;
	w->outer = 0;
	set_clock(w, shifted(w->now, by, TWHEEL_TIMERS_NEVER));
	while (!list_empty(&all)) {
		link = all.next;
		timer = timer_of(link);
		twheel_unlink(&all, link->next);
		place_timer(w, timer, timer->expires == TWHEEL_TIMERS_NEVER ? TWHEEL_TIMERS_NEVER :
			    shifted(timer->expires, by, TWHEEL_TIMERS_NEVER - 1));
	}
}

/*
 * Move timers away that were pushed beyond @end, the last time of the slot. Returns the first
 * deadline of the remaining timers, or TWHEEL_TIMERS_NEVER if none remains.
 */
static u64 first_of_slot(struct twheel_scheme *s, struct twheel_slot *slot, u64 end)
{
	struct list_head *head = &slot->nodes, *link = head->next, *next;
	u64 first = TWHEEL_TIMERS_NEVER;
	struct twheel_timer *timer;

	for (; link != head; link = next) {
		next = link->next;
		timer = timer_of(link);
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
 * Returns the time at which an outer level needs a call. Slots that begin at @next or later are
 * not searched: the result is then the first deadline of the slot.
 */
static u64 next_of_level(struct twheel_timers *w, unsigned int level, u64 next, int *work)
{
	unsigned int shift = twheel_hier_shift(level);
	struct twheel_scheme *s = &w->scheme;
	u64 nr, begin, end, first, tick;
	struct twheel_slot *slot;
	u32 distance;

	while ((distance = next_occupied(s, level))) {
		nr = (s->clock >> shift) + distance;
		begin = twheel_scheme_deadline(s, nr << shift);
		if (begin >= next)
			return begin;
		slot = twheel_hier_slot(s, level, nr << shift);
		if (slot->count > (u32)*work) {
			tick = cascade_tick(s, level, nr);
			w->cascade = min(w->cascade, tick);
			return tick_end(w, twheel_scheme_deadline(s, tick));
		}
		*work -= slot->count;
		end = begin | ((1ULL << shift << twheel_scheme_shift(s)) - 1);
		first = first_of_slot(s, slot, end);
		if (!list_empty(&slot->nodes))
			return first;
	}
	return TWHEEL_TIMERS_NEVER;
}

/* Returns the earliest deadline in a list, or @begin, a lower bound, if the list is long. */
static u64 first_of_list(struct list_head *list, u64 begin)
{
	struct list_head *link = list->next;
	u64 first = timer_of(link)->expires;
	int most = SEARCH_MAX;

	if (first == begin)
		return begin;
	while ((link = link->next) != list) {
		first = min(first, timer_of(link)->expires);
		if (!--most)
			return begin;
	}
	return first;
}

/* Search for the result of twheel_timers_next(). */
static noinline u64 search_next(struct twheel_timers *w)
{
	struct list_head *front = &w->lists[FRONT], *list;
	struct twheel_scheme *s = &w->scheme;
	int work = TWHEEL_TIMERS_MOVES;
	u64 next = TWHEEL_TIMERS_NEVER, begin;
	unsigned int level;
	u32 distance;

	if (!s->pending) {
		w->next = TWHEEL_TIMERS_NEVER;
		w->outer = TWHEEL_TIMERS_NEVER;
		w->cascade = U64_MAX;
		w->lagging = s->clock + LAG_MAX;
		return w->next;
	}
	if (s->level || !list_empty(&w->lists[LATE]) ||
	    (!list_empty(&w->lists[UNSORTED]) && !sort(w, &work)))
		return w->now;
	w->lagging = s->clock + LAG_MAX;
	if (!list_empty(front)) {
		w->next = timer_of(front->next)->expires;
		return w->next;
	}
	list = first_of_rows(w, &begin);
	distance = list ? 0 : next_occupied(s, 0);
	if (distance) {
		begin = twheel_scheme_deadline(s, s->clock + distance);
		list = &twheel_hier_slot(s, 0, s->clock + distance)->nodes;
	}
	if (list)
		next = first_of_list(list, begin);
	/*
	 * Level 0 changes with each push. Search outer levels only if @next may be in one of them.
	 */
	if (next > w->outer) {
		w->outer = TWHEEL_TIMERS_NEVER;
		w->cascade = U64_MAX;
		for (level = 1; s->levels >> level; level++)
			w->outer = min(w->outer, next_of_level(w, level, next, &work));
	}
	w->next = min(next, w->outer);
	w->lagging = min(s->clock + LAG_MAX, w->cascade);
	return w->next;
}

TWHEEL_TIMERS_API
uint64_t twheel_timers_next(struct twheel_timers *w)
{
	u64 next = likely(w->next && w->scheme.pending) ? w->next : search_next(w);

	return likely(none_wait(w)) ? next : w->now;
}

TWHEEL_TIMERS_API
uint64_t twheel_timers_count(const struct twheel_timers *w)
{
	return w->scheme.pending;
}

/* Returns the first timer in the lists from @nr on, or NULL. */
static struct twheel_timer *first_in_lists(struct twheel_timers *w, unsigned long nr)
{
	for (; (nr = find_next_bit(w->used, NR_LISTS, nr)) < NR_LISTS; nr++)
		if (!list_empty(&w->lists[nr]))
			return timer_of(w->lists[nr].next);
	return NULL;
}

/* Returns the first timer in the slots from @nr on and the lists, or NULL. */
static struct twheel_timer *first_in_slots(struct twheel_timers *w, unsigned long nr)
{
	struct twheel_scheme *s = &w->scheme;

	nr = find_next_bit(s->occupied, s->nr_slots, nr);
	return nr < s->nr_slots ? timer_of(s->slots[nr].nodes.next) : first_in_lists(w, 0);
}

TWHEEL_TIMERS_API
struct twheel_timer *twheel_timers_each(struct twheel_timers *w, const struct twheel_timer *timer)
{
	uintptr_t next, slots = (uintptr_t)w->slots, lists = (uintptr_t)w->lists;

	if (!timer)
		return first_in_slots(w, 0);
	/* At the end of a list, the next link is its head. */
	next = (uintptr_t)timer->link.next;
	if (next - slots < sizeof(w->slots))
		return first_in_slots(w, (next - slots) / sizeof(*w->slots) + 1);
	if (next - lists < sizeof(w->lists))
		return first_in_lists(w, (next - lists) / sizeof(*w->lists) + 1);
	return timer_of(timer->link.next);
}
