/* SPDX-License-Identifier: GPL-2.0 */
/*
 * <twheel_timer.h> against a naive model
 *
 * A program for a wheel is a string of bytes: test_timers.c draws random bytes, and libFuzzer makes
 * those for fuzz_timers.c. The model remembers what may be true of each timer. If the wheel does
 * anything else, the process ends.
 *
 * A timer has a key: its deadline, and the number of the operation that queued it there. In one
 * call, timers expire in the order of their keys. In two cases the model knows a key as a range:
 *
 *  - A timer that was pushed back may have been put into its place by any operation since
 *    its first start.
 *
 *  - A timer that is due when it is started waits for the next call, and expires after
 *    the timers that were due before.
 */
#ifndef TIMERS_MODEL_H
#define TIMERS_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twheel_timer.h"

#define FEW		48
#define MANY		3000
#define ENOUGH		4000000

struct key {
	uint64_t deadline, operation;
};

/**
 * struct subject - a timer, and what the model knows of it
 * @timer: the timer, in memory of its own, so that sanitizers see each wrong access
 * @pending: the timer is pending
 * @from: lower bound of its key
 * @to: upper bound of its key
 * @not_in: number of the call in which the timer must not expire, or 0
 */
struct subject {
	struct twheel_timer *timer;
	bool pending;
	struct key from, to;
	uint64_t not_in;
};

/**
 * struct model - a run
 * @data: rest of the program
 * @left: bytes in @data
 * @w: the wheel
 * @nr: number of subjects
 * @subjects: the timers
 * @pending: number of pending timers
 * @operation: number of the operation
 * @now: latest time passed to the wheel
 * @end: last time that the wheel's clock can have
 * @call: number of the last call that may have expired timers, or of the round of
 *	twheel_timers_expired()
 * @last: highest lower bound of the keys of the timers that expired in this call
 * @expired: number of expiries
 */
struct model {
	const uint8_t *data;
	size_t left;
	struct twheel_timers *w;
	unsigned int nr;
	struct subject *subjects;
	unsigned int pending;
	uint64_t operation, now, end, call;
	struct key last;
	uint64_t expired;
};

static struct model model;

static void wrong(const char *what)
{
	fprintf(stderr, "!!! timers: %s (operation %llu, now %llu)\n", what,
		(unsigned long long)model.operation, (unsigned long long)model.now);
	abort();
}

static bool less(struct key a, struct key b)
{
	return a.deadline < b.deadline || (a.deadline == b.deadline && a.operation < b.operation);
}

static uint8_t take(void)
{
	if (!model.left)
		return 0;
	model.left--;
	return *model.data++;
}

/* Take a number of any length. */
static uint64_t take_number(void)
{
	uint64_t mantissa = take();

	return mantissa << (take() & 63);
}

static uint64_t add(uint64_t tick, uint64_t ticks)
{
	return tick + ticks < tick ? UINT64_MAX : tick + ticks;
}

/* Take a time at the edge of a slot, or one tick beside it. */
static uint64_t take_edge(void)
{
	unsigned int shift = take() % 8 * 8;
	uint64_t slots = take();

	return (((model.now >> shift) + slots) << shift) + take() % 3 - 1;
}

static uint64_t take_tick(const struct subject *s)
{
	switch (take() & 7) {
	case 0:
		return take_number();
	case 1:
		return take_edge();
	case 2:
		return add(model.now, take_number());
	case 3:
		return add(s->timer->expires, take());
	case 4:
		return add(model.now, 0);
	default:
		return add(model.now, take());
	}
}

static void on_expiry(struct twheel_timer *timer);

static void create(struct subject *s)
{
	s->timer = calloc(1, sizeof(*s->timer));
	if (!s->timer)
		abort();
	s->timer->fn = on_expiry;
	s->timer->tag = s - model.subjects;
}

/* Note the bounds of the key of a timer that was started for @expires. It was set to @before. */
static void note_start(struct subject *s, uint64_t before, uint64_t expires)
{
	bool later = s->pending && expires > before;

	if (!s->pending)
		model.pending++;
	if (!twheel_timer_pending(s->timer) || s->timer->expires != expires)
		wrong("a timer that was started is not pending");
	if (!s->pending || expires != before) {
		s->from.deadline = expires;
		if (!later)
			s->from.operation = model.operation;
		s->to.deadline = expires > model.now ? expires : UINT64_MAX;
		s->to.operation = later ? UINT64_MAX : model.operation;
		s->not_in = 0;
		if (expires <= model.now && (!s->pending || before > model.now))
			s->not_in = model.call;
	}
	s->pending = true;
}

