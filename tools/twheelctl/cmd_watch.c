// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl watch: who starts timers, and how late they expire
 *
 * The tracepoints are enabled in a separate instance of tracefs, which leaves the
 * tracing of other programs alone. The instance is removed at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "output.h"
#include "trace.h"

#define TRACEFS		"/sys/kernel/tracing"
#define BUFFER_KB	"4096"
#define TEXT_SIZE	65536
#define SHOW_EVERY	NS_PER_SECOND
#define BAR_WIDTH	40

struct watch_options {
	struct ctl_common *common;
	__u64 time;
	__u64 rows;
	const char *input;
};

/* --- the instance ----------------------------------------------------------- */

static char instance[64];

static void remove_instance(void)
{
	rmdir(instance);
}

__attribute__((format(printf, 2, 3)))
static void write_file(const char *text, const char *format, ...)
{
	ssize_t length = strlen(text);
	char path[160];
	va_list args;
	int fd;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, length) != length)
		ctl_die_errno(path, errno);
	close(fd);
}

/* Make the instance and enable its events. Returns the pipe from which its lines are read. */
static int open_instance(void)
{
	static const char * const events[] = {
		"twheel_start", "twheel_stop", "twheel_expire",
	};
	char path[128];
	size_t i;
	int fd;

	if (access(CTL_PROC, F_OK))
		ctl_die_errno(CTL_PROC, errno);
	snprintf(instance, sizeof(instance), TRACEFS "/instances/twheelctl-%d",
		 getpid());
	if (mkdir(instance, 0700))
		ctl_die_errno(instance, errno);
	atexit(remove_instance);
	write_file("mono", "%s/trace_clock", instance);
	write_file(BUFFER_KB, "%s/buffer_size_kb", instance);
	snprintf(path, sizeof(path), "%s/trace_pipe", instance);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		ctl_die_errno(path, errno);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		write_file("1", "%s/events/twheel/%s/enable", instance,
			   events[i]);
	return fd;
}

/* --- results ---------------------------------------------------------------- */

/* Return the name of a thread. The trace may lack it, and the thread may be gone. */
static const char *task_name(const struct trace_row *row, bool live)
{
	if (live && !strcmp(row->who.task, "<...>"))
		return out_command(row->who.tid);
	return out_printable(row->who.task);
}

static void print_rows(const struct trace *trace, size_t max, bool live)
{
	static const char * const titles[] = {
		"TID", "<THREAD", "WHEEL", "<FUNCTION", "START", "RESTART",
		"STOP", "EXPIRE", "SHORTEST", "MEAN", "LONGEST",
	};
	struct table *table = table_new(ARRAY_SIZE(titles), titles);
	size_t i, k;

	for (i = 0; i < trace->nr_rows && i < max; i++) {
		const struct trace_row *row = &trace->rows[i];

		table_cell(table, "%llu", row->who.tid);
		table_cell(table, "%s", task_name(row, live));
		table_cell(table, "%llu", row->who.wheel);
		table_cell(table, "%s", row->who.function);
		for (k = 0; k < TRACE_NR_EVENTS; k++)
			table_cell(table, "%llu", row->events[k]);
		table_cell(table, "%s", row->intervals ?
			   out_time(row->interval_min) : "-");
		table_cell(table, "%s", row->intervals ?
			   out_time(row->interval_sum / row->intervals) : "-");
		table_cell(table, "%s", row->intervals ?
			   out_time(row->interval_max) : "-");
	}
	table_print(table, SIZE_MAX);
	table_free(table);
	if (trace->nr_rows > max)
		printf("and %zu more\n", trace->nr_rows - max);
}

static __u64 late_expiries(const struct trace *trace)
{
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < TRACE_BUCKETS; i++)
		sum += trace->late[i];
	return sum;
}

