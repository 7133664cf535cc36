// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: The wheels of sessions
 *
 * Sessions with CAP_SYS_NICE use the default wheel, together with the kernel's
 * own timers, and share private wheels with each other. Other sessions share
 * wheels only with sessions of their own user: one instead of the default
 * wheel, and private ones within limits. So a crowd of timers delays only its
 * own user, and only this user sees the wheel in /proc/twheel. Sessions with
 * CAP_SYS_NICE have several users, so only CAP_SYS_ADMIN sees their wheels.
 *
 * There is one wheel for each configuration and owner. It is created for its
 * first session and destroyed with the last. The slots of a CPU are allocated
 * when a session is about to start a timer there.
 *
 * Allocations, and creating and destroying wheels, need no lock: in a memory
 * cgroup at its limit they may take minutes.
 */
#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "session.h"

static DEFINE_SPINLOCK(wheels_lock);
/* Private wheels of sessions with CAP_SYS_NICE. Protected by wheels_lock. */
static LIST_HEAD(common_wheels);

/* Names of wheels, compared by address to tell the kinds of wheels apart. */
static const char private_name[] = "private";
static const char user_name[] = "user";

static bool same_config(const struct twheel_config *a,
			const struct twheel_config *b)
{
	return a->name == b->name && a->scheme == b->scheme &&
	       a->tick_ns == b->tick_ns && a->slots == b->slots &&
	       a->clock == b->clock;
}

static struct list_head *wheels_of(const struct twheel_session *s)
{
	return s->nice ? &common_wheels : &s->user->wheels;
}

/* Returns a matching wheel with one more session counted. */
static struct twheel_session_wheel *find_wheel(const struct twheel_session *s,
					       const struct twheel_config *config)
{
	struct twheel_session_wheel *shared;

	lockdep_assert_held(&wheels_lock);
	list_for_each_entry(shared, wheels_of(s), list) {
		if (same_config(&shared->config, config)) {
			shared->users++;
			return shared;
		}
	}
	return NULL;
}

/* Returns whether a wheel is counted: not the default wheel's replacement. */
static bool is_counted(const struct twheel_config *config)
{
	return config->name == private_name;
}

static void free_wheel(struct twheel_session_wheel *shared)
{
	struct twheel_session_user *user = shared->user;

	twheel_destroy(shared->wheel);
	if (is_counted(&shared->config))
		twheel_session_user_uncharge(user, TWHEEL_COUNT_WHEELS);
	twheel_session_user_put(user);
	kfree(shared);
}

static struct twheel_session_wheel *
make_wheel(struct twheel_session *s, const struct twheel_config *config)
{
	struct twheel_session_wheel *shared;
	struct twheel *wheel;
	int ret;

	shared = kzalloc(struct_size(shared, prepared, BITS_TO_LONGS(nr_cpu_ids)),
			 GFP_SESSION);
	if (!shared)
		return ERR_PTR(-ENOMEM);
	ret = is_counted(config) ?
	      twheel_session_user_charge(s->user, TWHEEL_COUNT_WHEELS,
					 s->unlimited) : 0;
	if (ret)
		goto err_shared;
	wheel = twheel_create(config);
	if (IS_ERR(wheel)) {
		ret = PTR_ERR(wheel);
		goto err_charge;
	}
	twheel_session_user_hold(s->user);
	shared->user = s->user;
	shared->wheel = wheel;
	shared->config = *config;
	shared->users = 1;
	return shared;

err_charge:
	if (is_counted(config))
		twheel_session_user_uncharge(s->user, TWHEEL_COUNT_WHEELS);
err_shared:
	kfree(shared);
	return ERR_PTR(ret);
}

static struct twheel_session_wheel *
get_wheel(struct twheel_session *s, const struct twheel_config *config)
{
	struct twheel_session_wheel *shared, *fresh;

	spin_lock(&wheels_lock);
	shared = find_wheel(s, config);
	spin_unlock(&wheels_lock);
	if (shared)
		return shared;
	fresh = make_wheel(s, config);
	if (IS_ERR(fresh))
		return fresh;
	spin_lock(&wheels_lock);
	shared = find_wheel(s, config);
	if (!shared)
		list_add(&fresh->list, wheels_of(s));
	spin_unlock(&wheels_lock);
	if (!shared)
		return fresh;
	/* Another session was faster. */
	free_wheel(fresh);
	return shared;
}

