// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <twheel.h>

#include "steps.h"

static struct twheel *wheel;
static struct twheel_batch *batch;

void timeouts_open(void)
{
	if (twheel_open(&wheel, NULL) || twheel_batch_new(wheel, 256, &batch))
		err(1, "/dev/twheel");
}

int timeouts_fd(void)
{
	return twheel_fd(wheel);
}

void opened(int connection)
{
	heard_from(connection);
}

/* When there are 256 of them they are submitted. */
void heard_from(int connection)
{
	if (twheel_batch_start_flags(batch, connection, timeout_ns, 0, 0,
				     TWHEEL_START_REPLACE) < 0)
		errx(1, "twheel_batch_start_flags");
}

void closed(int connection)
{
	if (twheel_batch_withdraw(batch, connection) < 0)
		errx(1, "twheel_batch_withdraw");
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
	if (twheel_batch_flush(batch) < 0)
		errx(1, "twheel_batch_flush");
}
