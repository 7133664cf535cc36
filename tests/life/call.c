// SPDX-License-Identifier: GPL-2.0
/*
 * The steps of a life: each step is a call whose result starts.c judges
 *
 * life_lock() protects the records of starts. A step holds it before and after its call, but not
 * during the call, so that calls of threads overlap.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "life.h"
#include "uapi_tables.h"

#define PAGE		((size_t)sysconf(_SC_PAGESIZE))
/* A timer that is this late is lost, however busy the machine is. */
#define PATIENCE	(60 * SECOND)
#define IS_VIRTUAL	(self.plan->kind->virtual)
#define IS_ALONE	(self.plan->kind->threads == 1)
/* The clock stands still, and no other thread has done anything since this step began. */
#define IS_EXACT	(IS_VIRTUAL && !self.disturbed)

#define CHECK(what, ret, most, ...)					\
	check_result(what, ret, most, (const int []){ __VA_ARGS__, 0 })

static void check_result(const char *what, long ret, long most, const int *errors)
{
	if (ret >= 0 && ret <= most)
		return;
	for (; *errors; errors++)
		if (ret == -*errors)
			return;
	oracle_fail("%s returns %ld", what, ret);
}

static struct oracle_call_of begin_call(struct session *s)
{
	struct oracle_call_of call;

	life_lock();
	call = oracle_calls(&s->os);
	life->calls++;
	life_unlock();
	return call;
}

/* Returns the index of a session, for messages. */
static int nr_of(const struct session *s)
{
	return s - life->sessions;
}

/* Pages for arguments, where a page that cannot be accessed follows each page that can. */

static char *pages_of[THREADS];

static char *end_of_page(bool read_only)
{
	char *pages = pages_of[self.nr];

	if (!pages) {
		pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE) ||
		    mprotect(pages + 3 * PAGE, PAGE, PROT_NONE))
			abort();
		pages_of[self.nr] = pages;
	}
	return pages + (read_only ? 3 : 1) * PAGE;
}

/* Put an argument into the memory that the step chooses, and return its address for the call. */
static void *put(const struct step *step, void *from, size_t size)
{
	char *end = end_of_page(step->place == PLACE_READ_ONLY);
	size_t here = step->place == PLACE_CUT ? size * step->how / 6 & ~7UL : size;

	switch (step->place) {
	case PLACE_STACK:
		return from;
	case PLACE_NOWHERE:
		return (void *)(uintptr_t)(step->how & 1 ? 0xffff888000001000ULL : 8);
	case PLACE_READ_ONLY:
		mprotect(end - PAGE, PAGE, PROT_READ | PROT_WRITE);
		memcpy(end - size, from, size);
		mprotect(end - PAGE, PAGE, PROT_READ);
		return end - size;
	default:
		memcpy(end - here, from, here);
		return end - here;
	}
}

/* Copy an argument back from where put() placed it, as far as memory is mapped there. */
static void take(const struct step *step, void *to, const void *from, size_t size)
{
	char *end = end_of_page(step->place == PLACE_READ_ONLY);

	if (step->place == PLACE_STACK || step->place == PLACE_NOWHERE)
		return;
	memcpy(to, from, min(size, (size_t)(end - (const char *)from)));
}

static bool is_bad(const struct step *step)
{
	return step->place > PLACE_END;
}

/* Returns whether a call failed with EFAULT. Ends the test if all memory of the call is good. */
static bool is_fault(const struct step *step, long ret)
{
	if (ret == -EFAULT && !is_bad(step) && !step->refused)
		oracle_fail("EFAULT, and all memory is there");
	return ret == -EFAULT;
}

/* Ids. Each thread has its own ids. If there is one thread, it has the ids of all threads. */

static struct oracle_id *own_of(struct session *s, const struct step *step)
{
	unsigned int task = IS_ALONE ? step->id / ORACLE_OWN : self.nr;

	return step->id < 25 ? &s->os.ids[task][step->id % ORACLE_OWN] : NULL;
}

static bool is_invalid_id(const struct oracle_session *os, u64 id)
{
	return !(id & TWHEEL_ID_KERNEL) && id >= os->max_timers;
}

static bool has_word(const struct oracle_session *os, u64 id)
{
	return id < os->shared_ids;
}

