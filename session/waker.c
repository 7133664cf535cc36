// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Waking readers later than at the end of a tick
 *
 * A session may say for how long its events may wait until a reader is woken for
 * them. Then a reader wakes up once for the events of many ticks. A program that reads
 * or polls earlier sees them at once.
 *
 * The session has a timer for that, the waker, on the session's wheel. The first
 * event that no reader was told of starts it.
 */
#include "session.h"

/* The events may have been read or withdrawn since. */
static void wake(struct twheel_timer *waker)
{
	struct twheel_session *s = container_of(waker, struct twheel_session,
						waker);

	spin_lock(&s->lock);
	if (!s->closing && s->events.first)
		twheel_session_wake_at_tick_end(s, waker, s->untold);
	s->untold = 0;
	spin_unlock(&s->lock);
}

/**
 * twheel_session_waker_set_up - the session has another wheel
 * @s: the session
 *
 * Context: Session's lock held, or the session is not known yet. Before the first
 * start.
 */
void twheel_session_waker_set_up(struct twheel_session *s)
{
	twheel_timer_setup(&s->waker, s->wheel, wake, 0);
}

/**
 * twheel_session_wake_later - wake up readers and pollers for an event in time
 * @s: the session, with its @wake_ns not 0
 * @timer: the timer whose event is now in the queue, and which calls back
 * @now: the time, ns
 *
 * Context: Softirq, session's lock held.
 */
void twheel_session_wake_later(struct twheel_session *s,
			       struct twheel_timer *timer, ktime_t now)
	__must_hold(&s->lock)
{
	if (!s->untold++)
		twheel_start_at(&s->waker, now + s->wake_ns);
}
