// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl stat: the counters of /proc/twheel, or how much they grow in each interval
 */
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "output.h"
#include "proc.h"

struct stat_options {
	struct ctl_common *common;
	bool prometheus;
	bool cpus;
	__u64 interval;
	__u64 count;
};

/* --- once ------------------------------------------------------------------- */

/* Print the counters. @version is the version of the module, or NULL for a saved file. */
static void print_json(const struct proc *proc, const char *version)
{
	const struct proc_block *block = &proc->blocks[1];
	const struct proc_block *end = proc->blocks + proc->nr_blocks;

	json_open(NULL, '{');
	json_open("module", '{');
	if (version)
		json_string("module_version", version);
	json_block(proc, &proc->blocks[0]);
	json_close('}');
	json_open("wheels", '[');
	for (; block < end && block->kind == PROC_WHEEL; json_close('}')) {
		json_open(NULL, '{');
		json_block(proc, block);
		json_open("cpus", '[');
		for (block++; block < end && block->kind == PROC_CPU; block++) {
			json_open(NULL, '{');
			json_block(proc, block);
			json_close('}');
		}
		json_close(']');
	}
	json_close(']');
	json_open("sessions", '[');
	for (; block < end; block++) {
		json_open(NULL, '{');
		json_block(proc, block);
		json_close('}');
	}
	json_close(']');
	json_close('}');
	json_end();
}

static bool is_time(const char *name)
{
	size_t length = strlen(name);

	return length > 3 && !strcmp(name + length - 3, "_ns");
}

/* Print a line for each bucket of a histogram whose count is not 0. */
static void print_lateness(const struct proc_field *field)
{
	__u64 counts[PROC_LATENESS_MAX];
	size_t nr = proc_numbers(field, counts, ARRAY_SIZE(counts));
	char name[32];
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!counts[i])
			continue;
		if (i < nr - 1)
			snprintf(name, sizeof(name), "late below %s",
				 out_time(proc_lateness_end(i)));
		else
			snprintf(name, sizeof(name), "late above %s",
				 i ? out_time(proc_lateness_end(i - 1)) : "0");
		printf("  %-20s %llu\n", name, counts[i]);
	}
}

/* Print a field. The unit at the end of its name is printed with the value. */
static void print_field(const struct proc_field *field)
{
	int length = strlen(field->name);

	if (field->type == PROC_LATENESS)
		print_lateness(field);
	else if (field->type == PROC_TEXT || field->type == PROC_NUMBERS)
		printf("  %-20s %s\n", field->name,
		       out_printable(field->text));
	else if (is_time(field->name))
		printf("  %-20.*s %s\n", length - 3, field->name,
		       out_time(field->number));
	else
		printf("  %-20s %llu\n", field->name, field->number);
}

static void print_title(const struct proc_block *block)
{
	fputs(out_bold(), stdout);
	if (block->kind == PROC_WHEEL)
		printf("\nwheel %s\n", out_printable(block->name));
	else if (block->kind == PROC_CPU)
		printf("\ncpu %llu\n", block->number);
	else
		printf("module\n");
	fputs(out_plain(), stdout);
}

/* Print the module's fields. The line "version" of the file has the version of the ABI. */
static void print_module(const struct proc *proc, const char *version)
{
	const struct proc_block *block = &proc->blocks[0];
	const struct proc_field *field = &proc->fields[block->first];
	size_t i;

	print_title(block);
	if (version)
		printf("  %-20s %s\n", "version", out_printable(version));
	for (i = 0; i < block->nr_fields; i++, field++) {
		if (!strcmp(field->name, "version"))
			printf("  %-20s %llu\n", "ABI version", field->number);
		else
			print_field(field);
	}
}

/* Print all blocks except sessions, which "list" and "top" show. */
static void print_text(const struct proc *proc, const char *version, bool cpus)
{
	const struct proc_block *block;
	size_t i, k;

	print_module(proc, version);
	for (i = 1; i < proc->nr_blocks; i++) {
		block = &proc->blocks[i];
		if (block->kind == PROC_SESSION ||
		    (block->kind == PROC_CPU && !cpus))
			continue;
		print_title(block);
		for (k = 0; k < block->nr_fields; k++)
			print_field(&proc->fields[block->first + k]);
	}
}

static void print_once(const struct stat_options *options)
{
	bool here = !strcmp(options->common->proc, CTL_PROC);
	char text[64], *version = NULL;
	struct proc proc;

	proc_read(&proc, options->common->proc);
	if (here && ctl_module_version(text, sizeof(text)))
		version = text;
	if (options->prometheus)
		prometheus_print(&proc);
	else if (options->common->json)
		print_json(&proc, version);
	else
		print_text(&proc, version, options->cpus);
	proc_free(&proc);
}

/* --- intervals -------------------------------------------------------------- */

