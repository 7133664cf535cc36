// SPDX-License-Identifier: GPL-2.0
/*
 * twheelctl: parser of /proc/twheel
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "proc.h"

/* Longer texts are refused. Thousands of sessions and wheels on hundreds of CPUs need less. */
#define TEXT_MAX	((size_t)64 << 20)
/* Blocks with more lines are refused. */
#define FIELDS_MAX	256

#define IN(kind)	(1U << (kind))
#define WHEEL		IN(PROC_WHEEL)
#define WHEEL_CPU	(IN(PROC_WHEEL) | IN(PROC_CPU))
#define SESSION		IN(PROC_SESSION)
#define ALL		(WHEEL_CPU | SESSION)

const struct proc_known proc_known[] = {
	{ "version", PROC_GAUGE, IN(PROC_MODULE), NULL, "ABI version" },
	{ "wheels", PROC_GAUGE, IN(PROC_MODULE), NULL, "Wheels" },
	{ "sessions", PROC_GAUGE, IN(PROC_MODULE), NULL, "Open sessions" },
	{ "number", PROC_GAUGE, WHEEL, NULL, "Number of the wheel" },
	{ "scheme", PROC_TEXT, WHEEL, NULL, "Scheme" },
	{ "mode", PROC_TEXT, WHEEL, NULL, "Tick mode" },
	{ "clock", PROC_TEXT, WHEEL, NULL, "Clock" },
	{ "doze", PROC_GAUGE, WHEEL, NULL,
	  "Empty ticks in a row after which the wheel dozes" },
	{ "tick_ns", PROC_GAUGE, WHEEL, "seconds", "Length of a tick" },
	{ "slots", PROC_GAUGE, WHEEL, NULL, "Slots of each CPU" },
	{ "pid", PROC_GAUGE, SESSION, NULL, "Process id of the opener" },
	{ "uid", PROC_GAUGE, SESSION, NULL, "User id of the opener" },
	{ "wheel", PROC_GAUGE, SESSION, NULL, "Number of the session's wheel" },
	{ "started", PROC_COUNTER, ALL, NULL,
	  "Starts of timers that were not pending" },
	{ "restarted", PROC_COUNTER, ALL, NULL, "Restarts of pending timers" },
	{ "stopped", PROC_COUNTER, ALL, NULL, "Stops of pending timers" },
	{ "expired", PROC_COUNTER, ALL, NULL, "Expiries" },
	{ "pending", PROC_GAUGE, ALL, NULL, "Pending timers" },
	{ "cascaded", PROC_COUNTER, WHEEL_CPU, NULL,
	  "Timers moved from one slot to another" },
	{ "moved", PROC_COUNTER, WHEEL_CPU, NULL,
	  "Timers taken over from CPUs that went offline" },
	{ "ticks", PROC_COUNTER, WHEEL_CPU, NULL, "Ticks processed" },
	{ "empty_ticks", PROC_COUNTER, WHEEL_CPU, NULL,
	  "Ticks at which no timer expired" },
	{ "missed_ticks", PROC_COUNTER, WHEEL_CPU, NULL,
	  "Ticks processed together with a later one" },
	{ "yields", PROC_COUNTER, WHEEL_CPU, NULL,
	  "Runs that ended with work left" },
	{ "longest_tick_ns", PROC_GAUGE, WHEEL_CPU, "seconds", "Longest run" },
	{ "longest_lateness_ns", PROC_GAUGE, WHEEL_CPU, "seconds",
	  "Longest time from a tick to the expiry of its timers" },
	{ "lateness", PROC_LATENESS, ALL, "seconds",
	  "Expiries, of a session events read, by the time from their deadline" },
	{ "occupied_slots", PROC_NUMBERS, IN(PROC_CPU), NULL,
	  "Slots that hold timers, of each level" },
	{ "rearmed", PROC_COUNTER, SESSION, NULL,
	  "Periodic timers armed again when their event was read" },
	{ "delivered", PROC_COUNTER, SESSION, NULL, "Events read" },
	{ "replaced", PROC_COUNTER, SESSION, NULL,
	  "Unread events withdrawn by a start" },
	{ "withdrawn", PROC_COUNTER, SESSION, NULL,
	  "Unread events withdrawn by a stop" },
	{ "unread", PROC_GAUGE, SESSION, NULL, "Events waiting to be read" },
	{ "overruns", PROC_COUNTER, SESSION, NULL,
	  "Periods that passed without an event of their own" },
	{ "wakeups", PROC_COUNTER, ALL, NULL,
	  "Runs of a wheel's hrtimer, wake-ups of a session's readers" },
	{ "carried", PROC_COUNTER, SESSION, NULL,
	  "Timers that came due and were carried on to their word" },
	{ "stopped_by_store", PROC_COUNTER, SESSION, NULL,
	  "Timers that came due and were stopped by their word" },
};

