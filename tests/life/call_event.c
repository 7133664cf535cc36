// SPDX-License-Identifier: GPL-2.0
/*
 * Steps that take events or wait for them, and the end of a session's life
 *
 * Beside what starts.c checks of each event, no timer may be lost, and events have an order.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "call.h"

/* A timer that is this late is lost, however busy the machine is. */
#define PATIENCE	(60 * SECOND)

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
	char *at = call_put(step, events, size);
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
	call_take(step, events, at, size);
	if (ret > 0 && ret % sizeof(*events))
		oracle_fail("read returns %ld bytes", ret);
	return ret < 0 ? ret : ret / (long)sizeof(*events);
}

long call_read(struct session *s, const struct step *step)
{
	bool raw = step->how > 2 && twheel_backend(s->t) == TWHEEL_BACKEND_KERNEL;
	struct oracle_call_of call = call_begin(s);
	struct twheel_event events[ROOM];
	long ret;

	if (raw)
		ret = read_device(s, step, events);
	else
		ret = twheel_read(s->t, events, step->count);
	life_lock();
	if (ret || !step->part)
		life_note("%s(s%d, %u) = %ld", raw ? "read" : "twheel_read", call_nr_of(s),
			  step->count, ret);
	CHECK("read", ret, step->count, EAGAIN, EINTR, EFAULT);
	if (ret == -EINTR && IS_ALONE)
		oracle_fail("a read ends for no signal");
	if (raw)
		call_is_fault(step, ret);
	judge_events(s, events, max(ret, 0L), &call);
	if (IS_EXACT && is_dry(s, ret, step->count))
		check_none_late(s, 0);
	life_unlock();
	return ret;
}

/* Returns the time that a step sleeps or waits. It may be long if the clock is virtual. */
u64 call_pause_of(const struct step *step)
{
	if (!IS_VIRTUAL)
		return step->delay % (3 * MS);
	return step->delay < 10 * MS ? step->delay : step->delay >> 16;
}

void call_wait(struct session *s, const struct step *step)
{
	u64 timeout = call_pause_of(step), end;
	struct oracle_call_of call = call_begin(s);
	struct twheel_event events[ROOM];
	long ret;

	ret = twheel_wait(s->t, events, step->count, timeout);
	end = oracle_now();
	life_lock();
	life_note("twheel_wait(s%d, %u, %llu ns) = %ld, after %llu ns", call_nr_of(s), step->count,
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
void call_poll(struct session *s, const struct step *step)
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
	life_note("poll(s%d) = %d, and %llu are unread", call_nr_of(s), readable, stats.unread);
	if ((stats.unread && !readable) || (IS_VIRTUAL && readable && !stats.unread))
		oracle_fail("%llu events are unread, and poll returns %d", stats.unread, readable);
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
		ret = call_read(s, &(struct step){ .count = ROOM, .part = true });
		if (ret > 0)
			continue;
		check_none_late(s, PATIENCE);
		if (expects_one(s))
			host_sleep(s->tick_ns / 2);
	}
	call_list(s, &(struct step){ .count = ROOM }, true);
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
