/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promises of twheel, and the records of timers by which they are checked
 */
#ifndef _ORACLE_H
#define _ORACLE_H

#include <linux/hrtimer.h>
#include <linux/spinlock.h>

#include "core/base.h"

/* Documented limits: of runtimes and pauses, and of the timers of a run, a hold or a tick. */
#define RUN_NS_MAX	(250 * NSEC_PER_USEC)
#define PAUSE_NS_MAX	(1000 * NSEC_PER_USEC)
#define PAID_DEBT_NS_MAX	(12 * 1000 * NSEC_PER_USEC)
#define PAID_PAUSE_NS_MAX	(1100 * 1000 * NSEC_PER_USEC)
#define TIMERS_PER_CHECK	64
#define TIMERS_PER_RUN	1024
#define TIMERS_PER_LOCK	64
#define MOVES_PER_TICK	512

enum oracle_expect {
	EXPECT_UNKNOWN,
	EXPECT_IDLE,
	EXPECT_PENDING,
};

#define ORACLE_LATER		8

/* A timer and its record */
struct oracle_timer {
	union {
		struct twheel_asked_timer asked;
		struct twheel_timer timer;
	};
	unsigned int nr;
	bool private;			/* flag: only one task starts and stops the timer */
	bool plain;			/* flag: the callback does not start the timer */
	int in_flight;			/* number of calls in progress that may start the timer */
	u64 early;			/* earliest time of a callback, ns */
	u64 saved_early;		/* @early before the calls in progress */
	u64 next_early;			/* @early after the calls that returned */
	u64 due;			/* time of the latest tick that the timer may be due at */
	u64 next_due;			/* @due after the calls in progress */
	bool any;			/* flag: one of the calls in progress started the timer */
	bool mixed;			/* flag: two calls that may start the timer overlapped */
	bool known;			/* flag: the deadline is from @low to @high */
	u64 low;			/* lower bound of the deadline */
	u64 high;			/* upper bound of the deadline */
	/* State, if @private and @plain */
	enum oracle_expect expect;
	bool quiet;			/* flag: stop_sync() returned, and no start followed */
	bool strict;			/* flag: the last start alone decides on its order */
	u64 began;			/* order of the beginning of the last start */
	u64 ended;			/* order of the return of the last start */
	bool running;			/* flag: expired, and the callback did not return yet */
	bool called;			/* flag: the callback began */
	/* Deadlines that the owner stores, if @asks */
	bool asks;			/* flag: the wheel asks for the deadline */
	u64 word;			/* the deadline stored last */
	u64 found;			/* deadline that the wheel found when it last asked */
	u64 word_due;			/* latest tick of the words that the wheel may have found */
	u64 next_word_due;		/* @word_due after the call in progress */
	struct {
		u64 word;
		u64 order;		/* order of the return of the store, U64_MAX until then */
	} stores[ORACLE_LATER];	/* last stores */
	unsigned int nr_stores;		/* number of stores */
	u64 begun;			/* number of starts that began */
	u64 started;			/* number of starts that found the timer not pending */
	u64 stopped;			/* number of stops that found the timer pending */
	u64 expired;			/* number of callbacks */
};

/* A call in progress */
struct oracle_call {
	u64 low;	/* lower bound of the deadline */
	u64 began;	/* order of its beginning */
	u64 expired;	/* number of callbacks before the call */
	bool running;	/* flag: the callback ran when the call began */
	bool unknown;	/* flag: the result does not tell whether the timer was pending */
	bool old;	/* flag: the call may count as made before an earlier call */
	bool keeps;	/* flag: the timer may keep the deadline that it had */
};

void oracle_begin(void);
void oracle_add(struct oracle_timer *t);
void oracle_starts(struct oracle_timer *t, struct oracle_call *call, u64 low);
void oracle_started(struct oracle_timer *t, struct oracle_call *call, u64 high,
		    bool done, bool was_pending);
void oracle_begin_call(struct oracle_timer *t, struct oracle_call *call);
void oracle_waited(const struct oracle_timer *t, const struct oracle_call *call);
void oracle_stopped(struct oracle_timer *t, struct oracle_call *call, bool was,
		    bool sync);
void oracle_drained(struct oracle_timer *t);
void oracle_store(struct oracle_timer *t, u64 word);
void oracle_callback(struct oracle_timer *t);
void oracle_callback_ends(struct oracle_timer *t);
void oracle_cpu_goes(void);
void oracle_cpu_gone(void);
bool oracle_any_late(void);
void oracle_end(void);

void oracle_begin_bases(void);
void oracle_check_hold(const char *what, u64 done, u64 limit);
u64 oracle_next_order(void);
bool oracle_is_before_lock(u64 order);
void oracle_lateness(const struct twheel_timer *timer);

/* Called by the machine. */
void oracle_new_base(struct hrtimer *hrtimer);
void oracle_kick_sent(struct twheel_base *base);
void oracle_cancelled(struct hrtimer *hrtimer);
void oracle_kicked(struct twheel_base *base);
void oracle_run_begins(struct hrtimer *hrtimer);
void oracle_run_ends(struct hrtimer *hrtimer);
void oracle_run_over(const struct twheel_base *base, u64 began);
void oracle_idle(void);
void oracle_locked(struct sim_lock *lock);
void oracle_takes(const struct sim_lock *lock);
void oracle_unlock(struct sim_lock *lock);

#endif /* _ORACLE_H */
