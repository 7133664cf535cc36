// SPDX-License-Identifier: GPL-2.0
/*
 * A caller with structures of version 1, and a library with longer structures
 *
 * The library is built with a header in which each structure that may grow is longer. The caller
 * works like a binding for another language: it calls exported functions in place of the inline
 * functions of C, and passes no sizes.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

#define GUARD	512

struct twheel;

int twheel_open(struct twheel **t, const struct twheel_setup *setup);
int twheel_attach(struct twheel **t, int fd);
void twheel_close(struct twheel *t);
int twheel_fd(const struct twheel *t);
int twheel_start(struct twheel *t, __u64 id, __u64 delay_ns, __u64 user_data);
int twheel_wait(struct twheel *t, struct twheel_event *events, unsigned int count,
		__s64 timeout_ns);
int twheel_get(struct twheel *t, __u64 id, struct twheel_entry *entry);
int twheel_list(struct twheel *t, struct twheel_entry *entries, unsigned int count,
		__u64 *cursor);
int twheel_drain(struct twheel *t, struct twheel_entry *entries, unsigned int count,
		 __u64 *cursor);
int twheel_info(const struct twheel *t, struct twheel_info *info);
int twheel_stats(const struct twheel *t, struct twheel_stats *stats);

static struct twheel *open_session(void)
{
	struct twheel *t;

	ASSERT_EQ(0, twheel_open(&t, NULL));
	return t;
}

static char guard[GUARD];

static void *guarded(void *structure, size_t size)
{
	memset(guard, GARBAGE, sizeof(guard));
	memset(structure, GARBAGE, size + GUARD);
	return structure;
}

/* Check that the bytes behind a caller's structure did not change. */
#define ASSERT_GUARDED(bytes, size) \
	ASSERT_EQ(0, memcmp((bytes) + (size), guard, GUARD))

TEST(nothing_is_written_behind_a_structure)
{
	char info[sizeof(struct twheel_info) + GUARD];
	char stats[sizeof(struct twheel_stats) + GUARD];
	char bytes[3 * sizeof(struct twheel_entry) + GUARD];
	struct twheel_entry *entries = (struct twheel_entry *)bytes;
	struct twheel *t = open_session();
	__u64 cursor = 0;
	__u64 id;

	for (id = 0; id < 3; id++)
		ASSERT_EQ(0, twheel_start(t, id, HOUR, 10 * id));
	ASSERT_EQ(0, twheel_info(t, guarded(info, sizeof(struct twheel_info))));
	ASSERT_GUARDED(info, sizeof(struct twheel_info));
	ASSERT_EQ(TWHEEL_ABI_VERSION, ((struct twheel_info *)info)->abi_version);
	ASSERT_EQ(TWHEEL_CLOCK_MONOTONIC, ((struct twheel_info *)info)->clock);
	ASSERT_EQ(0, twheel_stats(t, guarded(stats, sizeof(struct twheel_stats))));
	ASSERT_GUARDED(stats, sizeof(struct twheel_stats));
	ASSERT_EQ(3, ((struct twheel_stats *)stats)->started);
	ASSERT_EQ(0, ((struct twheel_stats *)stats)->lateness[TWHEEL_STATS_LATENESS - 1]);
	ASSERT_EQ(0, twheel_get(t, 1, guarded(bytes, sizeof(*entries))));
	ASSERT_GUARDED(bytes, sizeof(*entries));
	ASSERT_EQ(10, entries->user_data);
	ASSERT_EQ(3, twheel_list(t, guarded(bytes, 3 * sizeof(*entries)), 3, &cursor));
	ASSERT_GUARDED(bytes, 3 * sizeof(*entries));
	ASSERT_EQ(20, entries[2].user_data);
	cursor = 0;
	ASSERT_EQ(3, twheel_drain(t, guarded(bytes, 3 * sizeof(*entries)), 3, &cursor));
	ASSERT_GUARDED(bytes, 3 * sizeof(*entries));
	ASSERT_EQ(10, entries[1].user_data);
	twheel_close(t);
}

static void expect_two_events(struct twheel *t)
{
	char bytes[2 * sizeof(struct twheel_event) + GUARD];
	struct twheel_event *events = guarded(bytes, 2 * sizeof(*events));

	ASSERT_EQ(0, twheel_start(t, 1, 0, 11));
	expect_unread(twheel_fd(t), 1);
	ASSERT_EQ(0, twheel_start(t, 2, 0, 22));
	expect_unread(twheel_fd(t), 2);
	ASSERT_EQ(2, twheel_wait(t, events, 2, -1));
	ASSERT_GUARDED(bytes, 2 * sizeof(*events));
	ASSERT_EQ(11, events[0].user_data);
	ASSERT_EQ(22, events[1].user_data);
}

TEST(events_are_as_long_as_the_callers)
{
	struct twheel *t = open_session(), *other;

	expect_two_events(t);
	ASSERT_EQ(0, twheel_attach(&other, dup(twheel_fd(t))));
	expect_two_events(other);
	twheel_close(other);
	twheel_close(t);
}

TEST(nothing_is_read_behind_a_setup)
{
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct twheel_setup *setup = (struct twheel_setup *)(pages + page) - 1;
	struct twheel_info info;
	struct twheel *t;

	ASSERT_TRUE(pages != MAP_FAILED);
	memset(pages + page, GARBAGE, page);
	memset(setup, 0, sizeof(*setup));
	setup->flags = TWHEEL_SETUP_PRIVATE;
	setup->clock = TWHEEL_CLOCK_BOOTTIME;
	setup->max_timers = 100;
	/* If the library read the garbage behind the structure, the SETUP would be refused. */
	ASSERT_EQ(0, twheel_open(&t, setup));
	ASSERT_EQ(0, twheel_info(t, &info));
	ASSERT_EQ(100, info.max_timers);
	ASSERT_EQ(TWHEEL_CLOCK_BOOTTIME, info.clock);
	twheel_close(t);
	ASSERT_EQ(0, mprotect(pages + page, page, PROT_NONE));
	ASSERT_EQ(0, twheel_open(&t, setup));
	twheel_close(t);
}
