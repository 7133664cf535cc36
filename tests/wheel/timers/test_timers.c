// SPDX-License-Identifier: GPL-2.0
/*
 * <twheel_timer.h>: what a program may rely on
 *
 * usage: test_timers [seeds=N] [first=N] [CASE...]
 *
 * The last case runs random programs against the model, which knows what expires, when and
 * in what order. The other cases count moves and wake-ups, or have memory of their own. The source
 * of the wheel is included, so that a case can read how many timers the wheel moved.
 */
#include "twheel_timer.c"

#include "model.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

static const char *failed;

#define check(condition) \
	do { if (!(condition)) { failed = #condition; return; } } while (0)

/**
 * struct item - a timer of a program
 * @timer: the timer
 * @order: number of its last callback, among the callbacks of all items, from 1
 */
struct item {
	struct twheel_timer timer;
	unsigned int order;
};

static struct twheel_timers *w;
static uint64_t now;
static unsigned int callbacks;

static void on_item(struct twheel_timer *timer)
{
	struct item *item = twheel_timer_container(timer, struct item, timer);

	item->order = ++callbacks;
}

static void start_item(struct item *item, uint64_t expires)
{
	item->timer.fn = on_item;
	twheel_timer_start(w, &item->timer, expires);
}

static unsigned int go_to(uint64_t tick)
{
	now = tick;
	return twheel_timers_advance(w, tick, UINT32_MAX);
}

static void zeroed_memory_is_a_stopped_timer(void)
{
	struct twheel_timer timer;

	memset(&timer, 0, sizeof(timer));
	check(!twheel_timer_pending(&timer));
	check(!twheel_timer_stop(w, &timer));
	check(sizeof(timer) <= 40);
	check(twheel_timers_count(w) == 0);
	check(twheel_timers_next(w) == TWHEEL_TIMERS_NEVER);
}

/* Returns the larger of @most and the number of moves since @before. */
static uint64_t more_moves(uint64_t before, uint64_t most)
{
	uint64_t moves = w->scheme.cascaded - before;

	return moves > most ? moves : most;
}

static void moves_of_a_call_are_bounded(void)
{
	static struct item items[20000];
	uint64_t before, most = 0;
	unsigned int i;

	for (i = 0; i < NR(items); i++)
		start_item(&items[i], 70000 + i % 3);
	now = 70010;
	check(twheel_timers_advance(w, now, 0) == 0);
	do {
		before = w->scheme.cascaded;
		twheel_timers_advance(w, now, 16);
		most = more_moves(before, most);
		before = w->scheme.cascaded;
		twheel_timers_next(w);
		most = more_moves(before, most);
	} while (twheel_timers_next(w) <= now);
	check(callbacks == NR(items));
	check(w->scheme.cascaded >= NR(items));
	check(most <= TWHEEL_TIMERS_MOVES);
	for (i = 0; i + 3 < NR(items); i++)
		check(items[i].order < items[i + 3].order);
}

static void many_timers_are_moved_before_they_are_due(void)
{
	static struct item items[20000];
	uint64_t before;
	unsigned int i;

	for (i = 0; i < NR(items); i++)
		start_item(&items[i], 70000 + i % 100);
	/* A loop that could call in each tick must move only a few timers in each call. */
	for (now = 1; now < 70100; now++) {
		if (twheel_timers_next(w) > now)
			continue;
		before = w->scheme.cascaded;
		go_to(now);
		check(w->scheme.cascaded - before <= 2 * TWHEEL_TIMERS_MOVES);
		check(twheel_timers_next(w) > now);
	}
	check(callbacks == NR(items));
}

static void a_pushed_timer_wakes_nobody(void)
{
	static struct item items[100];
	unsigned int i, calls = 0, expiries = 0;

	for (i = 0; i < NR(items); i++)
		start_item(&items[i], 1000 + i * 300);
	for (i = 0; i < NR(items); i++)
		twheel_timer_push(w, &items[i].timer, 100000 + i / 10 * 1000);
	while (twheel_timers_next(w) != TWHEEL_TIMERS_NEVER) {
		expiries += go_to(twheel_timers_next(w));
		calls++;
	}
	check(expiries == NR(items));
	check(calls <= 12);
}

static void next_is_the_first_timer(void)
{
	struct item first = {}, second = {};

	start_item(&first, 7000);
	check(twheel_timers_next(w) == 7000);
	start_item(&second, 90);
	check(twheel_timers_next(w) == 90);
	twheel_timer_push(w, &second.timer, 200);
	check(twheel_timers_next(w) == 200);
	twheel_timer_stop(w, &second.timer);
	check(twheel_timers_next(w) == 7000);
	twheel_timer_stop(w, &first.timer);
	check(twheel_timers_next(w) == TWHEEL_TIMERS_NEVER);
}

static unsigned long seeds = 3000, first_seed = 1;
static uint64_t state = 1;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Make ticks nanoseconds, with slots of about a millisecond, if the width is not a constant. */
static void be_exact(void)
{
#ifndef TWHEEL_TIMERS_WIDTH
	twheel_timers_width(w, 20);
#endif
}

static struct item again[3];
static unsigned int rounds;

/* Restart the timer for the present time, like a timeout of 0, until @rounds is used up. */
static void on_again(struct twheel_timer *timer)
{
	on_item(timer);
	if (rounds--)
		twheel_timer_start(w, timer, now);
}

static void a_timer_due_now_expires_in_the_next_call(void)
{
	struct item present = {}, past = {}, next = {};

	go_to(100);
	start_item(&present, 100);
	start_item(&past, 7);
	check(twheel_timers_next(w) <= 100);
	check(twheel_timers_advance(w, 100, UINT32_MAX) == 2);
	check(present.order == 1 && past.order == 2);
	rounds = 5;
	start_item(&again[0], 90);
	again[0].timer.fn = on_again;
	check(go_to(100000) == 1);
	check(twheel_timers_next(w) <= now);
	start_item(&next, now + 1);
	check(go_to(100001) == 2 && next.order == callbacks);
	check(!twheel_timer_stop(w, &next.timer));
	check(twheel_timers_expired(w, now) == &again[0].timer);
	twheel_timer_start(w, &again[0].timer, now);
	check(!twheel_timers_expired(w, now));
	check(twheel_timers_expired(w, now) == &again[0].timer);
}

/* Check that timers that are always due do not keep others waiting, with one callback per call. */
static void timers_due_now_starve_nobody(void)
{
	struct item item = {};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		start_item(&again[i], 50);
		again[i].timer.fn = on_again;
	}
	start_item(&item, 50);
	rounds = 1000;
	for (i = 0; i < 4; i++)
		check(twheel_timers_advance(w, 60, 1) == 1);
	check(item.order == 4);
	start_item(&item, 70);
	for (now = 70; now < 80; now++)
		twheel_timers_advance(w, now, 1);
	check(item.order > 4);
	for (i = 0; i < 3; i++)
		twheel_timer_stop(w, &again[i].timer);
}

/*
 * Let a call end early, which leaves the clock behind, so that timers for the present are in an
 * outer level. Check that the program sleeps until the first of them nevertheless.
 */
static void a_lagging_clock_sleeps_until_the_first_timer(void)
{
	struct item late = {}, first = {}, second = {};
	const uint64_t far = 1ULL << 50;

	be_exact();
	start_item(&late, 0);
	now = far;
	check(twheel_timers_advance(w, far, 1) == 1);
	check(twheel_timers_next(w) == TWHEEL_TIMERS_NEVER);
	start_item(&first, far + 5);
	start_item(&second, far + 9);
	check(twheel_timers_next(w) == far + 5);
	check(twheel_timer_stop(w, &first.timer));
	check(twheel_timers_next(w) == far + 9);
	check(go_to(far + 9) == 1 && second.order);
}

/* Range of the deadlines in tests with nanoseconds */
#define SPREAD	100000000000ULL

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Check that a program wakes up about once for each different deadline, as with a heap. */
static void wakeups_are_those_of_a_heap(void)
{
	static struct item items[4000];
	static uint64_t times[NR(items)];
	unsigned int i, distinct = 0, calls = 0, expired = 0;

	be_exact();
	for (i = 0; i < NR(items); i++) {
		start_item(&items[i], 1 + draw() % 1000000000);
		twheel_timer_push(w, &items[i].timer, items[i].timer.expires + draw() % SPREAD);
		times[i] = items[i].timer.expires;
	}
	qsort(times, NR(times), sizeof(*times), compare_times);
	for (i = 0; i < NR(items); i++)
		distinct += !i || times[i] != times[i - 1];
	for (; twheel_timers_next(w) != TWHEEL_TIMERS_NEVER; calls++) {
		now = twheel_timers_next(w);
		for (i = go_to(now); i--; expired++)
			check(times[expired] == now);
	}
	check(expired == NR(items));
	check(calls <= distinct + distinct / 100);
}

static uint64_t last_expiry;
static unsigned int disorder;

static void on_crowd(struct twheel_timer *timer)
{
	disorder += timer->expires < last_expiry;
	last_expiry = timer->expires;
	on_item(timer);
}

/* Expire many timers of one slot. Their deadlines are equal, random or descending, by @spread. */
static void expire_crowd(unsigned int spread)
{
	static struct item items[20000];
	uint64_t before, most = 0, begin = 3 << 20;
	unsigned int i, stopped = 0;

	memset(items, 0, sizeof(items));
	last_expiry = 0;
	disorder = 0;
	callbacks = 0;
	for (i = 0; i < NR(items); i++) {
		start_item(&items[i], begin + (spread == 0 ? 7 :
					       spread == 1 ? draw() % 1000000 : NR(items) - i));
		items[i].timer.fn = on_crowd;
	}
	while (twheel_timers_count(w)) {
		before = w->scheme.cascaded;
		twheel_timers_advance(w, begin + 1000000, 16);
		most = more_moves(before, most);
		stopped += twheel_timer_stop(w, &items[draw() % NR(items)].timer);
	}
	check(most <= TWHEEL_TIMERS_MOVES);
	check(!disorder && callbacks + stopped == NR(items));
}

static void a_crowd_is_sorted_in_parts(void)
{
	unsigned int spread;

	for (spread = 0; spread < 3; spread++) {
		be_exact();
		expire_crowd(spread);
		twheel_timers_free(w);
		w = twheel_timers_new(0);
	}
}

/* Check that the clock rarely moves if a program calls in each tick without asking for the next. */
static void empty_ticks_are_not_looked_at(void)
{
	unsigned int foreign, moves = 0;
	struct item item = {};
	uint64_t clock, tick;

	for (foreign = 0; foreign < 2; foreign++) {
		start_item(&item, now + 5000);
		for (tick = now + 1; tick < item.timer.expires; tick++) {
			clock = w->scheme.clock;
			if (foreign)
				check(!twheel_timers_expired(w, tick));
			else
				check(!twheel_timers_advance(w, tick, UINT32_MAX));
			moves += w->scheme.clock != clock;
		}
		check(go_to(tick) == 1);
	}
	check(moves <= 2 * 100);
}

/* Check that the memory of outer levels and rows is not written before a timer needs it. */
static void an_empty_wheel_is_small(void)
{
	static const char zeros[64];
	size_t used = 0, at;

	for (at = 0; at + sizeof(zeros) <= sizeof(*w); at += sizeof(zeros))
		if (memcmp((char *)w + at, zeros, sizeof(zeros)))
			used = used + sizeof(zeros);
	check(used <= 72 * 1024);
	start_item(&again[0], UINT64_MAX / 2);
	check(twheel_timers_next(w) == UINT64_MAX / 2);
	check(sizeof(*w) <= TWHEEL_TIMERS_SIZE);
	twheel_timer_stop(w, &again[0].timer);
}

/* Check that a full slot is moved in parts when the program is awake, and hardly wakes it up. */
static void a_program_that_is_awake_moves_timers(void)
{
	static struct item items[20000];
	unsigned int i, wakeups = 0;
	uint64_t step;

	be_exact();
	for (i = 0; i < NR(items); i++)
		start_item(&items[i], (700ULL << 20) + i);
	for (step = 1; step < 700; step++) {
		for (; twheel_timers_next(w) < (step << 20) + 77777; wakeups++)
			check(!go_to(twheel_timers_next(w)));
		check(!go_to((step << 20) + 77777));
	}
	check(wakeups <= 1);
	go_to(701 << 20);
	check(callbacks == NR(items));
}

/* Set the clock back by an hour, in a program whose ticks are wall-clock milliseconds. */
static void a_clock_may_jump(void)
{
	struct item old = {}, item = {}, never = {}, first = {}, second = {};

	/* @first is still in an outer level when @second is started for the same tick. */
	start_item(&first, 10000300);
	go_to(10000000);
	start_item(&second, 10000300);
	start_item(&old, 10000500);
	start_item(&item, 10000000);
	start_item(&never, TWHEEL_TIMERS_NEVER);
	twheel_timers_shift(w, -3600000);
	check(old.timer.expires == 6400500);
	check(go_to(6400000) == 1 && item.order == 1);
	start_item(&item, 6400000 + 30000);
	check(go_to(6400499) == 2 && first.order == 2 && second.order == 3);
	check(go_to(6400500) == 1 && old.order == 4);
	check(go_to(6429999) == 0);
	check(go_to(6430000) == 1);
	twheel_timers_shift(w, INT64_MIN);
	check(go_to(1) == 0);
	twheel_timers_shift(w, INT64_MAX);
	twheel_timers_shift(w, INT64_MAX);
	check(never.timer.expires == TWHEEL_TIMERS_NEVER && go_to(TWHEEL_TIMERS_NEVER) == 0);
}

static void a_range_is_shared(void)
{
	static struct item items[1000];
	unsigned int i, calls = 0;

	for (i = 0; i < NR(items); i++) {
		items[i].timer.fn = on_item;
		twheel_timer_start_between(w, &items[i].timer, 5000 + i, 5300 + i);
		check(items[i].timer.expires >= 5000 + i && items[i].timer.expires <= 5300 + i);
	}
	for (; twheel_timers_next(w) != TWHEEL_TIMERS_NEVER; calls++)
		go_to(twheel_timers_next(w));
	check(callbacks == NR(items) && calls <= 5);
	twheel_timer_start_between(w, &items[0].timer, 10000, 10000);
	check(items[0].timer.expires == 10000);
	twheel_timer_start_between(w, &items[0].timer, 9000, 12000);
	check(items[0].timer.expires == 10000);
	twheel_timer_start_between(w, &items[0].timer, 0, UINT64_MAX);
	check(items[0].timer.expires == 10000);
}

static void the_memory_may_be_the_programs(void)
{
	static uint64_t memory[TWHEEL_TIMERS_SIZE / sizeof(uint64_t)];
	struct twheel_timers *own;
	struct twheel_timer timer;

	memset(memory, 0xa5, sizeof(memory));
	memset(&timer, 0, sizeof(timer));
	check(!twheel_timers_init(memory, 1000, 0));
	own = twheel_timers_init(memory, sizeof(memory), 77);
	check((void *)own == (void *)memory);
	twheel_timer_start(own, &timer, 500);
	check(twheel_timers_next(own) == 500);
	check(!twheel_timers_expired(own, 499));
	check(twheel_timers_expired(own, 500) == &timer);
}

static void random_programs_agree_with_the_model(void)
{
	static uint8_t program[2048];
	uint64_t operations = 0, expiries = 0;
	unsigned long seed;
	size_t size, i;

	for (seed = first_seed; seed < first_seed + seeds; seed++) {
		state = seed * 0x9e3779b97f4a7c15ULL | 1;
		size = 64 + draw() % (sizeof(program) - 64);
		for (i = 0; i < size; i++)
			program[i] = draw() >> 20;
		model_run(program, size);
		operations += model.operation;
		expiries += model.expired;
	}
	check(operations && expiries);
	printf("# figures: %llu operations, %llu expiries, first=%lu\n",
	       (unsigned long long)operations, (unsigned long long)expiries, first_seed);
}

#define CASE(name)	{ #name, name }

static const struct test {
	const char *name;
	void (*run)(void);
} cases[] = {
	CASE(zeroed_memory_is_a_stopped_timer),
	CASE(moves_of_a_call_are_bounded),
	CASE(many_timers_are_moved_before_they_are_due),
	CASE(a_pushed_timer_wakes_nobody),
	CASE(next_is_the_first_timer),
	CASE(a_timer_due_now_expires_in_the_next_call),
	CASE(timers_due_now_starve_nobody),
	CASE(a_lagging_clock_sleeps_until_the_first_timer),
	CASE(wakeups_are_those_of_a_heap),
	CASE(a_crowd_is_sorted_in_parts),
	CASE(empty_ticks_are_not_looked_at),
	CASE(an_empty_wheel_is_small),
	CASE(a_program_that_is_awake_moves_timers),
	CASE(a_clock_may_jump),
	CASE(a_range_is_shared),
	CASE(the_memory_may_be_the_programs),
	CASE(random_programs_agree_with_the_model),
};

static bool chosen(const char *name, char **names)
{
	bool any = false;

	for (; *names; names++) {
		if (sscanf(*names, "seeds=%lu", &seeds) == 1 ||
		    sscanf(*names, "first=%lu", &first_seed) == 1)
			continue;
		if (!strcmp(*names, name))
			return true;
		any = true;
	}
	return !any;
}

int main(int argc, char **argv)
{
	unsigned int i, count = 0, bad = 0;

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < NR(cases); i++) {
		if (!chosen(cases[i].name, argv + 1))
			continue;
		w = twheel_timers_new(0);
		if (!w)
			abort();
		now = 0;
		callbacks = 0;
		failed = NULL;
		cases[i].run();
		twheel_timers_free(w);
		printf("%sok %u - %s\n", failed ? "not " : "", ++count, cases[i].name);
		if (failed)
			printf("# not true: %s\n", failed);
		bad += !!failed;
	}
	printf("1..%u\n", count);
	return bad != 0;
}