static void print_histogram(const struct trace *trace)
{
	size_t first = 0, last = TRACE_BUCKETS - 1;
	__u64 max = 0;
	size_t i;

	while (!trace->late[first])
		first++;
	while (!trace->late[last])
		last--;
	for (i = first; i <= last; i++) {
		if (trace->late[i] > max)
			max = trace->late[i];
	}
	for (i = first; i <= last; i++)
		printf("  %s %9s %10llu  %s\n",
		       i < TRACE_BUCKETS - 1 ? "below" : "above",
		       out_time(trace_bucket_end(i < TRACE_BUCKETS - 1 ?
						 i : i - 1)), trace->late[i],
		       out_bar(trace->late[i], max, BAR_WIDTH));
}

static void print_text(struct trace *trace, double seconds,
		       const struct watch_options *options)
{
	__u64 late = late_expiries(trace);

	trace_sort(trace);
	printf("%.1f s: %llu starts, %llu restarts, %llu stops, %llu expiries\n",
	       seconds, trace->events[TRACE_START],
	       trace->events[TRACE_RESTART], trace->events[TRACE_STOP],
	       trace->events[TRACE_EXPIRE]);
	if (trace->lost)
		printf("%llu events were lost: too many for the buffer\n",
		       trace->lost);
	if (trace->unknown)
		printf("%llu lines make no sense\n", trace->unknown);
	if (trace->nr_rows) {
		putchar('\n');
		print_rows(trace, options->rows, !options->input);
	}
	if (!late)
		return;
	printf("\n%sexpiries, by the time since their tick%s (mean %s, longest %s)\n",
	       out_bold(), out_plain(), out_time(trace->late_sum / late),
	       out_time(trace->late_max));
	print_histogram(trace);
}

static void json_rows(const struct trace *trace, bool live)
{
	size_t i;

	for (i = 0; i < trace->nr_rows; i++) {
		const struct trace_row *row = &trace->rows[i];

		json_open(NULL, '{');
		json_number("tid", row->who.tid);
		json_string("thread", task_name(row, live));
		json_number("wheel", row->who.wheel);
		json_string("function", row->who.function);
		json_number("started", row->events[TRACE_START]);
		json_number("restarted", row->events[TRACE_RESTART]);
		json_number("stopped", row->events[TRACE_STOP]);
		json_number("expired", row->events[TRACE_EXPIRE]);
		if (row->intervals) {
			json_number("shortest_ns", row->interval_min);
			json_decimal("mean_ns", row->interval_sum /
						row->intervals);
			json_number("longest_ns", row->interval_max);
		}
		json_close('}');
	}
}

static void print_json(struct trace *trace, double seconds,
		       const struct watch_options *options)
{
	size_t i;

	trace_sort(trace);
	json_open(NULL, '{');
	json_decimal("seconds", seconds);
	json_number("started", trace->events[TRACE_START]);
	json_number("restarted", trace->events[TRACE_RESTART]);
	json_number("stopped", trace->events[TRACE_STOP]);
	json_number("expired", trace->events[TRACE_EXPIRE]);
	json_number("lost", trace->lost);
	json_open("threads", '[');
	json_rows(trace, !options->input);
	json_close(']');
	json_number("latest_ns", trace->late_max);
	json_open("lateness", '[');
	for (i = 0; i < TRACE_BUCKETS; i++) {
		if (!trace->late[i])
			continue;
		json_open(NULL, '{');
		json_number("below_ns", trace_bucket_end(i));
		json_number("count", trace->late[i]);
		json_close('}');
	}
	json_close(']');
	json_close('}');
	json_end();
}

static void print(struct trace *trace, double seconds,
		  const struct watch_options *options)
{
	if (options->common->json)
		print_json(trace, seconds, options);
	else
		print_text(trace, seconds, options);
	fflush(stdout);
}

/* --- reading ---------------------------------------------------------------- */

/*
 * Add the complete lines in @text, and move the rest to the beginning. Returns the length of the
 * rest.
 */
static size_t add_lines(struct trace *trace, char *text, size_t length)
{
	char *line = text;
	char *newline;

	for (;; line = newline + 1) {
		newline = memchr(line, '\n', text + length - line);
		if (!newline)
			break;
		*newline = '\0';
		trace_add(trace, line);
	}
	length -= line - text;
	memmove(text, line, length);
	/* the line does not fit into the buffer */
	if (length == TEXT_SIZE) {
		trace->unknown++;
		length = 0;
	}
	return length;
}

