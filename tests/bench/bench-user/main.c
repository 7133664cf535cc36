// SPDX-License-Identifier: GPL-2.0
/*
 * The user benchmark: one run
 *
 * Usage: bench [-q] -m icount|wall -n TIMERS IMPLEMENTATION
 *	bench [-q] -m wall -n TIMERS -c	the timeouts of so many connections
 *	bench -m MODE -p		timeouts of sockets, and what they cost a packet
 *	bench -m MODE -s IMPLEMENTATION	count system calls
 *	bench -m MODE -l IMPLEMENTATION	how many timers a user may have
 *
 * A run creates the timers one after the other, and arms all to expire long
 * after the end. It reports the memory that this took. With all timers pending
 * it then stops, starts and refreshes random ones. Then it lets some expire
 * and collects them.
 *
 * Rows of build/bench/user.csv go to standard output after "csv:". Other lines
 * are for people. "-m icount" is for one CPU in a machine that counts
 * instructions (tests/vm/run -i), where a nanosecond is an instruction.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "memory.h"

const unsigned int all_batches[] = { 1, 16, 256, 4096, 0 };
const unsigned int one_by_one[] = { 1, 0 };

const char * const operation_names[NR_OPERATIONS] = {
	[CREATE]	= "create",
	[ARM]		= "arm",
	[REFRESH]	= "refresh",
	[STOP]		= "stop",
};

static const struct impl * const impls[] = {
	&impl_twheel,
	&impl_twheel_shared,
	&impl_timerfd,
	&impl_posix,
#ifdef HAVE_URING
	&impl_uring,
#endif
	&impl_process,
	&impl_process_shared,
	&impl_process_threads,
	&impl_heap,
#ifdef HAVE_LIBEVENT
	&impl_libevent,
#endif
#ifdef HAVE_LIBUV
	&impl_libuv,
#endif
#ifdef HAVE_GLIB
	&impl_glib,
#endif
};

void fail(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

void *allocate(unsigned int nr, unsigned int size)
{
	void *memory = calloc(nr, size);

	if (!memory)
		fail("calloc");
	/* Touch it, so that no sample takes a page fault. */
	memset(memory, 0xff, (size_t)nr * size);
	memset(memory, 0, (size_t)nr * size);
	return memory;
}

/* Random numbers, the same in every run. */
uint64_t random64(void)
{
	static __u64 state = 88172645463325252ULL;

	return xorshift(&state);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(double *values, unsigned int nr)
{
	qsort(values, nr, sizeof(*values), compare);
	return values[nr / 2];
}

void row(const struct bench *b, const char *operation, const char *distribution,
	 unsigned int batch, const char *unit, double value)
{
	printf("csv:user,%s,%s,%s,%s,%u,1,%u,%s,%.*f\n", b->mode,
	       b->impl->name, operation, distribution, batch, b->timers, unit,
	       strcmp(unit, "calls") ? 2 : 4, value);
	fflush(stdout);
}

static void number(struct bench *b)
{
	unsigned int i;

	b->order = allocate(b->timers, sizeof(*b->order));
	for (i = 0; i < b->timers; i++)
		b->order[i] = i;
}

/* Raises the limits for root, so that only the kernel's own limits are left. */
static void raise_limits(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit files = { 1 << 20, 1 << 20 };

	if (setrlimit(RLIMIT_SIGPENDING, &all) ||
	    setrlimit(RLIMIT_NOFILE, &files))
		fail("setrlimit");
}

/* Memory per timer, from before the first to after the last was armed. */
static void report_memory(const struct bench *b, struct memory before)
{
	struct memory after = memory_read();

	row(b, "memory", "slabinfo", 1, "bytes",
	    (after.slabinfo - before.slabinfo) / b->timers);
	row(b, "memory", "meminfo", 1, "bytes",
	    (after.meminfo - before.meminfo) / b->timers);
	row(b, "memory", "process", 1, "bytes",
	    (after.process - before.process) / b->timers);
}

static void whole_run(struct bench *b)
{
	struct memory before;

	raise_limits();
	number(b);
	b->impl->open(b->timers);
	/* Memory of the last process may still be on its way back. */
	sleep(1);
	before = memory_read();
	if (!fill(b))
		return;
	report_memory(b, before);
	measure_operations(b);
	measure_expiry(b);
	measure_timeout(b);
}

static void connections(struct bench *b)
{
	raise_limits();
	number(b);
	measure_connections(b);
}

static void sockets(struct bench *b)
{
	raise_limits();
	measure_sockets(b);
}

static const struct impl *find_impl(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(impls) / sizeof(impls[0]); i++)
		if (!strcmp(impls[i]->name, name))
			return impls[i];
	/* Not built because its library is missing: no row, and no error. */
	printf("%s: was not built\n", name);
	exit(0);
}

int main(int argc, char **argv)
{
	struct bench b = { .mode = "icount", .timers = 1000 };
	void (*what)(struct bench *b) = whole_run;
	bool alone;
	int option;

	while ((option = getopt(argc, argv, "m:n:qcpsl")) >= 0) {
		if (option == 'm')
			b.mode = optarg;
		else if (option == 'n')
			b.timers = strtoul(optarg, NULL, 10);
		else if (option == 'q')
			b.quick = true;
		else if (option == 'c')
			what = connections;
		else if (option == 'p')
			what = sockets;
		else if (option == 's')
			what = count_syscalls;
		else if (option == 'l')
			what = find_limit;
		else
			return 2;
	}
	alone = what == connections || what == sockets;
	if (optind != argc - !alone || b.timers < SAMPLE)
		return 2;
	if (!alone)
		b.impl = find_impl(argv[optind]);
	what(&b);
	return 0;
}