/*
 * Returns a private wheel for a session, created if necessary, to release with
 * twheel_session_wheel_put(). ERR_PTR() of -EPERM if the configuration needs
 * CAP_SYS_NICE, -EINVAL for a parameter out of range, -ENOSPC at a limit, or
 * an error of twheel_create(). May sleep.
 */
struct twheel_session_wheel *
twheel_session_wheel_private(struct twheel_session *s,
			     const struct twheel_setup *setup)
{
	struct twheel_config config = {
		.name		= private_name,
		.hidden		= true,
		.uid		= s->nice ? INVALID_UID : s->user->uid,
		.scheme		= setup->scheme,
		.tick_ns	= setup->tick_ns,
		.slots		= setup->slots,
		.clock		= setup->clock,
		.payer		= s->nice ? NULL : s->user->payer,
	};
	struct twheel_config standard;
	int ret;

	if (setup->scheme >= TWHEEL_NR_SCHEMES)
		return ERR_PTR(-EINVAL);
	twheel_get_config(twheel_default(), &standard);
	if (!config.tick_ns)
		config.tick_ns = standard.tick_ns;
	config.doze = standard.mode == TWHEEL_TICKLESS ? TWHEEL_DOZE_DEFAULT :
							 standard.doze;
	/* The ticks of a user's wheel must be bounded. */
	if (!s->nice && (!twheel_scheme_bounded(config.scheme) ||
			 config.tick_ns < standard.tick_ns))
		return ERR_PTR(-EPERM);
	/* Make equivalent configurations equal. */
	ret = twheel_check_config(&config);
	return ret ? ERR_PTR(ret) : get_wheel(s, &config);
}

/* Release a wheel, or NULL. It is counted until it is destroyed. May sleep. */
void twheel_session_wheel_put(struct twheel_session_wheel *shared)
{
	bool last;

	if (!shared)
		return;
	spin_lock(&wheels_lock);
	last = !--shared->users;
	if (last)
		list_del(&shared->list);
	spin_unlock(&wheels_lock);
	if (last)
		free_wheel(shared);
}

/*
 * Set the wheel of a session. NULL: the default wheel, or its replacement,
 * which twheel_session_wheel_need() gets. Session's lock held, or the session
 * not known yet.
 */
void twheel_session_wheel_use(struct twheel_session *s,
			      struct twheel_session_wheel *shared)
{
	struct twheel_config config;

	/* Pairs with READ_ONCE() in twheel_session_wheel_need(). */
	WRITE_ONCE(s->shared, shared);
	s->wheel = shared ? shared->wheel : twheel_default();
	s->prepared = cpumask_bits(cpu_possible_mask);
	if (shared)
		s->prepared = shared->prepared;
	else if (!s->nice)
		s->prepared = cpumask_bits(cpu_none_mask);
	twheel_get_config(s->wheel, &config);
	s->tick_ns = config.tick_ns;
	/* Pairs with twheel_session_time() and twheel_session_offset(). */
	WRITE_ONCE(s->clock, config.clock);
	twheel_session_waker_set_up(s);
}

/* Get the user's wheel. @making_room keeps others from changing the wheel. */
static int use_own(struct twheel_session *s)
{
	struct twheel_session_wheel *shared;
	struct twheel_config config;

	twheel_get_config(twheel_default(), &config);
	config.name = user_name;
	config.hidden = true;
	config.uid = s->user->uid;
	config.payer = s->user->payer;
	shared = get_wheel(s, &config);
	if (IS_ERR(shared))
		return PTR_ERR(shared);
	spin_lock_bh(&s->lock);
	if (!s->shared) {
		twheel_session_wheel_use(s, shared);
		shared = NULL;
	}
	spin_unlock_bh(&s->lock);
	twheel_session_wheel_put(shared);
	return 0;
}

/*
 * Prepare to start a timer: create the wheel if necessary, and prepare it for
 * this CPU. A caller that migrated has to call it again. @s->making_room is
 * not 0. May sleep. Returns 0, -ENOMEM, or -ENOSPC at a limit.
 */
int twheel_session_wheel_need(struct twheel_session *s)
{
	struct twheel_session_wheel *shared;
	unsigned int cpu;
	int ret = 0;

	if (s->nice && !READ_ONCE(s->shared))
		return 0;
	if (!READ_ONCE(s->shared))
		ret = use_own(s);
	if (ret)
		return ret;
	shared = READ_ONCE(s->shared);
	cpu = raw_smp_processor_id();
	if (test_bit(cpu, shared->prepared))
		return 0;
	ret = twheel_prepare_cpu(shared->wheel, cpu);
	if (!ret)
		set_bit(cpu, shared->prepared);
	return ret;
}
