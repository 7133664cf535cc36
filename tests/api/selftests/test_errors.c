// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments that each command refuses: one row for each value
 *
 * A row is an argument, and the errno that the command returns for it. The command must change
 * neither the argument nor the session. A failure names its row. In other cases the argument is in
 * memory that is read-only, or that ends in the middle of the argument.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"

NEED_KERNEL("setup_with_the_clock_of_the_default_wheel", "memory_*");

#define PRIVATE		TWHEEL_SETUP_PRIVATE
#define OP_SIZE		sizeof(struct twheel_op)
#define ENTRY_SIZE	sizeof(struct twheel_entry)
#define NOT_HERE	(TWHEEL_ID_KERNEL | 12345)

struct row {
	const char *text;
	int error;
	union argument argument;
};

#define ROW(errno, type, ...)	{ #__VA_ARGS__, errno, { .type = { __VA_ARGS__ } } }

/* Submit a batch of one operation. Returns the result of the operation. */
static int submit_op(int fd, union argument *argument)
{
	__s32 before = argument->op.result, result;

	ASSERT_EQ(1, tw_submit(fd, &argument->op, 1));
	result = argument->op.result;
	argument->op.result = before;
	return result;
}

static int command(int fd, unsigned long number, union argument *argument)
{
	if (!number)
		return submit_op(fd, argument);
	return tw_ioctl(fd, number, argument);
}

static void expect_unharmed(int fd, unsigned long number)
{
	struct twheel_entry get;

	if (number == TWHEEL_IOC_SETUP)
		return;
	ASSERT_EQ(0, tw_get(fd, ID, &get));
	ASSERT_EQ(TWHEEL_STATE_PENDING, get.state);
	ASSERT_EQ(USER_DATA, get.user_data);
	ASSERT_EQ(0, get.period_ns);
	ASSERT_LT(HOUR - 60 * SECOND, get.remaining_ns);
	EXPECT_STATS(fd, .started = 1, .pending = 1);
}

/*
 * Check that a command refuses an argument, and accepts a good one afterwards. @number is 0 for an
 * operation of a batch.
 */
static void expect_refused(unsigned long number, const struct row *row)
{
	union argument argument = row->argument, given, good = good_argument(number);
	struct twheel_info info, after;
	int fd = open_for(number), result;

	ASSERT_EQ(0, tw_info(fd, &info));
	if (number == TWHEEL_IOC_SUBMIT)
		argument.submit.ops = good.submit.ops;
	if (number == TWHEEL_IOC_LIST)
		argument.list.entries = good.list.entries;
	given = argument;
	result = command(fd, number, &argument);
	if (result != -row->error || memcmp(&given, &argument, sizeof(given)))
		test_fail(__FILE__, __LINE__, "%s: %d, not %d, or the argument has changed",
			  row->text, result, -row->error);
	ASSERT_EQ(0, tw_info(fd, &after));
	ASSERT_EQ(0, memcmp(&info, &after, sizeof(info)));
	expect_unharmed(fd, number);
	ASSERT_LE(0, command(fd, number, &good));
	close(fd);
}

static void expect_rows(unsigned long number, const struct row *rows, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		expect_refused(number, &rows[i]);
}

/* Check that each bit of a field of 32 bits is refused, except the @known ones. */
static void expect_bits(unsigned long number, size_t offset, __u32 known)
{
	char text[40];
	struct row row;
	__u32 value;
	int bit;

	for (bit = 0; bit < 32; bit++) {
		value = 1U << bit;
		if (known & value)
			continue;
		snprintf(text, sizeof(text), "bit %d at %zu", bit, offset);
		row = (struct row){ text, EINVAL, good_argument(number) };
		memcpy((char *)&row.argument + offset, &value, sizeof(value));
		expect_refused(number, &row);
	}
}

#define EXPECT_BITS(number, type, field, known) \
	expect_bits(number, offsetof(struct type, field), known)

#define START	.opcode = TWHEEL_OP_START
#define STOP	.opcode = TWHEEL_OP_STOP, .id = ID

