// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Many operations in one system call */
#include "libtwheel.h"

/* The kernel's limit of operations in one TWHEEL_IOC_SUBMIT. */
#define BATCH_MAX	65536

/**
 * struct twheel_batch - operations to submit, or submitted
 * @t: session of the operations
 * @size: number of operations to submit together
 * @count: number of operations
 * @failed: number of operations with a negative result
 * @submitted: true after the submission. Then adding an operation empties the batch first
 * @old: word of each operation's id before the operation stored its own
 * @ops: the operations
 */
struct twheel_batch {
	struct twheel *t;
	unsigned int size;
	unsigned int count;
	unsigned int failed;
	bool submitted;
	__u64 *old;
	struct twheel_op ops[];
};

int twheel_batch_new(struct twheel *t, unsigned int size, struct twheel_batch **batch)
{
	struct twheel_batch *made;

	if (!size || size > BATCH_MAX)
		return -EINVAL;
	made = libtwheel_alloc(1, sizeof(*made) + size * (sizeof(made->ops[0]) +
							  sizeof(made->old[0])));
	if (!made)
		return -ENOMEM;
	made->t = t;
	made->size = size;
	made->old = (__u64 *)&made->ops[size];
	*batch = made;
	return 0;
}

void twheel_batch_free(struct twheel_batch *batch)
{
	free(batch);
}

static bool stores(const struct twheel_batch *batch, const struct twheel_op *op)
{
	return op->opcode == TWHEEL_OP_START && has_word(batch->t, op->id) &&
	       is_valid_start(op->expires_ns, op->period_ns, op->flags);
}

/* Store the words of all starts, in order, because several may use one id. */
static void put_words(struct twheel_batch *batch)
{
	__u64 now = twheel_now_of(batch->t);
	struct twheel_op *op;
	unsigned int i;

	for (i = 0; i < batch->count; i++) {
		op = &batch->ops[i];
		if (!stores(batch, op))
			continue;
		if (!(op->flags & TWHEEL_START_ABS)) {
			op->expires_ns = after(now, op->expires_ns);
			op->flags |= TWHEEL_START_ABS;
		}
		batch->old[i] = put_word(batch->t, op->id, op->expires_ns);
	}
}

/* Returns true if a start after @i, up to @last, succeeded and stored the same word as @i. */
static bool succeeds_later(const struct twheel_batch *batch, unsigned int i, unsigned int last)
{
	const struct twheel_op *failed = &batch->ops[i], *op;

	for (op = failed + 1; op <= &batch->ops[last]; op++)
		if (op->result >= 0 && op->id == failed->id &&
		    op->expires_ns == failed->expires_ns && stores(batch, op))
			return true;
	return false;
}

/*
 * Restore the words of starts that failed, beginning with the last start. If a later start of
 * the same id succeeded and stored an equal word, the word belongs to that start and remains.
 */
static void take_back_words(struct twheel_batch *batch)
{
	unsigned int i = batch->count, last = 0;

	while (i--) {
		const struct twheel_op *op = &batch->ops[i];

		if (!stores(batch, op))
			continue;
		if (op->result >= 0)
			last = last ? last : i;
		else if (!succeeds_later(batch, i, last))
			take_back(batch->t, op->id, op->expires_ns, batch->old[i]);
	}
}

/*
 * Submit the operations, in several calls if a signal ends one early. Returns 0, or a negative
 * errno.
 */
static int submit(struct twheel_batch *batch)
{
	unsigned int done = 0, i;
	int ret = 0;

	while (done < batch->count) {
		struct twheel_submit submit = {
			.ops = (__u64)(unsigned long)&batch->ops[done],
			.count = batch->count - done,
			.op_size = sizeof(batch->ops[0]),
		};

		ret = twheel_command(batch->t, TWHEEL_IOC_SUBMIT, &submit);
		if (ret < 0)
			break;
		done += ret;
		batch->failed += submit.failed;
	}
	for (i = done; i < batch->count; i++)
		batch->ops[i].result = ret;
	batch->failed += batch->count - done;
	return ret < 0 ? ret : 0;
}

int twheel_batch_flush(struct twheel_batch *batch)
{
	int ret;

	if (batch->submitted || !batch->count)
		return 0;
	batch->submitted = true;
	if (batch->t->shared_ids)
		put_words(batch);
	ret = submit(batch);
	if (batch->failed)
		take_back_words(batch);
	return ret ? ret : (int)batch->count;
}

static int add(struct twheel_batch *batch, const struct twheel_op *op)
{
	if (batch->submitted) {
		batch->submitted = false;
		batch->count = 0;
		batch->failed = 0;
	}
	batch->ops[batch->count++] = *op;
	return batch->count == batch->size ? twheel_batch_flush(batch) : 0;
}

int twheel_batch_start_flags(struct twheel_batch *batch, __u64 id, __u64 expires_ns,
			     __u64 period_ns, __u64 user_data, __u32 flags)
{
	const struct twheel_op op = {
		.opcode = TWHEEL_OP_START,
		.flags = flags,
		.id = id,
		.expires_ns = expires_ns,
		.period_ns = period_ns,
		.user_data = user_data,
	};

	return add(batch, &op);
}

int twheel_batch_stop(struct twheel_batch *batch, __u64 id)
{
	const struct twheel_op op = { .opcode = TWHEEL_OP_STOP, .id = id };

	return add(batch, &op);
}

unsigned int twheel_batch_failed(const struct twheel_batch *batch)
{
	return batch->submitted ? batch->failed : 0;
}

const struct twheel_op *twheel_batch_op(const struct twheel_batch *batch,
					unsigned int index)
{
	return index < batch->count ? &batch->ops[index] : NULL;
}
