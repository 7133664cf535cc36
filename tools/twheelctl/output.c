// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl: tables, and numbers for people
 */
#include <langinfo.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "output.h"

#define TEXT_SIZE	64
#define NR_TEXTS	16

/* Return the next buffer. There are sixteen, more than one printf() uses. */
static char *next_text(void)
{
	static char texts[NR_TEXTS][TEXT_SIZE];
	static unsigned int turn;

	return texts[turn++ % NR_TEXTS];
}

struct scale {
	double factor;
	const char *unit;
};

/* Format @value in the largest unit that is not larger than @value. */
static const char *scaled(double value, const struct scale *scale)
{
	char *text = next_text();
	int digits;

	while (scale[1].unit && value >= scale[1].factor)
		scale++;
	value /= scale->factor;
	digits = value >= 99.95 || value == (__u64)value ? 0 : 1;
	snprintf(text, TEXT_SIZE, "%.*f%s", digits, value, scale->unit);
	return text;
}

static const struct scale counts[] = {
	{ 1, "" }, { 1e6, "M" }, { 1e9, "G" }, { 1e12, "T" }, { },
};

const char *out_count(__u64 count)
{
	return scaled(count, counts);
}

/*
 * Format a rate, with one decimal if it is below 10. A negative rate is unknown, and shown as
 * "-".
 */
const char *out_rate(double rate)
{
	char *text;

	if (rate < 0)
		return "-";
	if (rate >= 1e6)
		return scaled(rate, counts);
	if (!rate || rate >= 9.95)
		return out_count(rate + 0.5);
	text = next_text();
	snprintf(text, TEXT_SIZE, "%.1f", rate);
	return text;
}

const char *out_time(double ns)
{
	static const struct scale scale[] = {
		{ 1, " ns" }, { 1e3, " us" }, { 1e6, " ms" }, { 1e9, " s" },
		{ 3600e9, " h" }, { 86400e9, " d" }, { },
	};

	return scaled(ns, scale);
}

const char *out_time_of(const struct proc_field *field)
{
	return field ? out_time(field->number) : "-";
}

/* Replace the characters that a terminal would interpret. */
const char *out_printable(const char *text)
{
	char *copy = next_text();
	size_t i;

	for (i = 0; text[i] && i < TEXT_SIZE - 1; i++)
		copy[i] = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
	copy[i] = '\0';
	return copy;
}

/* Return the name of a user, or the number if there is no such user. */
const char *out_user_of(const struct proc_field *field)
{
	const struct passwd *entry = NULL;

	if (!field)
		return "-";
	if ((uid_t)field->number == field->number)
		entry = getpwuid(field->number);
	return entry ? out_printable(entry->pw_name) : field->text;
}

/* Return the name of a process, or "-" without such a process. */
const char *out_command(__u64 pid)
{
	char path[TEXT_SIZE], name[TEXT_SIZE];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%llu/comm", pid);
	file = pid ? fopen(path, "re") : NULL;
	if (!file)
		return "-";
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	return *name ? out_printable(name) : "-";
}

bool out_is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
}

static bool has_colour(void)
{
	const char *no_color = getenv("NO_COLOR");

	return out_is_terminal() && !(no_color && *no_color);
}

const char *out_bold(void)
{
	return has_colour() ? "\033[1m" : "";
}

const char *out_plain(void)
{
	return has_colour() ? "\033[0m" : "";
}

const char *out_bar(double value, double max, unsigned int width)
{
	static char bar[4 * 80];
	bool blocks = !strcmp(nl_langinfo(CODESET), "UTF-8");
	const char *one = blocks ? "\u2588" : "#";
	unsigned int length = max > 0 ? value / max * width + 0.5 : 0;
	char *end = bar;

	if (!length && value > 0)
		length = 1;
	for (*bar = '\0'; length && end < bar + sizeof(bar) - 4; length--)
		end = stpcpy(end, one);
	return bar;
}

/* --- tables ----------------------------------------------------------------- */

struct table {
	size_t columns;
	const char *const *titles;
	size_t nr;
	size_t room;
	char **cells;
};

struct table *table_new(size_t columns, const char *const *titles)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		ctl_die(CTL_FAILED, "no memory");
	table->columns = columns;
	table->titles = titles;
	return table;
}

void table_cell(struct table *table, const char *format, ...)
{
	va_list args;
	char *c;

	if (table->nr == table->room) {
		table->room = table->room ? 2 * table->room : 64;
		table->cells = reallocarray(table->cells, table->room,
					    sizeof(table->cells[0]));
		if (!table->cells)
			ctl_die(CTL_FAILED, "no memory");
	}
	va_start(args, format);
	if (vasprintf(&table->cells[table->nr], format, args) < 0)
		ctl_die(CTL_FAILED, "no memory");
	va_end(args);
	for (c = table->cells[table->nr++]; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
}

static bool is_words(const char *title)
{
	return *title == '<';
}

static int width_of(const struct table *table, size_t column)
{
	const char *title = table->titles[column];
	size_t width = strlen(title) - is_words(title);
	size_t i;

	for (i = column; i < table->nr; i += table->columns) {
		if (strlen(table->cells[i]) > width)
			width = strlen(table->cells[i]);
	}
	return width;
}

static void print_row(const struct table *table, const int *widths,
		      const char *const *cells, bool is_title)
{
	const char *text;
	bool words;
	size_t i;

	for (i = 0; i < table->columns; i++) {
		words = is_words(table->titles[i]);
		text = cells[i] + (is_title && words);
		/* print no blanks at the end of a line */
		if (words && i == table->columns - 1)
			printf("%s", text);
		else
			printf("%*s", words ? -widths[i] : widths[i], text);
		fputs(i < table->columns - 1 ? "  " : "\n", stdout);
	}
}

/* Print the titles and at most @rows rows. */
void table_print(struct table *table, size_t rows)
{
	int *widths = calloc(table->columns, sizeof(*widths));
	size_t i;

	if (!widths)
		ctl_die(CTL_FAILED, "no memory");
	for (i = 0; i < table->columns; i++)
		widths[i] = width_of(table, i);
	fputs(out_bold(), stdout);
	print_row(table, widths, table->titles, true);
	fputs(out_plain(), stdout);
	for (i = 0; i + table->columns <= table->nr && rows; rows--) {
		print_row(table, widths, (const char *const *)&table->cells[i],
			  false);
		i += table->columns;
	}
	free(widths);
}

void table_free(struct table *table)
{
	while (table->nr)
		free(table->cells[--table->nr]);
	free(table->cells);
	free(table);
}
