// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl top: what wheels, CPUs and sessions do, from one reading of
 * /proc/twheel to the next
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "ctl.h"
#include "output.h"
#include "proc.h"

/* How a column shows a line of /proc/twheel. */
enum column_type {
	VALUE,		/* the number */
	RATE,		/* its growth in a second */
	TIME,		/* ns, with a + in front if it grew */
};

struct column {
	const char *title;
	const char *line;
	enum column_type type;
};

static const struct column wheel_columns[] = {
	{ "PENDING", "pending", VALUE },
	{ "START/s", "started", RATE },
	{ "RESTART/s", "restarted", RATE },
	{ "STOP/s", "stopped", RATE },
	{ "EXPIRE/s", "expired", RATE },
	{ "TICK/s", "ticks", RATE },
	{ "MISSED/s", "missed_ticks", RATE },
	{ "WAKEUP/s", "wakeups", RATE },
	{ "YIELD/s", "yields", RATE },
	{ "LONGEST", "longest_tick_ns", TIME },
	{ "LATEST", "longest_lateness_ns", TIME },
};

static const struct column session_columns[] = {
	{ "WHEEL", "wheel", VALUE },
	{ "PENDING", "pending", VALUE },
	{ "UNREAD", "unread", VALUE },
	{ "START/s", "started", RATE },
	{ "RESTART/s", "restarted", RATE },
	{ "STOP/s", "stopped", RATE },
	{ "EXPIRE/s", "expired", RATE },
	{ "REARM/s", "rearmed", RATE },
	{ "CARRY/s", "carried", RATE },
	{ "READ/s", "delivered", RATE },
	{ "WAKEUP/s", "wakeups", RATE },
};

#define NR_WHEEL_COLUMNS	ARRAY_SIZE(wheel_columns)
#define NR_SESSION_COLUMNS	ARRAY_SIZE(session_columns)

enum sort {
	SORT_RATE,
	SORT_PENDING,
	SORT_UNREAD,
	NR_SORTS,
};

static const char * const sort_names[] = { "rate", "pending", "unread" };

struct top_options {
	struct ctl_common *common;
	__u64 delay;
	__u64 count;
	bool cpus;
	enum sort sort;
};

/**
 * struct interval - the time between two readings
 * @now: the later reading
 * @before: the earlier reading
 * @seconds: the time between them
 * @options: options of the output
 */
struct interval {
	const struct proc *now;
	const struct proc *before;
	double seconds;
	const struct top_options *options;
};

/*
 * Return the growth of a counter in a second, or a negative number if the block does not have the
 * counter. A counter that is new, or was reset, counts from 0.
 */
static double rate(const struct interval *in, const struct proc_block *block,
		   const struct proc_block *was, const char *name)
{
	const struct proc_field *field = proc_field(in->now, block, name);
	__u64 old = was ? proc_number(in->before, was, name) : 0;

	if (!field)
		return -1;
	return (field->number - (field->number >= old ? old : 0)) / in->seconds;
}

static void show_column(struct table *table, const struct interval *in,
			const struct proc_block *block,
			const struct proc_block *was,
			const struct column *column)
{
	switch (column->type) {
	case VALUE:
		table_cell(table, "%s",
			   proc_text(in->now, block, column->line));
		break;
	case RATE:
		table_cell(table, "%s",
			   out_rate(rate(in, block, was, column->line)));
		break;
	case TIME:
		table_cell(table, "%s%s", was &&
			   proc_number(in->now, block, column->line) >
			   proc_number(in->before, was, column->line) ? "+" : "",
			   out_time_of(proc_field(in->now, block,
						  column->line)));
	}
}

static void json_column(const struct interval *in,
			const struct proc_block *block,
			const struct proc_block *was,
			const struct column *column)
{
	char name[48];

	if (column->type != RATE) {
		json_field(column->line,
			   proc_field(in->now, block, column->line));
		return;
	}
	snprintf(name, sizeof(name), "%s_per_second", column->line);
	json_decimal(name, rate(in, block, was, column->line));
}

/* --- sessions in order ------------------------------------------------------ */

struct row {
	const struct proc_block *block;
	const struct proc_block *was;
	double key;
};

