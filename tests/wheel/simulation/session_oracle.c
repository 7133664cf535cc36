// SPDX-License-Identifier: GPL-2.0
/*
 * The promises of /dev/twheel, asserted
 *
 * Each start has a number of its own, which is its user data. So an event names
 * its start, and a start that ends twice is seen.
 *
 * Nearly all is known of an id that only one task uses. Two things are not:
 * whether its timer is already due, and whether a read or drain under way already
 * took its event.
 *
 * When a session is closed its table must hold exactly the timers that did not
 * end. Its counters must agree with the counts made here.
 */
#include "oracle.h"
#include "session_oracle.h"
#include "session/timer.h"

#define SESSIONS	32
#define STARTS		16384
#define DATA		0x5e55000000000000ULL
/* Between two looks at the lock. */
#define EVENTS_PER_LOCK	64
#define OPS_PER_LOCK	16
#define STOPS_PER_LOCK	64

static struct oracle_session sessions[SESSIONS];
static unsigned int nr_sessions;
static struct oracle_start starts[STARTS];
static unsigned int nr_starts;
static u64 sequence;

static const char delivered[] = "delivered", drained[] = "drained";

void oracle_begin(void)
{
	nr_sessions = 0;
	nr_starts = 0;
	sequence = 0;
	oracle_begin_bases();
}

struct oracle_session *oracle_opened(struct twheel_session *s)
{
	struct oracle_session *os = &sessions[nr_sessions];

	if (nr_sessions == SESSIONS)
		sim_fail("too many sessions");
	*os = (struct oracle_session) {
		.s		= s,
		.nr		= nr_sessions++,
		.max_timers	= s->max_timers,
	};
	return os;
}

struct oracle_call_of oracle_calls(struct oracle_session *os)
{
	return (struct oracle_call_of) {
		.began		= ++sequence,
		.at		= sim.now,
		.failed		= sim_allocs_failed,
		.last_expired	= os->last_expired,
	};
}

void oracle_check_memory(const struct oracle_call_of *call, long ret)
{
	if (ret == -ENOMEM && sim_allocs_failed == call->failed)
		sim_fail("ENOMEM, and there was memory");
}

static unsigned int number(const struct oracle_start *t)
{
	return t - starts;
}

u64 oracle_data(const struct oracle_start *t)
{
	return DATA + number(t);
}

static s64 offset(void)
{
	return *user_offset(user_current());
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
	struct oracle_start *t = &starts[nr_starts];

	if (nr_starts == STARTS)
		sim_fail("too many starts");
	nr_starts++;
	*t = (struct oracle_start) {
		.os	= os,
		.own	= own,
		.in	= *in,
		.id	= in->id,
		.period	= in->period_ns,
		.began	= ++sequence,
		.word	= in->id < os->shared_ids,
	};
	if (in->flags & TWHEEL_START_ABS)
		t->low = ours(in->expires_ns, offset());
	else
		t->low = min_t(u64, sim.now + in->expires_ns, KTIME_MAX);
	t->high = t->low;
	return t;
}

static void ends(struct oracle_start *t, const char *how)
{
	if (t->end && !t->os->fuzzy)
		sim_fail("start %u: is %s and %s", number(t), t->end, how);
	t->end = how;
	t->end_at = ++sequence;
	if (how != delivered)
		t->gone = sequence;
}

/* Returns whether a timer was certainly pending from the begin of the call to now. */
bool oracle_surely_pending(const struct oracle_start *t,
			   const struct oracle_call_of *call)
{
	const struct oracle_session *os = t->os;

	return !os->fuzzy && !os->drains && os->drained_at < call->began &&
	       t->known && !t->end && !t->gone && !t->word && !t->events &&
	       sim.now < t->low;
}

/* Note that a call found no such timer. */
static void gone(struct oracle_start *t, const struct oracle_call_of *call,
		 const char *what)
{
	if (!t)
		return;
	if (oracle_surely_pending(t, call))
		sim_fail("start %u: is pending, and %s", number(t), what);
	if (!t->gone)
		t->gone = ++sequence;
}

