// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of what twheel promises about each timer
 *
 * If a timer expires after its tick, its base must have been held up since that tick or longer,
 * see oracle_base.c.
 *
 * The oracle knows a deadline as a range, because a call takes time, and calls on several CPUs have
 * no order. Only if one task has a timer to itself, the oracle knows whether the timer is pending.
 */
#include "sim.h"
#include "oracle.h"
#include "scenario.h"

#define TIMERS_MAX	8192

static struct oracle_timer *timers[TIMERS_MAX];
static unsigned int nr_timers;
static u64 sequence;
static u64 hotplug_began;

void oracle_begin(void)
{
	nr_timers = 0;
	sequence = 0;
	hotplug_began = 0;
	oracle_begin_bases();
}

void oracle_add(struct oracle_timer *t)
{
	t->nr = nr_timers;
	t->expect = EXPECT_IDLE;
	timers[nr_timers++] = t;
}

/* Returns the latest time at which a timer with @deadline is due, if it is started by now. */
static u64 due_at(u64 deadline)
{
	u64 tick_ns = scenario_ticks(1), tick = deadline / tick_ns + !!(deadline % tick_ns);
	u64 next = sim.now / tick_ns + 1;

	tick = max(tick, next);
	return tick > KTIME_MAX / tick_ns ? KTIME_MAX : tick * tick_ns;
}

/* Deadlines that the owner stores, U64_MAX for none. Only one task stores deadlines of a timer. */

static u64 due_by_word(u64 word)
{
	return word && word != U64_MAX ? due_at(min_t(u64, word, KTIME_MAX)) : 0;
}

static void note_word(struct oracle_timer *t, u64 word)
{
	t->word_due = max(t->word_due, due_by_word(word));
	t->next_word_due = max(t->next_word_due, due_by_word(word));
}

/* Store a deadline, which the wheel finds when it asks the timer's owner. Record the store. */
void oracle_store(struct oracle_timer *t, u64 word)
{
	unsigned int nr = t->nr_stores++ % ORACLE_LATER;

	t->stores[nr].word = word;
	t->stores[nr].order = U64_MAX;
	note_word(t, word);
	t->strict = false;
	WRITE_ONCE(t->word, word);
	t->stores[nr].order = oracle_next_order();
	/* Note it again: a start that began before the store may have reset @next_word_due. */
	note_word(t, word);
}

static bool is_later(u64 word, const struct twheel_base *base)
{
	u64 last = base->scheme.clock * base->tick_ns;

	return word != U64_MAX && min_t(u64, word, KTIME_MAX) > last;
}

/*
 * Check that a timer does not expire while a later deadline is stored. The wheel may miss a store
 * that was made after the base was locked. With weak memory it may miss earlier stores as well, so
 * then only the deadline that the wheel found counts.
 */
static void check_word(const struct oracle_timer *t, const struct twheel_base *base)
{
	unsigned int i, nr;

	if (is_later(t->found, base))
		sim_fail("timer %u: expires, and the wheel found %llu", t->nr, t->found);
	for (i = t->nr_stores; !sim_weak && i && i + ORACLE_LATER > t->nr_stores; i--) {
		nr = (i - 1) % ORACLE_LATER;
		if (!is_later(t->stores[nr].word, base))
			return;
		if (oracle_is_before_lock(t->stores[nr].order))
			sim_fail("timer %u: expires, and its owner stored %llu", t->nr,
				 t->stores[nr].word);
	}
}

static bool is_exact(const struct oracle_timer *t)
{
	return t->private && t->plain;
}

/* Calls: stops, and calls that may start a timer. */

void oracle_begin_call(struct oracle_timer *t, struct oracle_call *call)
{
	*call = (struct oracle_call) {
		.began		= ++sequence,
		.expired	= t->expired,
		.running	= t->running,
	};
}

void oracle_starts(struct oracle_timer *t, struct oracle_call *call, u64 low)
{
	if (low > KTIME_MAX)
		low = KTIME_MAX;
	oracle_begin_call(t, call);
	call->low = low;
	if (!t->in_flight++) {
		t->saved_early = t->early;
		t->next_early = U64_MAX;
		t->next_due = 0;
		t->any = false;
		t->mixed = false;
		/* With weak memory the wheel may find an older word even after this start. */
		t->next_word_due = sim_weak ? t->word_due : due_by_word(t->word);
	} else {
		t->mixed = true;
	}
	t->early = min(t->early, low);
	t->begun++;
	t->quiet = false;
	t->strict = false;
}

