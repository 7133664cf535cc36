// SPDX-License-Identifier: GPL-2.0 OR MIT
/**
 * DOC: Listing and draining: a walk over the timers of a session
 *
 * TWHEEL_IOC_LIST returns the timers. With %TWHEEL_LIST_DRAIN it also stops the
 * pending timers that it returns, and withdraws the events of the expired ones.
 * A cursor says where to continue: a table, and a number in it. Numbers do not
 * move, so a timer that exists during the whole walk is visited once, even if
 * other timers are started and stopped around it.
 *
 * An entry is copied to user space with the session's lock held and page faults
 * disabled. Its timer is stopped only after the copy, so that a timer whose
 * entry cannot be returned remains as it is. If the copy fails, the lock is
 * dropped, the page is faulted in, and the walk tries again.
 */
#include <linux/bitops.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "timer.h"

/* Fill in @entry for a timer that is not free. Session's lock held. */
static void describe(struct twheel_session *s, struct twheel_utimer *ut,
		     struct twheel_entry *entry)
{
	bool armed = ut->state == TWHEEL_ARMED;
	ktime_t now = twheel_session_time(s, ktime_get());
	ktime_t deadline = armed ? twheel_deadline(&ut->timer) :
			   twheel_expired_deadline(&ut->timer, s->tick_ns);

	*entry = (struct twheel_entry) {
		.id		= ut->id,
		.user_data	= ut->user_data,
		.deadline_ns	= twheel_session_to_caller(deadline,
							   twheel_session_offset(s)),
		.remaining_ns	= armed && deadline > now ? deadline - now : 0,
		.period_ns	= ut->period_ns,
		.state		= armed ? TWHEEL_STATE_PENDING :
					  TWHEEL_STATE_EXPIRED,
	};
}

/* TWHEEL_IOC_GET */
int twheel_session_get(struct twheel_session *s, struct twheel_entry *entry)
{
	struct twheel_utimer *ut;
	int ret = -EINVAL;

	spin_lock_bh(&s->lock);
	if (twheel_session_has_number(s, entry->id)) {
		ut = twheel_table_find(s->tables, entry->id);
		ret = ut ? 0 : -ENOENT;
		if (ut)
			describe(s, ut, entry);
	}
	spin_unlock_bh(&s->lock);
	return ret;
}

/* Walking */

/* A cursor has the table in its upper half, and the number in its lower half. */
#define CURSOR_TABLE_SHIFT	32

/**
 * struct walk - a walk in progress
 * @session: the session
 * @to: the caller's array, from the next entry on
 * @room: number of entries for which the array has room
 * @done: number of entries written
 * @table: table to visit next
 * @number: number to visit next
 * @stop: true to stop each returned timer
 * @wait: after WALK_CALLBACK: true if the callback is still running
 * @lock: argument of twheel_callback_wait(), valid if @wait is true
 */
struct walk {
	struct twheel_session *session;
	struct iov_iter to;
	u32 room;
	u32 done;
	u32 table;
	u32 number;
	bool stop;
	bool wait;
	struct twheel_expiry_lock *lock;
};

/*
 * Result of walk_timer() and walk_chunk(). WALK_CALLBACK: the callback of a
 * timer is about to queue its event. Wait for the callback, or the caller would
 * see neither a pending timer nor an event.
 */
enum walk_status { WALK_CONTINUE, WALK_FAULT, WALK_CALLBACK, WALK_TABLE_END, WALK_FULL };

static enum walk_status walk_timer(struct walk *walk, struct twheel_utimer *ut)
{
	struct twheel_step stop = twheel_next(ut->state, TWHEEL_DO_STOP, false);
	struct twheel_session *s = walk->session;
	struct twheel_entry entry;

