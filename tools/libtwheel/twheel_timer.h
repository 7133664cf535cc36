/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Timers in the program's own structures, on a wheel of one thread
 *
 * A program embeds a struct twheel_timer, as a kernel module does. There are no
 * ids, descriptors, locks or copies, and no memory but 256 KiB for the wheel:
 *
 *	struct connection {
 *		struct twheel_timer idle;
 *		int fd;
 *	};
 *
 *	static void on_idle(struct twheel_timer *timer)
 *	{
 *		close(twheel_timer_container(timer, struct connection, idle)->fd);
 *	}
 *
 *	c->idle.fn = on_idle;
 *	twheel_timer_start(wheel, &c->idle, now + 30000);	 a connection opens
 *	twheel_timer_push(wheel, &c->idle, now + 30000);	 it sends something
 *	twheel_timer_stop(wheel, &c->idle);			 it closes
 *
 *	for (;;) {
 *		sleep at most until twheel_timers_next(wheel);
 *		now = read the clock;
 *		twheel_timers_advance(wheel, now, UINT_MAX);
 *	}
 *
 * Time is a number of ticks. The program decides how long a tick is, often a
 * millisecond, and reads the clock. It rounds deadlines up to a tick and the
 * clock down, so that no timer expires early.
 *
 * Each timer expires at its tick, at any distance. Ticks expire in order, and
 * the timers of a tick in the order of their starts. After a push to a later
 * tick, the start of a timer counts as any time between its first start and its
 * expiry.
 *
 * Context: A wheel and its timers belong to one thread at a time. Nothing here
 * blocks, and only twheel_timers_new() and twheel_timers_free() call the C
 * library's allocator.
 */
#ifndef TWHEEL_TIMER_H
#define TWHEEL_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct twheel_timer;

/* Tick of timers that are pending and never expire. */
#define TWHEEL_TIMERS_NEVER	UINT64_MAX

/* Enough memory for twheel_timers_init(), also in later versions. */
#define TWHEEL_TIMERS_SIZE	(272 * 1024)

/* Limit of other timers moved within the wheel by one call, unless its caller allows more. */
#define TWHEEL_TIMERS_MOVES	2048

typedef void (*twheel_timer_fn)(struct twheel_timer *timer);

/* private: links in the wheel */
struct twheel_timer_link {
	struct twheel_timer_link *next, *prev;
};

/**
 * struct twheel_timer - a timer, 40 bytes
 * @link: private. Not NULL while the timer is pending
 * @expires: expiry tick, or last one if the timer is not pending. Read only
 * @hint: private
 * @tag: value for the program, for example to tell kinds of timers apart
 * @fn: function for twheel_timers_advance(). Unused by twheel_timers_expired()
 *
 * Zeroed memory is a stopped timer. A pending timer must not be moved, copied
 * or freed.
 */
struct twheel_timer {
	struct twheel_timer_link link;
	uint64_t expires;
	uint32_t hint;
	uint32_t tag;
	twheel_timer_fn fn;
};

/* private: bit of @hint: the timer is pending, and may get a later tick without a move */
#define TWHEEL_TIMER_STAYS	1U

/* Returns the structure of @type whose @member is @timer. */
#define twheel_timer_container(timer, type, member) \
	((type *)((char *)(timer) - offsetof(type, member)))

/* A wheel. */
struct twheel_timers;

/**
 * twheel_timers_new() - create a wheel
 * @now: current tick
 *
 * Return: the wheel, or NULL if there is no memory.
 */
struct twheel_timers *twheel_timers_new(uint64_t now);

/**
 * twheel_timers_init() - create a wheel in the program's memory
 * @memory: memory, aligned as by malloc(). The program frees it after its last
 *	use of the wheel
 * @size: size of @memory, for example TWHEEL_TIMERS_SIZE
 * @now: current tick
 *
 * Return: the wheel, or NULL if @memory is too small.
 */
struct twheel_timers *twheel_timers_init(void *memory, size_t size, uint64_t now);

/**
 * twheel_timers_free() - free a wheel from twheel_timers_new()
 * @w: the wheel, or NULL
 *
 * Does not access pending timers, because their memory may be gone. They look
 * pending for ever. To stop them before, use twheel_timers_any().
 */
void twheel_timers_free(struct twheel_timers *w);

