// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl bench: what operations on timers cost a program on this machine
 *
 * A subject is an interface for timers, such as twheel or timerfd. In each round it starts all
 * its timers, restarts all of them, and stops all of them. The shortest time of an operation
 * counts, because its round was disturbed the least.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <twheel.h>
#include <unistd.h>

#include "ctl.h"
#include "output.h"

#define BATCH		256
#define ROUNDS_MIN	3
#define DELAY_NS	(3600 * NS_PER_SECOND)

enum operation {
	START,
	RESTART,
	STOP,
	NR_OPERATIONS,
};

static const char * const operation_names[] = { "start", "restart", "stop" };

struct bench_options {
	struct ctl_common *common;
	__u64 timers;
	__u64 time;
};

struct subject;
typedef void subject_fn(struct subject *subject);

/**
 * struct subject - an interface for timers
 * @name: name of the subject
 * @timers: number of timers
 * @open: prepare the timers
 * @run: do the operation on all @timers. NULL if it costs nothing or does not exist
 * @close: clean up
 * @best: time of an operation, ns, 0 if it was not measured
 */
struct subject {
	const char *name;
	__u64 timers;
	subject_fn *open;
	subject_fn *run[NR_OPERATIONS];
	subject_fn *close;
	double best[NR_OPERATIONS];
};

static struct twheel *twheel;
static struct twheel_batch *batch;
static int *timerfds;

static void need(int ret, const char *what)
{
	if (ret < 0)
		ctl_die(CTL_FAILED, "%s: %s", what, strerror(-ret));
}

/* --- twheel, a call for each timer ------------------------------------------ */

static void open_session(struct subject *subject)
{
	int ret = twheel_open_flags(&twheel, NULL, TWHEEL_OPEN_KERNEL);

	(void)subject;
	if (ret < 0)
		ctl_die_errno(CTL_DEVICE, -ret);
}

static void close_session(struct subject *subject)
{
	(void)subject;
	twheel_close(twheel);
}

static void single_start(struct subject *subject)
{
	__u64 i;

	for (i = 0; i < subject->timers; i++)
		need(twheel_start(twheel, i, DELAY_NS, i), "start");
}

static void single_stop(struct subject *subject)
{
	__u64 i;

	for (i = 0; i < subject->timers; i++)
		need(twheel_stop(twheel, i), "stop");
}

/* --- twheel, a call for many ------------------------------------------------ */

static void open_batch(struct subject *subject)
{
	open_session(subject);
	need(twheel_batch_new(twheel, BATCH, &batch), "batch");
}

static void close_batch(struct subject *subject)
{
	twheel_batch_free(batch);
	close_session(subject);
}

/* Check the result of a call and, if it submitted a batch, the results of its operations. */
static void need_all(int ret, const char *what)
{
	need(ret, what);
	if (ret && twheel_batch_failed(batch))
		ctl_die(CTL_FAILED, "%s: %u of %d operations failed", what,
			twheel_batch_failed(batch), ret);
}

static void batch_start(struct subject *subject)
{
	__u64 i;

	for (i = 0; i < subject->timers; i++)
		need_all(twheel_batch_start(batch, i, DELAY_NS, i), "start");
	need_all(twheel_batch_flush(batch), "start");
}

static void batch_stop(struct subject *subject)
{
	__u64 i;

	for (i = 0; i < subject->timers; i++)
		need_all(twheel_batch_stop(batch, i), "stop");
	need_all(twheel_batch_flush(batch), "stop");
}

/* --- twheel, stores --------------------------------------------------------- */

static void open_words(struct subject *subject)
{
	struct twheel_setup setup = { .shared_ids = subject->timers };
	int ret = twheel_open_flags(&twheel, &setup, TWHEEL_OPEN_KERNEL);

	if (ret < 0)
		ctl_die_errno(CTL_DEVICE, -ret);
	single_start(subject);
}

/* Store deadlines. Read the clock for each store, as a program does that stores at a heartbeat. */
static void store_refresh(struct subject *subject)
{
	__u64 i;

	for (i = 0; i < subject->timers; i++)
		twheel_refresh(twheel, i, twheel_now() + DELAY_NS);
}

/* --- timerfd ---------------------------------------------------------------- */

/*
 * Raise the limit of descriptors. If the limit is too low for all timerfds, reduce their number.
 * The process needs some descriptors for itself.
 */
static void allow_timerfds(struct subject *subject)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < subject->timers + 64)
		subject->timers = limit.rlim_cur > 128 ?
				  limit.rlim_cur - 64 : 64;
}

