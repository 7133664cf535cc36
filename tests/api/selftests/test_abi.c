// SPDX-License-Identifier: GPL-2.0
/*
 * The user API as bytes
 *
 * The layout is the same for programs of 32 and 64 bits, so this program is built for both. A
 * program's structure may be shorter or longer than the kernel's. The kernel must write all bytes
 * of the structure, and none behind it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "arguments.h"
#include "uapi_tables.h"

/* Returns @command with another size of its structure. */
static unsigned long resized(unsigned long command, size_t size)
{
	return (command & ~((unsigned long)_IOC_SIZEMASK << _IOC_SIZESHIFT)) |
	       ((unsigned long)size << _IOC_SIZESHIFT);
}

static const struct {
	const char *name;
	unsigned long command;
	size_t size;
	unsigned long number;
} commands[] = { UAPI_COMMANDS };

TEST(command_numbers)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		ASSERT_EQ(commands[i].size, _IOC_SIZE(commands[i].command));
		ASSERT_EQ(commands[i].number, commands[i].command);
	}
}

/*
 * An offset or a size: @got is from the compiler, @want from tools/uapi, which computes it from the
 * text of the header.
 */
struct placed {
	const char *name;
	size_t got;
	size_t want;
};

static void expect_placed(const struct placed *placed, unsigned int count)
{
	for (; count--; placed++) {
		if (placed->got != placed->want)
			test_fail(__FILE__, __LINE__, "%s: %zu, not %zu",
				  placed->name, placed->got, placed->want);
	}
}

TEST(structure_sizes)
{
	static const struct placed sizes[] = { UAPI_STRUCTURES };

	expect_placed(sizes, ARRAY_SIZE(sizes));
}

TEST(field_offsets)
{
	static const struct placed offsets[] = { UAPI_FIELDS };

	expect_placed(offsets, ARRAY_SIZE(offsets));
}

/*
 * Any number that is not a command must return ENOTTY, even if it has only another direction. All
 * commands are _IOWR, so that a later version can add fields for both directions.
 */
TEST(enotty)
{
	static const unsigned long others[] = {
		TCGETS, FIONREAD, 0, TWHEEL_IOC_START ^ 0x100,
		FIOASYNC,	/* O_ASYNC is not supported */
	};
	int fd = session_open_nonblock();
	unsigned int nr, dir, i;
	char bytes[512];

	memset(bytes, GARBAGE, sizeof(bytes));
	/* The numbers in use are 0 to 6, and 8 for STATS. Before version 1.0, 7 was a drain. */
	for (nr = ARRAY_SIZE(commands) - 1; nr < 256; nr++)
		if (nr != _IOC_NR(TWHEEL_IOC_STATS))
			ASSERT_EQ(-ENOTTY, tw_ioctl(fd, _IOWR(0xdc, nr, __u64), bytes));
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		nr = _IOC_NR(commands[i].command);
		for (dir = _IOC_NONE; dir < (_IOC_READ | _IOC_WRITE); dir++)
			ASSERT_EQ(-ENOTTY, tw_ioctl(fd, _IOC(dir, 0xdc, nr, commands[i].size),
						    bytes));
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		ASSERT_EQ(-ENOTTY, tw_ioctl(fd, others[i], bytes));
	ASSERT_TRUE(is_garbage(bytes, sizeof(bytes)));
	EXPECT_STATS(fd, .started = 0);
}

/* A structure must hold at least its first field. */
TEST(einval_no_structure)
{
	int fd = session_open_nonblock();
	char bytes[64];
	unsigned int i;

	memset(bytes, GARBAGE, sizeof(bytes));
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		ASSERT_EQ(-EINVAL, tw_ioctl(fd, resized(commands[i].command, 0),
					    bytes));
		ASSERT_EQ(-EINVAL, tw_ioctl(fd, resized(commands[i].command, 4),
					    bytes));
	}
	ASSERT_TRUE(is_garbage(bytes, sizeof(bytes)));
	EXPECT_STATS(fd, .started = 0);
}

/* Returns true if the kernel writes the structure of @command without reading it. */
static bool is_output(unsigned long command)
{
	return command == TWHEEL_IOC_INFO || command == TWHEEL_IOC_STATS;
}

