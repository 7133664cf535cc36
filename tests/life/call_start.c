// SPDX-License-Identifier: GPL-2.0
/*
 * Steps that start and stop timers: alone, in batches, by a push or by a store
 *
 * A start or a stop is planned before its call, with the record of its start, and judged after it.
 * The calls of the library take fewer arguments than the ioctls, and store into words.
 */
#include <errno.h>
#include <stdint.h>

#include "call.h"

/* A start or a stop */
struct planned {
	struct oracle_start *t;		/* record of the start, NULL for a stop */
	struct oracle_id *own;		/* record of the id, NULL if several threads use the id */
	struct twheel_op in;
	bool invalid;			/* the call must fail with EINVAL */
	struct oracle_store *store;	/* store into the word that the library makes, or NULL */
	u64 word;			/* value of the word before the call */
	long ret;			/* result of the call */
};

/*
 * Note the store into the word with which a start of the library begins. The store may happen at
 * any time until the call returns, so library_has_stored() notes when that is.
 */
static void library_stores(struct session *s, struct planned *p)
{
	struct oracle_id *own = p->own;
	u64 word = p->in.expires_ns;

	if (!own || !call_has_word(&s->os, p->in.id) || p->invalid)
		return;
	if (!(p->in.flags & TWHEEL_START_ABS))
		word = min_t(u64, oracle_now() + word, KTIME_MAX);
	p->store = &own->stores[own->nr_stores % ORACLE_STORES];
	p->word = twheel_word(s->t, p->in.id);
	oracle_stored(own, oracle_now(), ~0ULL, word, true);
}

/*
 * Check that a word has the deadline of the last start of its id in @all that succeeded, or its
 * value from before the call if none did.
 */
static void check_word_left(struct session *s, const struct planned *p, const struct planned *all,
			    unsigned int nr)
{
	u64 word = p->word, is = twheel_word(s->t, p->in.id);
	const struct planned *q;

	for (q = all; q < all + nr; q++) {
		if (q->own != p->own || !q->store || q->ret < 0)
			continue;
		/* The library added the delay to the time of a moment that is not known. */
		if (!IS_EXACT && !(q->in.flags & TWHEEL_START_ABS))
			return;
		word = q->store->word;
	}
	if (is != word)
		oracle_fail("a start of id %#llx returns %ld, and leaves word %llu, not %llu",
			    p->in.id, p->ret, is, word);
}

/* Check the words after a call with the @nr starts and stops in @all, and note when it returned. */
static void library_has_stored(struct session *s, struct planned *all, unsigned int nr)
{
	struct planned *p;

	for (p = all; p < all + nr; p++)
		if (p->store)
			check_word_left(s, p, all, nr);
	for (p = all; p < all + nr; p++) {
		if (!p->store)
			continue;
		p->store->word = min_t(u64, twheel_word(s->t, p->in.id), TWHEEL_WORD_STOP);
		p->store->at = oracle_now();
	}
}

/*
 * Make the arguments of a start or a stop, alone or in a batch. @library: the step calls a function
 * of libtwheel, which has fewer arguments than the ioctl. Called with life_lock() held.
 */
static struct planned plan(struct session *s, const struct step *step, bool library)
{
	struct planned p = { .own = call_own_id(s, step) };
	struct twheel_op *in = &p.in;
	unsigned int how = step->part ? 3 : step->how;

	in->id = p.own ? p.own->id : 20 + step->id % 3U;
	in->reserved = library ? 0 : step->reserved;
	if (step->what == STEP_STOP) {
		in->opcode = TWHEEL_OP_STOP;
		in->flags = library ? 0 : step->flags & ~TWHEEL_START_ABS;
		p.invalid = in->flags || in->reserved || call_is_invalid_id(&s->os, in->id);
		return p;
	}
	in->opcode = TWHEEL_OP_START;
	in->flags = step->flags;
	in->period_ns = step->period;
	in->expires_ns = step->delay;
	if (library && how > 3) {
		in->period_ns = 0;
		in->flags = how == 5 ? TWHEEL_START_ABS : 0;
	}
	if (in->flags & TWHEEL_START_ABS && !(step->delay >> 63)) {
		u64 now = oracle_now();

		if (step->count % 3 == 1)
			in->expires_ns = now > step->delay ? now - step->delay : 0;
		else
			in->expires_ns = min_t(u64, now + step->delay, KTIME_MAX);
	}
	if (in->id & TWHEEL_ID_KERNEL && (in->id == TWHEEL_ID_ANY || step->count == 1)) {
		in->id = TWHEEL_ID_ANY;
		/*
		 * The kernel chooses an id, which may be the old one, so what becomes of the old
		 * start is unknown. In a batch the new id is unknown, too.
		 */
		if (step->part) {
			p.own = NULL;
		} else {
			p.own->id = TWHEEL_ID_ANY;
			p.own->start = NULL;
		}
	}
	p.invalid = in->flags & ~TWHEEL_START_ABS || in->reserved || in->period_ns >> 63 ||
		    in->expires_ns >> 63 || call_is_invalid_id(&s->os, in->id);
	/* check_order() expects starts with past deadlines in order, unless events are unread. */
	if (IS_VIRTUAL && IS_ALONE && !host_readable(s->t))
		s->past_at = oracle_now();
	p.t = oracle_new_start(&s->os, p.own, in);
	in->user_data = oracle_data(p.t);
	if (library)
		library_stores(s, &p);
	return p;
}

