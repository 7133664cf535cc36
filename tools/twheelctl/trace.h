/* SPDX-License-Identifier: GPL-2.0 */
/*
 * twheelctl: lines of a trace, and their sums
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

enum trace_event {
	TRACE_START,
	TRACE_RESTART,
	TRACE_STOP,
	TRACE_EXPIRE,
	TRACE_NR_EVENTS,
	TRACE_OTHER = TRACE_NR_EVENTS,
};

#define TRACE_NAME	32
#define TRACE_FUNCTION	64
/* Number of buckets of lateness: below 1 us, 2 us, 5 us, 10 us, ... The last has no limit. */
#define TRACE_BUCKETS	25

/**
 * struct trace_who - a thread, and a kind of timers
 * @wheel: number of the timers' wheel
 * @tid: id of the thread, 0 in callbacks
 * @task: name of the thread, "(softirq)" in callbacks
 * @function: callback of the timers
 */
struct trace_who {
	__u64 wheel;
	__u64 tid;
	char task[TRACE_NAME];
	char function[TRACE_FUNCTION];
};

/**
 * struct trace_line - an event
 * @event: kind of event
 * @who: the thread, and the timer's wheel and function
 * @when_ns: time of the event, on the clock of the trace
 * @expires_ns: time of the tick of the timer
 */
struct trace_line {
	enum trace_event event;
	struct trace_who who;
	__u64 when_ns;
	__u64 expires_ns;
};

/**
 * struct trace_row - one thread and the timers of one wheel and function
 * @who: the thread, the wheel and the function
 * @events: number of events, by &enum trace_event
 * @intervals: number of starts and restarts
 * @interval_sum: sum of the times from start to deadline, ns
 * @interval_min: the shortest of these times
 * @interval_max: the longest of these times
 */
struct trace_row {
	struct trace_who who;
	__u64 events[TRACE_NR_EVENTS];
	__u64 intervals;
	double interval_sum;
	__u64 interval_min;
	__u64 interval_max;
};

/**
 * struct trace - the sums of a trace
 * @rows: events of each thread
 * @nr_rows: number of rows
 * @room: number of allocated rows
 * @events: events of all rows
 * @first_ns: time of the first event
 * @last_ns: time of the last event
 * @late: number of expiries in each bucket of lateness, see trace_bucket_end()
 * @late_max: largest lateness, ns
 * @late_sum: sum of all lateness, ns
 * @lost: number of events dropped by the kernel
 * @unknown: number of unknown lines
 */
struct trace {
	struct trace_row *rows;
	size_t nr_rows;
	size_t room;
	__u64 events[TRACE_NR_EVENTS];
	__u64 first_ns;
	__u64 last_ns;
	__u64 late[TRACE_BUCKETS];
	__u64 late_max;
	double late_sum;
	__u64 lost;
	__u64 unknown;
};

__u64 trace_bucket_end(unsigned int bucket);
bool trace_parse(const char *text, struct trace_line *line);
void trace_add(struct trace *trace, const char *text);
void trace_sort(struct trace *trace);
void trace_free(struct trace *trace);

#endif /* TRACE_H */
