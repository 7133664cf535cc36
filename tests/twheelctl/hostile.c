// SPDX-License-Identifier: GPL-2.0
/*
 * Feed the parsers of twheelctl with damaged texts
 *
 * libFuzzer damages the texts of its corpus, which are two texts of /proc/twheel and a trace.
 * The parsers are built with sanitizers.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/twheelctl/ctl.h"
#include "../../tools/twheelctl/proc.h"
#include "../../tools/twheelctl/trace.h"

/* Replacements for the functions of twheelctl that the parsers call. */
void ctl_die(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	exit(code);
}

void ctl_die_errno(const char *path, int error)
{
	ctl_die(CTL_FAILED, "%s: %s\n", path, strerror(error));
}

__u64 ctl_now(void)
{
	return 0;
}

static void expect(bool good, const char *what)
{
	if (!good)
		ctl_die(CTL_FAILED, "not true: %s\n", what);
}

/* Use the parsed file in all the ways that commands use it. */
static void use(const struct proc *proc)
{
	size_t hint = 0;
	size_t i;

	for (i = 0; i < proc->nr_blocks; i++) {
		const struct proc_block *block = &proc->blocks[i];

		expect(proc_same(proc, proc, block, &hint), "a block is there");
		expect(block->kind != PROC_CPU ||
		       proc->blocks[block->wheel].kind == PROC_WHEEL, "a CPU is that of a wheel");
		proc_number(proc, block, "pending");
		proc_text(proc, block, "scheme");
	}
}

static void expect_message(const char *error)
{
	expect(!strncmp(error, "line ", 5), "a message has a line's number");
	for (; *error; error++)
		expect(*error >= ' ' && *error <= '~', "a message is for a terminal");
}

/*
 * Parse @copy. Its memory has exactly @length bytes, so that a sanitizer notices a read beyond
 * its end.
 */
static void try_proc(char *copy, size_t length)
{
	struct proc proc;

	if (proc_parse(&proc, copy, length))
		use(&proc);
	else
		expect_message(proc.error);
	proc_free(&proc);
}

/* Parse @copy line by line, each without its newline, as the command "watch" does. */
static void try_trace(char *copy)
{
	struct trace trace = { };
	char *line, *rest;

	for (line = strtok_r(copy, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		trace_add(&trace, line);
	trace_sort(&trace);
	trace_free(&trace);
}

int LLVMFuzzerTestOneInput(const __u8 *text, size_t length)
{
	char *lines = calloc(1, length + 1);
	char *copy = malloc(length + !length);

	if (length) {
		memcpy(lines, text, length);
		memcpy(copy, text, length);
	}
	try_trace(lines);
	free(lines);
	try_proc(copy, length);
	return 0;
}
