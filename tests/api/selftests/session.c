// SPDX-License-Identifier: GPL-2.0
/*
 * Calls on /dev/twheel, and checks of their results
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"

#define DEVICE		"/dev/twheel"

void sleep_until(__u64 deadline_ns)
{
	struct timespec ts = {
		.tv_sec = deadline_ns / SECOND,
		.tv_nsec = deadline_ns % SECOND,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

void sleep_ns(__u64 ns)
{
	sleep_until(now_ns() + ns);
}

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x80
#endif

/* Put the next children of this process into a time namespace where the clocks are ahead. */
void children_in_time_ns(void)
{
	int fd;

	if (unshare(CLONE_NEWTIME))
		test_skip("there are no time namespaces, or not for this user");
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	ASSERT_LE(0, fd);
	ASSERT_LE(0, dprintf(fd, "%d %d 0\n%d %d 0", CLOCK_MONOTONIC, TIMENS_MONOTONIC,
			     CLOCK_BOOTTIME, TIMENS_BOOTTIME));
	close(fd);
}

static int open_device(int flags)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC | flags);

	if (fd < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", DEVICE,
			  strerror(errno));
	return fd;
}

int session_open(void)
{
	return open_device(0);
}

int session_open_nonblock(void)
{
	return open_device(O_NONBLOCK);
}

int tw_ioctl(int fd, unsigned long command, void *argument)
{
	int result = ioctl(fd, command, argument);

	return result < 0 ? -errno : result;
}

int tw_info(int fd, struct twheel_info *info)
{
	memset(info, GARBAGE, sizeof(*info));
	return tw_ioctl(fd, TWHEEL_IOC_INFO, info);
}

/* Returns true for a 32-bit kernel. A 32-bit program may also run on a 64-bit kernel. */
bool kernel_of_32_bits(void)
{
	struct utsname kernel;

	ASSERT_EQ(0, uname(&kernel));
	return !strcmp(kernel.machine, "i686") || !strncmp(kernel.machine, "armv7", 5);
}

/* Returns the number of timers in a chunk, see Documentation/limits.rst, Timers of a user. */
unsigned int timers_of_a_piece(void)
{
	return kernel_of_32_bits() ? 28 : 46;
}

/*
 * Returns true if sessions can have words. They cannot on 32-bit kernels, nor on machines whose
 * caches may show different data in two mappings of a page.
 */
bool has_words(void)
{
	struct twheel_info info;
	int fd = session_open();

	ASSERT_EQ(0, tw_info(fd, &info));
	close(fd);
	return info.features & TWHEEL_FEATURE_SHARED;
}

void need_words(void)
{
	if (!has_words())
		test_skip("this kernel has no words");
}

__u64 *map_words(int fd, __u32 ids)
{
	__u64 *words = mmap(NULL, ids * sizeof(*words), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);

	ASSERT_TRUE(words != MAP_FAILED);
	return words;
}

__u64 tick_ns(int fd)
{
	struct twheel_info info;

	ASSERT_EQ(0, tw_info(fd, &info));
	return info.tick_ns;
}

int tw_setup(int fd, struct twheel_setup setup)
{
	return tw_ioctl(fd, TWHEEL_IOC_SETUP, &setup);
}

/* Choose a private wheel whose ticks have this length. */
int tw_setup_tick(int fd, __u64 tick_ns)
{
	return tw_setup(fd, (struct twheel_setup){
		.flags = TWHEEL_SETUP_PRIVATE, .tick_ns = tick_ns });
}

int tw_start_flags(int fd, __u64 id, __u64 expires_ns, __u32 flags,
		   __u64 user_data)
{
	struct twheel_start start = {
		.id = id,
		.expires_ns = expires_ns,
		.user_data = user_data,
		.flags = flags,
	};
	int result = tw_ioctl(fd, TWHEEL_IOC_START, &start);

	ASSERT_EQ(id, start.id);
	return result;
}

int tw_start(int fd, __u64 id, __u64 expires_ns, __u64 user_data)
{
	return tw_start_flags(fd, id, expires_ns, 0, user_data);
}

int tw_start_periodic(int fd, __u64 id, __u64 expires_ns, __u64 period_ns)
{
	struct twheel_start start = {
		.id = id,
		.expires_ns = expires_ns,
		.period_ns = period_ns,
	};

	return tw_ioctl(fd, TWHEEL_IOC_START, &start);
}

