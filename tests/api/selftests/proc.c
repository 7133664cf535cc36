// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that read /proc/twheel and the module's parameters
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

#define TEXT_SIZE	(4 << 20)

/* Returns the text of /proc/twheel, valid until the next call. */
const char *proc_text(void)
{
	static char text[TEXT_SIZE];
	size_t length = 0;
	ssize_t got;
	int fd;

	fd = open("/proc/twheel", O_RDONLY);
	ASSERT_LE(0, fd);
	do {
		ASSERT_LT(length, sizeof(text) - 1);
		got = read(fd, text + length, sizeof(text) - 1 - length);
		ASSERT_LE(0, got);
		length += got;
	} while (got);
	close(fd);
	text[length] = '\0';
	return text;
}

void proc_begin(struct proc_line *line, const char *text)
{
	memset(line, 0, sizeof(*line));
	line->next = text;
	line->cpu = PROC_NONE;
	line->session = PROC_NONE;
	line->pid = PROC_NONE;
}

static void enter_section(struct proc_line *line)
{
	if (!strcmp(line->name, "session")) {
		line->wheel[0] = '\0';
		line->cpu = PROC_NONE;
		line->session = atoi(line->value);
		line->pid = PROC_NONE;
	} else if (line->session != PROC_NONE) {
		if (!strcmp(line->name, "pid"))
			line->pid = atoi(line->value);
	} else if (!strcmp(line->name, "wheel")) {
		snprintf(line->wheel, sizeof(line->wheel), "%.60s",
			 line->value);
		line->cpu = PROC_NONE;
	} else if (!strcmp(line->name, "cpu")) {
		line->cpu = atoi(line->value);
	}
}

/* Read the next line. Returns false if there is none. */
bool proc_next(struct proc_line *line)
{
	int length = 0;

	if (!*line->next)
		return false;
	if (sscanf(line->next, " %63s %383[^\n]%n", line->name, line->value,
		   &length) != 2)
		test_fail(__FILE__, __LINE__, "not 'name value': %.40s",
			  line->next);
	line->next += length;
	while (isspace((unsigned char)*line->next))
		line->next++;
	enter_section(line);
	return true;
}

/* Find a number of the module (@wheel is ""), of a wheel, or of one CPU of a wheel. */
bool proc_find(const char *text, const char *wheel, int cpu, const char *name,
	       __u64 *value)
{
	struct proc_line line;

	proc_begin(&line, text);
	while (proc_next(&line)) {
		if (line.session == PROC_NONE && line.cpu == cpu &&
		    !strcmp(line.wheel, wheel) && !strcmp(line.name, name)) {
			*value = strtoull(line.value, NULL, 10);
			return true;
		}
	}
	return false;
}

/* Returns a number of the module. */
__u64 proc_number(const char *text, const char *name)
{
	__u64 value;

	if (!proc_find(text, "", PROC_NONE, name, &value))
		test_fail(__FILE__, __LINE__, "no %s in /proc/twheel", name);
	return value;
}

/* Returns a number of the first wheel of this name. */
__u64 proc_wheel(const char *wheel, const char *name)
{
	__u64 value;

	if (!proc_find(proc_text(), wheel, PROC_NONE, name, &value))
		test_fail(__FILE__, __LINE__, "no %s of wheel %s in /proc/twheel", name, wheel);
	return value;
}

/* Returns a number of the first session of a process. */
__u64 proc_session(const char *text, int pid, const char *name)
{
	struct proc_line line;

	proc_begin(&line, text);
	while (proc_next(&line)) {
		if (line.pid == pid && !strcmp(line.name, name))
			return strtoull(line.value, NULL, 10);
	}
	test_fail(__FILE__, __LINE__, "no %s of session %d in /proc/twheel",
		  name, pid);
}

static void add_line(struct proc_counters *counters,
		     const struct proc_line *line)
{
	__u64 value = strtoull(line->value, NULL, 10);

	if (!strcmp(line->name, "started"))
		counters->started += value;
	else if (!strcmp(line->name, "expired"))
		counters->expired += value;
	else if (!strcmp(line->name, "stopped"))
		counters->stopped += value;
	else if (!strcmp(line->name, "pending"))
		counters->pending += value;
}

/* Returns the sums of the totals of all wheels. */
struct proc_counters proc_sum(const char *text)
{
	struct proc_counters sum = { 0 };
	struct proc_line line;

	proc_begin(&line, text);
	while (proc_next(&line)) {
		if (line.session == PROC_NONE && line.cpu == PROC_NONE)
			add_line(&sum, &line);
	}
	return sum;
}

/* Check started = expired + stopped + pending for each wheel and each CPU. */
void proc_expect_balance(const char *text)
{
	struct proc_counters at = { 0 };
	struct proc_line line;

	proc_begin(&line, text);
	while (proc_next(&line)) {
		if (line.session != PROC_NONE)
			break;
		if (!strcmp(line.name, "wheel") || !strcmp(line.name, "cpu"))
			memset(&at, 0, sizeof(at));
		add_line(&at, &line);
		/* the line "pending" is the last of the four, so all numbers are known here */
		if (strcmp(line.name, "pending"))
			continue;
		if (at.started != at.expired + at.stopped + at.pending)
			test_fail(__FILE__, __LINE__,
				  "wheel %s, cpu %d: started %llu, expired %llu, stopped %llu, pending %llu",
				  line.wheel, line.cpu, at.started,
				  at.expired, at.stopped, at.pending);
	}
}

__u64 proc_sessions(void)
{
	return proc_number(proc_text(), "sessions");
}

static void wait_for(__u64 (*number)(void), __u64 count)
{
	__u64 give_up = now_ns() + PATIENCE;

	while (number() != count && now_ns() < give_up)
		sleep_ns(10 * MS);
	ASSERT_EQ(count, number());
}

/* Wait until @count sessions are open. */
void proc_expect_sessions(__u64 count)
{
	wait_for(proc_sessions, count);
}

__u64 proc_wheels(void)
{
	return proc_number(proc_text(), "wheels");
}

/* Wait until there are @count wheels. */
void proc_expect_wheels(__u64 count)
{
	wait_for(proc_wheels, count);
}

/* Returns the number of bytes in the kernel's slabs, vmalloc areas and per-CPU areas. */
long long kernel_memory(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	long long kib, sum = 0;
	char name[64];

	if (!access("/sys/kernel/debug/kmemleak", F_OK))
		test_skip("this kernel's debugging takes memory for each object");
	ASSERT_TRUE(file);
	while (fscanf(file, "%63s %lld%*[^\n]", name, &kib) == 2) {
		if (!strcmp(name, "Slab:") || !strcmp(name, "VmallocUsed:") ||
		    !strcmp(name, "Percpu:"))
			sum += kib * 1024;
	}
	fclose(file);
	return sum;
}

/* Write @text into a file of the kernel. Returns false if the kernel refuses it. */
bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, strlen(text)) >= 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* Get the value of a parameter. Returns false if the module does not have it, or hides it. */
bool module_parameter(const char *name, __u64 *value)
{
	char path[128];
	FILE *file;
	int got;

	snprintf(path, sizeof(path), "/sys/module/twheel/parameters/%s", name);
	file = fopen(path, "r");
	if (!file)
		return false;
	got = fscanf(file, "%llu", value);
	fclose(file);
	return got == 1;
}