const size_t proc_nr_known = ARRAY_SIZE(proc_known);

static const char * const kind_names[] = { "module", "wheel", "cpu", "session" };

static const struct proc_known *find_known(const char *name,
					   enum proc_kind kind)
{
	size_t i;

	for (i = 0; i < proc_nr_known; i++) {
		if ((proc_known[i].in & IN(kind)) &&
		    !strcmp(proc_known[i].name, name))
			return &proc_known[i];
	}
	return NULL;
}

/* Parse digits only. strtoull() would take signs and blanks, too. */
static bool parse_u64(const char *text, __u64 *value)
{
	if (!*text)
		return false;
	for (*value = 0; *text; text++) {
		if (*text < '0' || *text > '9' ||
		    __builtin_mul_overflow(*value, 10ULL, value) ||
		    __builtin_add_overflow(*value, (__u64)(*text - '0'), value))
			return false;
	}
	return true;
}

static bool is_numbers(const char *text)
{
	return *text && strspn(text, "0123456789 ") == strlen(text);
}

/*
 * struct parser - state of the parser
 *
 * @line is the number of the current line, for messages. A block is complete when the next one
 * begins. @room_blocks and @room_fields are the sizes of the arrays.
 */
struct parser {
	struct proc *proc;
	size_t line;
	size_t room_blocks;
	size_t room_fields;
};

__attribute__((format(printf, 2, 3)))
static bool wrong(struct parser *p, const char *format, ...)
{
	char *error = p->proc->error;
	size_t size = sizeof(p->proc->error);
	va_list args;
	int n;

	n = snprintf(error, size, "line %zu: ", p->line);
	va_start(args, format);
	vsnprintf(error + n, size - n, format, args);
	va_end(args);
	/* the message may quote the file, and will be shown on a terminal */
	for (; *error; error++) {
		if (*error < ' ' || *error > '~')
			*error = '?';
	}
	return false;
}

/* Make room for one more element. The array has @nr elements, and room for *@room. */
static void *grow(void *array, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return array;
	*room = *room ? 2 * *room : 64;
	array = reallocarray(array, *room, size);
	if (!array)
		ctl_die(CTL_FAILED, "no memory");
	return array;
}

static struct proc_block *current(struct parser *p)
{
	return &p->proc->blocks[p->proc->nr_blocks - 1];
}

/* Find the index of the wheel to which the current block belongs. Returns false without a wheel. */
static bool current_wheel(struct parser *p, size_t *wheel)
{
	const struct proc_block *block = current(p);

	*wheel = block->kind == PROC_CPU ? block->wheel :
					   p->proc->nr_blocks - 1;
	return block->kind == PROC_WHEEL || block->kind == PROC_CPU;
}

static void add_block(struct parser *p, enum proc_kind kind, const char *name,
		      __u64 number)
{
	struct proc *proc = p->proc;
	size_t wheel = 0;

	if (proc->nr_blocks)
		current_wheel(p, &wheel);
	proc->blocks = grow(proc->blocks, proc->nr_blocks, &p->room_blocks,
			    sizeof(proc->blocks[0]));
	proc->blocks[proc->nr_blocks++] = (struct proc_block) {
		.kind = kind,
		.name = name,
		.number = number,
		.wheel = wheel,
		.first = proc->nr_fields,
	};
}

/*
 * End the current block. The module's block must have the line "version", and a wheel's block the
 * line "number", which identifies the wheel in the next reading.
 */
static bool end_block(struct parser *p)
{
	struct proc_block *block = current(p);
	const char *name = block->kind == PROC_WHEEL ? "number" : "version";
	const struct proc_field *field = proc_field(p->proc, block, name);

	if (block->kind != PROC_WHEEL && block->kind != PROC_MODULE)
		return true;
	if (!field)
		return wrong(p, "the %s above has no line \"%s\"",
			     kind_names[block->kind], name);
	if (block->kind == PROC_WHEEL)
		block->number = field->number;
	return true;
}

