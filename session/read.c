// SPDX-License-Identifier: GPL-2.0 OR MIT
/**
 * DOC: Reading the events of a session, and waking their readers
 *
 * An event is copied to user space with the session's lock held, so that other
 * callers never see a copied event in the queue. If a page is missing the copy
 * fails. Then the lock is dropped, the page is faulted in, and the copy is
 * tried again. The number of attempts is limited, because some pages can be
 * faulted in but never be written.
 *
 * As in timerfd, reading the event of a periodic timer arms the timer again. So
 * a timer with a short period takes no more time than its reader does. All its
 * deadlines are a multiple of the period apart.
 *
 * A program may have stored a stop or a later deadline for a timer that expired.
 * The read checks the word again, and does not return the event of such a timer.
 *
 * Readers that sleep in read(2) and pollers have separate queues. A tick wakes
 * all pollers and one reader. A reader that leaves events behind wakes the next
 * reader, but no poller, because the tick already woke pollers for these
 * events. Exclusive pollers do not wake each other: a tick wakes one per event.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "timer.h"

/* Events copied under one hold of a session's lock. */
#define EVENTS_PER_LOCK		64

/* Copying */

/*
 * Copy an event or entry to user space with page faults disabled. Returns false
 * if a page is missing, and does not advance @to then. Before the caller has
 * faulted the page in, another caller may take the event, and no part of it
 * must remain in the buffer. So write a 0 to the last byte first, and write
 * nothing else if the page of that byte is missing.
 */
bool twheel_session_copy_out(struct iov_iter *to, const void *from, size_t size)
{
	struct iov_iter last = *to;
	size_t copied;

	iov_iter_advance(&last, size - 1);
	if (iov_iter_zero(1, &last) != 1)
		return false;
	copied = copy_to_iter(from, size, to);
	if (copied == size)
		return true;
	iov_iter_revert(to, copied);
	return false;
}

/*
 * Fault in what twheel_session_copy_out() could not write. *@tries counts down
 * from TWHEEL_FAULT_TRIES. May sleep. Returns 0 to try again, or -EFAULT.
 */
int twheel_session_fault_in(const struct iov_iter *to, size_t size, int *tries)
{
	if (!--*tries || fatal_signal_pending(current) ||
	    fault_in_iov_iter_writeable(to, size))
		return -EFAULT;
	cond_resched();
	return 0;
}

/* Wake-ups */

/*
 * Wake up readers and pollers, once per tick and with softirqs off. Wakes one
 * exclusive poller (EPOLLEXCLUSIVE) for each event.
 */
void twheel_session_wake(struct twheel_tick_end *tick_end)
{
	struct twheel_session_end *end = container_of(tick_end,
						      struct twheel_session_end,
						      tick_end);
	struct twheel_session *s = end->session;
	unsigned int events = end->events;

	end->events = 0;
	__wake_up(&s->pollers, TASK_INTERRUPTIBLE, events,
		  poll_to_key(EPOLLIN | EPOLLRDNORM));
	wake_up_interruptible(&s->readers);
}

bool twheel_session_readable(struct twheel_session *s)
{
	/* Pairs with twheel_events_add() and twheel_events_take_first(). */
	return READ_ONCE(s->events.first);
}

/* Reading */

/**
 * struct reading - a read in progress
 * @to: destination
 * @now: begin of the read. Events that expired later are left to the next read
 * @offset: ns by which the caller's clock, in a time namespace, is ahead
 */
struct reading {
	struct iov_iter *to;
	ktime_t now;
	s64 offset;
};

static u64 overruns_of(const struct twheel_utimer *ut, u64 deadline,
		       ktime_t now)
{
	if (likely(!ut->period_ns) || now < deadline)
		return 0;
	return div64_u64(now - deadline, ut->period_ns);
}

static u32 flags_of(const struct twheel_utimer *ut)
{
	return unlikely(ut->period_ns) ? TWHEEL_EVENT_PERIODIC : 0;
}

/*
 * Write an event to user space field by field: a copy of 48 bytes through the
 * stack takes twice as long. Write the last field first, which is always 0, and
 * then the first one, so that no value is written if the page of either is
 * missing: before that page is faulted in, another reader may take the event,
 * and no part of the event must remain in this buffer.
 */
