// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the trace that all timers replay (trace.h)
 *
 * usage: trace one|mixed|expire|late PENDING FILE
 *
 *	one	one timeout for all connections
 *	mixed	a timeout for each connection, from the timeout of "one" to sixteen times that,
 *		with equally many connections in each doubling
 *	expire	one timeout for all connections, which only open and expire
 *	late	like "one", but a connection may fall silent after any of its heartbeats, so that
 *		deadlines are at all places between two ticks
 *
 * PENDING connections open in an interval, in the order of their numbers. Each connection has BEATS
 * heartbeats, one at a random time in each later interval. In the interval after these, three of
 * four connections close, and the fourth falls silent. If PENDING is small, other connections
 * follow, so that there is enough to measure. The more connections there are, the longer is the
 * interval, so that a step has about a hundred records and slow ways keep up.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../api/selftests/user.h"
#include "trace.h"

#define BEATS		10
#define DOUBLINGS	4
/* Least number of connections of a trace. */
#define ENOUGH		16000

static unsigned int interval_ms, least_timeout_ms;

static struct trace_record *records, *sorted;
static unsigned int nr_records;
static __u64 seed = 88172645463325252ULL;

static unsigned int below(unsigned int end)
{
	return (xorshift(&seed) >> 32) * end >> 32;
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
	unsigned int least = least_timeout_ms << below(DOUBLINGS);

	return least + below(least);
}

/*
 * Record the life of a connection, from its opening in @step on. Returns the step of its last
 * record, or of its expiry if it falls silent.
 */
static unsigned int live(unsigned int connection, unsigned int step, unsigned int begin,
			 unsigned int beats, unsigned int timeout_ms, int silent)
{
	unsigned int i;

	record(step, connection, TRACE_OPEN, timeout_ms);
	for (i = 1; i <= beats; i++) {
		step = begin + i * interval_ms + below(interval_ms);
		record(step, connection, TRACE_BEAT, timeout_ms);
	}
	if (silent)
		return step + timeout_ms;
	step = begin + i * interval_ms + below(interval_ms);
	record(step, connection, TRACE_CLOSE, 0);
	return step;
}

/* Sort records by step. Records of one step keep their order. */
static void sort(unsigned int steps)
{
	unsigned int *next = calloc(steps + 1, sizeof(*next)), i;

	if (!next)
		err(1, "calloc");
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
		err(1, "%s", name);
}

/* Record the lives of PENDING connections. Returns the last step of any of them. */
static unsigned int crowd(struct trace_header *header, const char *kind, unsigned int begin)
{
	unsigned int last = begin, end, i;
	int expire = !strcmp(kind, "expire"), late = !strcmp(kind, "late");

	for (i = 0; i < header->pending; i++) {
		unsigned int step = begin + (__u64)i * interval_ms / header->pending;
		int silent = expire || !below(4);
		unsigned int beats = expire ? 0 : late && silent ? 1 + below(BEATS) : BEATS;

		end = live(header->connections++, step, begin, beats,
			   header->timeout_ms ?: mixed_timeout(), silent);
		header->expiries += silent;
		last = end > last ? end : last;
	}
	return last;
}

int main(int argc, char **argv)
{
	struct trace_header header = { .magic = TRACE_MAGIC };
	unsigned int last = 0, most;

	if (argc != 4)
		return 2;
	header.pending = strtoul(argv[2], NULL, 10);
	interval_ms = header.pending / 100 > 50 ? header.pending / 100 : 50;
	/* Two heartbeats are at most two intervals apart, and a timeout must be longer. */
	least_timeout_ms = interval_ms * 12 / 5;
	header.timeout_ms = strcmp(argv[1], "mixed") ? least_timeout_ms : 0;
	most = (ENOUGH + header.pending) * (BEATS + 2) + 2;
	records = calloc(most, sizeof(*records));
	sorted = calloc(most, sizeof(*records));
	if (!records || !sorted)
		err(1, "calloc");
	while (header.connections < ENOUGH) {
		last = crowd(&header, argv[1], last);
		if (header.connections == header.pending)
			record(interval_ms, 0, TRACE_FULL, 0);
	}
	/* The last expiry may be late: with timer_list, by an eighth of its timeout. */
	last += 1000 + (least_timeout_ms << DOUBLINGS) / 8;
	record(last, 0, TRACE_END, 0);
	sort(last + 1);
	header.records = nr_records;
	write_file(argv[3], &header);
	return 0;
}
