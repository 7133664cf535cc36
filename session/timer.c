// SPDX-License-Identifier: GPL-2.0 OR MIT
/**
 * DOC: The timers of a session: expiring, starting, stopping
 *
 * A timer of a session is free, armed or unread. Starting arms it. Its
 * callback, in softirq context, appends it to the session's queue of events:
 * unread. Reading the event frees the timer, or arms it again if it is
 * periodic. A stop frees the timer, and a start arms it. Both withdraw its
 * unread event, so that no caller sees the event of a timer that is gone.
 *
 * An id may have a word, in which the program stores a deadline. The wheel
 * reads the word before the timer expires (word_deadline()), and the callback
 * frees the timer if the word says so.
 *
 * An armed timer whose callback waits for the session's lock counts as expired
 * for the holder of the lock: twheel_stop() and twheel_restart_at() return 0.
 * The holder leaves it alone, and the callback then queues or frees the timer.
 * So no timer is freed while its callback is about to run, and every started
 * timer is either stopped once or queued once.
 */
#include <linux/ktime.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "core/trace.h"
#include "timer.h"

/* Expiry */

/*
 * Return the deadline in the word of a pending timer. The timer's base is
 * locked. The session need not be: while a timer is pending, its id and the
 * pointer @words of its session do not change, and the program stores deadlines
 * into the words without a lock.
 */
static u64 word_deadline(struct twheel_timer *timer)
{
	struct twheel_utimer *ut = container_of(timer, struct twheel_utimer, timer);
	struct twheel_session *s = twheel_chunk_of(ut)->session;
	u64 word;

	if (unlikely(ut->id >= s->shared_ids))
		return 0;
	word = twheel_session_words_read(s->words, ut->id);
	if (unlikely(s->words->offset) && word != TWHEEL_WORD_STOP)
		word = twheel_session_word_deadline(s, word);
	/* A timer that its word stops remains due, and session_expired() stops it. */
	if (word > twheel_due_time(timer, s->tick_ns) && word != TWHEEL_WORD_STOP) {
		trace_twheel_word(timer, s->number, ut->id, word);
		atomic64_inc(&s->carried);
	}
	return word;
}

/*
 * Time of a run of the wheel, if the host reads the session's clock once for
 * each run. 0: read the clock at each expiry.
 */
#ifndef TWHEEL_RUN_NS
#define TWHEEL_RUN_NS(s)	((void)(s), 0)
#endif

/*
 * Expire a timer, unless its word stops it. Just before this call the wheel
 * read the word with word_deadline(), and found no later deadline. A deadline
 * that the program stores after that counts when the event is read: see
 * check_late_word().
 */
static void session_expired(struct twheel_timer *timer)
{
	struct twheel_utimer *ut = container_of(timer, struct twheel_utimer, timer);
	struct twheel_session *s = twheel_chunk_of(ut)->session;

	spin_lock(&s->lock);
	if (twheel_utimer_has_word(s, ut) &&
	    twheel_session_words_read(s->words, ut->id) == TWHEEL_WORD_STOP) {
		trace_twheel_word(timer, s->number, ut->id, TWHEEL_WORD_STOP);
		s->stats.stopped_by_store++;
		twheel_utimer_end(s, ut, twheel_next(ut->state, TWHEEL_DO_STOP, false));
		goto unlock;
	}
	ut->expired_ns = TWHEEL_RUN_NS(s) ?: twheel_session_time(s, ktime_get_ns());
	twheel_set_state(&ut->state, twheel_next(ut->state, TWHEEL_DO_EXPIRE, false));
	s->stats.expired++;
	s->stats.unread++;
	if (s->closing)
		goto unlock;
	twheel_events_add(&s->events, ut);
	twheel_session_wake_at_tick_end(s, &ut->timer);
unlock:
	spin_unlock(&s->lock);
}

const struct twheel_source twheel_session_source = {
	.deadline	= word_deadline,
	.fn		= session_expired,
};

