/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the parts of the torture module share
 *
 * There are three kinds of timers. Each has its own way to know the exact fate
 * of every start:
 *
 *  locked   Each timer has an account with a lock, which is held around each
 *           call. Every return value and callback is checked at once
 *           (torture_locked.c).
 *  shared   All callers use the same few timers, with no lock at all. In the
 *           end the sum of return values and callbacks must come out even
 *           (torture_shared.c).
 *  work     As shared, but with work items (torture_work.c).
 *
 * The first two kinds share code that works on struct tt_timer.
 */
#ifndef _TWHEEL_TORTURE_H
#define _TWHEEL_TORTURE_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <linux/twheel.h>

/* Counting, in torture_count.c. */

enum tt_count {
	/* Events that happen. */
	TT_ARMED,	/* starts that returned 0 */
	TT_RESTARTED,	/* starts that returned 1 */
	TT_STOPPED,	/* stops that returned 1 */
	TT_EXPIRED,	/* callbacks */
	TT_DRAINED,	/* timers handed over by a drain */
	TT_RACED,	/* start or stop between expiry and callback */
	TT_SYNCED,	/* stops that waited */
	TT_SHUTDOWN,	/* shutdowns */
	TT_FORWARDED,	/* periods begun by twheel_forward() */
	TT_AGAIN,	/* starts by twheel_again_at() */
	TT_FROM_HARDIRQ,	/* calls from hard interrupt context */
	TT_FROM_SOFTIRQ,	/* calls from callbacks */
	TT_WORKED,	/* runs of work items */
	TT_HOTPLUGGED,	/* CPUs taken away and brought back */
	/* Errors. */
	TT_EARLY,	/* callback before the deadline */
	TT_LOST,	/* neither expired nor stopped after a start */
	TT_DOUBLED,	/* callback without a start */
	TT_OVERLAP,	/* two callbacks of one timer at a time */
	TT_STRAY,	/* callback on another CPU than the start's */
	TT_RUNNING,	/* callback still running after a stop that waits */
	TT_WRONG,	/* impossible return value */
	TT_NR_COUNTS,
	TT_FIRST_ERROR = TT_EARLY,
};

void tt_count(enum tt_count what);
void tt_note_lateness(const char *kind, unsigned int nr, s64 late_ns);
u64 tt_total(enum tt_count what);
u64 tt_errors(void);
void tt_counts_print(const char *when);
__printf(2, 3) void tt_error(enum tt_count what, const char *fmt, ...);

/* A round, in torture_main.c: one wheel with all its timers. */

/**
 * struct tt_params - the knobs that the parts read, constant during the run
 * @ntimers: locked timers
 * @nshared: shared timers
 * @hotplug_ms: time between hotplug changes of a CPU, or 0 for none
 * @late_ms: lateness of a timer to count as lost
 */
struct tt_params {
	unsigned int ntimers;
	unsigned int nshared;
	unsigned int hotplug_ms;
	unsigned int late_ms;
};

/**
 * struct tt_round - a round
 * @wheel: its wheel
 * @tick_ns: tick of @wheel
 * @quiet: the workers are gone, so callbacks must not start anything
 * @drains: begun plus ended drains, which is odd during a drain
 */
struct tt_round {
	struct twheel *wheel;
	u64 tick_ns;
	bool quiet;
	unsigned int drains;
};

extern struct tt_params tt_params;
extern struct tt_round tt_round;

/* Random numbers: xorshift, which is good enough and usable in any context. */

static inline u32 tt_random(u32 *state)
{
	u32 x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}

static inline u32 tt_random_below(u32 *state, u32 limit)
{
	return ((u64)tt_random(state) * limit) >> 32;
}

u32 tt_seed(unsigned int nr);
u64 tt_random_delay(u32 *rnd);
unsigned int tt_random_online_cpu(u32 *rnd);

/* Timers, in torture_main.c. */

struct tt_timer;

/**
 * struct tt_kind - a kind of timer
 * @expire: the callback, called at time @now
 * @drained: called when a drain hands over the timer
 */
struct tt_kind {
	void (*expire)(struct tt_timer *t, ktime_t now);
	void (*drained)(struct tt_timer *t);
};

/**
 * struct tt_timer - a timer of one of the first two kinds
 * @timer: the timer
 * @kind: its kind
 */
struct tt_timer {
	struct twheel_timer timer;
	const struct tt_kind *kind;
};

void tt_setup(struct tt_timer *t, const struct tt_kind *kind);
int tt_again_at(struct tt_timer *t, ktime_t deadline);
unsigned long tt_drain(void);

/* The kinds. */

int tt_locked_setup(void);
void tt_locked_op(u32 *rnd, unsigned int first, unsigned int nr);
void tt_locked_sync_op(u32 *rnd, unsigned int first, unsigned int nr);
void tt_locked_finish(void);

int tt_shared_setup(void);
void tt_shared_op(u32 *rnd);
void tt_shared_sync_op(u32 *rnd);
void tt_shared_finish(void);

int tt_work_setup(const struct twheel_config *config);
void tt_work_op(u32 *rnd);
void tt_work_flush_op(u32 *rnd);
void tt_work_finish(void);

/* The workers. */

int tt_workers_start(void);
void tt_workers_stop(void);
void tt_caller_op(u32 *rnd);

/* CPU hotplug. */

#ifdef CONFIG_HOTPLUG_CPU
int tt_hotplug_start(void);
void tt_hotplug_stop(void);
unsigned int tt_hotplug_epoch(void);
#else
static inline int tt_hotplug_start(void)
{
	return 0;
}

static inline void tt_hotplug_stop(void)
{
}

static inline unsigned int tt_hotplug_epoch(void)
{
	return 0;
}
#endif

#endif /* _TWHEEL_TORTURE_H */
