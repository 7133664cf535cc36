// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: Waking readers later than at the end of a tick
 *
 * A session may allow its events to wait for some time before a reader is woken
 * up. Then one wake-up serves the events of many ticks. A program that reads or
 * polls earlier sees them at once.
 *
 * For this the session has a timer on its own wheel, the waker. The first event
 * without a wake-up starts it.
 */
#include "session.h"

/* Wake up readers, unless the events were read or withdrawn since. */
static void waker_expired(struct twheel_timer *waker)
{
	struct twheel_session *s = container_of(waker, struct twheel_session,
						waker);

	spin_lock(&s->lock);
	if (!s->closing && s->events.first)
		twheel_session_wake_at_tick_end(s, waker, s->unnotified);
	s->unnotified = 0;
	spin_unlock(&s->lock);
}

/*
 * For the session's wheel. Session's lock held, or the session not known yet.
 */
void twheel_session_waker_set_up(struct twheel_session *s)
{
	twheel_timer_setup(&s->waker, s->wheel, waker_expired, 0);
}

/*
 * Wake up readers and pollers @s->wake_ns, not 0, from @now. Called in softirq
 * context by the callback of @timer, which queued an event. Session's lock
 * held.
 */
void twheel_session_wake_later(struct twheel_session *s,
			       struct twheel_timer *timer, ktime_t now)
	__must_hold(&s->lock)
{
	if (!s->unnotified++)
		twheel_start_at(&s->waker, now + s->wake_ns);
}
