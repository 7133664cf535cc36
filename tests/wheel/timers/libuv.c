// SPDX-License-Identifier: GPL-2.0
/*
 * Compares examples/timers/loop.c with libuv, call by call. Usage: libuv PROGRAMS FIRST
 *
 * Each random program starts, stops and runs the same timers in both loops, at the same times of a
 * virtual clock and also in callbacks. The calls of callbacks and the timeouts of the loops must
 * be the same. libuv before 1.45 calls a timer with a timeout of 0 in the iteration in which it is
 * started, so callbacks here do not start such a timer.
 */
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define main example_main
#include "../../../examples/timers/loop.c"
#undef main

#define HANDLES	12
#define STEPS	200

struct call {
	unsigned int step, handle;
};

static struct side {
	unsigned long state;
	unsigned int nr;
	struct call calls[STEPS * HANDLES];
} of_loop, of_uv, both;

static struct loop loop;
static struct handle handles[HANDLES];
static uv_loop_t uv;
static uv_timer_t timers[HANDLES];
static uint64_t virtual_ms = 1000000;
static unsigned int step;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	ts->tv_sec = virtual_ms / 1000;
	ts->tv_nsec = virtual_ms % 1000 * 1000000;
	return 0;
}

/*
 * Draw a number below @end. Each side has its own generator, so that both sides draw the same
 * numbers as long as they make the same calls. @both is for what the sides do not draw.
 */
static unsigned int draw(struct side *side, unsigned int end)
{
	side->state = side->state * 6364136223846793005UL + 1442695040888963407UL;
	return (side->state >> 33) % end;
}

static uint64_t draw_timeout(struct side *side)
{
	switch (draw(side, 8)) {
	case 0:
		return 1 + draw(side, 100000);
	case 1:
		return UINT64_MAX - draw(side, 3);
	default:
		return 1 + draw(side, 12);
	}
}

static void called(struct side *side, unsigned int handle);

static void on_handle(struct handle *handle)
{
	called(&of_loop, handle - handles);
}

static void on_uv(uv_timer_t *timer)
{
	called(&of_uv, timer - timers);
}

/* Start or stop a timer of one side. @least: the shortest timeout of a start. */
static void act(struct side *side, unsigned int least)
{
	unsigned int nr = draw(side, HANDLES), what = draw(side, 8);
	uint64_t timeout, repeat;

	if (what < 5) {
		timeout = draw_timeout(side) - 1 + least;
		repeat = draw(side, 3) ? 0 : 1 + draw(side, 9);
		if (side == &of_loop)
			timer_start(&handles[nr], on_handle, timeout, repeat);
		else
			uv_timer_start(&timers[nr], on_uv, timeout, repeat);
	} else if (side == &of_loop) {
		timer_stop(&handles[nr]);
	} else {
		uv_timer_stop(&timers[nr]);
	}
}

static void called(struct side *side, unsigned int handle)
{
	side->calls[side->nr++ % (STEPS * HANDLES)] = (struct call) { step, handle };
	if (!draw(side, 2))
		act(side, 1);
}

static void differ(unsigned long program, const char *what, int ours, int theirs)
{
	printf("program %lu, step %u: %s %d, libuv %d\n", program, step, what, ours, theirs);
	exit(1);
}

static void run_program(unsigned long program)
{
	unsigned int i, before;
	int ours;

	both.state = ~program;
	of_loop.state = program;
	of_uv.state = program;
	of_loop.nr = 0;
	of_uv.nr = 0;
	for (i = 0; i < HANDLES; i++) {
		timer_stop(&handles[i]);
		uv_timer_stop(&timers[i]);
	}
	for (step = 0; step < STEPS; step++) {
		for (i = draw(&both, 6); i; i--) {
			act(&of_loop, 0);
			act(&of_uv, 0);
		}
		ours = backend_timeout(&loop);
		/* Without a timer libuv has a timeout of 0. */
		if (ours >= 0 && ours != uv_backend_timeout(&uv))
			differ(program, "timeout", ours, uv_backend_timeout(&uv));
		virtual_ms += draw(&both, 2) ? 1 : draw(&both, 30);
		before = of_loop.nr;
		run_timers(&loop);
		uv_run(&uv, UV_RUN_NOWAIT);
		if (of_loop.nr != of_uv.nr)
			differ(program, "calls", of_loop.nr - before, of_uv.nr - before);
		for (i = before; i < of_loop.nr; i++)
			if (of_loop.calls[i].handle != of_uv.calls[i].handle)
				differ(program, "timer", of_loop.calls[i].handle,
				       of_uv.calls[i].handle);
	}
}

int main(int argc, char **argv)
{
	unsigned long programs = argc > 1 ? strtoul(argv[1], NULL, 10) : 100, calls = 0, i;
	unsigned long first = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	uv_loop_init(&uv);
	update_time(&loop);
	loop.wheel = twheel_timers_new(loop.now);
	for (i = 0; i < HANDLES; i++) {
		timer_init(&loop, &handles[i]);
		uv_timer_init(&uv, &timers[i]);
	}
	/* The first iteration adds descriptors of libuv's own. Before that the timeout is 0. */
	uv_timer_start(&timers[0], on_uv, 1, 0);
	uv_run(&uv, UV_RUN_NOWAIT);
	for (i = 0; i < programs; i++) {
		run_program(first + i);
		calls += of_loop.nr;
	}
	if (calls < programs * STEPS / 4) {
		printf("%lu calls in %lu programs\n", calls, programs);
		return 1;
	}
	return 0;
}
