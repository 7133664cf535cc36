// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A session: opening, setting up, showing, closing
 *
 * A session exists from the first descriptor to the last close. Closing it
 * stops its armed timers, without events, and waits for running callbacks.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "timer.h"

static unsigned int max_timers = 1U << 22;

/*
 * Set max_timers, at the load of the module or later. Refuses invalid values.
 */
static int set_max_timers(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, 1, TWHEEL_TIMERS_MAX);
}

static const struct kernel_param_ops max_timers_ops = {
	.set = set_max_timers,
	.get = param_get_uint,
};

module_param_cb(max_timers, &max_timers_ops, &max_timers, 0644);
MODULE_PARM_DESC(max_timers, "Maximum number of timers of a session, up to 2^24");

/*
 * All sessions by number. Readers use RCU, and a session is freed a grace
 * period after it was erased.
 */
static DEFINE_XARRAY_FLAGS(sessions, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static u32 next_number;		/* guarded by the lock of sessions */

/* Setting up */

static int check_setup(const struct twheel_setup *setup)
{
	if (setup->flags & ~TWHEEL_SETUP_PRIVATE ||
	    setup->reserved[0] | setup->reserved[1] | setup->reserved[2] |
	    setup->reserved2 | setup->reserved3 ||
	    (setup->event_size && setup->event_size != TWHEEL_EVENT_SIZE_V1) ||
	    setup->max_timers > READ_ONCE(max_timers) ||
	    setup->shared_ids > (setup->max_timers ?: READ_ONCE(max_timers)))
		return -EINVAL;
	if (!(setup->flags & TWHEEL_SETUP_PRIVATE) && (setup->tick_ns || setup->clock))
		return -EINVAL;
	if (setup->shared_ids && !twheel_words_are_coherent())
		return -EOPNOTSUPP;
	return 0;
}

/*
 * Returns -EBUSY if a SETUP comes too late: a timer was started, or the SETUP
 * would change the number of words when the program may have mapped them.
 * Otherwise returns 0. Session's lock held.
 */
static int check_change(const struct twheel_session *s,
			const struct twheel_setup *setup)
{
	lockdep_assert_held(&s->lock);
	if (s->timers || s->stats.stopped || s->stats.expired || s->nr_unlocked ||
	    (s->words && s->shared_ids != setup->shared_ids))
		return -EBUSY;
	return 0;
}

/* TWHEEL_IOC_SETUP. May sleep. */
int twheel_session_setup(struct twheel_session *s,
			 const struct twheel_setup *setup)
{
	struct twheel_table old[TWHEEL_NR_TABLES] = {};
	struct twheel_session_wheel *ref = NULL;
	struct twheel_session_words *words = NULL;
	int ret;

	ret = check_setup(setup);
	if (ret)
		return ret;
	/* Check here, too, so that a refused SETUP does not create a wheel. */
	spin_lock_bh(&s->lock);
	ret = check_change(s, setup);
	spin_unlock_bh(&s->lock);
	if (ret)
		return ret;
	if (setup->flags & TWHEEL_SETUP_PRIVATE)
		ref = twheel_session_wheel_private(s, setup);
	if (IS_ERR(ref))
		return PTR_ERR(ref);
	/* Pairs with the write below. */
	if (setup->shared_ids && !READ_ONCE(s->words))
		words = twheel_session_words_make(s, setup->shared_ids);
	if (IS_ERR(words)) {
		twheel_session_wheel_put(ref);
		return PTR_ERR(words);
	}
	spin_lock_bh(&s->lock);
	ret = check_change(s, setup);
	if (!ret) {
		/*
		 * A start that failed for lack of memory may have left parts of
		 * tables, whose size depends on the limit that changes now.
		 */
		memcpy(old, s->tables, sizeof(old));
		twheel_table_init_all(s->tables);
		swap(s->wheel_ref, ref);
		twheel_session_wheel_attach(s, s->wheel_ref);
		/* Another SETUP may have installed words since the check above. */
		if (words && !s->words) {
			s->shared_ids = words->nr;
			/* Pairs with the read above. */
			WRITE_ONCE(s->words, words);
			words = NULL;
		}
		if (s->words)
			s->words->offset = twheel_time_ns_offset(s->clock);
		s->max_timers = setup->max_timers ?: READ_ONCE(max_timers);
	}
	spin_unlock_bh(&s->lock);
	twheel_table_destroy_all(s, old);
	twheel_session_words_free(s, words);
	twheel_session_wheel_put(ref);
	return ret;
}

/* TWHEEL_IOC_INFO */
void twheel_session_info(struct twheel_session *s, struct twheel_info *info)
{
	struct twheel_config config;

	spin_lock_bh(&s->lock);
	twheel_get_config(s->wheel, &config);
	info->max_timers = s->max_timers;
	info->shared_ids = s->shared_ids;
	spin_unlock_bh(&s->lock);
	info->event_size = TWHEEL_EVENT_SIZE_V1;
	info->scheme = config.scheme;
	info->mode = config.mode;
	info->clock = config.clock;
	info->slots = config.slots;
	info->tick_ns = config.tick_ns;
	info->max_interval_ns = KTIME_MAX;
}

/* Compute the counters that programs see. Session's lock held. */
void twheel_session_stats_locked(const struct twheel_session *s,
				 struct twheel_stats *stats)
{
	int i;

	*stats = s->stats;
	stats->carried += atomic64_read(&s->carried);
	stats->pending = s->timers - stats->unread;
	/* The sum counts armed timers. A read armed @rearmed of them. */
	stats->started = stats->pending + stats->stopped + stats->expired -
			 stats->rearmed;
	for (i = 0; i < TWHEEL_STATS_LATENESS; i++)
		stats->delivered += stats->lateness[i];
}

/* TWHEEL_IOC_STATS */
void twheel_session_stats(struct twheel_session *s, struct twheel_stats *stats)
{
	spin_lock_bh(&s->lock);
	twheel_session_stats_locked(s, stats);
	spin_unlock_bh(&s->lock);
}

/* Opening and closing */

/* Create a session, or return ERR_PTR() of -ENOMEM or -ENOSPC. May sleep. */
struct twheel_session *twheel_session_open(void)
{
	struct twheel_session *s;
	unsigned int cpu;
	int ret;

	s = kvzalloc(struct_size(s, ends, nr_cpu_ids), GFP_SESSION);
	if (!s)
		return ERR_PTR(-ENOMEM);
	for_each_possible_cpu(cpu) {
		s->ends[cpu].tick_end.fn = twheel_session_wake;
		s->ends[cpu].session = s;
	}
	spin_lock_init(&s->lock);
	init_waitqueue_head(&s->readers);
	init_waitqueue_head(&s->pollers);
	s->max_timers = READ_ONCE(max_timers);
	/*
	 * Random, so that the id of another session does not match by chance.
	 */
	s->generation = get_random_u64();
	twheel_table_init_all(s->tables);
	/*
	 * The opener's user and rights count, even if another process uses the
	 * descriptor later.
	 */
	s->uid = current_euid();
	s->nice = ns_capable_noaudit(&init_user_ns, CAP_SYS_NICE);
	s->unlimited = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
	s->user = twheel_session_user_get();
	if (IS_ERR(s->user)) {
		ret = PTR_ERR(s->user);
		goto err_session;
	}
	ret = twheel_session_user_charge(s->user, TWHEEL_COUNT_SESSIONS,
					 s->unlimited);
	if (ret)
		goto err_user;
	twheel_session_wheel_attach(s, NULL);
	s->pid = get_pid(task_tgid(current));
	ret = xa_alloc_cyclic(&sessions, &s->number, s, xa_limit_31b,
			      &next_number, GFP_SESSION);
	if (ret >= 0)
		return s;

	put_pid(s->pid);
	twheel_session_user_uncharge(s->user, TWHEEL_COUNT_SESSIONS);
err_user:
	twheel_session_user_put(s->user);
err_session:
	kvfree(s);
	return ERR_PTR(ret);
}

/*
 * Stop the armed timers of a chunk. A timer that still expires is not queued,
 * because @closing is set.
 */
static void stop_chunk(struct twheel_chunk *chunk)
{
	unsigned int i;

	for (i = 0; i < TWHEEL_CHUNK_TIMERS; i++)
		if (!(chunk->free & BIT(i)) &&
		    READ_ONCE(chunk->timers[i].state) == TWHEEL_ARMED)
			twheel_stop_sync(&chunk->timers[i].timer);
}

/* Stop the timers of a session whose last descriptor is closed, and free it. */
void twheel_session_close(struct twheel_session *s)
{
	struct twheel_chunk *chunk;
	struct pid *pid = s->pid;
	unsigned int cpu;
	int i;

	xa_erase(&sessions, s->number);
	spin_lock_bh(&s->lock);
	s->closing = true;
	s->pid = NULL;
	spin_unlock_bh(&s->lock);
	put_pid(pid);
	for (i = 0; i < TWHEEL_NR_TABLES; i++)
		twheel_table_for_each(chunk, &s->tables[i])
			stop_chunk(chunk);
	/* A run that ended early leaves its tick end to the next run. */
	for_each_possible_cpu(cpu)
		while (twheel_tick_end_queued(&s->ends[cpu].tick_end))
			usleep_range(10, 50);
	/*
	 * The callback that queued the last event may still hold the session's
	 * lock. Its timer is unread and was not stopped above, so wait here.
	 */
	spin_lock_bh(&s->lock);
	spin_unlock_bh(&s->lock);
	twheel_table_destroy_all(s, s->tables);
	/* No timer is pending, and callbacks do not read words after @closing was set. */
	twheel_session_words_free(s, s->words);
	twheel_session_wheel_put(s->wheel_ref);
	twheel_session_user_uncharge(s->user, TWHEEL_COUNT_SESSIONS);
	twheel_session_user_put(s->user);
	/* Callbacks may still wake up readers, and /proc/twheel read @s. */
	kvfree_rcu(s, rcu);
}

/* For /proc/twheel */

/*
 * Returns the session with the lowest number from *@number on, and sets
 * *@number to its number. Returns NULL if there is none. Called in an RCU
 * read-side critical section, which keeps the session from being freed.
 */
struct twheel_session *twheel_session_find(unsigned long *number)
{
	return xa_find(&sessions, number, ULONG_MAX, XA_PRESENT);
}
