// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of the tests of libtwheel
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

unsigned long wrap_command;
int (*wrap_ioctl)(int fd, unsigned long command, void *argument);

/* Open sessions in the process, by their descriptor. */
#define FDS	256

static struct twheel *in_process_by_fd[FDS];

int __real_twheel_open_flags_sized(struct twheel **t, const struct twheel_setup *setup,
				   size_t setup_size, size_t event_size,
				   unsigned int flags);
void __real_twheel_close(struct twheel *t);

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *argument;
	int ret;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (wrap_ioctl && command == wrap_command)
		return wrap_ioctl(fd, command, argument);
	if (fd < 0 || fd >= FDS || !in_process_by_fd[fd])
		return __real_ioctl(fd, command, argument);
	ret = twheel_command(in_process_by_fd[fd], command, argument);
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

int __wrap_twheel_open_flags_sized(struct twheel **t, const struct twheel_setup *setup,
				   size_t setup_size, size_t event_size,
				   unsigned int flags)
{
	int ret = __real_twheel_open_flags_sized(t, setup, setup_size, event_size, flags);

	if (!ret && twheel_backend(*t) == TWHEEL_BACKEND_PROCESS &&
	    twheel_fd(*t) < FDS)
		in_process_by_fd[twheel_fd(*t)] = *t;
	return ret;
}

int __wrap_twheel_open_sized(struct twheel **t, const struct twheel_setup *setup,
			     size_t setup_size, size_t event_size)
{
	return __wrap_twheel_open_flags_sized(t, setup, setup_size, event_size, 0);
}

void __wrap_twheel_close(struct twheel *t)
{
	if (t && twheel_fd(t) < FDS && in_process_by_fd[twheel_fd(t)] == t)
		in_process_by_fd[twheel_fd(t)] = NULL;
	__real_twheel_close(t);
}

void (*wrap_clock)(void);
void (*wrap_read)(void);

static void call_once(void (**hook)(void))
{
	void (*fn)(void) = *hook;

	if (fn) {
		*hook = NULL;
		fn();
	}
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = __real_clock_gettime(clock, now);

	call_once(&wrap_clock);
	return ret;
}

ssize_t __real_read(int fd, void *to, size_t size);

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	ssize_t ret = __real_read(fd, to, size);

	if (ret > 0)
		call_once(&wrap_read);
	return ret;
}

void (*wrap_ppoll)(const struct timespec *timeout);

int __real_ppoll(struct pollfd *fds, nfds_t nr, const struct timespec *timeout,
		 const sigset_t *mask);

int __wrap_ppoll(struct pollfd *fds, nfds_t nr, const struct timespec *timeout,
		 const sigset_t *mask)
{
	if (!wrap_ppoll)
		return __real_ppoll(fds, nr, timeout, mask);
	wrap_ppoll(timeout);
	return 1;
}

bool no_chunks;
void (*wrap_chunk)(void);

int __real_posix_memalign(void **memory, size_t alignment, size_t size);

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
	call_once(&wrap_chunk);
	return no_chunks ? ENOMEM : __real_posix_memalign(memory, alignment, size);
}

unsigned int timerfd_sets;
int timerfd_error;

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *spec,
			   struct itimerspec *old);

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *spec,
			   struct itimerspec *old)
{
	__atomic_add_fetch(&timerfd_sets, 1, __ATOMIC_RELAXED);
	if (timerfd_error) {
		errno = timerfd_error;
		return -1;
	}
	return __real_timerfd_settime(fd, flags, spec, old);
}

bool in_process(void)
{
	const char *asked = getenv("TWHEEL_BACKEND");

	return asked ? !strcmp(asked, "process") : access("/dev/twheel", F_OK);
}

bool in_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

/* Skip a case under valgrind, which would complain about it or change its result. */
void needs_no_valgrind(const char *why)
{
	if (in_valgrind())
		test_skip("valgrind %s", why);
}

/* Skip a case about a feature that a session in the process lacks. */
void needs_kernel(const char *why)
{
	if (in_process())
		test_skip("in the process %s", why);
}

struct twheel *open_default(void)
{
	struct twheel *t;

	ASSERT_EQ(0, twheel_open(&t, NULL));
	return t;
}

struct twheel *open_words(__u32 ids)
{
	struct twheel_setup setup = { .shared_ids = ids };
	struct twheel *t;

	ASSERT_EQ(0, twheel_open(&t, &setup));
	return t;
}

void with_sessions(void (*fn)(struct twheel *t), unsigned int flags,
		   const struct twheel_setup *setups, unsigned int count)
{
	unsigned int i = 0;
	struct twheel *t;

	do {
		ASSERT_EQ(0, twheel_open_flags(&t, count ? &setups[i] : NULL, flags));
		fn(t);
		twheel_close(t);
		t = NULL;
#ifdef __SANITIZE_ADDRESS__
		ASSERT_EQ(0, __lsan_do_recoverable_leak_check());
#endif
	} while (++i < count);
}

static void closes(void *t)
{
	twheel_close(t);
}

/* Close a session in a child, which leaves it open in this process. */
void close_in_child(struct twheel *t)
{
	in_child(closes, t);
}

/* Returns the number of open descriptors. */
unsigned int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	ASSERT_TRUE(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

void expect_unread_of(struct twheel *t, __u64 count)
{
	expect_unread(twheel_fd(t), count);
}

/* Returns the state of a timer, TWHEEL_STATE_*, or a negative errno. */
int state_of(struct twheel *t, __u64 id)
{
	struct twheel_entry entry;
	int ret = twheel_get(t, id, &entry);

	return ret ? ret : (int)entry.state;
}

__u64 deadline_of(struct twheel *t, __u64 id)
{
	struct twheel_entry entry;

	ASSERT_EQ(0, twheel_get(t, id, &entry));
	ASSERT_EQ(id, entry.id);
	return entry.deadline_ns;
}
