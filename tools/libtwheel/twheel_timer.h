/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Timers in the program's own structures, on a wheel of one thread
 *
 * A program embeds a struct twheel_timer, as a kernel module does. There are no ids, no
 * descriptor, no lock, no copy, and no memory except the wheel's 256 KiB:
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
 * Time is a number of ticks. The program chooses what a tick is, often a millisecond, and
 * reads the clock. Rounding is the program's, too: a deadline is rounded up to a tick and
 * the clock is rounded down, and so no timer is early.
 *
 * Each timer expires at its tick, at any distance. Ticks expire in order, and the timers
 * of a tick in the order in which they were started. A timer that was pushed back has a
 * place as if it had been started at some time between its first start and its expiry.
 *
 * Context: A wheel and its timers belong to one thread at a time. Nothing here blocks,
 * and only twheel_timers_new() and twheel_timers_free() call the C library's allocator.
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

/* The tick after the last one. A timer that is due then is pending and never expires. */
#define TWHEEL_TIMERS_NEVER	UINT64_MAX

/* Enough memory for twheel_timers_init(), also in later versions. */
#define TWHEEL_TIMERS_SIZE	(272 * 1024)

/* Other timers that one call moves within the wheel at most, if its caller allows no more. */
#define TWHEEL_TIMERS_MOVES	1024

typedef void (*twheel_timer_fn)(struct twheel_timer *timer);

/* private: neighbours in the wheel */
struct twheel_timer_link {
	struct twheel_timer_link *next, *prev;
};

/**
 * struct twheel_timer - a timer, 40 bytes
 * @link: private. Not NULL while the timer is pending
 * @expires: tick of the expiry, of the last one if the timer is not pending. Read only
 * @hint: private
 * @tag: for the program, which may tell its kinds of timers apart by it
 * @fn: function for twheel_timers_advance(). Not needed for twheel_timers_expired()
 *
 * Zeroed memory is a stopped timer. A pending timer must not be moved, copied or freed.
 */
struct twheel_timer {
	struct twheel_timer_link link;
	uint64_t expires;
	uint32_t hint;
	uint32_t tag;
	twheel_timer_fn fn;
};

/* private: a bit of @hint: the timer is pending, and a later tick needs no move */
#define TWHEEL_TIMER_STAYS	1U

/* The structure of @type whose @member is @timer. */
#define twheel_timer_container(timer, type, member) \
	((type *)((char *)(timer) - offsetof(type, member)))

/* A wheel. */
struct twheel_timers;

/**
 * twheel_timers_new() - make a wheel
 * @now: the present tick
 *
 * Return: the wheel, or NULL if there is no memory.
 */
struct twheel_timers *twheel_timers_new(uint64_t now);

/**
 * twheel_timers_init() - make a wheel in the program's memory
 * @memory: the memory, aligned as that of malloc(). The program frees it when it no longer
 *	uses the wheel
 * @size: size of @memory, TWHEEL_TIMERS_SIZE for example
 * @now: the present tick
 *
 * Return: the wheel, or NULL if @memory is too small.
 */
struct twheel_timers *twheel_timers_init(void *memory, size_t size, uint64_t now);

/**
 * twheel_timers_free() - free a wheel of twheel_timers_new()
 * @w: the wheel, or NULL
 *
 * Leaves pending timers alone, because their memory may be gone already. They look pending
 * for ever. twheel_timers_any() helps to stop them before.
 */
void twheel_timers_free(struct twheel_timers *w);

/**
 * twheel_timer_start() - start or restart a timer
 * @w: the wheel. A pending timer must be in this one
 * @timer: the timer, in any state
 * @expires: tick of the expiry. If the wheel has processed that tick already, the timer
 *	expires at the next one
 *
 * Context: Callbacks may call it, also for their own timer.
 */
void twheel_timer_start(struct twheel_timers *w, struct twheel_timer *timer, uint64_t expires);

/**
 * twheel_timer_push() - start or restart a timer, often to a later tick
 * @w: as in twheel_timer_start()
 * @timer: as there
 * @expires: as there
 *
 * The same as twheel_timer_start(). If a pending timer gets a later tick, which is what a
 * heartbeat does, most calls are a comparison and a store in the caller.
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
 * Context: Callbacks may call it for any timer. No callback of a stopped timer runs, and
 * its memory may be freed.
 * Return: true if the timer was pending.
 */
bool twheel_timer_stop(struct twheel_timers *w, struct twheel_timer *timer);

/**
 * twheel_timer_pending() - ask whether a timer is going to expire
 * @timer: the timer
 *
 * Return: true from a start until the timer is stopped or its callback begins.
 */
static inline bool twheel_timer_pending(const struct twheel_timer *timer)
{
	return timer->link.next;
}

/**
 * twheel_timers_advance() - call back the timers that are due
 * @w: the wheel
 * @now: the present tick. If the clock goes back, nothing expires until it is there again
 * @most: number of timers to call back at most
 *
 * Moves @most or TWHEEL_TIMERS_MOVES other timers within the wheel at most, whichever is
 * more. If a call ends early, twheel_timers_next() returns @now or an earlier tick.
 *
 * A timer is stopped when its callback begins. The callback may start, stop and free any
 * timer, also its own.
 *
 * Context: Not from a callback of the same wheel, nor may a callback free the wheel.
 * Return: number of timers that were called back.
 */
unsigned int twheel_timers_advance(struct twheel_timers *w, uint64_t now, unsigned int most);

/**
 * twheel_timers_expired() - take out a timer that is due
 * @w: the wheel
 * @now: as in twheel_timers_advance()
 *
 * For programs without callbacks, such as those in other languages. A program calls it
 * until it returns NULL. Each call moves TWHEEL_TIMERS_MOVES other timers at most.
 *
 * Return: the timer, which is stopped now, or NULL. With NULL, twheel_timers_next() returns
 * @now or an earlier tick if the call ended early.
 */
struct twheel_timer *twheel_timers_expired(struct twheel_timers *w, uint64_t now);

/**
 * twheel_timers_next() - ask how long the program may sleep
 * @w: the wheel
 *
 * Each start, stop and call of twheel_timers_advance() may change the answer, and so a
 * program asks shortly before it sleeps. Timers that were pushed back cause no call at
 * their old tick: this function moves up to TWHEEL_TIMERS_MOVES of them away.
 *
 * Return: the tick at which the next call of twheel_timers_advance() is due. No timer is
 * due earlier. Often one is due then; where many timers have to be moved the tick is
 * earlier. TWHEEL_TIMERS_NEVER if no timer is pending.
 */
uint64_t twheel_timers_next(struct twheel_timers *w);

/**
 * twheel_timers_count() - count the pending timers
 * @w: the wheel
 *
 * Return: their number.
 */
uint64_t twheel_timers_count(const struct twheel_timers *w);

/**
 * twheel_timers_each() - walk through the pending timers
 * @w: the wheel
 * @timer: the timer that the last call returned, still pending and not restarted since, or
 *	NULL to begin
 *
 * No timer may be started between the calls of a walk, nor may a timer other than @timer be
 * stopped. The order means nothing.
 *
 * Return: another pending timer, or NULL after the last.
 */
struct twheel_timer *twheel_timers_each(struct twheel_timers *w, const struct twheel_timer *timer);

/**
 * twheel_timers_any() - find a pending timer
 * @w: the wheel
 *
 * A program that ends stops and frees one after the other.
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
