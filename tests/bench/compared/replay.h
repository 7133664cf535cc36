/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between an adapter and the replay (replay.c, which has main())
 */
#ifndef COMPARED_REPLAY_H
#define COMPARED_REPLAY_H

#include <err.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../api/selftests/user.h"

/* Set up everything that the program needs before its first connection. */
void adapter_open(unsigned int connections);

/* Start the timer of a connection, due at @deadline_ns, which is replay_now() plus the timeout. */
void adapter_start(unsigned int connection, uint64_t deadline_ns);

/* Move the timer of a connection to @deadline_ns, before which it must not expire. */
void adapter_refresh(unsigned int connection, uint64_t deadline_ns);

/* Stop the timer of a connection that is closed. */
void adapter_stop(unsigned int connection);

/* End a step: submit its batch. Most adapters have no batches. */
#pragma weak adapter_flush
void adapter_flush(void);

/*
 * Run the program's loop: wait for replay_fd() and for timers. Call replay_steps() when the
 * descriptor is readable, until it returns false, and replay_expired() for each timer.
 */
void adapter_loop(void);

/*
 * An adapter whose timers are structures of the program defines these functions for loop.c.
 * adapter_first() returns the first deadline, or UINT64_MAX if no timer is pending. The loop
 * sleeps until then or until a step is due, and calls adapter_expire() after each sleep.
 */
#pragma weak adapter_first
uint64_t adapter_first(void);
#pragma weak adapter_expire
void adapter_expire(uint64_t now);

/*
 * Have loop.c also wait for @fd, a descriptor of timers. When it is readable, loop.c calls
 * adapter_take() with @nr to collect the expiries, in mode busy in another thread.
 */
void loop_watch(int fd, unsigned int nr);
#pragma weak adapter_take
void adapter_take(unsigned int nr);

/* Returns the clock as it was read at the beginning of this step. */
uint64_t replay_now(void);

/* Returns the descriptor that is readable when a step is due. */
int replay_fd(void);

/* Carry out all due steps. Returns false after the last. */
bool replay_steps(void);

/* Count an expiry. */
void replay_expired(unsigned int connection);

/* Returns whether this is mode busy, where another thread may take expiries. */
bool replay_is_busy(void);

void *allocate(unsigned int nr, unsigned int size);

#endif /* COMPARED_REPLAY_H */
