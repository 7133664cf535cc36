// SPDX-License-Identifier: GPL-2.0 OR MIT
/**
 * DOC: TWHEEL_IOC_SUBMIT: many operations on a session's timers in one call
 *
 * twheel_chardev.c passes a few operations of a batch at a time. They are
 * divided into runs: starts of free timers, restarts of armed timers, stops of
 * armed timers. The timers of a run are looked up one after the other, then
 * passed to the wheel together, then counted. A run takes the session's lock
 * once: there are no intermediate states, and the cost of the lock is shared.
 * All other operations are carried out one by one, between runs.
 *
 * A timer may occur twice in a run. The second of two restarts just restarts it
 * again. The second of two stops fails as for a timer that is about to expire.
 * These operations are repeated at the end, one by one.
 */
#include <linux/ktime.h>
#include <linux/spinlock.h>

#include "core/compat.h"
#include "timer.h"

enum run_kind { RUN_NONE, RUN_START, RUN_RESTART, RUN_STOP };

/**
 * struct run - operations carried out together
 * @kind: kind of the operations
 * @nr: number of operations
 * @first: first operation
 * @requests: timers of the operations
 */
struct run {
	enum run_kind kind;
	unsigned int nr;
	struct twheel_session_op *first;
	struct twheel_request requests[TWHEEL_OPS_PER_LOCK];
};

static bool bad_stop(const struct twheel_session *s,
		     const struct twheel_start *op)
{
	return (op->flags & ~TWHEEL_STOP_WITHDRAW) | op->fd |
	       op->expires_ns | op->period_ns | op->user_data ||
	       !twheel_session_has_number(s, op->id);
}

/* Carry out one operation on its own. */
static int run_op(struct twheel_session *s, struct twheel_session_op *op,
		  ktime_t now)
{
	if (op->opcode == TWHEEL_OP_START)
		return twheel_session_start_locked(s, &op->start, now);
	if (op->opcode != TWHEEL_OP_STOP || bad_stop(s, &op->start))
		return -EINVAL;
	return twheel_session_stop_locked(s, op->start.id, op->start.flags);
}

/* Returns the kind of run for an operation, and its place in the table. */
static enum run_kind
kind_of(struct twheel_session *s, const struct twheel_session_op *op,
	struct twheel_utimer **place)
{
	bool start = op->opcode == TWHEEL_OP_START;
	u64 id = op->start.id;
	struct twheel_utimer *ut;

	*place = NULL;
	if (start ? twheel_session_check_start(s, &op->start) :
		    op->opcode != TWHEEL_OP_STOP || bad_stop(s, &op->start))
		return RUN_NONE;
	if (unlikely(id == TWHEEL_ID_ANY))
		return start ? RUN_START : RUN_NONE;
	ut = twheel_table_place(s->tables, id);
	*place = ut;
	if (unlikely(!ut))
		return RUN_NONE;
	if (likely(ut->id == id && ut->state == TWHEEL_ARMED))
		return start ? RUN_RESTART : RUN_STOP;
	if (start && ut->state == TWHEEL_FREE && !(id & TWHEEL_ID_KERNEL))
		return RUN_START;
	return RUN_NONE;
}

/* Returns NULL if twheel_session_start_locked() has to make room first. */
static struct twheel_utimer *take_armed(struct twheel_session *s,
					struct twheel_utimer *ut,
					struct twheel_start *args)
{
	if (s->timers >= s->max_timers)
		return NULL;
	ut = twheel_session_take(s, ut, args->id);
	if (!ut)
		return NULL;
	args->id = ut->id;
	twheel_utimer_set_up(ut, args);
	ut->state = TWHEEL_ARMED;
	return ut;
}

static struct twheel_utimer *utimer_of(const struct twheel_request *request)
{
	return container_of(request->timer, struct twheel_utimer, timer);
}

/* Carry out a run. Returns the number of timers that were no longer pending. */

