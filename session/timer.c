// SPDX-License-Identifier: GPL-2.0
/*
 * The timers of a session: starting, expiring, stopping, looking
 *
 * A timer of a session is free, armed or unread. Starting arms it. Its
 * callback, in softirq context, puts it at the end of the session's queue of
 * events: unread. Reading the event frees it, or arms it again if it is
 * periodic. Stopping frees it while it is armed.
 *
 * An armed timer whose callback waits for the session's lock is expired for
 * everybody who holds that lock: the wheel says so (twheel_stop() and
 * twheel_restart_at() return 0), the timer is left alone, and the callback
 * queues it when it gets the lock. So no timer is freed while its callback is
 * on the way, and every started timer is either stopped once or queued once.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/smp.h>

#include "timer.h"

static struct twheel_session *session_of(struct twheel_utimer *ut)
{
	return twheel_chunk_of(ut)->session;
}

/* Expiry. */

/*
 * A run of the tick queues and calls what one CPU has in @s->ends, so that
 * nobody else changes what is asked for here. The wake-up is counted now: taken
 * for that, the session's lock would make it wait for other CPUs again.
 */
static void wake_at_tick_end(struct twheel_session *s,
			     struct twheel_timer *timer)
{
	struct twheel_tick_end *end = &s->ends[smp_processor_id()].tick_end;

	if (twheel_tick_end_queued(end))
		return;
	s->stats.wakeups++;
	twheel_at_tick_end(timer, end);
}

static void session_expired(struct twheel_timer *timer)
{
	struct twheel_utimer *ut = container_of(timer, struct twheel_utimer,
						timer);
	struct twheel_session *s = session_of(ut);

	spin_lock(&s->lock);
	ut->expired_ns = ktime_get_ns();
	ut->state = TWHEEL_UNREAD;
	s->stats.expired++;
	s->stats.pending--;
	if (!s->closing) {
		list_add_tail(&timer->node.link, &s->events);
		s->stats.unread++;
		wake_at_tick_end(s, timer);
	}
	spin_unlock(&s->lock);
}

/*
 * Starting. Two errors are internal: -EAGAIN asks for make_room(),
 * -EINPROGRESS says that the timer's callback is on its way: those who are told
 * that a timer has expired are to find its event in the queue.
 */

static int start_new(struct twheel_session *s, struct twheel_utimer *ut,
		     struct twheel_start *args, ktime_t now)
{
	if (args->id & TWHEEL_ID_KERNEL && args->id != TWHEEL_ID_ANY)
		return -ENOENT;
	if (s->timers >= s->max_timers)
		return -ENOSPC;
	ut = twheel_table_take(s, ut, args->id);
	if (!ut)
		return -EAGAIN;
	args->id = ut->id;
	twheel_utimer_set_up(ut, args);
	s->stats.started++;
	twheel_utimer_arm(s, ut, twheel_session_deadline(args, now));
	return 0;
}

static int start_armed(struct twheel_utimer *ut,
		       const struct twheel_start *args, ktime_t now)
{
	if (!twheel_restart_at(&ut->timer, twheel_session_deadline(args, now)))
		return -EINPROGRESS;
	twheel_utimer_set_up(ut, args);
	session_of(ut)->stats.restarted++;
	return 1;
}

static int start_unread(struct twheel_session *s, struct twheel_utimer *ut,
			const struct twheel_start *args, ktime_t now)
{
	if (!(args->flags & TWHEEL_START_REPLACE))
		return -EALREADY;
	if (!twheel_session_wheel_ready(s))
		return -EAGAIN;
	list_del_init(&ut->timer.node.link);
	s->stats.unread--;
	s->stats.replaced++;
	s->stats.started++;
	twheel_utimer_set_up(ut, args);
	twheel_utimer_arm(s, ut, twheel_session_deadline(args, now));
	return 0;
}

static int start_locked(struct twheel_session *s, struct twheel_start *args,
			ktime_t now)
{
	struct twheel_utimer *ut;
	int ret = twheel_session_check_start(s, args);

	lockdep_assert_held(&s->lock);
	if (ret)
		return ret;
	if (args->id == TWHEEL_ID_ANY)
		return start_new(s, NULL, args, now);
	ut = twheel_table_place(s->tables, args->id);
	if (!ut || ut->state == TWHEEL_FREE || ut->id != args->id)
		return start_new(s, ut, args, now);
	if (ut->state == TWHEEL_ARMED)
		return start_armed(ut, args, now);
	return start_unread(s, ut, args, now);
}

static int make_room(struct twheel_session *s, u64 id)
{
	int ret = twheel_session_wheel_need(s);

	return ret ?: twheel_table_grow(s, id, session_expired);
}

static bool is_internal(int ret)
{
	return unlikely(ret == -EAGAIN || ret == -EINPROGRESS);
}

