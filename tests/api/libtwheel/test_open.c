// SPDX-License-Identifier: GPL-2.0
/*
 * Opening, attaching to, and closing a session
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

TEST_SESSION(with_the_defaults)
{
	struct twheel_info info;
	int fd = twheel_fd(t);

	ASSERT_TRUE(fcntl(fd, F_GETFL) & O_NONBLOCK);
	ASSERT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	ASSERT_EQ(0, twheel_info(t, &info));
	ASSERT_EQ(TWHEEL_ABI_VERSION, info.abi_version);
	ASSERT_EQ(sizeof(struct twheel_event), info.event_size);
	ASSERT_EQ(0, info.shared_ids);
	ASSERT_EQ(0, t->shared_ids);
	ASSERT_TRUE(!t->words);
}

TEST_SESSION(what_fails_leaves_nothing)
{
	struct twheel_setup tick = { .tick_ns = MS };
	struct twheel_setup words = { .max_timers = 10, .shared_ids = 11 };
	struct twheel *other = (struct twheel *)&tick;
	int null = open("/dev/null", O_RDWR);
	unsigned int before = open_files();

	errno = 0;
	ASSERT_EQ(-ENOTTY, twheel_attach(&other, null));
	ASSERT_EQ(-EBADF, twheel_attach(&other, -1));
	ASSERT_EQ(-EINVAL, twheel_open(&other, &tick));
	ASSERT_EQ(-EINVAL, twheel_open(&other, &words));
	ASSERT_EQ(-EINVAL, twheel_open_flags(&other, NULL,
					     TWHEEL_OPEN_KERNEL | TWHEEL_OPEN_PROCESS));
	ASSERT_EQ(-EINVAL, twheel_open_flags(&other, NULL, 1U << 31));
	ASSERT_EQ(-EINVAL, twheel_attach_sized(&other, twheel_fd(t), 56));
	ASSERT_EQ(0, errno);
	ASSERT_EQ(before, open_files());
	/* a session in the process cannot have a second descriptor */
	if (in_process())
		ASSERT_EQ(-ENOTTY, twheel_attach(&other, dup(twheel_fd(t))));
	ASSERT_TRUE(other == (struct twheel *)&tick);
}

/* The program may be newer or older, with longer or shorter structures than the library's. */
TEST(structures_of_another_version)
{
	union {
		struct twheel_setup setup;
		char bytes[1024];
	} longer = { .setup.shared_ids = 4 };
	struct twheel_setup *shorter;
	size_t size = sizeof(struct twheel_event);
	struct twheel *t;

	longer.bytes[sizeof(longer.setup) + 8] = 1;
	ASSERT_EQ(-E2BIG, twheel_open_sized(&t, &longer.setup,
					    sizeof(longer.setup) + 16, size));
	longer.bytes[sizeof(longer.setup) + 8] = 0;
	ASSERT_EQ(-E2BIG, twheel_open_sized(&t, &longer.setup, 1024, size));
	/* events have only one size */
	ASSERT_EQ(-EINVAL, twheel_open_sized(&t, NULL, 0, size + 16));
	ASSERT_EQ(-EINVAL, twheel_open_sized(&t, NULL, 0, size - 8));
	ASSERT_EQ(0, twheel_open_sized(&t, &longer.setup,
				       sizeof(longer.setup) + 16, size));
	ASSERT_EQ(4, t->shared_ids);
	twheel_close(t);
	/* Allocate a shorter structure, so that the sanitizers notice a read behind its end. */
	shorter = calloc(1, offsetof(struct twheel_setup, clock));
	ASSERT_TRUE(shorter);
	ASSERT_EQ(0, twheel_open_sized(&t, shorter, offsetof(struct twheel_setup, clock), size));
	twheel_close(t);
	free(shorter);
}

TEST(attached_sessions_are_the_same)
{
	struct twheel *t = open_words(10), *other;

	needs_kernel("a session has no other descriptor");
	ASSERT_EQ(0, twheel_attach(&other, dup(twheel_fd(t))));
	ASSERT_EQ(10, other->shared_ids);
	ASSERT_TRUE(t->words != other->words);
	ASSERT_EQ(0, twheel_start(t, 3, HOUR, 33));
	twheel_close(t);
	ASSERT_EQ(1, twheel_start(other, 3, HOUR, 33));
	twheel_refresh(other, 3, 5);
	ASSERT_EQ(5, twheel_word(other, 3));
	twheel_close(other);
}

