/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session: the timers of one open file
 *
 * twheel_chardev.c copies from and to user space and checks what it copies;
 * twheel_session.c, twheel_utimer.c, twheel_read.c and, for batches,
 * twheel_batch.c do what was asked; twheel_table.c finds timers by id.
 */
#ifndef _TWHEEL_SESSION_H
#define _TWHEEL_SESSION_H

#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "include/twheel.h"
#include "include/uapi/twheel.h"
#include "twheel_table.h"

/*
 * At a limit of its memory cgroup a caller gets ENOMEM. Without these flags
 * the out-of-memory killer would be sent first, and the log be filled.
 */
#define GFP_SESSION	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * struct twheel_shared_wheel - a wheel that sessions use
 * @list: in the list of all, guarded by its mutex
 * @users: sessions that use it, guarded by the same
 * @wheel: the wheel
 * @config: what was asked for
 */
struct twheel_shared_wheel {
	struct list_head list;
	unsigned int users;
	struct twheel *wheel;
	struct twheel_config config;
};

/**
 * struct twheel_session - the timers of one open file
 * @lock: guards what follows but what says otherwise. Taken with softirqs
 *	off; outside a wheel's locks
 * @wheel: the wheel; changes only before the first start, and not while
 *	@growing
 * @shared: @wheel's entry, or NULL for the default wheel
 * @growing: starts that are making room for their timer: they let @lock go,
 *	but count on @wheel and @max_timers
 * @closing: the last descriptor is gone: what expires is not queued
 * @generation: the last generation given to an id
 * @tick_ns: length of a tick of @wheel
 * @timers: timers that are not free
 * @max_timers: limit of @timers
 * @tables: the timers by id
 * @events: timers that have expired, in the order of expiry
 * @stats: counters; @stats.unread counts @events
 * @tail: wakes readers once per tick
 * @wait: readers and pollers
 * @fasync: who gets SIGIO; has its own lock
 * @pid: who opened it; constant
 * @list: in the list of all sessions, guarded by its mutex
 * @rcu: callbacks may wake up readers just after the last close
 */
struct twheel_session {
	spinlock_t lock;	/* see above */
	struct twheel *wheel;
	struct twheel_shared_wheel *shared;
	u32 growing;
	bool closing;
	u64 generation;
	u64 tick_ns;
	u32 timers;
	u32 max_timers;
	struct twheel_table tables[TWHEEL_NR_TABLES];
	struct list_head events;
	struct twheel_stats stats;
	struct twheel_tail tail;
	wait_queue_head_t wait;
	struct fasync_struct *fasync;
	pid_t pid;
	struct list_head list;
	struct rcu_head rcu;
};

/* Operations of a TWHEEL_IOC_SUBMIT under one hold of a session's lock. */
#define TWHEEL_OPS_PER_LOCK	16U

/**
 * struct twheel_session_op - an operation of a TWHEEL_IOC_SUBMIT
 * @opcode: TWHEEL_OP_*
 * @result: as in struct twheel_op
 * @start: what there is to start, or with @start.id to stop
 */
struct twheel_session_op {
	u32 opcode;
	s32 result;
	struct twheel_start start;
};

/* What a start and a batch have in common. */

static inline bool twheel_session_has_number(const struct twheel_session *s,
					     u64 id)
{
	return id & TWHEEL_ID_KERNEL || id < s->max_timers;
}

static inline int twheel_session_check_start(const struct twheel_session *s,
					     const struct twheel_start *args)
{
	if (args->flags & ~(TWHEEL_START_ABS | TWHEEL_START_REPLACE) ||
	    args->reserved)
		return -EINVAL;
	if (args->expires_ns > KTIME_MAX || args->period_ns > KTIME_MAX)
		return -EINVAL;
	return twheel_session_has_number(s, args->id) ? 0 : -EINVAL;
}

static inline ktime_t twheel_session_deadline(const struct twheel_start *args,
					      ktime_t now)
{
	if (args->flags & TWHEEL_START_ABS)
		return args->expires_ns;
	/* No overflow of 64 bits: both are less than 2^63. */
	return min_t(u64, now + args->expires_ns, KTIME_MAX);
}

static inline void twheel_utimer_set_up(struct twheel_utimer *ut,
					const struct twheel_start *args)
{
	ut->user_data = args->user_data;
	ut->period_ns = args->period_ns;
}

/* Session's lock held, as for all that follows with __must_hold(). */
static inline void twheel_utimer_arm(struct twheel_session *s,
				     struct twheel_utimer *ut, ktime_t deadline)
{
	ut->state = TWHEEL_ARMED;
	s->stats.pending++;
	twheel_start_at(&ut->timer, deadline);
}

/* twheel_batch.c */
void twheel_session_run_ops(struct twheel_session *s,
			    struct twheel_session_op *ops, unsigned int count,
			    ktime_t now);

/* twheel_session.c */
struct twheel_session *twheel_session_open(void);
void twheel_session_close(struct twheel_session *s);
int twheel_session_setup(struct twheel_session *s,
			 const struct twheel_setup *setup);
void twheel_session_info(struct twheel_session *s, struct twheel_info *info);
void twheel_session_stats(struct twheel_session *s, struct twheel_stats *stats);
int twheel_session_init(void);
void twheel_session_exit(void);
unsigned int twheel_session_count(void);
void twheel_session_show_all(struct seq_file *seq);

/* twheel_utimer.c */
int twheel_session_start(struct twheel_session *s, struct twheel_start *args);
int twheel_session_stop(struct twheel_session *s, u64 id);
int twheel_session_start_locked(struct twheel_session *s,
				struct twheel_start *args, ktime_t now)
	__must_hold(&s->lock);
int twheel_session_stop_locked(struct twheel_session *s, u64 id)
	__must_hold(&s->lock);
int twheel_session_get(struct twheel_session *s, struct twheel_get *get);

/* twheel_read.c */
ssize_t twheel_session_read(struct twheel_session *s,
			    struct twheel_event __user *to, size_t room);
int twheel_session_drain(struct twheel_session *s, struct twheel_drained __user
			 *to, u32 room, u32 *count);
void twheel_session_wake(struct twheel_tail *tail);
bool twheel_session_readable(struct twheel_session *s);
void twheel_session_pass_on(struct twheel_session *s);

/* twheel_shared.c */
struct twheel_shared_wheel *
twheel_shared_get(const struct twheel_config *config);
void twheel_shared_put(struct twheel_shared_wheel *shared);

#endif /* _TWHEEL_SESSION_H */
