/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A session: the timers of one open file
 *
 * twheel_chardev.c copies from and to user space and checks the copies. Five
 * files do the work: open.c, timer.c, read.c, list.c and, for batches,
 * batch.c. Timers are found by id in table.c, wheels by configuration in
 * wheel.c. Deadlines that programs store are in words.c, sockets that timers take
 * theirs from in source.c. user.c counts the possessions of each user.
 */
#ifndef _TWHEEL_SESSION_H
#define _TWHEEL_SESSION_H

#include <linux/bitops.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include <linux/twheel.h>
#include <uapi/linux/twheel.h>
#include "table.h"
#include "user.h"
#include "words.h"

/*
 * At a limit of its memory cgroup a caller gets ENOMEM. Without these flags
 * the out-of-memory killer would be sent first, and the log be filled.
 */
#define GFP_SESSION	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * struct twheel_session_wheel - a wheel that sessions share
 * @list: in the list of wheels that the same sessions may share, guarded by the
 *	lock of wheel.c
 * @users: sessions that use it, guarded by the same
 * @wheel: the wheel. Constant
 * @config: the configuration in SETUP. Constant
 * @user: for whom it was made, and counted. Constant
 * @prepared: CPUs on which timers may be started, a bit each. A bit is set once
 *	and stays
 */
struct twheel_session_wheel {
	struct list_head list;
	unsigned int users;
	struct twheel *wheel;
	struct twheel_config config;
	struct twheel_session_user *user;
	unsigned long prepared[];
};

/**
 * struct twheel_session_end - wakes a session's readers at the end of a tick
 * @tick_end: queued by the callbacks of one CPU
 * @session: the session. Constant
 * @events: events queued since the last wake-up. Touched by the callbacks and the
 *	tick's end of one CPU, one after the other
 *
 * Each CPU has one. With one for all CPUs a run that is preempted before its
 * end would keep what expires elsewhere from waking the readers.
 */
struct twheel_session_end {
	struct twheel_tick_end tick_end;
	struct twheel_session *session;
	unsigned int events;
};

/**
 * struct twheel_events - timers that have expired, in the order of expiry
 * @first: the first one, or NULL
 * @last: the last one, if there is one
 *
 * See timer.h.
 */
struct twheel_events {
	struct twheel_utimer *first;
	struct twheel_utimer *last;
};

/*
 * Numbers that a session keeps of itself. twheel_session_stats_locked() makes of them
 * what struct twheel_stats describes. A number that can be had from elsewhere is not
 * among them: they make every session longer.
 */
struct twheel_session_counters {
	u64 restarted;
	u64 stopped;
	u64 expired;
	u64 rearmed;
	u64 replaced;
	u64 withdrawn;
	u64 unread;
	u64 overruns;
	u64 wakeups;
	u64 carried;
	u64 stopped_by_store;
	u64 lateness[TWHEEL_STATS_LATENESS];
};

/**
 * struct twheel_session - the timers of one open file
 * @lock: guards what follows but what says otherwise. Taken with softirqs
 *	off. Outside a wheel's locks
 * @wheel: the wheel. Changes only before the first start, and not while
 *	@making_room is not 0
 * @shared: @wheel's entry. NULL for the default wheel, or for the user's in its
 *	place that is made when the first timer is started. Changes with @wheel
 * @prepared: CPUs that @wheel may start timers on. Changes with @wheel
 * @making_room: starts that have let @lock go to make room for their timer.
 *	They count on @wheel and @max_timers
 * @closing: the last descriptor is gone: what expires is not queued
 * @generation: the last generation given to an id
 * @tick_ns: length of a tick of @wheel
 * @clock: clock of @wheel, and of all times of the session
 * @timers: timers that are not free
 * @max_timers: limit of @timers
 * @tables: the timers by id
 * @shared_ids: number of @words, 0 if there are none
 * @words: deadlines that the program stores, or NULL. Once there they stay
 * @event_size: size of the events that are read. Changes only before the first
 *	start
 * @wake_ns: how long an event may wait until somebody is woken for it. Changes only
 *	before the first start
 * @untold: events for which nobody has been woken, with @wake_ns only. @waker is
 *	pending or calls back if it is not 0
 * @waker: wakes somebody for @untold
 * @events: what can be read. @events.first is also read without @lock
 * @stats: counters. @stats.unread counts @events, and what expires when @closing
 * @readers: sleepers in read(2), each of them an exclusive waiter
 * @pollers: callers of poll(2) and its like
 * @user: on whose account it is. Constant
 * @uid: the effective user id of its opener. Constant
 * @nice: opened with CAP_SYS_NICE. Constant
 * @unlimited: opened with CAP_SYS_RESOURCE. Constant
 * @number: its number among all sessions. Constant
 * @pid: who opened it. NULL when it closes
 * @rcu: callbacks may wake up readers, and /proc/twheel may look at the
 *	session, just after the last close
 * @ends: by CPU
 */
