// SPDX-License-Identifier: GPL-2.0
/*
 * <twheel_timer.h>: what a program may rely on
 *
 * usage: test_timers [seeds=N] [first=N] [CASE...]
 *
 * The last case runs random programs against the model, which knows what expires, when and
 * in what order. The others count moves and wake-ups, or have memory of their own. The wheel
 * is included, so that a test sees how many timers it moved.
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
 * @order: number of the last call among the calls of all items, from 1
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
	CASE(moves_of_a_call_are_bounded),
	CASE(many_timers_are_moved_before_they_are_due),
	CASE(a_pushed_timer_wakes_nobody),
	CASE(next_is_the_first_timer),
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