/*
 * Starting
 *
 * Functions on the path of each start are always inlined, because single starts
 * and batches both call them.
 */

static __always_inline bool bad_start(const struct twheel_session *s,
				      const struct twheel_start *args)
{
	return (args->flags & ~TWHEEL_START_ABS) | args->reserved ||
	       args->expires_ns > KTIME_MAX || args->period_ns > KTIME_MAX ||
	       !twheel_session_has_number(s, args->id);
}

/*
 * Earliest time on the clock of @s: the boot of the host. It is not 0 for a
 * session in a process of some time namespaces.
 */
#ifndef TWHEEL_BOOT_NS
#define TWHEEL_BOOT_NS(s)	((void)(s), (ktime_t)0)
#endif

/* Returns the deadline of a start. @now is on CLOCK_MONOTONIC. */
static __always_inline ktime_t start_deadline(const struct twheel_session *s,
					      const struct twheel_start *args,
					      ktime_t now)
{
	if (args->flags & TWHEEL_START_ABS)
		return max(twheel_session_to_ours(args->expires_ns, twheel_session_offset(s)),
			   TWHEEL_BOOT_NS(s));
	/* Cannot overflow: both are less than 2^63. */
	return min_t(u64, twheel_session_time(s, now) + args->expires_ns, KTIME_MAX);
}

static void set_up(struct twheel_utimer *ut, const struct twheel_start *args)
{
	/*
	 * The wheel may be reading the source of a pending timer, which does
	 * not change.
	 */
	WRITE_ONCE(ut->asked.source, &twheel_session_source);
	ut->user_data = args->user_data;
	ut->period_ns = args->period_ns;
}

/*
 * Claim a free place for a START. *@ut is the place of the id, or NULL. Out:
 * *@ut is the timer, which the caller starts at once, and @args->id is its id.
 * Returns @step, whose action is TWHEEL_ALLOC. If it claims nothing, returns
 * TWHEEL_REFUSE with an errno, or TWHEEL_GROW.
 */
static __always_inline struct twheel_step
claim_place(struct twheel_session *s, struct twheel_utimer **ut,
	    struct twheel_start *args, struct twheel_step step)
{
	if (unlikely(args->id & TWHEEL_ID_KERNEL && args->id != TWHEEL_ID_ANY))
		return twheel_step(TWHEEL_REFUSE, TWHEEL_FREE, -ENOENT);
	if (unlikely(s->timers >= s->max_timers))
		return twheel_step(TWHEEL_REFUSE, TWHEEL_FREE, -ENOSPC);
	if (unlikely(!test_bit(smp_processor_id(), s->prepared)))
		return twheel_step(TWHEEL_GROW, TWHEEL_FREE, 0);
	if (args->id == TWHEEL_ID_ANY)
		*ut = twheel_table_take_any(s);
	if (unlikely(!*ut))
		return twheel_step(TWHEEL_GROW, TWHEEL_FREE, 0);
	if (args->id == TWHEEL_ID_ANY)
		args->id = (*ut)->id;
	else
		twheel_table_take_this(*ut, args->id);
	s->timers++;
	set_up(*ut, args);
	twheel_set_state(&(*ut)->state, step);
	return step;
}

/* Take the event of an unread timer out of the queue. Session's lock held. */
static void dequeue_event(struct twheel_session *s, struct twheel_utimer *ut)
{
	struct twheel_utimer *next = *twheel_events_next(ut), *before;
	u64 id = ut->before & ~TWHEEL_EVENTS_KERNEL;

	s->stats.unread--;
	if (ut == s->events.first) {
		twheel_events_take_first(&s->events);
		return;
	}
	if (ut->before & TWHEEL_EVENTS_KERNEL)
		id |= TWHEEL_ID_KERNEL;
	before = twheel_table_place(s->tables, id);
	*twheel_events_next(before) = next;
	if (next)
		next->before = ut->before;
	else
		s->events.last = before;
}

