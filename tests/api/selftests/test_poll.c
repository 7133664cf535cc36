// SPDX-License-Identifier: GPL-2.0
/*
 * poll(), and the modes of epoll
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

NEED_KERNEL("readable_from_*", "not_readable_*", "epoll_edge_*",
	    "epoll_wakes_*", "epoll_exclusive_*", "partial_reads_*");

#define ALL_EVENTS	(POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLPRI)
#define PATIENCE_MS	((int)(PATIENCE / MS))
#define WATCHERS	4

/* Returns the events that poll() reports for the descriptor now. */
static int ready(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = ALL_EVENTS };

	ASSERT_LE(0, poll(&pollfd, 1, 0));
	return pollfd.revents;
}

static int watch(int epfd, int fd, __u32 events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event);
}

static int open_watched(int *epfd, __u32 events)
{
	int fd = session_open_nonblock();

	*epfd = epoll_create1(0);
	ASSERT_LE(0, *epfd);
	ASSERT_EQ(0, watch(*epfd, fd, events));
	return fd;
}

static int wait_for(int epfd, int timeout_ms)
{
	struct epoll_event events[4];
	int got = epoll_wait(epfd, events, 4, timeout_ms);

	ASSERT_LE(0, got);
	return got;
}

static void expire(int fd, __u64 id)
{
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_EQ(0, tw_start(fd, id, 0, id));
	expect_unread(fd, stats.unread + 1);
}

static void read_all(int fd)
{
	struct twheel_event events[16];

	while (tw_read(fd, events, 16) > 0)
		;
}

TEST(nothing_is_ready_at_first)
{
	int fd = session_open();

	ASSERT_EQ(0, ready(fd));
	ASSERT_EQ(0, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, ready(fd));
	ASSERT_EQ(0, tw_stop(fd, 3));
	ASSERT_EQ(0, ready(fd));
}

TEST(readable_from_expiry_to_read)
{
	struct twheel_event event;
	int fd = session_open();

	expire(fd, 3);
	expire(fd, 4);
	ASSERT_EQ(POLLIN | POLLRDNORM, ready(fd));
	ASSERT_EQ(POLLIN | POLLRDNORM, ready(fd));
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(POLLIN | POLLRDNORM, ready(fd));
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(0, ready(fd));
}

TEST(not_readable_when_the_event_was_withdrawn)
{
	int fd = session_open();

	expire(fd, 3);
	ASSERT_EQ(POLLIN | POLLRDNORM, ready(fd));
	ASSERT_EQ(2, tw_start(fd, 3, HOUR, 33));
	ASSERT_EQ(0, ready(fd));
}

TEST(epoll_level)
{
	int epfd, fd = open_watched(&epfd, EPOLLIN);

	ASSERT_EQ(0, wait_for(epfd, 0));
	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	ASSERT_EQ(1, wait_for(epfd, PATIENCE_MS));
	ASSERT_EQ(1, wait_for(epfd, 0));
	read_all(fd);
	ASSERT_EQ(0, wait_for(epfd, 0));
}

TEST(epoll_added_when_already_readable)
{
	int fd = session_open_nonblock();
	int epfd = epoll_create1(0);

	expire(fd, 3);
	ASSERT_EQ(0, watch(epfd, fd, EPOLLIN | EPOLLET));
	ASSERT_EQ(1, wait_for(epfd, 0));
}

TEST(epoll_edge_reports_each_expiry_once)
{
	int epfd, fd = open_watched(&epfd, EPOLLIN | EPOLLET);

	expire(fd, 3);
	ASSERT_EQ(1, wait_for(epfd, PATIENCE_MS));
	ASSERT_EQ(0, wait_for(epfd, 20));
	expire(fd, 4);
	ASSERT_EQ(1, wait_for(epfd, PATIENCE_MS));
	ASSERT_EQ(0, wait_for(epfd, 20));
	read_all(fd);
	ASSERT_EQ(0, wait_for(epfd, 20));
	expire(fd, 5);
	ASSERT_EQ(1, wait_for(epfd, PATIENCE_MS));
}

/* Let ten timers expire in one tick. On a slow machine they take several ticks, or several runs. */
static void expire_ten(int fd)
{
	__u64 deadline = now_ns() + 50 * MS;
	int i;

	pin_cpu(0);
	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, tw_start_flags(fd, i, deadline, TWHEEL_START_ABS,
					    i));
	expect_unread(fd, 10);
}

/* Returns how often runs of the tick woke the waiters. */
static __u64 wakeups(int fd)
{
	return stats_of(fd).wakeups;
}

