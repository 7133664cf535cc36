/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations of the parts of the sample client
 *
 * A case is a function that uses the interface of include/linux/twheel.h on one wheel, as a driver
 * would. CLIENT_CHECK() states a condition that has to hold. The runner gives a case its timers,
 * and frees everything that the case makes.
 *
 * No case relies on a fast machine, or on one that never stands still. If two events need to happen
 * within the same few milliseconds, the case checks afterwards whether they did. If they did not,
 * the case sets c->slow, and the runner repeats it with delays twice as long. Promises in units of
 * time are checked only where time is exact. A case may replace c->wheel: the runner restores it.
 */
#ifndef _TWHEEL_CLIENT_H
#define _TWHEEL_CLIENT_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/types.h>

#include <linux/twheel.h>

#define CLIENT_MSEC	((u64)NSEC_PER_MSEC)
#define CLIENT_HOUR	(3600 * (u64)NSEC_PER_SEC)

/* Duration of a slow callback. */
#define CLIENT_SLOW_MS	20

/* Time after which a callback gives up waiting for another one. */
#define CLIENT_IN_VAIN	(30 * (u64)NSEC_PER_SEC)

/**
 * struct client - the running case
 * @wheel: wheel of the case
 * @config: configuration of @wheel
 * @made: list of struct client_made of the case, the latest first
 * @wq: workqueue for work items
 * @shared: @wheel is the default wheel, which may have other timers
 * @failed: a check was false
 * @slow: the machine was too slow for a result, so run the case again
 * @patience: factor of short delays. 1 in the first run of the case
 * @exact: the machine counts instructions as its time (QEMU's -icount), so times can be checked
 * @skipped: reason why the case cannot run here, or NULL
 * @early: number of callbacks that ran before their deadline
 * @late_max: longest time from a deadline to its callback, ns
 * @late_min: shortest time from a deadline to its callback, ns
 */
struct client {
	struct twheel *wheel;
	struct twheel_config config;
	struct list_head made;
	struct workqueue_struct *wq;
	bool shared;
	bool failed;
	bool slow;
	unsigned int patience;
	bool exact;
	const char *skipped;
	atomic_t early;
	atomic64_t late_max;
	atomic64_t late_min;
};

struct client_timer;
struct client_work;

/* Needs of a case. The case is skipped if one is missing. */
enum client_needs {
	CLIENT_CPUS	= 1 << 0,	/* a second CPU */
	CLIENT_EXACT	= 1 << 1,	/* a machine whose time counts instructions */
	CLIENT_OWN	= 1 << 2,	/* a wheel without timers of other users */
	CLIENT_DEFAULT	= 1 << 3,	/* the default wheel */
	CLIENT_RT	= 1 << 4,	/* PREEMPT_RT */
	CLIENT_ISOLATED	= 1 << 5,	/* an isolated CPU */
};

#define CLIENT_TIMERS_NR	64

/**
 * struct client_case - a case
 * @name: its name in the results
 * @run: the function of the case, with an array of timers that the runner makes and frees
 * @work: in place of @run, the function of a case with a work item
 * @then: callback of the timers
 * @nr: number of the timers, 0 for one
 * @data: @data of the timers
 * @needs: enum client_needs
 */
struct client_case {
	const char *name;
	void (*run)(struct client *c, struct client_timer *t);
	void (*work)(struct client *c, struct client_work *w);
	void (*then)(struct client_timer *t);
	unsigned int nr;
	void *data;
	unsigned int needs;
};

/* An entry of a table of cases. An empty entry ends the table. */
#define CLIENT_CASE(fn, ...)	{ .name = #fn, .run = fn, ##__VA_ARGS__ }
#define CLIENT_WORK(fn, ...)	{ .name = #fn, .work = fn, ##__VA_ARGS__ }
/* A case that shares its function with other cases, and differs in its data or callback. */
#define CLIENT_LIKE(title, fn, ...) { .name = #title, .run = fn, ##__VA_ARGS__ }