/* Withdraw the event of an unread timer, and free it. Session's lock held. */
void twheel_session_withdraw(struct twheel_session *s, struct twheel_utimer *ut,
			     struct twheel_step step)
{
	dequeue_event(s, ut);
	s->stats.withdrawn++;
	twheel_utimer_free(ut, step);
}

/* Withdraw the event of an unread timer, and set it up for a START. Rare. */
static noinline void replace_event(struct twheel_session *s, struct twheel_utimer *ut,
				   const struct twheel_start *args, struct twheel_step step)
{
	dequeue_event(s, ut);
	s->stats.replaced++;
	set_up(ut, args);
	twheel_set_state(&ut->state, step);
}

/*
 * Carry out a START. If it takes memory, or has to wait for a callback, return
 * a step for resolve_and_retry(). Only a START of a free id can fail for lack
 * of memory. A timer that exists may be started on a CPU that is not prepared.
 */
static __always_inline struct twheel_step
try_start(struct twheel_session *s, struct twheel_start *args, ktime_t now)
{
	enum twheel_utimer_state state = TWHEEL_FREE;
	struct twheel_utimer *ut = NULL;
	struct twheel_step step;

	lockdep_assert_held(&s->lock);
	if (unlikely(bad_start(s, args)))
		return twheel_step(TWHEEL_REFUSE, TWHEEL_FREE, -EINVAL);
	if (args->id != TWHEEL_ID_ANY)
		state = twheel_table_look_up(s->tables, args->id, &ut);
	step = twheel_next(state, TWHEEL_DO_START, false);
	switch (step.action) {
	case TWHEEL_RESTART:
		if (!twheel_restart_at(&ut->timer, start_deadline(s, args, now)))
			return twheel_step(TWHEEL_WAIT, step.state, 0);
		set_up(ut, args);
		s->stats.restarted++;
		return step;
	case TWHEEL_ALLOC:
		step = claim_place(s, &ut, args, step);
		if (step.action != TWHEEL_ALLOC)
			return step;
		break;
	default:
		replace_event(s, ut, args, step);
	}
	twheel_start_at(&ut->timer, start_deadline(s, args, now));
	return step;
}

/*
 * Do what @step waits for, with the session's lock released: allocate room for @id,
 * or let the callback of its timer finish. Returns 0 to try again, or an error. Rare.
 */
static noinline int resolve_and_retry(struct twheel_session *s, struct twheel_step step, u64 id)
	__must_hold(&s->lock)
{
	struct twheel_expiry_lock *lock;
	bool wait;
	int ret = 0;

	s->nr_unlocked++;
	wait = step.action == TWHEEL_WAIT &&
	       twheel_callback_announce(&twheel_table_place(s->tables, id)->timer, &lock);
	spin_unlock_bh(&s->lock);
	if (wait)
		twheel_callback_wait(lock);
	if (step.action == TWHEEL_GROW)
		ret = twheel_session_wheel_prepare(s) ?:
		      twheel_table_grow(s, id, s->shared_ids ? twheel_asked_expired :
							       session_expired);
	spin_lock_bh(&s->lock);
	s->nr_unlocked--;
	return ret;
}

/*
 * Start a timer, with an interval that begins at @now, on CLOCK_MONOTONIC. Releases
 * the lock temporarily, and may sleep, to allocate memory or to let a callback finish.
 */
int twheel_session_start_locked(struct twheel_session *s,
				struct twheel_start *args, ktime_t now)
	__must_hold(&s->lock)
{
	struct twheel_step step;
	int error;

	for (;;) {
		step = try_start(s, args, now);
		if (likely(!twheel_must_retry(step)))
			return step.result;
		error = resolve_and_retry(s, step, args->id);
		if (error)
			return error;
	}
}

/* TWHEEL_IOC_START. @args->id is set to the id that was started. May sleep. */
int twheel_session_start(struct twheel_session *s, struct twheel_start *args)
{
	ktime_t now = args->flags & TWHEEL_START_ABS ? 0 : ktime_get();
	int ret;

	spin_lock_bh(&s->lock);
	ret = twheel_session_start_locked(s, args, now);
	spin_unlock_bh(&s->lock);
	return ret;
}

