/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The table of states: what each operation does to a timer of a session
 *
 *		free		armed			unread
 *   START	ALLOC, armed 0	RESTART, armed 1	DEQUEUE, armed 2
 *   STOP	ENOENT		CANCEL, free 0		DEQUEUE, free 1
 *   EXPIRE			SET_STATE, unread
 *   READ						DEQUEUE, free or (periodic) armed
 *
 * An entry is an action, the state to enter, and the result of the operation.
 *
 * A word has no row of its own, because a store into it means START or STOP.
 * The wheel looks at the word of an armed timer that is due, and read() looks
 * at the word of an unread timer. A program that starts a timer stores the word
 * before the START. A read() between the store and the START applies the word
 * first: it starts the timer, and the START then moves the timer to the same
 * deadline. So it does not matter which of the two comes first.
 */
#ifndef _TWHEEL_STATE_H
#define _TWHEEL_STATE_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

/**
 * enum twheel_utimer_state - state of a place in the table of timers
 * @TWHEEL_FREE: no timer
 * @TWHEEL_ARMED: a timer that is pending, or whose callback is about to run
 * @TWHEEL_UNREAD: an expired timer, in the session's queue of events
 */
enum twheel_utimer_state { TWHEEL_FREE, TWHEEL_ARMED, TWHEEL_UNREAD };

/* What happens to a timer: START, STOP, it is due, its event is read. */
enum twheel_operation { TWHEEL_DO_START, TWHEEL_DO_STOP, TWHEEL_DO_EXPIRE, TWHEEL_DO_READ };

/**
 * enum twheel_action - how a timer leaves its state
 * @TWHEEL_ALLOC: take a free place
 * @TWHEEL_RESTART: move the timer in the wheel
 * @TWHEEL_CANCEL: take the timer out of the wheel
 * @TWHEEL_DEQUEUE: take its event out of the queue
 * @TWHEEL_SET_STATE: change the state, nothing else
 * @TWHEEL_REFUSE: change nothing, and return an error
 * @TWHEEL_GROW: memory or a prepared CPU is missing. Allocate it without the session's
 *	lock, and look the timer up again
 * @TWHEEL_WAIT: the callback of the timer is about to run. Let it finish, and look the
 *	timer up again: no caller may learn of an expiry before its event is in the queue
 *
 * A batch carries out the first three actions for many timers at a time. The
 * last two actions are not in the table: the function that carries out a step
 * returns them.
 */
enum twheel_action {
	TWHEEL_ALLOC, TWHEEL_RESTART, TWHEEL_CANCEL, TWHEEL_DEQUEUE, TWHEEL_SET_STATE,
	TWHEEL_REFUSE, TWHEEL_GROW, TWHEEL_WAIT,
};

/* An entry of the table: an action, the state to enter, the result of the operation. */
struct twheel_step {
	u8 action;
	u8 state;
	int result;
};

static __always_inline struct twheel_step
twheel_step(enum twheel_action action, enum twheel_utimer_state state, int result)
{
	return (struct twheel_step){ .action = action, .state = state, .result = result };
}

/*
 * Return the entry of the table for a timer in @state. @operation is a
 * constant, so that only its row is compiled. @periodic: true if READ arms the
 * timer again.
 */
static __always_inline struct twheel_step
twheel_next(enum twheel_utimer_state state, enum twheel_operation operation, bool periodic)
{
	if (operation == TWHEEL_DO_START)
		return state == TWHEEL_ARMED ? twheel_step(TWHEEL_RESTART, TWHEEL_ARMED, 1) :
		       state == TWHEEL_FREE ? twheel_step(TWHEEL_ALLOC, TWHEEL_ARMED, 0) :
					      twheel_step(TWHEEL_DEQUEUE, TWHEEL_ARMED, 2);
	if (operation == TWHEEL_DO_STOP)
		return state == TWHEEL_ARMED ? twheel_step(TWHEEL_CANCEL, TWHEEL_FREE, 0) :
		       state == TWHEEL_FREE ? twheel_step(TWHEEL_REFUSE, state, -ENOENT) :
					      twheel_step(TWHEEL_DEQUEUE, TWHEEL_FREE, 1);
	if (operation == TWHEEL_DO_EXPIRE)
		return twheel_step(TWHEEL_SET_STATE, TWHEEL_UNREAD, 0);
	return twheel_step(TWHEEL_DEQUEUE, unlikely(periodic) ? TWHEEL_ARMED : TWHEEL_FREE, 0);
}

/* Set the state of a timer. Nothing else writes it. Session's lock held. */
static __always_inline void twheel_set_state(u8 *state, struct twheel_step step)
{
	*state = step.state;
}

/* Return whether a caller has to allocate or to wait, and then to try again. */
static __always_inline bool twheel_must_retry(struct twheel_step step)
{
	return step.action >= TWHEEL_GROW;
}

#endif /* _TWHEEL_STATE_H */
