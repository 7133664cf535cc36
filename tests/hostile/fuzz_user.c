// SPDX-License-Identifier: GPL-2.0
/*
 * Different users, and readers of /proc
 *
 * A process belongs to root, to one of two users without a privilege, or to root in a time
 * namespace of its own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define FIRST_USER	1000

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x00000080
#endif

/*
 * Enter a time namespace whose clocks are behind. Times before 0 there are still positive times
 * of the wheel.
 */
static void leave_time(struct fuzz_shared *shared)
{
	static const char offsets[] = "monotonic -2 0\nboottime -1 0\n";
	int fd;

	if (unshare(CLONE_NEWTIME))
		return;
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	if (write(fd, offsets, strlen(offsets)) < 0)
		fuzz_fail(shared, "time namespace: %s", strerror(errno));
	close(fd);
	fd = open("/proc/self/ns/time_for_children", O_RDONLY);
	if (setns(fd, CLONE_NEWTIME))
		fuzz_fail(shared, "time namespace: %s", strerror(errno));
	close(fd);
}

/*
 * Become another user, who may open /dev/twheel. Stay dumpable, so that /proc/self remains
 * readable.
 */
static void become_user(struct fuzz_shared *shared, unsigned int id)
{
	if (chmod("/dev/twheel", 0666) || setgid(id) || setuid(id) || prctl(PR_SET_DUMPABLE, 1))
		fuzz_fail(shared, "user: %s", strerror(errno));
}

/*
 * Change the user or the clocks, in some rounds. Must be called before the process has other
 * threads.
 */
void fuzz_become(struct fuzz_shared *shared, __u64 seed)
{
	unsigned int choice = seed / FUZZ_ROUND % 4;

	if (choice < 2)
		become_user(shared, FIRST_USER + choice);
	else if (choice == 2)
		leave_time(shared);
}

static void read_all_of(struct fuzz_thread *t, const char *path)
{
	char text[4096];
	size_t size = 1 + fuzz_below(t, sizeof(text));
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	fuzz_fault_begin(t);
	while (fd >= 0 && read(fd, text, size) > 0)
		;
	fuzz_fault_end(t);
	if (fd >= 0)
		close(fd);
}

/* Read the session's files in /proc while other threads change the session. */
void fuzz_look(struct fuzz_thread *t, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	read_all_of(t, path);
	if (fuzz_percent(t, 20))
		read_all_of(t, "/proc/twheel");
}
