// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of promises of /dev/twheel that are visible only inside of the simulated machine
 *
 * tests/life/starts.c checks what calls return. This file looks into the sessions. When a session
 * is closed, its tables must hold exactly the timers that have not ended, and its counters must
 * agree with the counts of tests/life/starts.c. No reader may sleep while an event is unread.
 */
#include "oracle.h"
#include "session_oracle.h"
#include "session/timer.h"

#define SESSIONS	32
#define STARTS		16384
/* Limits of the events, starts and stops under one hold of a session's lock. */
#define EVENTS_PER_LOCK	64
#define OPS_PER_LOCK	16
#define STOPS_PER_LOCK	64

static struct oracle_session sessions[SESSIONS];
static struct twheel_stats then[SESSIONS];	/* counters when the lock was taken */
static unsigned int nr_sessions;

u64 oracle_now(void)
{
	return sim.now;
}

s64 oracle_offset(void)
{
	return *user_offset(user_current());
}

unsigned int oracle_refusals(void)
{
	return sim_allocs_failed;
}

void oracle_fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	sim_vfail(fmt, args);
}

void oracle_begin(void)
{
	static struct oracle_records *records;

	if (!records)
		records = calloc(1, struct_size(records, starts, STARTS));
	oracle = records;
	oracle->max_starts = STARTS;
	oracle->nr_starts = 0;
	oracle->sequence = 0;
	nr_sessions = 0;
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

/* Sessions. */

/* Check that a timer was started, and that no word moved it to the end of time. */
static void check_timer(struct oracle_session *os, struct twheel_utimer *ut,
			bool closes)
{
	const struct oracle_start *t = oracle_start_of(ut->user_data);

	if (!t || t->os != os)
		sim_fail("session %u: a timer of nobody", os->nr);
	if (closes && !os->fuzzy && !t->known)
		sim_fail("start %u: was taken back, and is there", t->nr);
	if (ut->state == TWHEEL_ARMED && t->word && t->known &&
	    t->high < ORACLE_WORD_MAX && !t->period &&
	    ut->timer.node.expires > (KTIME_MAX - (1LL << 49)) / os->s->tick_ns)
		sim_fail("start %u: is carried to where no word has said",
			 t->nr);
}

/* Check the queue and the tables against the counters. The caller holds the session's lock. */
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
	oracle_check_count(os, "queued", queued, s->stats.unread);
	oracle_check_count(os, "unread", unread, s->stats.unread);
	oracle_check_count(os, "armed", armed, s->timers - s->stats.unread);
}

/*
 * Count the pages of pointers and the chunks of a session's tables. Checks that a table keeps only
 * one chunk without a timer: an empty chunk that nothing frees would count for its user until the
 * session closes. A start that fails for lack of memory may leave another one.
 */
