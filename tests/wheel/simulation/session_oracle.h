/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The promises of /dev/twheel, and a record of our own to judge it by
 */
#ifndef _SESSION_ORACLE_H
#define _SESSION_ORACLE_H

#include "session/session.h"
#include "user_space.h"

#define ORACLE_OWN	5	/* ids that a task has to itself in a session */
#define ORACLE_STORES	128
/* No word is later, but for TWHEEL_WORD_STOP. */
#define ORACLE_WORD_MAX	(KTIME_MAX - (1LL << 50))
#define ORACLE_SEEN	12

struct oracle_session;

/* An id that one task starts and stops */
struct oracle_id {
	u64 id;				/* the id, or the last one that the kernel has chosen */
	struct oracle_start *start;	/* its last start, or NULL */
	u64 asked;			/* when a stop began last, as a number */
	/* When which word was stored, and whether the session was locked */
	struct {
		u64 at;
		u64 word;
		bool locked;
	} stores[ORACLE_STORES];
	unsigned int nr_stores;		/* how many */
};

/* A start, or a restart, and what becomes of it */
struct oracle_start {
	struct oracle_session *os;
	struct oracle_id *own;			/* the id, or NULL if all tasks use it */
	struct twheel_op in;			/* the arguments */
	u64 id;					/* its number, once it is known */
	u64 period;
	u64 low;				/* the least that its deadline can be */
	u64 high;				/* and the most */
	u64 began;				/* when the call began, as a number */
	bool known;				/* it has been made */
	bool refused;				/* it has not been made */
	bool taken_back;			/* it may have been made, and was taken back */
	bool word;				/* it has a word */
	bool watches;				/* it watches a socket */
	const struct user_socket *socket;	/* the socket, if it is known */
	/* How it has ended, for messages. NULL if it has not */
	const char *end;
	/* When the call that has ended it returned, as a number */
	u64 end_at;
	u64 gone;				/* reads that begin later do not find it */
	u64 last;				/* events of later reads are the last one */
	unsigned int events;			/* how many there were */
	struct {
		u64 deadline;
		u64 overruns;
	} seen[ORACLE_SEEN];			/* those, to be put into order */
};

/* The record of a session */
struct oracle_session {
	struct twheel_session *s;	/* the session. NULL when it closes */
	unsigned int nr;
	u64 max_timers;			/* its limit */
	u32 event_size;			/* size of its events */
	u32 shared_ids;			/* number of its words */
	u32 wake_ns;			/* how long its events may wait */
	s64 offset;			/* what the clock of its words is ahead, ns */
	bool changeable;		/* open for writing */
	bool fuzzy;			/* what a call has done is not known */
	/* What a start that was taken back has counted is not known */
	bool uncounted;
	int drains;			/* drains under way */
	u64 drained_at;			/* when one ended last, as a number */
	u64 last_expired;		/* of the events of reads that have returned */
	struct oracle_id ids[SIM_USERS][ORACLE_OWN];	/* ids of each task */
	/* What its counters should be. Stops without those by a store */
	struct twheel_stats counted;
	u64 watching;			/* starts with a socket */
	u64 replacing;			/* starts that may have taken an event back */
	struct twheel_stats then;	/* the counters when the lock was taken */
};

/* A call under way */
struct oracle_call_of {
	u64 began;		/* when, as a number */
	u64 at;			/* when, ns */
	unsigned int failed;	/* allocations that had failed by then */
	u64 last_expired;	/* of the session then */
};

struct oracle_session *oracle_opened(struct twheel_session *s);
struct oracle_call_of oracle_calls(struct oracle_session *os);
void oracle_check_memory(const struct oracle_call_of *call, long ret);
struct oracle_start *oracle_new_start(struct oracle_session *os,
				      struct oracle_id *own, const struct twheel_op *in);
u64 oracle_data(const struct oracle_start *t);
void oracle_start_done(struct oracle_start *t, u64 id, const struct oracle_call_of *call,
		       long ret);
void oracle_asks(struct oracle_id *own);
void oracle_stop_done(struct oracle_session *os, struct oracle_id *own,
		      u32 flags, const struct oracle_call_of *call, long ret);
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
void oracle_quiet(struct oracle_session *os);
void oracle_end_sessions(void);

#endif /* _SESSION_ORACLE_H */
