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

/**
 * struct run - operations carried out together
 * @action: what they do to their timers: %TWHEEL_TAKE, %TWHEEL_MOVE or
 *	%TWHEEL_HALT. %TWHEEL_REFUSE if there is no run
 * @nr: number of operations
 * @first: first operation
 * @requests: timers of the operations
 */
struct run {
	enum twheel_action action;
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

/* Returns what an operation does to its timer, and the timer's place in the table. */
static enum twheel_action
action_of(struct twheel_session *s, const struct twheel_session_op *op,
	  struct twheel_utimer **place)
{
	const struct twheel_start *args = &op->start;
	bool start = op->opcode == TWHEEL_OP_START;
	enum twheel_utimer_state state;

	*place = NULL;
	if (start ? twheel_session_bad_start(s, args) :
		    op->opcode != TWHEEL_OP_STOP || bad_stop(s, args))
		return TWHEEL_REFUSE;
	if (likely(args->id != TWHEEL_ID_ANY))
		*place = twheel_table_place(s->tables, args->id);
	state = twheel_utimer_state(*place, args->id);
	return start ? twheel_next(state, TWHEEL_DO_START, args->flags).action :
		       twheel_next(state, TWHEEL_DO_STOP, args->flags).action;
}

/* Take a free place, in *@ut, for a timer to arm at the end of the run. */
static enum twheel_action take(struct twheel_session *s, struct twheel_utimer **ut,
			       struct twheel_start *args)
{
	struct twheel_step step = twheel_next(TWHEEL_FREE, TWHEEL_DO_START, 0);

	step = twheel_session_take(s, ut, args, step);
	if (likely(step.action == TWHEEL_TAKE)) {
		twheel_utimer_set_up(*ut, args);
		twheel_enter(&(*ut)->state, step);
	}
	return step.action;
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
	struct twheel_step step = twheel_next(TWHEEL_ARMED, TWHEEL_DO_STOP, 0);
	unsigned int i, done = 0;

	twheel_stop_many(run->requests, run->nr);
	for (i = 0; i < run->nr; i++) {
		if (unlikely(!run->requests[i].result))
			continue;
		twheel_utimer_free(utimer_of(&run->requests[i]), step);
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

	if (run->action == TWHEEL_MOVE)
		left = end_restarts(s, run);
	else if (run->action == TWHEEL_HALT)
		left = end_stops(s, run);
	else
		twheel_start_many(run->requests, run->nr);
	if (unlikely(left))
		run_again(s, run, now);
	run->action = TWHEEL_REFUSE;
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
	enum twheel_action action;
	struct twheel_utimer *ut;

	for (;;) {
		action = action_of(s, op, &ut);
		if (action == run->action || !run->nr)
			break;
		/* The timers may have changed since the lookup: repeat it. */
		flush_run(s, run, now);
	}
	if (action != run->action) {
		run->action = action;
		run->first = op;
	}
	if (action == TWHEEL_TAKE)
		action = take(s, &ut, &op->start);
	if (unlikely(action > TWHEEL_HALT)) {
		flush_run(s, run, now);
		op->result = run_op(s, op, now);
		return op->result != -ENOMEM;
	}
	/* The result on success. */
	op->result = action == TWHEEL_MOVE;
	request = &run->requests[run->nr++];
	request->timer = &ut->timer;
	request->deadline = twheel_session_deadline(s, &op->start, now);
	return true;
}

/*
 * Carry out @count operations of a TWHEEL_IOC_SUBMIT, which receive their
 * results. May sleep. Returns the number carried out: at the limit of a memory
 * cgroup each failed allocation takes long, so the first operation without
 * memory is the last.
 */
unsigned int twheel_session_run_ops(struct twheel_session *s,
				    struct twheel_session_op *ops,
				    unsigned int count, ktime_t now)
{
	struct run run __uninitialized;
	unsigned int i;

	run.action = TWHEEL_REFUSE;
	run.nr = 0;
	spin_lock_bh(&s->lock);
	for (i = 0; i < count; i++)
		if (!add_to_run(s, &run, &ops[i], now))
			break;
	flush_run(s, &run, now);
	spin_unlock_bh(&s->lock);
	return i;
}
