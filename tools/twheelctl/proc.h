/* SPDX-License-Identifier: GPL-2.0 */
/*
 * twheelctl: the contents of /proc/twheel
 *
 * The text is parsed into blocks of fields. The module's block is the first. Each wheel has a block
 * of its own and a block for each CPU. The blocks of sessions are last. The text is not trusted,
 * because a user may name any file. Modules of other versions lack lines: a missing line is "-" in
 * a table and null in JSON.
 */
#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

enum proc_kind {
	PROC_MODULE,
	PROC_WHEEL,
	PROC_CPU,
	PROC_SESSION,
};

/* The meaning of the value of a line. */
enum proc_type {
	PROC_COUNTER,	/* a number that grows */
	PROC_GAUGE,	/* any other number */
	PROC_NUMBERS,	/* several numbers */
	PROC_LATENESS,	/* expiries by lateness: below 1024 ns, below 2048 ns, ... */
	PROC_TEXT,
};

/*
 * Largest number of buckets of a PROC_LATENESS. A module may have fewer. The last bucket has no
 * limit.
 */
#define PROC_LATENESS_MAX	40

static inline __u64 proc_lateness_end(size_t i)
{
	return 1024ULL << i;
}

/**
 * struct proc_known - a line that twheelctl knows
 * @name: first word of the line
 * @type: type of its value
 * @in: kinds of blocks with this line, a bit for each enum proc_kind
 * @unit: "seconds" for a value in ns, or NULL
 * @help: description for Prometheus
 */
struct proc_known {
	const char *name;
	enum proc_type type;
	unsigned int in;
	const char *unit;
	const char *help;
};

extern const struct proc_known proc_known[];
extern const size_t proc_nr_known;

/**
 * struct proc_field - a line
 * @name: first word of the line
 * @text: rest of the line
 * @type: type of the value. An unknown name with a number is a gauge
 * @number: the value of a counter or gauge
 */
struct proc_field {
	const char *name;
	const char *text;
	enum proc_type type;
	__u64 number;
};

/**
 * struct proc_block - the module, a wheel, a CPU of a wheel, or a session
 * @kind: kind of the block
 * @name: name of the wheel, or NULL
 * @number: number of the wheel, CPU or session
 * @wheel: index of the block of a CPU's wheel
 * @first: index of the first field of the block
 * @nr_fields: number of fields of the block
 */
struct proc_block {
	enum proc_kind kind;
	const char *name;
	__u64 number;
	size_t wheel;
	size_t first;
	size_t nr_fields;
};

/**
 * struct proc - a reading of /proc/twheel
 * @text: the text, to which the names and values of @blocks and @fields point
 * @blocks: the blocks in the order of the text, the module first
 * @nr_blocks: number of blocks
 * @fields: the fields of all blocks
 * @nr_fields: number of fields
 * @when: CLOCK_MONOTONIC at the reading, ns
 * @error: message about a fault of the text
 */
struct proc {
	char *text;
	struct proc_block *blocks;
	size_t nr_blocks;
	struct proc_field *fields;
	size_t nr_fields;
	__u64 when;
	char error[160];
};

bool proc_parse(struct proc *proc, char *text, size_t length);
void proc_read(struct proc *proc, const char *path);
void proc_free(struct proc *proc);

const struct proc_field *proc_field(const struct proc *proc,
				    const struct proc_block *block,
				    const char *name);
__u64 proc_number(const struct proc *proc, const struct proc_block *block,
		  const char *name);
const char *proc_text(const struct proc *proc, const struct proc_block *block,
		      const char *name);
size_t proc_numbers(const struct proc_field *field, __u64 *numbers, size_t room);
const struct proc_block *proc_same(const struct proc *proc,
				   const struct proc *other,
				   const struct proc_block *block,
				   size_t *hint);
size_t proc_count(const struct proc *proc, enum proc_kind kind);

#endif /* PROC_H */
