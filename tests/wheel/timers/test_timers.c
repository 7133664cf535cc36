// SPDX-License-Identifier: GPL-2.0
/*
 * <twheel_timer.h>: what a program may rely on, one behaviour a case
 *
 * usage: test_timers [seeds=N] [first=N] [CASE...]
 *
 * Many of these behaviours are also tested for other wheels: by wahern's timeout.c, by
 * h2o's timerwheel.c, and by Ratas. The last case runs random programs against the model.
 *
 * The wheel is included, so that a test sees how many timers it moved.
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
 * @at: tick of the last call
 * @order: number of the last call among the calls of all items, from 1
 * @calls: number of calls
 */
struct item {
	struct twheel_timer timer;
	uint64_t at;
	unsigned int order, calls;
};

static struct twheel_timers *w;
static uint64_t now;
static unsigned int callbacks;
static struct item *other;

static void on_item(struct twheel_timer *timer)
{
	struct item *item = twheel_timer_container(timer, struct item, timer);

	item->at = now;
	item->order = ++callbacks;
	item->calls++;
}

static void start_item(struct item *item, uint64_t expires)
{
	if (!item->timer.fn)
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

static void each_distance_is_exact(void)
{
	static const int beside[] = { -1, 0, 1 };
	unsigned int bit, i;

	for (bit = 1; bit < 63; bit++)
		for (i = 0; i < NR(beside); i++) {
			uint64_t from = now, distance = (1ULL << bit) + beside[i];
			struct item item = {};

			if (from + distance < from)
				break;
			start_item(&item, from + distance);
			check(go_to(from + distance - 1) == (distance == 0));
			check(twheel_timer_pending(&item.timer) || !distance);
			check(go_to(from + distance) == 1 && item.calls == 1);
			check(!twheel_timer_pending(&item.timer));
		}
}

static void a_passed_tick_is_the_next_one(void)
{
	struct item item = {};

	go_to(1000);
	start_item(&item, 3);
	check(twheel_timers_next(w) == 1001);
	check(go_to(1000) == 0);
	check(go_to(1001) == 1);
	start_item(&item, 1001);
	check(go_to(1001) == 0 && go_to(1002) == 1);
}

static void the_clock_may_go_back(void)
{
	struct item item = {};

	go_to(1000);
	start_item(&item, 1005);
	check(go_to(10) == 0 && go_to(1004) == 0);
	check(go_to(1005) == 1);
}

static void a_timer_of_never_is_pending(void)
{
	struct item item = {};

	start_item(&item, TWHEEL_TIMERS_NEVER);
	check(twheel_timers_next(w) == TWHEEL_TIMERS_NEVER);
	check(go_to(TWHEEL_TIMERS_NEVER) == 0);
	check(twheel_timer_pending(&item.timer));
	twheel_timer_push(w, &item.timer, TWHEEL_TIMERS_NEVER);
	check(twheel_timer_stop(w, &item.timer));
}

static void a_push_may_start_and_may_go_back(void)
{
	struct item item = { .timer.fn = on_item };

	twheel_timer_push(w, &item.timer, 500);
	check(twheel_timer_pending(&item.timer));
	twheel_timer_push(w, &item.timer, 900);
	twheel_timer_push(w, &item.timer, 600);
	check(go_to(599) == 0 && go_to(600) == 1);
	/* Stopped and expired timers have no bit of the last time. */
	twheel_timer_push(w, &item.timer, 2000);
	check(twheel_timer_stop(w, &item.timer));
	twheel_timer_push(w, &item.timer, 3000);
	check(twheel_timers_count(w) == 1);
	check(go_to(2999) == 0 && go_to(3000) == 1);
	twheel_timer_push(w, &item.timer, 3300);
	check(go_to(3300) == 1);
	twheel_timer_push(w, &item.timer, 3310);
	check(go_to(3310) == 1);
}

static void a_restart_to_the_same_tick_keeps_its_place(void)
{
	struct item first = {}, second = {};

	start_item(&first, 50);
	start_item(&second, 50);
	start_item(&first, 50);
	go_to(50);
	check(first.order == 1 && second.order == 2);
}

static void at_once(struct twheel_timer *timer)
{
	on_item(timer);
	twheel_timer_start(w, timer, 0);
}

static void a_restart_for_the_past_is_no_endless_loop(void)
{
	struct item item = { .timer.fn = at_once };

	start_item(&item, 10);
	check(go_to(10) == 1);
	check(twheel_timers_next(w) == 11);
	check(go_to(20) == 10);
	twheel_timer_stop(w, &item.timer);
}

static void stop_other(struct twheel_timer *timer)
{
	on_item(timer);
	if (!twheel_timer_stop(w, &other->timer))
		failed = "the other timer was pending";
}

static void a_callback_stops_the_timer_after_it(void)
{
	struct item first = { .timer.fn = stop_other }, second = {}, third = {};

	other = &second;
	start_item(&first, 9);
	start_item(&second, 9);
	start_item(&third, 9);
	check(go_to(9) == 2);
	check(first.calls == 1 && !second.calls && third.calls == 1);
	check(twheel_timers_count(w) == 0);
}

static void free_own(struct twheel_timer *timer)
{
	on_item(timer);
	memset(timer, 0xa5, sizeof(*timer));
	free(twheel_timer_container(timer, struct item, timer));
}

static void free_own_and_other(struct twheel_timer *timer)
{
	twheel_timer_stop(w, &other->timer);
	memset(other, 0xa5, sizeof(*other));
	free(other);
	free_own(timer);
}

static struct item *new_item(twheel_timer_fn fn)
{
	struct item *item = (struct item *)calloc(1, sizeof(*item));

	if (!item)
		abort();
	item->timer.fn = fn;
	return item;
}

static void a_callback_frees_its_timer_and_its_neighbour(void)
{
	struct item last = {};

	start_item(new_item(free_own), 600);
	start_item(new_item(free_own_and_other), 600);
	other = new_item(free_own);
	start_item(other, 600);
	start_item(new_item(free_own), 600);
	start_item(&last, 600);
	check(go_to(600) == 4 && last.order == 4);
	check(twheel_timers_count(w) == 0);
}

static void most_bounds_a_call(void)
{
	static struct item items[100];
	unsigned int i, calls = 0;

	memset(items, 0, sizeof(items));
	for (i = 0; i < NR(items); i++)
		start_item(&items[i], 10 + i / 50);
	now = 20;
	check(twheel_timers_advance(w, now, 0) == 0);
	while (twheel_timers_next(w) <= now) {
		check(twheel_timers_advance(w, now, 7) == (calls < 14 ? 7U : 2U));
		calls++;
	}
	check(calls == 15);
	for (i = 0; i < NR(items); i++)
		check(items[i].order == i + 1);
}

/* Returns the number of moves since @before, but at least @most. */
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

	memset(items, 0, sizeof(items));
	for (i = 0; i < NR(items); i++)
		start_item(&items[i], 70000 + i % 3);
	now = 70010;
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

	memset(items, 0, sizeof(items));
	for (i = 0; i < NR(items); i++)
		start_item(&items[i], 70000 + i % 100);
	/* A loop that is awake each tick has not much to do in any of them. */
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

	memset(items, 0, sizeof(items));
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

static void expired_takes_one_after_the_other(void)
{
	static struct item items[40];
	struct twheel_timer *timer;
	unsigned int i = 0;

	memset(items, 0, sizeof(items));
	for (i = 0; i < NR(items); i++)
		twheel_timer_start(w, &items[i].timer, 10 + i);
	check(!twheel_timers_expired(w, 9));
	for (i = 0; (timer = twheel_timers_expired(w, 29)); i++) {
		check(timer == &items[i].timer && !twheel_timer_pending(timer));
		/* Stop a timer that would otherwise expire later in this loop. */
		if (i == 3)
			check(twheel_timer_stop(w, &items[i + 17].timer));
	}
	check(i == 20);
	check(twheel_timers_count(w) == 19);
	check(twheel_timers_next(w) == 31);
	while ((timer = twheel_timers_any(w)))
		twheel_timer_stop(w, timer);
}

static void each_and_any_find_all(void)
{
	static struct item items[300];
	struct twheel_timer *timer = NULL;
	unsigned int i, nr = 0;

	memset(items, 0, sizeof(items));
	for (i = 0; i < NR(items); i++)
		start_item(&items[i], 1 + ((uint64_t)i * 77 % 50 << i % 40));
	while ((timer = twheel_timers_each(w, timer))) {
		twheel_timer_container(timer, struct item, timer)->calls++;
		nr++;
	}
	for (i = 0; i < NR(items); i++)
		check(items[i].calls == 1);
	check(nr == NR(items) && twheel_timers_count(w) == nr);
	for (; (timer = twheel_timers_any(w)); nr--)
		check(twheel_timer_stop(w, timer));
	check(!nr && !twheel_timers_count(w));
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

static void two_wheels_know_nothing_of_each_other(void)
{
	struct twheel_timers *second = twheel_timers_new(1000000);
	struct item item = {}, elsewhere = { .timer.fn = on_item };

	check(second);
	start_item(&item, 100);
	twheel_timer_start(second, &elsewhere.timer, 1000100);
	check(go_to(100) == 1 && item.calls == 1);
	check(twheel_timers_advance(second, 1000099, 10) == 0);
	check(twheel_timers_advance(second, 1000100, 10) == 1);
	check(elsewhere.calls == 1);
	twheel_timers_free(second);
}

static void the_programs_fields_stay(void)
{
	struct item item = { .timer.tag = 0xdeadbeef };

	start_item(&item, 66000);
	twheel_timer_push(w, &item.timer, 170000);
	check(go_to(170000) == 1);
	check(item.timer.tag == 0xdeadbeef && item.timer.fn == on_item);
	check(item.timer.expires == 170000);
}

static unsigned long seeds = 3000, first_seed = 1;
static uint64_t state;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
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
	CASE(each_distance_is_exact),
	CASE(a_passed_tick_is_the_next_one),
	CASE(the_clock_may_go_back),
	CASE(a_timer_of_never_is_pending),
	CASE(a_push_may_start_and_may_go_back),
	CASE(a_restart_to_the_same_tick_keeps_its_place),
	CASE(a_restart_for_the_past_is_no_endless_loop),
	CASE(a_callback_stops_the_timer_after_it),
	CASE(a_callback_frees_its_timer_and_its_neighbour),
	CASE(most_bounds_a_call),
	CASE(moves_of_a_call_are_bounded),
	CASE(many_timers_are_moved_before_they_are_due),
	CASE(a_pushed_timer_wakes_nobody),
	CASE(next_is_the_first_timer),
	CASE(expired_takes_one_after_the_other),
	CASE(each_and_any_find_all),
	CASE(the_memory_may_be_the_programs),
	CASE(two_wheels_know_nothing_of_each_other),
	CASE(the_programs_fields_stay),
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
