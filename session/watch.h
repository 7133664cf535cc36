/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Timers with a descriptor: a socket that they watch, or an eventfd
 */
#ifndef _TWHEEL_SESSION_WATCH_H
#define _TWHEEL_SESSION_WATCH_H

#include <linux/err.h>
#include <linux/list.h>
#include <linux/ktime.h>
#include <linux/types.h>

#include <uapi/linux/twheel.h>

struct eventfd_ctx;
struct sock;
struct twheel_session;
struct twheel_session_actions;
struct twheel_utimer;

/* Flags of START that make a timer with a descriptor, or go with it. */
#define TWHEEL_START_WATCH						\
	(TWHEEL_START_IDLE | TWHEEL_START_SIGNAL | TWHEEL_START_SHUT |	\
	 TWHEEL_START_RESET | TWHEEL_START_QUIET)

/**
 * struct twheel_session_watch - what a timer with a descriptor has beside the others
 * @due: in a list of @actions while the action waits. Empty while it is under way,
 *	too. Guarded by the session's lock
 * @ut: the timer. Constant once it has the watch
 * @sk: the socket, held, or NULL. A timer that has expired holds it no more
 * @eventfd: the eventfd, held, or NULL. Constant
 * @idle_ns: the idle time, with a socket only. Constant
 * @period_ns: the period, with an eventfd only. Constant
 * @stamp: TCP's stamp of the last data that counts in the timer's deadline. One less
 *	while more data may come with the same stamp
 * @flags: TWHEEL_START_*. Constant
 * @acted: the action has been tried: the timer expires in any case
 * @shut: and was done
 *
 * What is not constant is guarded by the session's lock. But while the action is under
 * way the watch is its own.
 */
struct twheel_session_watch {
	struct list_head due;
	struct twheel_utimer *ut;
	struct sock *sk;
	struct eventfd_ctx *eventfd;
	union {
		u64 idle_ns;
		u64 period_ns;
	};
	u32 stamp;
	u32 flags;
	bool acted;
	bool shut;
};

/**
 * typedef twheel_session_acted - called after an action was tried
 * @s: the session
 * @watch: the watch, not in a list
 * @deadline: 0 if the socket was closed. Later than the time if data has come after
 *	all: the action was not done
 *
 * Context: Process, session's lock held, with softirqs off.
 */
typedef void (*twheel_session_acted)(struct twheel_session *s,
				     struct twheel_session_watch *watch,
				     ktime_t deadline);

#ifdef CONFIG_INET
struct twheel_session_watch *
twheel_session_watch_make(struct twheel_session *s,
			  const struct twheel_start *args,
			  twheel_session_acted acted);
void twheel_session_watch_free(struct twheel_session_watch *watch);
ktime_t twheel_session_watch_look(struct twheel_session *s,
				  struct twheel_session_watch *watch, ktime_t due);
void twheel_session_watch_let_go(struct twheel_session_watch *watch);
void twheel_session_watch_act(struct twheel_session *s,
			      struct twheel_session_watch *watch);
bool twheel_session_watch_signal(const struct twheel_session_watch *watch);
void twheel_session_watch_end_actions(struct twheel_session *s);
int twheel_session_watch_init(void);
void twheel_session_watch_exit(void);
#else
static inline struct twheel_session_watch *
twheel_session_watch_make(struct twheel_session *s,
			  const struct twheel_start *args,
			  twheel_session_acted acted)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/* Nobody has a watch. */
static inline void
twheel_session_watch_free(struct twheel_session_watch *watch)
{
}

static inline ktime_t
twheel_session_watch_look(struct twheel_session *s,
			  struct twheel_session_watch *watch, ktime_t due)
{
	return 0;
}

static inline void
twheel_session_watch_let_go(struct twheel_session_watch *watch)
{
}

static inline void twheel_session_watch_act(struct twheel_session *s,
					    struct twheel_session_watch *watch)
{
}

static inline bool
twheel_session_watch_signal(const struct twheel_session_watch *watch)
{
	return true;
}

static inline void twheel_session_watch_end_actions(struct twheel_session *s)
{
}

static inline int twheel_session_watch_init(void)
{
	return 0;
}

static inline void twheel_session_watch_exit(void)
{
}
#endif

#endif /* _TWHEEL_SESSION_WATCH_H */
