// SPDX-License-Identifier: GPL-2.0
/*
 * The mapping of words: its size and rights, the processes that have it, and
 * its lifetime
 *
 * test_shared.c tests how words affect their timers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"
#include "words.h"

NEED_KERNEL("what_*", "einval_misaligned_*", "eacces_*", "all_mappings_*", "*unmapped",
	    "mremap_*", "pages_*", "a_child_*", "a_descriptor_*", "*closes_the_session",
	    "a_page_*");

TEST(what_can_be_mapped)
{
	const size_t page = page_size();
	const __u32 ids = 2 * page / sizeof(__u64);
	int fd = session_open_nonblock(), rw = PROT_READ | PROT_WRITE;

	ASSERT_EQ(0, setup_shared(fd, ids));
	ASSERT_EQ(0, try_map(fd, 2 * page, rw, MAP_SHARED, 0));
	ASSERT_EQ(0, try_map(fd, 2 * page - 8, rw, MAP_SHARED, 0));
	ASSERT_EQ(0, try_map(fd, 2 * page, PROT_READ, MAP_SHARED, 0));
	ASSERT_EQ(0, try_map(fd, 2 * page, PROT_NONE, MAP_SHARED, 0));
	/* a part of the words, or more than all of them */
	ASSERT_EQ(-EINVAL, try_map(fd, page, rw, MAP_SHARED, 0));
	ASSERT_EQ(-EINVAL, try_map(fd, page, rw, MAP_SHARED, page));
	ASSERT_EQ(-EINVAL, try_map(fd, 2 * page, rw, MAP_SHARED, page));
	ASSERT_EQ(-EINVAL, try_map(fd, 3 * page, rw, MAP_SHARED, 0));
	ASSERT_EQ(-EINVAL, try_map(fd, 0, rw, MAP_SHARED, 0));
	/* a private copy */
	ASSERT_EQ(-EINVAL, try_map(fd, 2 * page, rw, MAP_PRIVATE, 0));
	ASSERT_EQ(-EINVAL, try_map(fd, 2 * page, PROT_READ, MAP_PRIVATE, 0));
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, try_map(fd, 2 * page, rw, MAP_SHARED, 0));
}

/* An offset of 8 bytes is misaligned with pages of any size, and in the units of mmap2(2). */
TEST(einval_misaligned_offset)
{
	__u64 *words;
	int fd = open_shared(&words);

	ASSERT_EQ(-EINVAL, try_map(fd, page_size(), PROT_READ, MAP_SHARED, 8));
}

TEST(enodev_without_words)
{
	int fd = session_open();

	ASSERT_EQ(-ENODEV, try_map(fd, page_size(), PROT_READ, MAP_SHARED, 0));
}

/* SETUP needs a descriptor for writing, and a mapping needs one for reading. */
TEST(eacces_by_the_mode_of_the_descriptor)
{
	int fd = open("/dev/twheel", O_WRONLY);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setup_shared(fd, IDS));
	ASSERT_EQ(-EACCES, try_map(fd, page_size(), PROT_READ, MAP_SHARED, 0));
	ASSERT_EQ(-EACCES, try_map(fd, page_size(), PROT_WRITE, MAP_SHARED, 0));
	close(fd);
	fd = open("/dev/twheel", O_RDONLY);
	ASSERT_LE(0, fd);
	ASSERT_EQ(-EBADF, setup_shared(fd, IDS));
	ASSERT_EQ(-ENODEV, try_map(fd, page_size(), PROT_READ, MAP_SHARED, 0));
}

TEST(what_was_mapped_for_reading_is_never_written)
{
	__u64 *words, *reading;
	int fd = open_shared(&words);

	reading = map(fd, page_size(), PROT_READ, MAP_SHARED, 0);
	ASSERT_TRUE(reading != MAP_FAILED);
	store(&words[3], 33);
	ASSERT_EQ(33, load(&reading[3]));
	ASSERT_EQ(-1, mprotect(reading, page_size(), PROT_READ | PROT_WRITE));
	ASSERT_EQ(EACCES, errno);
	ASSERT_EQ(0, mprotect(words, page_size(), PROT_READ));
	ASSERT_EQ(0, mprotect(words, page_size(), PROT_READ | PROT_WRITE));
	store(&words[3], 34);
	ASSERT_EQ(34, load(&reading[3]));
}

TEST(all_mappings_show_the_same_words)
{
	__u64 *words, *second;
	int fd = open_shared(&words);

	second = map_words(fd, IDS);
	ASSERT_TRUE(words != second);
	store(&words[3], 33);
	ASSERT_EQ(33, load(&second[3]));
	expect_carried(fd, &second[3], 3);
	ASSERT_EQ(0, munmap(words, page_size()));
	expect_carried(fd, &second[4], 4);
}