/* Returns the possible states of a timer, as bits, during a call. */
static unsigned int states_of(const struct oracle_start *t, const struct oracle_call_of *call)
{
	unsigned int states = BIT(TWHEEL_FREE);

	if (!t || (t->end && t->end_at < call->began))
		return states;
	states = BIT(TWHEEL_ARMED);
	if (oracle_surely_pending(t, call))
		return states;
	states |= BIT(TWHEEL_FREE);
	/* A periodic one may be read, pending again, and drained during the call. */
	if (sim.now < t->low || (t->end == drained && !t->period))
		return states;
	return states | BIT(TWHEEL_UNREAD);
}

/* Check that the table has this result for one of the possible states. */
static void check_result(const struct oracle_start *t, const struct oracle_call_of *call,
			 bool exact, enum twheel_operation operation, long ret)
{
	unsigned int states = exact ? states_of(t, call) : ~0U;
	enum twheel_utimer_state state;

	for (state = TWHEEL_FREE; state <= TWHEEL_UNREAD; state++)
		if (states & BIT(state) && twheel_next(state, operation, false).result == ret)
			return;
	sim_fail("start %d: the table of states has no %ld", t ? (int)number(t) : -1, ret);
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
		t->gone = ++sequence;
		os->uncounted = true;
	}
	if (ret < 0) {
		if (t->events && !os->fuzzy && !t->taken_back)
			sim_fail("start %u: was refused, and has expired",
				 number(t));
		return;
	}
	t->id = id;
	t->known = true;
	if (!(t->in.flags & TWHEEL_START_ABS))
		t->high = min_t(u64, sim.now + t->in.expires_ns, KTIME_MAX);
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
	struct oracle_start *t = &starts[data - DATA];

	if (data - DATA >= nr_starts || t->os != os)
		sim_fail("user data %#llx of nobody", data);
	if (t->refused && !t->taken_back && !os->fuzzy)
		sim_fail("start %u: was refused, and is there", number(t));
	if (t->id != id && (t->known || t->id != TWHEEL_ID_ANY) && !os->fuzzy)
		sim_fail("start %u: has another id", number(t));
	return t;
}

static void check_deadline(const struct oracle_start *t, u64 deadline)
{
	u64 high = t->known ? t->high : KTIME_MAX;

	if (deadline == KTIME_MAX || t->os->fuzzy)
		return;
	if (deadline < t->low ||
	    (deadline > high && !t->period && !t->word))
		sim_fail("start %u: deadline %llu, not from %llu to %llu",
			 number(t), deadline, t->low, high);
}

void oracle_entry(struct oracle_session *os, const struct twheel_entry *entry,
		  const struct oracle_call_of *call, bool drains)
{
	struct oracle_start *t = start_of(os, entry->user_data, entry->id);

	if (entry->reserved || !entry->state || entry->state > 2)
		sim_fail("start %u: state %u", number(t), entry->state);
	if (t->gone && t->gone < call->began && !os->fuzzy)
		sim_fail("start %u: is %s, and listed", number(t), t->end ?: "gone");
	if (entry->deadline_ns < KTIME_MAX)
		check_deadline(t, ours(entry->deadline_ns, offset()));
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
		sim_fail("GET finds another start than %u", number(own->start));
}

/* Words. */

/* Returns whether a wheel may have asked for a word, and its callback is not over. */
static bool may_be_asked(const struct oracle_session *os)
{
	unsigned int cpu;

	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		if (os->s->wheel->bases[cpu]->lock.owner || os->s->wheel->bases[cpu]->running)
			return true;
	return os->s->lock.owner;
}

void oracle_stored(const struct oracle_session *os, struct oracle_id *own, u64 word)
{
	unsigned int nr = own->nr_stores++ % ORACLE_STORES;

	own->stores[nr].at = sim.now;
	own->stores[nr].word = word;
	own->stores[nr].asked = may_be_asked(os);
}

static bool keeps(const struct oracle_start *t, u64 word, u64 expired)
{
	return word == TWHEEL_WORD_STOP ||
	       ours(min_t(u64, word, KTIME_MAX), t->os->offset) > expired;
}

