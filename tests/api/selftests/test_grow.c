// SPDX-License-Identifier: GPL-2.0
/*
 * Words that become more: old mappings and new ones show the same words
 *
 * As in test_shared.c a timer that is to come due is started with an interval of 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "proc.h"
#include "session.h"

#define IDS		100

/* A program of 32 bits has to say that it wants one store. */
static void store(__u64 *word, __u64 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static __u64 load(const __u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static __u32 words_of_a_page(void)
{
	return sysconf(_SC_PAGESIZE) / sizeof(__u64);
}

static int grow(int fd, __u32 ids)
{
	return tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_GROW, .shared_ids = ids });
}

static int open_shared(__u32 ids)
{
	int fd = session_open_nonblock();

	need_words();
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .shared_ids = ids }));
	return fd;
}

static void expect_words(int fd, __u32 ids)
{
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(fd, &info));
	ASSERT_EQ(ids, info.shared_ids);
}

static int map_error(int fd, __u32 ids)
{
	void *place = mmap(NULL, ids * sizeof(__u64), PROT_READ, MAP_SHARED, fd, 0);

	if (place == MAP_FAILED)
		return -errno;
	munmap(place, ids * sizeof(__u64));
	return 0;
}

static __u64 carried(int fd)
{
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	return stats.carried;
}

/* The timer must come due now, and be carried on to a word an hour away. */
static void expect_carried(int fd, __u64 *word, __u64 id)
{
	__u64 before = carried(fd), deadline = now_ns() + HOUR;
	__u64 give_up = now_ns() + PATIENCE;
	struct twheel_entry entry;

	store(word, deadline);
	ASSERT_EQ(0, tw_start(fd, id, 0, id));
	while (carried(fd) == before && now_ns() < give_up)
		sleep_ns(MS);
	ASSERT_EQ(before + 1, carried(fd));
	ASSERT_EQ(0, tw_get(fd, id, &entry));
	ASSERT_EQ(deadline, entry.deadline_ns);
	ASSERT_EQ(0, tw_stop(fd, id));
}

TEST(old_and_new_mappings_show_the_same_words)
{
	const __u32 page = words_of_a_page(), ids = 3 * page + 7;
	int fd = open_shared(page + IDS);
	__u64 *old = map_words(fd, page + IDS), *all;

	store(&old[3], 33);
	store(&old[page], 44);
	/* Not an id's yet, but in the page. */
	store(&old[2 * page - 1], 55);
	ASSERT_EQ(0, grow(fd, ids));
	expect_words(fd, ids);
	ASSERT_EQ(-EINVAL, map_error(fd, page + IDS));
	all = map_words(fd, ids);
	ASSERT_EQ(33, load(&all[3]));
	ASSERT_EQ(44, load(&all[page]));
	ASSERT_EQ(55, load(&all[2 * page - 1]));
	ASSERT_EQ(0, load(&all[2 * page]));
	ASSERT_EQ(0, load(&all[ids - 1]));
	store(&old[3], 66);
	ASSERT_EQ(66, load(&all[3]));
	store(&all[page], 77);
	ASSERT_EQ(77, load(&old[page]));
	expect_carried(fd, &old[3], 3);
	expect_carried(fd, &all[3], 3);
	expect_carried(fd, &old[page], page);
	expect_carried(fd, &all[2 * page - 1], 2 * page - 1);
	expect_carried(fd, &all[ids - 1], ids - 1);
	ASSERT_EQ(0, munmap(old, (page + IDS) * sizeof(__u64)));
	expect_carried(fd, &all[0], 0);
}

TEST(within_a_page)
{
	int fd = open_shared(1);
	__u64 *words = map_words(fd, 1);
	__u32 ids;

	for (ids = 2; ids < 9; ids++) {
		ASSERT_EQ(0, grow(fd, ids));
		expect_words(fd, ids);
		expect_carried(fd, &words[ids - 1], ids - 1);
	}
	ASSERT_EQ(0, map_error(fd, ids));
	/* Not one's yet: nothing is stored for it. */
	store(&words[ids - 1], TWHEEL_WORD_STOP);
	ASSERT_EQ(0, tw_start(fd, ids - 1, 0, 33));
	expect_event(fd, ids - 1, 33);
	expect_balance(fd);
}

