/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of the starts of a session's timers
 *
 * Callers must hold a lock of their own, or update the records in one thread at a time.
 */
#ifndef STARTS_H
#define STARTS_H

#include <linux/errno.h>
#include <linux/types.h>

#include "include/uapi/linux/twheel.h"

#define ORACLE_TASKS	5
#define ORACLE_OWN	5	/* private ids of a task in a session */
#define ORACLE_STORES	128
/* Latest word, except TWHEEL_WORD_STOP. */
#define ORACLE_WORD_MAX	(KTIME_MAX - (1LL << 50))

struct oracle_session;

/* A store of @word into a word, which began at @from and was certainly visible at @at */
struct oracle_store {
	u64 from;
	u64 at;
	u64 word;
	bool loose;			/* flag: a callback may have run at the same time */
};

/* An id that only one task starts and stops */
struct oracle_id {
	u64 id;				/* the id, or the last one that the kernel chose */
	struct oracle_start *start;	/* last start, or NULL */
	struct oracle_store stores[ORACLE_STORES];
	unsigned int nr_stores;		/* number of stores. @stores has the last ones, as a ring */
};

/* A start or a restart, and its record */
struct oracle_start {
	unsigned int nr;
	struct oracle_session *os;
	struct oracle_id *own;			/* the id, or NULL if all tasks use it */
	struct twheel_op in;			/* arguments of the call */
	u64 id;					/* id of the timer, once it is known */
	u64 period;
	u64 low;				/* lower bound of the deadline */
	u64 high;				/* upper bound of the deadline */
	u64 began;				/* @sequence at the beginning of the call */
	u64 at;					/* time of the beginning of the call, ns */
	u64 done;				/* time when the call returned, ns */
	bool moved;				/* flag: the timer was pending before the call */
	bool known;				/* flag: the call returned with success */
	bool refused;				/* flag: the call failed */
	bool taken_back;			/* flag: the kernel may have undone the start */
	bool word;				/* flag: the timer has a word */
	/* Way in which the start ended, for messages, or NULL */
	const char *end;
	/* @sequence when the call that ended the start returned */
	u64 end_at;
	u64 gone;				/* calls that begin later do not find the timer */
	unsigned int events;			/* number of events of the start */
	u64 first;				/* earliest deadline among the events */
	u64 next;				/* deadline after the events and their overruns */
	u64 periods;				/* number of periods of the events, with overruns */
};

/* The record of a session */
struct oracle_session {
	struct twheel_session *s;	/* the simulated session, or NULL once it closes */
	unsigned int nr;
	u64 max_timers;			/* limit of its timers */
	u32 shared_ids;			/* number of its words */
	s64 offset;			/* lead of the clock of the words over oracle_now(), ns */
	bool changeable;		/* flag: open for writing */
	bool fuzzy;			/* flag: the effect of a call is not known */
	/* Flag: a start may have been undone, so the counters of starts are not known */
	bool uncounted;
	int drains;			/* number of drains in progress */
	u64 drained_at;			/* @sequence at the end of the last drain */
	u64 last_expired;		/* latest expiry among the events that were read, ns */
	struct oracle_id ids[ORACLE_TASKS][ORACLE_OWN];	/* private ids of each task */
	/* Expected counters. Stops by a store are not counted */
	struct twheel_stats counted;
};

/* A call in progress */
struct oracle_call_of {
	u64 began;		/* @sequence at the beginning of the call */
	u64 at;			/* time of the beginning of the call, ns */
	unsigned int failed;	/* number of failed allocations before the call */
	u64 last_expired;	/* @last_expired of the session before the call */
};

/* The records of all starts */
struct oracle_records {
	u64 sequence;			/* number of the last begin or end of a call */
	unsigned int nr_starts;
	unsigned int max_starts;
	struct oracle_start starts[];
};

extern struct oracle_records *oracle;

/*
 * The simulation and tests/life each define these functions. Return the time, ns, and the lead of
 * the calling task's clock over it, as in a time namespace.
 */
u64 oracle_now(void);
s64 oracle_offset(void);
/* Return the number of allocations that were made to fail. */
unsigned int oracle_refusals(void);
void oracle_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

struct oracle_call_of oracle_calls(struct oracle_session *os);
void oracle_check_memory(const struct oracle_call_of *call, long ret);
struct oracle_start *oracle_new_start(struct oracle_session *os,
				      struct oracle_id *own, const struct twheel_op *in);
u64 oracle_data(const struct oracle_start *t);
struct oracle_start *oracle_start_of(u64 data);
void oracle_start_done(struct oracle_start *t, u64 id, const struct oracle_call_of *call,
		       long ret);
void oracle_stop_done(struct oracle_session *os, struct oracle_id *own,
		      const struct oracle_call_of *call, long ret);
void oracle_got(struct oracle_session *os, struct oracle_id *own,
		const struct twheel_entry *entry,
		const struct oracle_call_of *call, long ret);
void oracle_entry(struct oracle_session *os, const struct twheel_entry *entry,
		  const struct oracle_call_of *call, bool drained);
void oracle_event(struct oracle_session *os, const struct twheel_event *event,
		  const struct oracle_call_of *call);
void oracle_stored(struct oracle_id *own, u64 from, u64 at, u64 word, bool loose);
void oracle_check_start(const struct oracle_start *t, bool there);
void oracle_check_ids(void);
void oracle_check_count(const struct oracle_session *os, const char *what, u64 is, u64 should);
void oracle_check_counters(const struct oracle_session *os, const struct twheel_stats *is);
void oracle_stats(struct oracle_session *os, const struct twheel_stats *stats);
bool oracle_surely_pending(const struct oracle_start *t,
			   const struct oracle_call_of *call);

#endif /* STARTS_H */