	if (stop.action == TWHEEL_CANCEL && !twheel_pending(&ut->timer))
		goto callback;
	describe(s, ut, &entry);
	if (!twheel_session_copy_out(&walk->to, &entry, sizeof(entry)))
		return WALK_FAULT;
	if (!walk->stop) {
		walk->done++;
		return WALK_CONTINUE;
	}
	if (stop.action == TWHEEL_DEQUEUE) {
		twheel_session_withdraw(s, ut, stop);
	} else if (twheel_stop(&ut->timer)) {
		twheel_utimer_end(s, ut, stop);
	} else {
		/* The timer just expired: let the next entry overwrite this one. */
		iov_iter_revert(&walk->to, sizeof(entry));
		goto callback;
	}
	walk->done++;
	return WALK_CONTINUE;
callback:
	walk->wait = twheel_callback_announce(&ut->timer, &walk->lock);
	return WALK_CALLBACK;
}

/*
 * Walk over one chunk, or to the end of a page of pointers that has no more
 * chunks. Stopping the chunk's last timer may free the chunk: do not read it
 * after that.
 */
static enum walk_status walk_chunk(struct walk *walk)
{
	struct twheel_table *table = &walk->session->tables[walk->table];
	u32 index = twheel_index_of(walk->number), first, i;
	struct twheel_chunk *chunk;
	unsigned long left;
	enum walk_status status;

	lockdep_assert_held(&walk->session->lock);
	if (index >= table->nr_indexes)
		return WALK_TABLE_END;
	index = array_index_nospec(index, table->nr_indexes);
	chunk = twheel_table_next(table, &index);
	first = index * TWHEEL_CHUNK_TIMERS;
	walk->number = max(walk->number, first);
	if (!chunk)
		return WALK_CONTINUE;
	left = ~chunk->free & TWHEEL_CHUNK_FULL & -BIT(walk->number - first);
	for (; left; left &= left - 1) {
		i = __ffs(left);
		walk->number = first + i;
		if (walk->done == walk->room)
			return WALK_FULL;
		status = walk_timer(walk, &chunk->timers[i]);
		if (status != WALK_CONTINUE)
			return status;
	}
	walk->number = first + TWHEEL_CHUNK_TIMERS;
	return WALK_CONTINUE;
}

/* Walk until the array is full or the tables end. Returns 0, -EFAULT or -EINTR. */
static int walk_tables(struct walk *walk)
{
	int tries = TWHEEL_FAULT_TRIES;
	enum walk_status status;

	while (walk->table < TWHEEL_NR_TABLES) {
		spin_lock_bh(&walk->session->lock);
		pagefault_disable();
		status = walk_chunk(walk);
		pagefault_enable();
		spin_unlock_bh(&walk->session->lock);
		switch (status) {
		case WALK_FAULT:
			if (twheel_session_fault_in(&walk->to, sizeof(struct twheel_entry),
						    &tries))
				return -EFAULT;
			continue;
		case WALK_CALLBACK:
			if (walk->wait)
				twheel_callback_wait(walk->lock);
			break;
		case WALK_TABLE_END:
			walk->table++;
			walk->number = 0;
			continue;
		case WALK_FULL:
			return 0;
		case WALK_CONTINUE:
			break;
		}
		tries = TWHEEL_FAULT_TRIES;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/*
 * Perform TWHEEL_IOC_LIST, and advance @list->cursor. Returns the number of
 * entries written, or an error if there are none. Timers whose entry was not
 * written are not changed. May sleep.
 */
int twheel_session_list(struct twheel_session *s, struct twheel_list *list)
{
	struct walk walk = {
		.session	= s,
		.room		= min_t(u32, list->count,
					MAX_RW_COUNT / sizeof(struct twheel_entry)),
		.table		= list->cursor >> CURSOR_TABLE_SHIFT,
		.number		= list->cursor,
		.stop		= list->flags & TWHEEL_LIST_DRAIN,
	};
	int ret;

	if (walk.table > TWHEEL_NR_TABLES || walk.number > TWHEEL_ID_NR_MASK)
		return -EINVAL;
	iov_iter_ubuf(&walk.to, ITER_DEST, u64_to_user_ptr(list->entries),
		      (size_t)walk.room * sizeof(struct twheel_entry));
	ret = walk_tables(&walk);
	list->cursor = (u64)walk.table << CURSOR_TABLE_SHIFT | walk.number;
	return walk.done ?: ret;
}