/* Stopping */

/* Carry out a STOP, or return TWHEEL_WAIT if the callback is about to run. */
static struct twheel_step try_stop(struct twheel_session *s, u64 id)
{
	struct twheel_utimer *ut;
	struct twheel_step step = twheel_next(twheel_table_look_up(s->tables, id, &ut),
					      TWHEEL_DO_STOP, false);

	lockdep_assert_held(&s->lock);
	if (step.action == TWHEEL_CANCEL) {
		if (!twheel_stop(&ut->timer))
			return twheel_step(TWHEEL_WAIT, step.state, 0);
		twheel_utimer_end(s, ut, step);
	} else if (step.action == TWHEEL_DEQUEUE) {
		twheel_session_withdraw(s, ut, step);
	}
	return step;
}

/*
 * Stop a timer. The caller has checked the number of @id. Releases the lock
 * temporarily, and may sleep, if the callback of the timer is about to run.
 */
int twheel_session_stop_locked(struct twheel_session *s, u64 id)
	__must_hold(&s->lock)
{
	struct twheel_step step;

	while (twheel_must_retry(step = try_stop(s, id)))
		resolve_and_retry(s, step, id);
	return step.result;
}

/* TWHEEL_IOC_STOP. May sleep. */
int twheel_session_stop(struct twheel_session *s, const struct twheel_stop *stop)
{
	int ret = -EINVAL;

	if (stop->flags | stop->reserved)
		return ret;
	spin_lock_bh(&s->lock);
	if (twheel_session_has_number(s, stop->id))
		ret = twheel_session_stop_locked(s, stop->id);
	spin_unlock_bh(&s->lock);
	return ret;
}

/**
 * DOC: TWHEEL_IOC_SUBMIT: many operations on a session's timers in one call
 *
 * twheel_chardev.c passes a few operations of a batch at a time. They are
 * divided into runs: starts of free timers, restarts of armed timers, stops of
 * armed timers. The timers of a run are looked up one after the other, then
 * passed to the wheel together, then counted. The session's lock is held for
 * the whole run: no other caller sees an intermediate state, and the operations
 * share the cost of the lock. All other operations are carried out one by one,
 * between runs.
 *
 * A timer may occur twice in a run. The second of two restarts just restarts it
 * again. The second of two stops fails as for a timer that is about to expire.
 * Operations that failed so are repeated one by one, at the end of the run.
 */

/**
 * struct run - operations carried out together
 * @action: action of the operations: %TWHEEL_ALLOC, %TWHEEL_RESTART or
 *	%TWHEEL_CANCEL. %TWHEEL_REFUSE if there is no run
 * @first: first operation of the run
 * @end: end of the used @requests
 * @requests: timers of the operations
 */
struct run {
	enum twheel_action action;
	struct twheel_session_op *first;
	struct twheel_request *end;
	struct twheel_request requests[TWHEEL_OPS_PER_LOCK];
};

static bool bad_stop(const struct twheel_session *s,
		     const struct twheel_start *op)
{
	return op->flags | op->reserved | op->expires_ns | op->period_ns | op->user_data ||
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
	return twheel_session_stop_locked(s, op->start.id);
}

/*
 * Returns what an operation does to its timer, TWHEEL_REFUSE if the operation
 * is not valid. Out: the timer's place in the table, or NULL.
 */
static enum twheel_action
action_of(struct twheel_session *s, const struct twheel_session_op *op,
	  struct twheel_utimer **place)
{
	const struct twheel_start *args = &op->start;
	bool start = op->opcode == TWHEEL_OP_START;
	enum twheel_utimer_state state = TWHEEL_FREE;

	*place = NULL;
	if (start ? bad_start(s, args) :
		    op->opcode != TWHEEL_OP_STOP || bad_stop(s, args))
		return TWHEEL_REFUSE;
	if (likely(args->id != TWHEEL_ID_ANY))
		state = twheel_table_look_up(s->tables, args->id, place);
	return start ? twheel_next(state, TWHEEL_DO_START, false).action :
		       twheel_next(state, TWHEEL_DO_STOP, false).action;
}

