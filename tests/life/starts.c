// SPDX-License-Identifier: GPL-2.0
/*
 * Keep a record of each start of a timer, and judge the results of calls
 *
 * The simulated machine and tests/life use these records to judge their calls.
 *
 * Each start has a number of its own, which is its user data. So an event names
 * its start, and a start that ends twice is noticed.
 *
 * If only one task uses an id, the state of its timer is known, except for two
 * things: whether the timer is already due, and whether a read or drain in
 * progress already took its event.
 */
#include "starts.h"
#include "session/state.h"

#define DATA		0x5e55000000000000ULL

struct oracle_records *oracle;

static const char delivered[] = "delivered", drained[] = "drained";

struct oracle_call_of oracle_calls(struct oracle_session *os)
{
	return (struct oracle_call_of) {
		.began		= ++oracle->sequence,
		.at		= oracle_now(),
		.failed		= oracle_refusals(),
		.last_expired	= os->last_expired,
	};
}

void oracle_check_memory(const struct oracle_call_of *call, long ret)
{
	if (ret == -ENOMEM && oracle_refusals() == call->failed)
		oracle_fail("ENOMEM, and there was memory");
}

u64 oracle_data(const struct oracle_start *t)
{
	return DATA + t->nr;
}

/* Returns the start that has this user data, or NULL. */
struct oracle_start *oracle_start_of(u64 data)
{
	return data - DATA < oracle->nr_starts ? &oracle->starts[data - DATA] : NULL;
}

static u64 ours(u64 time, s64 ahead)
{
	if (ahead > 0 && time < ahead)
		return 0;
	return min_t(u64, time - ahead, KTIME_MAX);
}

/* Starts. */

struct oracle_start *oracle_new_start(struct oracle_session *os,
				      struct oracle_id *own, const struct twheel_op *in)
{
	struct oracle_start *t = &oracle->starts[oracle->nr_starts];

	if (oracle->nr_starts == oracle->max_starts)
		oracle_fail("too many starts");
	*t = (struct oracle_start) {
		.nr	= oracle->nr_starts++,
		.os	= os,
		.own	= own,
		.in	= *in,
		.id	= in->id,
		.period	= in->period_ns,
		.began	= ++oracle->sequence,
		.at	= oracle_now(),
		.word	= in->id < os->shared_ids,
	};
	if (in->flags & TWHEEL_START_ABS)
		t->low = ours(in->expires_ns, oracle_offset());
	else
		t->low = min_t(u64, oracle_now() + in->expires_ns, KTIME_MAX);
	t->high = t->low;
	return t;
}

static void ends(struct oracle_start *t, const char *how)
{
	if (t->end && !t->os->fuzzy)
		oracle_fail("start %u: is %s and %s", t->nr, t->end, how);
	t->end = how;
	t->end_at = ++oracle->sequence;
	if (how != delivered)
		t->gone = oracle->sequence;
}

/* Returns whether a timer was certainly pending from the beginning of @call until now. */
bool oracle_surely_pending(const struct oracle_start *t,
			   const struct oracle_call_of *call)
{
	const struct oracle_session *os = t->os;

	return !os->fuzzy && !os->drains && os->drained_at < call->began &&
	       t->known && !t->end && !t->gone && !t->word && !t->events &&
	       oracle_now() < t->low;
}

/* Note that a call did not find the timer of a start. Check that the timer may have ended. */
static void gone(struct oracle_start *t, const struct oracle_call_of *call,
		 const char *what)
{
	if (!t)
		return;
	if (oracle_surely_pending(t, call))
		oracle_fail("start %u: is pending, and %s", t->nr, what);
	if (!t->gone)
		t->gone = ++oracle->sequence;
}

/* Returns the states that a timer may have had at some time during a call, as bits. */
static unsigned int states_of(const struct oracle_start *t, const struct oracle_call_of *call)
{
	unsigned int states = BIT(TWHEEL_FREE);

	if (!t || (t->end && t->end_at < call->began))
		return states;
	states = BIT(TWHEEL_ARMED);
	if (oracle_surely_pending(t, call))
		return states;
	states |= BIT(TWHEEL_FREE);
	/* A periodic timer may be read, be pending again, and be drained during the call. */
	if (oracle_now() < t->low || (t->end == drained && !t->period))
		return states;
	return states | BIT(TWHEEL_UNREAD);
}

/* Check that twheel_next() has the result @ret for a state that the timer may have had. */
static void check_result(const struct oracle_start *t, const struct oracle_call_of *call,
			 bool exact, enum twheel_operation operation, long ret)
{
	unsigned int states = exact ? states_of(t, call) : ~0U;
	enum twheel_utimer_state state;

	for (state = TWHEEL_FREE; state <= TWHEEL_UNREAD; state++)
		if (states & BIT(state) && twheel_next(state, operation, false).result == ret)
			return;
	oracle_fail("start %d: the table of states has no %ld", t ? (int)t->nr : -1, ret);
}

