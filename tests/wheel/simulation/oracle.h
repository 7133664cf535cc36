/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promises of twheel, and a record of our own to judge it by
 */
#ifndef _ORACLE_H
#define _ORACLE_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>

#include "core/base.h"

/* Most runtime, longest pause and most timers between two looks, as documented. */
#define RUN_NS_MAX	(250 * NSEC_PER_USEC)
#define PAUSE_NS_MAX	(1000 * NSEC_PER_USEC)
#define PAID_DEBT_NS_MAX	(12 * 1000 * NSEC_PER_USEC)
#define PAID_PAUSE_NS_MAX	(1100 * 1000 * NSEC_PER_USEC)
#define TIMERS_PER_CHECK	64
#define TIMERS_PER_RUN	1024
#define TIMERS_PER_LOCK	64
#define MOVES_PER_TICK	64

enum oracle_expect {
	EXPECT_UNKNOWN,
	EXPECT_IDLE,
	EXPECT_PENDING,
};

/* A timer, and the record of it */
struct oracle_timer {
	struct twheel_timer timer;
	unsigned int nr;
	bool private;			/* one task alone starts and stops it */
	bool plain;			/* its callback does not start it */
	int in_flight;			/* calls under way that may start it */
	u64 early;			/* no callback comes before that, ns */
	u64 saved_early;		/* @early before the calls under way */
	u64 next_early;			/* the same after those of them that have returned */
	u64 due;			/* time of the tick at which it is due at the latest */
	u64 next_due;			/* the same after the calls under way */
	bool any;			/* one of the calls under way has started it */
	bool mixed;			/* there was more than one of them at a time */
	bool known;			/* its deadline is from @low to @high */
	u64 low;			/* the least that its deadline can be */
	u64 high;			/* and the most */
	/* Whether it is pending, for one that is private and plain */
	enum oracle_expect expect;
	bool quiet;			/* stop_sync() has returned */
	bool strict;			/* it was started once and not touched since */
	u64 began;			/* when its last start began, as a number */
	u64 ended;			/* when that start returned */
	bool running;			/* it has expired, and its callback has not returned */
	bool called;			/* its callback has begun */
	u64 begun;			/* starts that have begun */
	u64 started;			/* starts that found it not pending */
	u64 stopped;			/* stops that found it pending */
	u64 expired;			/* callbacks */
};

/* A call under way */
struct oracle_call {
	u64 low;	/* the least that the deadline can be */
	u64 began;	/* when it began, as a number */
	u64 expired;	/* callbacks of the timer until then */
	bool running;	/* its callback ran then */
	bool unknown;	/* it does not say whether the timer was pending */
	bool old;	/* it may count as made before a call that has returned */
};

void oracle_begin(void);
void oracle_add(struct oracle_timer *t);
void oracle_starts(struct oracle_timer *t, struct oracle_call *call, u64 low);
void oracle_started(struct oracle_timer *t, struct oracle_call *call, u64 high,
		    bool done, bool was_pending);
void oracle_begin_call(struct oracle_timer *t, struct oracle_call *call);
void oracle_stopped(struct oracle_timer *t, struct oracle_call *call, bool was,
		    bool sync);
void oracle_drained(struct oracle_timer *t);
void oracle_callback(struct oracle_timer *t);
void oracle_callback_ends(struct oracle_timer *t);
void oracle_cpu_goes(void);
void oracle_cpu_gone(void);
bool oracle_any_late(void);
void oracle_end(void);

void oracle_begin_bases(void);
void oracle_lateness(const struct twheel_timer *timer);

/* Called by the machine. */
void oracle_new_base(struct hrtimer *hrtimer);
void oracle_kick_sent(struct twheel_base *base);
void oracle_kick_comes(struct twheel_base *base);
void oracle_kicked(struct twheel_base *base);
void oracle_run_begins(struct hrtimer *hrtimer);
void oracle_run_ends(struct hrtimer *hrtimer);
bool oracle_is_held_up(u64 time);
unsigned int oracle_runs(void);
void oracle_run_over(const struct twheel_base *base, u64 began);
void oracle_locked(struct sim_lock *lock);
void oracle_unlock(struct sim_lock *lock);

#endif /* _ORACLE_H */
