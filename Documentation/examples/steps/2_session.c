// SPDX-License-Identifier: GPL-2.0
#include <twheel.h>

#include "steps.h"

static struct twheel *wheel;

void timeouts_open(void)
{
	must(twheel_open(&wheel, NULL), "/dev/twheel");
}

int timeouts_fd(void)
{
	return twheel_fd(wheel);
}

void opened(int connection)
{
	heard_from(connection);
}

/* Start the timer again. If it has an unread event, the event is withdrawn. */
void heard_from(int connection)
{
	must(twheel_start(wheel, connection, timeout_ns, 0), "start");
}

void closed(int connection)
{
	twheel_stop(wheel, connection);
}

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
