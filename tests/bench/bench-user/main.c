// SPDX-License-Identifier: GPL-2.0
/*
 * The user benchmark: one run
 *
 * Usage: bench [-q] -n TIMERS IMPLEMENTATION
 *
 * A run creates the timers one after the other, and arms them to expire long after the end of the
 * run. While all timers are pending, it stops, starts and refreshes random ones. Then it lets
 * other timers expire and collects the expiries.
 *
 * Rows of build/bench/user.csv go to standard output after "csv:". Other lines are for people.
 * The machine has one CPU and counts instructions (tests/vm/run -i), so a nanosecond is an
 * instruction.
 */
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
#ifdef HAVE_LIBEVENT
	&impl_libevent,
#endif
};

void *allocate(unsigned int nr, unsigned int size)
{
	void *memory = calloc(nr, size);

	if (!memory)
		err(1, "calloc");
	/* Write to the memory, so that no sample takes a page fault. */
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

static const struct impl *find_impl(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(impls) / sizeof(impls[0]); i++)
		if (!strcmp(impls[i]->name, name))
			return impls[i];
	/*
	 * An implementation is not built if its library is missing. That is no error, but print no
	 * row of it.
	 */
	printf("%s: was not built\n", name);
	exit(0);
}

int main(int argc, char **argv)
{
	/* Allow as many descriptors as the kernel can. */
	struct rlimit files = { 1 << 20, 1 << 20 };
	struct bench b = { .timers = 1000 };
	int option;

	while ((option = getopt(argc, argv, "n:q")) >= 0) {
		if (option == 'n')
			b.timers = strtoul(optarg, NULL, 10);
		else if (option == 'q')
			b.quick = true;
		else
			return 2;
	}
	if (optind != argc - 1 || b.timers < SAMPLE)
		return 2;
	if (setrlimit(RLIMIT_NOFILE, &files))
		err(1, "setrlimit");
	b.impl = find_impl(argv[optind]);
	b.impl->open(b.timers);
	measure_operations(&b);
	measure_lives(&b);
	return 0;
}