static bool put_event_fast(struct twheel_event __user *to,
			   const struct twheel_utimer *ut, u64 deadline,
			   u64 overruns)
{
	u32 flags = flags_of(ut);

	if (!user_write_access_begin(to, sizeof(*to)))
		return false;
	unsafe_put_user(0, &to->reserved, fault);
	unsafe_put_user(ut->id, &to->id, fault);
	unsafe_put_user(ut->user_data, &to->user_data, fault);
	unsafe_put_user(deadline, &to->deadline_ns, fault);
	unsafe_put_user(ut->expired_ns, &to->expired_ns, fault);
	unsafe_put_user(overruns, &to->overruns, fault);
	unsafe_put_user(flags, &to->flags, fault);
	user_write_access_end();
	return true;
fault:
	user_write_access_end();
	return false;
}

/*
 * Write an event where put_event_fast() cannot: to a vector of buffers, or for
 * a caller in a time namespace, whose clock has an offset.
 */
static bool put_event(const struct reading *r, const struct twheel_utimer *ut,
		      u64 deadline, u64 overruns)
{
	const struct twheel_event event = {
		.id		= ut->id,
		.user_data	= ut->user_data,
		.deadline_ns	= twheel_session_to_caller(deadline, r->offset),
		.expired_ns	= twheel_session_to_caller(ut->expired_ns,
							   r->offset),
		.overruns	= overruns,
		.flags		= flags_of(ut),
	};

	return twheel_session_copy_out(r->to, &event, sizeof(event));
}

/*
 * Count the lateness of an event in a histogram. The read does this, because
 * the tick that expired the timer has to be short. __fls(2n + 1) is __fls(n) +
 * 1, and 0 for n = 0, without a branch.
 */
static void count_event(struct twheel_session *s, u64 late)
{
	unsigned long n = min_t(u64, late >> 10,
				BIT(TWHEEL_STATS_LATENESS - 2));

	s->stats.lateness[__fls(2 * n + 1)]++;
}

/*
 * Remove the first event, which was copied, from the queue. Free its timer, or
 * arm a periodic one again. Inline to avoid spilling registers.
 */
static inline void finish_event(struct twheel_session *s,
				struct twheel_utimer *ut, u64 deadline,
				u64 overruns)
{
	twheel_events_take_first(&s->events);
	count_event(s, ut->expired_ns - deadline);
	if (likely(!ut->period_ns)) {
		twheel_utimer_free(ut, twheel_next(TWHEEL_UNREAD, TWHEEL_DO_READ, false));
		return;
	}
	s->stats.overruns += overruns;
	s->stats.rearmed++;
	/*
	 * The sum of a time and a period, each less than 2^63, cannot overflow.
	 */
	deadline += (overruns + 1) * ut->period_ns;
	twheel_utimer_arm(ut, twheel_next(TWHEEL_UNREAD, TWHEEL_DO_READ, true),
			  min_t(u64, deadline, KTIME_MAX));
}

/*
 * Carry out the STOP, or the START with a later deadline, that @word means for
 * an unread timer, the first in the queue, and remove its event. Returns false
 * if the event remains: a later deadline does not concern a periodic timer,
 * which the read arms anyway. The session's lock is held, so the word cannot
 * belong to a later start of the id. Rare.
 */
static noinline bool apply_late_word(struct twheel_session *s, struct twheel_utimer *ut,
				     u64 word)
{
	bool stop = word == TWHEEL_WORD_STOP;

	if (!stop && ut->period_ns)
		return false;
	twheel_events_take_first(&s->events);
	s->stats.unread--;
	if (stop) {
		s->stats.stopped_by_store++;
		s->stats.withdrawn++;
		twheel_utimer_free(ut, twheel_next(TWHEEL_UNREAD, TWHEEL_DO_STOP, false));
		return true;
	}
	s->stats.replaced++;
	s->stats.rearmed++;
	s->stats.carried++;
	twheel_utimer_arm(ut, twheel_next(TWHEEL_UNREAD, TWHEEL_DO_START, false),
			  twheel_session_word_deadline(s, word));
	return true;
}

