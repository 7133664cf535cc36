// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel without a kernel: sessions of libtwheel in the process
 *
 * The linker puts these functions in the place of system calls. The descriptor of the device is the
 * timerfd of a session, with which epoll and fcntl() work unchanged.
 */
#include "twheel.c"

#include <stdarg.h>

#define FDS		1024

static struct twheel_session *opened[FDS];

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_ioctl(int fd, unsigned long command, ...);
int __wrap_ioctl(int fd, unsigned long command, ...);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);

static struct twheel_session *opened_as(int fd)
{
	return fd >= 0 && fd < FDS ? __atomic_load_n(&opened[fd], __ATOMIC_ACQUIRE) : NULL;
}

static ssize_t result(ssize_t ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

/* Let due timers expire, as the kernel does by itself. Returns the number of unread events. */
static __u64 unread(struct twheel_session *session)
{
	struct twheel_stats stats;

	twheel_process_command(session, TWHEEL_IOC_STATS, &stats);
	return stats.unread;
}

int __wrap_open(const char *path, int flags, ...)
{
	struct twheel_session *session;
	int fd, ret;

	if (strcmp(path, "/dev/twheel"))
		return __real_open(path, flags);
	ret = twheel_process_open(&session, CLOCK_MONOTONIC);
	if (ret)
		return result(ret);
	fd = session->lock.fd;
	if (fd >= FDS) {
		twheel_process_close(session, false);
		return result(-EMFILE);
	}
	if ((flags & O_ACCMODE) != O_RDWR)
		session->lock.file.f_mode = flags & O_WRONLY ? FMODE_WRITE : FMODE_READ;
	fcntl(fd, F_SETFL, flags & O_NONBLOCK);
	__atomic_store_n(&opened[fd], session, __ATOMIC_RELEASE);
	return fd;
}

int __wrap_close(int fd)
{
	struct twheel_session *session = opened_as(fd);

	if (!session)
		return __real_close(fd);
	opened[fd] = NULL;
	twheel_process_close(session, false);
	return 0;
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	struct twheel_session *session = opened_as(fd);
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (!session)
		return __real_ioctl(fd, command, argument);
	unread(session);
	return result(twheel_process_command(session, command, argument));
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	struct twheel_session *session = opened_as(fd);
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	ssize_t ret;

	if (!session)
		return __real_read(fd, to, size);
	if (!(session->lock.file.f_mode & FMODE_READ))
		return result(-EBADF);
	while ((ret = twheel_process_read(session, to, size)) == -EAGAIN) {
		if (fcntl(fd, F_GETFL) & O_NONBLOCK)
			break;
		if (poll(&readable, 1, -1) < 0)
			return -1;
	}
	return result(ret);
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	struct twheel_session *session = opened_as(fd);

	if (!session)
		return __real_mmap(at, size, prot, flags, fd, offset);
	errno = ENODEV;
	return session->words ? session->words->pages[0] : MAP_FAILED;
}

/*
 * Poll a session. The timerfd also fires when the wheel only has timers to move, so poll again
 * until there are events.
 */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	struct twheel_session *session = count == 1 ? opened_as(fds->fd) : NULL;
	__u64 end = twheel_now() + (timeout < 0 ? INT_MAX : timeout) * 1000000ULL, now;
	int ret;

	for (;;) {
		ret = __real_poll(fds, count, timeout);
		if (!session || ret <= 0 || unread(session))
			return ret;
		now = twheel_now();
		if (timeout > 0)
			timeout = now < end ? (end - now) / 1000000 : 0;
	}
}