/*
 * struct live - state of a live trace
 *
 * @length is the length of the incomplete line in @text. @begin and @shown are times of
 * CLOCK_MONOTONIC.
 */
struct live {
	struct trace *trace;
	const struct watch_options *options;
	char text[TEXT_SIZE];
	size_t length;
	__u64 begin;
	__u64 shown;
	bool live;
};

static double seconds_so_far(const struct live *w)
{
	return (ctl_now() - w->begin) / 1e9;
}

/* Read the lines that are in the pipe now. Returns false if it is empty. */
static bool take_lines(struct live *w, int fd)
{
	ssize_t got = read(fd, w->text + w->length, TEXT_SIZE - w->length);

	if (got <= 0)
		return false;
	w->length = add_lines(w->trace, w->text, w->length + got);
	return true;
}

static void show_now_and_then(struct live *w)
{
	if (!w->live || ctl_now() - w->shown < SHOW_EVERY)
		return;
	w->shown = ctl_now();
	fputs("\033[H\033[J", stdout);
	print(w->trace, seconds_so_far(w), w->options);
}

static bool time_is_up(const struct live *w)
{
	return ctl_stopped || ferror(stdout) ||
	       (w->options->time && ctl_now() - w->begin >= w->options->time);
}

static void watch_live(struct trace *trace, const struct watch_options *options)
{
	static struct live w;
	double seconds;
	int fd;

	w.trace = trace;
	w.options = options;
	w.live = out_is_terminal() && !options->common->json;
	ctl_catch_signals();
	fd = open_instance();
	w.begin = ctl_now();
	while (!time_is_up(&w)) {
		struct pollfd pollfd = { .fd = fd, .events = POLLIN };

		if (!take_lines(&w, fd))
			poll(&pollfd, 1, 50);
		show_now_and_then(&w);
	}
	seconds = seconds_so_far(&w);
	write_file("0", "%s/events/twheel/enable", instance);
	while (take_lines(&w, fd))
		;
	close(fd);
	if (w.live)
		fputs("\033[H\033[J", stdout);
	print(trace, seconds, options);
}

static void watch_file(struct trace *trace, const struct watch_options *options)
{
	static char text[TEXT_SIZE];
	size_t length = 0;
	ssize_t got;
	int fd = open(options->input, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		ctl_die_errno(options->input, errno);
	for (;;) {
		got = read(fd, text + length, TEXT_SIZE - length);
		if (got < 0)
			ctl_die_errno(options->input, errno);
		if (!got)
			break;
		length = add_lines(trace, text, length + got);
	}
	trace->unknown += length != 0;
	close(fd);
	print(trace, (trace->last_ns - trace->first_ns) / 1e9, options);
}

/* --- options ---------------------------------------------------------------- */

enum {
	OPTION_INPUT = 0x200,
};

static const struct argp_option option_list[] = {
	{ "time", 't', "TIME", 0, "End after TIME. Default: at Ctrl-C", 0 },
	{ "rows", 'r', "COUNT", 0, "Show COUNT threads. Default: 20", 0 },
	{ "input", OPTION_INPUT, "FILE", 0,
	  "Read a trace that was saved, by the clock \"mono\"", 0 },
	{ }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct watch_options *options = state->input;

	switch (key) {
	case 't':
		options->time = ctl_parse_time(state, "TIME", arg, 1);
		return 0;
	case 'r':
		options->rows = ctl_parse_number(state, "COUNT", arg, 1,
						 UINT32_MAX);
		return 0;
	case OPTION_INPUT:
		options->input = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected: %s", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_watch(struct ctl_common *common, int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse,
		.doc = "Trace starts, stops and expiries of timers. Show who starts them, for how long, and how late they expire.\vThis takes root. SHORTEST, MEAN and LONGEST are from a start to its deadline. WHEEL is the number that list shows.",
		.children = ctl_common_argp,
	};
	struct watch_options options = { .common = common, .rows = 20 };
	struct trace trace = { };

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (options.input)
		watch_file(&trace, &options);
	else
		watch_live(&trace, &options);
	trace_free(&trace);
	return CTL_OK;
}
