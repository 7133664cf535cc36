/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Users of /dev/twheel, and their resources */
#ifndef _TWHEEL_SESSION_USER_H
#define _TWHEEL_SESSION_USER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/**
 * enum twheel_session_count - resources counted for a user
 * @TWHEEL_COUNT_SESSIONS: sessions
 * @TWHEEL_COUNT_WHEELS: private wheels
 * @TWHEEL_COUNT_PIECES: chunks of timers, and pages of pointers to them
 * @TWHEEL_COUNT_WORD_PAGES: pages of words
 * @TWHEEL_NR_COUNTS: number of kinds of resources
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
 * @node: entry in the table of all users. Protected by its lock
 * @uid: user id, see uid_of_caller(). Constant
 * @refs: references by sessions and wheels. Protected by the same lock
 * @wheels: wheels for this user only. Protected by the lock of wheel.c
 * @payer: account for the time of @wheels. Constant
 * @counts: resources of the user
 * @rcu: frees the user after a grace period, because /proc/twheel may read the
 *	user of a session that is being closed
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