void oracle_start_done(struct oracle_start *t, u64 id, const struct oracle_call_of *call, long ret)
{
	struct oracle_session *os = t->os;
	struct oracle_start *old = t->own ? t->own->start : NULL;
	bool exact = t->own && !os->fuzzy;

	oracle_check_memory(call, ret);
	if (ret >= 0)
		check_result(old, call, exact, TWHEEL_DO_START, ret);
	if (ret == -ENOENT && exact)
		gone(old, call, "a start does not find it");
	if ((ret == -ENOMEM || ret == -ENOSPC) && exact)
		gone(old, call, "a start of it takes memory");
	t->refused = ret < 0;
	if (ret == -EFAULT && id == TWHEEL_ID_ANY) {
		t->taken_back = true;
		t->gone = ++oracle->sequence;
		os->uncounted = true;
	}
	if (ret < 0) {
		if (t->events && !os->fuzzy && !t->taken_back)
			oracle_fail("start %u: was refused, and has expired",
				    t->nr);
		return;
	}
	t->id = id;
	t->known = true;
	t->done = oracle_now();
	t->moved = ret == 1;
	if (!(t->in.flags & TWHEEL_START_ABS))
		t->high = min_t(u64, oracle_now() + t->in.expires_ns, KTIME_MAX);
	os->counted.restarted += ret == 1;
	os->counted.started += ret != 1;
	os->counted.replaced += ret == 2;
	if (exact && ret)
		ends(old, ret == 1 ? "restarted" : "replaced");
	else if (exact)
		gone(old, call, "is started anew");
	if (t->own) {
		t->own->start = t;
		t->own->id = id;
	}
}

void oracle_stop_done(struct oracle_session *os, struct oracle_id *own,
		      const struct oracle_call_of *call, long ret)
{
	struct oracle_start *t = own ? own->start : NULL;
	bool exact = own && !os->fuzzy;

	os->counted.stopped += !ret;
	os->counted.withdrawn += ret == 1;
	check_result(t, call, exact, TWHEEL_DO_STOP, ret);
	if (!exact)
		return;
	if (ret >= 0)
		ends(t, ret ? "withdrawn" : "stopped");
	else if (ret == -ENOENT)
		gone(t, call, "a stop does not find it");
}

/* Entries. */

static struct oracle_start *start_of(struct oracle_session *os, u64 data, u64 id)
{
	struct oracle_start *t = oracle_start_of(data);

	if (!t || t->os != os)
		oracle_fail("user data %#llx of nobody", data);
	if (t->refused && !t->taken_back && !os->fuzzy)
		oracle_fail("start %u: was refused, and is there", t->nr);
	if (t->id != id && (t->known || t->id != TWHEEL_ID_ANY) && !os->fuzzy)
		oracle_fail("start %u: has another id", t->nr);
	return t;
}

static void check_deadline(const struct oracle_start *t, u64 deadline)
{
	u64 high = t->known ? t->high : KTIME_MAX;

	if (deadline == KTIME_MAX || t->os->fuzzy)
		return;
	if (deadline < t->low ||
	    (deadline > high && !t->period && !t->word))
		oracle_fail("start %u: deadline %llu, not from %llu to %llu",
			    t->nr, deadline, t->low, high);
}

/* Check the remaining time of an entry, which was computed at some time during the call. */
static void check_remaining(const struct oracle_start *t, const struct twheel_entry *entry,
			    u64 deadline, const struct oracle_call_of *call)
{
	u64 now = oracle_now(), most = 0, least = 0;

	if (entry->state == TWHEEL_STATE_PENDING) {
		most = deadline > call->at ? deadline - call->at : 0;
		least = deadline > now ? deadline - now : 0;
	}
	if (entry->remaining_ns < least || entry->remaining_ns > most)
		oracle_fail("start %u: %llu ns remain, not %llu to %llu", t->nr,
			    entry->remaining_ns, least, most);
}

void oracle_entry(struct oracle_session *os, const struct twheel_entry *entry,
		  const struct oracle_call_of *call, bool drains)
{
	struct oracle_start *t = start_of(os, entry->user_data, entry->id);

	if (entry->reserved || !entry->state || entry->state > 2)
		oracle_fail("start %u: state %u", t->nr, entry->state);
	if (t->gone && t->gone < call->began && !os->fuzzy)
		oracle_fail("start %u: is %s, and listed", t->nr, t->end ?: "gone");
	if (entry->deadline_ns < KTIME_MAX) {
		u64 deadline = ours(entry->deadline_ns, oracle_offset());

		check_deadline(t, deadline);
		check_remaining(t, entry, deadline, call);
	}
	if (!drains)
		return;
	os->counted.stopped += entry->state == TWHEEL_STATE_PENDING;
	os->counted.withdrawn += entry->state == TWHEEL_STATE_EXPIRED;
	ends(t, entry->state == TWHEEL_STATE_PENDING ? drained : "drained with its event");
}

