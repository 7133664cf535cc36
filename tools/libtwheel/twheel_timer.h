/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Timers in the program's own structures, on a wheel of one thread
 *
 * A program embeds a struct twheel_timer, as a kernel module does. There are no
 * ids, descriptors, locks or copies, and no memory but 268 KiB for the wheel, of which an
 * empty wheel uses 64 KiB:
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
 * Time is a number of units that the program chooses, often milliseconds, microseconds or
 * nanoseconds. The program reads the clock. It rounds deadlines up to a unit and the
 * clock down, so that no timer expires early. A slot of the wheel should be as wide
 * as about a millisecond: see twheel_timers_width().
 *
 * Each timer expires at its deadline, at any distance. Timers expire in the order of their
 * deadlines, and timers with one deadline in the order of their starts. After a push to a later
 * deadline, the start of a timer counts as any time between its first start and its
 * expiry. A timer that is due when it is started expires in the next call.
 *
 * Context: A wheel and its timers belong to one thread at a time. Nothing here
 * blocks, and only twheel_timers_new() and twheel_timers_free() call the C
 * library's allocator.
 *
 * A program that compiles twheel_timer.c itself may define these macros, the same ones for
 * all of its files:
 *
 *	TWHEEL_TIMERS_WIDTH	width of slots, if it is constant: see twheel_timers_width(). Saves
 *				2 % of the instructions
 *	TWHEEL_TIMERS_BITS	5 to 8: slots in a window, as a power of two. An empty wheel of 5
 *				bits uses 8 KiB, and moves timers more often
 *	TWHEEL_TIMERS_API	what precedes the declaration of a function, such as static
 *	TWHEEL_TIMERS_PREFIX	what precedes the names of functions, so that two libraries
 *				in one program can have the file
 */
#ifndef TWHEEL_TIMER_H
#define TWHEEL_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Version of twheel, for #if */
#define TWHEEL_VERSION_MAJOR	1
#define TWHEEL_VERSION_MINOR	0
#define TWHEEL_VERSION_PATCH	0

#ifndef TWHEEL_TIMERS_API
#define TWHEEL_TIMERS_API
#endif

#ifdef TWHEEL_TIMERS_PREFIX
#define TWHEEL_TIMERS_JOIN(prefix, name)	prefix ## name
#define TWHEEL_TIMERS_NAME(prefix, name)	TWHEEL_TIMERS_JOIN(prefix, name)
#define twheel_timer_start	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timer_start)
#define twheel_timer_stop	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timer_stop)
#define twheel_timers_advance	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timers_advance)
#define twheel_timers_count	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timers_count)
#define twheel_timers_each	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timers_each)
#define twheel_timers_expired	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timers_expired)
#define twheel_timers_free	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timers_free)
#define twheel_timers_init	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timers_init)
#define twheel_timers_new	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timers_new)
#define twheel_timers_next	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timers_next)
#define twheel_timers_shift	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timers_shift)
#define twheel_timers_width	TWHEEL_TIMERS_NAME(TWHEEL_TIMERS_PREFIX, twheel_timers_width)
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct twheel_timer;

/* Deadline of timers that are pending and never expire. */
#define TWHEEL_TIMERS_NEVER	UINT64_MAX

#ifndef TWHEEL_TIMERS_BITS
#define TWHEEL_TIMERS_BITS	8
#endif

/* Enough memory for twheel_timers_init(), also in later versions: 288 KiB with 8 bits. */
#define TWHEEL_TIMERS_SIZE \
	((63 / TWHEEL_TIMERS_BITS + 1) * (128U << TWHEEL_TIMERS_BITS) + 32U * 1024)

/*
 * Maximum number of timers that a call moves within the wheel, unless its caller allows more.
 * Timers that expire do not count.
 */
#define TWHEEL_TIMERS_MOVES	2048

typedef void (*twheel_timer_fn)(struct twheel_timer *timer);

/* private: links in the wheel */
struct twheel_timer_link {
	struct twheel_timer_link *next, *prev;
};

