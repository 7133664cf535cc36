/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Replacements for names in the sources of the module
 *
 * A node of the wheel is the program's timer, so nothing is converted.
 */
#pragma GCC diagnostic push
/* An unnamed union, unused functions, macros within macros */
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"

#define twheel_node		twheel_timer
#define list_head		twheel_timer_link
#define HAS_LIST_HEAD
/* A keyword of C++ */
#define new			fresh

/* A wheel belongs to one thread. */
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))

#define MOVES_PER_WAKEUP	TWHEEL_TIMERS_MOVES

enum twheel_scheme_type {
	TWHEEL_HIER,
};