TEST(epoll_edge_reports_a_periodic_timer)
{
	int epfd, fd = open_watched(&epfd, EPOLLIN | EPOLLET);
	int i;

	ASSERT_EQ(0, tw_start_periodic(fd, 3, MS, 10 * MS));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(1, wait_for(epfd, PATIENCE_MS));
		read_all(fd);
	}
}

struct watcher {
	int fd;
	int epfd;
	pid_t thread;
	int woken;
};

static void *wait_once(void *data)
{
	struct watcher *watcher = data;
	struct epoll_event event;

	WRITE_ONCE(watcher->thread, gettid());
	ASSERT_EQ(1, epoll_wait(watcher->epfd, &event, 1, -1));
	WRITE_ONCE(watcher->woken, event.data.fd == watcher->fd);
	return NULL;
}

static int sum_of_woken(const struct watcher *watchers)
{
	int i, sum = 0;

	for (i = 0; i < WATCHERS; i++)
		sum += READ_ONCE(watchers[i].woken);
	return sum;
}

/* Start timers in one batch, so that they expire in one tick on most machines. */
static void start_at_once(int fd, unsigned int count)
{
	struct twheel_op ops[WATCHERS] = { 0 };
	unsigned int i;

	for (i = 0; i < count; i++) {
		ops[i].opcode = TWHEEL_OP_START;
		ops[i].id = i;
	}
	ASSERT_EQ(count, tw_submit(fd, ops, count));
}

/*
 * Watch one session with several epoll descriptors, each with a thread that sleeps. Let @timers
 * expire, and wait until at least @least threads were woken. Then wake the others by an eventfd.
 * Returns the number of threads that the session woke.
 */
static int count_woken(__u32 events, unsigned int timers, int least)
{
	struct watcher watchers[WATCHERS] = { 0 };
	int fd = session_open(), end = eventfd(0, 0);
	pthread_t threads[WATCHERS];
	__u64 one = 1;
	int i, woken;

	for (i = 0; i < WATCHERS; i++) {
		watchers[i].fd = fd;
		watchers[i].epfd = epoll_create1(0);
		ASSERT_EQ(0, watch(watchers[i].epfd, fd, events));
		ASSERT_EQ(0, watch(watchers[i].epfd, end, EPOLLIN));
		threads[i] = thread_run(wait_once, &watchers[i]);
		expect_asleep(&watchers[i].thread);
	}
	start_at_once(fd, timers);
	while (sum_of_woken(watchers) < least)
		sleep_ns(MS);
	sleep_ns(100 * MS);
	woken = sum_of_woken(watchers);
	ASSERT_EQ(sizeof(one), write(end, &one, sizeof(one)));
	for (i = 0; i < WATCHERS; i++)
		thread_join(threads[i]);
	return woken;
}

TEST(epoll_wakes_all_that_watch)
{
	ASSERT_EQ(WATCHERS, count_woken(EPOLLIN, 1, WATCHERS));
}

/* A single event must wake at least one waiter, but not all of them. */
TEST(epoll_exclusive_wakes_few)
{
	int woken = count_woken(EPOLLIN | EPOLLEXCLUSIVE, 1, 1);

	test_note("%d of %d woken", woken, WATCHERS);
	ASSERT_LT(woken, WATCHERS);
}

/* Each event must wake one waiter, even if the events come in one tick. */
TEST(epoll_exclusive_wakes_as_many_as_there_are_events)
{
	ASSERT_EQ(WATCHERS, count_woken(EPOLLIN | EPOLLEXCLUSIVE, WATCHERS,
					WATCHERS));
}

/*
 * The tick must make an edge for each of eight epoll instances. Ten reads then take one event each.
 * Although events remain, these reads must not make another edge.
 */
TEST(partial_reads_wake_no_poller)
{
	int epfds[8], fd = session_open_nonblock(), i, j;
	struct twheel_event event;
	unsigned int edges = 0;

	for (i = 0; i < 8; i++) {
		epfds[i] = epoll_create1(0);
		ASSERT_EQ(0, watch(epfds[i], fd, EPOLLIN | EPOLLET));
	}
	expire_ten(fd);
	for (j = 0; j < 8; j++)
		edges += wait_for(epfds[j], PATIENCE_MS);
	ASSERT_EQ(8, edges);
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(1, tw_read(fd, &event, 1));
		for (j = 0; j < 8; j++)
			edges += wait_for(epfds[j], 0);
	}
	ASSERT_LE(edges, 8 * wakeups(fd));
}

TEST(epoll_forgets_a_closed_session)
{
	int epfd, fd = open_watched(&epfd, EPOLLIN);

	ASSERT_EQ(0, tw_start(fd, 3, 20 * MS, 33));
	close(fd);
	ASSERT_EQ(0, wait_for(epfd, 50));
}
