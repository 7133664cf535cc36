// SPDX-License-Identifier: GPL-2.0
/*
 * Every copy meets memory that ends, or that cannot be written
 *
 * For every n, each argument and each array is placed so that only its first n bytes are usable.
 * The bytes behind them are unmapped or read-only. A command that cannot copy its argument must
 * fail with EFAULT and change nothing. A command that copies a part of its array must carry out
 * and report that part.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arguments.h"

NEED_KERNEL("*");

#define ROOM		(1 << 16)

/* ROOM usable bytes in front of a page that is not usable. */
struct edge {
	char *end;
	int protection;
};

static struct edge make_edge(void)
{
	char *room = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_TRUE(room != MAP_FAILED);
	return (struct edge){ .end = room + ROOM };
}

static void spoil(struct edge *edge, int protection)
{
	edge->protection = protection;
	ASSERT_EQ(0, mprotect(edge->end, ROOM, protection));
}

/* Copy @data so that only its first @n bytes are usable. */
static void *place(struct edge *edge, const void *data, size_t size, size_t n)
{
	int protection = edge->protection;

	spoil(edge, PROT_READ | PROT_WRITE);
	memcpy(edge->end - n, data, size);
	spoil(edge, protection);
	return edge->end - n;
}

/**
 * struct variant - a command and what differs from its good argument
 * @name: name for failure messages
 * @command: the command
 * @written: end of the last field to be written by the kernel, or 0
 * @id: another id, or 0
 * @flags: flags
 */
struct variant {
	const char *name;
	unsigned long command;
	size_t written;
	__u64 id;
	__u32 flags;
};

/* Fields that the kernel writes into a longer structure. */
#define END_OF_ID	(offsetof(struct twheel_start, id) + sizeof(__u64))
#define END_OF_FAILED	(offsetof(struct twheel_submit, failed) + sizeof(__u32))
#define END_OF_CURSOR	(offsetof(struct twheel_list, cursor) + sizeof(__u64))

static const struct variant variants[] = {
	{ "info", TWHEEL_IOC_INFO, sizeof(struct twheel_info), 0, 0 },
	{ "setup", TWHEEL_IOC_SETUP, 0, 0, 0 },
	{ "start", TWHEEL_IOC_START, 0, 0, 0 },
	{ "start of any", TWHEEL_IOC_START, END_OF_ID, TWHEEL_ID_ANY, 0 },
	{ "restart", TWHEEL_IOC_START, 0, ID, 0 },
	{ "stop", TWHEEL_IOC_STOP, 0, 0, 0 },
	{ "withdraw", TWHEEL_IOC_STOP, 0, 0, TWHEEL_STOP_WITHDRAW },
	{ "get", TWHEEL_IOC_GET, sizeof(struct twheel_entry), 0, 0 },
	{ "submit", TWHEEL_IOC_SUBMIT, END_OF_FAILED, 0, 0 },
	{ "list", TWHEEL_IOC_LIST, END_OF_CURSOR, 0, 0 },
	{ "drain", TWHEEL_IOC_LIST, END_OF_CURSOR, 0, TWHEEL_LIST_DRAIN },
	{ "stats", TWHEEL_IOC_STATS, sizeof(struct twheel_stats), 0, 0 },
};

static union argument argument_of(const struct variant *variant)
{
	union argument argument = good_argument(variant->command);

	if (variant->id)
		argument.start.id = variant->id;
	if (variant->command == TWHEEL_IOC_STOP)
		argument.stop.flags = variant->flags;
	if (variant->command == TWHEEL_IOC_LIST)
		argument.list.flags = variant->flags;
	return argument;
}

/* Try an argument with only @n usable bytes. @good: these are enough. */
static void try_argument(const struct variant *variant, struct edge *edge, size_t n, bool good)
{
	const union argument argument = argument_of(variant);
	size_t size = _IOC_SIZE(variant->command);
	int fd = open_for(variant->command), result;
	struct twheel_stats before, after;

	ASSERT_EQ(0, tw_stats(fd, &before));
	result = tw_ioctl(fd, variant->command, place(edge, &argument, size, n));
	if (good ? result < 0 : result != -EFAULT)
		test_fail(__FILE__, __LINE__, "%s: %d with %zu usable bytes", variant->name,
			  result, n);
	if (!good) {
		ASSERT_EQ(0, tw_stats(fd, &after));
		ASSERT_EQ(0, memcmp(&before, &after, sizeof(before)));
		ASSERT_LE(0, tw_ioctl(fd, variant->command, place(edge, &argument, size, ROOM)));
	}
	close(fd);
}

static void try_all(int protection)
{
	struct edge edge = make_edge();
	const struct variant *variant;
	size_t n, size, need;

	spoil(&edge, protection);
	for (variant = variants; variant < variants + ARRAY_SIZE(variants); variant++) {
		size = _IOC_SIZE(variant->command);
		need = protection == PROT_READ ? variant->written : size;
		for (n = 0; n <= size; n++)
			try_argument(variant, &edge, n, n >= need);
	}
}

TEST(arguments_that_end_early)
{
	try_all(PROT_NONE);
}