/* The wheel must obey words even while they are not mapped. */
TEST(words_stay_when_they_are_unmapped)
{
	const size_t page = page_size();
	const __u32 each = page / sizeof(__u64);
	int fd = session_open_nonblock();
	__u64 *words, deadline = now_ns() + HOUR;

	ASSERT_EQ(0, setup_shared(fd, 3 * each));
	words = map_words(fd, 3 * each);
	store(&words[each], deadline);
	ASSERT_EQ(0, munmap(words + each, page));
	ASSERT_EQ(0, tw_start(fd, each, 0, 33));
	EXPECT_STAT(fd, carried, 1);
	ASSERT_EQ(deadline, deadline_of(fd, each));
	expect_carried(fd, &words[0], 0);
	expect_carried(fd, &words[2 * each], 2 * each);
	ASSERT_EQ(0, munmap(words, 3 * page));
	words = map_words(fd, 3 * each);
	ASSERT_EQ(deadline, load(&words[each]));
}

TEST(mremap_moves_and_shortens)
{
	const size_t page = page_size();
	const __u32 each = page / sizeof(__u64);
	__u64 *words, *moved, *room;
	int fd = session_open_nonblock();

	ASSERT_EQ(0, setup_shared(fd, 2 * each));
	words = map_words(fd, 2 * each);
	store(&words[3], 33);
	ASSERT_TRUE(mremap(words, 2 * page, 3 * page, MREMAP_MAYMOVE) ==
		    MAP_FAILED);
	ASSERT_EQ(EFAULT, errno);
	/* an old size of 0 asks mremap() for a second mapping, which must be refused */
	ASSERT_TRUE(mremap(words, 0, 2 * page, MREMAP_MAYMOVE) == MAP_FAILED);
	ASSERT_EQ(EFAULT, errno);
	room = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	ASSERT_TRUE(room != MAP_FAILED);
	moved = mremap(words, 2 * page, 2 * page, MREMAP_MAYMOVE | MREMAP_FIXED,
		       room);
	ASSERT_TRUE(moved == room);
	ASSERT_EQ(33, load(&moved[3]));
	expect_carried(fd, &moved[each], each);
	ASSERT_TRUE(mremap(moved, 2 * page, page, 0) == moved);
	expect_carried(fd, &moved[3], 3);
}

TEST(pages_that_were_thrown_away_come_back)
{
	__u64 *words;
	int fd = open_shared(&words);

	store(&words[3], 33);
	ASSERT_EQ(0, madvise(words, page_size(), MADV_DONTNEED));
	ASSERT_EQ(33, load(&words[3]));
	expect_carried(fd, &words[3], 3);
}

/* The processes that have a mapping, and its lifetime. */

static bool is_mapped(void *place)
{
	unsigned char there;

	return !mincore(place, page_size(), &there);
}

TEST(a_child_has_the_descriptor_and_not_the_mapping)
{
	__u64 *words;
	int fd = open_shared(&words);
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		ASSERT_TRUE(!is_mapped(words));
		store(map_words(fd, IDS) + 5, 55);
		expect_carried(fd, map_words(fd, IDS) + 3, 3);
		_exit(0);
	}
	expect_child(pid);
	ASSERT_EQ(55, load(&words[5]));
	ASSERT_EQ(1, stats_of(fd).carried);
}

/* A process that receives the descriptor must learn the number of words from INFO. */
TEST(a_descriptor_sent_to_another_process)
{
	struct twheel_info info;
	__u64 *words;
	int pair[2], fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		fd = receive_fd(pair[1]);
		ASSERT_EQ(0, tw_info(fd, &info));
		ASSERT_EQ(IDS, info.shared_ids);
		expect_carried(fd, map_words(fd, info.shared_ids) + 3, 3);
		_exit(0);
	}
	fd = open_shared(&words);
	send_fd(pair[0], fd);
	expect_child(pid);
	ASSERT_LT(now_ns(), load(&words[3]));
}

/* A mapping holds the session open, as a descriptor does. */
TEST(the_last_unmap_closes_the_session)
{
	__u64 before = proc_sessions(), *words, *second;
	int fd = open_shared(&words);

	second = map_words(fd, IDS);
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	close(fd);
	store(&second[3], 33);
	ASSERT_EQ(before + 1, proc_sessions());
	ASSERT_EQ(0, munmap(words, page_size()));
	ASSERT_EQ(before + 1, proc_sessions());
	ASSERT_EQ(33, load(&second[3]));
	ASSERT_EQ(0, munmap(second, page_size()));
	proc_expect_sessions(before);
}

/* A pipe with a page of words must keep the page alive, but neither the mapping nor the session. */
TEST(a_page_in_use_outlives_the_session)
{
	__u64 before = proc_sessions(), *words, value = 0;
	int fd = open_shared(&words), pipes[2];
	struct iovec iov = { .iov_base = words, .iov_len = 4 * sizeof(__u64) };
	int i;

	ASSERT_EQ(0, pipe(pipes));
	store(&words[3], 33);
	ASSERT_EQ(4 * sizeof(__u64), vmsplice(pipes[1], &iov, 1, 0));
	ASSERT_EQ(0, munmap(words, page_size()));
	close(fd);
	proc_expect_sessions(before);
	/* allocate pages, which would reuse the page if it was freed */
	for (i = 0; i < 100; i++)
		memset(map(-1, page_size(), PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0), 0xff,
		       page_size());
	for (i = 0; i < 4; i++)
		ASSERT_EQ(sizeof(value), read(pipes[0], &value, sizeof(value)));
	ASSERT_EQ(33, value);
}
