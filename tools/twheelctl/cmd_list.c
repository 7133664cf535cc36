// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl list: the wheels and sessions that the caller may see
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "output.h"
#include "proc.h"

static const char * const session_numbers[] = {
	"wheel", "pending", "unread", "started", "restarted", "stopped",
	"expired", "overruns",
};

#define NR_NUMBERS	ARRAY_SIZE(session_numbers)

/*
 * Return the name of a process. For a saved file, return "-": its pids belong to another time or
 * machine.
 */
static const char *command_of(const struct ctl_common *common, __u64 pid)
{
	return strcmp(common->proc, CTL_PROC) ? "-" : out_command(pid);
}

static __u64 sessions_on(const struct proc *proc, __u64 wheel)
{
	const struct proc_block *block = proc->blocks;
	const struct proc_block *end = block + proc->nr_blocks;
	__u64 count = 0;

	for (; block < end; block++) {
		count += block->kind == PROC_SESSION &&
			 proc_number(proc, block, "wheel") == wheel;
	}
	return count;
}

static void print_wheels(const struct proc *proc)
{
	static const char * const titles[] = {
		"WHEEL", "<NAME", "<SCHEME", "<MODE", "<CLOCK", "TICK",
		"SLOTS", "PENDING", "SESSIONS",
	};
	struct table *table = table_new(9, titles);
	const struct proc_block *block = proc->blocks;
	const struct proc_block *end = block + proc->nr_blocks;

	for (; block < end; block++) {
		if (block->kind != PROC_WHEEL)
			continue;
		table_cell(table, "%llu", block->number);
		table_cell(table, "%s", block->name);
		table_cell(table, "%s", proc_text(proc, block, "scheme"));
		table_cell(table, "%s", proc_text(proc, block, "mode"));
		table_cell(table, "%s", proc_text(proc, block, "clock"));
		table_cell(table, "%s",
			   out_time_of(proc_field(proc, block, "tick_ns")));
		table_cell(table, "%s", proc_text(proc, block, "slots"));
		table_cell(table, "%s", proc_text(proc, block, "pending"));
		table_cell(table, "%llu", sessions_on(proc, block->number));
	}
	table_print(table, SIZE_MAX);
	table_free(table);
}

static void print_sessions(const struct proc *proc,
			   const struct ctl_common *common)
{
	static const char * const titles[] = {
		"SESSION", "PID", "<COMMAND", "<USER", "WHEEL", "PENDING",
		"UNREAD", "STARTED", "RESTARTED", "STOPPED", "EXPIRED",
		"OVERRUNS",
	};
	struct table *table = table_new(4 + NR_NUMBERS, titles);
	const struct proc_block *block = proc->blocks;
	const struct proc_block *end = block + proc->nr_blocks;
	size_t i;

	for (; block < end; block++) {
		if (block->kind != PROC_SESSION)
			continue;
		table_cell(table, "%llu", block->number);
		table_cell(table, "%s", proc_text(proc, block, "pid"));
		table_cell(table, "%s",
			   command_of(common, proc_number(proc, block, "pid")));
		table_cell(table, "%s",
			   out_user_of(proc_field(proc, block, "uid")));
		for (i = 0; i < NR_NUMBERS; i++)
			table_cell(table, "%s",
				   proc_text(proc, block, session_numbers[i]));
	}
	table_print(table, SIZE_MAX);
	table_free(table);
}

static void print_text(const struct proc *proc,
		       const struct ctl_common *common)
{
	print_wheels(proc);
	if (proc_count(proc, PROC_SESSION)) {
		putchar('\n');
		print_sessions(proc, common);
	}
}

static void print_blocks_json(const struct proc *proc, enum proc_kind kind,
			      const struct ctl_common *common)
{
	const struct proc_block *block = proc->blocks;
	const struct proc_block *end = block + proc->nr_blocks;

	for (; block < end; block++) {
		if (block->kind != kind)
			continue;
		json_open(NULL, '{');
		if (kind == PROC_SESSION)
			json_string("command",
				    command_of(common, proc_number(proc, block,
								   "pid")));
		else
			json_number("sessions",
				    sessions_on(proc, block->number));
		json_block(proc, block);
		json_close('}');
	}
}

static void print_json(const struct proc *proc,
		       const struct ctl_common *common)
{
	json_open(NULL, '{');
	json_open("wheels", '[');
	print_blocks_json(proc, PROC_WHEEL, common);
	json_close(']');
	json_open("sessions", '[');
	print_blocks_json(proc, PROC_SESSION, common);
	json_close(']');
	json_close('}');
	json_end();
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	argp_error(state, "unexpected: %s", arg);
	return 0;
}

int cmd_list(struct ctl_common *common, int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.doc = "List the wheels and sessions that you may see: yours and the system's, or all if you have CAP_SYS_ADMIN.",
		.children = ctl_common_argp,
	};
	struct proc proc;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	proc_read(&proc, common->proc);
	if (common->json)
		print_json(&proc, common);
	else
		print_text(&proc, common);
	proc_free(&proc);
	return CTL_OK;
}
