// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Users of /dev/twheel, and what each of them may have
 *
 * A session belongs to the effective user id of its opener, even if others use
 * its descriptor later. The creator of a user namespace can use any number of
 * ids in it, so they all count as the user who created the namespace.
 *
 * This file counts the sessions, the wheels, and the pieces of memory with
 * timers of each user. A user is created for the first session, and freed after
 * the last session and the last wheel.
 *
 * Limits apply to each user, and to all users together. CAP_SYS_RESOURCE
 * exempts from the limits of a user. A part of each limit of all users is
 * reserved for CAP_SYS_RESOURCE, so that a greedy user leaves some to the
 * administrator.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "session.h"

/* Set a limit at the load of the module or later. Refuses invalid values. */
static int set_limit(const char *value, const struct kernel_param *param)
{
	/* Counters are of type int. */
	return param_set_uint_minmax(value, param, 0, INT_MAX);
}

static const struct kernel_param_ops limit_ops = {
	.set = set_limit,
	.get = param_get_uint,
};

static unsigned int max_sessions = 4096;
module_param_cb(max_sessions, &limit_ops, &max_sessions, 0644);
MODULE_PARM_DESC(max_sessions, "Maximum number of sessions");

static unsigned int max_user_sessions = 1024;
module_param_cb(max_user_sessions, &limit_ops, &max_user_sessions, 0644);
MODULE_PARM_DESC(max_user_sessions, "Maximum number of sessions of a user");

static unsigned int max_wheels = 64;
module_param_cb(max_wheels, &limit_ops, &max_wheels, 0644);
MODULE_PARM_DESC(max_wheels, "Maximum number of private wheels of sessions");

static unsigned int max_user_wheels = 8;
module_param_cb(max_user_wheels, &limit_ops, &max_user_wheels, 0644);
MODULE_PARM_DESC(max_user_wheels, "Maximum number of private wheels of a user's sessions");

static unsigned int max_user_timers = 1U << 22;
module_param_cb(max_user_timers, &limit_ops, &max_user_timers, 0644);
MODULE_PARM_DESC(max_user_timers, "Maximum number of timers of a user's sessions");

/* 1 / RESERVE of each limit of all users is reserved for CAP_SYS_RESOURCE. */
#define RESERVE		16

#define USER_BITS	6
static DEFINE_HASHTABLE(users, USER_BITS);	/* guarded by users_lock */
static DEFINE_SPINLOCK(users_lock);

/* Resources of all users together. */
static atomic_t counts[TWHEEL_NR_COUNTS];

static struct twheel_session_user *look_for_user(kuid_t uid)
{
	struct twheel_session_user *user;

	lockdep_assert_held(&users_lock);
	hash_for_each_possible(users, user, node, __kuid_val(uid)) {
		if (uid_eq(user->uid, uid)) {
			user->refs++;
			return user;
		}
	}
	return NULL;
}

static struct twheel_session_user *alloc_user(kuid_t uid)
{
	struct twheel_session_user *user = kzalloc(sizeof(*user), GFP_SESSION);

	if (!user)
		return NULL;
	user->payer = twheel_payer_create();
	if (!user->payer) {
		kfree(user);
		return NULL;
	}
	user->uid = uid;
	user->refs = 1;
	INIT_LIST_HEAD(&user->wheels);
	return user;
}

/* Free a user who is not in the table. Do not call it with users_lock held. */
static void free_user(struct twheel_session_user *user)
{
	twheel_payer_destroy(user->payer);
	kfree_rcu(user, rcu);
}

/*
 * Returns the id of the user whose limits apply to the caller. In the initial
 * user namespace this is the effective user id, and in another one it is the
 * owner of the outermost namespace below the initial one. But if root owns that
 * namespace, the administrator decided on its ids: then it is the id of the
 * root user inside.
 */
static kuid_t uid_of_caller(void)
{
	struct user_namespace *ns = current_user_ns();
	kuid_t root;

	if (ns == &init_user_ns)
		return current_euid();
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	root = make_kuid(ns, 0);
	if (uid_eq(ns->owner, GLOBAL_ROOT_UID) && uid_valid(root))
		return root;
	return ns->owner;
}