/* Check that a session that refused a start with ENOSPC has as many timers as it may have. */
static void check_limit(struct session *s)
{
	struct twheel_stats stats;

	if (IS_EXACT && !twheel_stats(s->t, &stats) &&
	    stats.pending + stats.unread < s->os.max_timers)
		oracle_fail("ENOSPC with %llu timers of %llu", stats.pending + stats.unread,
			    s->os.max_timers);
}

/* Judge the result of a start or stop. Called with life_lock() held. */
static void judge(struct session *s, const struct planned *p, u64 id, long ret,
		  const struct oracle_call_of *call)
{
	if (ret == -EFAULT)
		s->os.fuzzy |= p->in.id == TWHEEL_ID_ANY;
	else if ((ret == -EINVAL) != p->invalid)
		oracle_fail("a start or stop of id %#llx returns %ld, and is %svalid", p->in.id,
			    ret, p->invalid ? "in" : "");
	if (!p->t) {
		CHECK("a stop", ret, 1, EINVAL, ENOENT, EFAULT);
		if (!p->invalid && ret != -EFAULT)
			oracle_stop_done(&s->os, p->own, call, ret);
		return;
	}
	CHECK("a start", ret, 2, EINVAL, ENOENT, ENOSPC, ENOMEM, EFAULT);
	if (ret == -ENOSPC && s->os.max_timers > 64)
		oracle_fail("ENOSPC, and there is no limit");
	oracle_start_done(p->t, id, call, ret);
}

static void note_op(const struct session *s, const char *how, const struct planned *p, long ret)
{
	const struct twheel_op *in = &p->in;

	if (p->t)
		life_note("%s(s%d, id %#llx, expires %llu, period %llu, flags %#x, reserved %#x, data %llx) = %ld",
			  how, call_nr_of(s), in->id, in->expires_ns, in->period_ns, in->flags,
			  in->reserved, in->user_data, ret);
	else
		life_note("%s(s%d, id %#llx, flags %#x, reserved %#x) = %ld", how,
			  call_nr_of(s), in->id, in->flags, in->reserved, ret);
}

static long start_by_library(struct session *s, const struct step *step, struct planned *p)
{
	struct twheel_op *in = &p->in;

	if (in->id == TWHEEL_ID_ANY || step->how == 3)
		return twheel_start_flags(s->t, &in->id, in->expires_ns, in->period_ns,
					  in->user_data, in->flags);
	if (step->how == 4)
		return twheel_start(s->t, in->id, in->expires_ns, in->user_data);
	return twheel_start_at(s->t, in->id, in->expires_ns, in->user_data);
}

void call_start(struct session *s, const struct step *step)
{
	bool library = step->how > 2;
	struct oracle_call_of call = call_begin(s);
	struct twheel_start start, *at;
	struct planned p;
	long ret;

	life_lock();
	p = plan(s, step, library);
	life_unlock();
	start = (struct twheel_start){
		.id = p.in.id, .expires_ns = p.in.expires_ns, .period_ns = p.in.period_ns,
		.user_data = p.in.user_data, .flags = p.in.flags, .reserved = p.in.reserved,
	};
	at = library ? NULL : call_put(step, &start, sizeof(start));
	host_refuse(step->refused);
	if (library) {
		ret = start_by_library(s, step, &p);
		start.id = p.in.id;
	} else {
		ret = twheel_command(s->t, TWHEEL_IOC_START, at);
	}
	host_refuse(0);
	if (at)
		call_take(step, &start, at, sizeof(start));
	life_lock();
	note_op(s, library ? "twheel_start_flags" : "START", &p, ret);
	p.ret = ret;
	library_has_stored(s, &p, 1);
	if (!library)
		call_is_fault(step, ret);
	judge(s, &p, start.id, ret, &call);
	if (ret == -ENOSPC)
		check_limit(s);
	life_unlock();
}

