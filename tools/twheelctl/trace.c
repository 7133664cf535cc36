// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl: parses lines of a trace, and adds them up
 *
 * A line looks as Documentation/trace/ftrace.rst of the kernel describes it:
 *
 *            sleep-123     [001] d..2.   12.345678: twheel_start: timer=... fn=...
 *
 * The first 16 columns are the name of the thread, which may contain any characters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "trace.h"

#define COMM_WIDTH	16
/* Largest number of rows. Events of further threads, wheels and functions have no row. */
#define ROWS_MAX	4096
#define US		1000ULL

static const struct {
	const char *name;
	enum trace_event event;
} events[] = {
	{ "twheel_start:", TRACE_START },
	{ "twheel_stop:", TRACE_STOP },
	{ "twheel_expire:", TRACE_EXPIRE },
};

/*
 * Return the limit of a bucket in ns: 1 us, 2 us, 5 us, 10 us, ... The bucket counts smaller
 * values.
 */
__u64 trace_bucket_end(unsigned int bucket)
{
	static const unsigned int steps[] = { 1, 2, 5 };
	__u64 end = steps[bucket % 3] * US;

	for (; bucket >= 3; bucket -= 3)
		end *= 10;
	return end;
}

/* --- a line ----------------------------------------------------------------- */

/* Parse the number at the beginning of a text. Returns false if there is none. */
static bool take_number(const char *text, __u64 *number)
{
	char *end;

	*number = strtoull(text, &end, 10);
	return end != text && *text != '-';
}

static bool parse_task(const char *text, struct trace_line *line)
{
	const char *name = text + strspn(text, " ");

	if (strlen(text) <= COMM_WIDTH || text[COMM_WIDTH] != '-' ||
	    name > text + COMM_WIDTH)
		return false;
	snprintf(line->who.task, sizeof(line->who.task), "%.*s",
		 (int)(text + COMM_WIDTH - name), name);
	return take_number(text + COMM_WIDTH + 1, &line->who.tid);
}

/* Return the text behind "key=", or NULL if there is no such key. */
static const char *find_value(const char *text, const char *key)
{
	const char *found = strstr(text, key);

	return found ? found + strlen(key) : NULL;
}

/* Parse the number behind "key=". */
static bool find_number(const char *text, const char *key, __u64 *number)
{
	const char *value = find_value(text, key);

	return value && take_number(value, number);
}

static bool parse_fields(const char *text, struct trace_line *line)
{
	const char *fn = find_value(text, " fn=");
	const char *wheel = fn ? strstr(fn, " wheel=") : NULL;
	__u64 ticks, tick_ns, restart;

	if (!wheel || !find_number(wheel, " wheel=", &line->who.wheel) ||
	    !find_number(wheel, " tick_ns=", &tick_ns) ||
	    !find_number(wheel, " expires=", &ticks) ||
	    __builtin_mul_overflow(ticks, tick_ns, &line->expires_ns))
		return false;
	snprintf(line->who.function, sizeof(line->who.function), "%.*s",
		 (int)(wheel - fn), fn);
	if (line->event == TRACE_START &&
	    find_number(wheel, " restart=", &restart) && restart)
		line->event = TRACE_RESTART;
	return true;
}

/* Parse the text behind the name of the thread: " [001] d..2.   12.345678: twheel_start: ". */
static bool parse_rest(const char *text, struct trace_line *line)
{
	char flags[16], name[TRACE_NAME];
	__u64 seconds, us;
	int length = 0;
	size_t i;

	text = strchr(text, '[');
	if (!text || sscanf(text, "[%*u] %15s %llu.%6llu: %31s%n", flags,
			    &seconds, &us, name, &length) != 4 || !length)
		return false;
	if (strlen(flags) > 2 && strchr("shHZz", flags[2]))
		line->who = (struct trace_who) { .task = "(softirq)" };
	line->when_ns = seconds * NS_PER_SECOND + us * US;
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (!strcmp(name, events[i].name)) {
			line->event = events[i].event;
			return parse_fields(text + length, line);
		}
	}
	line->event = TRACE_OTHER;
	return true;
}

/* Parse a line. Returns false if it is not a line of a trace. */
bool trace_parse(const char *text, struct trace_line *line)
{
	return parse_task(text, line) &&
	       parse_rest(text + COMM_WIDTH, line);
}