/**
 * struct twheel_timer - a timer, 40 bytes
 * @link: private. Not NULL while the timer is pending
 * @expires: deadline, or last one if the timer is not pending. Read only
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

/* private: bit of @hint: the timer is pending, and may get a later deadline without a move */
#define TWHEEL_TIMER_STAYS	1U

/**
 * twheel_timer_container - return the structure that a timer is a member of
 * @timer: the timer
 * @type: type of the structure
 * @member: name of the member
 *
 * Return: a pointer to the structure.
 */
#define twheel_timer_container(timer, type, member) \
	((type *)((char *)(timer) - offsetof(type, member)))

/* A wheel. */
struct twheel_timers;

/**
 * twheel_timer_init() - initialise a timer, as an alternative to zeroed memory
 * @timer: the timer, which is not pending
 * @fn: function for twheel_timers_advance(), or NULL
 */
static inline void twheel_timer_init(struct twheel_timer *timer, twheel_timer_fn fn)
{
	timer->link.next = NULL;
	timer->expires = 0;
	timer->hint = 0;
	timer->tag = 0;
	timer->fn = fn;
}

/**
 * twheel_timers_new() - create a wheel
 * @now: current time
 *
 * Return: the wheel, or NULL if there is no memory.
 */
TWHEEL_TIMERS_API
struct twheel_timers *twheel_timers_new(uint64_t now);

/**
 * twheel_timers_init() - create a wheel in the program's memory
 * @memory: memory, aligned as by malloc(). The program frees it after its last
 *	use of the wheel
 * @size: size of @memory, for example TWHEEL_TIMERS_SIZE
 * @now: current time
 *
 * Return: the wheel, or NULL if @memory is too small.
 */
TWHEEL_TIMERS_API
struct twheel_timers *twheel_timers_init(void *memory, size_t size, uint64_t now);

#ifndef TWHEEL_TIMERS_WIDTH
/**
 * twheel_timers_width() - choose how many units of time share a slot
 * @w: a new wheel, on which no timer was started
 * @bits: power of two: a slot is 2^@bits units wide. @bits is 24 at most. A new wheel begins
 *	with 0, which is right for milliseconds. Use 10 for microseconds, 20 for nanoseconds
 *
 * Timers expire at their deadlines with any width. The timers of a slot are put in
 * order when it is due. So wide slots cost little for timers that are usually stopped or pushed
 * before, and narrow slots cost time to skip the empty ones.
 */
TWHEEL_TIMERS_API
void twheel_timers_width(struct twheel_timers *w, unsigned int bits);
#endif

/**
 * twheel_timers_free() - free a wheel from twheel_timers_new()
 * @w: the wheel, or NULL
 *
 * Does not access pending timers, because their memory may be gone. They look
 * pending for ever. To stop them before, use twheel_timers_any().
 */
TWHEEL_TIMERS_API
void twheel_timers_free(struct twheel_timers *w);

/**
 * twheel_timer_start() - start or restart a timer
 * @w: the wheel. If the timer is pending, it must be in this wheel
 * @timer: the timer, in any state
 * @expires: deadline. The latest time passed to the wheel, or an earlier one, is due at
 *	the next call of twheel_timers_advance(), and never in the present one
 *
 * Context: May be called by callbacks, also for their own timer.
 */
TWHEEL_TIMERS_API
void twheel_timer_start(struct twheel_timers *w, struct twheel_timer *timer, uint64_t expires);

/**
 * twheel_timer_push() - start or restart a timer, often to a later deadline
 * @w: see twheel_timer_start()
 * @timer: see twheel_timer_start()
 * @expires: see twheel_timer_start()
 *
 * Equivalent to twheel_timer_start(). For a pending timer and a later deadline, as
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
 * twheel_timer_start_between() - start or restart a timer that may expire within a range of times
 * @w: see twheel_timer_start()
 * @timer: see twheel_timer_start()
 * @earliest: earliest deadline
 * @latest: latest deadline, not before @earliest
 *
 * Chooses the deadline in the range that is a multiple of the highest power of two. Timers with
 * similar ranges get the same deadline, so that one wake-up serves them. A pending timer whose
 * deadline is in the range keeps it.
 */
