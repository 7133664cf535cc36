// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl: formats for other programs: JSON, and Prometheus' text format 0.0.4
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "output.h"

/* --- JSON ------------------------------------------------------------------- */

/* True if a comma is needed before the next value. */
static bool json_comma;

/* Return the length of the UTF-8 character at @s, or 0 if there is no valid one. */
static int utf8_length(const unsigned char *s)
{
	int length = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 :
		     *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
	int i;

	for (i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	/* reject characters that are coded too long, are above U+10FFFF, or are surrogates */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

static void json_quoted(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	int length;

	putchar('"');
	for (; *s; s += length ? length : 1) {
		length = utf8_length(s);
		if (!length)
			fputs("\\ufffd", stdout);
		else if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (*s < ' ' || *s == 0x7f)
			printf("\\u%04x", *s);
		else
			printf("%.*s", length, s);
	}
	putchar('"');
}

static void json_begin(const char *name)
{
	if (json_comma)
		fputs(", ", stdout);
	json_comma = true;
	if (name) {
		json_quoted(name);
		fputs(": ", stdout);
	}
}

void json_open(const char *name, char bracket)
{
	json_begin(name);
	putchar(bracket);
	json_comma = false;
}

void json_close(char bracket)
{
	putchar(bracket);
	json_comma = true;
}

void json_number(const char *name, __u64 value)
{
	json_begin(name);
	printf("%llu", value);
}

/* Print a number that is not NaN or infinite. A negative one stands for an unknown number: null. */
void json_decimal(const char *name, double value)
{
	json_begin(name);
	if (value < 0)
		fputs("null", stdout);
	else
		printf("%.3f", value);
}

/* Print the number of @field, or null without a field. */
void json_field(const char *name, const struct proc_field *field)
{
	json_begin(name);
	if (field)
		printf("%llu", field->number);
	else
		fputs("null", stdout);
}

void json_string(const char *name, const char *value)
{
	json_begin(name);
	json_quoted(value);
}

void json_bool(const char *name, bool value)
{
	json_begin(name);
	fputs(value ? "true" : "false", stdout);
}

/* End the document. It has only one line. */
void json_end(void)
{
	putchar('\n');
	fflush(stdout);
	json_comma = false;
}

static void json_numbers(const char *name, const char *text)
{
	char *end;
	__u64 value;

	json_open(name, '[');
	for (; *text; text = end) {
		value = strtoull(text, &end, 10);
		if (end == text)
			break;
		json_number(NULL, value);
	}
	json_close(']');
}

/* Print the fields of a block into the open object. */
void json_block(const struct proc *proc, const struct proc_block *block)
{
	const struct proc_field *field = proc->fields + block->first;
	const struct proc_field *end = field + block->nr_fields;

	if (block->kind == PROC_WHEEL)
		json_string("wheel", block->name);
	else if (block->kind == PROC_CPU)
		json_number("cpu", block->number);
	else if (block->kind == PROC_SESSION)
		json_number("session", block->number);
	for (; field < end; field++) {
		if (field->type == PROC_NUMBERS || field->type == PROC_LATENESS)
			json_numbers(field->name, field->text);
		else if (field->type == PROC_TEXT)
			json_string(field->name, field->text);
		else
			json_number(field->name, field->number);
	}
}

/* --- Prometheus ------------------------------------------------------------- */

static const char * const subsystems[] = {
	[PROC_MODULE] = "twheel",
	[PROC_WHEEL] = "twheel_wheel",
	[PROC_CPU] = "twheel_cpu",
	[PROC_SESSION] = "twheel_session",
};

static const char * const types[] = {
	[PROC_COUNTER] = "counter",
	[PROC_GAUGE] = "gauge",
	[PROC_LATENESS] = "histogram",
	[PROC_TEXT] = NULL,
};

static void print_label(const char *name, const char *value)
{
	printf("%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", stdout);
		else if (*value == '"' || *value == '\\')
			printf("\\%c", *value);
		else
			putchar(*value < ' ' || *value > '~' ? '?' : *value);
	}
	putchar('"');
}

/* Print the labels of a block. @more is another label behind a comma, or "". */
static void print_labels(const struct proc *proc,
			 const struct proc_block *block, const char *more)
{
	const struct proc_block *wheel = block;

	switch (block->kind) {
	case PROC_MODULE:
		return;
	case PROC_SESSION:
		printf("{session=\"%llu\",pid=\"%s\",uid=\"%s\",wheel_number=\"%s\"%s}",
		       block->number, proc_text(proc, block, "pid"),
		       proc_text(proc, block, "uid"),
		       proc_text(proc, block, "wheel"), more);
		return;
	case PROC_CPU:
		wheel = &proc->blocks[block->wheel];
		printf("{cpu=\"%llu\",", block->number);
		break;
	case PROC_WHEEL:
		putchar('{');
	}
	print_label("wheel", wheel->name);
	printf(",wheel_number=\"%llu\"%s}", wheel->number, more);
}

static void print_value(const struct proc_known *known, __u64 number)
{
	if (known->unit)
		printf(" %llu.%09llu\n", number / 1000000000,
		       number % 1000000000);
	else
		printf(" %llu\n", number);
}

/*
 * Make the name of a metric, such as "twheel_wheel_started_total" or
 * "twheel_cpu_longest_tick_seconds".
 */
static void make_name(char *name, size_t size, enum proc_kind kind,
		      const struct proc_known *known)
{
	int length = strlen(known->name);

	if (known->unit && known->type != PROC_LATENESS)
		length -= strlen("_ns");
	snprintf(name, size, "%s_%.*s%s%s%s", subsystems[kind], length,
		 known->name, known->unit ? "_" : "",
		 known->unit ? known->unit : "",
		 known->type == PROC_COUNTER ? "_total" : "");
}

/*
 * Print a histogram, whose buckets are cumulative. It has no sum, because the module would have
 * to add it up at each expiry.
 */
static void print_histogram(const struct proc *proc,
			    const struct proc_block *block, const char *name,
			    const struct proc_field *field)
{
	__u64 counts[PROC_LATENESS_MAX], sum = 0;
	size_t nr = proc_numbers(field, counts, ARRAY_SIZE(counts));
	char label[32];
	size_t i;

	for (i = 0; i < nr; i++) {
		sum += counts[i];
		snprintf(label, sizeof(label), ",le=\"%.9f\"",
			 proc_lateness_end(i) / 1e9);
		printf("%s_bucket", name);
		print_labels(proc, block, i < nr - 1 ? label : ",le=\"+Inf\"");
		printf(" %llu\n", sum);
	}
	printf("%s_count", name);
	print_labels(proc, block, "");
	printf(" %llu\n", sum);
}

/* Print all samples of a metric together, below its type. */
static void print_metric(const struct proc *proc, enum proc_kind kind,
			 const struct proc_known *known)
{
	const struct proc_block *block = proc->blocks;
	const struct proc_block *end = block + proc->nr_blocks;
	const struct proc_field *field;
	bool first = true;
	char name[96];

	make_name(name, sizeof(name), kind, known);
	for (; block < end; block++) {
		field = block->kind == kind ?
			proc_field(proc, block, known->name) : NULL;
		if (!field)
			continue;
		if (first)
			printf("# HELP %s %s\n# TYPE %s %s\n", name,
			       known->help, name, types[known->type]);
		first = false;
		if (known->type == PROC_LATENESS) {
			print_histogram(proc, block, name, field);
			continue;
		}
		fputs(name, stdout);
		print_labels(proc, block, "");
		print_value(known, field->number);
	}
}

/* Return true if a line becomes a metric of its own: it has a number, and is not a label. */
static bool is_metric(const struct proc_known *known)
{
	static const char * const labels[] = {
		"version", "number", "pid", "uid", "wheel",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(labels); i++) {
		if (!strcmp(known->name, labels[i]))
			return false;
	}
	return types[known->type];
}

/* Print the texts of wheels as labels of a metric, because values in Prometheus are numbers. */
static void print_wheel_info(const struct proc *proc)
{
	const struct proc_block *block = proc->blocks;
	const struct proc_block *end = block + proc->nr_blocks;

	printf("# HELP twheel_wheel_info Scheme, tick mode and clock of a wheel\n"
	       "# TYPE twheel_wheel_info gauge\n");
	for (; block < end; block++) {
		if (block->kind != PROC_WHEEL)
			continue;
		fputs("twheel_wheel_info{", stdout);
		print_label("wheel", block->name);
		printf(",wheel_number=\"%llu\",", block->number);
		print_label("scheme", proc_text(proc, block, "scheme"));
		putchar(',');
		print_label("mode", proc_text(proc, block, "mode"));
		putchar(',');
		print_label("clock", proc_text(proc, block, "clock"));
		fputs("} 1\n", stdout);
	}
}

void prometheus_print(const struct proc *proc)
{
	const struct proc_known *known;
	enum proc_kind kind;
	size_t i;

	print_wheel_info(proc);
	for (kind = PROC_MODULE; kind <= PROC_SESSION; kind++) {
		for (i = 0; i < proc_nr_known; i++) {
			known = &proc_known[i];
			if ((known->in & (1U << kind)) && is_metric(known))
				print_metric(proc, kind, known);
		}
	}
}