/* At any time: timers that run meanwhile keep their deadlines, and get words. */
TEST(while_timers_run)
{
	const __u32 page = words_of_a_page();
	int fd = open_shared(IDS);
	struct twheel_entry before, after;
	__u64 *words = map_words(fd, IDS);

	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, tw_start(fd, page, HOUR, 44));
	ASSERT_EQ(0, tw_get(fd, page, &before));
	ASSERT_EQ(-EBUSY, tw_setup(fd, (struct twheel_setup){
		.shared_ids = 2 * page }));
	ASSERT_EQ(0, grow(fd, 2 * page));
	ASSERT_EQ(0, tw_get(fd, page, &after));
	ASSERT_EQ(before.deadline_ns, after.deadline_ns);
	EXPECT_STATS(fd, .started = 2, .pending = 2);
	words = map_words(fd, 2 * page);
	store(&words[page], TWHEEL_WORD_STOP);
	ASSERT_EQ(1, tw_start(fd, page, 0, 44));
	while (tw_state(fd, page) != -ENOENT)
		sleep_ns(MS);
	EXPECT_STATS(fd, .started = 2, .restarted = 1, .pending = 1, .stopped = 1,
		     .stopped_by_store = 1);
	/* Nothing was stored for this one. */
	ASSERT_EQ(0, tw_start(fd, page + 1, 0, 55));
	expect_event(fd, page + 1, 55);
	expect_balance(fd);
}

TEST(a_session_without_words_gets_some)
{
	int fd = session_open_nonblock();

	need_words();
	ASSERT_EQ(0, grow(fd, 0));
	ASSERT_EQ(-ENODEV, map_error(fd, IDS));
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, grow(fd, IDS));
	expect_words(fd, IDS);
	expect_carried(fd, map_words(fd, IDS) + 4, 4);
	ASSERT_EQ(0, tw_stop(fd, 3));
}

/* The rest of a SETUP stays, before the first start as well. */
TEST(all_else_stays)
{
	struct twheel_info before, after;
	int fd = session_open_nonblock();

	need_words();
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE, .scheme = TWHEEL_SCHEME_HASHED,
		.mode = TWHEEL_MODE_TICKLESS, .slots = 64, .tick_ns = 3 * MS,
		.clock = TWHEEL_CLOCK_BOOTTIME, .max_timers = 5000,
		.event_size = 64, .wake_ns = MS, .wake_events = 3,
		.shared_ids = IDS }));
	ASSERT_EQ(0, tw_info(fd, &before));
	ASSERT_EQ(0, grow(fd, 5000));
	ASSERT_EQ(0, tw_info(fd, &after));
	before.shared_ids = 5000;
	ASSERT_TRUE(!memcmp(&before, &after, sizeof(before)));
	ASSERT_EQ(0, map_error(fd, 5000));
	/* And can still be changed, but for the number of words. */
	ASSERT_EQ(-EBUSY, tw_setup(fd, (struct twheel_setup){ .shared_ids = IDS }));
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .shared_ids = 5000 }));
	expect_carried(fd, map_words(fd, 5000) + 4999, 4999);
}

/* Documentation/user-api.rst, TWHEEL_IOC_SETUP. */
TEST(what_is_refused)
{
	const struct twheel_setup bad[] = {
		{ .flags = TWHEEL_SETUP_GROW | TWHEEL_SETUP_PRIVATE },
		{ .flags = TWHEEL_SETUP_GROW | 1U << 31 },
		{ .scheme = 1 }, { .mode = 1 }, { .slots = 64 }, { .tick_ns = MS },
		{ .max_timers = IDS }, { .event_size = 48 },
		{ .clock = TWHEEL_CLOCK_MONOTONIC }, { .wake_ns = 1 },
		{ .wake_events = 1 }, { .reserved2 = 1 },
	};
	struct twheel_setup setup;
	int fd = session_open_nonblock(), reading = open("/dev/twheel", O_RDONLY);
	__u64 *words;
	unsigned int i;

	need_words();
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){
		.max_timers = 10 * IDS, .shared_ids = IDS }));
	words = map_words(fd, IDS);
	store(&words[3], 33);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		setup = bad[i];
		setup.flags |= TWHEEL_SETUP_GROW;
		setup.shared_ids = 2 * IDS;
		ASSERT_EQ(-EINVAL, tw_setup(fd, setup));
	}
	ASSERT_EQ(-EINVAL, grow(fd, 10 * IDS + 1));
	ASSERT_EQ(-EINVAL, grow(fd, ~0U));
	ASSERT_EQ(-EBUSY, grow(fd, IDS - 1));
	ASSERT_EQ(-EBUSY, grow(fd, 0));
	ASSERT_EQ(-EBADF, grow(reading, IDS));
	expect_words(fd, IDS);
	ASSERT_EQ(33, load(&words[3]));
	/* As many as there are. */
	ASSERT_EQ(0, grow(fd, IDS));
	ASSERT_EQ(0, grow(fd, 10 * IDS));
	expect_words(fd, 10 * IDS);
	expect_carried(fd, &words[3], 3);
}

