// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl start: start timers, and say when they expire
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <twheel.h>

#include "ctl.h"
#include "output.h"

#define TIMERS_MAX	1000

struct start_options {
	struct ctl_common *common;
	__u64 times[TIMERS_MAX];
	__u64 begins[TIMERS_MAX];
	__u64 nr_times;
	bool repeat;
	__u64 count;
	struct twheel_setup setup;
};

static void print_event(const struct start_options *options,
			const struct twheel_event *event)
{
	__u64 late = event->expired_ns - event->deadline_ns;

	if (options->common->json) {
		json_open(NULL, '{');
		json_number("timer", event->id + 1);
		json_number("deadline_ns", event->deadline_ns);
		json_number("expired_ns", event->expired_ns);
		json_number("late_ns", late);
		json_number("overruns", event->overruns);
		json_close('}');
		json_end();
		return;
	}
	printf("timer %llu: expired after %.6f s, %s late", event->id + 1,
	       (event->expired_ns - options->begins[event->id]) / 1e9, out_time(late));
	if (event->overruns)
		printf(", %llu period%s missed", event->overruns,
		       event->overruns == 1 ? "" : "s");
	putchar('\n');
	fflush(stdout);
}

static void start_all(struct twheel *twheel, struct start_options *options)
{
	__u64 i, id, deadline;
	int ret;

	for (i = 0; i < options->nr_times; i++) {
		id = i;
		options->begins[i] = twheel_now_of(twheel);
		deadline = options->begins[i] + options->times[i];
		ret = twheel_start_flags(twheel, &id, MIN(deadline, INT64_MAX),
					 options->repeat ? options->times[i] : 0,
					 0, TWHEEL_START_ABS);
		if (ret < 0)
			ctl_die(CTL_FAILED, "start: %s", strerror(-ret));
	}
}

static void wait_for_all(struct twheel *twheel,
			 const struct start_options *options)
{
	__u64 left = options->repeat ? options->count : options->nr_times;
	bool forever = options->repeat && !options->count;
	struct twheel_event events[64];
	int nr, i;

	while (forever || left) {
		nr = twheel_wait(twheel, events, 64, -1);
		if (nr < 0 && nr != -EINTR)
			ctl_die(CTL_FAILED, "wait: %s", strerror(-nr));
		for (i = 0; i < nr && (forever || left); i++) {
			print_event(options, &events[i]);
			left -= !forever;
		}
		if (ferror(stdout))
			return;
	}
}

/* --- options ---------------------------------------------------------------- */

enum {
	OPTION_TICK = 0x200,
	OPTION_CLOCK,
};

static const struct argp_option option_list[] = {
	{ "repeat", 'r', NULL, 0,
	  "Each timer goes on with TIME as its period", 0 },
	{ "count", 'n', "COUNT", 0,
	  "With --repeat: end after COUNT expiries", 0 },
	{ "tick", OPTION_TICK, "TIME", 0, "On a private wheel with this tick",
	  1 },
	{ "clock", OPTION_CLOCK, "CLOCK", 0,
	  "On a private wheel: monotonic, boottime", 1 },
	{ }
};

static __u32 parse_clock(struct argp_state *state, const char *name)
{
	if (!strcmp(name, "monotonic"))
		return TWHEEL_CLOCK_MONOTONIC;
	if (strcmp(name, "boottime"))
		argp_error(state, "neither monotonic nor boottime: %s", name);
	return TWHEEL_CLOCK_BOOTTIME;
}

static error_t check(struct start_options *options, struct argp_state *state)
{
	if (!options->nr_times)
		argp_error(state, "no TIME");
	if (options->count && !options->repeat)
		argp_error(state, "--count is for --repeat");
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct start_options *options = state->input;
	struct twheel_setup *setup = &options->setup;

	switch (key) {
	case 'r':
		options->repeat = true;
		return 0;
	case 'n':
		options->count = ctl_parse_number(state, "COUNT", arg, 1,
						  UINT64_MAX);
		return 0;
	case OPTION_TICK:
		setup->flags = TWHEEL_SETUP_PRIVATE;
		setup->tick_ns = ctl_parse_time(state, "TIME", arg, 1);
		return 0;
	case OPTION_CLOCK:
		setup->flags = TWHEEL_SETUP_PRIVATE;
		setup->clock = parse_clock(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (options->nr_times == TIMERS_MAX)
			argp_error(state, "more than %u timers", TIMERS_MAX);
		options->times[options->nr_times++] =
			ctl_parse_time(state, "TIME", arg, 1);
		return 0;
	case ARGP_KEY_END:
		return check(options, state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * Open a session, without a setup first: so a device that cannot be opened and a setup that is
 * refused have different exit codes.
 */
static struct twheel *open_session(const struct start_options *options)
{
	struct twheel *twheel;
	int ret = twheel_open_flags(&twheel, NULL, TWHEEL_OPEN_KERNEL);

	if (ret < 0)
		ctl_die_errno(CTL_DEVICE, -ret);
	if (!options->setup.flags)
		return twheel;
	twheel_close(twheel);
	ret = twheel_open_flags(&twheel, &options->setup,
				TWHEEL_OPEN_KERNEL);
	if (ret < 0)
		ctl_die(ret == -EPERM ? CTL_DENIED : CTL_FAILED,
			"setup: %s%s", strerror(-ret), ret == -EPERM ?
			". A tick shorter than the default wheel's takes CAP_SYS_NICE" : "");
	return twheel;
}

int cmd_start(struct ctl_common *common, int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse,
		.args_doc = "TIME...",
		.doc = "Start a timer for each TIME, and print a line when it expires.\vTIME is 5s, 1.5ms, 200us, 2h. Without a unit it is seconds.",
		.children = ctl_common_argp,
	};
	static struct start_options options;
	struct twheel *twheel;

	options.common = common;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	twheel = open_session(&options);
	start_all(twheel, &options);
	wait_for_all(twheel, &options);
	twheel_close(twheel);
	return CTL_OK;
}