/*
 * Check that the word at the time of an expiry allowed it. The wheel asks for the word with the
 * base locked, and the callback reads it again, and then the clock. A store since the wheel asked
 * does not count here: check_word_read() has what read() does about it.
 */
static void check_word(const struct oracle_start *t, u64 expired)
{
	const struct oracle_id *own = t->own;
	unsigned int i, nr;

	for (i = own->nr_stores; i > 0; i--) {
		/* The store is already forgotten. */
		if (own->nr_stores - i == ORACLE_STORES)
			return;
		nr = (i - 1) % ORACLE_STORES;
		if (own->stores[nr].at >= expired)
			continue;
		if (!keeps(t, own->stores[nr].word, expired))
			return;
		if (!own->stores[nr].asked)
			sim_fail("start %u: expires at %llu, its word is %llu",
				 number(t), expired, own->stores[nr].word);
	}
}

/*
 * Check that the word is not a later deadline and no stop, if there was no store during the
 * read. A timer with a period has its event also with a later deadline.
 */
static void check_word_read(const struct oracle_start *t, u64 expired,
			    const struct oracle_call_of *call)
{
	const struct oracle_id *own = t->own;
	unsigned int last = (own->nr_stores - 1) % ORACLE_STORES;
	u64 word = own->stores[last].word;

	if (t->os->fuzzy || own->start != t)
		return;
	if (own->nr_stores && own->stores[last].at < call->at &&
	    (!t->period || word == TWHEEL_WORD_STOP) && keeps(t, word, expired))
		sim_fail("start %u: expired at %llu, is read, and its word is %llu",
			 number(t), expired, word);
}

/* Events. */

static void check_overruns(const struct oracle_start *t,
			   const struct oracle_call_of *call, u64 deadline,
			   u64 overruns)
{
	u64 least, most;

	if (!t->period) {
		if (overruns)
			sim_fail("start %u: overruns of one shot", number(t));
		return;
	}
	least = call->at > deadline ? (call->at - deadline) / t->period : 0;
	most = (sim.now - deadline) / t->period;
	if (overruns < least || overruns > most)
		sim_fail("start %u: %llu overruns, not %llu to %llu", number(t),
			 overruns, least, most);
}

