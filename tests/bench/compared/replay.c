// SPDX-License-Identifier: GPL-2.0
/*
 * Replays a trace for an adapter
 *
 * usage: ADAPTER TRACE empty|count|late|busy; trace.h says what these are
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
#include "trace.h"

/* libuv has a clock in milliseconds. */
#define EARLY_MOST	((int64_t)MS)

static const struct trace_header *header;
static const struct trace_record *next;
static bool empty, late, busy;
static int step_fd, meter_fd;
static uint64_t begin, now, busy_at;
static unsigned int expired;
static uint64_t *deadlines;	/* by connection, in late and busy */
static int64_t *lateness;	/* of each expiry, there too */

void fail(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

void *allocate(unsigned int nr, unsigned int size)
{
	void *memory = calloc(nr, size);

	if (!memory)
		fail("calloc");
	return memory;
}

static void meter(const char *word)
{
	if (write(meter_fd, word, strlen(word)) < 0)
		fail("/proc/twheel_meter");
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

/* May be called by another thread, in mode busy. */
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

static void set_next(void)
{
	uint64_t at = begin + (uint64_t)next->step * STEP_NS;
	struct itimerspec spec = {};

	if (busy && busy_at < at)
		at = busy_at;
	spec.it_value.tv_sec = at / SECOND;
	spec.it_value.tv_nsec = at % SECOND;
	if (timerfd_settime(step_fd, TFD_TIMER_ABSTIME, &spec, NULL))
		fail("timerfd_settime");
}

/* A handler that comes after the others, which know the time. */
static void compute(void)
{
	uint64_t end = now_ns() + BUSY_MS * MS;

	if (now < busy_at)
		return;
	while (now_ns() < end)
		;
	busy_at += BUSY_EVERY_MS * MS;
}

static void operate(const struct trace_record *record)
{
	uint64_t deadline = now + record->timeout_ms * MS;

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

/* A step in time or those that are late. */
static bool carry_out(void)
{
	for (; begin + (uint64_t)next->step * STEP_NS <= now; next++) {
		if (next->op == TRACE_END)
			return false;
		if (next->op == TRACE_FULL)
			meter("full");
		else
			operate(next);
	}
	return true;
}

bool replay_steps(void)
{
	uint64_t nr;
	bool more;

	if (read(step_fd, &nr, sizeof(nr)) < 0 && errno != EAGAIN)
		fail("the steps");
	now = now_ns();
	more = carry_out();
	if (adapter_flush && !empty)
		adapter_flush();
	if (busy)
		compute();
	if (more)
		set_next();
	return more;
}

static void read_trace(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		fail(name);
	header = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (header == MAP_FAILED)
		fail(name);
	errno = EINVAL;
	if (header->magic != TRACE_MAGIC ||
	    (size_t)st.st_size != sizeof(*header) + header->records * sizeof(*next))
		fail(name);
	next = (const struct trace_record *)(header + 1);
	close(fd);
}

/* Each connection has a descriptor, with some. */
static void raise_limits(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit files = { 1 << 20, 1 << 20 };

	if (setrlimit(RLIMIT_SIGPENDING, &all) || setrlimit(RLIMIT_NOFILE, &files))
		fail("setrlimit");
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Returns false if a timer was lost, or earlier than the resolution of any loop. */
static bool report(void)
{
	unsigned int nr = header->expiries, early = 0;

	printf("expired %u timers\n", expired);
	if (expired != nr)
		fprintf(stderr, "%u of %u timers have expired\n", expired, nr);
	if (!late || expired != nr)
		return expired == nr;
	qsort(lateness, nr, sizeof(*lateness), compare);
	while (early < nr && lateness[early] < 0)
		early++;
	printf("early %u timers\n", early);
	printf("earliest %lld ns\n", early ? -(long long)lateness[0] : 0);
	printf("p50 %lld ns\n", (long long)lateness[nr / 2]);
	printf("p99 %lld ns\n", (long long)lateness[nr - 1 - nr / 100]);
	printf("worst %lld ns\n", (long long)lateness[nr - 1]);
	return lateness[0] >= -EARLY_MOST;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	empty = !strcmp(argv[2], "empty");
	busy = !strcmp(argv[2], "busy");
	late = busy || !strcmp(argv[2], "late");
	raise_limits();
	read_trace(argv[1]);
	if (late) {
		deadlines = allocate(header->connections, sizeof(*deadlines));
		lateness = allocate(header->expiries, sizeof(*lateness));
	}
	step_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	meter_fd = open("/proc/twheel_meter", O_WRONLY | O_CLOEXEC);
	if (step_fd < 0 || meter_fd < 0)
		fail("timerfd_create or /proc/twheel_meter");
	adapter_open(header->connections);
	meter("begin");
	begin = now_ns();
	busy_at = begin + BUSY_EVERY_MS * MS;
	set_next();
	adapter_loop();
	meter("end");
	return !empty && !report();
}
