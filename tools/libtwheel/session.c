// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Opening, closing, one timer at a time
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libtwheel.h"

#define DEVICE		"/dev/twheel"

/* More than any struct twheel_setup will have. */
#define SETUP_SIZE_MAX	512

int twheel_command(const struct twheel *t, unsigned long command, void *argument)
{
	int saved = errno;
	int ret = ioctl(t->fd, command, argument);

	if (ret < 0) {
		ret = -errno;
		errno = saved;
	}
	return ret;
}

static size_t words_size(const struct twheel *t)
{
	return t->shared_ids * sizeof(*t->words);
}

static int map_words(struct twheel *t)
{
	int saved = errno;
	void *words;

	if (!t->shared_ids)
		return 0;
	words = mmap(NULL, words_size(t), PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
	if (words == MAP_FAILED) {
		int ret = -errno;

		errno = saved;
		return ret;
	}
	t->words = words;
	return 0;
}

static int attach(struct session *session)
{
	struct twheel *t = &session->head;
	struct twheel_info info;
	int ret;

	ret = twheel_info(t, &info);
	if (ret)
		return ret;
	if (info.event_size != session->event_size)
		return -EINVAL;
	t->shared_ids = info.shared_ids;
	session->pid = getpid();
	return map_words(t);
}

int twheel_attach_sized(struct twheel **t, int fd, size_t event_size)
{
	struct session *session = calloc(1, sizeof(*session));
	int ret;

	if (!session)
		return -ENOMEM;
	session->head.fd = fd;
	session->event_size = event_size;
	ret = attach(session);
	if (ret) {
		free(session);
		return ret;
	}
	*t = &session->head;
	return 0;
}

/* With the size that the program's structure has, which may be of another version. */
static int setup_session(int fd, const struct twheel_setup *setup, size_t setup_size,
			 size_t event_size)
{
	const struct twheel t = { .fd = fd };
	union {
		struct twheel_setup setup;
		char bytes[SETUP_SIZE_MAX];
	} all;

	if (setup_size > sizeof(all))
		return -E2BIG;
	memset(&all, 0, sizeof(all));
	if (setup)
		memcpy(&all, setup, setup_size);
	if (setup_size < sizeof(all.setup))
		setup_size = sizeof(all.setup);
	all.setup.event_size = event_size;
	return twheel_command(&t, _IOC(_IOC_READ | _IOC_WRITE, TWHEEL_IOC_MAGIC,
				       _IOC_NR(TWHEEL_IOC_SETUP), setup_size), &all);
}

int twheel_open_sized(struct twheel **t, const struct twheel_setup *setup,
		      size_t setup_size, size_t event_size)
{
	int saved = errno;
	int fd, ret;

	fd = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		ret = -errno;
		errno = saved;
		return ret;
	}
	ret = setup_session(fd, setup, setup_size, event_size);
	if (!ret)
		ret = twheel_attach_sized(t, fd, event_size);
	if (ret)
		close(fd);
	return ret;
}

void twheel_close(struct twheel *t)
{
	int saved = errno;

	if (!t)
		return;
	/* What is at this address in a child is something else. */
	if (t->words && to_session(t)->pid == getpid())
		munmap(t->words, words_size(t));
	close(t->fd);
	free(to_session(t));
	errno = saved;
}

/* A word takes a deadline, so a delay becomes one. */
static int start_with_word(struct twheel *t, struct twheel_start *start)
{
	__u64 old;
	int ret;

	if (start->expires_ns > LIBTWHEEL_NS_MAX)
		return -EINVAL;
	if (!(start->flags & TWHEEL_START_ABS)) {
		start->expires_ns = after(twheel_now(), start->expires_ns);
		start->flags |= TWHEEL_START_ABS;
	}
	old = put_word(t, start->id, start->expires_ns, &start->flags);
	ret = twheel_command(t, TWHEEL_IOC_START, start);
	if (ret < 0)
		take_back(t, start->id, start->expires_ns, old);
	return ret;
}

int twheel_start_flags(struct twheel *t, __u64 *id, __u64 expires_ns,
		       __u64 period_ns, __u64 user_data, __u32 flags)
{
	struct twheel_start start = {
		.id = *id,
		.expires_ns = expires_ns,
		.period_ns = period_ns,
		.user_data = user_data,
		.flags = flags,
	};
	int ret;

	if (has_word(t, start.id))
		return start_with_word(t, &start);
	ret = twheel_command(t, TWHEEL_IOC_START, &start);
	if (ret >= 0)
		*id = start.id;
	return ret;
}

int twheel_start(struct twheel *t, __u64 id, __u64 delay_ns, __u64 user_data)
{
	return twheel_start_periodic(t, id, delay_ns, 0, user_data);
}

/* Not for TWHEEL_ID_ANY: nobody would know the timer's id. */
int twheel_start_at(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 user_data)
{
	if (id == TWHEEL_ID_ANY)
		return -EINVAL;
	return twheel_start_flags(t, &id, deadline_ns, 0, user_data, TWHEEL_START_ABS);
}

int twheel_start_periodic(struct twheel *t, __u64 id, __u64 delay_ns,
			  __u64 period_ns, __u64 user_data)
{
	if (id == TWHEEL_ID_ANY)
		return -EINVAL;
	return twheel_start_flags(t, &id, delay_ns, period_ns, user_data, 0);
}

int twheel_start_any(struct twheel *t, __u64 *id, __u64 delay_ns, __u64 user_data)
{
	__u64 any = TWHEEL_ID_ANY;
	int ret = twheel_start_flags(t, &any, delay_ns, 0, user_data, 0);

	if (!ret)
		*id = any;
	return ret;
}

static int stop(struct twheel *t, __u64 id, __u32 flags)
{
	struct twheel_stop stop = { .id = id, .flags = flags };

	return twheel_command(t, TWHEEL_IOC_STOP, &stop);
}

int twheel_stop(struct twheel *t, __u64 id)
{
	return stop(t, id, 0);
}

int twheel_withdraw(struct twheel *t, __u64 id)
{
	return stop(t, id, TWHEEL_STOP_WITHDRAW);
}