static unsigned int pieces_of(const struct twheel_session *s)
{
	unsigned int pieces = 0;
	u32 table, index;

	for (table = 0; table < TWHEEL_NR_TABLES; table++) {
		const struct twheel_table *t = &s->tables[table];
		unsigned int empty = 0;

		for (index = 0; index < t->nr_indexes;) {
			struct twheel_chunk *chunk = twheel_table_next(t, &index);

			pieces += !!chunk;
			index += !!chunk;
			empty += chunk && chunk->free == TWHEEL_CHUNK_FULL;
		}
		if (empty > 1 && !sim_allocs_failed)
			sim_fail("%u chunks without a timer are kept", empty);
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

/*
 * Check the charges of @user. Uses plain reads, because other tasks would run at each READ_ONCE().
 */
static void check_charges(const struct twheel_session_user *user)
{
	unsigned int should[TWHEEL_NR_COUNTS] = {};
	const struct oracle_session *os;
	int i;

	for (os = sessions; os < sessions + nr_sessions; os++) {
		const struct twheel_session_wheel *ref = os->s ? os->s->wheel_ref : NULL;

		/*
		 * Sessions with CAP_SYS_NICE share private wheels, so another user may pay for this
		 * one.
		 */
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

/* Check that a session's wheel is of its user, who pays for it, unless it has CAP_SYS_NICE. */
static void check_owner(const struct oracle_session *os)
{
	const struct twheel_session *s = os->s;
	struct twheel_config config;

	if (!s->wheel_ref)
		return;
	twheel_get_config(s->wheel, &config);
	if (!uid_eq(config.uid, s->nice ? INVALID_UID : s->user->uid) ||
	    config.payer != (s->nice ? NULL : s->user->payer))
		sim_fail("session %u has a wheel of another user", os->nr);
}

/* Returns whether two sessions must have the same wheel: their wheels are of one kind. */
static bool must_share(const struct twheel_session *s, const struct twheel_session *other)
{
	const struct twheel_config *a, *b;

	if (!s->wheel_ref || !other->wheel_ref || s->nice != other->nice ||
	    (!s->nice && s->user != other->user))
		return false;
	a = &s->wheel_ref->config;
	b = &other->wheel_ref->config;
	return !strcmp(a->name, b->name) && a->tick_ns == b->tick_ns && a->clock == b->clock;
}

/*
 * Check the charges of the users of all sessions, while no call is in progress. Excess
 * charges would lower a user's limit without a trace. With missing charges a user could
 * exceed the limit.
 */
void oracle_charges(void)
{
	const struct oracle_session *os, *other;

	for (os = sessions; os < sessions + nr_sessions; os++) {
		if (!os->s)
			continue;
		check_charges(os->s->user);
		check_owner(os);
		for (other = sessions; other < os; other++) {
			if (!other->s)
				continue;
			if (other->s->user != os->s->user &&
			    uid_eq(other->s->user->uid, os->s->user->uid))
				sim_fail("sessions %u and %u have two accounts of one user",
					 other->nr, os->nr);
			if (other->s->wheel != os->s->wheel && must_share(os->s, other->s))
				sim_fail("sessions %u and %u have two wheels of one kind",
					 other->nr, os->nr);
		}
	}
}

/* Check a session at its last close. */
void oracle_session_closes(struct oracle_session *os)
{
	struct twheel_session *s;
	struct twheel_utimer *ut;
	struct twheel_stats stats;
	unsigned int i;

	if (!os)
		return;
	s = os->s;
	spin_lock_bh(&s->lock);
	twheel_session_stats_locked(s, &stats);
	check_table(os, s, true);
	if (!os->fuzzy && !os->uncounted)
		oracle_check_counters(os, &stats);
	for (i = 0; i < oracle->nr_starts && !os->fuzzy; i++) {
		const struct oracle_start *t = &oracle->starts[i];

		if (t->os != os)
			continue;
		ut = twheel_table_find(s->tables, t->id);
		oracle_check_start(t, ut && ut->user_data == oracle_data(t));
	}
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
	unsigned int i;

	for (i = 0; i < nr_sessions; i++)
		if (sessions[i].s)
			sim_fail("session %u is not closed", i);
	for (i = 0; i < TWHEEL_NR_COUNTS; i++)
		if (twheel_session_user_total(i))
			sim_fail("%u of account %u are left",
				 twheel_session_user_total(i), i);
	oracle_check_ids();
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
		twheel_session_stats_locked(os->s, &then[os->nr]);
}

void oracle_session_unlock(spinlock_t *lock)
{
	struct oracle_session *os = session_of(lock);
	struct twheel_stats now, *old;

	if (!os)
		return;
	twheel_session_stats_locked(os->s, &now);
	old = &then[os->nr];
	oracle_stats(os, &now);
	oracle_check_hold("started", now.started - old->started, OPS_PER_LOCK);
	oracle_check_hold("restarted", now.restarted - old->restarted, OPS_PER_LOCK);
	oracle_check_hold("read", now.delivered - old->delivered + now.replaced - old->replaced,
			  EVENTS_PER_LOCK);
	oracle_check_hold("stopped", now.stopped - old->stopped + now.withdrawn -
			  old->withdrawn, STOPS_PER_LOCK);
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

/* Returns whether a later run wakes up the readers, because a payer has used up its slice. */
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

/*
 * Check that the run on @base that began at @began, and now ends, woke up the readers and pollers
 * of each session whose timers expired in the run.
 */
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

/* Check that no reader sleeps while an event is unread. A stopped CPU may yet wake the reader. */
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