static void start(struct subject *s, uint64_t expires, bool push)
{
	uint64_t before = s->timer->expires;

	model.operation++;
	(push ? twheel_timer_push : twheel_timer_start)(model.w, s->timer, expires);
	note_start(s, before, expires);
}

static void start_between(struct subject *s, uint64_t earliest, uint64_t latest)
{
	uint64_t before = s->timer->expires;

	model.operation++;
	twheel_timer_start_between(model.w, s->timer, earliest, latest);
	if (s->timer->expires < earliest || s->timer->expires > latest)
		wrong("a time that is not between");
	if (s->pending && before >= earliest && before <= latest && before != s->timer->expires)
		wrong("a timer is moved that may stay");
	note_start(s, before, s->timer->expires);
}

/* Shift the clock and all deadlines, unless one of them would overflow. */
static void shift(int64_t ticks)
{
	uint64_t least = ticks < 0 ? -(uint64_t)ticks : 0;
	uint64_t most = ticks > 0 ? UINT64_MAX / 2 : UINT64_MAX;
	struct subject *s;
	unsigned int i;

	for (i = 0; i < model.nr; i++) {
		s = &model.subjects[i];
		if (s->pending && (s->timer->expires < least || s->timer->expires >= most))
			return;
	}
	if (model.now < least || model.now >= most)
		return;
	twheel_timers_shift(model.w, ticks);
	for (i = 0; i < model.nr; i++) {
		s = &model.subjects[i];
		if (!s->pending)
			continue;
		s->from.deadline += ticks;
		if (s->timer->expires != s->from.deadline)
			wrong("shift: another deadline");
		/* The order of timers that are due already is unknown. */
		if (s->timer->expires <= model.now + ticks)
			s->to.deadline = UINT64_MAX;
		else
			s->to.deadline = s->from.deadline;
	}
	model.now += ticks;
}

static void stop(struct subject *s)
{
	model.operation++;
	if (twheel_timer_stop(model.w, s->timer) != s->pending)
		wrong("stop says something else");
	if (twheel_timer_pending(s->timer))
		wrong("a timer that was stopped is pending");
	model.pending -= s->pending;
	s->pending = false;
}

static void free_subject(struct subject *s)
{
	stop(s);
	free(s->timer);
	create(s);
}

/* Check an expiry, which must not be before the deadline. Returns the timer's record. */
static struct subject *expired(struct twheel_timer *timer)
{
	struct subject *s = &model.subjects[timer->tag];

	model.operation++;
	model.expired++;
	if (s->timer != timer || !s->pending)
		wrong("a timer expires that is not pending");
	if (twheel_timer_pending(timer))
		wrong("a timer is pending while it expires");
	if (timer->expires > model.now)
		wrong("early");
	if (s->not_in == model.call)
		wrong("in the call that it was started in");
	if (less(s->to, model.last))
		wrong("order");
	if (less(model.last, s->from))
		model.last = s->from;
	s->pending = false;
	model.pending--;
	return s;
}

static struct subject *take_subject(void)
{
	unsigned int nr = take();

	if (model.nr > 256)
		nr |= take() << 8;
	return &model.subjects[nr % model.nr];
}

/* Start, stop or free timers in a callback, or after twheel_timers_expired() returned @self. */
static void act(struct subject *self)
{
	struct subject *other;

	switch (take() & 15) {
	case 7:
		start(self, add(self->timer->expires, take() & 3), false);
		break;
	case 1:
		start(self, add(model.now, take()), true);
		break;
	case 2:
		stop(take_subject());
		break;
	case 3:
		free_subject(self);
		break;
	case 4:
		free_subject(take_subject());
		break;
	case 5:
	case 6:
		other = take_subject();
		start(other, take_tick(other), take() & 1);
		break;
	}
}

static void on_expiry(struct twheel_timer *timer)
{
	act(expired(timer));
}

static uint64_t check_next(void)
{
	uint64_t next = twheel_timers_next(model.w);
	unsigned int i;

	if (!model.pending && next != TWHEEL_TIMERS_NEVER)
		wrong("next: nothing is pending");
	for (i = 0; i < model.nr; i++)
		if (model.subjects[i].pending && model.subjects[i].timer->expires < next &&
		    next > model.now)
			wrong("next: too late");
	return next;
}

/* Check that all timers due by now have already expired. */
static void check_complete(void)
{
	unsigned int i;

	for (i = 0; i < model.nr; i++)
		if (model.subjects[i].pending && model.subjects[i].timer->expires <= model.now)
			wrong("not expired");
}