void call_stop(struct session *s, const struct step *step)
{
	bool library = step->how > 3;
	struct oracle_call_of call = call_begin(s);
	struct planned p;
	long ret;

	life_lock();
	p = plan(s, step, library);
	life_unlock();
	if (library) {
		ret = twheel_stop(s->t, p.in.id);
	} else {
		struct twheel_stop stop = {
			.id = p.in.id, .flags = p.in.flags, .reserved = p.in.reserved,
		};

		ret = twheel_command(s->t, TWHEEL_IOC_STOP, call_put(step, &stop, sizeof(stop)));
	}
	life_lock();
	note_op(s, library ? "twheel_stop" : "STOP", &p, ret);
	if (!library)
		call_is_fault(step, ret);
	judge(s, &p, p.in.id, ret, &call);
	life_unlock();
}

/* Batches. Their operations are the steps that follow. */

static unsigned int plan_batch(struct session *s, const struct step *step, unsigned int left,
			       struct planned *p, bool library)
{
	unsigned int nr = 0;

	life_lock();
	while (nr < left && step[1 + nr].part && nr < OPS) {
		p[nr] = plan(s, &step[1 + nr], library);
		nr++;
	}
	life_unlock();
	return nr;
}

unsigned int call_submit(struct session *s, const struct step *step, unsigned int left)
{
	struct oracle_call_of call = call_begin(s);
	struct twheel_op ops[OPS] = {}, *ops_at = ops;
	struct twheel_submit submit, *at = &submit;
	unsigned int nr, i, failed = 0;
	struct planned p[OPS];
	bool array = step->how & 1;
	long ret;

	nr = plan_batch(s, step, left, p, false);
	if (!nr)
		return 0;
	for (i = 0; i < nr; i++)
		ops[i] = p[i].in;
	if (array)
		ops_at = call_put(step, ops, nr * sizeof(ops[0]));
	submit = (struct twheel_submit){
		.ops = (uintptr_t)ops_at, .count = nr, .op_size = sizeof(ops[0]),
	};
	if (!array)
		at = call_put(step, &submit, sizeof(submit));
	host_refuse(step->refused);
	ret = twheel_command(s->t, TWHEEL_IOC_SUBMIT, at);
	host_refuse(0);
	if (array)
		call_take(step, ops, ops_at, nr * sizeof(ops[0]));
	else
		call_take(step, &submit, at, sizeof(submit));
	life_lock();
	life_note("SUBMIT(s%d, %u operations) = %ld, %u have failed:", call_nr_of(s), nr, ret,
		  submit.failed);
	CHECK("SUBMIT", ret, nr, EFAULT, ENOMEM);
	oracle_check_memory(&call, ret);
	/* If a copy of results was made to fail, operations have results that nobody knows. */
	if (call_is_fault(step, ret) && step->refused)
		s->os.fuzzy = true;
	if (ret >= 0 && ret < nr && IS_ALONE && !call_in_bad_memory(step) &&
	    oracle_refusals() == call.failed)
		oracle_fail("SUBMIT ends after %ld of %u", ret, nr);
	for (i = 0; i < nr; i++) {
		long result = i < max(ret, 0L) ? ops[i].result : -EINVAL;

		note_op(s, "\t", &p[i], result);
		if (i < max(ret, 0L))
			judge(s, &p[i], ops[i].id, result, &call);
		else if (p[i].t)
			oracle_start_done(p[i].t, p[i].in.id, &call, -EINVAL);
		failed += i < max(ret, 0L) && result < 0;
	}
	if (ret > 0 && failed != submit.failed && !s->os.fuzzy)
		oracle_fail("%u operations have failed, and not %u", failed, submit.failed);
	life_unlock();
	return nr;
}

