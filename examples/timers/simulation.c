// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Virtual time: a queue with one clerk, for a year of simulated minutes
 *
 * The clock jumps to the time that twheel_timers_next() returns. Timers of the same minute expire
 * in the order of their starts, so each run has the same result.
 */
#include <limits.h>
#include <stdio.h>

#include <twheel_timer.h>

#define YEAR	(365 * 24 * 60)

static struct twheel_timers *wheel;
static struct twheel_timer arrival, departure;
static uint64_t now, random_state = 1;
static unsigned long waiting, longest, served;

/* Returns a random number from 1 to @most. */
static uint64_t draw(uint64_t most)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return 1 + (random_state >> 33) % most;
}

static void on_departure(struct twheel_timer *timer)
{
	served++;
	if (--waiting)
		twheel_timer_start(wheel, timer, now + draw(8));
}

static void on_arrival(struct twheel_timer *timer)
{
	if (++waiting == 1)
		twheel_timer_start(wheel, &departure, now + draw(8));
	if (waiting > longest)
		longest = waiting;
	twheel_timer_start(wheel, timer, now + draw(10));
}

int main(void)
{
	wheel = twheel_timers_new(0);
	if (!wheel)
		return 1;
	arrival.fn = on_arrival;
	departure.fn = on_departure;
	twheel_timer_start(wheel, &arrival, draw(10));
	for (; now < YEAR; now = twheel_timers_next(wheel))
		twheel_timers_advance(wheel, now, UINT_MAX);
	printf("served %lu, waiting %lu, longest queue %lu\n", served, waiting, longest);
	twheel_timers_free(wheel);
	return 0;
}