static void open_timerfds(struct subject *subject)
{
	__u64 i;

	allow_timerfds(subject);
	timerfds = calloc(subject->timers, sizeof(*timerfds));
	if (!timerfds)
		ctl_die(CTL_FAILED, "no memory");
	for (i = 0; i < subject->timers; i++) {
		timerfds[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (timerfds[i] >= 0)
			continue;
		if (i < 64)
			need(-errno, "timerfd");
		subject->timers = i;
	}
}

static void close_timerfds(struct subject *subject)
{
	__u64 i;

	for (i = 0; i < subject->timers; i++)
		close(timerfds[i]);
	free(timerfds);
}

static void set_timerfds(struct subject *subject, __u64 delay)
{
	struct itimerspec spec = {
		.it_value.tv_sec = delay / NS_PER_SECOND,
	};
	__u64 i;

	for (i = 0; i < subject->timers; i++) {
		if (timerfd_settime(timerfds[i], 0, &spec, NULL))
			need(-errno, "timerfd");
	}
}

static void timerfd_start(struct subject *subject)
{
	set_timerfds(subject, DELAY_NS);
}

static void timerfd_stop(struct subject *subject)
{
	set_timerfds(subject, 0);
}

/* --- rounds ----------------------------------------------------------------- */

static struct subject subjects[] = {
	{
		.name = "twheel, a call each",
		.open = open_session,
		.run = { single_start, single_start, single_stop },
		.close = close_session,
	}, {
		.name = "twheel, 256 a call",
		.open = open_batch,
		.run = { batch_start, batch_start, batch_stop },
		.close = close_batch,
	}, {
		.name = "twheel, a store",
		.open = open_words,
		.run = { [RESTART] = store_refresh },
		.close = close_session,
	}, {
		.name = "timerfd",
		.open = open_timerfds,
		.run = { timerfd_start, timerfd_start, timerfd_stop },
		.close = close_timerfds,
	},
};

#define NR_SUBJECTS	ARRAY_SIZE(subjects)

static void run_round(struct subject *subject)
{
	enum operation operation;
	__u64 begin;
	double ns;

	for (operation = START; operation < NR_OPERATIONS; operation++) {
		if (!subject->run[operation])
			continue;
		begin = ctl_now();
		subject->run[operation](subject);
		ns = (double)(ctl_now() - begin) / subject->timers;
		if (!subject->best[operation] || ns < subject->best[operation])
			subject->best[operation] = ns;
	}
}

static void measure(struct subject *subject,
		    const struct bench_options *options)
{
	__u64 end = ctl_now() + options->time;
	unsigned int rounds;

	subject->timers = options->timers;
	subject->open(subject);
	for (rounds = 0; rounds < ROUNDS_MIN || ctl_now() < end; rounds++)
		run_round(subject);
	subject->close(subject);
}

/* Show the name of the running measurement on a terminal. @name is NULL at the end. */
static void progress(const char *name)
{
	if (!isatty(STDERR_FILENO) || !out_is_terminal())
		return;
	if (name)
		fprintf(stderr, "\r\033[Kmeasuring: %s", name);
	else
		fprintf(stderr, "\r\033[K");
}

/* --- results ---------------------------------------------------------------- */

static void print_json(const struct bench_options *options)
{
	enum operation operation;
	size_t i;

	json_open(NULL, '{');
	json_number("timers", options->timers);
	json_open("results", '[');
	for (i = 0; i < NR_SUBJECTS; i++) {
		for (operation = START; operation < NR_OPERATIONS; operation++) {
			if (!subjects[i].run[operation])
				continue;
			json_open(NULL, '{');
			json_string("subject", subjects[i].name);
			json_string("operation", operation_names[operation]);
			json_number("timers", subjects[i].timers);
			json_decimal("ns", subjects[i].best[operation]);
			json_close('}');
		}
	}
	json_close(']');
	json_close('}');
	json_end();
}

static double longest(void)
{
	double max = 0;
	size_t i, k;

	for (i = 0; i < NR_SUBJECTS; i++) {
		for (k = 0; k < NR_OPERATIONS; k++) {
			if (subjects[i].best[k] > max)
				max = subjects[i].best[k];
		}
	}
	return max;
}

static void print_chart(const struct bench_options *options)
{
	enum operation operation;
	double max = longest();
	double ns;
	size_t i;

	printf("ns per operation, with %llu timers\n", options->timers);
	for (operation = START; operation < NR_OPERATIONS; operation++) {
		printf("\n%s%s%s\n", out_bold(), operation_names[operation],
		       out_plain());
		for (i = 0; i < NR_SUBJECTS; i++) {
			ns = subjects[i].best[operation];
			if (subjects[i].run[operation])
				printf("  %-20s %7.*f  %s\n", subjects[i].name,
				       ns < 99.95, ns, out_bar(ns, max, 44));
		}
	}
	for (i = 0; i < NR_SUBJECTS; i++) {
		if (subjects[i].timers != options->timers)
			printf("\n%s: only %llu timers, as ulimit -n allows.\n",
			       subjects[i].name, subjects[i].timers);
	}
}

/* --- options ---------------------------------------------------------------- */

static const struct argp_option option_list[] = {
	{ "timers", 't', "COUNT", 0, "With COUNT timers. Default: 10000", 0 },
	{ "time", 'd', "TIME", 0,
	  "Measure each way to have timers for TIME. Default: 0.5s", 0 },
	{ }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bench_options *options = state->input;

	switch (key) {
	case 't':
		options->timers = ctl_parse_number(state, "COUNT", arg, 1,
						   1 << 24);
		return 0;
	case 'd':
		options->time = ctl_parse_time(state, "TIME", arg, 0);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected: %s", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_bench(struct ctl_common *common, int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse,
		.doc = "Measure what it costs to start, restart and stop timers: by a call each, by batches, by stores, and with timerfd.\vA quick look at this machine. The benchmarks of the source package measure more.",
		.children = ctl_common_argp,
	};
	struct bench_options options = {
		.common = common,
		.timers = 10000,
		.time = NS_PER_SECOND / 2,
	};
	size_t i;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	for (i = 0; i < NR_SUBJECTS; i++) {
		progress(subjects[i].name);
		measure(&subjects[i], &options);
	}
	progress(NULL);
	if (common->json)
		print_json(&options);
	else
		print_chart(&options);
	return CTL_OK;
}