/* The columns of an interval, summed over all wheels. */
static const char * const rates[] = {
	"started", "restarted", "stopped", "expired", "ticks", "missed_ticks",
	"wakeups", "yields",
};

#define NR_RATES	ARRAY_SIZE(rates)
#define TITLES_EVERY	20

/*
 * Return the sum over all wheels of the growth of a number since @before, or of the number itself
 * if @before is NULL. The growth of a counter that became smaller, or of a new wheel, is counted
 * from 0. Returns a negative value if no wheel has a line with this name.
 */
static double wheels_sum(const struct proc *now, const struct proc *before,
			 const char *name)
{
	const struct proc_field *field;
	const struct proc_block *was;
	bool known = false;
	__u64 old, growth = 0;
	size_t hint = 0;
	size_t i;

	for (i = 0; i < now->nr_blocks; i++) {
		field = now->blocks[i].kind == PROC_WHEEL ?
			proc_field(now, &now->blocks[i], name) : NULL;
		if (!field)
			continue;
		known = true;
		was = before ? proc_same(before, now, &now->blocks[i], &hint) :
			       NULL;
		old = was ? proc_number(before, was, name) : 0;
		growth += field->number - (field->number >= old ? old : 0);
	}
	return known ? (double)growth : -1;
}

static double seconds_between(const struct proc *now,
			      const struct proc *before)
{
	__u64 ns = now->when - before->when;

	return ns ? ns / 1e9 : 1;
}

static void print_interval_json(const struct proc *now,
				const struct proc *before)
{
	double seconds = seconds_between(now, before);
	double pending = wheels_sum(now, NULL, "pending");
	char name[32];
	size_t i;

	json_open(NULL, '{');
	json_decimal("seconds", seconds);
	if (pending < 0)
		json_field("pending", NULL);
	else
		json_number("pending", pending);
	for (i = 0; i < NR_RATES; i++) {
		snprintf(name, sizeof(name), "%s_per_second", rates[i]);
		json_decimal(name, wheels_sum(now, before, rates[i]) / seconds);
	}
	json_close('}');
	json_end();
}

static void print_interval(const struct proc *now, const struct proc *before,
			   __u64 line)
{
	double seconds = seconds_between(now, before);
	double pending = wheels_sum(now, NULL, "pending");
	size_t i;

	if (line % TITLES_EVERY == 0) {
		printf("%s%11s", out_bold(), "pending");
		for (i = 0; i < NR_RATES; i++)
			printf(" %11s/s", rates[i]);
		printf("%s\n", out_plain());
	}
	printf("%11s", pending < 0 ? "-" : out_count(pending));
	for (i = 0; i < NR_RATES; i++)
		printf(" %13s",
		       out_rate(wheels_sum(now, before, rates[i]) / seconds));
	putchar('\n');
	fflush(stdout);
}

static void print_intervals(const struct stat_options *options)
{
	struct proc before, now;
	__u64 next = ctl_now();
	__u64 i;

	ctl_catch_signals();
	proc_read(&before, options->common->proc);
	for (i = 0; !options->count || i < options->count; i++) {
		next += options->interval;
		ctl_sleep_until(next);
		if (ctl_stopped || ferror(stdout))
			break;
		proc_read(&now, options->common->proc);
		if (options->common->json)
			print_interval_json(&now, &before);
		else
			print_interval(&now, &before, i);
		proc_free(&before);
		before = now;
	}
	proc_free(&before);
}

/* --- options ---------------------------------------------------------------- */

static const struct argp_option option_list[] = {
	{ "prometheus", 'p', NULL, 0, "Print the text format of Prometheus", 0 },
	{ "cpus", 'c', NULL, 0, "Show each CPU of a wheel, too", 0 },
	{ "interval", 'i', "TIME", 0,
	  "Print what each interval of TIME adds, a line for each", 0 },
	{ "count", 'n', "COUNT", 0, "End after COUNT intervals", 0 },
	{ }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat_options *options = state->input;

	switch (key) {
	case 'p':
		options->prometheus = true;
		return 0;
	case 'c':
		options->cpus = true;
		return 0;
	case 'i':
		options->interval = ctl_parse_time(state, "TIME", arg, 1000000);
		return 0;
	case 'n':
		options->count = ctl_parse_number(state, "COUNT", arg, 1,
						  UINT32_MAX);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected: %s", arg);
		return 0;
	case ARGP_KEY_END:
		if (options->prometheus &&
		    (options->interval || options->common->json))
			argp_error(state,
				   "--prometheus is alone: no --interval, no --json");
		if (options->count && !options->interval)
			options->interval = NS_PER_SECOND;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_stat(struct ctl_common *common, int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse,
		.doc = "Show the counters of /proc/twheel.",
		.children = ctl_common_argp,
	};
	struct stat_options options = { .common = common };

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (options.interval)
		print_intervals(&options);
	else
		print_once(&options);
	return CTL_OK;
}
