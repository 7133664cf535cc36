/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Declarations shared by the files of libtwheel. "amalgamate" puts these files behind
 * process/process.c, into one source file.
 */
#ifndef LIBTWHEEL_H
#define LIBTWHEEL_H

#include "twheel.h"

/* Inline all calls but rare ones: this halves the cost of a start in the process. */
#define LIBTWHEEL_FLAT		__attribute__((__flatten__))
#define LIBTWHEEL_RARE		__attribute__((__noinline__))

/* Longest interval, and latest deadline. */
#define LIBTWHEEL_NS_MAX	(~(__u64)0 >> 1)

/* Like calloc(3), but does not change errno. */
static inline void *libtwheel_alloc(size_t nr, size_t size)
{
	int saved = errno;
	void *memory = calloc(nr, size);

	errno = saved;
	return memory;
}

/* Returns the result of a system call, or a negative errno. Restores errno to @saved. */
static inline int libtwheel_result(long ret, int saved)
{
	if (ret >= 0)
		return ret;
	ret = -errno;
	errno = saved;
	return ret;
}

/**
 * struct session - a session
 * @head: the part visible to programs
 * @process: session in the process, or NULL for one of the kernel
 * @event_size: size of the program's struct twheel_event
 * @forks: number of forks when the session was opened, see is_copy()
 * @mapped: size of the mapping of the kernel's words, bytes
 */
struct session {
	struct twheel head;
	struct twheel_session *process;
	size_t event_size;
	unsigned int forks;
	size_t mapped;
};

static inline struct session *to_session(struct twheel *t)
{
	return (struct session *)t;
}

/* Returns the session in the process, or NULL for a session of the kernel. */
static inline struct twheel_session *process_of(const struct twheel *t)
{
	return ((const struct session *)t)->process;
}

static inline bool has_word(const struct twheel *t, __u64 id)
{
	return id < t->shared_ids;
}

/*
 * Store the deadline of a timer before its START, or the word of the id's last timer would
 * count. If the wheel or a read finds the word before the START, it does what the START does
 * anyway: see session/state.h. Returns the old word.
 *
 * A failed start must not change anything: take_back() restores the word, unless another
 * thread stored to it since. Check the arguments before the store, with is_valid_start().
 */
static inline __u64 put_word(struct twheel *t, __u64 id, __u64 deadline_ns)
{
	return __atomic_exchange_n(&t->words[id], deadline_ns, __ATOMIC_RELAXED);
}

static inline void take_back(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 old)
{
	__atomic_compare_exchange_n(&t->words[id], &deadline_ns, old, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Returns whether a START of an id with a word is valid, so that its word may be stored. */
static inline bool is_valid_start(__u64 expires_ns, __u64 period_ns, __u32 flags)
{
	return expires_ns <= LIBTWHEEL_NS_MAX && period_ns <= LIBTWHEEL_NS_MAX &&
	       !(flags & ~TWHEEL_START_ABS);
}

/* Returns the sum of two times, at most the latest deadline. */
static inline __u64 after(__u64 now_ns, __u64 delay_ns)
{
	return delay_ns < LIBTWHEEL_NS_MAX - now_ns ? now_ns + delay_ns : LIBTWHEEL_NS_MAX;
}

#endif /* LIBTWHEEL_H */
