// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual time for an adapter, whose loop may belong to a library
 *
 * Replaces the functions of the C library that wait or tell the time. The clock stands still
 * while the program computes, and a wait moves it to the first timer that is due: a timer of the
 * program or a timerfd. So a replay does not wait, any two libraries do the same work, and
 * valgrind can count the instructions. Other descriptors never become readable.
 *
 * Prints the number of wake-ups when the program ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define FDS		64
#define NEVER		UINT64_MAX
#define SECOND		1000000000ULL

/**
 * struct fd - a descriptor of the program
 * @is_timer: it is a timerfd
 * @at: time of the timerfd in ns, NEVER if it is not armed
 * @watched: true if an epoll set has the timerfd
 * @event: its event in that set
 */
static struct fd {
	bool is_timer, watched;
	uint64_t at;
	struct epoll_event event;
} fds[FDS];

/* One more than the highest number of a timerfd */
static int used;

/* The clock. It begins at a multiple of 64 s, as in the guest. */
static uint64_t now = SECOND << 14;
static unsigned long wakeups;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec) { now / SECOND, now % SECOND };
	return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	(void)zone;
	*tv = (struct timeval) { now / SECOND, now % SECOND / 1000 };
	return 0;
}

int timerfd_create(int clock, int flags)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)clock;
	(void)flags;
	if (fd < 0 || fd >= FDS)
		return -1;
	fds[fd] = (struct fd) { .is_timer = true, .at = NEVER };
	used = fd + 1;
	return fd;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	uint64_t ns = new->it_value.tv_sec * SECOND + new->it_value.tv_nsec;

	(void)old;
	fds[fd].at = !ns ? NEVER : flags & TFD_TIMER_ABSTIME ? ns : now + ns;
	return 0;
}

ssize_t read(int fd, void *buffer, size_t size)
{
	if (fd < 0 || fd >= FDS || !fds[fd].is_timer)
		return syscall(SYS_read, fd, buffer, size);
	if (fds[fd].at > now) {
		errno = EAGAIN;
		return -1;
	}
	fds[fd].at = NEVER;
	*(uint64_t *)buffer = 1;
	return size;
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	(void)epoll;
	if (fd >= FDS || !fds[fd].is_timer)
		return 0;
	fds[fd].watched = op != EPOLL_CTL_DEL;
	if (event)
		fds[fd].event = *event;
	return 0;
}

static int wait_until(uint64_t until, struct epoll_event *events, int room)
{
	int fd, ready = 0;

	for (fd = 0; fd < used; fd++)
		if (fds[fd].watched && fds[fd].at < until)
			until = fds[fd].at;
	if (until == NEVER) {
		fprintf(stderr, "virtual: a wait without end\n");
		_exit(1);
	}
	if (until > now)
		now = until;
	wakeups++;
	for (fd = 0; fd < used && ready < room; fd++)
		if (fds[fd].watched && fds[fd].at <= now)
			events[ready++] = fds[fd].event;
	return ready;
}

int epoll_pwait2(int epoll, struct epoll_event *events, int room, const struct timespec *timeout,
		 const sigset_t *set)
{
	(void)epoll;
	(void)set;
	return wait_until(timeout ? now + timeout->tv_sec * SECOND + timeout->tv_nsec : NEVER,
			  events, room);
}

int epoll_pwait(int epoll, struct epoll_event *events, int room, int ms, const sigset_t *set)
{
	(void)epoll;
	(void)set;
	return wait_until(ms < 0 ? NEVER : now + ms * 1000000ULL, events, room);
}

int epoll_wait(int epoll, struct epoll_event *events, int room, int ms)
{
	return epoll_pwait(epoll, events, room, ms, NULL);
}

/* The machine has few descriptors. Ignore the larger number that replay.c asks for. */
int setrlimit(__rlimit_resource_t resource, const struct rlimit *limits)
{
	(void)resource;
	(void)limits;
	return 0;
}

__attribute__((destructor)) static void report_wakeups(void)
{
	printf("wakeups %lu times\n", wakeups);
}
