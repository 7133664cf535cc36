/* SPDX-License-Identifier: GPL-2.0 */
/*
 * twheelctl: JSON, tables, Prometheus text, and numbers for people
 *
 * Modules and processes choose their names, so no unprintable character of a name may reach a
 * terminal.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "proc.h"

/* Print JSON. @name is NULL within a list. */
void json_open(const char *name, char bracket);
void json_close(char bracket);
void json_number(const char *name, __u64 value);
void json_decimal(const char *name, double value);
void json_field(const char *name, const struct proc_field *field);
void json_string(const char *name, const char *value);
void json_bool(const char *name, bool value);
void json_block(const struct proc *proc, const struct proc_block *block);
void json_end(void);

/* A table of texts. A column whose title begins with '<' has words, and is aligned to the left. */
struct table;
struct table *table_new(size_t columns, const char *const *titles);
void table_cell(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void table_print(struct table *table, size_t rows);
void table_free(struct table *table);

void prometheus_print(const struct proc *proc);

/* Functions that return a text. Its buffer is used again after some further calls. */
const char *out_count(__u64 count);
const char *out_rate(double rate);
const char *out_time(double ns);
const char *out_time_of(const struct proc_field *field);
const char *out_printable(const char *text);
const char *out_user_of(const struct proc_field *field);
const char *out_command(__u64 pid);

bool out_is_terminal(void);
const char *out_bold(void);
const char *out_plain(void);
/*
 * Return a bar such as "####". It has @width characters for a @value of @max. If the locale has
 * block characters, the bar consists of them.
 */
const char *out_bar(double value, double max, unsigned int width);

#endif /* OUTPUT_H */