static void shorter_structure(unsigned long command, size_t size)
{
	union argument whole = good_argument(command);
	struct twheel_entry entries[2] = { 0 };
	struct twheel_info info[2];
	char part[512];
	int fds[2], i;

	memset((char *)&whole + size, 0, sizeof(whole) - size);
	memset(part, GARBAGE, sizeof(part));
	memcpy(part, &whole, size);
	for (i = 0; i < 2; i++)
		fds[i] = open_for(command);
	ASSERT_EQ(0, tw_ioctl(fds[0], command, &whole));
	ASSERT_EQ(0, tw_ioctl(fds[1], resized(command, size), part));
	/* Compare only the first 16 bytes of GET: its times differ from call to call. */
	ASSERT_EQ(0, memcmp(&whole, part, is_output(command) || size < 16 ? size : 16));
	ASSERT_TRUE(is_garbage(part + size, sizeof(part) - size));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, tw_info(fds[i], &info[i]));
		if (command == TWHEEL_IOC_START)
			ASSERT_EQ(0, tw_get(fds[i], whole.start.id, &entries[i]));
		close(fds[i]);
	}
	ASSERT_EQ(0, memcmp(&info[0], &info[1], sizeof(info[0])));
	ASSERT_EQ(entries[0].user_data, entries[1].user_data);
	ASSERT_EQ(entries[0].period_ns, entries[1].period_ns);
}

/* The kernel must read nothing beyond a shorter structure, and take 0 for the missing fields. */
TEST(shorter_structures)
{
	unsigned long command;
	unsigned int i;
	size_t size;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		command = commands[i].command;
		/* these two commands need their whole structure */
		if (command == TWHEEL_IOC_SUBMIT || command == TWHEEL_IOC_LIST)
			continue;
		for (size = sizeof(__u64); size < commands[i].size; size++)
			shorter_structure(command, size);
	}
}

/* Number of bytes in a newer program's structure that this kernel does not know. */
#define MORE	24

static void longer_structure(unsigned int nr)
{
	unsigned long command = commands[nr].command;
	bool out = is_output(command);
	const union argument good = good_argument(command);
	size_t size = commands[nr].size, i;
	struct twheel_stats before, after;
	char bytes[512], *more = bytes + size;
	int fd = open_for(command);

	ASSERT_EQ(0, tw_stats(fd, &before));
	memset(bytes, GARBAGE, sizeof(bytes));
	if (!out) {
		memcpy(bytes, &good, size);
		memset(more, 0, MORE);
	}
	for (i = 0; i < MORE && !out; i++) {
		more[i] = 1;
		ASSERT_EQ(-E2BIG, tw_ioctl(fd, resized(command, size + MORE), bytes));
		ASSERT_EQ(0, memcmp(&good, bytes, size));
		more[i] = 0;
	}
	ASSERT_EQ(0, tw_stats(fd, &after));
	ASSERT_EQ(0, memcmp(&before, &after, sizeof(before)));
	if (tw_ioctl(fd, resized(command, size + MORE), bytes) < 0)
		test_fail(__FILE__, __LINE__, "a longer %s is refused", commands[nr].name);
	if (out) {
		char exact[512];

		ASSERT_EQ(0, tw_ioctl(fd, command, exact));
		ASSERT_EQ(0, memcmp(exact, bytes, size));
	}
	ASSERT_TRUE(is_zero(more, MORE));
	ASSERT_TRUE(is_garbage(more + MORE, sizeof(bytes) - size - MORE));
	close(fd);
}

TEST(longer_structures)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		longer_structure(i);
}

static int open_mode(int mode)
{
	int fd = open("/dev/twheel", mode | O_NONBLOCK | O_CLOEXEC);

	ASSERT_LE(0, fd);
	return fd;
}

static bool changes_something(unsigned long command)
{
	return command == TWHEEL_IOC_SETUP || command == TWHEEL_IOC_START ||
	       command == TWHEEL_IOC_STOP || command == TWHEEL_IOC_SUBMIT;
}

TEST(ebadf_not_open_for_writing)
{
	int fd = open_mode(O_RDONLY), result;
	struct twheel_entry entry;
	struct twheel_event event;
	char bytes[1024] = { 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		result = tw_ioctl(fd, commands[i].command, bytes);
		if (changes_something(commands[i].command))
			ASSERT_EQ(-EBADF, result);
		else
			ASSERT_NE(-EBADF, result);
	}
	ASSERT_EQ(-EBADF, tw_ioctl(fd, resized(TWHEEL_IOC_START, 16), bytes));
	ASSERT_EQ(-EBADF, tw_drain(fd, &entry, 1));
	ASSERT_EQ(-ENOTTY, tw_ioctl(fd, _IOWR(0xdc, 99, __u64), bytes));
	ASSERT_EQ(-EAGAIN, tw_read(fd, &event, 1));
	EXPECT_STATS(fd, .started = 0);
}

TEST(ebadf_not_open_for_reading)
{
	int fd = open_mode(O_WRONLY);
	struct twheel_event event;

	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_unread(fd, 1);
	ASSERT_EQ(-EBADF, tw_read(fd, &event, 1));
	ASSERT_EQ(1, tw_stop(fd, 3));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .withdrawn = 1);
}
