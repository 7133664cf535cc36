/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the adapters in C and C++ share (replay.c)
 *
 * An adapter defines struct adapter and its functions. main() is in replay.c. Adapters that wait
 * for descriptors wait for replay_fd() too, and call replay_steps() when it is readable.
 */
#ifndef COMPARED_REPLAY_H
#define COMPARED_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define US	1000ULL
#define MS	1000000ULL
#define SECOND	1000000000ULL

/**
 * struct adapter - a way to keep timers
 * @open: make what a program makes before its first connection
 * @start: start the timer of a connection, due at @deadline_ns, replay_now() and the timeout
 * @refresh: let it be due at @deadline_ns, not before
 * @stop: stop it, for ever
 * @flush: the end of a step, for batches, or NULL
 * @loop: the program's loop: replay_steps() when steps have come, replay_expired() for each
 *	timer, until replay_steps() says that it was the last
 */
struct adapter {
	void (*open)(unsigned int connections);
	void (*start)(unsigned int connection, uint64_t deadline_ns);
	void (*refresh)(unsigned int connection, uint64_t deadline_ns);
	void (*stop)(unsigned int connection);
	void (*flush)(void);
	void (*loop)(void);
};

extern const struct adapter adapter;

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

/*
 * A loop around epoll_wait() for ways whose timers have one descriptor. @take collects what has
 * expired. In mode busy another thread does that (epoll.c).
 */
void replay_by_epoll(int fd, void (*take)(void));

void fail(const char *what) __attribute__((noreturn));
void *allocate(unsigned int nr, unsigned int size);

#ifdef __cplusplus
}
#endif

#endif /* COMPARED_REPLAY_H */