/**
 * twheel_timer_start() - start or restart a timer
 * @w: the wheel. A pending timer must be in this one
 * @timer: the timer, in any state
 * @expires: expiry tick. If the wheel processed that tick already, the timer
 *	expires at the next one
 *
 * Context: May be called by callbacks, also for their own timer.
 */
void twheel_timer_start(struct twheel_timers *w, struct twheel_timer *timer, uint64_t expires);

/**
 * twheel_timer_push() - start or restart a timer, often to a later tick
 * @w: see twheel_timer_start()
 * @timer: see there
 * @expires: see there
 *
 * Equivalent to twheel_timer_start(). For a pending timer and a later tick, as
 * in a heartbeat, most calls are an inlined comparison and a store.
 */
static inline void twheel_timer_push(struct twheel_timers *w, struct twheel_timer *timer,
				     uint64_t expires)
{
	if (expires >= timer->expires && timer->hint & TWHEEL_TIMER_STAYS)
		timer->expires = expires;
	else
		twheel_timer_start(w, timer, expires);
}

/**
 * twheel_timer_stop() - stop a timer
 * @w: its wheel
 * @timer: the timer, in any state
 *
 * Context: May be called by callbacks for any timer. The callback of a stopped
 * timer is not called, and its memory may be freed.
 * Return: true if the timer was pending.
 */
bool twheel_timer_stop(struct twheel_timers *w, struct twheel_timer *timer);

/**
 * twheel_timer_pending() - return whether a timer is pending
 * @timer: the timer
 *
 * Return: true from a start until the timer is stopped or its callback begins.
 */
static inline bool twheel_timer_pending(const struct twheel_timer *timer)
{
	return timer->link.next;
}

/**
 * twheel_timers_advance() - call the functions of due timers
 * @w: the wheel
 * @now: current tick. Nothing expires while it is behind an earlier one
 * @most: limit of functions called
 *
 * Moves at most @most or TWHEEL_TIMERS_MOVES other timers within the wheel,
 * whichever is more. If a call ends early, twheel_timers_next() returns @now or
 * an earlier tick.
 *
 * A timer is stopped when its callback begins. The callback may start, stop and
 * free any timer, including its own.
 *
 * Context: Not from a callback of the wheel, which must not free it either.
 * Return: number of functions called.
 */
unsigned int twheel_timers_advance(struct twheel_timers *w, uint64_t now, unsigned int most);

/**
 * twheel_timers_expired() - take out a due timer
 * @w: the wheel
 * @now: see twheel_timers_advance()
 *
 * For programs without callbacks, as in Rust. Call it until it returns NULL. Each
 * call moves at most TWHEEL_TIMERS_MOVES other timers.
 *
 * Return: the timer, which is stopped, or NULL. After NULL,
 * twheel_timers_next() returns @now or an earlier tick if the call ended early.
 */
struct twheel_timer *twheel_timers_expired(struct twheel_timers *w, uint64_t now);

/**
 * twheel_timers_next() - return until when the program may sleep
 * @w: the wheel
 *
 * Each start, stop and call of twheel_timers_advance() may change the result,
 * so call this shortly before sleeping. Timers that were pushed to a later tick
 * cause no wake-up at their old one: this function moves up to
 * TWHEEL_TIMERS_MOVES of them away.
 *
 * Return: the tick at which to call twheel_timers_advance() next. No timer is
 * due earlier. Usually a timer is due then; if many timers have to be moved the
 * tick is earlier. TWHEEL_TIMERS_NEVER if no timer is pending.
 */
uint64_t twheel_timers_next(struct twheel_timers *w);

/* Returns the number of pending timers. */
uint64_t twheel_timers_count(const struct twheel_timers *w);

/**
 * twheel_timers_each() - iterate over the pending timers
 * @w: the wheel
 * @timer: timer from the last call, still pending and not restarted since, or
 *	NULL to begin
 *
 * Between the calls, no timer may be started, and no timer except @timer may be
 * stopped. The order is unspecified.
 *
 * Return: another pending timer, or NULL after the last.
 */
struct twheel_timer *twheel_timers_each(struct twheel_timers *w, const struct twheel_timer *timer);

/**
 * twheel_timers_any() - return a pending timer
 * @w: the wheel
 *
 * For programs that stop and free all timers before they end.
 *
 * Return: a timer, still pending, or NULL if there is none.
 */
static inline struct twheel_timer *twheel_timers_any(struct twheel_timers *w)
{
	return twheel_timers_each(w, NULL);
}

#ifdef __cplusplus
}
#endif

#endif /* TWHEEL_TIMER_H */