unsigned int call_batch(struct session *s, const struct step *step, unsigned int left)
{
	struct oracle_call_of call = call_begin(s);
	struct twheel_batch *batch;
	unsigned int nr, i, failed = 0;
	struct planned p[OPS];
	long ret = 0;

	nr = plan_batch(s, step, left, p, true);
	if (!nr)
		return 0;
	/* A batch of size @nr is full after the last operation, and submits itself. */
	if (twheel_batch_new(s->t, nr + step->how % 2, &batch))
		oracle_fail("no memory for a batch");
	host_refuse(step->refused);
	for (i = 0; i < nr; i++) {
		const struct twheel_op *in = &p[i].in;

		if (p[i].t)
			ret = twheel_batch_start_flags(batch, in->id, in->expires_ns,
						       in->period_ns, in->user_data, in->flags);
		else
			ret = twheel_batch_stop(batch, in->id);
		if (i + 1 < nr && ret)
			oracle_fail("a batch of %u returns %ld for operation %u", nr, ret, i);
	}
	if (step->how % 2)
		ret = twheel_batch_flush(batch);
	host_refuse(0);
	life_lock();
	life_note("batch(s%d, %u operations) = %ld, %u have failed:", call_nr_of(s), nr, ret,
		  twheel_batch_failed(batch));
	if (ret != nr)
		CHECK("a batch", ret, -1, ENOMEM, EFAULT);
	oracle_check_memory(&call, ret);
	for (i = 0; i < nr; i++) {
		p[i].ret = twheel_batch_op(batch, i)->result;
		note_op(s, "\t", &p[i], p[i].ret);
	}
	library_has_stored(s, p, nr);
	for (i = 0; i < nr; i++) {
		const struct twheel_op *op = twheel_batch_op(batch, i);

		failed += op->result < 0;
		if (op->result == -EFAULT)
			s->os.fuzzy = true;
		/* An operation that was not submitted has the error of the call. */
		if (ret < 0 && op->result == ret && !p[i].invalid) {
			if (p[i].t)
				oracle_start_done(p[i].t, p[i].in.id, &call, -EINVAL);
			continue;
		}
		if (op->result != ret || ret >= 0 || !p[i].invalid)
			judge(s, &p[i], op->id, op->result, &call);
	}
	if (failed != twheel_batch_failed(batch) || (ret < 0 && !failed))
		oracle_fail("%u operations have failed, and not %u", failed,
			    twheel_batch_failed(batch));
	life_unlock();
	twheel_batch_free(batch);
	return nr;
}

/*
 * Push a timer. twheel_push() returns 0 whether it stored the deadline or started the timer again.
 * If it started the timer, work out the result of the start from the session's counters.
 */
void call_push(struct session *s, const struct step *step)
{
	struct oracle_call_of call = call_begin(s);
	struct oracle_id *own = call_own_id(s, step);
	struct twheel_stats before, after;
	struct step as = *step;
	struct planned p;
	u64 word;
	long ret;

	if (!own || own->id == TWHEEL_ID_ANY || !IS_VIRTUAL || !IS_ALONE)
		return;
	as.what = STEP_START;
	as.how = 5;
	as.count = 2;
	twheel_stats(s->t, &before);
	word = call_has_word(&s->os, own->id) ? twheel_word(s->t, own->id) : TWHEEL_WORD_NONE;
	p = plan(s, &as, true);
	ret = twheel_push(s->t, p.in.id, p.in.expires_ns, p.in.user_data);
	twheel_stats(s->t, &after);
	note_op(s, "twheel_push", &p, ret);
	p.ret = ret;
	library_has_stored(s, &p, 1);
	if (!(p.in.expires_ns >> 63) && word != TWHEEL_WORD_NONE && word <= p.in.expires_ns) {
		if (ret)
			oracle_fail("a push that is a store returns %ld", ret);
		p.t->refused = true;
		return;
	}
	if (!ret && after.restarted != before.restarted)
		ret = 1;
	else if (!ret && after.replaced != before.replaced)
		ret = 2;
	judge(s, &p, p.in.id, ret, &call);
}

void call_store(struct session *s, const struct step *step)
{
	struct oracle_id *own = call_own_id(s, step);
	u64 word, from = oracle_now();

	if (!own || !call_has_word(&s->os, own->id))
		return;
	switch (step->how) {
	case 0:
		word = step->count & 1 ? TWHEEL_WORD_STOP : TWHEEL_WORD_NONE;
		break;
	case 1:
		word = from - min(from, step->delay);
		break;
	default:
		word = min_t(u64, from + (step->delay & KTIME_MAX), ORACLE_WORD_MAX);
	}
	life_note("twheel_refresh(s%d, %#llx, %llu)", call_nr_of(s), own->id, word);
	if (!IS_VIRTUAL) {
		life_lock();
		oracle_stored(own, from, ~0ULL, word, true);
		life_unlock();
	}
	twheel_refresh(s->t, own->id, word);
	/* A full barrier, in a form that TSan understands: after it, all CPUs see the store. */
	__atomic_fetch_add(&life->barrier, 1, __ATOMIC_SEQ_CST);
	life_lock();
	if (IS_VIRTUAL)
		oracle_stored(own, from, from, word, false);
	else
		own->stores[(own->nr_stores - 1) % ORACLE_STORES].at = oracle_now();
	life_unlock();
}
