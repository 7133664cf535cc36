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

/**
 * struct oracle_id - an id that one task starts and stops
 * @id: the id, or the last one that the kernel has chosen
 * @start: its last start, or NULL
 * @asked: when a stop began last, as a number
 * @stores: when which word was stored, and whether the session was locked
 * @nr_stores: how many
 */
struct oracle_id {
	u64 id;
	struct oracle_start *start;
	u64 asked;
	struct {
		u64 at;
		u64 word;
		bool locked;
	} stores[ORACLE_STORES];
	unsigned int nr_stores;
};

/**
 * struct oracle_start - a start, or a restart, and what becomes of it
 * @os: the session
 * @own: the id, or NULL if all tasks use it
 * @id: its number, once it is known
 * @period: its period
 * @low: the least that its deadline can be
 * @high: and the most
 * @began: when the call began, as a number
 * @known: it has been made
 * @refused: it has not been made
 * @taken_back: it may have been made, and was taken back
 * @word: it has a word
 * @watches: it watches a socket
 * @fd: that of this descriptor
 * @socket: the socket, if it is known
 * @idle: its idle time
 * @replaces: it may have taken an event back
 * @end: how it has ended, for messages. NULL if it has not
 * @end_at: when the call that has ended it returned, as a number
 * @gone: reads that begin later do not find it
 * @last: events of later reads are the last one
 * @events: how many there were
 * @seen: those, to be put into order
 */
struct oracle_start {
	struct oracle_session *os;
	struct oracle_id *own;
	u64 id;
	u64 period;
	u64 low;
	u64 high;
	u64 began;
	bool known;
	bool refused;
	bool taken_back;
	bool word;
	bool watches;
	int fd;
	const struct user_socket *socket;
	u64 idle;
	bool replaces;
	const char *end;
	u64 end_at;
	u64 gone;
	u64 last;
	unsigned int events;
	struct {
		u64 deadline;
		u64 overruns;
	} seen[ORACLE_SEEN];
};

/**
 * struct oracle_session - the record of a session
 * @s: the session. NULL when it closes
 * @nr: its number
 * @max_timers: its limit
 * @event_size: size of its events
 * @shared_ids: number of its words
 * @wake_ns: how long its events may wait
 * @offset: what the clock of its words is ahead, ns
 * @changeable: open for writing
 * @fuzzy: what a call has done is not known
 * @uncounted: what a start that was taken back has counted is not known
 * @drains: drains under way
 * @drained_at: when one ended last, as a number
 * @last_expired: of the events of reads that have returned
 * @ids: ids of each task
 * @counted: what its counters should be. Stops without those by a store
 * @watching: starts with a socket
 * @replacing: starts that may have taken an event back
 * @then: the counters when the lock was taken
 */
struct oracle_session {
	struct twheel_session *s;
	unsigned int nr;
	u64 max_timers;
	u32 event_size;
	u32 shared_ids;
	u32 wake_ns;
	s64 offset;
	bool changeable;
	bool fuzzy;
	bool uncounted;
	int drains;
	u64 drained_at;
	u64 last_expired;
	struct oracle_id ids[SIM_USERS][ORACLE_OWN];
	struct twheel_stats counted;
	u64 watching;
	u64 replacing;
	struct twheel_stats then;
};

/**
 * struct oracle_call_of - a call under way
 * @began: when, as a number
 * @at: when, ns
 * @failed: allocations that had failed by then
 * @last_expired: of the session then
 */
struct oracle_call_of {
	u64 began;
	u64 at;
	unsigned int failed;
	u64 last_expired;
};

struct oracle_session *oracle_opened(struct twheel_session *s);
struct oracle_call_of oracle_calls(struct oracle_session *os);
void oracle_check_memory(const struct oracle_call_of *call, long ret);
struct oracle_start *oracle_new_start(struct oracle_session *os,
				      struct oracle_id *own, const struct twheel_op *in);
u64 oracle_data(const struct oracle_start *t);
void oracle_start_done(struct oracle_start *t, const struct twheel_op *in, u64 id,
		       const struct oracle_call_of *call, long ret);
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
