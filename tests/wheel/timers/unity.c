// SPDX-License-Identifier: GPL-2.0
/*
 * A program that includes twheel_timer.c between its own code, which uses names of the wheel
 */
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define likely(x)		(x)
#define BIT(nr)			(1 << (nr))
#define container_of(a, b, c)	none
#define step			7
#define READ_ONCE		none

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>

static int hier_pop(void)
{
	return step;
}

#include "twheel_timer.c"

#ifdef TWHEEL_HIER_BITS
#error a name of the wheel is left
#endif

typedef unsigned char u32;

struct list_head {
	u32 x;
};

struct twheel_slot {
	struct list_head head;
};

static int hier_cascade(int a)
{
	return min(a, max(1, BIT(2)));
}

static int expiries;

static void on_expiry(struct twheel_timer *timer)
{
	expiries += twheel_timer_pending(timer) ? 100 : 1;
}

int main(void)
{
	struct twheel_slot slot = { { 255 } };
	struct twheel_timers *w = twheel_timers_new(0);
	struct twheel_timer timer;

	memset(&timer, 0, sizeof(timer));
	timer.fn = on_expiry;
	twheel_timer_start(w, &timer, 4);
	twheel_timer_push(w, &timer, 70000);
	twheel_timers_advance(w, 69999, 1);
	twheel_timers_advance(w, 70000, 1);
	twheel_timers_free(w);
	return expiries == 1 && hier_pop() == 7 && hier_cascade(9) == 4 && slot.head.x == 255 &&
	       EPOLLIN == 1 && SIGINT == 2 && POLL_IN == 1 ? 0 : 1;
}