void oracle_got(struct oracle_session *os, struct oracle_id *own,
		const struct twheel_entry *entry,
		const struct oracle_call_of *call, long ret)
{
	if (ret == -ENOENT && !os->fuzzy)
		gone(own->start, call, "GET does not find it");
	if (ret)
		return;
	oracle_entry(os, entry, call, false);
	if (!os->fuzzy && entry->user_data != oracle_data(own->start))
		oracle_fail("GET finds another start than %u", own->start->nr);
}

/* Words. */

void oracle_stored(struct oracle_id *own, u64 from, u64 at, u64 word, bool loose)
{
	unsigned int nr = own->nr_stores++ % ORACLE_STORES;

	own->stores[nr] = (struct oracle_store){ from, at, word, loose };
}

static bool keeps(const struct oracle_start *t, u64 word, u64 expired)
{
	return word == TWHEEL_WORD_STOP ||
	       ours(min_t(u64, word, KTIME_MAX), t->os->offset) > expired;
}

/* Returns whether the stores before number @i are forgotten: @stores has the last ones only. */
static bool is_forgotten(const struct oracle_id *own, unsigned int i)
{
	return own->nr_stores - i == ORACLE_STORES;
}

/*
 * Check that the word had a value that allowed the timer to expire at @expired. The wheel reads
 * the word, then the callback reads it again, and then reads the clock. A loose store may happen
 * between these reads. So the wheel may find a stop, for which a timer remains due, and the
 * callback a later deadline. Then the timer expires, and check_word_read() checks that read()
 * notices.
 */
static void check_word(const struct oracle_start *t, u64 expired)
{
	const struct oracle_id *own = t->own;
	const struct oracle_store *store;
	bool replaced = false;
	unsigned int i;

	for (i = own->nr_stores; i > 0 && !is_forgotten(own, i); i--) {
		store = &own->stores[(i - 1) % ORACLE_STORES];
		if (store->from > expired)
			continue;
		if (!keeps(t, store->word, expired) ||
		    (replaced && store->word == TWHEEL_WORD_STOP))
			return;
		replaced |= store->loose && store->word != TWHEEL_WORD_STOP;
		if (store->at < expired && !store->loose)
			oracle_fail("start %u: expires at %llu, its word is %llu", t->nr,
				    expired, store->word);
	}
}

/*
 * Check that the word had a value during the read that allowed it to return the event: neither a
 * later deadline nor a stop. A read returns events of periodic timers in spite of later deadlines.
 */
static void check_word_read(const struct oracle_start *t, u64 expired,
			    const struct oracle_call_of *call)
{
	const struct oracle_id *own = t->own;
	const struct oracle_store *store;
	unsigned int i;

	if (t->os->fuzzy || own->start != t)
		return;
	for (i = own->nr_stores; i > 0 && !is_forgotten(own, i); i--) {
		store = &own->stores[(i - 1) % ORACLE_STORES];
		if ((t->period && store->word != TWHEEL_WORD_STOP) ||
		    !keeps(t, store->word, expired))
			return;
		if (store->at < call->at)
			oracle_fail("start %u: expired at %llu, is read, and its word is %llu",
				    t->nr, expired, store->word);
	}
}

/* Events. */

static void check_overruns(const struct oracle_start *t,
			   const struct oracle_call_of *call, u64 deadline,
			   u64 overruns)
{
	u64 least, most;

	if (!t->period) {
		if (overruns)
			oracle_fail("start %u: overruns of one shot", t->nr);
		return;
	}
	least = call->at > deadline ? (call->at - deadline) / t->period : 0;
	most = (oracle_now() - deadline) / t->period;
	if (overruns < least || overruns > most)
		oracle_fail("start %u: %llu overruns, not %llu to %llu", t->nr,
			    overruns, least, most);
}

static void check_flags(const struct oracle_start *t, u32 flags)
{
	if (flags != (t->period ? TWHEEL_EVENT_PERIODIC : 0))
		oracle_fail("start %u: flags %u", t->nr, flags);
}

/* Count @late in the histogram, whose bounds double from 1024 ns on. */
static void count_lateness(struct oracle_session *os, u64 late)
{
	unsigned int n = 0;

	while (n < TWHEEL_STATS_LATENESS - 1 && late >= 1024ULL << n)
		n++;
	os->counted.lateness[n]++;
}