int tw_start_any(int fd, __u64 expires_ns, __u64 user_data, __u64 *id)
{
	struct twheel_start start = {
		.id = TWHEEL_ID_ANY,
		.expires_ns = expires_ns,
		.user_data = user_data,
	};
	int result = tw_ioctl(fd, TWHEEL_IOC_START, &start);

	*id = start.id;
	if (result < 0)
		ASSERT_EQ(TWHEEL_ID_ANY, start.id);
	return result;
}

int tw_stop(int fd, __u64 id)
{
	struct twheel_stop stop = { .id = id };

	return tw_ioctl(fd, TWHEEL_IOC_STOP, &stop);
}

int tw_get(int fd, __u64 id, struct twheel_entry *get)
{
	memset(get, GARBAGE, sizeof(*get));
	get->id = id;
	get->reserved = 0;
	return tw_ioctl(fd, TWHEEL_IOC_GET, get);
}

/* Returns the state of a timer, TWHEEL_STATE_*, or -errno. */
int tw_state(int fd, __u64 id)
{
	struct twheel_entry get;
	int result = tw_get(fd, id, &get);

	return result ? result : (int)get.state;
}

/* Submit operations, and check @failed. Returns the number of operations done, or -errno. */
int tw_submit(int fd, struct twheel_op *ops, __u32 count)
{
	struct twheel_submit submit = {
		.ops = (__u64)(unsigned long)ops,
		.count = count,
		.op_size = sizeof(*ops),
	};
	__u32 failed = 0;
	int result, i;

	memset(&submit.failed, GARBAGE, sizeof(submit.failed));
	result = tw_ioctl(fd, TWHEEL_IOC_SUBMIT, &submit);
	for (i = 0; i < result; i++)
		failed += ops[i].result < 0;
	if (result >= 0)
		ASSERT_EQ(failed, submit.failed);
	return result;
}

static int walk(int fd, __u32 flags, struct twheel_entry *entries, __u32 room,
		__u64 *cursor)
{
	struct twheel_list list = {
		.entries = (__u64)(unsigned long)entries,
		.cursor = *cursor,
		.count = room,
		.entry_size = sizeof(*entries),
		.flags = flags,
	};
	int result = tw_ioctl(fd, TWHEEL_IOC_LIST, &list);

	ASSERT_LE(result, (int)room);
	*cursor = list.cursor;
	return result;
}

/* List timers from *@cursor on. Returns the number of entries, or -errno. */
int tw_list(int fd, struct twheel_entry *entries, __u32 room, __u64 *cursor)
{
	return walk(fd, 0, entries, room, cursor);
}

/* Drain timers, from the lowest id on. Returns the number of entries, or -errno. */
int tw_drain(int fd, struct twheel_entry *entries, __u32 room)
{
	__u64 cursor = 0;

	return walk(fd, TWHEEL_LIST_DRAIN, entries, room, &cursor);
}

/*
 * Start @count timers in batches. The first timer is due at @due, and each next one @apart ns after
 * the last. Their ids begin at @first, or the kernel chooses all ids if it is TWHEEL_ID_ANY.
 */
void start_many(int fd, __u64 first, unsigned int count, __u64 due, __u64 apart)
{
	static struct twheel_op ops[4096];
	unsigned int i, nr;

	for (; count; count -= nr) {
		nr = count < ARRAY_SIZE(ops) ? count : ARRAY_SIZE(ops);
		for (i = 0; i < nr; i++, due += apart)
			ops[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_START,
				.flags = TWHEEL_START_ABS,
				.id = first == TWHEEL_ID_ANY ? first : first++,
				.expires_ns = due,
			};
		ASSERT_EQ(nr, tw_submit(fd, ops, nr));
	}
}

/* Drain all timers. Returns their number. */
unsigned int drain_all(int fd)
{
	static struct twheel_entry timers[4096];
	unsigned int sum = 0;
	int count;

	do {
		count = tw_drain(fd, timers, ARRAY_SIZE(timers));
		ASSERT_LE(0, count);
		sum += count;
	} while (count);
	return sum;
}

int tw_stats(int fd, struct twheel_stats *stats)
{
	memset(stats, GARBAGE, sizeof(*stats));
	return tw_ioctl(fd, TWHEEL_IOC_STATS, stats);
}

struct twheel_stats stats_of(int fd)
{
	struct twheel_stats stats;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	return stats;
}

/* Read events. Returns their number, or -errno. */
ssize_t tw_read(int fd, struct twheel_event *events, size_t count)
{
	ssize_t size;

	memset(events, GARBAGE, count * sizeof(*events));
	size = read(fd, events, count * sizeof(*events));
	if (size < 0)
		return -errno;
	ASSERT_EQ(0, size % sizeof(*events));
	size /= sizeof(*events);
	ASSERT_LE(size, count);
	ASSERT_TRUE(is_garbage(events + size,
			       (count - size) * sizeof(*events)));
	return size;
}

