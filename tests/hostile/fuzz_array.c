// SPDX-License-Identifier: GPL-2.0
/* The commands SUBMIT and LIST, whose structure points to an array */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "fuzz.h"

#define OPS_MAX		200
/*
 * Most batches have no more operations than this, which is already more than twheel handles under
 * one lock. Short batches leave time for more calls.
 */
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

/* Functions for SUBMIT. */

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
			.reserved = start.reserved,
		};
	} else {
		*op = (struct twheel_op){
			.opcode = TWHEEL_OP_STOP,
			.flags = fuzz_percent(t, 2),
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

/* Write @count operations, or as many as the place has room for. */
static void write_ops(struct fuzz_thread *t, const struct place *place, __u32 count)
{
	/* Start many timers whose ids the kernel chooses, so that they need several chunks. */
	bool crowd = fuzz_percent(t, 10);
	struct twheel_op op;
	size_t at = 0;

	if (!place->mine)
		return;
	for (; count-- && at < place->room; at += sizeof(op)) {
		/* Sometimes repeat the operation before. */
		if (!at || !fuzz_percent(t, 15))
			make_op(t, &op, crowd);
		memcpy(place->mine + at, &op, MIN(sizeof(op), place->room - at));
	}
}

static bool is_op_result(const struct twheel_op *op)
{
	return (op->result >= 0 && op->result <= (op->opcode == TWHEEL_OP_START ? 2 : 1)) ||
	       IS_ONE_OF(op->result, -EINVAL, -ENOENT, -ENOSPC, -ENOMEM);
}

/* Check that each executed operation has a result, and the right user_data. */
static void check_ops(struct fuzz_thread *t, const struct twheel_submit *submit,
		      const struct place *place, int done)
{
	struct twheel_op op;
	__u32 failed = 0;
	int i;

	for (i = 0; i < done; i++) {
		memcpy(&op, place->mine + i * sizeof(op), sizeof(op));
		if (!is_op_result(&op))
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

/*
 * Damage the structure, but not so that valid operations would be read from outside of the array.
 * The kernel must either read the array as it was written, or refuse the structure.
 */
static void spoil_submit(struct fuzz_thread *t, struct twheel_submit *submit)
{
	struct twheel_submit good = *submit;

	if (!fuzz_percent(t, t->kind->spoilt / 4))
		return;
	fuzz_mutate(t, &submit->count, sizeof(*submit) - sizeof(submit->ops));
	if (submit->count > good.count && submit->count <= BATCH_MAX)
		submit->count = good.count;
}

void fuzz_submit(struct fuzz_thread *t, int fd)
{
	__u32 most = fuzz_percent(t, 95) ? OPS_MOSTLY : OPS_MAX;
	__u32 count = 1 + fuzz_below(t, most);
	struct place place = fuzz_place(t, &t->arrays, count * sizeof(struct twheel_op));
	struct twheel_submit submit, before;
	bool known;
	int result;

	write_ops(t, &place, count);
	submit = (struct twheel_submit){
		.ops = pointer_of(t, &place),
		.count = count,
		.failed = fuzz_random(t),
		.op_size = sizeof(struct twheel_op) + fuzz_spoilt(t) * fuzz_below(t, 64),
	};
	spoil_submit(t, &submit);
	before = submit;
	result = call(t, fd, TWHEEL_IOC_SUBMIT, &submit, sizeof(submit), &known);
	if (known)
		check_submit(t, result, before, &submit, &place);
}

/* Functions for LIST. */

static void check_entries(struct fuzz_thread *t, __u32 count, const struct place *place)
{
	struct twheel_entry entry;
	size_t at, end;

	for (at = 0; count--; at += sizeof(entry)) {
		if (at + sizeof(entry) > place->room)
			return;
		memcpy(&entry, place->mine + at, sizeof(entry));
		check_entry(t->shared, "list", &entry);
	}
	/*
	 * The kernel may write one entry more than it counts: the entry of a timer that expired
	 * before it was drained.
	 */
	end = at + sizeof(entry);
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
		check_entries(t, result, place);
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

	place = fuzz_place(t, &t->arrays, room * sizeof(struct twheel_entry));
	list.entries = pointer_of(t, &place);
	if (place.kind == PLACE_NOWHERE && fuzz_percent(t, 50))
		list.count = fuzz_number(t);
	if (fuzz_percent(t, t->kind->spoilt / 8))
		list.flags = fuzz_number(t);
	if (fuzz_percent(t, t->kind->spoilt / 8))
		list.reserved = fuzz_number(t);
	if (fuzz_percent(t, t->kind->spoilt / 8))
		list.entry_size = fuzz_number(t);
	before = list;
	result = call(t, fd, TWHEEL_IOC_LIST, &list, sizeof(list), &known);
	if (known)
		check_list(t, result, before, &list, &place);
}
