// SPDX-License-Identifier: GPL-2.0
/*
 * libtwheel's session in the process, without the module
 *
 * Starts have absolute deadlines, which are computed in advance, so that no start reads the clock:
 * a program with an event loop knows the time anyway. The session of "process-shared" has words, so
 * that a refresh or a stop is a store.
 */
#include <twheel.h>

#include "bench.h"

static struct twheel *session;
static bool words;
static struct request args[EXTRA];
static struct twheel_event events[SAMPLE];

static void process_open(unsigned int timers)
{
	struct twheel_setup setup = {
		.max_timers = timers + EXTRA,
		.shared_ids = words ? timers + EXTRA : 0,
	};
	uint64_t id;

	if (twheel_open_flags(&session, &setup, TWHEEL_OPEN_PROCESS))
		err(1, "twheel_open_flags");
	/* Write to each word once, so that no sample takes a page fault. */
	for (id = 0; id < setup.shared_ids; id++)
		twheel_refresh(session, id, 0);
}

static void words_open(unsigned int timers)
{
	words = true;
	process_open(timers);
}

static void process_prepare(enum operation op, unsigned int i, const struct request *r)
{
	args[i] = *r;
}

static void process_run(enum operation op, unsigned int nr, unsigned int batch)
{
	int least = op == REFRESH;
	unsigned int i;

	if (words && op == STOP) {
		for (i = 0; i < nr; i++)
			twheel_stop_by_store(session, args[i].id);
	} else if (words && op == REFRESH) {
		for (i = 0; i < nr; i++)
			twheel_refresh(session, args[i].id, args[i].deadline_ns);
	} else if (op == STOP) {
		for (i = 0; i < nr; i++)
			if (twheel_stop(session, args[i].id))
				err(1, "twheel_stop");
	} else {
		for (i = 0; i < nr; i++)
			if (twheel_start_at(session, args[i].id, args[i].deadline_ns,
					    args[i].id) < least)
				err(1, "twheel_start_at");
	}
}

static unsigned int process_collect(unsigned int nr, unsigned int batch)
{
	unsigned int done = 0;
	int ret;

	while (done < nr) {
		ret = twheel_read(session, events, batch);
		if (ret < 0)
			err(1, "twheel_read");
		done += ret;
	}
	return done;
}

#define PROCESS(label, open_fn)			\
	.name = label,				\
	.reads = one_and_many,			\
	.open = open_fn,			\
	.prepare = process_prepare,		\
	.run = process_run,			\
	.collect = process_collect

const struct impl impl_process = { PROCESS("process", process_open) };
const struct impl impl_process_shared = { PROCESS("process-shared", words_open) };
