// SPDX-License-Identifier: GPL-2.0
/*
 * libtwheel's session in the process, without the module
 *
 * The session is for one thread, as a loop of libevent or libuv is, and takes no lock.
 * Starts have deadlines, which are in memory before, so that no start looks at the
 * clock: a program that has a loop knows the time. "process-shared" has words: there a
 * refresh is a store, and so is a stop. "process-threads" is for threads, with the lock.
 */
#include <twheel.h>

#include "bench.h"

struct arming {
	uint64_t id;
	uint64_t deadline_ns;
};

static struct twheel *session;
static struct arming args[EXTRA];
static struct twheel_event events[SAMPLE];

static void open_session(unsigned int timers, bool words, unsigned int flags)
{
	struct twheel_setup setup = {
		.max_timers = timers + EXTRA,
		.shared_ids = words ? timers + EXTRA : 0,
	};
	uint64_t id;

	if (twheel_open_flags(&session, &setup, TWHEEL_OPEN_PROCESS | flags))
		fail("twheel_open_flags");
	/* The words are in memory before. */
	for (id = 0; id < setup.shared_ids; id++)
		twheel_refresh(session, id, 0);
}

static void process_open(unsigned int timers)
{
	open_session(timers, false, TWHEEL_OPEN_ONE_THREAD);
}

static void process_prepare(enum operation op, const struct request *requests,
			    unsigned int nr, unsigned int batch)
{
	uint64_t now = now_ns();
	unsigned int i;

	for (i = 0; i < nr; i++) {
		args[i].id = requests[i].id;
		args[i].deadline_ns = now + requests[i].delay_ns;
	}
	(void)op;
	(void)batch;
}

static void start(unsigned int nr, int least)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (twheel_start_at(session, args[i].id, args[i].deadline_ns,
				    args[i].id) < least)
			fail("twheel_start_at");
}

static void process_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int i;

	if (op != STOP) {
		start(nr, op == REFRESH);
		return;
	}
	for (i = 0; i < nr; i++)
		if (twheel_stop(session, args[i].id))
			fail("twheel_stop");
	(void)batch;
}

static unsigned int process_collect(unsigned int nr, unsigned int batch)
{
	unsigned int done = 0;
	int ret;

	while (done < nr) {
		ret = twheel_read(session, events, batch);
		if (ret < 0)
			fail("twheel_read");
		done += ret;
	}
	return done;
}

const struct impl impl_process = {
	.name		= "process",
	.reads		= one_and_many,
	.open		= process_open,
	.prepare	= process_prepare,
	.run		= process_run,
	.collect	= process_collect,
};

static void threads_open(unsigned int timers)
{
	open_session(timers, false, 0);
}

const struct impl impl_process_threads = {
	.name		= "process-threads",
	.reads		= one_and_many,
	.open		= threads_open,
	.prepare	= process_prepare,
	.run		= process_run,
	.collect	= process_collect,
};

static void words_open(unsigned int timers)
{
	open_session(timers, true, TWHEEL_OPEN_ONE_THREAD);
}

static void words_run(enum operation op, unsigned int nr, unsigned int batch)
{
	unsigned int i;

	if (op == ARM)
		start(nr, 0);
	else if (op == STOP)
		for (i = 0; i < nr; i++)
			twheel_stop_by_store(session, args[i].id);
	else
		for (i = 0; i < nr; i++)
			twheel_refresh(session, args[i].id, args[i].deadline_ns);
	(void)batch;
}

const struct impl impl_process_shared = {
	.name		= "process-shared",
	.reads		= one_and_many,
	.open		= words_open,
	.prepare	= process_prepare,
	.run		= words_run,
	.collect	= process_collect,
};
