/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the parts of the torture module share
 *
 * Callers on all CPUs use the same timers (torture_shared.c) and works (torture_work.c), without a
 * lock. So the right result of a call is not known, but at the end, the number of starts must equal
 * the number of callbacks and stops. The simulated machine (tests/wheel/simulation) checks the
 * results of single calls.
 */
#ifndef _TWHEEL_TORTURE_H
#define _TWHEEL_TORTURE_H

#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <linux/twheel.h>

/* Counters, summed and checked by torture_main.c. */

enum tt_count {
	TT_ARMED,	/* starts that returned 0 */
	TT_RESTARTED,	/* starts that returned 1 */
	TT_STOPPED,	/* stops that returned 1 */
	TT_EXPIRED,	/* callbacks */
	TT_DRAINED,	/* timers handed over by a drain */
	TT_SYNCED,	/* calls that wait for the callback or work */
	TT_AGAIN,	/* starts by twheel_again_at() */
	TT_STORED,	/* deadlines stored for timers that the wheel asks for their deadlines */
	TT_FROM_HARDIRQ,	/* calls from hard interrupt context */
	TT_FROM_SOFTIRQ,	/* calls from callbacks */
	TT_WORKED,	/* runs of work items */
	TT_HOTPLUGGED,	/* times that a CPU went offline and came back */
	TT_ERRORS,
	TT_NR_COUNTS,
};

void tt_count(enum tt_count what);
__printf(1, 2) void tt_error(const char *fmt, ...);

/* A round, in torture_main.c: one wheel with all its timers. */

/**
 * struct tt_round - a round
 * @wheel: wheel of the round
 * @tick_ns: length of a tick of @wheel
 * @quiet: the threads have ended, and callbacks must not start timers or works any more
 */
struct tt_round {
	struct twheel *wheel;
	u64 tick_ns;
	bool quiet;
};

extern struct tt_round tt_round;

/* Parameters of the module. */
extern unsigned int tt_nshared;
extern unsigned int tt_hotplug_ms;

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
unsigned int tt_random_online_cpu(u32 *rnd);

/* Functions of timers and works. */

int tt_shared_setup(void);
void tt_shared_op(u32 *rnd);
void tt_shared_sync_op(u32 *rnd);
void tt_shared_drained(struct twheel_timer *timer);
void tt_shared_finish(void);

int tt_work_setup(const struct twheel_config *config);
void tt_work_op(u32 *rnd);
void tt_work_flush_op(u32 *rnd);
void tt_work_finish(void);

/* Functions of the threads. */

int tt_workers_start(void);
void tt_workers_stop(void);
void tt_caller_op(u32 *rnd);
int tt_hotplug_start(void);
void tt_hotplug_stop(void);

#endif /* _TWHEEL_TORTURE_H */
