// SPDX-License-Identifier: GPL-2.0
/*
 * Private wheels, shared by the sessions that ask for the same
 *
 * A session that wants a wheel other than the default one gets it here. There
 * is one for each configuration, made for its first session and gone with its
 * last; how many there may be is a parameter.
 */
#include <linux/err.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "session.h"

static unsigned int max_wheels = 16;
module_param(max_wheels, uint, 0644);
MODULE_PARM_DESC(max_wheels, "Most private wheels of sessions");

static LIST_HEAD(shared_wheels);	/* guarded by shared_lock */
static unsigned int nr_shared;		/* guarded by shared_lock */
static DEFINE_MUTEX(shared_lock);

static bool same_config(const struct twheel_config *a,
			const struct twheel_config *b)
{
	return a->scheme == b->scheme && a->mode == b->mode &&
	       a->tick_ns == b->tick_ns && a->slots == b->slots;
}

static struct twheel_session_wheel *new_shared(const struct twheel_config *config)
{
	struct twheel_session_wheel *shared;

	if (nr_shared >= READ_ONCE(max_wheels))
		return ERR_PTR(-ENOSPC);
	shared = kzalloc(sizeof(*shared), GFP_SESSION);
	if (!shared)
		return ERR_PTR(-ENOMEM);
	shared->wheel = twheel_create(config);
	if (IS_ERR(shared->wheel)) {
		struct twheel *error = shared->wheel;

		kfree(shared);
		return ERR_CAST(error);
	}
	shared->config = *config;
	list_add(&shared->list, &shared_wheels);
	nr_shared++;
	return shared;
}

/**
 * twheel_session_wheel_get - the wheel for a configuration, made if there is none
 * @config: what a session asks for
 *
 * Context: Process, may sleep.
 * Return: the wheel, or ERR_PTR() of -ENOSPC at max_wheels, or what
 * twheel_create() says.
 */
struct twheel_session_wheel *
twheel_session_wheel_get(const struct twheel_config *config)
{
	struct twheel_session_wheel *shared;

	mutex_lock(&shared_lock);
	list_for_each_entry(shared, &shared_wheels, list)
		if (same_config(&shared->config, config))
			goto found;
	shared = new_shared(config);
found:
	if (!IS_ERR(shared))
		shared->users++;
	mutex_unlock(&shared_lock);
	return shared;
}

/**
 * twheel_session_wheel_put - a session does not use it any more
 * @shared: the wheel, or NULL
 *
 * A wheel that goes counts until it is gone, but nobody waits for that.
 *
 * Context: Process, may sleep.
 */
void twheel_session_wheel_put(struct twheel_session_wheel *shared)
{
	bool last;

	if (!shared)
		return;
	mutex_lock(&shared_lock);
	last = !--shared->users;
	if (last)
		list_del(&shared->list);
	mutex_unlock(&shared_lock);
	if (!last)
		return;
	twheel_destroy(shared->wheel);
	kfree(shared);
	mutex_lock(&shared_lock);
	nr_shared--;
	mutex_unlock(&shared_lock);
}