/**
 * twheel_session_start_locked - start a timer, and make room for it
 * @s: the session
 * @args: as in TWHEEL_IOC_START; @args->id is set to the id that was started
 * @now: what a relative start counts from, ns
 *
 * Context: Process, may sleep. Session's lock held; it is let go meanwhile if
 * memory is needed, or the timer's callback is on its way.
 * Return: as twheel_session_start().
 */
int twheel_session_start_locked(struct twheel_session *s,
				struct twheel_start *args, ktime_t now)
	__must_hold(&s->lock)
{
	int ret = start_locked(s, args, now);
	int error = 0;

	if (!is_internal(ret))
		return ret;
	s->making_room++;
	while (is_internal(ret)) {
		spin_unlock_bh(&s->lock);
		if (ret == -EAGAIN)
			error = make_room(s, args->id);
		else
			usleep_range(10, 50);
		spin_lock_bh(&s->lock);
		ret = error ?: start_locked(s, args, now);
	}
	s->making_room--;
	return ret;
}

/**
 * twheel_session_start - TWHEEL_IOC_START
 * @s: the session
 * @args: as in the command; @args->id is set to the id that was started
 *
 * Context: Process, may sleep.
 * Return: 1 if the timer was pending, else 0; -EINVAL, -ENOENT, -EALREADY,
 * -ENOSPC, -ENOMEM as documented with the command.
 */
int twheel_session_start(struct twheel_session *s, struct twheel_start *args)
{
	ktime_t now = args->flags & TWHEEL_START_ABS ? 0 : ktime_get();
	int ret;

	spin_lock_bh(&s->lock);
	ret = twheel_session_start_locked(s, args, now);
	spin_unlock_bh(&s->lock);
	return ret;
}

/* Stopping. */

static int stop_unread(struct twheel_utimer *ut)
{
	/* The event stays; a periodic timer does not go on after it. */
	ut->period_ns = 0;
	return -EALREADY;
}

static int stop_locked(struct twheel_session *s, u64 id)
{
	struct twheel_utimer *ut;

	lockdep_assert_held(&s->lock);
	ut = twheel_table_find(s->tables, id);
	if (!ut)
		return twheel_table_was_read(s->tables, id) ? -EALREADY :
							      -ENOENT;
	if (ut->state == TWHEEL_UNREAD)
		return stop_unread(ut);
	if (!twheel_stop(&ut->timer))
		return -EINPROGRESS;
	s->stats.stopped++;
	s->stats.pending--;
	twheel_table_free(ut, false);
	return 0;
}

/**
 * twheel_session_stop_locked - stop a timer
 * @s: the session
 * @id: the timer, a number of this session's
 *
 * Context: Process, may sleep. Session's lock held; it is let go meanwhile if
 * the timer's callback is on its way.
 * Return: as twheel_session_stop().
 */
int twheel_session_stop_locked(struct twheel_session *s, u64 id)
	__must_hold(&s->lock)
{
	int ret;

	while ((ret = stop_locked(s, id)) == -EINPROGRESS) {
		spin_unlock_bh(&s->lock);
		usleep_range(10, 50);
		spin_lock_bh(&s->lock);
	}
	return ret;
}

/**
 * twheel_session_stop - TWHEEL_IOC_STOP
 * @s: the session
 * @id: the timer
 *
 * Context: Process.
 * Return: 0; -EINVAL, -ENOENT, -EALREADY as documented with the command.
 */
int twheel_session_stop(struct twheel_session *s, u64 id)
{
	int ret = -EINVAL;

	spin_lock_bh(&s->lock);
	if (twheel_session_has_number(s, id))
		ret = twheel_session_stop_locked(s, id);
	spin_unlock_bh(&s->lock);
	return ret;
}

/* Looking. */

static void get_utimer(struct twheel_utimer *ut, struct twheel_get *get)
{
	get->user_data = ut->user_data;
	get->period_ns = ut->period_ns;
	get->remaining_ns = 0;
	get->state = TWHEEL_STATE_EXPIRED;
	if (ut->state == TWHEEL_ARMED) {
		get->state = TWHEEL_STATE_PENDING;
		get->remaining_ns = twheel_remaining(&ut->timer);
	}
}

/**
 * twheel_session_get - TWHEEL_IOC_GET
 * @s: the session
 * @get: as in the command
 *
 * Context: Process.
 * Return: 0; -EINVAL, -ENOENT as documented with the command.
 */
int twheel_session_get(struct twheel_session *s, struct twheel_get *get)
{
	struct twheel_utimer *ut;
	int ret = -EINVAL;

	spin_lock_bh(&s->lock);
	if (twheel_session_has_number(s, get->id)) {
		ut = twheel_table_find(s->tables, get->id);
		ret = ut ? 0 : -ENOENT;
		if (ut)
			get_utimer(ut, get);
	}
	spin_unlock_bh(&s->lock);
	return ret;
}
