// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Several timers in one structure, and times in microseconds */
#include <limits.h>
#include <stdio.h>

#include <twheel_timer.h>

/* The timers of a connection, whose tags are their places in @timers */
enum { IDLE, WRITE, LIFE, NR_TIMERS };

struct connection {
	struct twheel_timer timers[NR_TIMERS];
	const char *name;
};

static void on_timer(struct twheel_timer *timer)
{
	static const char * const says[] = { "is idle", "does not read", "is too old" };
	struct connection *c;

	/* The tag is the timer's place in @timers: go back to the first timer of the array. */
	c = twheel_timer_container(timer - timer->tag, struct connection, timers);
	printf("%s %s at %llu us\n", c->name, says[timer->tag], (unsigned long long)timer->expires);
}

static void init_connection(struct connection *c, const char *name)
{
	unsigned int i;

	c->name = name;
	for (i = 0; i < NR_TIMERS; i++) {
		twheel_timer_init(&c->timers[i], on_timer);
		c->timers[i].tag = i;
	}
}

int main(void)
{
	struct twheel_timers *w = twheel_timers_new(0);
	struct connection a, b;
	uint64_t now;

	if (!w)
		return 1;
	twheel_timers_width(w, 10);
	init_connection(&a, "a");
	init_connection(&b, "b");
	twheel_timer_start(w, &a.timers[LIFE], 3600000000);
	twheel_timer_start(w, &a.timers[IDLE], 30000002);
	twheel_timer_start(w, &b.timers[WRITE], 30000001);
	while ((now = twheel_timers_next(w)) != TWHEEL_TIMERS_NEVER)
		twheel_timers_advance(w, now, UINT_MAX);
	twheel_timers_free(w);
	return 0;
}
