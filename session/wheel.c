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
 * No lock is held while memory is allocated, or a wheel is created or
 * destroyed: in a memory cgroup at its limit that may take minutes.
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
	return a->name == b->name && a->tick_ns == b->tick_ns && a->clock == b->clock;
}

static struct list_head *wheels_of(const struct twheel_session *s)
{
	return s->nice ? &common_wheels : &s->user->wheels;
}

/* Returns the wheel for @config, with one more session counted, or NULL. */
static struct twheel_session_wheel *find_wheel(const struct twheel_session *s,
					       const struct twheel_config *config)
{
	struct twheel_session_wheel *ref;

	lockdep_assert_held(&wheels_lock);
	list_for_each_entry(ref, wheels_of(s), list) {
		if (same_config(&ref->config, config)) {
			ref->users++;
			return ref;
		}
	}
	return NULL;
}

/*
 * Returns whether a wheel counts for its user. Private wheels do. The wheel
 * that replaces the default wheel does not.
 */
static bool is_counted(const struct twheel_config *config)
{
	return config->name == private_name;
}

static void free_wheel(struct twheel_session_wheel *ref)
{
	struct twheel_session_user *user = ref->user;

	twheel_destroy(ref->wheel);
	if (is_counted(&ref->config))
		twheel_session_user_uncharge(user, TWHEEL_COUNT_WHEELS);
	twheel_session_user_put(user);
	kfree(ref);
}

static struct twheel_session_wheel *
make_wheel(struct twheel_session *s, const struct twheel_config *config)
{
	struct twheel_session_wheel *ref;
	struct twheel *wheel;
	int ret;

	ref = kzalloc(struct_size(ref, prepared, BITS_TO_LONGS(nr_cpu_ids)),
		      GFP_SESSION);
	if (!ref)
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
	ref->user = s->user;
	ref->wheel = wheel;
	ref->config = *config;
	ref->users = 1;
	return ref;

err_charge:
	if (is_counted(config))
		twheel_session_user_uncharge(s->user, TWHEEL_COUNT_WHEELS);
err_shared:
	kfree(ref);
	return ERR_PTR(ret);
}

static struct twheel_session_wheel *
get_wheel(struct twheel_session *s, const struct twheel_config *config)
{
	struct twheel_session_wheel *ref, *fresh;

	spin_lock(&wheels_lock);
	ref = find_wheel(s, config);
	spin_unlock(&wheels_lock);
	if (ref)
		return ref;
	fresh = make_wheel(s, config);
	if (IS_ERR(fresh))
		return fresh;
	spin_lock(&wheels_lock);
	ref = find_wheel(s, config);
	if (!ref)
		list_add(&fresh->list, wheels_of(s));
	spin_unlock(&wheels_lock);
	if (!ref)
		return fresh;
	/* Another session created this wheel first. */
	free_wheel(fresh);
	return ref;
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
		.tick_ns	= setup->tick_ns,
		.clock		= setup->clock,
		.payer		= s->nice ? NULL : s->user->payer,
	};
	struct twheel_config standard;
	int ret;

	twheel_get_config(twheel_default(), &standard);
	if (!config.tick_ns)
		config.tick_ns = standard.tick_ns;
	config.doze = standard.mode == TWHEEL_TICKLESS ? TWHEEL_DOZE_DEFAULT :
							 standard.doze;
	/* A user's wheel ticks no faster than the default wheel, which it replaces. */
	if (!s->nice && config.tick_ns < standard.tick_ns)
		return ERR_PTR(-EPERM);
	/* Fill in the defaults: equivalent configurations share a wheel. */
	ret = twheel_check_config(&config);
	return ret ? ERR_PTR(ret) : get_wheel(s, &config);
}

/*
 * Drop a session's reference to a wheel, unless @ref is NULL. Dropping the last
 * one destroys the wheel, which counts for its user until then. May sleep.
 */
void twheel_session_wheel_put(struct twheel_session_wheel *ref)
{
	bool last;

	if (!ref)
		return;
	spin_lock(&wheels_lock);
	last = !--ref->users;
	if (last)
		list_del(&ref->list);
	spin_unlock(&wheels_lock);
	if (last)
		free_wheel(ref);
}

/*
 * Set the wheel of a session. NULL stands for the default wheel. Without
 * CAP_SYS_NICE the session cannot start timers on it, until
 * twheel_session_wheel_prepare() replaces it by the user's wheel. Session's
 * lock held, unless the session is being opened.
 */
void twheel_session_wheel_attach(struct twheel_session *s,
				 struct twheel_session_wheel *ref)
{
	struct twheel_config config;

	/* Pairs with READ_ONCE() in twheel_session_wheel_prepare(). */
	WRITE_ONCE(s->wheel_ref, ref);
	s->wheel = ref ? ref->wheel : twheel_default();
	s->prepared = cpumask_bits(cpu_possible_mask);
	if (ref)
		s->prepared = ref->prepared;
	else if (!s->nice)
		s->prepared = cpumask_bits(cpu_none_mask);
	twheel_get_config(s->wheel, &config);
	s->tick_ns = config.tick_ns;
	/* Pairs with twheel_session_time() and twheel_session_offset(). */
	WRITE_ONCE(s->clock, config.clock);
}

/*
 * Attach the wheel that replaces the default wheel for this user. SETUP does
 * not change the session's wheel now, because @nr_unlocked is not 0.
 */
static int use_own(struct twheel_session *s)
{
	struct twheel_session_wheel *ref;
	struct twheel_config config;

	twheel_get_config(twheel_default(), &config);
	config.name = user_name;
	config.hidden = true;
	config.uid = s->user->uid;
	config.payer = s->user->payer;
	ref = get_wheel(s, &config);
	if (IS_ERR(ref))
		return PTR_ERR(ref);
	spin_lock_bh(&s->lock);
	if (!s->wheel_ref) {
		twheel_session_wheel_attach(s, ref);
		ref = NULL;
	}
	spin_unlock_bh(&s->lock);
	twheel_session_wheel_put(ref);
	return 0;
}

/*
 * Prepare to start a timer: create the wheel if necessary, and prepare it for
 * this CPU. A caller that has migrated to another CPU has to call this again.
 * @s->nr_unlocked is not 0. May sleep. Returns 0, -ENOMEM, or -ENOSPC at a
 * limit.
 */
int twheel_session_wheel_prepare(struct twheel_session *s)
{
	struct twheel_session_wheel *ref;
	unsigned int cpu;
	int ret = 0;

	if (s->nice && !READ_ONCE(s->wheel_ref))
		return 0;
	if (!READ_ONCE(s->wheel_ref))
		ret = use_own(s);
	if (ret)
		return ret;
	ref = READ_ONCE(s->wheel_ref);
	cpu = raw_smp_processor_id();
	if (test_bit(cpu, ref->prepared))
		return 0;
	ret = twheel_prepare_cpu(ref->wheel, cpu);
	if (!ret)
		set_bit(cpu, ref->prepared);
	return ret;
}
