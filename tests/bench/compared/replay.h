/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an adapter defines, and what the replay does for it (replay.c, which has main())
 */
#ifndef COMPARED_REPLAY_H
#define COMPARED_REPLAY_H

#include <err.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../api/selftests/user.h"

/* Make what a program makes before its first connection. */
void adapter_open(unsigned int connections);

/* Start the timer of a connection, due at @deadline_ns, which is replay_now() and the timeout. */
void adapter_start(unsigned int connection, uint64_t deadline_ns);

/* Let it be due at @deadline_ns, not before. */
void adapter_refresh(unsigned int connection, uint64_t deadline_ns);

/* Stop it, for ever. */
void adapter_stop(unsigned int connection);

/* The end of a step, for batches. Most adapters have none. */
#pragma weak adapter_flush
void adapter_flush(void);

/*
 * The program's loop: it waits for replay_fd() and for timers. It calls replay_steps() when that
 * is readable, until it returns false, and replay_expired() for each timer.
 */
void adapter_loop(void);

/*
 * loop.c is a loop for timers that are structures of the program. It waits for the first
 * deadline, UINT64_MAX if there is none, and then calls adapter_expire() with the clock.
 */
#pragma weak adapter_first
uint64_t adapter_first(void);
#pragma weak adapter_expire
void adapter_expire(uint64_t now);

/*
 * It is one for timers that have descriptors, too. When that with number @nr is readable
 * adapter_take() collects what has expired. In mode busy another thread does so.
 */
void loop_watch(int fd, unsigned int nr);
#pragma weak adapter_take
void adapter_take(unsigned int nr);

/* The clock as it was read at the begin of this step. */
uint64_t replay_now(void);

/* The descriptor that is readable when a step has come. */
int replay_fd(void);

/* Carries out the steps that have come; returns false after the last. */
bool replay_steps(void);

/* A timer has expired. */
void replay_expired(unsigned int connection);

/* Mode busy, where another thread may take expiries. */
bool replay_is_busy(void);

void *allocate(unsigned int nr, unsigned int size);

#endif /* COMPARED_REPLAY_H */
