// SPDX-License-Identifier: GPL-2.0
#include <twheel.h>

#include "steps.h"

static struct twheel *wheel;
static struct twheel_batch *batch;

void timeouts_open(void)
{
	must(twheel_open(&wheel, NULL), "/dev/twheel");
	must(twheel_batch_new(wheel, 256, &batch), "batch");
}

int timeouts_fd(void)
{
	return twheel_fd(wheel);
}

void opened(int connection)
{
	heard_from(connection);
}

/* Add a start. The batch submits itself when it has 256 operations. */
void heard_from(int connection)
{
	must(twheel_batch_start(batch, connection, timeout_ns, 0), "start");
}

void closed(int connection)
{
	must(twheel_batch_stop(batch, connection), "stop");
}

void collect(void)
{
	struct twheel_event events[64];
	int i, got;

	before_waiting();
	while ((got = twheel_read(wheel, events, 64)) > 0)
		for (i = 0; i < got; i++)
			connection_idle(events[i].id);
}

void before_waiting(void)
{
	must(twheel_batch_flush(batch), "flush");
}
