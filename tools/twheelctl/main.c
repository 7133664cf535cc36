// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl: show twheel's state, start timers, and measure
 */
#include <argp.h>
#include <errno.h>
#include <error.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"

static const struct ctl_command commands[] = {
	{ "info", cmd_info, "what the module and its device offer" },
	{ "start", cmd_start, "start timers, and wait for them" },
	{ "stat", cmd_stat, "the counters of /proc/twheel" },
	{ "top", cmd_top, "rates of wheels, CPUs and sessions, live" },
	{ "list", cmd_list, "sessions and wheels" },
	{ "bench", cmd_bench, "measure operations on timers" },
	{ "watch", cmd_watch, "who starts timers, and how late they expire" },
};

#define NR_COMMANDS	ARRAY_SIZE(commands)

const char *argp_program_version = "twheelctl " TWHEELCTL_VERSION;

static struct ctl_common common = {
	.proc = CTL_PROC,
};

volatile sig_atomic_t ctl_stopped;
void (*ctl_restore_terminal)(void);

void ctl_die(int code, const char *format, ...)
{
	va_list args;

	if (ctl_restore_terminal)
		ctl_restore_terminal();
	fflush(stdout);
	fputs("twheelctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

void ctl_die_errno(const char *path, int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		ctl_die(CTL_ABSENT, "%s: %s%s", path, strerror(error),
			strcmp(path, CTL_PROC) && strcmp(path, CTL_DEVICE) ?
			"" : ". Is the module loaded? Try: modprobe twheel");
	case EACCES:
	case EPERM:
		ctl_die(CTL_DENIED, "%s: %s%s", path, strerror(error),
			strcmp(path, CTL_DEVICE) ? "" :
			". Be root, or in the group twheel");
	default:
		ctl_die(CTL_FAILED, "%s: %s", path, strerror(error));
	}
}

__u64 ctl_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}

void ctl_sleep_until(__u64 deadline)
{
	struct timespec ts = {
		.tv_sec = deadline / NS_PER_SECOND,
		.tv_nsec = deadline % NS_PER_SECOND,
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void note_signal(int signal)
{
	(void)signal;
	ctl_stopped = 1;
}

/*
 * Catch signals without SA_RESTART, so that they end a sleep or a read. SIGPIPE is caught, too,
 * because some commands must clean up.
 */
void ctl_catch_signals(void)
{
	struct sigaction action = { .sa_handler = note_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGPIPE, &action, NULL);
}

/* --- options ---------------------------------------------------------------- */

enum {
	OPTION_PROC = 0x100,
};

static const struct argp_option common_options[] = {
	{ "json", 'j', NULL, 0, "Print JSON", 100 },
	{ "proc", OPTION_PROC, "FILE", 0,
	  "Read FILE in place of " CTL_PROC, 100 },
	{ }
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	(void)state;
	switch (key) {
	case 'j':
		common.json = true;
		return 0;
	case OPTION_PROC:
		common.proc = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp common_argp = {
	.options = common_options,
	.parser = parse_common,
};

const struct argp_child ctl_common_argp[] = {
	{ &common_argp, 0, NULL, 0 },
	{ }
};

__u64 ctl_parse_number(struct argp_state *state, const char *what,
		       const char *text, __u64 min, __u64 max)
{
	__u64 value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9')
		argp_error(state, "%s is not a number: %s", what, text);
	if (value < min || value > max)
		argp_error(state, "%s is %llu to %llu: %s", what, min, max,
			   text);
	return value;
}

static const struct {
	const char *name;
	__u64 ns;
} units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", NS_PER_SECOND },
	{ "min", 60 * NS_PER_SECOND },
	{ "m", 60 * NS_PER_SECOND },
	{ "h", 3600 * NS_PER_SECOND },
	{ "d", 86400 * NS_PER_SECOND },
	{ "", NS_PER_SECOND },
};

/* Return the length of the unit @text in ns, or 0 if there is no such unit. */
static __u64 find_unit(const char *text)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(text, units[i].name))
			return units[i].ns;
	}
	return 0;
}

/*
 * Parse the digits behind a decimal point, and add their value to *@ns. @unit is the length of the
 * unit in ns.
 */
static const char *parse_fraction(const char *text, __u64 unit, __u64 *ns)
{
	for (; *text >= '0' && *text <= '9'; text++) {
		*ns += (*text - '0') * unit / 10;
		unit /= 10;
	}
	return text;
}

