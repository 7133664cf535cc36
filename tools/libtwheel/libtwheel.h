/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Declarations that the files of libtwheel share
 */
#ifndef LIBTWHEEL_H
#define LIBTWHEEL_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>

#include "process/process.h"
#include "twheel.h"

/*
 * The calls of a function are compiled into it, but for rare ones. A start in the process
 * takes half of the instructions of one with the calls.
 */
#define LIBTWHEEL_FLAT		__attribute__((__flatten__))
#define LIBTWHEEL_RARE		__attribute__((__noinline__))

/* The longest interval, and the latest deadline. */
#define LIBTWHEEL_NS_MAX	(~(__u64)0 >> 1)

/* As calloc(3), but for errno. */
static inline void *libtwheel_alloc(size_t nr, size_t size)
{
	int saved = errno;
	void *memory = calloc(nr, size);

	errno = saved;
	return memory;
}

/**
 * struct session - all of a session
 * @head: what programs see
 * @alone: what @process has, if one thread at a time uses it: then most starts
 *	and stops take a short way. NULL otherwise
 * @process: the session, if it is in the process, and not the kernel's
 * @event_size: size of the program's struct twheel_event
 * @forks: number of forks that had led to this process when the session was opened
 * @mapped: bytes of the kernel's words that are mapped
 */
struct session {
	struct twheel head;
	struct twheel_session *alone;
	struct twheel_process *process;
	size_t event_size;
	unsigned int forks;
	size_t mapped;
};

static inline struct session *to_session(struct twheel *t)
{
	return (struct session *)t;
}

/* NULL if the session is the kernel's. */
static inline struct twheel_process *process_of(const struct twheel *t)
{
	return ((const struct session *)t)->process;
}

static inline bool has_word(const struct twheel *t, __u64 id)
{
	return id < t->shared_ids;
}

/*
 * A deadline is stored before its start, or what the last user of the id has
 * left there would count. If the timer is pending it is carried on to that. If
 * the id was stopped by a store, its event, which may be unread, is of no use
 * to anybody. Returns the word that was stored before.
 *
 * A start that fails must leave everything as it was: take_back() restores the word,
 * unless another thread has stored something later.
 */
static inline __u64 put_word(struct twheel *t, __u64 id, __u64 deadline_ns, __u32 *flags)
{
	__u64 old = __atomic_exchange_n(&t->words[id], deadline_ns, __ATOMIC_RELAXED);

	if (old == TWHEEL_WORD_STOP)
		*flags |= TWHEEL_START_REPLACE;
	return old;
}

/*
 * The word of a timer that is being started. One that watches a socket has none: the word
 * of the id's last timer must not be taken for its own.
 */
static inline __u64 first_word(__u32 flags, __u64 deadline_ns)
{
	return flags & TWHEEL_START_IDLE ? TWHEEL_WORD_NONE : deadline_ns;
}

static inline void take_back(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 old)
{
	__atomic_compare_exchange_n(&t->words[id], &deadline_ns, old, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Stops at the latest deadline: the sum of two times may be later. */
static inline __u64 after(__u64 now_ns, __u64 delay_ns)
{
	return delay_ns < LIBTWHEEL_NS_MAX - now_ns ? now_ns + delay_ns : LIBTWHEEL_NS_MAX;
}

#endif /* LIBTWHEEL_H */
