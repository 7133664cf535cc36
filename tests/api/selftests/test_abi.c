// SPDX-License-Identifier: GPL-2.0
/*
 * The user API as bytes
 *
 * Programs of 32 and 64 bits have one layout, so this is built for both. A structure may be
 * shorter or longer than the kernel's. The kernel writes all of its part, and nothing behind
 * it.
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

NEED_KERNEL("pointers_have_64_bits");

/* Returns the command, with another size for its structure. */
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

/* Written by tools/uapi, which reads the header as text, without a compiler. */
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

/* A structure grows at its end only, so fields of version 1 never move. */
TEST(fields_of_version_1_stay)
{
	ASSERT_EQ(8, offsetof(struct twheel_info, features));
	ASSERT_EQ(24, offsetof(struct twheel_info, max_timers));
	ASSERT_EQ(52, offsetof(struct twheel_info, event_size));
	ASSERT_EQ(56, offsetof(struct twheel_info, shared_ids));
	ASSERT_EQ(64, offsetof(struct twheel_info, clock));
	ASSERT_EQ(72, offsetof(struct twheel_info, reserved2));
	ASSERT_EQ(16, offsetof(struct twheel_setup, tick_ns));
	ASSERT_EQ(32, offsetof(struct twheel_setup, event_size));
	ASSERT_EQ(36, offsetof(struct twheel_setup, shared_ids));
	ASSERT_EQ(40, offsetof(struct twheel_setup, clock));
	ASSERT_EQ(48, offsetof(struct twheel_setup, reserved2));
	ASSERT_EQ(32, offsetof(struct twheel_start, flags));
	ASSERT_EQ(8, offsetof(struct twheel_stop, flags));
	ASSERT_EQ(40, offsetof(struct twheel_entry, state));
	ASSERT_EQ(8, offsetof(struct twheel_op, id));
	ASSERT_EQ(40, offsetof(struct twheel_op, result));
	ASSERT_EQ(20, offsetof(struct twheel_submit, flags));
	ASSERT_EQ(20, offsetof(struct twheel_list, entry_size));
	ASSERT_EQ(64, offsetof(struct twheel_stats, withdrawn));
	ASSERT_EQ(104, offsetof(struct twheel_stats, stopped_by_store));
	ASSERT_EQ(112, offsetof(struct twheel_stats, lateness));
	ASSERT_EQ(40, offsetof(struct twheel_event, flags));
}

TEST(enotty_unknown_command)
{
	int fd = session_open_nonblock();
	struct twheel_info info;
	unsigned int nr;

	memset(&info, GARBAGE, sizeof(info));
	/* 7, to drain, is of before 1.0. */
	for (nr = ARRAY_SIZE(commands) - 1; nr < 256; nr++)
		if (nr != _IOC_NR(TWHEEL_IOC_STATS))
			ASSERT_EQ(-ENOTTY,
				  tw_ioctl(fd, _IOWR(0xdc, nr, struct twheel_info), &info));
	ASSERT_TRUE(is_garbage(&info, sizeof(info)));
	EXPECT_STATS(fd, .started = 0);
}

TEST(enotty_other_magic)
{
	int fd = session_open_nonblock();
	struct termios termios;
	int number = 1;

	ASSERT_EQ(-ENOTTY, tw_ioctl(fd, TCGETS, &termios));
	ASSERT_EQ(-ENOTTY, tw_ioctl(fd, FIONREAD, &number));
	/* There is no O_ASYNC. */
	ASSERT_EQ(-ENOTTY, tw_ioctl(fd, FIOASYNC, &number));
	ASSERT_EQ(-ENOTTY, tw_ioctl(fd, 0, &number));
	ASSERT_EQ(-ENOTTY, tw_ioctl(fd, TWHEEL_IOC_START ^ 0x100, &number));
}

/* Each command is _IOWR, so that each structure can grow both ways. */
TEST(enotty_other_direction)
{
	int fd = session_open_nonblock();
	char bytes[128] = { 0 };
	unsigned int i, size;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		size = commands[i].size;
		ASSERT_EQ(-ENOTTY, tw_ioctl(fd, _IOC(_IOC_READ, 0xdc, i, size),
					    bytes));
		ASSERT_EQ(-ENOTTY, tw_ioctl(fd, _IOC(_IOC_WRITE, 0xdc, i, size),
					    bytes));
		ASSERT_EQ(-ENOTTY, tw_ioctl(fd, _IOC(_IOC_NONE, 0xdc, i, size),
					    bytes));
	}
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

