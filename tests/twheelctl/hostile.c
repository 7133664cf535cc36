// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds twheelctl's parsers with spoilt texts
 *
 * hostile proc|trace FILE: cuts the text off at each of its bytes. Replaces each
 * byte by some that mean something. Then spoils the text at random, always by the
 * same numbers. Sanitizers watch. Says something only if an answer is wrong.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/twheelctl/ctl.h"
#include "../../tools/twheelctl/proc.h"
#include "../../tools/twheelctl/trace.h"
#include "../api/selftests/user.h"

#define RANDOM_TEXTS	20000
#define CHANGES_MAX	8

/* Functions of the rest of twheelctl that the parsers call. */
void ctl_die(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	exit(code);
}

void ctl_die_errno(const char *path, int error)
{
	ctl_die(CTL_FAILED, "%s: %s\n", path, strerror(error));
}

__u64 ctl_now(void)
{
	return now_ns();
}

/* --- /proc/twheel ----------------------------------------------------------- */

/* All that a command may ask of a reading. */
static void use(const struct proc *proc)
{
	size_t hint = 0;
	size_t i;

	for (i = 0; i < proc->nr_blocks; i++) {
		const struct proc_block *block = &proc->blocks[i];

		if (!proc_same(proc, proc, block, &hint))
			printf("block %zu is not there\n", i);
		if (block->kind == PROC_CPU &&
		    proc->blocks[block->wheel].kind != PROC_WHEEL)
			printf("block %zu is a CPU of no wheel\n", i);
		proc_number(proc, block, "pending");
		proc_text(proc, block, "scheme");
	}
}

static void expect_message(const char *error)
{
	if (strncmp(error, "line ", 5))
		printf("no message but \"%s\"\n", error);
	for (; *error; error++) {
		if (*error < ' ' || *error > '~')
			printf("byte %d in a message\n", *error);
	}
}

static bool try_proc(const char *text, size_t length)
{
	/* Of exactly that size, so that a byte too many is found. */
	char *copy = malloc(length ? length : 1);
	struct proc proc;
	bool good;

	memcpy(copy, text, length);
	good = proc_parse(&proc, copy, length);
	if (good)
		use(&proc);
	else
		expect_message(proc.error);
	proc_free(&proc);
	return good;
}

/* --- a trace ---------------------------------------------------------------- */

/* Lines as a command reads them: without their newline. */
static bool try_trace(const char *text, size_t length)
{
	struct trace trace = { };
	char *copy = malloc(length + 1);
	char *line, *rest;

	memcpy(copy, text, length);
	copy[length] = '\0';
	for (line = strtok_r(copy, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		trace_add(&trace, line);
	trace_sort(&trace);
	trace_free(&trace);
	free(copy);
	return true;
}

/* --- spoiling --------------------------------------------------------------- */

typedef bool try_fn(const char *text, size_t length);

static const char bytes[] = { '\0', '\n', ' ', '9', '-', 'a', '[', '\xff' };

static void cut(try_fn *try, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		try(text, i);
}

static void replace(try_fn *try, char *text, size_t length)
{
	size_t i, k;

	for (i = 0; i < length; i++) {
		char was = text[i];

		for (k = 0; k < sizeof(bytes); k++) {
			text[i] = bytes[k];
			try(text, length);
		}
		text[i] = was;
	}
}

/* A piece of the text over another place of it, or a byte of those above. */
static void spoil(char *text, size_t length, __u64 *seed)
{
	size_t from = random_number(seed) % length;
	size_t to = random_number(seed) % length;
	size_t size = random_number(seed) % 64;

	if (random_number(seed) % 2) {
		text[to] = bytes[random_number(seed) % sizeof(bytes)];
		return;
	}
	if (size > length - from)
		size = length - from;
	if (size > length - to)
		size = length - to;
	memmove(text + to, text + from, size);
}

static void spoil_at_random(try_fn *try, const char *text, size_t length)
{
	char *copy = malloc(length);
	__u64 seed = 1;
	int i, k;

	for (i = 0; i < RANDOM_TEXTS; i++) {
		memcpy(copy, text, length);
		for (k = random_number(&seed) % CHANGES_MAX; k >= 0; k--)
			spoil(copy, length, &seed);
		try(copy, length);
	}
	free(copy);
}

int main(int argc, char **argv)
{
	bool proc = argc == 3 && !strcmp(argv[1], "proc");
	try_fn *try = proc ? try_proc : try_trace;
	static char text[1 << 16];
	size_t length;
	FILE *file = argc == 3 ? fopen(argv[2], "r") : NULL;

	if (!file)
		ctl_die(CTL_USAGE, "usage: hostile proc|trace FILE\n");
	length = fread(text, 1, sizeof(text), file);
	fclose(file);
	if (!try(text, length))
		printf("the text is refused as it is\n");
	cut(try, text, length);
	replace(try, text, length);
	spoil_at_random(try, text, length);
	return 0;
}