static void advance(uint64_t now)
{
	unsigned int most = take() & 1 ? 1 + (take() & 15U) : UINT32_MAX, calls = 0, count;
	uint8_t how = take();
	bool foreign = how & 1;
	struct twheel_timer *timer;
	uint64_t before;

	if (now > model.now)
		model.now = now < model.end ? now : model.end;
	do {
		model.last = (struct key){ 0, 0 };
		model.call++;
		before = model.expired;
		if (foreign) {
			count = 0;
			while ((timer = twheel_timers_expired(model.w, now))) {
				act(expired(timer));
				count++;
			}
		} else {
			count = twheel_timers_advance(model.w, now, most);
			if (count > most)
				wrong("more than most");
		}
		if (count != model.expired - before)
			wrong("count of expiries");
		if (model.operation > ENOUGH || calls++ > 100000)
			wrong("no end");
		/* If @now was before the clock, only the first call had to do nothing. */
		now = model.now;
		/* Sometimes go on with the program before all due timers have expired. */
		if (how >= 240)
			return;
	} while (check_next() <= model.now);
	check_complete();
}

static void check_each(void)
{
	struct twheel_timer *timer = NULL;
	unsigned int nr = 0;

	while ((timer = twheel_timers_each(model.w, timer))) {
		const struct subject *s = &model.subjects[timer->tag];

		if (!s->pending || s->timer != timer)
			wrong("each: not pending");
		nr++;
	}
	if (nr != model.pending || nr != twheel_timers_count(model.w))
		wrong("each: other timers");
}

/* Start up to 4080 timers, more than a call may move or sort, in any order of deadlines. */
static void start_many(void)
{
	unsigned int nr = take() * 16, i, apart = take(), order = take();
	struct subject *s = take_subject();
	uint64_t expires = take_tick(s), distance;

	for (i = 0; i < nr; i++) {
		s = &model.subjects[(s - model.subjects + 1) % model.nr];
		distance = order & 1 ? i * 2654435761U % 4096 : order & 2 ? nr - i : i;
		start(s, add(expires, distance * (apart & 3) << apart / 32), i & 1);
	}
}

static void operate(void)
{
	struct subject *s = take_subject();
	uint64_t next;
	int64_t ticks;

	switch (take() & 15) {
	case 0:
		stop(s);
		break;
	case 1:
		free_subject(s);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		start(s, take_tick(s), false);
		break;
	case 6:
	case 7:
		start(s, take_tick(s), true);
		break;
	case 8:
		next = take_tick(s);
		start_between(s, next, add(next, take_number()));
		break;
	case 9:
		if (model.nr == MANY)
			start_many();
		break;
	case 10:
		check_each();
		ticks = take_number() >> 1;
		shift(take() & 1 ? ticks : -ticks);
		break;
	case 11:
		advance(add(model.now, take_number()));
		break;
	case 12:
		advance(take_edge());
		break;
	case 13:
		advance(add(model.now, take()));
		break;
	default:
		next = check_next();
		if (next != TWHEEL_TIMERS_NEVER)
			advance(next);
	}
}

static void model_run(const uint8_t *data, size_t size)
{
	struct twheel_timer *timer;
	unsigned int i, kind, width;

	memset(&model, 0, sizeof(model));
	model.data = data;
	model.left = size;
	kind = take();
	model.now = take_number();
	if (kind & 1)
		model.now = ~model.now - 1;
	model.nr = (kind & 30) == 30 ? MANY : FEW;
	model.w = twheel_timers_new(model.now);
#ifdef TWHEEL_TIMERS_WIDTH
	width = TWHEEL_TIMERS_WIDTH;
#else
	width = kind & 64 ? take() % 25 : 0;
	twheel_timers_width(model.w, width);
#endif
	model.end = TWHEEL_TIMERS_NEVER - (1ULL << width);
	if (model.now > model.end)
		model.now = model.end;
	model.subjects = calloc(model.nr, sizeof(*model.subjects));
	if (!model.w || !model.subjects)
		abort();
	for (i = 0; i < model.nr; i++)
		create(&model.subjects[i]);
	while (model.left)
		operate();
	check_each();
	if (kind & 32)
		advance(TWHEEL_TIMERS_NEVER);
	while ((timer = twheel_timers_any(model.w)))
		stop(&model.subjects[timer->tag]);
	if (model.pending || twheel_timers_count(model.w))
		wrong("pending after all were stopped");
	for (i = 0; i < model.nr; i++)
		free(model.subjects[i].timer);
	free(model.subjects);
	twheel_timers_free(model.w);
}

#endif /* TIMERS_MODEL_H */