static void check_expected(struct oracle_timer *t, struct oracle_call *call,
			   bool was_pending)
{
	if (call->unknown || !is_exact(t) || t->expired != call->expired ||
	    call->running)
		return;
	/* A timer that is due may be expiring at this moment. */
	if (t->expect == EXPECT_PENDING && !was_pending && sim.now < t->early)
		sim_fail("timer %u: is pending, and a call says that it is not",
			 t->nr);
	if (t->expect == EXPECT_IDLE && was_pending)
		sim_fail("timer %u: is not pending, and a call says that it is",
			 t->nr);
}

void oracle_started(struct oracle_timer *t, struct oracle_call *call, u64 high,
		    bool done, bool was_pending)
{
	check_expected(t, call, was_pending);
	if (done) {
		if (high > KTIME_MAX)
			high = KTIME_MAX;
		t->any = true;
		t->next_early = min(t->next_early, call->low);
		t->next_due = max(t->next_due, due_at(high));
		t->low = call->low;
		t->high = high;
		t->started += !was_pending;
		if (!call->keeps)
			t->word_due = t->next_word_due;
		/* The timer may already have expired before the call returned. */
		t->expect = t->expired == call->expired ? EXPECT_PENDING :
			    EXPECT_UNKNOWN;
	}
	if (call->old) {
		t->next_early = min(t->next_early, t->saved_early);
		t->next_due = max(t->next_due, t->due);
		t->mixed = true;
		t->expect = EXPECT_UNKNOWN;
	}
	if (--t->in_flight)
		return;
	if (hotplug_began && call->began < sequence)
		t->next_due = max(t->next_due, due_at(0));
	t->early = t->any ? t->next_early : t->saved_early;
	if (t->any) {
		t->due = t->next_due;
		t->known = !t->mixed && !t->asks;
	}
	t->strict = done && !t->mixed && !was_pending && !hotplug_began && !t->nr_stores;
	t->began = call->began;
	t->ended = ++sequence;
}

/* Check that a call waited for the callback that was running when it began. */
void oracle_waited(const struct oracle_timer *t, const struct oracle_call *call)
{
	if (call->running && t->running && t->expired == call->expired)
		sim_fail("timer %u: a wait returns in its callback", t->nr);
}

void oracle_stopped(struct oracle_timer *t, struct oracle_call *call, bool was,
		    bool sync)
{
	check_expected(t, call, was);
	t->stopped += was;
	/*
	 * A timer that is due may be expiring at this moment. Then this stop, and the
	 * next one as well, may not find it pending.
	 */
	if (was || (t->expect == EXPECT_UNKNOWN && sim.now < t->early))
		t->expect = EXPECT_IDLE;
	else if (t->expect == EXPECT_PENDING)
		t->expect = EXPECT_UNKNOWN;
	if (!sync)
		return;
	oracle_waited(t, call);
	if (!t->private || t->in_flight)
		return;
	if (t->running)
		sim_fail("timer %u: its callback runs after stop_sync()", t->nr);
	if (t->timer.node.link.next)
		sim_fail("timer %u: is pending after stop_sync()", t->nr);
	t->quiet = true;
}

void oracle_drained(struct oracle_timer *t)
{
	t->stopped++;
	t->expect = EXPECT_IDLE;
}

/* Callbacks. */

/* Check that no timer of the same tick and base that was started later has expired earlier. */
static void check_order(const struct oracle_timer *t, struct sim_held *held)
{
	if (!t->strict || hotplug_began)
		return;
	if (held->tick != t->timer.node.expires)
		held->newest = 0;
	held->tick = t->timer.node.expires;
	if (t->ended < held->newest)
		sim_fail("timer %u is overtaken", t->nr);
	held->newest = max(held->newest, t->began);
}

