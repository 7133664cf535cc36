// SPDX-License-Identifier: GPL-2.0
/*
 * Lives on sessions in the process, with a virtual clock, and allocations that can fail
 *
 * The linker replaces functions of the C library by the functions of this file. Time
 * passes only while the program sleeps. So the exact state of each timer is known, and
 * a plan always has the same result. A race of two threads is played in one thread:
 * just before a call locks a session, the calls of the other thread run. With LIBFUZZER
 * the plans come from libFuzzer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>

#include "life.h"

#define FDS	1024
#define NEVER	(~0ULL)
#define BEGIN	(1000 * SECOND)

const struct kind kinds[] = {
	{ .name = "alone", .threads = 1, .virtual = true },
	{ .name = "refusals", .threads = 1, .virtual = true, .refusals = true },
	{ .name = "turns", .threads = 2, .virtual = true, .turns = true },
};

const unsigned int nr_kinds = ARRAY_SIZE(kinds);
const bool host_is_virtual = true;
static u64 now = BEGIN;
static u64 set[FDS];		/* time at which a timerfd fires, by its descriptor */
static unsigned int countdown, refused;
static unsigned int locks_left;		/* number of locks until @interrupt is called, or 0 */
static void (*interrupt)(void);
static __thread int held;		/* number of mutexes that the thread holds */

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *spec,
			   struct itimerspec *old);
int __wrap_ppoll(struct pollfd *fds, nfds_t nr, const struct timespec *timeout, const void *mask);
void *__wrap_calloc(size_t nr, size_t size);
void *__real_calloc(size_t nr, size_t size);
int __wrap_posix_memalign(void **p, size_t alignment, size_t size);
int __real_posix_memalign(void **p, size_t alignment, size_t size);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	ts->tv_sec = now / SECOND;
	ts->tv_nsec = now % SECOND;
	return 0;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *spec,
			   struct itimerspec *old)
{
	(void)flags;
	(void)old;
	if (fd < 0 || fd >= FDS)
		abort();
	set[fd] = spec->it_value.tv_sec * SECOND + spec->it_value.tv_nsec ?: NEVER;
	return 0;
}

/* Move the clock to the time at which the timerfd fires, or to the timeout if that is earlier. */
int __wrap_ppoll(struct pollfd *fds, nfds_t nr, const struct timespec *timeout, const void *mask)
{
	u64 end = timeout ? now + timeout->tv_sec * SECOND + timeout->tv_nsec : NEVER;

	(void)mask;
	if (nr != 1)
		abort();
	if (set[fds->fd] > end) {
		now = max(now, end);
		return 0;
	}
	if (set[fds->fd] == NEVER)
		oracle_fail("a wait has no end");
	now = max(now, set[fds->fd]);
	return 1;
}

static bool is_refused(void)
{
	if (!countdown || --countdown)
		return false;
	refused++;
	return true;
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return is_refused() ? NULL : __real_calloc(nr, size);
}

int __wrap_posix_memalign(void **p, size_t alignment, size_t size)
{
	return is_refused() ? ENOMEM : __real_posix_memalign(p, alignment, size);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!held && locks_left && mutex != &life->lock && !--locks_left)
		interrupt();
	held++;
	return __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	held--;
	return __real_pthread_mutex_unlock(mutex);
}

bool host_has(const struct kind *kind)
{
	(void)kind;
	return true;
}

bool host_has_device(void)
{
	return false;
}

u64 real_ns(void)
{
	struct timespec ts;

	__real_clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

void host_begin(void)
{
	now = BEGIN;
}

u64 host_time(void)
{
	return now;
}

void host_sleep(u64 ns)
{
	now += ns;
}

/* Let the @nth allocation from now on fail. With @nth 0, let none fail. */
void host_refuse(unsigned int nth)
{
	countdown = nth;
}

/* Call @fn just before a session is locked for the @nth time from now on. @nth 0: never. */
void host_interrupt(unsigned int nth, void (*fn)(void))
{
	interrupt = fn;
	locks_left = nth;
}

unsigned int oracle_refusals(void)
{
	return refused;
}

bool host_readable(const struct twheel *t)
{
	return set[twheel_fd(t)] <= now;
}

#ifdef LIBFUZZER
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct plan plan;

	if (!life) {
		life_begin();
		life->fuzzes = true;
	}
	if (!size)
		return 0;
	plan_make(&plan, &kinds[data[0] % nr_kinds], 0, data + 1, size - 1);
	life_run(&plan);
	return 0;
}
#endif
