// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Reading events */
#include "libtwheel.h"

#define SECOND	1000000000

/* Returns the number of events read, -EAGAIN if there are none, or another negative errno. */
static int read_once(struct twheel *t, struct twheel_event *events, unsigned int count)
{
	size_t event_size = to_session(t)->event_size, room = count * event_size;
	int saved = errno;
	ssize_t size;

	if (process_of(t))
		size = twheel_process_read(process_of(t), events, room);
	else
		size = libtwheel_result(read(t->fd, events, room), saved);
	return size < 0 ? size : size / (ssize_t)event_size;
}

int twheel_read(struct twheel *t, struct twheel_event *events, unsigned int count)
{
	int ret = read_once(t, events, count);

	return ret == -EAGAIN ? 0 : ret;
}

static int wait_readable(const struct twheel *t, const struct timespec *timeout)
{
	struct pollfd pollfd = { .fd = t->fd, .events = POLLIN };
	int saved = errno;

	return libtwheel_result(ppoll(&pollfd, 1, timeout, NULL), saved);
}

int twheel_wait(struct twheel *t, struct twheel_event *events, unsigned int count,
		__s64 timeout_ns)
{
	__u64 end = timeout_ns < 0 ? 0 : after(twheel_now(), timeout_ns);
	struct twheel_session *process = process_of(t);
	struct timespec timeout;
	__u64 now, left;
	int ret, state;

	for (;;) {
		now = twheel_now();
		left = end > now ? end - now : 0;
		/* A time_t may have 32 bits. */
		timeout.tv_sec = left / SECOND < INT_MAX ? left / SECOND : INT_MAX;
		timeout.tv_nsec = left % SECOND;
		ret = process ? READ_ONCE(process->lock.error) : 0;
		if (!ret)
			ret = wait_readable(t, timeout_ns < 0 ? NULL : &timeout);
		if (ret <= 0)
			return ret;
		/* A thread that is cancelled in read(2) would take events with it. */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		ret = read_once(t, events, count);
		pthread_setcancelstate(state, NULL);
		if (ret != -EAGAIN)
			return ret;
	}
}