/*
 * Returns the user of a new session, to release with
 * twheel_session_user_put(), or ERR_PTR() of -ENOMEM. May sleep.
 */
struct twheel_session_user *twheel_session_user_get(void)
{
	struct twheel_session_user *user, *fresh;
	kuid_t uid = uid_of_caller();

	spin_lock(&users_lock);
	user = look_for_user(uid);
	spin_unlock(&users_lock);
	if (user)
		return user;
	/* Allocate without the lock, so that no other caller waits for memory. */
	fresh = alloc_user(uid);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	spin_lock(&users_lock);
	user = look_for_user(uid);
	if (!user)
		hash_add(users, &fresh->node, __kuid_val(uid));
	spin_unlock(&users_lock);
	if (!user)
		return fresh;
	free_user(fresh);
	return user;
}

void twheel_session_user_hold(struct twheel_session_user *user)
{
	spin_lock(&users_lock);
	user->refs++;
	spin_unlock(&users_lock);
}

void twheel_session_user_put(struct twheel_session_user *user)
{
	bool last;

	spin_lock(&users_lock);
	last = !--user->refs;
	if (last)
		hash_del(&user->node);
	spin_unlock(&users_lock);
	if (last)
		free_user(user);
}

/*
 * Returns the limit of pieces of memory for a user. Pages of pointers count
 * like chunks of timers, because timers with ids far apart need many pages. The
 * limit is enough for max_user_timers timers with consecutive ids.
 */
static unsigned int max_user_pieces(void)
{
	unsigned int chunks = DIV_ROUND_UP(READ_ONCE(max_user_timers),
					   TWHEEL_CHUNK_TIMERS);

	return chunks + DIV_ROUND_UP(chunks, TWHEEL_PAGE_CHUNKS);
}

/* Returns the number of pages that have a word for each timer a user may have. */
static unsigned int max_user_word_pages(void)
{
	return DIV_ROUND_UP_ULL(READ_ONCE(max_user_timers),
				TWHEEL_WORDS_PER_PAGE);
}

/* Returns the limit for each user, or for @all users together. */
static unsigned int limit_of(enum twheel_session_count what, bool all)
{
	switch (what) {
	case TWHEEL_COUNT_SESSIONS:
		return all ? READ_ONCE(max_sessions) : READ_ONCE(max_user_sessions);
	case TWHEEL_COUNT_WHEELS:
		return all ? READ_ONCE(max_wheels) : READ_ONCE(max_user_wheels);
	case TWHEEL_COUNT_WORD_PAGES:
		return all ? INT_MAX : max_user_word_pages();
	default:
		return all ? INT_MAX : max_user_pieces();
	}
}

static bool count_below(atomic_t *count, unsigned int max)
{
	int old = atomic_read(count);

	do {
		if (old >= min_t(unsigned int, max, INT_MAX))
			return false;
	} while (!atomic_try_cmpxchg(count, &old, old + 1));
	return true;
}

/*
 * Charge a resource to a user. @exempt: CAP_SYS_RESOURCE exempts from the
 * user's limit. Returns 0, or -ENOSPC at a limit. This and the functions below
 * may be called in any context.
 */
int twheel_session_user_charge(struct twheel_session_user *user,
			       enum twheel_session_count what, bool exempt)
{
	unsigned int max = limit_of(what, true);

	if (!exempt)
		max -= max / RESERVE;
	if (!count_below(&counts[what], max))
		return -ENOSPC;
	if (count_below(&user->counts[what], exempt ? INT_MAX : limit_of(what, false)))
		return 0;
	atomic_dec(&counts[what]);
	return -ENOSPC;
}

void twheel_session_user_uncharge(struct twheel_session_user *user,
				  enum twheel_session_count what)
{
	atomic_dec(&user->counts[what]);
	atomic_dec(&counts[what]);
}

unsigned int twheel_session_user_total(enum twheel_session_count what)
{
	return atomic_read(&counts[what]);
}
