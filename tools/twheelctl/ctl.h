/* SPDX-License-Identifier: GPL-2.0 */
/*
 * twheelctl: declarations of all commands
 */
#ifndef CTL_H
#define CTL_H

#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <linux/types.h>

#define NS_PER_SECOND	1000000000ULL
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Exit codes, as twheelctl(1) documents them. */
enum ctl_exit {
	CTL_OK,
	CTL_FAILED,
	CTL_USAGE,
	CTL_ABSENT,
	CTL_DENIED,
};

/**
 * struct ctl_common - options that each command takes
 * @json: print JSON
 * @proc: file to read in place of /proc/twheel
 */
struct ctl_common {
	bool json;
	const char *proc;
};

#define CTL_PROC	"/proc/twheel"
#define CTL_DEVICE	"/dev/twheel"

/**
 * struct ctl_command - one command
 * @name: name on the command line
 * @run: parse the arguments, run the command, and return an enum ctl_exit
 * @help: a line for "twheelctl --help"
 */
struct ctl_command {
	const char *name;
	int (*run)(struct ctl_common *common, int argc, char **argv);
	const char *help;
};

int cmd_info(struct ctl_common *common, int argc, char **argv);
int cmd_start(struct ctl_common *common, int argc, char **argv);
int cmd_stat(struct ctl_common *common, int argc, char **argv);
int cmd_top(struct ctl_common *common, int argc, char **argv);
int cmd_list(struct ctl_common *common, int argc, char **argv);
int cmd_bench(struct ctl_common *common, int argc, char **argv);
int cmd_watch(struct ctl_common *common, int argc, char **argv);

/* Read the version of the module that is loaded. Returns false if there is none. */
bool ctl_module_version(char *version, int size);

/*
 * Parser of the options in struct ctl_common, which the parser of each command has as a child.
 */
extern const struct argp_child ctl_common_argp[];

/* Function that restores the terminal, or NULL if no command changed it. */
extern void (*ctl_restore_terminal)(void);

/* Print a message to stderr, and exit with @code. */
void ctl_die(int code, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* Exit because a file or device cannot be used. @error chooses the exit code. */
void ctl_die_errno(const char *path, int error) __attribute__((noreturn));

/*
 * Parse a number, or a time in ns. Messages call the argument @what. A value that is not
 * valid, or out of range, is a usage error and ends the program.
 */
__u64 ctl_parse_number(struct argp_state *state, const char *what,
		       const char *text, __u64 min, __u64 max);
__u64 ctl_parse_time(struct argp_state *state, const char *what,
		     const char *text, __u64 min);

/* Functions for times of CLOCK_MONOTONIC, in ns. A signal ends a sleep. */
__u64 ctl_now(void);
void ctl_sleep_until(__u64 deadline);

/* Let SIGINT, SIGTERM, SIGHUP and SIGPIPE set ctl_stopped from now on. */
extern volatile sig_atomic_t ctl_stopped;
void ctl_catch_signals(void);

#endif /* CTL_H */
