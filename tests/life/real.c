// SPDX-License-Identifier: GPL-2.0
/*
 * Lives with the clock of the machine, on /dev/twheel or on sessions in the process
 *
 * The kernel's fault injection makes an allocation fail: a number N in the file fail-nth of a
 * thread stands for the Nth allocation or copy from then on. If the file cannot be opened, nothing
 * fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "life.h"

const struct kind kinds[] = {
	{ .name = "alone", .threads = 1, .bad = true },
	{ .name = "threads", .threads = 3, .bad = true },
	{ .name = "users", .threads = 1, .bad = true, .users = true },
	{ .name = "killed", .threads = 3, .bad = true, .killed = true },
	{ .name = "refusals", .threads = 1, .refusals = true },
};

const unsigned int nr_kinds = ARRAY_SIZE(kinds);
const bool host_is_virtual;
static unsigned int refused;

bool host_has_device(void)
{
	static int device = -1;

	if (device < 0)
		device = !access("/dev/twheel", F_OK);
	return device;
}

/*
 * Returns whether this program runs lives of @kind unless asked for another kind. A session in the
 * process has neither users nor bad memory, and virtual.c has its lives of one thread. Refused
 * memory needs a kernel with fault injection, so only tests/vm/guest/faults asks for it.
 */
bool host_has(const struct kind *kind)
{
	if (host_has_device())
		return !kind->refusals;
	return kind->threads > 1 && !kind->killed;
}

u64 real_ns(void)
{
	return now_ns();
}

void host_begin(void)
{
}

u64 host_time(void)
{
	return now_ns();
}

void host_sleep(u64 ns)
{
	struct timespec ts = { ns / SECOND, ns % SECOND };

	nanosleep(&ts, NULL);
}

void host_refuse(unsigned int nth)
{
	int error = errno, size;
	char text[8];

	if (self.nth < 0 && nth)
		self.nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (self.nth < 0)
		return;
	__atomic_fetch_add(&refused, !!nth, __ATOMIC_RELAXED);
	size = snprintf(text, sizeof(text), "%u", nth);
	/* Write twice: the first write may meet the fault that it cancels. */
	if (pwrite(self.nth, text, size, 0) != size && pwrite(self.nth, text, size, 0) != size)
		oracle_fail("fail-nth cannot be set");
	errno = error;
}

void host_interrupt(unsigned int nth, void (*fn)(void))
{
	(void)nth;
	(void)fn;
}

unsigned int oracle_refusals(void)
{
	return __atomic_load_n(&refused, __ATOMIC_RELAXED);
}

bool host_readable(const struct twheel *t)
{
	return poll(&(struct pollfd){ .fd = twheel_fd(t), .events = POLLIN }, 1, 0) == 1;
}
