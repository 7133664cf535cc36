// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Timeouts of 0 in libuv: zero [ROUNDS]
 *
 * Check that a callback that starts its own timer for a timeout of 0 is called once in each
 * iteration of the loop, so that other handles are not kept waiting.
 */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

static unsigned int calls, iterations, wrong, rounds = 2000;

static void on_timer(uv_timer_t *timer)
{
	calls++;
	wrong += calls > iterations + 1;
	if (calls < rounds)
		uv_timer_start(timer, on_timer, 0, 0);
}

static void on_iteration(uv_check_t *check)
{
	(void)check;
	iterations++;
}

int main(int argc, char **argv)
{
	uv_loop_t *loop = uv_default_loop();
	uv_check_t check;
	uv_timer_t timer;

	if (argc > 1)
		rounds = atoi(argv[1]);
	uv_check_init(loop, &check);
	uv_check_start(&check, on_iteration);
	/* The check handle alone does not keep the loop running. */
	uv_unref((uv_handle_t *)&check);
	uv_timer_init(loop, &timer);
	uv_timer_start(&timer, on_timer, 0, 0);
	uv_run(loop, UV_RUN_DEFAULT);
	printf("%u calls, %u in the same iteration\n", calls, wrong);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_close((uv_handle_t *)&check, NULL);
	uv_run(loop, UV_RUN_DEFAULT);
	return uv_loop_close(loop) || wrong;
}