void oracle_event(struct oracle_session *os, const struct twheel_event *event,
		  const struct oracle_call_of *call)
{
	struct oracle_start *t = start_of(os, event->user_data, event->id);
	u64 deadline = ours(event->deadline_ns, oracle_offset());
	u64 expired = ours(event->expired_ns, oracle_offset());
	bool goes_on = event->flags & TWHEEL_EVENT_PERIODIC;

	if (expired < deadline || expired > oracle_now())
		oracle_fail("start %u: due at %llu, expired at %llu", t->nr,
			    deadline, expired);
	check_deadline(t, deadline);
	if (expired < call->last_expired)
		oracle_fail("start %u: overtaken by events read before", t->nr);
	if (t->gone && t->gone < call->began && !os->fuzzy)
		oracle_fail("start %u: is %s, and its event is read", t->nr, t->end ?: "gone");
	if (t->word && t->own) {
		check_word(t, expired);
		check_word_read(t, expired, call);
	}
	check_overruns(t, call, deadline, event->overruns);
	check_flags(t, event->flags);
	t->first = t->events++ ? min(t->first, deadline) : deadline;
	t->next = max(t->next, deadline + (event->overruns + 1) * t->period);
	t->periods += event->overruns + 1;
	os->counted.delivered++;
	count_lateness(os, expired - deadline);
	os->counted.rearmed += goes_on;
	os->counted.overruns += event->overruns;
	os->last_expired = max(os->last_expired, expired);
	if (!goes_on)
		ends(t, delivered);
}

/*
 * Check that the record of a start agrees with the session: if the timer exists (@there), the start
 * has not ended, otherwise it has. Check that no period of a periodic timer was skipped.
 */
void oracle_check_start(const struct oracle_start *t, bool there)
{
	if (t->period && !t->word && t->next - t->first != t->periods * t->period)
		oracle_fail("start %u: a period is lost", t->nr);
	if (!t->own || !t->known)
		return;
	if (there && t->end)
		oracle_fail("start %u: is %s and still there", t->nr, t->end);
	if (!there && !t->end && !t->word)
		oracle_fail("start %u: is lost", t->nr);
}

/* Check that no id that the kernel chose names two timers. */
void oracle_check_ids(void)
{
	const struct oracle_start *t, *other;

	for (t = oracle->starts; t < oracle->starts + oracle->nr_starts; t++) {
		if (!t->known || !(t->id & TWHEEL_ID_KERNEL) || !t->own)
			continue;
		for (other = oracle->starts; other < t; other++)
			if (other->known && other->id == t->id && other->own != t->own)
				oracle_fail("starts %u and %u have one id", other->nr,
					    t->nr);
	}
}

/* Counters. */

void oracle_stats(struct oracle_session *os, const struct twheel_stats *n)
{
	if (n->expired != n->delivered + n->replaced + n->withdrawn + n->unread)
		oracle_fail("session %u: expired %llu, read %llu + %llu + %llu, unread %llu",
			    os->nr, n->expired, n->delivered, n->replaced,
			    n->withdrawn, n->unread);
	if (n->stopped_by_store > n->stopped + n->withdrawn)
		oracle_fail("session %u: stores have stopped %llu of %llu + %llu", os->nr,
			    n->stopped_by_store, n->stopped, n->withdrawn);
}

void oracle_check_count(const struct oracle_session *os, const char *what, u64 is,
			u64 should)
{
	if (is != should)
		oracle_fail("session %u: %s %llu, not %llu", os->nr, what, is,
			    should);
}

void oracle_check_counters(const struct oracle_session *os, const struct twheel_stats *is)
{
	const struct twheel_stats *should = &os->counted;
	/* Number of expired timers that a read started again, because their words were later. */
	u64 carried = is->rearmed - should->rearmed;
	/* Number of events that a read withdrew, because a store had stopped their timers. */
	u64 withdrawn = is->withdrawn - should->withdrawn;
	u64 stopped = should->stopped + is->stopped_by_store - withdrawn;
	int i;

	for (i = 0; i < TWHEEL_STATS_LATENESS; i++)
		oracle_check_count(os, "late", is->lateness[i], should->lateness[i]);
	oracle_check_count(os, "started", is->started, should->started);
	oracle_check_count(os, "restarted", is->restarted, should->restarted);
	oracle_check_count(os, "stopped", is->stopped, stopped);
	if (withdrawn > is->stopped_by_store)
		oracle_check_count(os, "withdrawn", is->withdrawn, should->withdrawn);
	oracle_check_count(os, "delivered", is->delivered, should->delivered);
	if (carried > is->carried || carried > is->replaced)
		oracle_check_count(os, "rearmed", is->rearmed, should->rearmed);
	oracle_check_count(os, "overruns", is->overruns, should->overruns);
	oracle_check_count(os, "replaced", is->replaced, should->replaced + carried);
}

