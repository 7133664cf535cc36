/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Replacements for names in the sources of the module
 *
 * A node of the wheel is the program's timer, so nothing is converted.
 */
#ifdef __GNUC__
#pragma GCC diagnostic push
/* An unnamed union, unused functions, macros within macros, the kernel's mixture of integers */
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

#define twheel_node		twheel_timer
#define list_head		twheel_timer_link
#define HAS_LIST_HEAD
/* A keyword of C++ */
#define new			fresh

/* A wheel belongs to one thread. */
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))

/* Without extensions of gcc, and each argument is evaluated once. None is negative. */
static inline unsigned long long twheel_min(unsigned long long x, unsigned long long y)
{
	return x < y ? x : y;
}

static inline unsigned long long twheel_max(unsigned long long x, unsigned long long y)
{
	return x > y ? x : y;
}

#define min(x, y)		twheel_min(x, y)
#define max(x, y)		twheel_max(x, y)
#define min_t(type, x, y)	((type)twheel_min((type)(x), (type)(y)))
#define clamp_t(type, x, lo, hi) \
	min_t(type, twheel_max((type)(x), (type)(lo)), hi)

#define MOVES_PER_WAKEUP	TWHEEL_TIMERS_MOVES

#define TWHEEL_HIER_BITS	TWHEEL_TIMERS_BITS

/* A tick is 2^TWHEEL_SHIFT units of a deadline. */
#ifdef TWHEEL_TIMERS_WIDTH
/* At least 1, so that there is a row. */
#define TWHEEL_TIMERS_WIDTH_MAX	(TWHEEL_TIMERS_WIDTH | 1U)
#define TWHEEL_SHIFT(s)		TWHEEL_TIMERS_WIDTH
#else
#define TWHEEL_TIMERS_WIDTH_MAX	24U
#define TWHEEL_SHIFT(s)		((s)->shift)
#endif
#define TWHEEL_TICK(s, expires)	((expires) >> TWHEEL_SHIFT(s))
/* Timers of the clock's tick are not in a slot. */
#define TWHEEL_TICK_AHEAD	TWHEEL_TICK
/* The last window may end beyond the last deadline. */
#define TWHEEL_DEADLINE(s, tick) \
	((tick) > U64_MAX >> TWHEEL_SHIFT(s) ? U64_MAX : (tick) << TWHEEL_SHIFT(s))

enum twheel_scheme_type {
	TWHEEL_HIER,
};