static inline void twheel_timer_start_between(struct twheel_timers *w, struct twheel_timer *timer,
					      uint64_t earliest, uint64_t latest)
{
	uint64_t below = earliest ? latest ^ (earliest - 1) : UINT64_MAX;
	unsigned int i;

	if (timer->link.next && timer->expires >= earliest && timer->expires <= latest)
		return;
	/*
	 * Keep the highest bit in which @latest differs from @earliest - 1, and clear the lower
	 * ones.
	 */
	for (i = 1; i < 64; i *= 2)
		below |= below >> i;
	twheel_timer_start(w, timer, earliest ? latest & ~(below >> 1) : 0);
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
TWHEEL_TIMERS_API
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
 * @now: current time. If it is before the time of an earlier call, only timers that were due at
 *	that call expire: see twheel_timers_shift()
 * @most: limit of functions called
 *
 * Moves at most @most or TWHEEL_TIMERS_MOVES other timers within the wheel,
 * whichever is more. If a call ends early, twheel_timers_next() returns @now or
 * an earlier time.
 *
 * A timer is stopped when its callback begins. The callback may start, stop and
 * free any timer, including its own.
 *
 * Context: Not from a callback of the wheel, which must not free it either.
 * Return: number of functions called.
 */
TWHEEL_TIMERS_API
unsigned int twheel_timers_advance(struct twheel_timers *w, uint64_t now, unsigned int most);

/**
 * twheel_timers_expired() - take out a due timer
 * @w: the wheel
 * @now: see twheel_timers_advance()
 *
 * For programs without callbacks, as in Rust. Call it until it returns NULL. To let these calls
 * come to an end, a timer that the program starts between them, and that is due at once, is
 * returned only after the NULL. Each call moves at most TWHEEL_TIMERS_MOVES other timers.
 *
 * Return: the timer, which is stopped, or NULL. After NULL,
 * twheel_timers_next() returns @now or an earlier time if the call ended early.
 */
TWHEEL_TIMERS_API
struct twheel_timer *twheel_timers_expired(struct twheel_timers *w, uint64_t now);

/**
 * twheel_timers_next() - return until when the program may sleep
 * @w: the wheel
 *
 * Each start, stop and call of twheel_timers_advance() may change the result,
 * so call this shortly before sleeping. Timers that were pushed to a later deadline
 * cause no wake-up at their old one: this function moves up to
 * TWHEEL_TIMERS_MOVES of them away.
 *
 * A loop whose timers other threads start, with a lock around the wheel, keeps the result while
 * it sleeps. A thread that starts a timer wakes the loop up if this function then returns less.
 *
 * Return: the time at which to call twheel_timers_advance() next. No timer is
 * due earlier. Usually a timer is due then; if many timers have to be moved the
 * time is earlier. TWHEEL_TIMERS_NEVER if no timer is pending.
 */
TWHEEL_TIMERS_API
uint64_t twheel_timers_next(struct twheel_timers *w);

/**
 * twheel_timers_shift() - move the time of the wheel, after the program's clock was set
 * @w: the wheel
 * @by: difference between the new time of the clock and the old one, negative if it was set back
 *
 * Moves the deadline of each pending timer, so that the time until the deadline is the same as
 * before. Deadlines end at 0 and before TWHEEL_TIMERS_NEVER. Timers that are due already expire
 * in any order. Takes time in proportion to the number of timers.
 *
 * Without this, timers that are started after the clock was set back are due at once, and the
 * others wait until the clock is where it was.
 *
 * Context: Not from a callback of the wheel.
 */
TWHEEL_TIMERS_API
void twheel_timers_shift(struct twheel_timers *w, int64_t by);

/**
 * twheel_timers_count() - return the number of pending timers
 * @w: the wheel
 *
 * Return: the number.
 */
TWHEEL_TIMERS_API
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
TWHEEL_TIMERS_API
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
