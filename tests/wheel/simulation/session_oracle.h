/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promises of /dev/twheel, and records of sessions that they are checked with
 */
#ifndef _SESSION_ORACLE_H
#define _SESSION_ORACLE_H

#include "session/session.h"
#include "user_space.h"

#define ORACLE_OWN	5	/* private ids of a task in a session */
#define ORACLE_STORES	128
/* Latest word, except TWHEEL_WORD_STOP. */
#define ORACLE_WORD_MAX	(KTIME_MAX - (1LL << 50))

struct oracle_session;

/* An id that only one task starts and stops */
struct oracle_id {
	u64 id;				/* the id, or the last one that the kernel chose */
	struct oracle_start *start;	/* last start, or NULL */
	/* Time and value of each store, and whether a wheel may have asked before it */
	struct {
		u64 at;
		u64 word;
		bool asked;
	} stores[ORACLE_STORES];
	unsigned int nr_stores;		/* number of entries of @stores */
};

/* A start or a restart, and its record */
struct oracle_start {
	struct oracle_session *os;
	struct oracle_id *own;			/* the id, or NULL if all tasks use it */
	struct twheel_op in;			/* arguments of the call */
	u64 id;					/* id of the timer, once it is known */
	u64 period;
	u64 low;				/* lower bound of the deadline */
	u64 high;				/* upper bound of the deadline */
	u64 began;				/* order of the begin of the call */
	bool known;				/* flag: the call returned with success */
	bool refused;				/* flag: the call failed */
	bool taken_back;			/* flag: the kernel maybe undid the start */
	bool word;				/* flag: the timer has a word */
	/* How the start ended, for messages, or NULL */
	const char *end;
	/* Order of the return of the call that ended it */
	u64 end_at;
	u64 gone;				/* calls that begin later miss the timer */
	unsigned int events;			/* number of events */
	u64 first;				/* earliest deadline of these */
	u64 next;				/* latest, and the periods after it */
	u64 periods;				/* number of periods of all events */
};

/* The record of a session */
struct oracle_session {
	struct twheel_session *s;	/* the session, or NULL once it closes */
	unsigned int nr;
	u64 max_timers;			/* limit of its timers */
	u32 shared_ids;			/* number of its words */
	s64 offset;			/* lead of the clock of its words, ns */
	bool changeable;		/* flag: open for writing */
	bool fuzzy;			/* flag: the effect of a call is not known */
	/* Flag: the counts of a start that the kernel undid are not known */
	bool uncounted;
	int drains;			/* number of drains in progress */
	u64 drained_at;			/* order of the end of the last drain */
	u64 last_expired;		/* latest expiry among the events of reads that returned */
	struct oracle_id ids[SIM_USERS][ORACLE_OWN];	/* private ids of each task */
	/* Expected counters, without the stops by a store */
	struct twheel_stats counted;
	struct twheel_stats then;	/* counters when the lock was taken */
};

/* A call in progress */
struct oracle_call_of {
	u64 began;		/* order of its begin */
	u64 at;			/* time of its begin, ns */
	unsigned int failed;	/* number of failed allocations before the call */
	u64 last_expired;	/* @last_expired of the session before the call */
};

struct oracle_session *oracle_opened(struct twheel_session *s);
struct oracle_call_of oracle_calls(struct oracle_session *os);
void oracle_check_memory(const struct oracle_call_of *call, long ret);
struct oracle_start *oracle_new_start(struct oracle_session *os,
				      struct oracle_id *own, const struct twheel_op *in);
u64 oracle_data(const struct oracle_start *t);
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
void oracle_stored(const struct oracle_session *os, struct oracle_id *own, u64 word);
void oracle_stats(struct oracle_session *os, const struct twheel_stats *stats);
bool oracle_surely_pending(const struct oracle_start *t,
			   const struct oracle_call_of *call);
bool oracle_has_pending(const struct oracle_session *os);
void oracle_charges(void);
void oracle_end_sessions(void);

#endif /* _SESSION_ORACLE_H */
