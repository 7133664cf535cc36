// SPDX-License-Identifier: GPL-2.0
/*
 * SUBMIT, LIST: a structure that points to an array
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "fuzz.h"

#define OPS_MAX		200
/* More than one piece. Most are no longer, so that there are more calls. */
#define OPS_MOSTLY	30
#define ENTRIES_MAX	400
#define BATCH_MAX	65536

static __u64 pointer_of(struct fuzz_thread *t, const struct place *place)
{
	__u64 pointer = (uintptr_t)place->user;

	/* Set bits that a 32-bit kernel would lose. */
	if (place->kind == PLACE_NOWHERE && fuzz_percent(t, 20))
		pointer |= 1ULL << 32;
	return pointer;
}

/* Place the command's structure somewhere, make the call, and read it back. */
static int call(struct fuzz_thread *t, int fd, unsigned int command,
		void *argument, size_t size, bool *known)
{
	struct place place = fuzz_place(t, &t->structs, size);
	int result;

	if (place.mine)
		memcpy(place.mine, argument, place.room);
	result = fuzz_ioctl(t, fd, command, place.user);
	*known = place_is_known(&place);
	if (*known)
		memcpy(argument, place.mine, size);
	return result;
}

/* SUBMIT. */

static void make_op(struct fuzz_thread *t, struct twheel_op *op, bool crowd)
{
	struct twheel_start start = { 0 };

	if (crowd || fuzz_percent(t, 60)) {
		fuzz_make_start(t, &start);
		*op = (struct twheel_op){
			.opcode = TWHEEL_OP_START,
			.flags = start.flags,
			.id = crowd ? TWHEEL_ID_ANY : start.id,
			.expires_ns = start.expires_ns,
			.period_ns = start.period_ns,
			.fd = start.fd,
		};
	} else {
		*op = (struct twheel_op){
			.opcode = TWHEEL_OP_STOP,
			.flags = fuzz_below(t, 2) * TWHEEL_STOP_WITHDRAW,
			.id = fuzz_id(t),
		};
	}
	if (fuzz_percent(t, t->kind->spoilt / 4))
		fuzz_mutate(t, op, sizeof(*op));
	if (op->opcode == TWHEEL_OP_START) {
		op->user_data = fuzz_user_data(op->id, op->expires_ns, op->flags);
		fuzz_mark_started(t->shared, op->id);
	}
}

static __u32 choose_op_size(struct fuzz_thread *t)
{
	if (!fuzz_spoilt(t))
		return sizeof(struct twheel_op);
	switch (fuzz_below(t, 4)) {
	case 0:
		return fuzz_below(t, PAGE + 8);
	case 1:
		return fuzz_number(t);
	default:
		return sizeof(struct twheel_op) + 8 * fuzz_below(t, 8);
	}
}

/* Write as many operations as fit, and clear the rest of each operation. */
static void write_ops(struct fuzz_thread *t, const struct place *place,
		      __u32 op_size, __u32 count)
{
	/* Timers of the kernel's numbers: several chunks of them. */
	bool crowd = fuzz_percent(t, 10);
	struct twheel_op op;
	size_t at = 0;

	if (!place->mine)
		return;
	for (; count-- && at < place->room; at += op_size) {
		size_t size = MIN(op_size, place->room - at);

		/* Now and then one more time. */
		if (!at || !fuzz_percent(t, 15))
			make_op(t, &op, crowd);
		memset(place->mine + at, 0, size);
		memcpy(place->mine + at, &op, MIN(size, sizeof(op)));
		if (size > sizeof(op) && fuzz_percent(t, t->kind->spoilt / 20))
			place->mine[at + sizeof(op)] = 1;
	}
}

static bool is_op_result(__u32 flags, int result)
{
	return fuzz_is_fd_error(flags, result) ||
	       IS_ONE_OF(result, 0, 1, -EINVAL, -ENOENT, -EALREADY, -ENOSPC, -ENOMEM);
}

/* Check that executed operations have a result, and the right user_data. */
static void check_ops(struct fuzz_thread *t, const struct twheel_submit *submit,
		      const struct place *place, int done)
{
	struct twheel_op op;
	__u32 failed = 0;
	int i;

	for (i = 0; i < done; i++) {
		memcpy(&op, place->mine + (size_t)i * submit->op_size, sizeof(op));
		if (!is_op_result(op.flags, op.result))
			fuzz_fail(t->shared, "submit: result %u is %d", i, op.result);
		failed += op.result < 0;
		if (op.opcode == TWHEEL_OP_START && op.result >= 0)
			check_user_data(t->shared, "submit", op.id, op.user_data);
	}
	if (failed != submit->failed)
		fuzz_fail(t->shared, "submit: %u failed, not %u", failed, submit->failed);
}

static void check_submit(struct fuzz_thread *t, int result,
			 struct twheel_submit before,
			 const struct twheel_submit *submit,
			 const struct place *place)
{
	before.failed = submit->failed;
	if (memcmp(&before, submit, sizeof(before)))
		fuzz_fail(t->shared, "submit: the structure has changed");
	if (result < 0)
		return;
	if (!result || (__u32)result > submit->count)
		fuzz_fail(t->shared, "submit: %d of %u done", result, submit->count);
	if (place_is_known(place))
		check_ops(t, submit, place, result);
}