static double sort_key(const struct interval *in,
		       const struct proc_block *block,
		       const struct proc_block *was)
{
	double sum = 0, one;
	size_t i;

	switch (in->options->sort) {
	case SORT_PENDING:
		return proc_number(in->now, block, "pending");
	case SORT_UNREAD:
		return proc_number(in->now, block, "unread");
	default:
		for (i = 0; i < NR_SESSION_COLUMNS; i++) {
			if (session_columns[i].type != RATE)
				continue;
			one = rate(in, block, was, session_columns[i].line);
			sum += one > 0 ? one : 0;
		}
		return sum;
	}
}

/* Compare two rows: by the larger key, and then by the older session. */
static int compare_rows(const void *a, const void *b)
{
	const struct row *one = a;
	const struct row *two = b;

	if (one->key != two->key)
		return one->key < two->key ? 1 : -1;
	return one->block < two->block ? -1 : 1;
}

static struct row *sessions_in_order(const struct interval *in, size_t *nr)
{
	const struct proc *now = in->now;
	struct row *rows = calloc(now->nr_blocks, sizeof(*rows));
	size_t hint = 0;
	size_t i;

	if (!rows)
		ctl_die(CTL_FAILED, "no memory");
	for (*nr = 0, i = 0; i < now->nr_blocks; i++) {
		struct row *row = &rows[*nr];

		if (now->blocks[i].kind != PROC_SESSION)
			continue;
		row->block = &now->blocks[i];
		row->was = proc_same(in->before, now, row->block, &hint);
		row->key = sort_key(in, row->block, row->was);
		++*nr;
	}
	qsort(rows, *nr, sizeof(*rows), compare_rows);
	return rows;
}

/* --- text ------------------------------------------------------------------- */

static void print_summary(const struct interval *in)
{
	const struct proc *now = in->now;

	printf("%stwheel%s  wheels: %zu  sessions: %zu  interval: %.1f s\n\n",
	       out_bold(), out_plain(), proc_count(now, PROC_WHEEL),
	       proc_count(now, PROC_SESSION), in->seconds);
}

static void wheel_cells(struct table *table, const struct interval *in,
			const struct proc_block *block,
			const struct proc_block *was)
{
	size_t i;

	if (block->kind == PROC_CPU) {
		table_cell(table, "%s", "");
		table_cell(table, "  cpu %llu", block->number);
		table_cell(table, "%s", "");
	} else {
		table_cell(table, "%llu", block->number);
		table_cell(table, "%s", block->name);
		table_cell(table, "%s",
			   out_time_of(proc_field(in->now, block, "tick_ns")));
	}
	for (i = 0; i < NR_WHEEL_COLUMNS; i++)
		show_column(table, in, block, was, &wheel_columns[i]);
}

/* Print the wheels. Returns the number of lines, which is at most @rows. */
static size_t print_wheels(const struct interval *in, size_t rows)
{
	const char *titles[3 + NR_WHEEL_COLUMNS] = { "WHEEL", "<NAME", "TICK" };
	const struct proc *now = in->now;
	struct table *table;
	size_t nr = 0, hint = 0;
	size_t i;

	for (i = 0; i < NR_WHEEL_COLUMNS; i++)
		titles[3 + i] = wheel_columns[i].title;
	table = table_new(3 + NR_WHEEL_COLUMNS, titles);
	for (i = 1; i < now->nr_blocks; i++) {
		const struct proc_block *block = &now->blocks[i];

		if (block->kind == PROC_SESSION ||
		    (block->kind == PROC_CPU && !in->options->cpus))
			continue;
		wheel_cells(table, in, block,
			    proc_same(in->before, now, block, &hint));
		nr++;
	}
	table_print(table, rows);
	table_free(table);
	return 1 + (nr < rows ? nr : rows);
}

