// SPDX-License-Identifier: GPL-2.0
/*
 * A reader's program, written from Documentation/timers.rst alone: sessions that are pushed
 * back, closed or idle, and a ticker that starts itself again. Valid C99 and C++
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <twheel_timer.h>

#define SESSIONS	1000
#define IDLE		30000

struct session {
	int nr;
	struct twheel_timer idle;
};

static struct twheel_timers *wheel;
static uint64_t now = 5;
static int expired, out_of_order, wrong, ticks;

static void on_idle(struct twheel_timer *timer)
{
	struct session *s = twheel_timer_container(timer, struct session, idle);
	uint64_t due = s->nr % 4 ? 5 + IDLE : 1005 + IDLE;

	wrong += now != due || s->nr % 4 == 1 || twheel_timer_pending(timer);
	out_of_order += s->nr % 4 == 3 && s->nr / 4 * 2 + 1 != expired;
	expired++;
	free(s);
}

static void on_tick(struct twheel_timer *timer)
{
	if (++ticks < 70)
		twheel_timer_start(wheel, timer, now + 1000);
}

int main(void)
{
	static struct session *all[SESSIONS];
	static struct twheel_timer ticker;
	int i;

	wheel = twheel_timers_new(now);
	if (!wheel)
		return 1;
	ticker.fn = on_tick;
	twheel_timer_start(wheel, &ticker, now + 1000);
	for (i = 0; i < SESSIONS; i++) {
		all[i] = (struct session *)calloc(1, sizeof(*all[i]));
		all[i]->nr = i;
		all[i]->idle.fn = on_idle;
		twheel_timer_start(wheel, &all[i]->idle, now + IDLE);
	}
	for (i = 0; i < SESSIONS; i += 4) {
		twheel_timer_push(wheel, &all[i]->idle, now + 1000 + IDLE);
		wrong += !twheel_timer_stop(wheel, &all[i + 1]->idle);
		free(all[i + 1]);
	}
	while (twheel_timers_count(wheel)) {
		now = twheel_timers_next(wheel);
		twheel_timers_advance(wheel, now, UINT_MAX);
	}
	twheel_timers_free(wheel);
	printf("expired %d, out of order %d, wrong %d, ", expired, out_of_order, wrong);
	printf("ticks %d, at %d\n", ticks, (int)now);
	return 0;
}
