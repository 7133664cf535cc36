/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Users of /dev/twheel, and the counts of their possessions
 */
#ifndef _TWHEEL_SESSION_USER_H
#define _TWHEEL_SESSION_USER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/**
 * enum twheel_session_count - the counts of a user
 * @TWHEEL_COUNT_SESSIONS: sessions
 * @TWHEEL_COUNT_WHEELS: private wheels
 * @TWHEEL_COUNT_PIECES: chunks of timers, and pages of pointers to them
 * @TWHEEL_COUNT_WORD_PAGES: pages of words that programs map
 * @TWHEEL_NR_COUNTS: number of these
 */
enum twheel_session_count {
	TWHEEL_COUNT_SESSIONS,
	TWHEEL_COUNT_WHEELS,
	TWHEEL_COUNT_PIECES,
	TWHEEL_COUNT_WORD_PAGES,
	TWHEEL_NR_COUNTS,
};

/**
 * struct twheel_session_user - a user with sessions
 * @node: in the table of all users, guarded by its lock
 * @uid: the user id, see twheel_session_user_get(). Constant
 * @refs: sessions and wheels that hold it, guarded by the table's lock
 * @wheels: wheels that only this user's sessions share, guarded by the lock
 *	of wheel.c
 * @payer: pays for the time of these. Constant
 * @counts: what the user has
 * @rcu: /proc/twheel may look at the user of a session that is just closing
 */
struct twheel_session_user {
	struct hlist_node node;
	kuid_t uid;
	unsigned int refs;
	struct list_head wheels;
	struct twheel_payer *payer;
	atomic_t counts[TWHEEL_NR_COUNTS];
	struct rcu_head rcu;
};

struct twheel_session_user *twheel_session_user_get(void);
void twheel_session_user_hold(struct twheel_session_user *user);
void twheel_session_user_put(struct twheel_session_user *user);
int twheel_session_user_charge(struct twheel_session_user *user,
			       enum twheel_session_count what, bool exempt);
void twheel_session_user_uncharge(struct twheel_session_user *user,
				  enum twheel_session_count what);
unsigned int twheel_session_user_total(enum twheel_session_count what);

#endif /* _TWHEEL_SESSION_USER_H */