/* Starts and stops */

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

	if (!own || !has_word(&s->os, p->in.id) || p->invalid)
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
	struct planned p = { .own = own_of(s, step) };
	struct twheel_op *in = &p.in;
	unsigned int how = step->part ? 3 : step->how;

	in->id = p.own ? p.own->id : 20 + step->id % 3U;
	in->reserved = library ? 0 : step->reserved;
	if (step->what == STEP_STOP) {
		in->opcode = TWHEEL_OP_STOP;
		in->flags = library ? 0 : step->flags & ~TWHEEL_START_ABS;
		p.invalid = in->flags || in->reserved || is_invalid_id(&s->os, in->id);
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
		    in->expires_ns >> 63 || is_invalid_id(&s->os, in->id);
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
			  how, nr_of(s), in->id, in->expires_ns, in->period_ns, in->flags,
			  in->reserved, in->user_data, ret);
	else
		life_note("%s(s%d, id %#llx, flags %#x, reserved %#x) = %ld", how, nr_of(s), in->id,
			  in->flags, in->reserved, ret);
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

static void do_start(struct session *s, const struct step *step)
{
	bool library = step->how > 2;
	struct oracle_call_of call = begin_call(s);
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
	at = library ? NULL : put(step, &start, sizeof(start));
	host_refuse(step->refused);
	if (library) {
		ret = start_by_library(s, step, &p);
		start.id = p.in.id;
	} else {
		ret = twheel_command(s->t, TWHEEL_IOC_START, at);
	}
	host_refuse(0);
	if (at)
		take(step, &start, at, sizeof(start));
	life_lock();
	note_op(s, library ? "twheel_start_flags" : "START", &p, ret);
	p.ret = ret;
	library_has_stored(s, &p, 1);
	if (!library)
		is_fault(step, ret);
	judge(s, &p, start.id, ret, &call);
	if (ret == -ENOSPC)
		check_limit(s);
	life_unlock();
}

static void do_stop(struct session *s, const struct step *step)
{
	bool library = step->how > 3;
	struct oracle_call_of call = begin_call(s);
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

		ret = twheel_command(s->t, TWHEEL_IOC_STOP, put(step, &stop, sizeof(stop)));
	}
	life_lock();
	note_op(s, library ? "twheel_stop" : "STOP", &p, ret);
	if (!library)
		is_fault(step, ret);
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