/* Repeat one by one the operations on timers that were not pending. Rare. */
static noinline void run_again(struct twheel_session *s, struct run *run,
			       ktime_t now)
{
	struct twheel_session_op *op = run->first;
	struct twheel_request *r;

	for (r = run->requests; r < run->end; r++, op++)
		if (!r->result)
			op->result = run_op(s, op, now);
}

static struct twheel_utimer *utimer_of(const struct twheel_request *request)
{
	return container_of(request->timer, struct twheel_utimer, timer);
}

/* Carry out a run, and empty it. */
static void flush_run(struct twheel_session *s, struct run *run, ktime_t now)
{
	struct twheel_request *r = run->requests, *end = run->end;
	struct twheel_step stop = twheel_next(TWHEEL_ARMED, TWHEEL_DO_STOP, false);
	struct twheel_session_op *op = run->first;
	unsigned int nr = end - r, done = 0;

	switch (run->action) {
	case TWHEEL_RESTART:
		twheel_restart_many(r, nr);
		for (; r < end; r++, op++) {
			if (unlikely(!r->result))
				continue;
			set_up(utimer_of(r), &op->start);
			done++;
		}
		s->stats.restarted += done;
		break;
	case TWHEEL_CANCEL:
		twheel_stop_many(r, nr);
		for (; r < end; r++) {
			if (unlikely(!r->result))
				continue;
			twheel_utimer_free(utimer_of(r), stop);
			done++;
		}
		s->stats.stopped += done;
		break;
	default:
		twheel_start_many(r, nr);
		done = nr;
	}
	if (unlikely(done < nr))
		run_again(s, run, now);
	run->action = TWHEEL_REFUSE;
	run->end = run->requests;
}

/*
 * Add an operation to the run if it is of the same kind, or begin a run with
 * it, or carry it out alone. Returns false if there was no memory for the
 * operation, which then counts as not carried out.
 */
static bool add_to_run(struct twheel_session *s, struct run *run,
		       struct twheel_session_op *op, ktime_t now)
{
	struct twheel_request *request;
	enum twheel_action action;
	struct twheel_utimer *ut;

	for (;;) {
		action = action_of(s, op, &ut);
		if (action == run->action || run->end == run->requests)
			break;
		/* This may change or free the timer. Look it up again. */
		flush_run(s, run, now);
	}
	if (action != run->action) {
		run->action = action;
		run->first = op;
	}
	if (action == TWHEEL_ALLOC)
		action = claim_place(s, &ut, &op->start,
				     twheel_next(TWHEEL_FREE, TWHEEL_DO_START, false)).action;
	if (unlikely(action > TWHEEL_CANCEL)) {
		flush_run(s, run, now);
		op->result = run_op(s, op, now);
		return op->result != -ENOMEM;
	}
	/* The result on success. */
	op->result = action == TWHEEL_RESTART;
	request = run->end++;
	request->timer = &ut->timer;
	request->deadline = start_deadline(s, &op->start, now);
	return true;
}

/*
 * Carry out operations of a TWHEEL_IOC_SUBMIT, and store their results in @ops.
 * Stops at the first operation that gets no memory, because each failed
 * allocation takes long at the limit of a memory cgroup. Returns the number of
 * operations carried out. May sleep.
 */
unsigned int twheel_session_run_ops(struct twheel_session *s,
				    struct twheel_session_op *ops,
				    unsigned int count, ktime_t now)
{
	struct run run __uninitialized;
	unsigned int i;

	run.action = TWHEEL_REFUSE;
	run.end = run.requests;
	spin_lock_bh(&s->lock);
	for (i = 0; i < count; i++)
		if (!add_to_run(s, &run, &ops[i], now))
			break;
	flush_run(s, &run, now);
	spin_unlock_bh(&s->lock);
	return i;
}