TEST(setup)
{
	static const struct row rows[] = {
		ROW(EINVAL, setup, .event_size = 1),
		ROW(EINVAL, setup, .event_size = 40),
		ROW(EINVAL, setup, .event_size = 47),
		ROW(EINVAL, setup, .event_size = 49),
		ROW(EINVAL, setup, .event_size = 56),
		ROW(EINVAL, setup, .event_size = 4096),
		ROW(EINVAL, setup, .event_size = ~0U),
		ROW(EINVAL, setup, .flags = PRIVATE, .reserved = { 1 }),
		ROW(EINVAL, setup, .flags = PRIVATE, .reserved = { 0, 1 }),
		ROW(EINVAL, setup, .flags = PRIVATE, .reserved = { 0, 0, 64 }),
		ROW(EINVAL, setup, .flags = PRIVATE, .reserved2 = 1),
		ROW(EINVAL, setup, .flags = PRIVATE, .tick_ns = 1),
		ROW(EINVAL, setup, .flags = PRIVATE, .tick_ns = 50 * US - 1),
		ROW(EINVAL, setup, .flags = PRIVATE, .tick_ns = SECOND + 1),
		ROW(EINVAL, setup, .flags = PRIVATE, .tick_ns = ~0ULL),
		ROW(EINVAL, setup, .tick_ns = MS),
		ROW(EINVAL, setup, .flags = PRIVATE, .clock = ~0U),
		ROW(EINVAL, setup, .reserved3 = 1),
		ROW(EINVAL, setup, .reserved3 = 1ULL << 63),
		ROW(EINVAL, setup, .flags = PRIVATE, .max_timers = ~0ULL),
		ROW(EINVAL, setup, .max_timers = 4, .shared_ids = 5),
		ROW(EINVAL, setup, .shared_ids = ~0U),
	};

	EXPECT_BITS(TWHEEL_IOC_SETUP, twheel_setup, flags, PRIVATE);
	EXPECT_BITS(TWHEEL_IOC_SETUP, twheel_setup, reserved[0], 0);
	EXPECT_BITS(TWHEEL_IOC_SETUP, twheel_setup, reserved[1], 0);
	EXPECT_BITS(TWHEEL_IOC_SETUP, twheel_setup, reserved[2], 0);
	EXPECT_BITS(TWHEEL_IOC_SETUP, twheel_setup, reserved2, 0);
	expect_rows(TWHEEL_IOC_SETUP, rows, ARRAY_SIZE(rows));
}

/* SETUP must refuse any other clock, including clocks that wake up the system. */
TEST(setup_with_another_clock)
{
	struct row row = { "clock", EINVAL, { .setup.flags = PRIVATE } };
	__u32 clock;

	for (clock = 1; clock < 20; clock++) {
		row.argument.setup.clock = clock;
		if (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)
			expect_refused(TWHEEL_IOC_SETUP, &row);
	}
}

/*
 * The default wheel has a clock of its own, so SETUP must refuse a clock without PRIVATE. This is
 * not tested in the process, where a session keeps the clock that it was opened with.
 */
TEST(setup_with_the_clock_of_the_default_wheel)
{
	static const struct row rows[] = {
		ROW(EINVAL, setup, .clock = TWHEEL_CLOCK_MONOTONIC),
		ROW(EINVAL, setup, .clock = TWHEEL_CLOCK_BOOTTIME),
	};

	expect_rows(TWHEEL_IOC_SETUP, rows, ARRAY_SIZE(rows));
}

TEST(start)
{
	static const struct row rows[] = {
		ROW(EINVAL, start, .id = ID, .expires_ns = INTERVAL_MAX + 1),
		ROW(EINVAL, start, .id = ID, .expires_ns = ~0ULL),
		ROW(EINVAL, start, .id = ID, .expires_ns = INTERVAL_MAX + 1,
		    .flags = TWHEEL_START_ABS),
		ROW(EINVAL, start, .id = ID, .expires_ns = MS, .period_ns = INTERVAL_MAX + 1),
		ROW(EINVAL, start, .id = ID, .expires_ns = MS, .flags = 1U << 1),
		ROW(EINVAL, start, .id = ID, .expires_ns = MS, .flags = 1U << 2),
		ROW(EINVAL, start, .id = ID, .expires_ns = MS, .reserved = 1),
		ROW(EINVAL, start, .id = TWHEEL_ID_KERNEL - 1, .expires_ns = MS),
		ROW(ENOENT, start, .id = NOT_HERE, .expires_ns = MS),
	};

	EXPECT_BITS(TWHEEL_IOC_START, twheel_start, flags, TWHEEL_START_ABS);
	EXPECT_BITS(TWHEEL_IOC_START, twheel_start, reserved, 0);
	expect_rows(TWHEEL_IOC_START, rows, ARRAY_SIZE(rows));
}