static bool is_op_size(__u32 size)
{
	return size >= sizeof(struct twheel_op) &&
	       size <= TWHEEL_ENTRY_SIZE_MAX && size % 8 == 0;
}

/*
 * Spoil the structure, but keep the kernel from reading operations that are
 * not in the array: it must either read the array as written, or refuse the
 * structure.
 */
static void spoil_submit(struct fuzz_thread *t, struct twheel_submit *submit)
{
	struct twheel_submit good = *submit;

	if (!fuzz_percent(t, t->kind->spoilt / 4))
		return;
	fuzz_mutate(t, &submit->count, sizeof(*submit) - sizeof(submit->ops));
	if (submit->count > good.count && submit->count <= BATCH_MAX)
		submit->count = good.count;
	if (is_op_size(submit->op_size))
		submit->op_size = good.op_size;
}

void fuzz_submit(struct fuzz_thread *t, int fd)
{
	__u32 op_size = choose_op_size(t);
	__u32 step = is_op_size(op_size) ? op_size : sizeof(struct twheel_op);
	__u32 most = fuzz_percent(t, 95) ? OPS_MOSTLY : OPS_MAX;
	__u32 count = MIN(1 + fuzz_below(t, most), t->arrays.size / 2 / step);
	struct place place = fuzz_place(t, &t->arrays, (size_t)count * step);
	struct twheel_submit submit, before;
	bool known;
	int result;

	write_ops(t, &place, step, count);
	submit = (struct twheel_submit){
		.ops = pointer_of(t, &place),
		.count = count,
		.failed = fuzz_random(t),
		.op_size = op_size,
	};
	spoil_submit(t, &submit);
	before = submit;
	result = call(t, fd, TWHEEL_IOC_SUBMIT, &submit, sizeof(submit), &known);
	if (known)
		check_submit(t, result, before, &submit, &place);
}

/* LIST. */

static void check_entries(struct fuzz_thread *t, __u32 count,
			  const struct twheel_list *list,
			  const struct place *place)
{
	struct twheel_entry entry;
	size_t at, end;

	for (at = 0; count--; at += list->entry_size) {
		if (at + list->entry_size > place->room)
			return;
		memcpy(&entry, place->mine + at, sizeof(entry));
		check_entry(t->shared, "list", &entry);
		check_zeroes(t->shared, "entry", place->mine + at, sizeof(entry), list->entry_size);
	}
	/* The kernel may write one more entry, uncounted, of a timer that got away. */
	end = at + list->entry_size;
	if (place_is_known(place) && end < place->room)
		check_untouched(t->shared, "list", place->mine + end, place->room - end);
}

static void check_list(struct fuzz_thread *t, int result,
		       struct twheel_list before,
		       const struct twheel_list *list,
		       const struct place *place)
{
	if (result >= 0)
		before.cursor = list->cursor;
	if (memcmp(&before, list, sizeof(before)))
		fuzz_fail(t->shared, "list: the structure has changed with result %d", result);
	if (result < 0)
		return;
	if ((__u32)result > list->count)
		fuzz_fail(t->shared, "list: %d entries, room for %u", result, list->count);
	if (place->mine)
		check_entries(t, result, list, place);
}

static __u64 choose_cursor(struct fuzz_thread *t)
{
	switch (fuzz_below(t, 8)) {
	case 0:
		return fuzz_number(t);
	case 1:
		return fuzz_below(t, 4) << 32 | fuzz_below(t, 1 << 26);
	case 2:
		return fuzz_below(t, 2) << 32 | fuzz_below(t, 3000);
	default:
		return 0;
	}
}

void fuzz_list(struct fuzz_thread *t, int fd)
{
	__u32 room = 1 + fuzz_below(t, ENTRIES_MAX);
	struct twheel_list list = {
		.cursor = choose_cursor(t),
		.count = room,
		.entry_size = sizeof(struct twheel_entry),
		.flags = fuzz_percent(t, 30) * TWHEEL_LIST_DRAIN,
	}, before;
	struct place place;
	bool known;
	int result;

	if (fuzz_percent(t, 20))
		list.entry_size += 8 * fuzz_below(t, 6);
	place = fuzz_place(t, &t->arrays, (size_t)room * list.entry_size);
	list.entries = pointer_of(t, &place);
	if (place.kind == PLACE_NOWHERE && fuzz_percent(t, 50))
		list.count = fuzz_number(t);
	if (fuzz_percent(t, t->kind->spoilt / 8))
		list.flags = fuzz_number(t);
	if (fuzz_percent(t, t->kind->spoilt / 8))
		list.reserved = fuzz_number(t);
	if (place.kind == PLACE_NOWHERE && fuzz_spoilt(t))
		list.entry_size = fuzz_number(t);
	before = list;
	result = call(t, fd, TWHEEL_IOC_LIST, &list, sizeof(list), &known);
	if (known)
		check_list(t, result, before, &list, &place);
}
