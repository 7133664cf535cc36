/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that read /proc/twheel
 *
 * Every line is "name value". Lines about the whole module come first. Then each wheel has a line
 * "wheel NAME" and its totals. Behind each line "cpu N", the same names follow with the numbers of
 * CPU N. The sessions come last, each beginning with "session N".
 */
#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define PROC_NONE	(-1)

/**
 * struct proc_line - one line, and the section that it belongs to
 * @next: the text after this line, initially the whole text
 * @wheel: wheel of the line, or ""
 * @cpu: CPU of the line, or PROC_NONE
 * @session: number of the line's session, or PROC_NONE
 * @pid: process that opened the session. PROC_NONE until the session's line "pid" is read
 * @name: the first word of the line
 * @value: the rest of the line
 */
struct proc_line {
	const char *next;
	char wheel[64];
	int cpu;
	int session;
	int pid;
	char name[64];
	char value[384];
};

struct proc_counters {
	__u64 started;
	__u64 expired;
	__u64 stopped;
	__u64 pending;
};

const char *proc_text(void);
void proc_begin(struct proc_line *line, const char *text);
bool proc_next(struct proc_line *line);
bool proc_find(const char *text, const char *wheel, int cpu, const char *name,
	       __u64 *value);
__u64 proc_number(const char *text, const char *name);
__u64 proc_wheel(const char *wheel, const char *name);
__u64 proc_session(const char *text, int pid, const char *name);
struct proc_counters proc_sum(const char *text);
void proc_expect_balance(const char *text);
__u64 proc_sessions(void);
void proc_expect_sessions(__u64 count);
__u64 proc_wheels(void);
void proc_expect_wheels(__u64 count);
long long kernel_memory(void);
bool write_text(const char *path, const char *text);
bool module_parameter(const char *name, __u64 *value);

#endif /* PROC_H */