static void check_flags(const struct oracle_start *t, u32 flags)
{
	if (flags != (t->period ? TWHEEL_EVENT_PERIODIC : 0))
		sim_fail("start %u: flags %u", number(t), flags);
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
	u64 deadline = ours(event->deadline_ns, offset());
	u64 expired = ours(event->expired_ns, offset());
	bool goes_on = event->flags & TWHEEL_EVENT_PERIODIC;

	if (expired < deadline || expired > sim.now)
		sim_fail("start %u: due at %llu, expired at %llu", number(t),
			 deadline, expired);
	check_deadline(t, deadline);
	if (expired < call->last_expired)
		sim_fail("start %u: overtaken by events read before", number(t));
	if (t->gone && t->gone < call->began && !os->fuzzy)
		sim_fail("start %u: is %s, and its event is read", number(t), t->end ?: "gone");
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

/* Check that deadlines of a periodic timer are on their grid, without a gap. */
static void check_periods(const struct oracle_start *t)
{
	if (t->period && !t->word && t->next - t->first != t->periods * t->period)
		sim_fail("start %u: a period is lost", number(t));
}

/* Sessions. */

void oracle_stats(struct oracle_session *os, const struct twheel_stats *n)
{
	if (n->expired != n->delivered + n->replaced + n->withdrawn + n->unread)
		sim_fail("session %u: expired %llu, read %llu + %llu + %llu, unread %llu",
			 os->nr, n->expired, n->delivered, n->replaced,
			 n->withdrawn, n->unread);
	if (n->stopped_by_store > n->stopped + n->withdrawn)
		sim_fail("session %u: stores have stopped %llu of %llu + %llu", os->nr,
			 n->stopped_by_store, n->stopped, n->withdrawn);
}

static void check_count(const struct oracle_session *os, const char *what, u64 is,
			u64 should)
{
	if (is != should)
		sim_fail("session %u: %s %llu, not %llu", os->nr, what, is,
			 should);
}

/* Check that a timer was started, and was not carried beyond any word. */
static void check_timer(struct oracle_session *os, struct twheel_utimer *ut,
			bool closes)
{
	const struct oracle_start *t = &starts[ut->user_data - DATA];

	if (ut->user_data - DATA >= nr_starts || t->os != os)
		sim_fail("session %u: a timer of nobody", os->nr);
	if (closes && !os->fuzzy && !t->known)
		sim_fail("start %u: was taken back, and is there", number(t));
	if (ut->state == TWHEEL_ARMED && t->word && t->known &&
	    t->high < ORACLE_WORD_MAX && !t->period &&
	    ut->timer.node.expires > (KTIME_MAX - (1LL << 49)) / os->s->tick_ns)
		sim_fail("start %u: is carried to where no word has said",
			 number(t));
}

/* Check the queue and the tables against the counters. Lock held. */
static void check_table(struct oracle_session *os, struct twheel_session *s,
			bool closes)
{
	u64 armed = 0, unread = 0, queued = 0;
	struct twheel_utimer *ut;
	u32 table, index, i;

	for (ut = s->events.first; ut; ut = *twheel_events_next(ut)) {
		if (ut->state != TWHEEL_UNREAD)
			sim_fail("session %u: what is not unread is queued",
				 os->nr);
		if (++queued > s->stats.unread)
			break;
	}
	for (table = 0; table < TWHEEL_NR_TABLES; table++) {
		for (index = 0; index < s->tables[table].nr_indexes;) {
			struct twheel_chunk *chunk =
				twheel_table_next(&s->tables[table], &index);

			if (!chunk)
				continue;
			index++;
			for (i = 0; i < TWHEEL_CHUNK_TIMERS; i++) {
				ut = &chunk->timers[i];
				if (!(chunk->free & BIT(i)) == !ut->state)
					sim_fail("session %u: free or not",
						 os->nr);
				armed += ut->state == TWHEEL_ARMED;
				unread += ut->state == TWHEEL_UNREAD;
				if (ut->state != TWHEEL_FREE)
					check_timer(os, ut, closes);
			}
		}
	}
	check_count(os, "queued", queued, s->stats.unread);
	check_count(os, "unread", unread, s->stats.unread);
	check_count(os, "armed", armed, s->timers - s->stats.unread);
}

/* Check that the timer of a start is not lost, and not there after its end. */
static void check_start(struct oracle_session *os, struct twheel_session *s,
			struct oracle_start *t)
{
	struct twheel_utimer *ut = twheel_table_find(s->tables, t->id);
	bool there = ut && ut->user_data == oracle_data(t);

	check_periods(t);
	if (!t->own || !t->known)
		return;
	if (there && t->end)
		sim_fail("start %u: is %s and still there", number(t), t->end);
	if (t->end || there || t->word)
		return;
	sim_fail("start %u: is lost", number(t));
}

static void check_counters(const struct oracle_session *os, const struct twheel_stats *is)
{
	const struct twheel_stats *should = &os->counted;
	/* Timers that a read carried on to their words. */
	u64 carried = is->rearmed - should->rearmed;
	/* Events of timers that a store stopped, withdrawn by a read. */
	u64 withdrawn = is->withdrawn - should->withdrawn;
	u64 stopped = should->stopped + is->stopped_by_store - withdrawn;
	int i;

	for (i = 0; i < TWHEEL_STATS_LATENESS; i++)
		check_count(os, "late", is->lateness[i], should->lateness[i]);
	check_count(os, "started", is->started, should->started);
	check_count(os, "restarted", is->restarted, should->restarted);
	check_count(os, "stopped", is->stopped, stopped);
	if (withdrawn > is->stopped_by_store)
		check_count(os, "withdrawn", is->withdrawn, should->withdrawn);
	check_count(os, "delivered", is->delivered, should->delivered);
	if (carried > is->carried || carried > is->replaced)
		check_count(os, "rearmed", is->rearmed, should->rearmed);
	check_count(os, "overruns", is->overruns, should->overruns);
	check_count(os, "replaced", is->replaced, should->replaced + carried);
}

/* Pages of pointers and chunks of the tables of a session. */
static unsigned int pieces_of(const struct twheel_session *s)
{
	unsigned int pieces = 0;
	u32 table, index;

	for (table = 0; table < TWHEEL_NR_TABLES; table++) {
		const struct twheel_table *t = &s->tables[table];

		for (index = 0; index < t->nr_indexes;) {
			struct twheel_chunk *chunk = twheel_table_next(t, &index);

			pieces += !!chunk;
			index += !!chunk;
		}
		for (index = 0; index < t->nr_indexes; index += TWHEEL_PAGE_CHUNKS)
			pieces += !!t->pages[index / TWHEEL_PAGE_CHUNKS].chunks;
	}
	return pieces;
}

/* Returns whether a session before @os has the same wheel. */
static bool is_shared(const struct oracle_session *os)
{
	const struct oracle_session *other;

	for (other = sessions; other < os; other++)
		if (other->s && other->s->wheel == os->s->wheel)
			return true;
	return false;
}

/* Check what is charged to @user. Reads plainly, as other tasks go on at each READ_ONCE(). */
static void check_charges(const struct twheel_session_user *user)
{
	unsigned int should[TWHEEL_NR_COUNTS] = {};
	const struct oracle_session *os;
	int i;

	for (os = sessions; os < sessions + nr_sessions; os++) {
		const struct twheel_session_wheel *ref = os->s ? os->s->wheel_ref : NULL;

		/* A wheel of CAP_SYS_NICE may be paid by another user. */
		if (ref && ref->user == user && !strcmp(ref->config.name, "private") &&
		    !is_shared(os))
			should[TWHEEL_COUNT_WHEELS]++;
		if (!os->s || os->s->user != user)
			continue;
		should[TWHEEL_COUNT_SESSIONS]++;
		should[TWHEEL_COUNT_PIECES] += pieces_of(os->s);
		should[TWHEEL_COUNT_WORD_PAGES] += os->s->words ? os->s->words->nr_pages : 0;
	}
	for (i = 0; i < TWHEEL_NR_COUNTS; i++)
		if (user->counts[i].counter != should[i])
			sim_fail("%d of account %d are charged, and %u are there",
				 user->counts[i].counter, i, should[i]);
}

/*
 * Check what is charged to the users of all sessions, while no call is in progress. A charge
 * too many takes from the limit of a user, who cannot know. One too few lets a user take more.
 */
void oracle_charges(void)
{
	const struct oracle_session *os;

	for (os = sessions; os < sessions + nr_sessions; os++)
		if (os->s)
			check_charges(os->s->user);
}

/* Check a session at its last close. */
void oracle_session_closes(struct oracle_session *os)
{
	struct twheel_session *s;
	struct twheel_stats stats;
	unsigned int i;

	if (!os)
		return;
	s = os->s;
	spin_lock_bh(&s->lock);
	twheel_session_stats_locked(s, &stats);
	check_table(os, s, true);
	if (!os->fuzzy && !os->uncounted)
		check_counters(os, &stats);
	for (i = 0; i < nr_starts && !os->fuzzy; i++)
		if (starts[i].os == os)
			check_start(os, s, &starts[i]);
	spin_unlock_bh(&s->lock);
	os->s = NULL;
	sim_note("session %u: started %llu, delivered %llu", os->nr, stats.started,
		 stats.delivered);
}

bool oracle_has_pending(const struct oracle_session *os)
{
	return os->s && os->s->timers > os->s->stats.unread;
}

void oracle_end_sessions(void)
{
	unsigned int i, j;

	for (i = 0; i < nr_sessions; i++)
		if (sessions[i].s)
			sim_fail("session %u is not closed", i);
	for (i = 0; i < TWHEEL_NR_COUNTS; i++)
		if (twheel_session_user_total(i))
			sim_fail("%u of account %u are left",
				 twheel_session_user_total(i), i);
	/* No id of the kernel's names two timers. */
	for (i = 0; i < nr_starts; i++) {
		if (!starts[i].known || !(starts[i].id & TWHEEL_ID_KERNEL) ||
		    !starts[i].own)
			continue;
		for (j = 0; j < i; j++)
			if (starts[j].known && starts[j].id == starts[i].id &&
			    starts[j].own != starts[i].own)
				sim_fail("starts %u and %u have one id", j, i);
	}
}

/* Locks. */

static struct oracle_session *session_of(const spinlock_t *lock)
{
	unsigned int i;

	for (i = 0; i < nr_sessions; i++)
		if (sessions[i].s && lock == &sessions[i].s->lock)
			return &sessions[i];
	return NULL;
}

void oracle_session_locked(spinlock_t *lock)
{
	struct oracle_session *os = session_of(lock);

	if (os)
		twheel_session_stats_locked(os->s, &os->then);
}

void oracle_session_unlock(spinlock_t *lock)
{
	struct oracle_session *os = session_of(lock);
	struct twheel_stats now, *then;

	if (!os)
		return;
	twheel_session_stats_locked(os->s, &now);
	then = &os->then;
	oracle_stats(os, &now);
	oracle_check_hold("started", now.started - then->started, OPS_PER_LOCK);
	oracle_check_hold("restarted", now.restarted - then->restarted, OPS_PER_LOCK);
	oracle_check_hold("read", now.delivered - then->delivered + now.replaced - then->replaced,
			  EVENTS_PER_LOCK);
	oracle_check_hold("stopped", now.stopped - then->stopped + now.withdrawn -
			  then->withdrawn, STOPS_PER_LOCK);
	if (sim_chance(64))
		check_table(os, os->s, false);
}

/* Waking. */

void oracle_woken(const wait_queue_head_t *queue)
{
	unsigned int i;

	for (i = 0; i < nr_sessions; i++)
		if (sessions[i].s && queue == &sessions[i].s->pollers && !sim_task->bh)
			sim_fail("a read wakes those who poll");
}

void oracle_expires(const struct twheel_timer *timer)
{
	if (sim.now < (timer->node.expires - 1) * timer->base->tick_ns +
	    timer->node.offset_ns + 1)
		sim_fail("a timer is early");
	oracle_lateness(timer);
}

void oracle_cpu_goes(void)
{
}

void oracle_cpu_gone(void)
{
}

/* Returns whether a later run wakes up the readers: a payer may be out of its slice. */
static bool is_woken_later(const struct twheel_session *s)
{
	unsigned int cpu;

	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		if (s->ends[cpu].tick_end.queued && s->wheel->bases[cpu]->payer)
			return true;
	return false;
}

static void check_sleepers(const struct oracle_session *os)
{
	bool slept = false, awake = false;
	unsigned int i;

	for (i = SIM_FIRST_USER; i < SIM_TASKS; i++) {
		const struct user_program *p = &user_programs[i];
		bool sleeps = user_sleeps(i);

		if (sleeps && p->waiter->queue == &os->s->pollers)
			sim_fail("session %u: sleeps on in poll()", os->nr);
		slept |= sleeps && p->reads == os;
		awake |= !sleeps && p->reads == os;
	}
	if (slept && !awake)
		sim_fail("session %u: sleeps on in read()", os->nr);
}

/* Check the sleepers at the end of the run on @base that began at @began, if it left events. */
void oracle_run_over(const struct twheel_base *base, u64 began)
{
	const struct oracle_session *os;
	struct twheel_utimer *ut;

	for (os = sessions; os < sessions + nr_sessions; os++) {
		if (!os->s || os->s->lock.owner || is_woken_later(os->s))
			continue;
		for (ut = os->s->events.first; ut; ut = *twheel_events_next(ut))
			if (ut->timer.base == base && ut->expired_ns >= began)
				break;
		if (ut)
			check_sleepers(os);
	}
}

/* Check that no reader sleeps while an event is unread. A stopped CPU may be at work. */
void oracle_idle(void)
{
	const struct oracle_session *os;
	unsigned int cpu;

	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		if (sim_cpus[cpu].stolen_until > sim.now)
			return;
	for (os = sessions; os < sessions + nr_sessions; os++)
		if (os->s && os->s->events.first && !is_woken_later(os->s))
			check_sleepers(os);
}
