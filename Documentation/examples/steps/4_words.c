// SPDX-License-Identifier: GPL-2.0
#include <twheel.h>

#include "steps.h"

static struct twheel *wheel;

void timeouts_open(void)
{
	struct twheel_setup setup = { .shared_ids = MAX_CONNECTIONS };

	must(twheel_open(&wheel, &setup), "/dev/twheel");
}

int timeouts_fd(void)
{
	return twheel_fd(wheel);
}

/* Start the timer, and store its deadline in the word. */
void opened(int connection)
{
	must(twheel_start(wheel, connection, timeout_ns, 0), "start");
}

/* Store a later deadline. */
void heard_from(int connection)
{
	twheel_refresh(wheel, connection, twheel_now() + timeout_ns);
}

void closed(int connection)
{
	twheel_stop(wheel, connection);
}

/* twheel_read() returns no event of a timer that was refreshed after its expiry. */
void collect(void)
{
	struct twheel_event events[64];
	int i, got;

	while ((got = twheel_read(wheel, events, 64)) > 0)
		for (i = 0; i < got; i++)
			connection_idle(events[i].id);
}

void before_waiting(void)
{
}