TEST(stop)
{
	static const struct row rows[] = {
		ROW(EINVAL, stop, .id = TWHEEL_ID_KERNEL - 1),
		ROW(ENOENT, stop, .id = 4),
		ROW(ENOENT, stop, .id = NOT_HERE),
		ROW(ENOENT, stop, .id = TWHEEL_ID_ANY),
	};

	EXPECT_BITS(TWHEEL_IOC_STOP, twheel_stop, flags, 0);
	EXPECT_BITS(TWHEEL_IOC_STOP, twheel_stop, reserved, 0);
	expect_rows(TWHEEL_IOC_STOP, rows, ARRAY_SIZE(rows));
}

TEST(get)
{
	static const struct row rows[] = {
		ROW(EINVAL, get, .id = TWHEEL_ID_KERNEL - 1, .remaining_ns = GARBAGE64),
		ROW(ENOENT, get, .id = 4, .remaining_ns = GARBAGE64),
		ROW(ENOENT, get, .id = NOT_HERE, .remaining_ns = GARBAGE64),
		ROW(ENOENT, get, .id = TWHEEL_ID_ANY, .remaining_ns = GARBAGE64),
	};

	EXPECT_BITS(TWHEEL_IOC_GET, twheel_entry, reserved, 0);
	expect_rows(TWHEEL_IOC_GET, rows, ARRAY_SIZE(rows));
}

TEST(list)
{
	static const struct row rows[] = {
		ROW(EINVAL, list, .count = 0, .entry_size = ENTRY_SIZE),
		ROW(EINVAL, list, .count = 4, .entry_size = 0),
		ROW(EINVAL, list, .count = 4, .entry_size = 1),
		ROW(EINVAL, list, .count = 4, .entry_size = 40),
		ROW(EINVAL, list, .count = 4, .entry_size = 47),
		ROW(EINVAL, list, .count = 4, .entry_size = 49),
		ROW(EINVAL, list, .count = 4, .entry_size = 56),
		ROW(EINVAL, list, .count = 4, .entry_size = 4096),
		ROW(EINVAL, list, .count = 4, .entry_size = ~0U),
		ROW(EINVAL, list, .count = 4, .entry_size = ENTRY_SIZE, .cursor = ~0ULL),
		ROW(EINVAL, list, .count = 4, .entry_size = ENTRY_SIZE, .cursor = 3ULL << 32),
		ROW(EINVAL, list, .count = 4, .entry_size = ENTRY_SIZE, .cursor = 1U << 31),
		ROW(EINVAL, list, .count = 0, .entry_size = ENTRY_SIZE,
		    .flags = TWHEEL_LIST_DRAIN),
	};

	EXPECT_BITS(TWHEEL_IOC_LIST, twheel_list, flags, TWHEEL_LIST_DRAIN);
	EXPECT_BITS(TWHEEL_IOC_LIST, twheel_list, reserved, 0);
	expect_rows(TWHEEL_IOC_LIST, rows, ARRAY_SIZE(rows));
}

TEST(submit)
{
	static const struct row rows[] = {
		ROW(EINVAL, submit, .count = 0, .op_size = OP_SIZE),
		ROW(EINVAL, submit, .count = 65537, .op_size = OP_SIZE),
		ROW(EINVAL, submit, .count = ~0U, .op_size = OP_SIZE),
		ROW(EINVAL, submit, .count = 1, .op_size = 0),
		ROW(EINVAL, submit, .count = 1, .op_size = 1),
		ROW(EINVAL, submit, .count = 1, .op_size = 40),
		ROW(EINVAL, submit, .count = 1, .op_size = 47),
		ROW(EINVAL, submit, .count = 1, .op_size = 49),
		ROW(EINVAL, submit, .count = 1, .op_size = 56),
		ROW(EINVAL, submit, .count = 1, .op_size = 4096),
		ROW(EINVAL, submit, .count = 1, .op_size = ~0U),
	};

	EXPECT_BITS(TWHEEL_IOC_SUBMIT, twheel_submit, flags, 0);
	expect_rows(TWHEEL_IOC_SUBMIT, rows, ARRAY_SIZE(rows));
}