static bool begin_block(struct parser *p, enum proc_kind kind, char *value)
{
	__u64 number = 0;
	size_t wheel;

	if (!end_block(p))
		return false;
	if (kind != PROC_WHEEL && !parse_u64(value, &number))
		return wrong(p, "%s: not a number: %.40s", kind_names[kind],
			     value);
	if (kind == PROC_CPU && !current_wheel(p, &wheel))
		return wrong(p, "a CPU without a wheel");
	if (kind == PROC_WHEEL && current(p)->kind == PROC_SESSION)
		return wrong(p, "a wheel behind the sessions");
	add_block(p, kind, kind == PROC_WHEEL ? value : NULL, number);
	return true;
}

static bool set_value(struct parser *p, struct proc_field *field,
		      const struct proc_known *known)
{
	bool number = parse_u64(field->text, &field->number);

	if (known)
		field->type = known->type;
	else
		field->type = number ? PROC_GAUGE : PROC_TEXT;
	switch (field->type) {
	case PROC_COUNTER:
	case PROC_GAUGE:
		return number || wrong(p, "%.40s: not a number: %.40s",
				       field->name, field->text);
	case PROC_NUMBERS:
	case PROC_LATENESS:
		return is_numbers(field->text) ||
		       wrong(p, "%.40s: not numbers: %.40s", field->name,
			     field->text);
	default:
		return true;
	}
}

static bool add_field(struct parser *p, const char *name, const char *value)
{
	struct proc *proc = p->proc;
	struct proc_block *block = current(p);
	struct proc_field field = { .name = name, .text = value };

	if (block->nr_fields == FIELDS_MAX)
		return wrong(p, "too many lines of a %s",
			     kind_names[block->kind]);
	if (proc_field(proc, block, name))
		return wrong(p, "%.40s: a second time", name);
	if (!set_value(p, &field, find_known(name, block->kind)))
		return false;
	proc->fields = grow(proc->fields, proc->nr_fields, &p->room_fields,
			    sizeof(proc->fields[0]));
	proc->fields[proc->nr_fields++] = field;
	block->nr_fields++;
	return true;
}

/* Return true if the name would be a valid name in Prometheus: lower case letters, digits and _. */
static bool is_name(const char *name)
{
	return *name >= 'a' && *name <= 'z' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
	       strlen(name);
}

static bool parse_line(struct parser *p, char *line)
{
	bool indented = !strncmp(line, "  ", 2);
	enum proc_kind kind = current(p)->kind;
	char *name = line + (indented ? 2 : 0);
	char *value = strchr(name, ' ');

	if (!value)
		return wrong(p, "not a name and a value: %.40s", line);
	*value++ = '\0';
	if (!is_name(name))
		return wrong(p, "not a name: %.40s", name);
	if (!indented && !strcmp(name, "wheel"))
		return begin_block(p, PROC_WHEEL, value);
	if (!indented && !strcmp(name, "cpu"))
		return begin_block(p, PROC_CPU, value);
	if (!indented && !strcmp(name, "session"))
		return begin_block(p, PROC_SESSION, value);
	if (indented != (kind == PROC_CPU || kind == PROC_SESSION))
		return wrong(p, "%.40s: a line of a %s %s", name,
			     kind_names[kind],
			     indented ? "is indented" : "is not indented");
	return add_field(p, name, value);
}

static bool parse_lines(struct parser *p, char *text, size_t length)
{
	char *end = text + length;
	char *newline;

	add_block(p, PROC_MODULE, NULL, 0);
	for (; text < end; text = newline + 1) {
		p->line++;
		newline = memchr(text, '\n', end - text);
		if (!newline)
			return wrong(p, "the text ends within a line");
		*newline = '\0';
		if (memchr(text, '\0', newline - text))
			return wrong(p, "a byte of 0");
		if (!parse_line(p, text))
			return false;
	}
	p->line++;
	return end_block(p);
}

/**
 * proc_parse - parse a text of /proc/twheel
 * @proc: the reading
 * @text: allocated text of @length. @proc owns and changes it
 * @length: its length
 *
 * A line with an unknown name is accepted, because the module may be newer than twheelctl. A
 * known line may be missing, because the module may be older.
 *
 * Return: true if the text is valid. Otherwise @proc->error names the fault. In either case the
 * caller calls proc_free().
 */