struct twheel_session {
	spinlock_t lock;	/* see above */
	struct twheel *wheel;
	struct twheel_session_wheel *shared;
	const unsigned long *prepared;
	u32 making_room;
	bool closing;
	u64 generation;
	u64 tick_ns;
	clockid_t clock;
	u32 timers;
	u32 max_timers;
	u32 event_size;
	u32 wake_ns;
	u32 untold;
	struct twheel_timer waker;
	struct twheel_table tables[TWHEEL_NR_TABLES];
	u32 shared_ids;
	struct twheel_session_words *words;
	struct twheel_events events;
	struct twheel_session_counters stats;
	wait_queue_head_t readers;
	wait_queue_head_t pollers;
	struct twheel_session_user *user;
	kuid_t uid;
	bool nice;
	bool unlimited;
	u32 number;
	struct pid *pid;
	struct rcu_head rcu;
	struct twheel_session_end ends[];
};

/* Operations of a TWHEEL_IOC_SUBMIT under one hold of a session's lock. */
#define TWHEEL_OPS_PER_LOCK	16U

/**
 * struct twheel_session_op - an operation of a TWHEEL_IOC_SUBMIT
 * @opcode: TWHEEL_OP_*
 * @result: as in struct twheel_op
 * @start: the timer to start, or with @start.id to stop
 */
struct twheel_session_op {
	u32 opcode;
	s32 result;
	struct twheel_start start;
};

/**
 * struct twheel_session_look - what /proc/twheel shows of a session
 * @number: its number
 * @wheel: the number of its wheel. 0 if that is not made yet
 * @pid: its opener in the pid namespace of the caller. 0 if that is not
 *	visible there
 * @uid: its user
 * @stats: its counters
 */
struct twheel_session_look {
	u32 number;
	u32 wheel;
	pid_t pid;
	kuid_t uid;
	struct twheel_stats stats;
};

/* batch.c */
unsigned int twheel_session_run_ops(struct twheel_session *s,
				    struct twheel_session_op *ops,
				    unsigned int count, ktime_t now);

/* open.c */
struct twheel_session *twheel_session_open(void);
void twheel_session_close(struct twheel_session *s);
int twheel_session_setup(struct twheel_session *s,
			 const struct twheel_setup *setup);
void twheel_session_info(struct twheel_session *s, struct twheel_info *info);
void twheel_session_stats_locked(const struct twheel_session *s,
				 struct twheel_stats *stats)
	__must_hold(&s->lock);
void twheel_session_stats(struct twheel_session *s, struct twheel_stats *stats);
unsigned int twheel_session_count(void);
struct twheel_session *twheel_session_find(unsigned long *number);
void twheel_session_look(struct twheel_session *s,
			 struct twheel_session_look *look);

/* timer.c */
int twheel_session_start(struct twheel_session *s, struct twheel_start *args);
int twheel_session_stop(struct twheel_session *s, const struct twheel_stop *stop);
int twheel_session_start_locked(struct twheel_session *s,
				struct twheel_start *args, ktime_t now)
	__must_hold(&s->lock);
int twheel_session_stop_locked(struct twheel_session *s, u64 id, u32 flags)
	__must_hold(&s->lock);
int twheel_session_get(struct twheel_session *s, struct twheel_entry *entry);

/* source.c */
struct sock *twheel_session_hold_sock(struct twheel_session *s, int fd);
void twheel_session_put_sock(struct twheel_session *s, struct sock *sk);
void twheel_session_watch(struct twheel_utimer *ut, struct sock *sk, u64 idle_ns);
ktime_t twheel_session_deadline_of(struct twheel_session *s, struct twheel_utimer *ut,
				   ktime_t due);

/* list.c */
int twheel_session_list(struct twheel_session *s, struct twheel_list *list,
			bool stop);

/* read.c */
ssize_t twheel_session_read(struct twheel_session *s, struct iov_iter *to);
void twheel_session_wake(struct twheel_tick_end *tick_end);
bool twheel_session_readable(struct twheel_session *s);
void twheel_session_pass_on(struct twheel_session *s);

/* waker.c */
void twheel_session_waker_set_up(struct twheel_session *s);
void twheel_session_wake_later(struct twheel_session *s,
			       struct twheel_timer *timer, ktime_t now)
	__must_hold(&s->lock);

/*
 * In the callback of @timer, with the session's lock held: wake up readers for so
 * many events when the tick's callbacks have run. A run of the tick queues and calls
 * what one CPU has in @s->ends, so that nobody else changes @end here. The wake-up
 * is counted now: the session's lock, if taken to count, would make it wait for
 * other CPUs again.
 */
static inline void twheel_session_wake_at_tick_end(struct twheel_session *s,
						   struct twheel_timer *timer,
						   unsigned int events)
{
	struct twheel_session_end *end = &s->ends[smp_processor_id()];

	end->events += events;
	if (twheel_tick_end_queued(&end->tick_end))
		return;
	s->stats.wakeups++;
	twheel_at_tick_end(timer, &end->tick_end);
}

/* wheel.c */
struct twheel_session_wheel *
twheel_session_wheel_private(struct twheel_session *s,
			     const struct twheel_setup *setup);
void twheel_session_wheel_put(struct twheel_session_wheel *shared);
void twheel_session_wheel_use(struct twheel_session *s,
			      struct twheel_session_wheel *shared);
int twheel_session_wheel_need(struct twheel_session *s);

/* A timer may be started on this CPU. Session's lock held. */
static inline bool twheel_session_wheel_ready(const struct twheel_session *s)
{
	return test_bit(smp_processor_id(), s->prepared);
}

#endif /* _TWHEEL_SESSION_H */