/* A descriptor for reading gives access to a session, but does not allow changes. */
TEST(attached_by_a_descriptor_that_lacks_a_right)
{
	struct twheel_setup setup = { .event_size = TWHEEL_EVENT_SIZE_V1, .shared_ids = 4 };
	int writer = open("/dev/twheel", O_WRONLY);
	struct twheel *other;

	needs_kernel("a session has no other descriptor");
	ASSERT_EQ(0, twheel_attach(&other, open("/dev/twheel", O_RDONLY)));
	ASSERT_EQ(-EBADF, twheel_start(other, 1, 0, 0));
	twheel_close(other);
	/* A descriptor for writing cannot map the words. */
	ASSERT_EQ(0, tw_setup(writer, setup));
	errno = 0;
	ASSERT_EQ(-EACCES, twheel_attach(&other, writer));
	ASSERT_EQ(0, errno);
}

static int over;

static void *uses_it(void *data)
{
	unsigned int seed = (unsigned long)pthread_self();
	struct twheel_event events[16];
	struct twheel *t = data;
	__u64 i, id;

	for (i = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
		id = rand_r(&seed) % 1000;
		if (i % 3)
			ASSERT_LE(0, twheel_start(t, id, MS + i % 7 * MS, 0));
		else
			ASSERT_LE(0, twheel_stop(t, id) + ENOENT);
		twheel_refresh(t, id, twheel_now() + MS);
		if (i % 64 == 0)
			ASSERT_LE(0, twheel_read(t, events, 16));
	}
	return NULL;
}

/* A child of Python's multiprocessing closes sessions like this, too. */
TEST_SESSION(a_child_closes_what_a_thread_uses, { .shared_ids = 500 })
{
	struct twheel_entry entries[64];
	pthread_t threads[2];
	unsigned int i;
	__u64 cursor = 0;

	needs_no_valgrind("counts the memory that a child leaves alone");
	for (i = 0; i < 2; i++)
		threads[i] = thread_run(uses_it, t);
	for (i = 0; i < 200; i++)
		close_in_child(t);
	__atomic_store_n(&over, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		thread_join(threads[i]);
	while (twheel_drain(t, entries, 64, &cursor))
		;
	expect_balance(twheel_fd(t));
}

/*
 * Attach to a session and close it. The process has the pid of the session's owner, but other
 * memory at the address of the session's words.
 */
static void closes_another_mapping(void *data)
{
	struct twheel *t = data, *own;
	char *mine = mmap(t->words, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	ASSERT_EQ(1, getpid());
	ASSERT_TRUE(mine == (char *)t->words);
	ASSERT_EQ(0, twheel_attach(&own, dup(twheel_fd(t))));
	twheel_refresh(own, 3, 333);
	twheel_close(t);
	*mine = 1;
	twheel_close(own);
}

static void has_a_child_of_its_pid(void *data)
{
	struct twheel *t = open_words(10);

	(void)data;
	ASSERT_EQ(1, getpid());
	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	in_child(closes_another_mapping, t);
	ASSERT_EQ(333, twheel_word(t, 3));
	twheel_close(t);
}

TEST(a_child_of_the_same_pid)
{
	needs_kernel("nothing is mapped");
	needs_no_valgrind("does not know of VM_DONTCOPY");
	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	in_child(has_a_child_of_its_pid, NULL);
}

TEST_SESSION(without_a_structure_it_is_efault)
{
	const unsigned long commands[] = {
		TWHEEL_IOC_INFO, TWHEEL_IOC_SETUP, TWHEEL_IOC_START, TWHEEL_IOC_STOP,
		TWHEEL_IOC_GET, TWHEEL_IOC_SUBMIT, TWHEEL_IOC_LIST, TWHEEL_IOC_STATS,
	};
	unsigned int i;

	if (!in_process())
		needs_no_valgrind("complains about such an ioctl");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		ASSERT_EQ(-EFAULT, twheel_command(t, commands[i], NULL));
	EXPECT_STATS(twheel_fd(t), .started = 0);
}

TEST(close_stops_everything)
{
	struct twheel *t = open_words(10);
	void *words = t->words;
	unsigned char in_core;
	int fd = twheel_fd(t);

	ASSERT_EQ(0, twheel_start(t, 3, HOUR, 33));
	errno = 55;
	twheel_close(t);
	ASSERT_EQ(55, errno);
	ASSERT_EQ(-1, fcntl(fd, F_GETFD));
	/* In the process, the words are a part of allocated memory, which is not unmapped. */
	if (!in_process())
		ASSERT_EQ(-1, mincore(words, 4096, &in_core));
	twheel_close(NULL);
}