static unsigned int do_submit(struct session *s, const struct step *step, unsigned int left)
{
	struct oracle_call_of call = begin_call(s);
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
		ops_at = put(step, ops, nr * sizeof(ops[0]));
	submit = (struct twheel_submit){
		.ops = (uintptr_t)ops_at, .count = nr, .op_size = sizeof(ops[0]),
	};
	if (!array)
		at = put(step, &submit, sizeof(submit));
	host_refuse(step->refused);
	ret = twheel_command(s->t, TWHEEL_IOC_SUBMIT, at);
	host_refuse(0);
	if (array)
		take(step, ops, ops_at, nr * sizeof(ops[0]));
	else
		take(step, &submit, at, sizeof(submit));
	life_lock();
	life_note("SUBMIT(s%d, %u operations) = %ld, %u have failed:", nr_of(s), nr, ret,
		  submit.failed);
	CHECK("SUBMIT", ret, nr, EFAULT, ENOMEM);
	oracle_check_memory(&call, ret);
	/* If a copy of results was made to fail, operations have results that nobody knows. */
	if (is_fault(step, ret) && step->refused)
		s->os.fuzzy = true;
	if (ret >= 0 && ret < nr && IS_ALONE && !is_bad(step) && oracle_refusals() == call.failed)
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

static unsigned int do_batch(struct session *s, const struct step *step, unsigned int left)
{
	struct oracle_call_of call = begin_call(s);
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
	life_note("batch(s%d, %u operations) = %ld, %u have failed:", nr_of(s), nr, ret,
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
static void do_push(struct session *s, const struct step *step)
{
	struct oracle_call_of call = begin_call(s);
	struct oracle_id *own = own_of(s, step);
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
	word = has_word(&s->os, own->id) ? twheel_word(s->t, own->id) : TWHEEL_WORD_NONE;
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

static void do_store(struct session *s, const struct step *step)
{
	struct oracle_id *own = own_of(s, step);
	u64 word, from = oracle_now();

	if (!own || !has_word(&s->os, own->id))
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
	life_note("twheel_refresh(s%d, %#llx, %llu)", nr_of(s), own->id, word);
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

static void do_get(struct session *s, const struct step *step)
{
	struct oracle_call_of call = begin_call(s);
	struct oracle_id *own = own_of(s, step);
	struct twheel_entry entry = {}, *at;
	long ret;

	if (!own || !own->start)
		return;
	entry.id = own->id;
	at = put(step, &entry, sizeof(entry));
	ret = twheel_command(s->t, TWHEEL_IOC_GET, at);
	take(step, &entry, at, sizeof(entry));
	life_lock();
	life_note("GET(s%d, %#llx) = %ld", nr_of(s), entry.id, ret);
	CHECK("GET", ret, 0, EINVAL, ENOENT, EFAULT);
	if (ret == -EINVAL && !is_invalid_id(&s->os, own->id))
		oracle_fail("GET finds an id invalid");
	if (!is_fault(step, ret))
		oracle_got(&s->os, own, &entry, &call, ret);
	life_unlock();
}

/* Lists */

static long walk(struct session *s, const struct step *step, u64 *cursor, bool drains,
		 u32 *seen, const struct oracle_call_of *call)
{
	struct twheel_entry entries[ROOM] = {}, *at;
	struct twheel_list list = {
		.cursor = *cursor, .count = step->count, .entry_size = sizeof(entries[0]),
		.flags = drains ? TWHEEL_LIST_DRAIN : 0,
	};
	size_t size = step->count * sizeof(entries[0]);
	unsigned int i, k;
	long ret;

	at = put(step, entries, size);
	list.entries = (uintptr_t)at;
	ret = twheel_command(s->t, TWHEEL_IOC_LIST, &list);
	take(step, entries, at, size);
	life_lock();
	life_note("LIST(s%d, %s%u) = %ld", nr_of(s), drains ? "DRAIN, " : "", step->count, ret);
	CHECK("LIST", ret, step->count, EFAULT);
	is_fault(step, ret);
	for (i = 0; i < max(ret, 0L); i++) {
		oracle_entry(&s->os, &entries[i], call, drains);
		for (k = 0; k < ORACLE_OWN; k++) {
			const struct oracle_start *t = s->os.ids[self.nr][k].start;

			seen[k] += t && entries[i].user_data == oracle_data(t);
		}
	}
	life_unlock();
	*cursor = list.cursor;
	return ret;
}

static void do_list(struct session *s, const struct step *step, bool drains)
{
	struct oracle_call_of call;
	u32 seen[ORACLE_OWN] = {};
	unsigned int k;
	u64 cursor = 0;
	long ret;

	life_lock();
	s->os.drains += drains;
	life_unlock();
	call = begin_call(s);
	do {
		ret = walk(s, step, &cursor, drains, seen, &call);
	} while (ret > 0);
	life_lock();
	for (k = 0; k < ORACLE_OWN && !drains; k++) {
		const struct oracle_start *t = s->os.ids[self.nr][k].start;

		if (seen[k] > 1)
			oracle_fail("a timer is listed twice");
		if (!ret && !seen[k] && t && oracle_surely_pending(t, &call))
			oracle_fail("start %u: is pending, and not listed", t->nr);
	}
	if (drains) {
		s->os.drains--;
		s->os.drained_at = oracle_calls(&s->os).began;
	}
	life_unlock();
}

/* Events */

/* Returns the time by which a timer must expire, whatever was stored. 0: it need not expire. */
static u64 end_of(const struct session *s, const struct oracle_start *t)
{
	u64 end = max(t->high, t->done), word;
	unsigned int i;

	if (!t->own || !t->known || t->end || t->gone || t->high >> 62 || t->events)
		return 0;
	if (t->word) {
		if (t->own->start != t || t->own->nr_stores > ORACLE_STORES)
			return 0;
		for (i = t->own->nr_stores; i > 0; i--) {
			word = t->own->stores[i - 1].word;
			if (word == TWHEEL_WORD_STOP || word >> 62)
				return 0;
			end = max(end, word);
			end = max(end, t->own->stores[i - 1].from);
		}
	}
	/* A timer is due within a tick. A word, or a clock that is not virtual, adds a tick. */
	return end + (IS_VIRTUAL && !t->word ? 1 : 2) * s->tick_ns;
}

/*
 * Check that no timer is lost, after a read that returned all events. A timer must expire at most
 * @late ns after end_of(). A timer with a word may take two more ticks after the first such read,
 * because a read that finds a later word starts the timer again, even if that word has passed.
 */
static void check_none_late(const struct session *s, u64 late)
{
	u64 now = oracle_now(), end, *read;
	const struct oracle_start *t;

	for (t = oracle->starts; t < oracle->starts + oracle->nr_starts && !s->os.fuzzy; t++) {
		end = t->os == &s->os ? end_of(s, t) : 0;
		read = &life->read_at[t->nr];
		if (!end || end + late >= now)
			*read = 0;
		else if (t->word && !*read)
			*read = now;
		else if (!t->word || *read + 2 * s->tick_ns < now)
			oracle_fail("start %u: is due at %llu, and has not expired at %llu", t->nr,
				    end, now);
	}
}

/*
 * Check the order of event @a and the next event @b. Timers with past deadlines are due at the next
 * tick, and expire in the order of their starts.
 */
static void check_order(const struct session *s, const struct twheel_event *a,
			const struct twheel_event *b)
{
	const struct oracle_start *t = oracle_start_of(a->user_data);
	const struct oracle_start *u = oracle_start_of(b->user_data);

	if (a->expired_ns > b->expired_ns)
		oracle_fail("start %u: expired before the event in front of it", u->nr);
	if (IS_VIRTUAL && s->past_at && t->at == s->past_at && u->at == s->past_at &&
	    t->low <= t->at && u->low <= u->at && !t->moved && !u->moved && !t->word && !u->word &&
	    !t->period && !u->period && t->began > u->began)
		oracle_fail("start %u: is before start %u, and both were due", t->nr, u->nr);
}

static void judge_events(struct session *s, const struct twheel_event *events, unsigned int nr,
			 const struct oracle_call_of *call)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		life_note("\tevent of id %#llx, data %llx, due at %llu, expired at %llu, overruns %llu",
			  events[i].id, events[i].user_data, events[i].deadline_ns,
			  events[i].expired_ns, events[i].overruns);
		oracle_event(&s->os, &events[i], call);
		if (i)
			check_order(s, &events[i - 1], &events[i]);
	}
	life->events += nr;
}

/*
 * Returns whether a read with this @room left no event unread. With words, only a read without
 * events shows that: a read may start timers with later words again, and so return fewer events.
 */
static bool is_dry(const struct session *s, long ret, long room)
{
	return ret >= 0 && ret < (s->os.shared_ids ? 1 : room);
}

/* Read events by read(), which waits if @step says so, or by preadv2() into two buffers. */
static long read_device(struct session *s, const struct step *step, struct twheel_event *events)
{
	size_t size = step->count * sizeof(*events), part = size / 2;
	int fd = twheel_fd(s->t), flags = 0;
	char *at = put(step, events, size);
	struct iovec two[] = { { at, part }, { at + part, size - part } };
	bool waits = step->how == 5 && !IS_ALONE;
	long ret;

	if (waits) {
		flags = fcntl(fd, F_GETFL);
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	}
	ret = step->how == 4 ? preadv2(fd, two, 2, -1, RWF_NOWAIT) : read(fd, at, size);
	ret = ret < 0 ? -errno : ret;
	if (waits)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	take(step, events, at, size);
	if (ret > 0 && ret % sizeof(*events))
		oracle_fail("read returns %ld bytes", ret);
	return ret < 0 ? ret : ret / (long)sizeof(*events);
}

static long do_read(struct session *s, const struct step *step)
{
	bool raw = step->how > 2 && twheel_backend(s->t) == TWHEEL_BACKEND_KERNEL;
	struct oracle_call_of call = begin_call(s);
	struct twheel_event events[ROOM];
	long ret;

	if (raw)
		ret = read_device(s, step, events);
	else
		ret = twheel_read(s->t, events, step->count);
	life_lock();
	if (ret || !step->part)
		life_note("%s(s%d, %u) = %ld", raw ? "read" : "twheel_read", nr_of(s),
			  step->count, ret);
	CHECK("read", ret, step->count, EAGAIN, EINTR, EFAULT);
	if (ret == -EINTR && IS_ALONE)
		oracle_fail("a read ends for no signal");
	if (raw)
		is_fault(step, ret);
	judge_events(s, events, max(ret, 0L), &call);
	if (IS_EXACT && is_dry(s, ret, step->count))
		check_none_late(s, 0);
	life_unlock();
	return ret;
}

/* Returns the time that a step sleeps or waits. It may be long if the clock is virtual. */
static u64 pause_of(const struct step *step)
{
	if (!IS_VIRTUAL)
		return step->delay % (3 * MS);
	return step->delay < 10 * MS ? step->delay : step->delay >> 16;
}

static void do_wait(struct session *s, const struct step *step)
{
	u64 timeout = pause_of(step), end;
	struct oracle_call_of call = begin_call(s);
	struct twheel_event events[ROOM];
	long ret;

	ret = twheel_wait(s->t, events, step->count, timeout);
	end = oracle_now();
	life_lock();
	life_note("twheel_wait(s%d, %u, %llu ns) = %ld, after %llu ns", nr_of(s), step->count,
		  timeout, ret, end - call.at);
	CHECK("twheel_wait", ret, step->count, EINTR);
	if (ret == -EINTR && IS_ALONE)
		oracle_fail("a wait ends for no signal");
	if (!ret && end < call.at + timeout)
		oracle_fail("a wait for %llu ns ends after %llu", timeout, end - call.at);
	/* A virtual clock moves only in the wait, which must end exactly at the timeout. */
	if (IS_EXACT && end > call.at + timeout)
		oracle_fail("a wait for %llu ns takes %llu", timeout, end - call.at);
	judge_events(s, events, max(ret, 0L), &call);
	if (IS_EXACT && is_dry(s, ret, step->count))
		check_none_late(s, 0);
	life_unlock();
}

/*
 * Check that the descriptor is readable if an event is unread. With a virtual clock, check that it
 * is readable only then.
 */
static void do_poll(struct session *s, const struct step *step)
{
	struct twheel_stats stats;
	bool readable;

	if (!IS_ALONE && !IS_VIRTUAL)
		poll(&(struct pollfd){ .fd = twheel_fd(s->t), .events = ~0 }, 1, step->how & 1);
	if ((!IS_ALONE && !IS_EXACT) || twheel_stats(s->t, &stats))
		return;
	readable = host_readable(s->t);
	if (self.disturbed)
		return;
	life_note("poll(s%d) = %d, and %llu are unread", nr_of(s), readable, stats.unread);
	if ((stats.unread && !readable) || (IS_VIRTUAL && readable && !stats.unread))
		oracle_fail("%llu events are unread, and poll returns %d", stats.unread, readable);
}

static void do_stats(struct session *s, const struct step *step)
{
	struct twheel_stats stats, *at = put(step, &stats, sizeof(stats));
	long ret = twheel_command(s->t, TWHEEL_IOC_STATS, at);

	take(step, &stats, at, sizeof(stats));
	life_lock();
	life_note("STATS(s%d) = %ld", nr_of(s), ret);
	CHECK("STATS", ret, 0, EFAULT);
	if (!is_fault(step, ret)) {
		oracle_stats(&s->os, &stats);
		if ((IS_ALONE || IS_EXACT) && !s->os.fuzzy && !s->os.uncounted)
			oracle_check_counters(&s->os, &stats);
	}
	life_unlock();
}

static void do_info(struct session *s, const struct step *step)
{
	struct twheel_info info, *at = put(step, &info, sizeof(info));
	long ret = twheel_command(s->t, TWHEEL_IOC_INFO, at);

	take(step, &info, at, sizeof(info));
	CHECK("INFO", ret, 0, EFAULT);
	if (!is_fault(step, ret) &&
	    (info.abi_version != TWHEEL_ABI_VERSION || info.max_timers != s->os.max_timers ||
	     info.shared_ids != s->os.shared_ids || info.tick_ns != s->tick_ns ||
	     info.event_size != TWHEEL_EVENT_SIZE_V1))
		oracle_fail("INFO says something else than SETUP");
}

static void do_setup(struct session *s)
{
	struct twheel_setup setup = { .max_timers = 7 };
	bool begun;
	long ret;

	life_lock();
	begun = s->os.counted.started;
	life_unlock();
	if (!begun)
		return;
	ret = twheel_command(s->t, TWHEEL_IOC_SETUP, &setup);
	if (ret != -EBUSY)
		oracle_fail("SETUP of a session that is in use returns %ld", ret);
}

/* Wrong calls */

union argument {
	struct twheel_setup setup;
	struct twheel_start start;
	struct twheel_stop stop;
	struct twheel_entry entry;
	struct twheel_submit submit;
	struct twheel_list list;
	struct twheel_stats stats;
	struct twheel_info info;
	u64 words[32];
};

/* Check that a command fails if a reserved field is not 0, or if it has an unknown flag. */
static void do_wrong(struct session *s, const struct step *step)
{
	static const struct { const char *name; u32 command, offset, size; u64 known; } zeroes[] = {
		UAPI_ZEROES
	};
	unsigned int nr = (step->id * 6 + step->how) % ARRAY_SIZE(zeroes);
	struct twheel_entry entry;
	struct twheel_op op = { .opcode = TWHEEL_OP_STOP, .id = 20 };
	union argument good = {}, given;
	u64 bit = 1ULL << step->delay % (8 * zeroes[nr].size);
	long ret;

	if (bit & zeroes[nr].known)
		return;
	switch (zeroes[nr].command) {
	case TWHEEL_IOC_SUBMIT:
		good.submit = (struct twheel_submit){
			.ops = (uintptr_t)&op, .count = 1, .op_size = sizeof(op) };
		break;
	case TWHEEL_IOC_LIST:
		good.list = (struct twheel_list){
			.entries = (uintptr_t)&entry, .count = 1, .entry_size = sizeof(entry) };
		break;
	default:
		good.words[0] = zeroes[nr].command == TWHEEL_IOC_SETUP ? 0 : 20;
	}
	*(u32 *)((char *)&good + zeroes[nr].offset + (bit >> 32 ? 4 : 0)) |= bit >> 32 ?: bit;
	given = good;
	ret = twheel_command(s->t, zeroes[nr].command, &good);
	life_note("%s with bit %llu of a field that is 0 = %ld", zeroes[nr].name,
		  step->delay % (8 * zeroes[nr].size), ret);
	/* The SETUP of a session that is in use cannot change. */
	if (ret == -EBUSY && zeroes[nr].command == TWHEEL_IOC_SETUP)
		return;
	if (ret != -EINVAL || memcmp(&given, &good, sizeof(good)))
		oracle_fail("%s: bit %#llx is taken: %ld", zeroes[nr].name, bit, ret);
}

/* Pass random bytes to a command, in a session of its own. Check its errors and the counters. */
static void do_spoilt(const struct step *step)
{
	static const struct { const char *name; u64 number; u32 size, value; } commands[] = {
		UAPI_COMMANDS
	};
	unsigned int nr = step->id % (ARRAY_SIZE(commands) + 1), size, i, k;
	u64 random = step->delay * 2 + 1;
	struct twheel_entry entries[64] = {};
	union argument argument = {};
	struct twheel *t;
	u32 number;
	long ret;

	number = nr ? commands[nr - 1].number : TWHEEL_IOC_STATS + 1 + step->how;
	if (!life_open(&t, NULL))
		return;
	for (i = 0; i < 20; i++) {
		for (k = 0; k < step->count; k++) {
			u64 *word = &argument.words[random_number(&random) % 7];

			*word = random_number(&random) >> random_number(&random) % 64;
		}
		size = _IOC_SIZE(number);
		if (!(random_number(&random) % 3))
			size = random_number(&random) % sizeof(argument) & ~7UL;
		if (number == TWHEEL_IOC_SUBMIT || number == TWHEEL_IOC_LIST) {
			argument.list.entries = (uintptr_t)entries;
			argument.list.count %= ARRAY_SIZE(entries) + 1;
			argument.list.entry_size = step->how ? sizeof(entries[0]) : 40;
		}
		ret = twheel_command(t, _IOC(_IOC_READ | _IOC_WRITE, TWHEEL_IOC_MAGIC,
					     _IOC_NR(number), size), &argument);
		if (nr)
			CHECK("a command", ret, ARRAY_SIZE(entries), EINVAL, E2BIG, ENOENT, ENOSPC,
			      ENOMEM, EBUSY, EPERM, EOPNOTSUPP);
		else
			CHECK("an unknown command", ret, -1, ENOTTY);
	}
	if (twheel_stats(t, &argument.stats))
		oracle_fail("STATS of spoilt calls");
	oracle_stats(&life->sessions[0].os, &argument.stats);
	life_close(t, false);
}

/* Close a session while its timers expire. */
static void do_swarm(const struct step *step)
{
	unsigned int nr = 1 + step->count * 24, i;
	struct twheel_setup setup = { .flags = step->how & 1, .shared_ids = step->id };
	struct twheel_batch *batch;
	struct twheel_event event;
	struct twheel *t;

	if (!life_open(&t, &setup))
		return;
	if (twheel_batch_new(t, nr, &batch))
		oracle_fail("no memory for a batch");
	for (i = 0; i < nr; i++)
		twheel_batch_start(batch, step->count & 1 ? TWHEEL_ID_ANY : i,
				   step->period % MS + i * US * (step->id % 8), i);
	for (i = 0; i < nr; i++)
		CHECK("a start of a swarm", twheel_batch_op(batch, i)->result, 0, ENOMEM, ENOSPC);
	if (!IS_VIRTUAL)
		usleep(step->delay % (2 * MS) / 1000);
	if (step->how & 2)
		twheel_read(t, &event, 1);
	twheel_batch_free(batch);
	life_close(t, setup.flags);
}

/* Fork. The child has no mapping of the words. It opens the descriptor again, reads and lists. */
static void do_fork(struct session *s, const struct step *step)
{
	struct twheel *t;
	pid_t pid;

	/* After fork() a session in the process exists twice, and the copy is of no interest. */
	if (twheel_backend(s->t) == TWHEEL_BACKEND_PROCESS)
		return;
	pid = fork();
	if (!pid) {
		alarm(60);
		if (twheel_attach(&t, dup(twheel_fd(s->t))))
			oracle_fail("the descriptor of a parent");
		twheel_close(t);
		do_read(s, &(struct step){ .how = 0, .count = step->count });
		do_list(s, &(struct step){ .count = step->count }, false);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void read_all(const char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];

	while (fd >= 0 && read(fd, text, size) > 0)
		;
	close(fd);
}

/*
 * Check in /proc/twheel that the counters of each wheel and CPU add up: each started timer expired,
 * was stopped, or is pending.
 */
static void check_balance(size_t piece)
{
	unsigned long long value, started = 0, expired = 0, stopped = 0;
	FILE *file = fopen("/proc/twheel", "re");
	char line[512], pieces[2048], name[16];

	if (!file)
		return;
	setvbuf(file, pieces, _IOFBF, piece);
	while (fgets(line, sizeof(line), file) && strncmp(line, "session ", 8)) {
		if (sscanf(line, " %15s %llu", name, &value) != 2)
			continue;
		if (!strcmp(name, "started"))
			started = value;
		else if (!strcmp(name, "expired"))
			expired = value;
		else if (!strcmp(name, "stopped"))
			stopped = value;
		else if (!strcmp(name, "pending") && started != expired + stopped + value)
			oracle_fail("/proc/twheel: started %llu, expired %llu, stopped %llu, pending %llu",
				    started, expired, stopped, value);
	}
	fclose(file);
}

/* Watch the descriptor with epoll. End the watch by EPOLL_CTL_DEL, or by closing the epoll. */
static void watch(int fd, bool deletes)
{
	struct epoll_event event = { .events = EPOLLIN | (deletes ? EPOLLET : EPOLLONESHOT) };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	epoll_wait(epoll, &event, 1, 1);
	if (deletes)
		epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &event);
	close(epoll);
}

/* Map the words again. Check that wrong mappings are refused, and damage a right mapping. */
static void spoil_words(const struct session *s, const struct step *step)
{
	size_t size = (s->os.shared_ids * sizeof(u64) + PAGE - 1) & ~(PAGE - 1), part = PAGE;
	int fd = twheel_fd(s->t), flags = step->how == 5 ? MAP_PRIVATE : MAP_SHARED;
	bool reads = step->count == 1;
	char *at;

	if (!size)
		return;
	at = mmap(NULL, size, reads ? PROT_READ : PROT_READ | PROT_WRITE, flags, fd, 0);
	if ((at == MAP_FAILED) != (flags == MAP_PRIVATE))
		oracle_fail("words are mapped with flags %#x: %s", flags, strerror(errno));
	if (at == MAP_FAILED)
		return;
	if (reads && !mprotect(at, size, PROT_READ | PROT_WRITE))
		oracle_fail("words that are read-only are made writable");
	if (mremap(at, size, size + PAGE, 0) != MAP_FAILED)
		oracle_fail("words have a longer mapping");
	if (step->id % 3 == 0)
		mmap(at, part, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	else if (step->id % 3 == 1)
		madvise(at, part, MADV_DONTNEED);
	else
		madvise(at, size, MADV_DOFORK);
	munmap(at, size);
}

/* Check /proc/twheel, read a session's fdinfo, watch its descriptor, or misuse its words. */
static void do_look(struct session *s, const struct step *step)
{
	char path[40];

	if (twheel_backend(s->t) == TWHEEL_BACKEND_PROCESS)
		return;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", twheel_fd(s->t));
	if (step->how == 0)
		check_balance(1 + step->count * 100);
	else if (step->how == 1)
		read_all(path, 1 + step->count * 10);
	else if (step->how == 2)
		watch(twheel_fd(s->t), step->count & 1);
	else
		spoil_words(s, step);
}

/*
 * Do a step. @left steps follow it: a step that is a batch takes the first of them as its
 * operations, and does them. Returns the number of steps that the batch took.
 */
unsigned int call_step(const struct step *step, unsigned int left)
{
	struct session *s = &life->sessions[step->session];

	switch (step->what) {
	case STEP_START:
		do_start(s, step);
		break;
	case STEP_STOP:
		do_stop(s, step);
		break;
	case STEP_SUBMIT:
		return do_submit(s, step, left);
	case STEP_BATCH:
		return do_batch(s, step, left);
	case STEP_PUSH:
		do_push(s, step);
		break;
	case STEP_STORE:
		do_store(s, step);
		break;
	case STEP_GET:
		do_get(s, step);
		break;
	case STEP_LIST:
	case STEP_DRAIN:
		do_list(s, step, step->what == STEP_DRAIN);
		break;
	case STEP_READ:
		do_read(s, step);
		break;
	case STEP_WAIT:
		do_wait(s, step);
		break;
	case STEP_POLL:
		do_poll(s, step);
		break;
	case STEP_SLEEP:
		life_note("sleep(%llu ns)", pause_of(step));
		host_sleep(pause_of(step));
		break;
	case STEP_STATS:
		do_stats(s, step);
		break;
	case STEP_INFO:
		do_info(s, step);
		break;
	case STEP_SETUP:
		do_setup(s);
		break;
	case STEP_WRONG:
		do_wrong(s, step);
		break;
	case STEP_SPOILT:
		do_spoilt(step);
		break;
	case STEP_SWARM:
		do_swarm(step);
		break;
	case STEP_FORK:
		do_fork(s, step);
		break;
	default:
		do_look(s, step);
	}
	return 0;
}

/* Returns whether a timer of the session must expire within the next 100 ms. */
static bool expects_one(const struct session *s)
{
	const struct oracle_start *t;
	u64 end;

	for (t = oracle->starts; t < oracle->starts + oracle->nr_starts && !s->os.fuzzy; t++) {
		end = t->os == &s->os ? end_of(s, t) : 0;
		if (end && end < oracle_now() + 100 * MS)
			return true;
	}
	return false;
}

/*
 * End the life of a session: wait for the timers that are due soon, and drain the others. Check
 * that each start has ended, and that the counters agree with the records.
 */
void call_settle(struct session *s)
{
	const struct oracle_start *t;
	struct twheel_stats stats;
	long ret;

	while (expects_one(s)) {
		ret = do_read(s, &(struct step){ .count = ROOM, .part = true });
		if (ret > 0)
			continue;
		check_none_late(s, PATIENCE);
		if (expects_one(s))
			host_sleep(s->tick_ns / 2);
	}
	do_list(s, &(struct step){ .count = ROOM }, true);
	if (twheel_stats(s->t, &stats))
		oracle_fail("STATS at the end");
	oracle_stats(&s->os, &stats);
	if (stats.pending || stats.unread)
		oracle_fail("after a drain %llu are pending, %llu unread", stats.pending,
			    stats.unread);
	if (s->os.fuzzy || s->os.uncounted)
		return;
	oracle_check_counters(&s->os, &stats);
	for (t = oracle->starts; t < oracle->starts + oracle->nr_starts; t++)
		if (t->os == &s->os)
			oracle_check_start(t, false);
}