extern const struct client_case client_start_cases[];
extern const struct client_case client_stop_cases[];
extern const struct client_case client_callback_cases[];
extern const struct client_case client_again_cases[];
extern const struct client_case client_drain_cases[];
extern const struct client_case client_work_cases[];
/* Cases of the default wheel, which run before all others. */
extern const struct client_case client_default_cases[];
/* Cases with wheels of their own, which run once. */
extern const struct client_case client_wheel_cases[];
extern const struct client_case client_share_cases[];

/**
 * struct client_timer - a timer embedded in a structure of the client
 * @timer: the timer
 * @client: the case
 * @then: function to call at the end of the callback, or NULL
 * @data: argument for @then
 * @not_before: earliest correct time of the callback
 * @fired: time of the last callback
 * @cpu: CPU of the last callback
 * @count: number of callbacks
 * @order: number of the last callback, counted over all timers and cases
 * @result: return value of a function that @then called, for the case to check
 * @entered: @then was called
 * @left: @then returned
 * @done: completed by each callback
 */
struct client_timer {
	struct twheel_timer timer;
	struct client *client;
	void (*then)(struct client_timer *t);
	void *data;
	ktime_t not_before;
	ktime_t fired;
	int cpu;
	unsigned int count;
	unsigned int order;
	int result;
	bool entered;
	bool left;
	struct completion done;
};

/* A call with a timer, and what the call does: it starts, restarts or stops the timer. */
struct client_call {
	int (*call)(struct twheel_timer *timer);
	enum { CLIENT_STARTS, CLIENT_RESTARTS, CLIENT_STOPS } does;
};

#define CLIENT_CALL(name, result)					\
int name(struct twheel_timer *timer)					\
{									\
	return result;							\
}

int client_start_many(struct twheel_timer *timer);
int client_restart_many(struct twheel_timer *timer);
int client_stop_many(struct twheel_timer *timer);

/* All calls except a shutdown, and an empty entry at the end. */
extern const struct client_call client_calls[];

void client_fail(struct client *c, const char *where, int line, const char *what);

#define CLIENT_CHECK(c, cond) ({					\
	bool __holds = !!(cond);					\
									\
	if (!__holds)							\
		client_fail(c, __func__, __LINE__, #cond);		\
	__holds;							\
})

void client_timer_init(struct client *c, struct client_timer *t,
		       void (*then)(struct client_timer *t));
void client_timer_class(struct client_timer *t, struct lock_class_key *key);
struct client_timer *client_timers_new(struct client *c, unsigned int nr,
				       void (*then)(struct client_timer *t));
struct client_timer *client_timer_new(struct client *c, void (*then)(struct client_timer *t));
bool client_wheel_new(struct client *c, const struct twheel_config *config);
void client_clean(struct client *c);
void client_run_work(struct client *c, const struct client_case *one);

ktime_t client_in(u64 delay_ns);
u64 client_delay(const struct client *c, u64 ms);
int client_start(struct client_timer *t, u64 delay_ns);
int client_start_at(struct client_timer *t, ktime_t deadline);
int client_start_soon(struct client_timer *t);
int client_call_on(int cpu, int (*fn)(struct client_timer *t), struct client_timer *t);
int client_in_hardirq(int (*fn)(struct client_timer *t), struct client_timer *t);
bool client_wait_done(struct client *c, struct completion *done);
bool client_wait(struct client_timer *t);
bool client_wait_once(struct client_timer *t);
bool client_expires(struct client_timer *t);
int client_expires_on(struct client_timer *t, int cpu, int (*start)(struct client_timer *t));
void client_set(bool *flag);
bool client_is_set(bool *flag);
bool client_wait_for(bool *flag);
void client_spin(u64 ns);
void client_sleep(u64 ns);
int client_other_cpu(void);
int client_isolated_cpu(void);
void client_check_refused(struct client *c, struct twheel_timer *timer, int error);
bool client_enter(struct client *c, struct client_timer *t);

#endif /* _TWHEEL_CLIENT_H */