static void print_sessions(const struct interval *in, size_t max)
{
	const char *titles[4 + NR_SESSION_COLUMNS] = {
		"SESSION", "PID", "<COMMAND", "<USER",
	};
	bool real = !strcmp(in->options->common->proc, CTL_PROC);
	struct table *table;
	struct row *rows;
	size_t i, k, nr;

	for (i = 0; i < NR_SESSION_COLUMNS; i++)
		titles[4 + i] = session_columns[i].title;
	table = table_new(4 + NR_SESSION_COLUMNS, titles);
	rows = sessions_in_order(in, &nr);
	for (i = 0; i < nr && i < max; i++) {
		const struct proc_block *block = rows[i].block;

		table_cell(table, "%llu", block->number);
		table_cell(table, "%s", proc_text(in->now, block, "pid"));
		table_cell(table, "%s", real ?
			   out_command(proc_number(in->now, block, "pid")) : "-");
		table_cell(table, "%s",
			   out_user_of(proc_field(in->now, block, "uid")));
		for (k = 0; k < NR_SESSION_COLUMNS; k++)
			show_column(table, in, block, rows[i].was,
				    &session_columns[k]);
	}
	if (nr)
		table_print(table, max);
	table_free(table);
	free(rows);
}

/* Print at most @height lines. At least a third of them is left for sessions. */
static void print_text(const struct interval *in, size_t height)
{
	size_t used = 3;

	print_summary(in);
	used += print_wheels(in, height == SIZE_MAX ? height : height * 2 / 3);
	putchar('\n');
	if (height == SIZE_MAX)
		print_sessions(in, height);
	else if (height > used + 2)
		print_sessions(in, height - used - 2);
}

/* --- JSON ------------------------------------------------------------------- */

static void json_wheel(const struct interval *in,
		       const struct proc_block *block, size_t *hint)
{
	const struct proc_block *was = proc_same(in->before, in->now, block,
						 hint);
	size_t i;

	json_number(block->kind == PROC_CPU ? "cpu" : "number", block->number);
	if (block->name)
		json_string("wheel", block->name);
	for (i = 0; i < NR_WHEEL_COLUMNS; i++)
		json_column(in, block, was, &wheel_columns[i]);
}

static void json_sessions(const struct interval *in)
{
	struct row *rows;
	size_t i, k, nr;

	rows = sessions_in_order(in, &nr);
	for (i = 0; i < nr; i++) {
		json_open(NULL, '{');
		json_number("session", rows[i].block->number);
		json_field("pid", proc_field(in->now, rows[i].block, "pid"));
		for (k = 0; k < NR_SESSION_COLUMNS; k++)
			json_column(in, rows[i].block, rows[i].was,
				    &session_columns[k]);
		json_close('}');
	}
	free(rows);
}

static void print_json(const struct interval *in)
{
	const struct proc_block *block = &in->now->blocks[1];
	const struct proc_block *end = in->now->blocks + in->now->nr_blocks;
	size_t hint = 0;

	json_open(NULL, '{');
	json_decimal("seconds", in->seconds);
	json_open("wheels", '[');
	for (; block < end && block->kind == PROC_WHEEL; json_close('}')) {
		json_open(NULL, '{');
		json_wheel(in, block, &hint);
		json_open("cpus", '[');
		for (block++; block < end && block->kind == PROC_CPU; block++) {
			json_open(NULL, '{');
			json_wheel(in, block, &hint);
			json_close('}');
		}
		json_close(']');
	}
	json_close(']');
	json_open("sessions", '[');
	json_sessions(in);
	json_close(']');
	json_close('}');
	json_end();
}

/* --- the terminal ----------------------------------------------------------- */

static struct termios cooked;
static bool raw;

static void leave_terminal(void)
{
	if (!ctl_restore_terminal)
		return;
	ctl_restore_terminal = NULL;
	fputs("\033[?7h\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	if (raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &cooked);
}

/* Switch to the other screen, hide the cursor, and read keys without waiting for a newline. */
static void enter_terminal(void)
{
	struct termios keys;

	fputs("\033[?1049h\033[?25l\033[?7l", stdout);
	ctl_restore_terminal = leave_terminal;
	atexit(leave_terminal);
	if (tcgetattr(STDIN_FILENO, &cooked))
		return;
	keys = cooked;
	keys.c_lflag &= ~(ICANON | ECHO);
	raw = !tcsetattr(STDIN_FILENO, TCSANOW, &keys);
}

static size_t terminal_height(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 8)
		return 24;
	return size.ws_row;
}

static void press(struct top_options *options, char key)
{
	switch (key) {
	case 'q':
		ctl_stopped = 1;
		break;
	case 's':
		options->sort = (options->sort + 1) % NR_SORTS;
		break;
	case '1':
		options->cpus = !options->cpus;
		break;
	}
}

