// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that work on the descriptor of any file
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuzz.h"

#define EVENTS_MAX	300

int fuzz_open(struct fuzz_shared *shared, const struct fuzz_kind *kind, int flags)
{
	int fd = open("/dev/twheel", flags | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 || IS_ONE_OF(errno, EMFILE, ENOMEM) ||
	    (kind->faults && IS_ONE_OF(errno, EFAULT, ENFILE)) ||
	    /* the limit of sessions of a user */
	    (kind->users && errno == ENOSPC))
		return fd;
	fuzz_fail(shared, "open: %s", strerror(errno));
}

int fuzz_open_again(struct fuzz_thread *t)
{
	int flags = fuzz_percent(t, 95) ? O_RDWR : O_RDONLY;
	int fd;

	fuzz_fault_begin(t);
	fd = fuzz_open(t->shared, t->kind, flags);
	fuzz_fault_end(t);
	return fd;
}

/*
 * Open, set up, use and close a session. SETUP is its first call, because later it would be
 * refused.
 */
void fuzz_life(struct fuzz_thread *t)
{
	int fd = fuzz_open_again(t);
	unsigned int i, calls = fuzz_below(t, 4);

	if (fd < 0)
		return;
	fuzz_setup(t, fd);
	if (fuzz_percent(t, 30))
		fuzz_setup(t, fd);
	for (i = 0; i < calls; i++)
		fuzz_struct_call(t, fd);
	/* Hold two sessions at once sometimes, so that a user reaches the limit. */
	if (fuzz_percent(t, 10))
		fuzz_life(t);
	close(fd);
}

static size_t choose_read_size(struct fuzz_thread *t)
{
	size_t events = 1 + fuzz_below(t, EVENTS_MAX);

	if (!fuzz_spoilt(t))
		return events * sizeof(struct twheel_event);
	return fuzz_below(t, events * sizeof(struct twheel_event));
}

static void check_read_result(struct fuzz_thread *t, ssize_t result, size_t size)
{
	if (result < 0 && !IS_ONE_OF(result, -EAGAIN, -EFAULT, -EINVAL, -EBADF, -EINTR))
		fuzz_fail(t->shared, "read: result %zd", result);
	if (result >= 0 && (!result || result % sizeof(struct twheel_event) ||
			    (size_t)result > size))
		fuzz_fail(t->shared, "read: %zd of %zu bytes", result, size);
}

/*
 * Check the events in the first @result bytes. The bytes behind them must not change, unless a
 * page vanished while the kernel wrote there.
 */
static void check_events(struct fuzz_thread *t, const struct place *place, ssize_t result)
{
	size_t size = result < 0 ? 0 : result, at;
	struct twheel_event event;

	for (at = 0; at < size; at += sizeof(event)) {
		memcpy(&event, place->mine + at, sizeof(event));
		check_event(t->shared, &event);
	}
	if (!t->forked && place->kind != PLACE_UNSTABLE)
		check_untouched(t->shared, "read", place->mine + size, place->room - size);
}

void fuzz_read(struct fuzz_thread *t, int fd)
{
	size_t size = choose_read_size(t);
	struct place place = fuzz_place(t, &t->arrays, size);
	ssize_t result;

	fuzz_fault_begin(t);
	result = fuzz_end_call(t, read(fd, place.user, size));
	check_read_result(t, result, size);
	if (place.mine)
		check_events(t, &place, result);
}

/* Read into several pieces of odd sizes, perhaps with RWF_NOWAIT. */
static void call_readv(struct fuzz_thread *t, int fd)
{
	struct twheel_event events[3];
	struct iovec pieces[3] = {
		{ &events[0], sizeof(events[0]) },
		{ &events[1], 2 * sizeof(events[0]) - fuzz_below(t, 2) * 10 },
		{ NULL, fuzz_below(t, 2) * sizeof(events[0]) },
	};
	ssize_t result = preadv2(fd, pieces, ARRAY_SIZE(pieces), -1,
				 fuzz_below(t, 2) * RWF_NOWAIT);

	if (result >= (ssize_t)sizeof(events[0]))
		check_event(t->shared, &events[0]);
}

