/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lives of programs with timers, and an oracle that judges them
 *
 * A plan is made from a seed, or from the input of a fuzzer: sessions, and steps of a few threads.
 * Each step has all numbers that it needs, so the other steps do the same if a step is left out.
 * The steps are calls of libtwheel, on /dev/twheel or on sessions in the process. starts.c keeps a
 * record of each start, and judges the result of each call.
 */
#ifndef LIFE_H
#define LIFE_H

#include <pthread.h>
#include <twheel.h>

#include "../api/selftests/user.h"
#include "starts.h"

#define SESSIONS	2
#define STEPS		400
#define STARTS		4096
#define THREADS		3
#define OPS		24	/* maximum number of operations in a batch */
#define ROOM		12	/* maximum number of events or entries in a call */

/* Kinds of steps. Kinds up to STEP_STOP may be operations of a batch. */
enum what {
	STEP_START, STEP_STOP, STEP_GET, STEP_LIST, STEP_DRAIN, STEP_SUBMIT, STEP_BATCH,
	STEP_READ, STEP_WAIT, STEP_POLL, STEP_STORE, STEP_PUSH, STEP_SLEEP, STEP_STATS, STEP_INFO,
	STEP_SETUP, STEP_WRONG, STEP_SPOILT, STEP_SWARM, STEP_FORK, STEP_LOOK,
	NR_STEPS,
};

/*
 * Memory in which a step passes an argument. A session in the process would crash with bad memory,
 * so it has only PLACE_STACK and PLACE_END.
 */
enum place {
	PLACE_STACK,
	PLACE_END,		/* an absent page follows the argument */
	PLACE_CUT,		/* an absent page begins within the argument */
	PLACE_READ_ONLY,
	PLACE_NOWHERE,
	NR_PLACES,
};

/**
 * struct step - a call, or an operation of the last batch before this step
 * @what: enum what
 * @thread: number of the thread that takes the step
 * @session: session of the call
 * @part: flag: the step is an operation of the last batch before it
 * @how: number that chooses one of several ways to do the step
 * @count: number of operations, events or entries
 * @id: number of the id. All threads use the ids from number 25 on
 * @place: enum place
 * @refused: number of the allocation that fails, or 0
 * @turn: with kind.turns, thread 1 takes its next steps just before this step locks a session for
 *	the @turn-th time
 * @flags: flags of a start or stop
 * @reserved: value of a reserved field
 * @delay: time from now, or before now for a deadline that has passed
 * @period: period
 */
struct step {
	u8 what, thread, session, part, how, count, id, place, refused, turn;
	u32 flags, reserved;
	u64 delay, period;
};

/**
 * struct kind - a kind of lives, which is a test case
 * @name: name of the test case
 * @threads: number of threads
 * @virtual: the clock is a variable, so the exact state of each timer is known
 * @turns: one thread takes the steps of two: those of thread 1 in the middle of those of thread 0
 * @bad: arguments may be in bad memory
 * @refusals: allocations fail
 * @users: the process belongs to an ordinary user
 * @killed: the process is killed at any time
 */
struct kind {
	const char *name;
	unsigned int threads;
	bool virtual, turns, bad, refusals, users, killed;
};

/**
 * struct plan - a life
 * @kind: host and steps of the life
 * @seed: seed of the plan, or 0 if it was made of bytes
 * @setups: SETUP of each session
 * @nr: number of steps
 * @steps: the steps
 */
struct plan {
	const struct kind *kind;
	u64 seed;
	struct twheel_setup setups[SESSIONS];
	unsigned int nr;
	struct step steps[STEPS];
};

struct session {
	struct oracle_session os;
	struct twheel *t;
	u64 tick_ns;
	u64 past_at;	/* time of the last start that found no event unread. See check_order() */
};

/* Memory that all processes of a life share */
struct life {
	bool failed;
	bool notes;		/* each call is printed */
	bool fuzzes;		/* a failure ends the program */
	char text[300];
	u64 seed;
	int barrier;
	u64 calls, events, lives;
	/* Number of open sessions of the user, and number of those with a wheel of their own */
	unsigned int sessions_open, private_open;
	struct session sessions[SESSIONS];
	u64 read_at[STARTS];	/* time of the first read after the word of a timer passed, or 0 */
	pthread_mutex_t lock;	/* lock of @records and of the counts above */
	struct oracle_records records;
};

/**
 * struct task - the thread that runs
 * @nr: number of the thread
 * @plan: plan of the life
 * @nth: descriptor of the thread's file fail-nth, or -1
 * @disturbed: the step in progress belongs to thread 1, or steps of thread 1 interrupted it
 */
struct task {
	unsigned int nr;
	const struct plan *plan;
	int nth;
	bool disturbed;
};

extern struct life *life;
extern __thread struct task self;

/* plan.c */
void plan_make(struct plan *plan, const struct kind *kind, u64 seed, const u8 *bytes, size_t size);

/* call.c and call_event.c */
unsigned int call_step(const struct step *step, unsigned int left);
void call_settle(struct session *s);

/* life.c */
void life_lock(void);
void life_unlock(void);
void life_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void life_begin(void);
bool life_open(struct twheel **t, const struct twheel_setup *setup);
void life_close(struct twheel *t, bool private);
void life_run(const struct plan *plan);

/* virtual.c or real.c: the host */
extern const struct kind kinds[];
extern const unsigned int nr_kinds;
extern const bool host_is_virtual;
bool host_has(const struct kind *kind);
bool host_has_device(void);
u64 real_ns(void);
void host_begin(void);
u64 host_time(void);
void host_sleep(u64 ns);
void host_refuse(unsigned int nth);
void host_interrupt(unsigned int nth, void (*fn)(void));
bool host_readable(const struct twheel *t);

#endif /* LIFE_H */
