/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the tests of libtwheel share
 */
#ifndef UTIL_H
#define UTIL_H

#include <twheel.h>

#include "harness.h"
#include "session.h"

/* If set, wrap_ioctl() is called in place of the library's ioctls of wrap_command. */
extern unsigned long wrap_command;
extern int (*wrap_ioctl)(int fd, unsigned long command, void *argument);
int __real_ioctl(int fd, unsigned long command, ...);

/* If set, called once when the clock is read, before the caller gets the time that was read. */
extern void (*wrap_clock)(void);

/* If set, called once when a read(2) has data, before it returns to its caller. */
extern void (*wrap_read)(void);

/* If set, called in place of ppoll(2), whose caller then sees that a descriptor is readable. */
extern void (*wrap_ppoll)(const struct timespec *timeout);

/* If true, each allocation of a chunk of timers by a session in the process fails. */
extern bool no_chunks;

/* If set, called once, before a session in the process allocates a chunk of timers. */
extern void (*wrap_chunk)(void);

/* Number of calls of timerfd_settime(2) made by sessions in the process. */
extern unsigned int timerfd_sets;

/* errno with which each timerfd_settime(2) fails, or 0. */
extern int timerfd_error;

/*
 * Returns true if sessions are in the process, because TWHEEL_BACKEND says so, or because it is not
 * set and there is no /dev/twheel. The helpers of session.h, which take a descriptor, work with
 * sessions in the process, too.
 */
bool in_process(void);
bool in_valgrind(void);
void needs_kernel(const char *why);
void needs_no_valgrind(const char *why);

struct twheel *open_default(void);
struct twheel *open_words(__u32 ids);

/*
 * TEST_SESSION(name, SETUP...) { ... }: a case with a session @t, which is closed afterwards. It
 * runs for each SETUP such as { .shared_ids = 4 }, or once with the defaults. With sanitizers, a
 * memory leak fails the case.
 */
#define TEST_SESSION(name, ...)		TEST_SESSION_FLAGS(name, 0, __VA_ARGS__)

/* Like TEST_SESSION(), with sessions that are opened with @flags. */
#define TEST_SESSION_FLAGS(name, flags, ...)				\
	static void name##_of(struct twheel *t);			\
									\
	TEST(name)							\
	{								\
		const struct twheel_setup setups[] = { __VA_ARGS__ };	\
									\
		with_sessions(name##_of, flags, setups, ARRAY_SIZE(setups)); \
	}								\
									\
	static void name##_of(struct twheel *t)

void with_sessions(void (*fn)(struct twheel *t), unsigned int flags,
		   const struct twheel_setup *setups, unsigned int count);
unsigned int open_files(void);
void close_in_child(struct twheel *t);
void expect_unread_of(struct twheel *t, __u64 count);
int state_of(struct twheel *t, __u64 id);
__u64 deadline_of(struct twheel *t, __u64 id);

#endif /* UTIL_H */