/* Check that the kernel writes only as many bytes as the caller has room for. */
static void shorter_output(int fd, unsigned long command, size_t full)
{
	char whole[512], part[512];
	size_t size;

	ASSERT_EQ(0, tw_ioctl(fd, command, whole));
	for (size = 8; size < full; size++) {
		memset(part, GARBAGE, sizeof(part));
		ASSERT_EQ(0, tw_ioctl(fd, resized(command, size), part));
		ASSERT_EQ(0, memcmp(whole, part, size));
		ASSERT_TRUE(is_garbage(part + size, sizeof(part) - size));
	}
}

TEST(shorter_info_and_stats)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	shorter_output(fd, TWHEEL_IOC_INFO, sizeof(struct twheel_info));
	shorter_output(fd, TWHEEL_IOC_STATS, sizeof(struct twheel_stats));
}

/* Fields unknown to the caller are 0, even with garbage behind its structure. */
TEST(shorter_start)
{
	const __u64 ids[] = { 3, TWHEEL_ID_ANY };
	int fd = session_open_nonblock();
	struct twheel_start start;
	struct twheel_entry get;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		memset(&start, GARBAGE, sizeof(start));
		start.id = ids[i];
		start.expires_ns = HOUR;
		ASSERT_EQ(0, tw_ioctl(fd, resized(TWHEEL_IOC_START, 16), &start));
		ASSERT_TRUE(is_garbage(&start.period_ns, sizeof(start) - 16));
		ASSERT_EQ(0, tw_get(fd, start.id, &get));
		ASSERT_EQ(0, get.period_ns);
		ASSERT_EQ(0, get.user_data);
		ASSERT_LT(HOUR / 2, get.remaining_ns);
	}
}

/* The structure of a newer program has 24 bytes that this kernel does not know. */
#define MORE	24

static void longer_structure(unsigned int nr)
{
	unsigned long command = commands[nr].command;
	/* The kernel writes all of these and reads nothing. */
	bool out = command == TWHEEL_IOC_INFO || command == TWHEEL_IOC_STATS;
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

/* A structure with an id alone has no flags. */
TEST(shorter_stop)
{
	__u64 stop[2] = { 3, GARBAGE64 };
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, 0, 33));
	expect_unread(fd, 1);
	ASSERT_EQ(-EALREADY, tw_ioctl(fd, resized(TWHEEL_IOC_STOP, 8), stop));
	expect_event(fd, 3, 33);
}

TEST(shorter_get)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	memset(&get, GARBAGE, sizeof(get));
	get.id = 3;
	ASSERT_EQ(0, tw_ioctl(fd, resized(TWHEEL_IOC_GET, 16), &get));
	ASSERT_EQ(33, get.user_data);
	ASSERT_TRUE(is_garbage(&get.deadline_ns, sizeof(get) - 16));
}

TEST(shorter_setup)
{
	struct twheel_setup setup;
	int fd = session_open();
	struct twheel_info info;

	memset(&setup, GARBAGE, sizeof(setup));
	setup.flags = TWHEEL_SETUP_PRIVATE;
	setup.scheme = TWHEEL_SCHEME_HASHED;
	setup.mode = TWHEEL_MODE_PERIODIC;
	setup.slots = 32;
	ASSERT_EQ(0, tw_ioctl(fd, resized(TWHEEL_IOC_SETUP, 16), &setup));
	ASSERT_EQ(0, tw_info(fd, &info));
	ASSERT_EQ(TWHEEL_SCHEME_HASHED, info.scheme);
	ASSERT_EQ(TWHEEL_MODE_PERIODIC, info.mode);
	ASSERT_EQ(32, info.slots);
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
	ASSERT_EQ(1, tw_stop_flags(fd, 3, TWHEEL_STOP_WITHDRAW));
	EXPECT_STATS(fd, .started = 1, .expired = 1, .withdrawn = 1);
}

/* Addresses are 64-bit fields, zero-extended by a 32-bit program. */
TEST(pointers_have_64_bits)
{
	struct twheel_list list = {
		.entries = 1ULL << 63,
		.count = 1,
		.entry_size = sizeof(struct twheel_entry),
		.flags = TWHEEL_LIST_DRAIN,
	};
	struct twheel_submit submit = {
		.ops = 1ULL << 63,
		.count = 1,
		.op_size = sizeof(struct twheel_op),
	};
	int fd = session_open_nonblock();
	int result;

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	result = tw_ioctl(fd, TWHEEL_IOC_LIST, &list);
	ASSERT_TRUE(result == -EFAULT || result == -EINVAL);
	result = tw_ioctl(fd, TWHEEL_IOC_SUBMIT, &submit);
	ASSERT_TRUE(result == -EFAULT || result == -EINVAL);
	EXPECT_STATS(fd, .started = 1, .pending = 1);
}
