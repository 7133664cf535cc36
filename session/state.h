/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The table of states: what each operation does to a timer of a session
 *
 * twheel_next() is pure. It says how a timer leaves its state, which state it
 * enters, and the result. Single calls, batches, reads, walks and sessions in the
 * process carry out its steps. Entering FREE gives the place back, entering ARMED
 * or WATCHING starts the timer, entering UNREAD queues it.
 *
 * A timer with a word has no rows of its own: its word only delays the expiry,
 * or stops the timer. A timer with a socket has a state of its own instead, so
 * that other timers do not pay for it.
 */
#ifndef _TWHEEL_STATE_H
#define _TWHEEL_STATE_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

#include <uapi/linux/twheel.h>

/**
 * enum twheel_utimer_state - state of a place in the table
 * @TWHEEL_FREE: no timer
 * @TWHEEL_ARMED: a timer that is pending, or whose callback is about to run
 * @TWHEEL_WATCHING: the same, for a timer with a socket
 * @TWHEEL_UNREAD: an expired timer, in the session's queue of events
 * @TWHEEL_ENDED: the same, for a timer that is not armed again when its event
 *	is read: it was stopped, or had a socket
 * @TWHEEL_NR_UTIMER_STATES: number of these
 */
enum twheel_utimer_state {
	TWHEEL_FREE,
	TWHEEL_ARMED,
	TWHEEL_WATCHING,
	TWHEEL_UNREAD,
	TWHEEL_ENDED,
	TWHEEL_NR_UTIMER_STATES,
};

/**
 * enum twheel_operation - what happens to a timer
 * @TWHEEL_DO_START: START, with its flags
 * @TWHEEL_DO_STOP: STOP, with its flags, or its source stops it
 * @TWHEEL_DO_EXPIRE: it is due, and its source does not delay it
 * @TWHEEL_DO_READ: its event is read. The flag says whether it has a period
 * @TWHEEL_DO_CARRY_ON: a read finds a later deadline in its word. The same flag
 * @TWHEEL_DO_END: a read finds a stop in its word
 * @TWHEEL_DO_CLOSE: its session is closed
 */
enum twheel_operation {
	TWHEEL_DO_START,
	TWHEEL_DO_STOP,
	TWHEEL_DO_EXPIRE,
	TWHEEL_DO_READ,
	TWHEEL_DO_CARRY_ON,
	TWHEEL_DO_END,
	TWHEEL_DO_CLOSE,
};

/**
 * enum twheel_action - how a timer leaves its state
 * @TWHEEL_TAKE: take a free place
 * @TWHEEL_MOVE: move the timer in the wheel
 * @TWHEEL_HALT: take it out of the wheel
 * @TWHEEL_LET_GO: take it out of the wheel, if it is there, and release its socket
 * @TWHEEL_UNQUEUE: take its event out of the queue
 * @TWHEEL_NOTHING: no more than to enter the state
 * @TWHEEL_REFUSE: not at all
 * @TWHEEL_GROW: not yet: make room, then try again
 * @TWHEEL_WAIT: not yet: its callback is about to run. No caller may learn of an
 *	expiry before the event is in the queue
 *
 * A batch carries out the first three for many timers at a time. The last two
 * are not in the table: the function that carries out a step returns them.
 */
enum twheel_action {
	TWHEEL_TAKE,
	TWHEEL_MOVE,
	TWHEEL_HALT,
	TWHEEL_LET_GO,
	TWHEEL_UNQUEUE,
	TWHEEL_NOTHING,
	TWHEEL_REFUSE,
	TWHEEL_GROW,
	TWHEEL_WAIT,
};

/**
 * struct twheel_step - an entry of the table
 * @action: an enum twheel_action
 * @state: the state to enter, an enum twheel_utimer_state
 * @result: result of the operation: 0, 1 or a negative errno
 */
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

static __always_inline struct twheel_step
twheel_next_start(enum twheel_utimer_state state, u32 flags)
{
	bool idle = flags & TWHEEL_START_IDLE;
	enum twheel_utimer_state to = idle ? TWHEEL_WATCHING : TWHEEL_ARMED;

	if (state == TWHEEL_ARMED)
		return twheel_step(idle ? TWHEEL_HALT : TWHEEL_MOVE, to, 1);
	if (state == TWHEEL_FREE)
		return twheel_step(TWHEEL_TAKE, to, 0);
	if (state == TWHEEL_WATCHING)
		return twheel_step(TWHEEL_LET_GO, to, 1);
	if (flags & TWHEEL_START_REPLACE)
		return twheel_step(TWHEEL_UNQUEUE, to, 0);
	return twheel_step(TWHEEL_REFUSE, state, -EALREADY);
}

static __always_inline struct twheel_step
twheel_next_stop(enum twheel_utimer_state state, u32 flags)
{
	if (state == TWHEEL_ARMED)
		return twheel_step(TWHEEL_HALT, TWHEEL_FREE, 0);
	if (state == TWHEEL_FREE)
		return twheel_step(TWHEEL_REFUSE, state, -ENOENT);
	if (state == TWHEEL_WATCHING)
		return twheel_step(TWHEEL_LET_GO, TWHEEL_FREE, 0);
	if (flags & TWHEEL_STOP_WITHDRAW)
		return twheel_step(TWHEEL_UNQUEUE, TWHEEL_FREE, 1);
	return twheel_step(TWHEEL_NOTHING, TWHEEL_ENDED, -EALREADY);
}

/* Returns what an operation, a constant, does. @flags: see there. */
static __always_inline struct twheel_step
twheel_next(enum twheel_utimer_state state, enum twheel_operation operation, u32 flags)
{
	switch (operation) {
	case TWHEEL_DO_START:
		return twheel_next_start(state, flags);
	case TWHEEL_DO_STOP:
		return twheel_next_stop(state, flags);
	case TWHEEL_DO_EXPIRE:
		if (state == TWHEEL_WATCHING)
			return twheel_step(TWHEEL_LET_GO, TWHEEL_ENDED, 0);
		return twheel_step(TWHEEL_NOTHING, TWHEEL_UNREAD, 0);
	case TWHEEL_DO_READ:
		if (unlikely(flags) && state == TWHEEL_UNREAD)
			return twheel_step(TWHEEL_UNQUEUE, TWHEEL_ARMED, 0);
		return twheel_step(TWHEEL_UNQUEUE, TWHEEL_FREE, 0);
	case TWHEEL_DO_CARRY_ON:
		if (!flags && state == TWHEEL_UNREAD)
			return twheel_step(TWHEEL_UNQUEUE, TWHEEL_ARMED, 0);
		return twheel_step(TWHEEL_REFUSE, state, 0);
	case TWHEEL_DO_END:
		if (state == TWHEEL_UNREAD)
			return twheel_step(TWHEEL_UNQUEUE, TWHEEL_FREE, 0);
		break;
	case TWHEEL_DO_CLOSE:
		if (state == TWHEEL_ARMED || state == TWHEEL_WATCHING)
			return twheel_next_stop(state, 0);
		break;
	}
	return twheel_step(TWHEEL_REFUSE, state, 0);
}

/* Nothing else writes a timer's state. Session's lock held. */
static __always_inline void twheel_enter(u8 *state, struct twheel_step step)
{
	*state = step.state;
}

/* Returns whether something has to come first, see enum twheel_action. */
static __always_inline bool twheel_is_put_off(struct twheel_step step)
{
	return step.action >= TWHEEL_GROW;
}

#endif /* _TWHEEL_STATE_H */
