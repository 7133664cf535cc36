// SPDX-License-Identifier: GPL-2.0
/*
 * What the tests of libtwheel share
 */
#include <dirent.h>
#include <stdarg.h>
#include <unistd.h>

#include "util.h"

unsigned long wrap_command;
int (*wrap_ioctl)(int fd, unsigned long command, void *argument);

int __wrap_ioctl(int fd, unsigned long command, ...);

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (wrap_ioctl && command == wrap_command)
		return wrap_ioctl(fd, command, argument);
	return __real_ioctl(fd, command, argument);
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

/* How many descriptors this process has. */
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

/* Returns TWHEEL_STATE_* or a negative errno. */
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