/* Returns false for counters that depend on the readers or on the machine. */
static bool is_exact(size_t offset)
{
	return offset != offsetof(struct twheel_stats, wakeups) &&
	       offset < offsetof(struct twheel_stats, lateness);
}

void expect_stats_at(const char *file, int line, int fd, const char *wanted,
		     const struct twheel_stats *want)
{
	const __u64 *wants = (const __u64 *)want;
	struct twheel_stats stats;
	const __u64 *got = (const __u64 *)&stats;
	size_t i;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	for (i = 0; i < sizeof(stats) / sizeof(*got); i++) {
		if (is_exact(i * sizeof(*got)) && wants[i] != got[i])
			test_fail(file, line,
				  "stats: %s: number %zu is %llu, not %llu",
				  wanted, i, got[i], wants[i]);
	}
}

/* Check the equations that hold for the counters of struct twheel_stats. */
void expect_balance(int fd)
{
	struct twheel_stats stats;
	__u64 read = 0;
	int i;

	ASSERT_EQ(0, tw_stats(fd, &stats));
	ASSERT_EQ(stats.started + stats.rearmed,
		  stats.stopped + stats.expired + stats.pending);
	ASSERT_EQ(stats.expired,
		  stats.delivered + stats.replaced + stats.withdrawn +
		  stats.unread);
	for (i = 0; i < TWHEEL_STATS_LATENESS; i++)
		read += stats.lateness[i];
	ASSERT_EQ(stats.delivered, read);
}

void expect_readable(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	ASSERT_EQ(1, poll(&pollfd, 1, PATIENCE / MS));
	ASSERT_EQ(POLLIN, pollfd.revents);
}

/* Check that @fd is not readable during the next @ns. */
void expect_nothing(int fd, __u64 ns)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	ASSERT_EQ(0, poll(&pollfd, 1, ns / MS));
	ASSERT_EQ(0, pollfd.revents);
}

/* Wait until the counter at @offset of struct twheel_stats is @want. */
void expect_stat(int fd, size_t offset, __u64 want)
{
	__u64 give_up = now_ns() + PATIENCE, got;
	struct twheel_stats stats;

	do {
		stats = stats_of(fd);
		memcpy(&got, (char *)&stats + offset, sizeof(got));
		if (got == want)
			return;
		sleep_ns(MS);
	} while (now_ns() < give_up);
	test_fail(__FILE__, __LINE__, "stats: number %zu is %llu, not %llu",
		  offset / sizeof(got), got, want);
}

/* Wait until @count events are unread. */
void expect_unread(int fd, __u64 count)
{
	EXPECT_STAT(fd, unread, count);
}

/* Read the next event, and check that it is of timer @id, which has no period. */
void expect_event(int fd, __u64 id, __u64 user_data)
{
	struct twheel_event event;

	expect_readable(fd);
	ASSERT_EQ(1, tw_read(fd, &event, 1));
	ASSERT_EQ(id, event.id);
	ASSERT_EQ(user_data, event.user_data);
	ASSERT_LE(event.deadline_ns, event.expired_ns);
	ASSERT_LE(event.expired_ns, now_ns());
	ASSERT_EQ(0, event.overruns);
	ASSERT_EQ(0, event.flags);
	ASSERT_EQ(0, event.reserved);
}

/* Check that a timer is neither pending nor unread, and that a GET that fails writes nothing. */
void expect_no_timer(int fd, __u64 id)
{
	struct twheel_entry get;

	ASSERT_EQ(-ENOENT, tw_get(fd, id, &get));
	ASSERT_EQ(id, get.id);
	ASSERT_EQ(GARBAGE64, get.deadline_ns);
	ASSERT_EQ(GARBAGE64, get.remaining_ns);
	ASSERT_EQ(GARBAGE64, get.period_ns);
	ASSERT_EQ(GARBAGE64, get.user_data);
}

/* Compare two numbers for qsort(). */
int compare_u64(const void *a, const void *b)
{
	__u64 first = *(const __u64 *)a, second = *(const __u64 *)b;

	return first < second ? -1 : first > second;
}

static bool all_bytes(const unsigned char *data, size_t size, int value)
{
	while (size--) {
		if (*data++ != value)
			return false;
	}
	return true;
}

bool is_garbage(const void *data, size_t size)
{
	return all_bytes(data, size, GARBAGE);
}

bool is_zero(const void *data, size_t size)
{
	return all_bytes(data, size, 0);
}

