// SPDX-License-Identifier: GPL-2.0
/*
 * A program that includes both pairs of files of "make amalgamation" among its own files, and uses
 * names that the module's sources use, too
 */
#define min			7
#define swap			none
#define READ_ONCE		none
#define current			none
#define session			9

#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>

typedef signed char u8;

static int stop(void)
{
	return session;
}

#include "twheel_timer.h"
#include "twheel.c"

#if defined(TWHEEL_HIER_BITS) || defined(max)
#error a name of the sessions is left
#endif

#include "twheel_timer.c"

struct list_head {
	u8 x;
};

struct file {
	struct list_head head;
};

struct twheel_session {
	struct file file;
};

static int insert(void)
{
	return min + stop();
}

static void on_expiry(struct twheel_timer *timer)
{
	timer->fn = NULL;
}

int main(void)
{
	struct twheel_session own = { { { -1 } } };
	struct twheel_timers *wheel = twheel_timers_new(0);
	struct twheel_timer timer = { .fn = on_expiry };
	struct twheel_event event;
	struct twheel *t;

	twheel_timer_start(wheel, &timer, 4);
	twheel_timers_advance(wheel, 4, 1);
	twheel_timers_free(wheel);
	if (twheel_open_flags(&t, NULL, TWHEEL_OPEN_PROCESS) || twheel_start(t, 3, 0, 33) ||
	    twheel_wait(t, &event, 1, -1) != 1)
		return 1;
	twheel_close(t);
	return !timer.fn && event.user_data == 33 && insert() == 16 && own.file.head.x == -1 &&
	       EPOLLIN == 1 && POLL_IN == 1 && SIGINT == 2 ? 0 : 1;
}