TEST(arguments_that_cannot_be_written)
{
	try_all(PROT_READ);
}

/* Arrays: a command carries out the part that fits. */

#define OPS	40

static void try_submit(struct edge *edge, size_t n)
{
	struct twheel_op ops[OPS] = { 0 };
	int fd = session_open_nonblock();
	int i, whole = n / sizeof(ops[0]);

	for (i = 0; i < OPS; i++)
		ops[i] = (struct twheel_op){ .opcode = TWHEEL_OP_START,
			.id = i, .expires_ns = HOUR };
	ASSERT_EQ(whole ? whole : -EFAULT,
		  tw_submit(fd, place(edge, ops, sizeof(ops), n), OPS));
	EXPECT_STATS(fd, .started = whole, .pending = whole);
	close(fd);
}

#define TIMERS	70

static void start_timers(int fd, __u64 expires_ns)
{
	int i;

	for (i = 0; i < TIMERS; i++)
		ASSERT_EQ(0, tw_start(fd, i, expires_ns, i));
}

static void try_drain(struct edge *edge, size_t n)
{
	static const struct twheel_entry none[TIMERS];
	int fd = session_open_nonblock();
	int whole = n / sizeof(none[0]);

	start_timers(fd, HOUR);
	ASSERT_EQ(whole ? whole : -EFAULT,
		  tw_drain(fd, place(edge, none, sizeof(none), n), TIMERS));
	EXPECT_STATS(fd, .started = TIMERS, .stopped = whole,
		     .pending = TIMERS - whole);
	close(fd);
}

static void try_read(struct edge *edge, size_t n)
{
	static const struct twheel_event none[TIMERS];
	size_t whole = n / sizeof(none[0]);
	int fd = session_open_nonblock();
	ssize_t size;

	start_timers(fd, 0);
	expect_unread(fd, TIMERS);
	size = read(fd, place(edge, none, sizeof(none), n), sizeof(none));
	if (!whole) {
		ASSERT_EQ(-1, size);
		ASSERT_EQ(EFAULT, errno);
	} else {
		ASSERT_EQ(whole * sizeof(none[0]), size);
	}
	EXPECT_STATS(fd, .started = TIMERS, .expired = TIMERS,
		     .delivered = whole, .unread = TIMERS - whole);
	close(fd);
}

/* Try every n up to two elements and near the end, and a few in between. */
static void try_array(void (*try)(struct edge *edge, size_t n), size_t size,
		      size_t element)
{
	static const int protections[] = { PROT_NONE, PROT_READ };
	struct edge edge = make_edge();
	unsigned int i;
	size_t n;

	for (i = 0; i < ARRAY_SIZE(protections); i++) {
		spoil(&edge, protections[i]);
		for (n = 0; n <= 2 * element; n += 4)
			try(&edge, n);
		for (; n < size - element; n += 3 * element / 2 + 1)
			try(&edge, n);
		for (n = size - element; n <= size; n += 4)
			try(&edge, n);
	}
}

TEST(submit)
{
	try_array(try_submit, OPS * sizeof(struct twheel_op),
		  sizeof(struct twheel_op));
}

TEST(drain)
{
	try_array(try_drain, TIMERS * sizeof(struct twheel_entry),
		  sizeof(struct twheel_entry));
}

TEST(read)
{
	try_array(try_read, TIMERS * sizeof(struct twheel_event),
		  sizeof(struct twheel_event));
}

/* If an element begins in a hole, the kernel writes only zeroes behind the hole. */

#define PAGE		4096

static void expect_untouched(const unsigned char *from, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		ASSERT_TRUE(from[i] == GARBAGE || !from[i]);
}

static void try_late(int (*try)(int fd, void *to), size_t size, int fd)
{
	struct edge edge = make_edge();
	unsigned char *good = (unsigned char *)edge.end - PAGE;
	size_t n;

	ASSERT_EQ(0, mprotect(good - PAGE, PAGE, PROT_READ));
	for (n = 1; n < size; n++) {
		memset(good, GARBAGE, PAGE);
		ASSERT_EQ(-EFAULT, try(fd, good - n));
		expect_untouched(good, PAGE);
	}
	ASSERT_LE(0, try(fd, good));
	close(fd);
}

static int read_one(int fd, void *to)
{
	ssize_t size = read(fd, to, sizeof(struct twheel_event));

	return size < 0 ? -errno : size;
}

/* Open a session with an event whose fields are not 0, except the reserved one. */
static int session_with_overruns(void)
{
	struct twheel_start start = { .id = 77, .expires_ns = MS,
		.period_ns = MS, .user_data = ~0ULL };
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_ioctl(fd, TWHEEL_IOC_START, &start));
	expect_unread(fd, 1);
	sleep_ns(20 * MS);
	return fd;
}

TEST(event_that_begins_in_a_hole)
{
	try_late(read_one, sizeof(struct twheel_event),
		 session_with_overruns());
}

static int drain_one(int fd, void *to)
{
	return tw_drain(fd, to, 1);
}

TEST(entry_that_begins_in_a_hole)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, ~0ULL));
	try_late(drain_one, sizeof(struct twheel_entry), fd);
}