/*
 * Returns a copy of @data whose first @n bytes are usable. The memory from byte @n on has
 * @protection.
 */
void *partly_usable(const void *data, size_t size, size_t n, int protection)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t room = (size + page - 1) / page * page;
	char *pages = mmap(NULL, 2 * room, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_TRUE(pages != MAP_FAILED);
	memcpy(pages + room - n, data, size);
	ASSERT_EQ(0, mprotect(pages + room, room, protection));
	return pages + room - n;
}

/* A message of one byte, with room for a descriptor. */
struct fd_message {
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec iov;
	struct msghdr header;
};

static struct cmsghdr *fd_message_init(struct fd_message *message)
{
	*message = (struct fd_message){
		.iov = { .iov_base = &message->byte, .iov_len = 1 },
		.header = {
			.msg_iov = &message->iov, .msg_iovlen = 1,
			.msg_control = message->room,
			.msg_controllen = sizeof(message->room),
		},
	};
	return CMSG_FIRSTHDR(&message->header);
}

void send_fd(int socket, int fd)
{
	struct fd_message message;
	struct cmsghdr *control = fd_message_init(&message);

	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(control), &fd, sizeof(fd));
	ASSERT_EQ(1, sendmsg(socket, &message.header, 0));
}

int receive_fd(int socket)
{
	struct fd_message message;
	struct cmsghdr *control = fd_message_init(&message);
	int fd;

	ASSERT_EQ(1, recvmsg(socket, &message.header, 0));
	ASSERT_TRUE(message.header.msg_controllen);
	memcpy(&fd, CMSG_DATA(control), sizeof(fd));
	return fd;
}

/* Bind the process to one CPU, or skip the case if there is no such CPU. */
void pin_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		test_skip("there is no CPU %u", cpu);
}

/*
 * Let timers of one tick expire in the order of their starts. Bind the process to a CPU, and use a
 * wheel that is prepared there, because the first timers of the default wheel may be on another
 * CPU.
 */
void keep_order(int fd)
{
	pin_cpu(0);
	ASSERT_EQ(0, tw_setup(fd, (struct twheel_setup){ .flags = TWHEEL_SETUP_PRIVATE }));
}

pthread_t thread_run(void *(*fn)(void *data), void *data)
{
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, fn, data));
	return thread;
}

void *thread_join(pthread_t thread)
{
	void *result;

	ASSERT_EQ(0, pthread_join(thread, &result));
	return result;
}

static void *read_blocked(void *data)
{
	struct blocked *blocked = data;

	WRITE_ONCE(blocked->thread, gettid());
	blocked->result = tw_read(blocked->fd, &blocked->event, 1);
	return NULL;
}

static char thread_state(pid_t thread)
{
	char path[64], text[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	file = fopen(path, "r");
	ASSERT_TRUE(file && fgets(text, sizeof(text), file));
	fclose(file);
	return strrchr(text, ')')[2];
}

/* Wait until a thread sleeps. The thread writes its id to @thread. */
void expect_asleep(const pid_t *thread)
{
	__u64 give_up = now_ns() + PATIENCE;

	while (!READ_ONCE(*thread) || thread_state(READ_ONCE(*thread)) != 'S') {
		ASSERT_LT(now_ns(), give_up);
		sleep_ns(MS);
	}
}

/* Read an event in another thread, and wait until that thread sleeps. */
pthread_t run_blocked(struct blocked *blocked)
{
	pthread_t thread = thread_run(read_blocked, blocked);

	expect_asleep(&blocked->thread);
	return thread;
}

/* Wait for a child of the case, which must exit with 0. */
void expect_child(pid_t pid)
{
	int status;

	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
}

/* Call a function in a child, and wait for it. */
void in_child(void (*fn)(void *data), void *data)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		fn(data);
		_exit(0);
	}
	expect_child(pid);
}

/*
 * Returns true on an emulated machine where each instruction takes a nanosecond, however busy the
 * host is. Only the stage selftests-icount uses such a machine, and only this machine has one CPU.
 */
bool time_is_exact(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) == 1;
}

static void on_alarm(int number)
{
	(void)number;
}

/*
 * Send SIGALRM after @ns, or never if @ns is 0. Send it only once, because repeated signals could
 * keep a slow machine busy.
 */
void alarm_once(__u64 ns, int flags)
{
	struct itimerval timer = {
		.it_value.tv_sec = ns / SECOND,
		.it_value.tv_usec = ns % SECOND / US,
	};
	struct sigaction action = {
		.sa_handler = on_alarm,
		.sa_flags = flags,
	};

	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &timer, NULL));
}
