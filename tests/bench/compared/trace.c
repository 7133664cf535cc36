// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the trace that all timers replay (trace.h)
 *
 * usage: trace one|mixed|expire CONNECTIONS FILE
 *
 *	one	one timeout for all, of TIMEOUT_MS
 *	mixed	a timeout for each, from TIMEOUT_MS to sixteen times that, as many
 *		in each doubling
 *	expire	one timeout for all, and nothing but opening and expiring
 *
 * Connections come in the first INTERVAL_MS, in the order of their numbers. Each has BEATS
 * heartbeats, one in each interval after that, at any time in it. In the interval after these
 * three of four close, and one falls silent.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../api/selftests/user.h"
#include "trace.h"

#define INTERVAL_MS	5000
#define BEATS		10
#define TIMEOUT_MS	12000	/* more than two intervals */
#define DOUBLINGS	4

static struct trace_record *records, *sorted;
static unsigned int nr_records;
static __u64 seed = 88172645463325252ULL;

static unsigned int below(unsigned int end)
{
	return (xorshift(&seed) >> 32) * end >> 32;
}

static void fail(const char *what)
{
	fprintf(stderr, "trace: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void record(unsigned int step, unsigned int connection, enum trace_op op,
		   unsigned int timeout_ms)
{
	records[nr_records++] = (struct trace_record) {
		.step		= step,
		.connection	= connection,
		.op		= op,
		.timeout_ms	= timeout_ms,
	};
}

static unsigned int mixed_timeout(void)
{
	unsigned int least = TIMEOUT_MS << below(DOUBLINGS);

	return least + below(least);
}

/* Returns the step of its last record, or of its expiry. */
static unsigned int live(unsigned int connection, unsigned int connections,
			 unsigned int beats, unsigned int timeout_ms, int silent)
{
	unsigned int i, step = (__u64)connection * INTERVAL_MS / connections;

	record(step, connection, TRACE_OPEN, timeout_ms);
	for (i = 1; i <= beats; i++) {
		step = i * INTERVAL_MS + below(INTERVAL_MS);
		record(step, connection, TRACE_BEAT, timeout_ms);
	}
	if (silent)
		return step + timeout_ms;
	step = i * INTERVAL_MS + below(INTERVAL_MS);
	record(step, connection, TRACE_CLOSE, 0);
	return step;
}

/* By step, and those of one step in the order in which they were made. */
static void sort(unsigned int steps)
{
	unsigned int *next = calloc(steps + 1, sizeof(*next)), i;

	if (!next)
		fail("calloc");
	for (i = 0; i < nr_records; i++)
		next[records[i].step + 1]++;
	for (i = 1; i <= steps; i++)
		next[i] += next[i - 1];
	for (i = 0; i < nr_records; i++)
		sorted[next[records[i].step]++] = records[i];
	free(next);
}

static void write_file(const char *name, const struct trace_header *header)
{
	FILE *file = fopen(name, "w");

	if (!file || fwrite(header, sizeof(*header), 1, file) != 1 ||
	    fwrite(sorted, sizeof(*sorted), nr_records, file) != nr_records ||
	    fclose(file))
		fail(name);
}

int main(int argc, char **argv)
{
	struct trace_header header = { .magic = TRACE_MAGIC };
	unsigned int connections, beats = BEATS, last = 0, end, i;
	int mixed, expire;

	if (argc != 4)
		return 2;
	mixed = !strcmp(argv[1], "mixed");
	expire = !strcmp(argv[1], "expire");
	connections = strtoul(argv[2], NULL, 10);
	if (expire)
		beats = 0;
	records = calloc((size_t)connections * (BEATS + 2) + 2, sizeof(*records));
	sorted = calloc((size_t)connections * (BEATS + 2) + 2, sizeof(*records));
	if (!records || !sorted)
		fail("calloc");
	for (i = 0; i < connections; i++) {
		unsigned int timeout_ms = mixed ? mixed_timeout() : TIMEOUT_MS;
		int silent = expire || below(4) == 0;

		end = live(i, connections, beats, timeout_ms, silent);
		header.expiries += silent;
		last = end > last ? end : last;
	}
	record(INTERVAL_MS, 0, TRACE_FULL, 0);
	/* The latest may be late. */
	last += 1000;
	record(last, 0, TRACE_END, 0);
	sort(last + 1);
	header.connections = connections;
	header.records = nr_records;
	header.timeout_ms = mixed ? 0 : TIMEOUT_MS;
	write_file(argv[3], &header);
	return 0;
}