static void check_time(const struct oracle_timer *t, struct twheel_base *base)
{
	struct sim_held *held = &base->hrtimer.held;

	if (sim.now < t->early)
		sim_fail("timer %u: %llu ns early", t->nr, t->early - sim.now);
	if (t->in_flight || hotplug_began)
		return;
	if (held->since > max(t->due, t->word_due))
		sim_fail("timer %u: due at %llu, or %llu, but its base was not held up before %llu",
			 t->nr, t->due, t->word_due, held->since);
}

/* Check an expiry, under the base's lock. A start after this call arms the timer again. */
void oracle_expires(const struct twheel_timer *timer)
{
	struct oracle_timer *t = container_of(timer, struct oracle_timer, timer);
	struct twheel_base *base = t->timer.base;

	if (t->running)
		sim_fail("timer %u: expires while its callback runs", t->nr);
	t->running = true;
	t->called = false;
	t->expired++;
	if (t->quiet)
		sim_fail("timer %u: expires after stop_sync()", t->nr);
	if (t->expired + t->stopped > t->begun)
		sim_fail("timer %u: expires more often than it was started",
			 t->nr);
	if (is_exact(t) && !t->in_flight && t->expect == EXPECT_IDLE)
		sim_fail("timer %u: expires, and was not pending", t->nr);
	if (base->cpu != sim.cpu && base->cpu != TWHEEL_NO_CPU)
		sim_fail("timer %u: expires on another CPU", t->nr);
	check_order(t, &base->hrtimer.held);
	check_word(t, base);
	check_time(t, base);
	oracle_lateness(timer);
	t->expect = t->in_flight ? EXPECT_UNKNOWN : EXPECT_IDLE;
}

void oracle_callback(struct oracle_timer *t)
{
	struct sim_held *held = &t->timer.base->hrtimer.held;
	u64 awake = sim.now - sim.behind;

	if (!t->running || t->called)
		sim_fail("timer %u: a callback, and it has not expired", t->nr);
	t->called = true;
	/* The runtime counts from the first callback, because a run may be held up before it. */
	if (!held->first)
		held->first = awake;
	/* Then the run must end at its next clock read, at most TIMERS_PER_CHECK timers later. */
	if (awake - held->first > RUN_NS_MAX &&
	    ++held->work > TIMERS_PER_CHECK)
		sim_fail("a run goes on for %llu ns", awake - held->first);
}

void oracle_callback_ends(struct oracle_timer *t)
{
	t->running = false;
}

/* Allow timers to be late while a CPU goes offline, and to join another base. */
void oracle_cpu_goes(void)
{
	hotplug_began = ++sequence;
}

void oracle_cpu_gone(void)
{
	unsigned int i;

	for (i = 0; i < nr_timers; i++) {
		timers[i]->strict = false;
		timers[i]->due = max(timers[i]->due, due_at(0));
		timers[i]->next_due = max(timers[i]->next_due, due_at(0));
	}
	hotplug_began = 0;
}

/*
 * Check that no timer is forgotten: each late timer must be on a base that is held
 * up. Returns whether a timer is late.
 */
bool oracle_any_late(void)
{
	unsigned int i;
	bool any = false;

	for (i = 0; i < nr_timers; i++) {
		const struct oracle_timer *t = timers[i];
		const struct hrtimer *hrtimer;

		/* A call on a CPU that is held up may still start the timer. */
		if (t->in_flight) {
			any = true;
			continue;
		}
		if (!t->timer.node.link.next || max(t->due, t->word_due) >= sim.now)
			continue;
		hrtimer = &t->timer.base->hrtimer;
		if (!hrtimer->held.is && !(hrtimer->queued && (u64)hrtimer->expires <= sim.now))
			sim_fail("timer %u: was due at %llu, and its base is %s for %llu", t->nr,
				 t->due, hrtimer->queued ? "armed" : "off", (u64)hrtimer->expires);
		any = true;
	}
	return any;
}

void oracle_end(void)
{
	unsigned int i;

	for (i = 0; i < nr_timers; i++) {
		struct oracle_timer *t = timers[i];

		if (t->running || t->in_flight)
			sim_fail("timer %u: is in use at the end", t->nr);
		if (t->started != t->expired + t->stopped)
			sim_fail("timer %u: started %llu times, expired %llu, stopped %llu",
				 t->nr, t->started, t->expired, t->stopped);
	}
}

void oracle_run_over(const struct twheel_base *base, u64 began)
{
}

void oracle_idle(void)
{
}
