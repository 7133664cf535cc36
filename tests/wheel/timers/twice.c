// SPDX-License-Identifier: GPL-2.0
/*
 * A program of three parts: PART 1 and 2 are libraries that each contain twheel_timer.c, one with
 * a prefix and one with "static" functions, and PART 0 uses both libraries
 */
#include <stdio.h>

int first_library(void);
int second_library(void);

#if PART
#include "twheel_timer.c"

#if PART == 1
int first_library(void)
#else
int second_library(void)
#endif
{
	struct twheel_timers *w = twheel_timers_new(0);
	struct twheel_timer timer;

	twheel_timer_init(&timer, NULL);
	twheel_timer_start_between(w, &timer, 100 * PART, 100 * PART + 3);
	while (!twheel_timers_expired(w, twheel_timers_next(w)))
		;
	twheel_timers_free(w);
	return (int)timer.expires;
}
#else
int main(void)
{
	printf("%d %d\n", first_library(), second_library());
	return 0;
}
#endif