TEST(operation)
{
	static const struct row rows[] = {
		ROW(EINVAL, op, START, .id = ID, .expires_ns = INTERVAL_MAX + 1),
		ROW(EINVAL, op, START, .id = ID, .period_ns = INTERVAL_MAX + 1),
		ROW(EINVAL, op, START, .id = ID, .flags = 1U << 1),
		ROW(EINVAL, op, START, .id = ID, .flags = 1U << 2),
		ROW(EINVAL, op, START, .id = ID, .flags = 1U << 31),
		ROW(EINVAL, op, START, .id = ID, .reserved = 1),
		ROW(EINVAL, op, START, .id = TWHEEL_ID_KERNEL - 1),
		ROW(ENOENT, op, START, .id = NOT_HERE, .expires_ns = MS),
		ROW(EINVAL, op, STOP, .expires_ns = 1),
		ROW(EINVAL, op, STOP, .period_ns = 1),
		ROW(EINVAL, op, STOP, .user_data = 1),
		ROW(EINVAL, op, .opcode = 0, .id = ID),
		ROW(EINVAL, op, .opcode = TWHEEL_OP_STOP + 1, .id = ID),
		ROW(EINVAL, op, .opcode = ~0U, .id = ID),
	};

	EXPECT_BITS(0, twheel_op, flags, 0);
	EXPECT_BITS(0, twheel_op, reserved, 0);
	expect_rows(0, rows, ARRAY_SIZE(rows));
}

/* Ids from max_timers on must be refused, and so must a max_timers above the module's limit. */
TEST(one_more_than_the_limit)
{
	int fd = session_open_nonblock();
	struct twheel_entry get;
	struct twheel_info info;
	struct twheel_op op = { START, .expires_ns = MS };

	ASSERT_EQ(0, tw_info(fd, &info));
	op.id = info.max_timers;
	ASSERT_EQ(-EINVAL, tw_setup(fd, (struct twheel_setup){
		.max_timers = info.max_timers + 1 }));
	ASSERT_EQ(-EINVAL, tw_setup(fd, (struct twheel_setup){
		.shared_ids = info.max_timers + 1 }));
	ASSERT_EQ(-EINVAL, tw_start(fd, info.max_timers, MS, 0));
	ASSERT_EQ(-EINVAL, tw_stop(fd, info.max_timers));
	ASSERT_EQ(-EINVAL, tw_get(fd, info.max_timers, &get));
	ASSERT_EQ(1, tw_submit(fd, &op, 1));
	ASSERT_EQ(-EINVAL, op.result);
	EXPECT_STATS(fd, .started = 0);
}

static void expect_fault(unsigned long number, void *memory, union argument good)
{
	int fd = open_for(number);

	ASSERT_EQ(-EFAULT, tw_ioctl(fd, number, memory));
	expect_unharmed(fd, number);
	ASSERT_LE(0, tw_ioctl(fd, number, &good));
	close(fd);
}

/* Check faults in a command's argument. @writes is true if the command writes to it. */
static void expect_faults(unsigned long number, const union argument *good, bool writes)
{
	size_t size = _IOC_SIZE(number), n;
	void *read_only = partly_usable(good, size, 0, PROT_READ);

	for (n = 0; n < size; n++)
		expect_fault(number, partly_usable(good, size, n, PROT_NONE), *good);
	if (writes)
		expect_fault(number, read_only, *good);
	else
		ASSERT_EQ(0, tw_ioctl(open_for(number), number, read_only));
}

TEST(memory_that_ends_or_cannot_be_written)
{
	static const struct {
		unsigned long number;
		bool writes;
	} commands[] = {
		{ TWHEEL_IOC_INFO, true }, { TWHEEL_IOC_SETUP, false },
		{ TWHEEL_IOC_START, false }, { TWHEEL_IOC_STOP, false },
		{ TWHEEL_IOC_GET, true }, { TWHEEL_IOC_SUBMIT, true },
		{ TWHEEL_IOC_LIST, true }, { TWHEEL_IOC_STATS, true },
	};
	union argument good;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		good = good_argument(commands[i].number);
		expect_faults(commands[i].number, &good, commands[i].writes);
	}
	good = good_argument(TWHEEL_IOC_START);
	good.start.id = TWHEEL_ID_ANY;
	expect_faults(TWHEEL_IOC_START, &good, true);
	good = good_argument(TWHEEL_IOC_LIST);
	good.list.flags = TWHEEL_LIST_DRAIN;
	expect_faults(TWHEEL_IOC_LIST, &good, true);
}
