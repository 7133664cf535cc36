/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Replacements for names in the sources of the module
 *
 * A node of the wheel is the program's timer, so nothing is converted.
 */
#ifdef __GNUC__
#pragma GCC diagnostic push
/* The sources have an unnamed union, unused functions, nested macros and mixed integer types. */
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

/*
 * Return the smaller, or larger, of two values that are not negative. The kernel's min() and max()
 * would need extensions of gcc.
 */
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

#define TWHEEL_SLOT_ASK(node)	((void)(node), false)

#define TWHEEL_HIER_BITS	TWHEEL_TIMERS_BITS
#define TWHEEL_HIER_ON_DEMAND	1

/* Width of a tick of the scheme @s, a power of two. A maximum of at least 1 keeps ROWS above 0. */
#ifdef TWHEEL_TIMERS_WIDTH
#define TWHEEL_TIMERS_WIDTH_MAX	(TWHEEL_TIMERS_WIDTH | 1U)
#define TWHEEL_SCHEME_SHIFT	TWHEEL_TIMERS_WIDTH
#else
#define TWHEEL_TIMERS_WIDTH_MAX	24U
#define TWHEEL_SCHEME_SHIFT	(s->shift)
#endif

enum twheel_scheme_type {
	TWHEEL_HIER,
};
