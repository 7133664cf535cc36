// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Reading events, and checking their words again */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "libtwheel.h"

#define SECOND	1000000000

/*
 * Returns whether an event is out of date because the program stored to its word after
 * the kernel read it. A later deadline starts the timer again. If that fails, the event
 * is still needed. If another thread started the timer and it expired again, there is a
 * newer event.
 */
static bool out_of_date(struct twheel *t, const struct twheel_event *event)
{
	__u64 id = event->id, word;
	struct twheel_start start = {
		.id = id,
		.user_data = event->user_data,
		.flags = TWHEEL_START_ABS,
	};
	int ret;

	if (!has_word(t, id))
		return false;
	word = twheel_word(t, id);
	if (word == TWHEEL_WORD_STOP)
		return true;
	if (word <= event->expired_ns || event->flags & TWHEEL_EVENT_PERIODIC)
		return false;
	start.expires_ns = word < LIBTWHEEL_NS_MAX ? word : LIBTWHEEL_NS_MAX;
	ret = twheel_command(t, TWHEEL_IOC_START, &start);
	return ret >= 0 || ret == -EALREADY;
}

/* Remove outdated events. Returns the number of events left. */
static int keep_valid(struct twheel *t, char *events, size_t size)
{
	size_t event_size = to_session(t)->event_size;
	char *to = events, *event;

	if (!t->shared_ids)
		return size / event_size;
	for (event = events; event < events + size; event += event_size) {
		if (out_of_date(t, (const struct twheel_event *)event))
			continue;
		if (to != event)
			memcpy(to, event, event_size);
		to += event_size;
	}
	return (to - events) / event_size;
}

/* Returns -EAGAIN if there are no events, and 0 if all were outdated. */
static int read_once(struct twheel *t, struct twheel_event *events, unsigned int count)
{
	size_t room = count * to_session(t)->event_size;
	int saved = errno;
	ssize_t size;

	if (process_of(t)) {
		size = twheel_process_read(process_of(t), events, room);
	} else {
		size = read(t->fd, events, room);
		if (size < 0) {
			size = -errno;
			errno = saved;
		}
	}
	return size < 0 ? size : keep_valid(t, (char *)events, size);
}

int twheel_read(struct twheel *t, struct twheel_event *events, unsigned int count)
{
	int ret;

	do {
		ret = read_once(t, events, count);
	} while (!ret);
	return ret == -EAGAIN ? 0 : ret;
}

static int wait_readable(const struct twheel *t, const struct timespec *timeout)
{
	struct pollfd pollfd = { .fd = t->fd, .events = POLLIN };
	int saved = errno;
	int ret = ppoll(&pollfd, 1, timeout, NULL);

	if (ret < 0) {
		ret = -errno;
		errno = saved;
	}
	return ret;
}

int twheel_wait(struct twheel *t, struct twheel_event *events, unsigned int count,
		__s64 timeout_ns)
{
	__u64 end = timeout_ns < 0 ? 0 : after(twheel_now(), timeout_ns);
	struct timespec timeout;
	__u64 now, left;
	int ret;

	for (;;) {
		now = twheel_now();
		left = end > now ? end - now : 0;
		timeout.tv_sec = left / SECOND;
		timeout.tv_nsec = left % SECOND;
		ret = wait_readable(t, timeout_ns < 0 ? NULL : &timeout);
		if (ret <= 0)
			return ret;
		ret = read_once(t, events, count);
		if (ret && ret != -EAGAIN)
			return ret;
	}
}
