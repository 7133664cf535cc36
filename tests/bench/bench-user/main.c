// SPDX-License-Identifier: GPL-2.0
/*
 * The user benchmark: one run
 *
 * Usage: bench [-q] -n TIMERS IMPLEMENTATION
 *	bench -p	timeouts of sockets, and what they cost a packet
 *
 * A run creates the timers one after the other, and arms all to expire long
 * after the end. With all timers pending it then stops, starts and refreshes
 * random ones. Then it lets some expire and collects them.
 *
 * Rows of build/bench/user.csv go to standard output after "csv:". Other lines
 * are for people. The machine has one CPU and counts instructions
 * (tests/vm/run -i): a nanosecond is an instruction.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"

const unsigned int one_and_many[] = { 1, SAMPLE, 0 };

static const struct impl * const impls[] = {
	&impl_twheel,
	&impl_twheel_shared,
	&impl_timerfd,
	&impl_process,
	&impl_process_shared,
	&impl_process_threads,
#ifdef HAVE_LIBEVENT
	&impl_libevent,
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
	 unsigned int batch, double value)
{
	printf("csv:user,icount,%s,%s,%s,%u,1,%u,ns,%.2f\n", b->impl->name,
	       operation, distribution, batch, b->timers, value);
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
	struct rlimit files = { 1 << 20, 1 << 20 };

	if (setrlimit(RLIMIT_NOFILE, &files))
		fail("setrlimit");
}

static void whole_run(struct bench *b)
{
	number(b);
	b->impl->open(b->timers);
	fill(b);
	measure_operations(b);
	measure_lives(b);
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
	struct bench b = { .timers = 1000 };
	bool sockets = false;
	int option;

	while ((option = getopt(argc, argv, "n:qp")) >= 0) {
		if (option == 'n')
			b.timers = strtoul(optarg, NULL, 10);
		else if (option == 'q')
			b.quick = true;
		else if (option == 'p')
			sockets = true;
		else
			return 2;
	}
	if (optind != argc - !sockets || b.timers < SAMPLE)
		return 2;
	raise_limits();
	if (sockets) {
		measure_sockets(&b);
		return 0;
	}
	b.impl = find_impl(argv[optind]);
	whole_run(&b);
	return 0;
}