/* Parse a number with a unit, such as "1.5s" or "200us". Seconds are the default. */
__u64 ctl_parse_time(struct argp_state *state, const char *what,
		     const char *text, __u64 min)
{
	const char *p = text + strspn(text, "0123456789");
	__u64 whole, unit, ns, fraction = 0;

	errno = 0;
	whole = strtoull(text, NULL, 10);
	unit = find_unit(p + strspn(p, ".0123456789"));
	if (p == text || errno || !unit)
		argp_error(state,
			   "%s is not a time such as 5s, 1.5ms or 2h: %s",
			   what, text);
	if (*p == '.')
		p = parse_fraction(p + 1, unit, &fraction);
	if (find_unit(p) != unit)
		argp_error(state, "%s is not a time: %s", what, text);
	if (__builtin_mul_overflow(whole, unit, &ns) ||
	    __builtin_add_overflow(ns, fraction, &ns) || ns > INT64_MAX)
		argp_error(state, "%s is longer than 292 years: %s", what,
			   text);
	if (ns < min)
		argp_error(state, "%s is too short: %s", what, text);
	return ns;
}

/* --- the command ------------------------------------------------------------ */

static const struct ctl_command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	}
	return NULL;
}

/*
 * Return how many characters have to be changed, inserted or removed to turn one name into the
 * other.
 */
static size_t distance(const char *a, const char *b)
{
	size_t row[16], above, left, i, k;

	for (k = 0; k < ARRAY_SIZE(row); k++)
		row[k] = k;
	for (i = 0; a[i]; i++) {
		above = row[0]++;
		for (k = 0; b[k]; k++) {
			left = above + (a[i] != b[k]);
			above = row[k + 1];
			if (left > row[k] + 1)
				left = row[k] + 1;
			row[k + 1] = left > above + 1 ? above + 1 : left;
		}
	}
	return row[strlen(b)];
}

/* Return the name of the command that is most like @name, or NULL if none is similar. */
static const char *similar_command(const char *name)
{
	const char *found = NULL;
	size_t least = 3, i, d;

	for (i = 0; i < NR_COMMANDS; i++) {
		d = distance(name, commands[i].name);
		if (d < least) {
			least = d;
			found = commands[i].name;
		}
	}
	return found;
}

static void no_such_command(struct argp_state *state, const char *name)
{
	const char *similar = similar_command(name);

	if (similar)
		argp_error(state, "no such command: %s. Did you mean %s?", name, similar);
	argp_error(state, "no such command: %s", name);
}

/* Return the text below the options of "twheelctl --help". */
static char *help_filter(int key, const char *text, void *input)
{
	char *help = NULL;
	size_t size, i;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = open_memstream(&help, &size);
	if (!out)
		return NULL;
	fprintf(out, "Commands:\n");
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name,
			commands[i].help);
	fprintf(out, "\nThe options of each: twheelctl help COMMAND\n\n"
		"Exit codes: 0 all is well, 1 it failed, 2 the arguments are wrong,\n"
		"3 the module is not loaded, 4 permission is denied.\n");
	fclose(out);
	return help;
}

static int run_command(struct argp_state *state, const char *name)
{
	const struct ctl_command *command = find_command(name);
	int argc = state->argc - state->next + 1;
	char **argv = state->argv + state->next - 1;
	char full_name[32];

	if (!command && !strcmp(name, "help")) {
		if (argc == 1)
			argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		name = argv[1];
		argv[1] = "--help";
		command = find_command(name);
	}
	if (!command)
		no_such_command(state, name);
	snprintf(full_name, sizeof(full_name), "twheelctl %s", name);
	argv[0] = full_name;
	state->next = state->argc;
	return command->run(&common, argc, argv);
}

static error_t parse_main(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_ARG:
		*(int *)state->input = run_command(state, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_state_help(state, stderr, ARGP_HELP_USAGE | ARGP_HELP_LONG |
				ARGP_HELP_DOC | ARGP_HELP_EXIT_ERR);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Write the rest of the output when the program exits, and report a full disk. */
static void flush_stdout(void)
{
	if (!ferror(stdout) && !fflush(stdout))
		return;
	if (errno != EPIPE)
		fprintf(stderr, "twheelctl: cannot write: %s\n",
			strerror(errno));
	_exit(CTL_FAILED);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_main,
		.args_doc = "COMMAND [OPTION...]",
		.doc = "Show twheel's state, start timers, and measure.\v ",
		.children = ctl_common_argp,
		.help_filter = help_filter,
	};
	int result = CTL_OK;

	atexit(flush_stdout);
	setlocale(LC_CTYPE, "");
	argp_err_exit_status = CTL_USAGE;
	argv[0] = "twheelctl";
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &result);
	return result;
}
