// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations and copies that fail, in the calls of one thread
 *
 * The thread writes a number to its file fail-nth. The kernel counts it down at each place that
 * can fail, and the place where it becomes 0 fails. Without CONFIG_FAULT_INJECTION, or for a user
 * without the privilege, nothing fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz.h"

/* The largest number for fail-nth. Most calls pass fewer places that can fail. */
#define PLACES_MAX	12

/*
 * Open the file fail-nth of the calling thread. (tests/vm/guest/faults keeps the kernel from
 * dumping its stack at each fault.)
 */
void fuzz_fault_open(struct fuzz_thread *t)
{
	t->nth = -1;
	if (t->kind->faults && t->shared->faults)
		t->nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

void fuzz_fault_begin(struct fuzz_thread *t)
{
	char text[8];
	int size;

	if (!t->kind->faults || !fuzz_percent(t, t->kind->faults))
		return;
	size = snprintf(text, sizeof(text), "%u", 1 + (unsigned int)fuzz_below(t, PLACES_MAX));
	if (t->nth >= 0 && !t->forked && pwrite(t->nth, text, size, 0) != size)
		fuzz_fail(t->shared, "fail-nth cannot be set");
}

/*
 * Let nothing fail any more. Copying the 0 from user space may be the place that fails, so try
 * twice.
 */
void fuzz_fault_end(struct fuzz_thread *t)
{
	int error = errno;

	if (t->nth >= 0 && !t->forked && pwrite(t->nth, "0", 1, 0) != 1 &&
	    pwrite(t->nth, "0", 1, 0) != 1)
		fuzz_fail(t->shared, "fail-nth cannot be cleared");
	errno = error;
}