static unsigned int end_restarts(struct twheel_session *s, struct run *run)
{
	unsigned int i, done = 0;

	twheel_restart_many(run->requests, run->nr);
	for (i = 0; i < run->nr; i++) {
		if (unlikely(!run->requests[i].result))
			continue;
		twheel_utimer_set_up(utimer_of(&run->requests[i]),
				     &run->first[i].start);
		done++;
	}
	s->stats.restarted += done;
	return run->nr - done;
}

static unsigned int end_stops(struct twheel_session *s, struct run *run)
{
	unsigned int i, done = 0;

	twheel_stop_many(run->requests, run->nr);
	for (i = 0; i < run->nr; i++) {
		if (unlikely(!run->requests[i].result))
			continue;
		twheel_table_free(utimer_of(&run->requests[i]));
		done++;
	}
	s->stats.stopped += done;
	return run->nr - done;
}

/* Repeat operations on timers that were no longer pending. Rare. */
static noinline void run_again(struct twheel_session *s, struct run *run,
			       ktime_t now)
{
	unsigned int i;

	for (i = 0; i < run->nr; i++)
		if (!run->requests[i].result)
			run->first[i].result = run_op(s, &run->first[i], now);
}

static void flush_run(struct twheel_session *s, struct run *run, ktime_t now)
{
	unsigned int left = 0;

	if (run->kind == RUN_RESTART)
		left = end_restarts(s, run);
	else if (run->kind == RUN_STOP)
		left = end_stops(s, run);
	else
		twheel_start_many(run->requests, run->nr);
	if (unlikely(left))
		run_again(s, run, now);
	run->kind = RUN_NONE;
	run->nr = 0;
}

/*
 * Add the operation to a run of its kind, or carry it out. Returns false if
 * there was no memory: the operation then counts as not carried out.
 */
static bool add_to_run(struct twheel_session *s, struct run *run,
		       struct twheel_session_op *op, ktime_t now)
{
	struct twheel_request *request;
	struct twheel_utimer *ut;
	enum run_kind kind;

	for (;;) {
		kind = kind_of(s, op, &ut);
		if (kind == run->kind || !run->nr)
			break;
		/* The timers may have changed since the lookup: repeat it. */
		flush_run(s, run, now);
	}
	if (kind != run->kind) {
		run->kind = kind;
		run->first = op;
	}
	if (kind == RUN_START)
		ut = take_armed(s, ut, &op->start);
	if (unlikely(kind == RUN_NONE || !ut)) {
		flush_run(s, run, now);
		op->result = run_op(s, op, now);
		return op->result != -ENOMEM;
	}
	/* The result on success. */
	op->result = kind == RUN_RESTART;
	request = &run->requests[run->nr++];
	request->timer = &ut->timer;
	request->deadline = twheel_session_deadline(s, &op->start, now);
	return true;
}

/**
 * twheel_session_run_ops - carry out some operations of a TWHEEL_IOC_SUBMIT
 * @s: the session
 * @ops: operations, which receive their results
 * @count: number of operations, at most %TWHEEL_OPS_PER_LOCK
 * @now: time of the call
 *
 * At the limit of a memory cgroup each failed allocation takes long. So the
 * first operation without memory ends the batch.
 *
 * Context: Process, may sleep.
 * Return: number of operations carried out. Less than @count without memory.
 */
unsigned int twheel_session_run_ops(struct twheel_session *s,
				    struct twheel_session_op *ops,
				    unsigned int count, ktime_t now)
{
	struct run run __uninitialized;
	unsigned int i;

	run.kind = RUN_NONE;
	run.nr = 0;
	spin_lock_bh(&s->lock);
	for (i = 0; i < count; i++)
		if (!add_to_run(s, &run, &ops[i], now))
			break;
	flush_run(s, &run, now);
	spin_unlock_bh(&s->lock);
	return i;
}
