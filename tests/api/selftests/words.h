/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Words in shared memory, and their effect on timers
 */
#ifndef _WORDS_H
#define _WORDS_H

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

#define STOP		TWHEEL_WORD_STOP
#define IDS		512

/* Store a word. Even in a program of 32 bits, this is a single store. */
static inline void store(__u64 *word, __u64 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline __u64 load(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void *map(int fd, size_t length, int protection, int flags, off_t offset)
{
	return mmap(NULL, length, protection, flags, fd, offset);
}

/* Try to map, and unmap again. Returns 0 or -errno. */
static inline int try_map(int fd, size_t length, int protection, int flags,
			  off_t offset)
{
	void *place = map(fd, length, protection, flags, offset);

	if (place == MAP_FAILED)
		return -errno;
	ASSERT_EQ(0, munmap(place, length));
	return 0;
}

static inline int setup_shared(int fd, __u32 ids)
{
	need_words();
	return tw_setup(fd, (struct twheel_setup){ .shared_ids = ids });
}

/* Open a session with IDS words, and map them. */
static inline int open_shared(__u64 **words)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, setup_shared(fd, IDS));
	*words = map_words(fd, IDS);
	return fd;
}

static inline __u64 page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static inline __u64 deadline_of(int fd, __u64 id)
{
	struct twheel_entry entry;

	ASSERT_EQ(0, tw_get(fd, id, &entry));
	ASSERT_EQ(TWHEEL_STATE_PENDING, entry.state);
	return entry.deadline_ns;
}

/* Check that a due timer is moved to the deadline in its word, an hour away. */
static inline void expect_carried(int fd, __u64 *word, __u64 id)
{
	__u64 before = stats_of(fd).carried, deadline = now_ns() + HOUR;

	store(word, deadline);
	ASSERT_EQ(0, tw_start(fd, id, 0, id));
	EXPECT_STAT(fd, carried, before + 1);
	ASSERT_EQ(deadline, deadline_of(fd, id));
	ASSERT_EQ(deadline, load(word));
	ASSERT_EQ(0, tw_stop(fd, id));
}

#endif /* _WORDS_H */