/* Read without O_NONBLOCK, so that the read may wait. A signal then ends it. */
static void call_blocking(struct fuzz_thread *t, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return;
	fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	fuzz_read(t, fd);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Store sensible and senseless values in words. */
static void scribble(struct fuzz_thread *t, __u64 *words, size_t count)
{
	int i;

	for (i = 0; i < 40; i++) {
		__u64 *word = &words[fuzz_below(t, fuzz_percent(t, 80) ?
						   MIN(count, 60UL) : count)];
		__u64 value = fuzz_percent(t, 80) ? now_ns() + fuzz_time(t) :
			      fuzz_percent(t, 50) ? TWHEEL_WORD_STOP :
						    fuzz_number(t);

		__atomic_store_n(word, value, __ATOMIC_RELAXED);
	}
}

/*
 * Remove or replace a mapping, or a part of it, at any time. A part is replaced by another
 * mapping, so that no other thread can get that address.
 */
static void spoil_mapping(struct fuzz_thread *t, char *place, size_t size)
{
	size_t at = fuzz_below(t, size / PAGE) * PAGE;
	size_t length = (1 + fuzz_below(t, 3)) * PAGE;

	switch (fuzz_below(t, 5)) {
	case 0:
		mmap(place + at, MIN(length, size - at), PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 1:
		mprotect(place + at, MIN(length, size - at), PROT_READ);
		break;
	case 2:
		madvise(place + at, MIN(length, size - at), MADV_DONTNEED);
		break;
	case 3:
		madvise(place, size, MADV_DOFORK);
		break;
	default:
		if (mremap(place, size, size + length, 0) != MAP_FAILED)
			fuzz_fail(t->shared, "words: a longer mapping");
	}
}

/* Map the words of a session. Other threads may close the session's descriptors meanwhile. */
static void call_mmap_of(struct fuzz_thread *t, int fd)
{
	int flags = fuzz_percent(t, 90) ? MAP_SHARED : MAP_PRIVATE;
	int protection = PROT_READ | (fuzz_percent(t, 90) ? PROT_WRITE : 0);
	off_t offset = fuzz_percent(t, 90) ? 0 : fuzz_below(t, 3) * PAGE;
	struct twheel_info info;
	size_t size;
	char *place;

	if (ioctl(fd, TWHEEL_IOC_INFO, &info))
		return;
	size = (info.shared_ids * sizeof(__u64) + PAGE - 1) & ~(PAGE - 1);
	if (!size || fuzz_percent(t, 5))
		size = (1 + fuzz_below(t, 8)) * PAGE;
	fuzz_fault_begin(t);
	place = mmap(NULL, size, protection, flags, fd, offset);
	fuzz_fault_end(t);
	if (place == MAP_FAILED)
		return;
	if (flags == MAP_PRIVATE || offset)
		fuzz_fail(t->shared, "words: mapped with flags %#x, offset %ld",
			  flags, (long)offset);
	if (protection & PROT_WRITE)
		scribble(t, (__u64 *)place, size / sizeof(__u64));
	else if (!mprotect(place, size, PROT_READ | PROT_WRITE))
		fuzz_fail(t->shared, "words: made writable");
	spoil_mapping(t, place, size);
	munmap(place, size);
}

void fuzz_words(struct fuzz_thread *t, int fd)
{
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return;
	call_mmap_of(t, fd);
	close(fd);
}

static void call_epoll(struct fuzz_thread *t, int fd)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {
		.events = EPOLLIN | (fuzz_below(t, 2) ? EPOLLET : EPOLLONESHOT),
	};

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	epoll_wait(epoll, &event, 1, 1);
	/*
	 * Test both ways in which a poller ends: the session is removed, or the epoll file is
	 * closed.
	 */
	if (fuzz_percent(t, 50))
		epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &event);
	close(epoll);
}

/*
 * Make a call. While sessions are opened and closed, a number may come to belong to a descriptor
 * of another kind. Calls that could harm such a descriptor are left out.
 */
void fuzz_file_call(struct fuzz_thread *t, int fd)
{
	switch (fuzz_below(t, 7)) {
	case 0:
		call_readv(t, fd);
		break;
	case 1:
		/* the read may never end unless a signal ends it */
		if (!t->forked && !t->kind->faults)
			call_blocking(t, fd);
		break;
	case 2:
		poll(&(struct pollfd){ .fd = fd, .events = ~0 }, 1, 1);
		break;
	case 3:
		if (!t->kind->churn)
			call_epoll(t, fd);
		break;
	case 4:
	case 5:
		fuzz_words(t, fd);
		break;
	default:
		/*
		 * With churn, other threads may close the files that this call opens. A child has
		 * no other threads.
		 */
		if (!t->kind->churn || t->forked)
			fuzz_look(t, fd);
	}
}