/* Documentation/user-api.rst, TWHEEL_IOC_SETUP: EOPNOTSUPP. */
TEST(refused_where_there_are_none)
{
	int fd = session_open_nonblock();

	ASSERT_EQ(has_words() ? 0 : -EOPNOTSUPP, grow(fd, IDS));
	expect_words(fd, has_words() ? IDS : 0);
}

/* Words stay in the time in which they were stored. */
TEST(from_another_time_namespace)
{
	const __u32 page = words_of_a_page();
	int fd = open_shared(IDS);
	pid_t pid;

	children_in_time_ns();
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		ASSERT_EQ(0, grow(fd, 2 * page));
		_exit(0);
	}
	expect_child(pid);
	expect_carried(fd, map_words(fd, 2 * page) + 3, 3);
	expect_carried(fd, map_words(fd, 2 * page) + page, page);
}

/* The pages of a mapping of before are the same after it was moved, or a part of it. */
TEST(mappings_that_were_moved_and_cut)
{
	const __u32 each = words_of_a_page();
	const size_t page = each * sizeof(__u64);
	int fd = open_shared(3 * each);
	__u64 *words = map_words(fd, 3 * each), *room, *all;

	room = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(room != MAP_FAILED);
	ASSERT_EQ(0, munmap(words + each, page));
	ASSERT_EQ(0, grow(fd, 9 * each));
	ASSERT_TRUE(mremap(words, 3 * page, 4 * page, MREMAP_MAYMOVE) == MAP_FAILED);
	ASSERT_TRUE(mremap(words + 2 * each, page, page,
			   MREMAP_MAYMOVE | MREMAP_FIXED, room) == room);
	ASSERT_TRUE(mremap(room, page, 2 * page, MREMAP_MAYMOVE) == MAP_FAILED);
	ASSERT_EQ(EFAULT, errno);
	/* Touched for the first time, after the words became more. */
	expect_carried(fd, &words[3], 3);
	expect_carried(fd, &room[5], 2 * each + 5);
	all = map_words(fd, 9 * each);
	ASSERT_EQ(load(&room[5]), load(&all[2 * each + 5]));
	ASSERT_EQ(0, madvise(all, 9 * page, MADV_DONTNEED));
	expect_carried(fd, &all[9 * each - 1], 9 * each - 1);
	ASSERT_EQ(0, munmap(words, page));
	ASSERT_EQ(0, munmap(room, page));
	expect_carried(fd, &all[3], 3);
}

/* A child has the descriptor, and may be the one that wants more. */
TEST(by_a_child)
{
	const __u32 page = words_of_a_page();
	int fd = open_shared(IDS);
	__u64 *words = map_words(fd, IDS);
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		ASSERT_EQ(0, grow(fd, 4 * page));
		store(map_words(fd, 4 * page) + 3, 33);
		expect_carried(fd, map_words(fd, 4 * page) + 3 * page, 3 * page);
		_exit(0);
	}
	expect_child(pid);
	ASSERT_EQ(33, load(&words[3]));
	expect_words(fd, 4 * page);
	expect_carried(fd, &words[3], 3);
}

/* The mapping of before holds the session open, as a descriptor does. */
TEST(the_last_unmap_closes_the_session)
{
	__u64 before = proc_sessions(), *old, *all;
	const __u32 page = words_of_a_page();
	int fd = open_shared(IDS);

	old = map_words(fd, IDS);
	ASSERT_EQ(0, grow(fd, 4 * page));
	all = map_words(fd, 4 * page);
	close(fd);
	store(&all[3], 33);
	ASSERT_EQ(0, munmap(all, 4 * page * sizeof(__u64)));
	ASSERT_EQ(before + 1, proc_sessions());
	ASSERT_EQ(33, load(&old[3]));
	ASSERT_EQ(0, munmap(old, page * sizeof(__u64)));
	proc_expect_sessions(before);
}

/* Races. */

#define ROUNDS		40
#define STEP		300

/**
 * struct growth - a session whose words become more while others use them
 * @fd: the session
 * @words: its first words
 * @done: all rounds are over
 */
struct growth {
	int fd;
	__u64 *words;
	bool done;
};

static void *grow_twice(void *data)
{
	int fd = *(int *)data, ret = 0, i;

	for (i = 1; i <= ROUNDS && !ret; i++)
		ret = grow(fd, i * STEP);
	return (void *)(long)ret;
}