/* --- the sums --------------------------------------------------------------- */

/* Return true if the kernel printed a placeholder instead of the thread's name. */
static bool has_no_name(const struct trace_who *who)
{
	return !strcmp(who->task, "<...>");
}

static bool is_same(const struct trace_who *a, const struct trace_who *b)
{
	return a->tid == b->tid && a->wheel == b->wheel &&
	       !strcmp(a->function, b->function) &&
	       (!strcmp(a->task, b->task) || has_no_name(a) || has_no_name(b));
}

static struct trace_row *find_row(struct trace *trace,
				  const struct trace_line *line)
{
	struct trace_row *row;
	size_t i;

	for (i = 0; i < trace->nr_rows; i++) {
		row = &trace->rows[i];
		if (!is_same(&row->who, &line->who))
			continue;
		if (has_no_name(&row->who))
			row->who = line->who;
		return row;
	}
	if (trace->nr_rows == ROWS_MAX)
		return NULL;
	if (trace->nr_rows == trace->room) {
		trace->room = trace->room ? 2 * trace->room : 16;
		trace->rows = reallocarray(trace->rows, trace->room,
					   sizeof(trace->rows[0]));
		if (!trace->rows)
			ctl_die(CTL_FAILED, "no memory");
	}
	row = &trace->rows[trace->nr_rows++];
	*row = (struct trace_row) { .who = line->who };
	return row;
}

static void add_interval(struct trace_row *row, const struct trace_line *line)
{
	__u64 interval = line->expires_ns > line->when_ns ?
			 line->expires_ns - line->when_ns : 0;

	if (!row->intervals || interval < row->interval_min)
		row->interval_min = interval;
	if (interval > row->interval_max)
		row->interval_max = interval;
	row->interval_sum += interval;
	row->intervals++;
}

/*
 * Add the lateness of an expiry. Traces have times in whole microseconds, so the expiry may seem
 * to come before its tick.
 */
static void add_late(struct trace *trace, const struct trace_line *line)
{
	__u64 late = line->when_ns > line->expires_ns ?
		     line->when_ns - line->expires_ns : 0;
	unsigned int bucket = 0;

	trace->late_sum += late;
	if (late > trace->late_max)
		trace->late_max = late;
	while (bucket < TRACE_BUCKETS - 1 && late >= trace_bucket_end(bucket))
		bucket++;
	trace->late[bucket]++;
}

static void add_line(struct trace *trace, const struct trace_line *line)
{
	struct trace_row *row;

	if (!trace->first_ns)
		trace->first_ns = line->when_ns;
	trace->last_ns = line->when_ns;
	if (line->event == TRACE_OTHER)
		return;
	trace->events[line->event]++;
	if (line->event == TRACE_EXPIRE)
		add_late(trace, line);
	row = find_row(trace, line);
	if (!row)
		return;
	row->events[line->event]++;
	if (line->event == TRACE_START || line->event == TRACE_RESTART)
		add_interval(row, line);
}

/* Add a line of a trace: an event, a comment, or the number of lost events. */
void trace_add(struct trace *trace, const char *text)
{
	struct trace_line line;
	__u64 lost;

	if (!strncmp(text, "CPU:", 4) && find_value(text, " [LOST ") &&
	    take_number(find_value(text, " [LOST "), &lost))
		trace->lost += lost;
	else if (trace_parse(text, &line))
		add_line(trace, &line);
	else if (*text && *text != '#' && *text != '\n')
		trace->unknown++;
}

static __u64 all_events(const struct trace_row *row)
{
	return row->events[TRACE_START] + row->events[TRACE_RESTART] +
	       row->events[TRACE_STOP] + row->events[TRACE_EXPIRE];
}

static int compare_rows(const void *a, const void *b)
{
	__u64 one = all_events(a);
	__u64 two = all_events(b);

	return one < two ? 1 : one > two ? -1 : 0;
}

/* Sort rows, with the busiest thread first. */
void trace_sort(struct trace *trace)
{
	if (trace->nr_rows)
		qsort(trace->rows, trace->nr_rows, sizeof(trace->rows[0]),
		      compare_rows);
}

void trace_free(struct trace *trace)
{
	free(trace->rows);
	*trace = (struct trace) { };
}
