/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The steps of a trace, in a program (replay.c) and in a module (kernel.c)
 *
 * The including file defines now_ns(), MS, print() as printf(3), sort_numbers(), which calls
 * compare(), and EARLY_MOST, by how many ns a timer may be early. It also defines mark() and
 * operate().
 */
#ifndef COMPARED_STEPS_H
#define COMPARED_STEPS_H

#include "trace.h"

static void mark(const char *word);
static void operate(const struct trace_record *record);

static const struct trace_header *header;
static const struct trace_record *next;
static bool empty, late, busy;
static __u64 begin, now, busy_at;
static __u32 expired;
static __u64 *deadlines;	/* by connection, in modes late and busy */
static __s64 *lateness;		/* by expiry, in the same modes */

/* Set the mode of the replay. Returns false if there is no such mode. */
static bool set_mode(const char *mode)
{
	empty = !strcmp(mode, "empty");
	busy = !strcmp(mode, "busy");
	late = busy || !strcmp(mode, "late");
	return empty || late || !strcmp(mode, "count");
}

/* Set the trace to replay, of @size bytes. Returns false if this is not a trace. */
static bool set_trace(const void *trace, __u64 size)
{
	header = trace;
	next = (const struct trace_record *)(header + 1);
	return header->magic == TRACE_MAGIC &&
	       size == sizeof(*header) + (__u64)header->records * sizeof(*next);
}

static void begin_steps(void)
{
	begin = now_ns();
	busy_at = begin + BUSY_EVERY_MS * MS;
}

static __u64 time_of(const struct trace_record *record)
{
	return begin + (__u64)record->step * STEP_NS;
}

/* Returns the time at which the loop has work: the next step, or a busy phase. */
static __u64 next_step(void)
{
	return busy && busy_at < time_of(next) ? busy_at : time_of(next);
}

/* Carry out all steps that are due. Returns false after the last. */
static bool carry_out(void)
{
	for (now = now_ns(); time_of(next) <= now; next++) {
		if (next->op == TRACE_END)
			return false;
		if (next->op == TRACE_FULL)
			mark("full");
		else
			operate(next);
	}
	return true;
}

/*
 * Keep the loop busy every BUSY_EVERY_MS, like a slow handler that runs after the handlers of a
 * step.
 */
static void compute(void)
{
	__u64 end;

	if (!busy || now < busy_at)
		return;
	end = now_ns() + BUSY_MS * MS;
	while (now_ns() < end)
		;
	busy_at += BUSY_EVERY_MS * MS;
}

static int compare(const void *a, const void *b)
{
	__s64 x = *(const __s64 *)a, y = *(const __s64 *)b;

	return (x > y) - (x < y);
}

/* Print the results. Returns false if a timer is lost or was too early. */
static bool report(void)
{
	__u32 nr = header->expiries, early = 0;

	print("expired %u timers\n", expired);
	if (!late || expired != nr)
		return expired == nr;
	sort_numbers(lateness, nr);
	while (early < nr && lateness[early] < 0)
		early++;
	print("early %u timers\n", early);
	print("earliest %lld ns\n", early ? -lateness[0] : 0);
	print("p50 %lld ns\n", lateness[nr / 2]);
	print("p99 %lld ns\n", lateness[nr - 1 - nr / 100]);
	print("worst %lld ns\n", lateness[nr - 1]);
	return lateness[0] >= -EARLY_MOST;
}

#endif /* COMPARED_STEPS_H */
