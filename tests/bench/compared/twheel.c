// SPDX-License-Identifier: GPL-2.0
/*
 * twheel by its library, in five ways, for which the Makefile defines
 *
 *	WHERE	place of the session: TWHEEL_OPEN_KERNEL or TWHEEL_OPEN_PROCESS
 *	BATCH	1: a step makes its starts in one call and, without words, its refreshes and
 *		stops, too
 *	WORDS	1: a refresh or a stop is a store
 *
 * Follows Documentation/libtwheel.rst and twheel.h: twheel_refresh() for a heartbeat,
 * twheel_batch_flush(), twheel_read() until it returns fewer events than there is room for.
 */
#include <errno.h>
#include <twheel.h>

#include "replay.h"

#define ROOM	256

static struct twheel *session;
static struct twheel_batch *batch;

static void check(int ret, const char *what)
{
	if (ret >= 0)
		return;
	errno = -ret;
	err(1, "%s", what);
}

void adapter_open(unsigned int connections)
{
	struct twheel_setup setup = {
		.max_timers = connections,
		.shared_ids = WORDS ? connections : 0,
	};

	check(twheel_open_flags(&session, &setup, WHERE), "twheel_open_flags");
	check(twheel_batch_new(session, ROOM, &batch), "twheel_batch_new");
	loop_watch(twheel_fd(session), 0);
}

void adapter_start(unsigned int connection, uint64_t deadline_ns)
{
	if (BATCH)
		check(twheel_batch_start_at(batch, connection, deadline_ns, connection), "a batch");
	else
		check(twheel_start_at(session, connection, deadline_ns, connection), "a start");
}

void adapter_refresh(unsigned int connection, uint64_t deadline_ns)
{
	if (WORDS)
		twheel_refresh(session, connection, deadline_ns);
	else
		adapter_start(connection, deadline_ns);
}

void adapter_stop(unsigned int connection)
{
	if (WORDS)
		twheel_stop_by_store(session, connection);
	else if (BATCH)
		check(twheel_batch_stop(batch, connection), "a batch");
	else
		check(twheel_stop(session, connection), "a stop");
}

void adapter_flush(void)
{
	if (BATCH)
		check(twheel_batch_flush(batch), "twheel_batch_flush");
}

void adapter_take(unsigned int unused)
{
	struct twheel_event events[ROOM];
	int got, i;

	do {
		got = twheel_read(session, events, ROOM);
		check(got, "twheel_read");
		for (i = 0; i < got; i++)
			replay_expired(events[i].user_data);
	} while (got == ROOM);
}
