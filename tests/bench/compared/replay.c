// SPDX-License-Identifier: GPL-2.0
/*
 * Replays a trace with the timers of an adapter
 *
 * usage: ADAPTER TRACE empty|count|late|busy; trace.h describes traces and modes
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "replay.h"

#ifndef METER
#define METER		"/proc/twheel_meter"
#endif

/* Timers may be early by up to this time, because libuv's clock has milliseconds. */
#define EARLY_MOST	((__s64)MS)
#define print		printf
#define sort_numbers(numbers, nr)	qsort(numbers, nr, sizeof(__s64), compare)

#include "steps.h"

static int step_fd, meter_fd;

void *allocate(unsigned int nr, unsigned int size)
{
	void *memory = calloc(nr, size);

	if (!memory)
		err(1, "calloc");
	return memory;
}

static void mark(const char *word)
{
	if (write(meter_fd, word, strlen(word)) < 0)
		err(1, METER);
}

uint64_t replay_now(void)
{
	return now;
}

int replay_fd(void)
{
	return step_fd;
}

bool replay_is_busy(void)
{
	return busy;
}

/* Count an expiry, and note its lateness. In mode busy, another thread may call this. */
void replay_expired(unsigned int connection)
{
	unsigned int i;

	if (!late) {
		expired++;
		return;
	}
	i = __atomic_fetch_add(&expired, 1, __ATOMIC_RELAXED);
	if (i < header->expiries)
		lateness[i] = now_ns() - deadlines[connection];
}

static void operate(const struct trace_record *record)
{
	__u64 deadline = now + record->timeout_ms * MS;

	if (empty)
		return;
	if (late)
		deadlines[record->connection] = deadline;
	if (record->op == TRACE_OPEN)
		adapter_start(record->connection, deadline);
	else if (record->op == TRACE_BEAT)
		adapter_refresh(record->connection, deadline);
	else
		adapter_stop(record->connection);
}

static void set_next(void)
{
	__u64 at = next_step();
	struct itimerspec spec = { .it_value = { at / SECOND, at % SECOND } };

	if (timerfd_settime(step_fd, TFD_TIMER_ABSTIME, &spec, NULL))
		err(1, "timerfd_settime");
}

bool replay_steps(void)
{
	uint64_t nr;
	bool more;

	if (read(step_fd, &nr, sizeof(nr)) < 0 && errno != EAGAIN)
		err(1, "the steps");
	more = carry_out();
	if (adapter_flush && !empty)
		adapter_flush();
	compute();
	if (more)
		set_next();
	return more;
}

static void read_trace(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *trace;

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", name);
	trace = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (trace == MAP_FAILED)
		err(1, "%s", name);
	errno = EINVAL;
	if (!set_trace(trace, st.st_size))
		err(1, "%s", name);
	close(fd);
}

/* Raise the limit: timerfd needs a descriptor per connection. */
static void raise_limits(void)
{
	struct rlimit files = { 1 << 20, 1 << 20 };

	if (setrlimit(RLIMIT_NOFILE, &files))
		err(1, "setrlimit");
}

int main(int argc, char **argv)
{
	if (argc != 3 || !set_mode(argv[2]))
		return 2;
	raise_limits();
	read_trace(argv[1]);
	if (late) {
		deadlines = allocate(header->connections, sizeof(*deadlines));
		lateness = allocate(header->expiries, sizeof(*lateness));
	}
	step_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	meter_fd = open(METER, O_WRONLY | O_CLOEXEC);
	if (step_fd < 0 || meter_fd < 0)
		err(1, "timerfd_create or " METER);
	adapter_open(header->connections);
	mark("begin");
	begin_steps();
	set_next();
	adapter_loop();
	mark("end");
	errno = ETIME;
	if (!empty && !report())
		err(1, "a timer is lost, or early");
	return 0;
}
