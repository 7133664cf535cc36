/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A session: the timers of one open file
 *
 * twheel_chardev.c copies from and to user space and checks the copies. open.c,
 * timer.c, read.c and list.c implement the commands. state.h describes their
 * effect on a timer. table.c finds timers by id, wheel.c finds wheels by
 * configuration. words.c has the deadlines that programs store, user.c has the
 * limits of users.
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
 * At the limit of a memory cgroup the caller gets ENOMEM. Without these flags
 * the kernel would invoke the OOM killer first, and fill the log.
 */
#define GFP_SESSION	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * struct twheel_session_wheel - a wheel shared by sessions
 * @list: entry in a list of wheels. Protected by the lock of wheel.c
 * @users: number of sessions using the wheel. Protected by the same lock
 * @wheel: the wheel. Constant
 * @config: configuration from SETUP. Constant
 * @user: owner of the wheel, charged for it. Constant
 * @prepared: bitmap of CPUs prepared for starts. A bit is never cleared
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
 * @tick_end: work queued by the callbacks of one CPU
 * @session: the session. Constant
 * @events: number of events since the last wake-up. Accessed by the callbacks
 *	and the tick's end of one CPU, one after the other
 *
 * A session has one for each CPU. If all CPUs shared one, a run of the wheel
 * that is preempted before its end would delay the wake-up for events of other
 * CPUs.
 */
struct twheel_session_end {
	struct twheel_tick_end tick_end;
	struct twheel_session *session;
	unsigned int events;
};

/**
 * struct twheel_events - expired timers, in the order of their expiries
 * @first: first timer, or NULL
 * @last: last timer, valid if @first is not NULL
 *
 * See timer.h.
 */
struct twheel_events {
	struct twheel_utimer *first;
	struct twheel_utimer *last;
};

/**
 * struct twheel_session - the timers of one open file
 * @lock: protects all fields below, except where noted. Taken with softirqs
 *	off. Outside the locks of a wheel
 * @wheel: the wheel. SETUP may replace it before the first start
 * @wheel_ref: reference to @wheel in wheel.c. NULL for the default wheel, and before
 *	the first start of a session without CAP_SYS_NICE. Changes together with @wheel
 * @prepared: bitmap of the prepared CPUs of @wheel. Changes together with @wheel
 * @nr_unlocked: number of calls that dropped @lock to allocate or to wait, and will
 *	look again. SETUP is refused until then, as they rely on @wheel and @max_timers
 * @closing: true after the last close: expired timers are not queued
 * @generation: last generation given to an id
 * @tick_ns: length of a tick of @wheel
 * @clock: clock of @wheel and of all times of the session
 * @timers: number of timers in use
 * @max_timers: limit of @timers
 * @tables: timers by id
 * @shared_ids: number of @words, 0 if there are none
 * @words: deadlines stored by the program, or NULL. Set once
 * @events: queue of unread events. @events.first is also read without @lock
 * @carried: number of later deadlines that wheels found in words. Atomic,
 *	because wheels count without @lock
 * @stats: counters, except started, pending and delivered, which
 *	twheel_session_stats_locked() computes. @stats.unread is the number of
 *	timers in @events, plus the expiries since @closing was set
 * @readers: sleepers in read(2), all exclusive waiters
 * @pollers: callers of poll(2) and similar
 * @user: owner of the session, charged for it. Constant
 * @uid: effective user id of the opener. Constant
 * @nice: true if opened with CAP_SYS_NICE. Constant
 * @unlimited: true if opened with CAP_SYS_RESOURCE. Constant
 * @number: number of the session. Constant
 * @pid: opener. NULL during the last close
 * @rcu: frees the session after a grace period, because callbacks may wake up
 *	readers, and /proc/twheel may read the session, during the last close
 * @ends: per-CPU work for the end of a tick
 */
struct twheel_session {
	spinlock_t lock;	/* see above */
	struct twheel *wheel;
	struct twheel_session_wheel *wheel_ref;
	const unsigned long *prepared;
	u32 nr_unlocked;
	bool closing;
	u64 generation;
	u64 tick_ns;
	clockid_t clock;
	u32 timers;
	u32 max_timers;
	struct twheel_table tables[TWHEEL_NR_TABLES];
	u32 shared_ids;
	struct twheel_session_words *words;
	struct twheel_events events;
	atomic64_t carried;
	struct twheel_stats stats;
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

/*
 * Maximum number of operations of a TWHEEL_IOC_SUBMIT under one hold of a
 * session's lock.
 */
#define TWHEEL_OPS_PER_LOCK	16U

/**
 * struct twheel_session_op - one operation of a TWHEEL_IOC_SUBMIT
 * @opcode: TWHEEL_OP_*
 * @result: result, as in struct twheel_op
 * @start: arguments of a start. A stop uses @start.id only, and the rest is 0
 */
struct twheel_session_op {
	u32 opcode;
	s32 result;
	struct twheel_start start;
};

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
struct twheel_session *twheel_session_find(unsigned long *number);

/* timer.c */
int twheel_session_start(struct twheel_session *s, struct twheel_start *args);
int twheel_session_stop(struct twheel_session *s, const struct twheel_stop *stop);
int twheel_session_start_locked(struct twheel_session *s,
				struct twheel_start *args, ktime_t now)
	__must_hold(&s->lock);
int twheel_session_stop_locked(struct twheel_session *s, u64 id)
	__must_hold(&s->lock);
unsigned int twheel_session_run_ops(struct twheel_session *s,
				    struct twheel_session_op *ops,
				    unsigned int count, ktime_t now);

/* list.c */
int twheel_session_get(struct twheel_session *s, struct twheel_entry *entry);
int twheel_session_list(struct twheel_session *s, struct twheel_list *list);

/* read.c */
ssize_t twheel_session_read(struct twheel_session *s, struct iov_iter *to);
void twheel_session_wake(struct twheel_tick_end *tick_end);
bool twheel_session_readable(struct twheel_session *s);

/*
 * Have readers woken up at the end of this tick, for one more event. Called by
 * the callback of @timer with the session's lock held. @end needs no lock: only
 * callbacks of this CPU, and the end of their tick, access it. Count the
 * wake-up here: at its end the tick would have to take the session's lock for
 * that, and to wait for other CPUs.
 */
static inline void twheel_session_wake_at_tick_end(struct twheel_session *s,
						   struct twheel_timer *timer)
{
	struct twheel_session_end *end = &s->ends[smp_processor_id()];

	end->events++;
	if (twheel_tick_end_queued(&end->tick_end))
		return;
	s->stats.wakeups++;
	twheel_at_tick_end(timer, &end->tick_end);
}

/* wheel.c */
struct twheel_session_wheel *
twheel_session_wheel_private(struct twheel_session *s,
			     const struct twheel_setup *setup);
void twheel_session_wheel_put(struct twheel_session_wheel *ref);
void twheel_session_wheel_attach(struct twheel_session *s,
				 struct twheel_session_wheel *ref);
int twheel_session_wheel_prepare(struct twheel_session *s);

#endif /* _TWHEEL_SESSION_H */