bool proc_parse(struct proc *proc, char *text, size_t length)
{
	struct parser parser = { .proc = proc };

	*proc = (struct proc) { .text = text };
	return parse_lines(&parser, text, length);
}

void proc_free(struct proc *proc)
{
	free(proc->text);
	free(proc->blocks);
	free(proc->fields);
	*proc = (struct proc) { };
}

static char *read_all(int fd, const char *path, size_t *length)
{
	size_t room = 1 << 15;
	char *text = NULL;
	ssize_t got;

	for (*length = 0;; *length += got) {
		if (!text || *length == room)
			text = realloc(text, room *= 2);
		if (!text)
			ctl_die(CTL_FAILED, "no memory");
		got = read(fd, text + *length, room - *length);
		if (got < 0)
			ctl_die_errno(path, errno);
		if (!got)
			return text;
		if (*length + got > TEXT_MAX)
			ctl_die(CTL_FAILED, "%s: longer than %zu MiB", path,
				TEXT_MAX >> 20);
	}
}

/* Read and parse @path. If that fails, print the reason and exit. */
void proc_read(struct proc *proc, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	__u64 now = ctl_now();
	size_t length;
	char *text;

	if (fd < 0)
		ctl_die_errno(path, errno);
	text = read_all(fd, path, &length);
	close(fd);
	if (!proc_parse(proc, text, length))
		ctl_die(CTL_FAILED, "%s: %s", path, proc->error);
	proc->when = now;
}

/* Return the line of this name, or NULL. */
const struct proc_field *proc_field(const struct proc *proc,
				    const struct proc_block *block,
				    const char *name)
{
	size_t i;

	for (i = block->first; i < block->first + block->nr_fields; i++) {
		if (!strcmp(proc->fields[i].name, name))
			return &proc->fields[i];
	}
	return NULL;
}

/* Return the number in a line. A missing line counts as 0, so that numbers can be added up. */
__u64 proc_number(const struct proc *proc, const struct proc_block *block,
		  const char *name)
{
	const struct proc_field *field = proc_field(proc, block, name);

	return field ? field->number : 0;
}

/* Return the text in a line, or "-" if the block does not have the line. */
const char *proc_text(const struct proc *proc, const struct proc_block *block,
		      const char *name)
{
	const struct proc_field *field = proc_field(proc, block, name);

	return field ? field->text : "-";
}

/* Parse the numbers of a line, at most @room. Returns their count. */
size_t proc_numbers(const struct proc_field *field, __u64 *numbers, size_t room)
{
	const char *text = field->text;
	size_t nr;
	char *end;

	for (nr = 0; nr < room; nr++, text = end) {
		numbers[nr] = strtoull(text, &end, 10);
		if (end == text)
			break;
	}
	return nr;
}

static bool is_same(const struct proc *a, const struct proc_block *one,
		    const struct proc *b, const struct proc_block *two)
{
	if (one->kind != two->kind || one->number != two->number)
		return false;
	return one->kind != PROC_CPU ||
	       a->blocks[one->wheel].number == b->blocks[two->wheel].number;
}

/**
 * proc_same - find a block in an earlier reading
 * @proc: the earlier reading
 * @other: the reading of @block
 * @block: block to find
 * @hint: 0 at first. Blocks come in the order of their numbers, so that the
 *	block that is looked for is near the block that was found last
 *
 * Return: the block of the same wheel, CPU or session, or NULL.
 */
const struct proc_block *proc_same(const struct proc *proc,
				   const struct proc *other,
				   const struct proc_block *block,
				   size_t *hint)
{
	const struct proc_block *found;
	size_t i;

	for (i = 0; i < proc->nr_blocks; i++) {
		found = &proc->blocks[(*hint + i) % proc->nr_blocks];
		if (is_same(proc, found, other, block)) {
			*hint = found - proc->blocks + 1;
			return found;
		}
	}
	return NULL;
}

size_t proc_count(const struct proc *proc, enum proc_kind kind)
{
	size_t count = 0;
	size_t i;

	for (i = 0; i < proc->nr_blocks; i++)
		count += proc->blocks[i].kind == kind;
	return count;
}