/* Check an unread timer's word again. Returns true if it removed the event. */
static __always_inline bool check_late_word(struct twheel_session *s, struct twheel_utimer *ut)
{
	u64 word = twheel_session_words_read(s->words, ut->id);

	return unlikely(twheel_session_word_deadline(s, word) > (ktime_t)ut->expired_ns) &&
	       apply_late_word(s, ut, word);
}

/*
 * Returns the first timer in the queue if it expired by @now, otherwise NULL.
 * Later expiries are left to the next read. Otherwise a periodic timer with a
 * short period, which the read arms again, could keep the read busy forever.
 */
static struct twheel_utimer *next_event(struct twheel_session *s, ktime_t now)
{
	struct twheel_utimer *ut = s->events.first;

	return ut && ut->expired_ns <= now ? ut : NULL;
}

/*
 * Take up to @room events off the queue. Skip those that a word withdraws, and
 * write the others: to @place, or with put_event() if @r is not NULL. Returns
 * the number of events written, or -EFAULT if the first one could not be
 * written. Inlined into both callers, because a shared function would spill
 * registers.
 */
static __always_inline int
read_up_to(struct twheel_session *s, const struct reading *r, ktime_t now,
	   struct twheel_event __user *place, int room)
{
	int count = 0;

	/*
	 * Count events, and do not compare @place with an end: where
	 * access_ok() accepts all addresses, as on s390, the end may wrap.
	 */
	while (count < room) {
		struct twheel_utimer *ut = next_event(s, now);
		u64 deadline, overruns;

		if (!ut)
			break;
		if (twheel_utimer_has_word(s, ut) && check_late_word(s, ut)) {
			room--;
			continue;
		}
		deadline = twheel_expired_deadline(&ut->timer, s->tick_ns);
		overruns = overruns_of(ut, deadline, now);
		if (r ? !put_event(r, ut, deadline, overruns) :
			!put_event_fast(place++, ut, deadline, overruns))
			return count ?: -EFAULT;
		finish_event(s, ut, deadline, overruns);
		count++;
	}
	return count;
}

static noinline int read_in_place(struct twheel_session *s, ktime_t now,
				  struct twheel_event __user *place, int room)
{
	return read_up_to(s, NULL, now, place, room);
}

static int read_events(struct twheel_session *s, const struct reading *r,
		       int room)
{
	struct twheel_event __user *place = NULL;
	int ret;

	lockdep_assert_held(&s->lock);
	if (likely(iter_is_ubuf(r->to) && !r->offset))
		place = r->to->ubuf + r->to->iov_offset;
	if (likely(place))
		ret = read_in_place(s, r->now, place, room);
	else
		ret = read_up_to(s, r, r->now, NULL, room);
	if (ret <= 0)
		return ret;
	s->stats.unread -= ret;
	if (likely(place))
		iov_iter_advance(r->to, ret * sizeof(*place));
	return ret;
}

/*
 * Perform a read(2) without waiting for events. May sleep to fault in pages.
 * Returns the number of bytes read, 0 if there is no event, -EINVAL if no event
 * fits, or -EFAULT, with all events still unread.
 */
ssize_t twheel_session_read(struct twheel_session *s, struct iov_iter *to)
{
	struct reading r = {
		.to		= to,
		.now		= twheel_session_time(s, ktime_get()),
		.offset		= twheel_session_offset(s),
	};
	size_t size = iov_iter_count(to), room = size / sizeof(struct twheel_event);
	int tries = TWHEEL_FAULT_TRIES;
	bool more = true;
	int ret;

	if (!room)
		return -EINVAL;
	while (room && more) {
		spin_lock_bh(&s->lock);
		pagefault_disable();
		ret = read_events(s, &r, min_t(size_t, room, EVENTS_PER_LOCK));
		pagefault_enable();
		more = next_event(s, r.now);
		spin_unlock_bh(&s->lock);
		if (ret >= 0) {
			room -= ret;
			tries = TWHEEL_FAULT_TRIES;
			/* Without events, the signal ends the caller's wait. */
			if (ret && signal_pending(current))
				break;
			cond_resched();
		} else if (twheel_session_fault_in(to, sizeof(struct twheel_event),
						   &tries)) {
			return size - iov_iter_count(to) ?: -EFAULT;
		}
	}
	return size - iov_iter_count(to);
}