/* Each may find that the other one was faster, which is what it has asked for. */
TEST(two_threads_at_once)
{
	pthread_t threads[2];
	__u64 *words;
	long ret[2];
	int i, fd;

	need_words();
	for (i = 0; i < 20; i++) {
		fd = session_open_nonblock();
		threads[0] = thread_run(grow_twice, &fd);
		threads[1] = thread_run(grow_twice, &fd);
		ret[0] = (long)thread_join(threads[0]);
		ret[1] = (long)thread_join(threads[1]);
		/* The slower one asks for fewer than there are. */
		ASSERT_TRUE(!ret[0] || !ret[1]);
		ASSERT_TRUE((!ret[0] || ret[0] == -EBUSY) && (!ret[1] || ret[1] == -EBUSY));
		expect_words(fd, ROUNDS * STEP);
		words = map_words(fd, ROUNDS * STEP);
		expect_carried(fd, &words[ROUNDS * STEP - 1], ROUNDS * STEP - 1);
		ASSERT_EQ(0, munmap(words, ROUNDS * STEP * sizeof(__u64)));
		close(fd);
	}
}

/* Maps what INFO says, which may be too few by then, and looks through all pages. */
static void *map_and_look(void *data)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct growth *g = data;
	struct twheel_info info;
	__u64 *all, looks = 0;
	size_t size, i;

	while (!READ_ONCE(g->done)) {
		ASSERT_EQ(0, tw_info(g->fd, &info));
		size = info.shared_ids * sizeof(__u64);
		all = mmap(NULL, size, PROT_READ, MAP_SHARED, g->fd, 0);
		if (all == MAP_FAILED) {
			ASSERT_EQ(EINVAL, errno);
			continue;
		}
		ASSERT_EQ(33, load(&all[0]));
		for (i = page; i < size; i += page)
			ASSERT_EQ(0, load(&all[i / sizeof(__u64)]));
		ASSERT_EQ(0, munmap(all, size));
		looks++;
	}
	return (void *)(unsigned long)looks;
}

/* Stores by an old mapping count, whatever becomes of the words meanwhile. */
TEST(while_others_store_and_map)
{
	struct growth g = { .fd = open_shared(IDS) };
	struct twheel_stats stats;
	__u64 looks, deadline;
	pthread_t thread;
	int i, id;

	g.words = map_words(g.fd, IDS);
	store(&g.words[0], 33);
	for (id = 1; id < IDS; id++) {
		store(&g.words[id], now_ns() + MS);
		ASSERT_EQ(0, tw_start_flags(g.fd, id, now_ns() + MS, TWHEEL_START_ABS, id));
	}
	thread = thread_run(map_and_look, &g);
	for (i = 1; i <= ROUNDS; i++) {
		deadline = now_ns() + HOUR + i;
		for (id = 1; id < IDS; id++) {
			store(&g.words[id], deadline);
			if (tw_state(g.fd, id) == TWHEEL_STATE_PENDING)
				continue;
			tw_start_flags(g.fd, id, deadline - HOUR, TWHEEL_START_ABS |
				       TWHEEL_START_REPLACE, id);
		}
		ASSERT_EQ(0, grow(g.fd, IDS + i * STEP));
	}
	WRITE_ONCE(g.done, true);
	looks = (unsigned long)thread_join(thread);
	while (carried(g.fd) < IDS - 1)
		sleep_ns(MS);
	ASSERT_EQ(0, tw_stats(g.fd, &stats));
	test_note("%llu looks, %llu carried on", looks, stats.carried);
	ASSERT_EQ(0, load(&map_words(g.fd, IDS + ROUNDS * STEP)[IDS]));
	ASSERT_EQ(deadline, load(&map_words(g.fd, IDS + ROUNDS * STEP)[1]));
	ASSERT_EQ(IDS - 1, stats.pending);
	expect_balance(g.fd);
}

static void *tick_on(void *data)
{
	struct growth *g = data;
	struct twheel_event event;
	int id;

	while (!READ_ONCE(g->done)) {
		for (id = 1; id < IDS; id++) {
			store(&g->words[id], now_ns() + (id % 3) * MS);
			tw_start_flags(g->fd, id, 0, TWHEEL_START_REPLACE, id);
		}
		while (tw_read(g->fd, &event, 1) == 1)
			ASSERT_LE(event.deadline_ns, event.expired_ns);
	}
	return NULL;
}

/* Callbacks look at words on another CPU while these become more. */
TEST(while_timers_expire)
{
	struct growth g = { .fd = open_shared(IDS) };
	pthread_t thread;
	int i;

	g.words = map_words(g.fd, IDS);
	thread = thread_run(tick_on, &g);
	for (i = 1; i <= 20 * ROUNDS; i++)
		ASSERT_EQ(0, grow(g.fd, IDS + i * 20));
	WRITE_ONCE(g.done, true);
	thread_join(thread);
	expect_balance(g.fd);
	close(g.fd);
}