/* Wait until @deadline, or until the user presses a key that changes the output. */
static void wait_with_keys(struct top_options *options, __u64 deadline)
{
	struct pollfd pollfd = { .fd = STDIN_FILENO, .events = POLLIN };
	__u64 now = ctl_now();
	char key;

	while (!ctl_stopped && now < deadline) {
		int ms = (deadline - now + 999999) / 1000000;

		if (!raw) {
			ctl_sleep_until(deadline);
		} else if (poll(&pollfd, 1, ms) > 0) {
			if (read(STDIN_FILENO, &key, 1) == 1)
				press(options, key);
			else
				raw = false;
		}
		now = ctl_now();
	}
}

/* --- options, and the loop -------------------------------------------------- */

static void show(const struct interval *in, bool live, __u64 turn)
{
	if (in->options->common->json) {
		print_json(in);
	} else if (live) {
		fputs("\033[H\033[J", stdout);
		print_text(in, terminal_height() - 1);
		printf("%sq%s quit  %ss%s sort (%s)  %s1%s CPUs", out_bold(),
		       out_plain(), out_bold(), out_plain(),
		       sort_names[in->options->sort], out_bold(), out_plain());
	} else {
		if (turn)
			putchar('\n');
		print_text(in, SIZE_MAX);
	}
	fflush(stdout);
}

static void loop(struct top_options *options, bool live)
{
	struct proc before, now;
	__u64 next = ctl_now();
	__u64 turn;

	proc_read(&before, options->common->proc);
	for (turn = 0; !options->count || turn < options->count; turn++) {
		struct interval in = {
			.now = &now, .before = &before, .options = options,
		};

		next += options->delay;
		if (live)
			wait_with_keys(options, next);
		else
			ctl_sleep_until(next);
		if (ctl_stopped || ferror(stdout))
			break;
		proc_read(&now, options->common->proc);
		in.seconds = now.when > before.when ?
			     (now.when - before.when) / 1e9 : 1;
		show(&in, live, turn);
		proc_free(&before);
		before = now;
	}
	proc_free(&before);
}

enum {
	OPTION_ONCE = 0x200,
	OPTION_NO_CPUS,
};

static const struct argp_option option_list[] = {
	{ "delay", 'd', "TIME", 0, "From one reading to the next. Default: 1s",
	  0 },
	{ "count", 'n', "COUNT", 0, "End after COUNT intervals", 0 },
	{ "once", OPTION_ONCE, NULL, 0, "End after one interval", 0 },
	{ "sort", 's', "ORDER", 0,
	  "Sessions in the order of: rate, pending, unread", 0 },
	{ "no-cpus", OPTION_NO_CPUS, NULL, 0, "Leave out the CPUs of wheels",
	  0 },
	{ }
};

static void set_sort(struct top_options *options, const char *name,
		     struct argp_state *state)
{
	enum sort i;

	for (i = 0; i < NR_SORTS; i++) {
		if (!strcmp(name, sort_names[i])) {
			options->sort = i;
			return;
		}
	}
	argp_error(state, "no such ORDER: %s", name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top_options *options = state->input;

	switch (key) {
	case 'd':
		options->delay = ctl_parse_time(state, "TIME", arg, 1000000);
		return 0;
	case 'n':
		options->count = ctl_parse_number(state, "COUNT", arg, 1,
						  UINT32_MAX);
		return 0;
	case OPTION_ONCE:
		options->count = 1;
		return 0;
	case 's':
		set_sort(options, arg, state);
		return 0;
	case OPTION_NO_CPUS:
		options->cpus = false;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected: %s", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_top(struct ctl_common *common, int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse,
		.doc = "Show what wheels, CPUs and sessions do, again and again.\vOn a terminal: q ends it, s sorts in another order, 1 shows or hides the CPUs. LONGEST is the longest run of a tick, LATEST the longest time from a tick to the expiry of its timers, since the wheel was made. A + says that it has grown.",
		.children = ctl_common_argp,
	};
	struct top_options options = {
		.common = common,
		.delay = NS_PER_SECOND,
		.cpus = true,
	};
	bool live;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	live = out_is_terminal() && !common->json && options.count != 1;
	ctl_catch_signals();
	if (live)
		enter_terminal();
	loop(&options, live);
	return CTL_OK;
}
