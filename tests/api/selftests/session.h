/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls on /dev/twheel, and checks of their results
 *
 * The tw_*() functions return the result of the ioctl, or -errno. Where the kernel should write its
 * results, they store GARBAGE before the call. The expect_*() functions end the case as failed if
 * their expectation is not met.
 */
#ifndef SESSION_H
#define SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/twheel.h>

#include "user.h"

#define GARBAGE		0xa5
#define GARBAGE64	0xa5a5a5a5a5a5a5a5ULL
#define INTERVAL_MAX	0x7fffffffffffffffULL

/* Time limit for events that should happen at once, longer than any machine takes. */
#define PATIENCE	(120 * SECOND)

/* For values that one thread writes and another one reads without a lock. */
#define READ_ONCE(value)	__atomic_load_n(&(value), __ATOMIC_ACQUIRE)
#define WRITE_ONCE(to, value)	__atomic_store_n(&(to), value, __ATOMIC_RELEASE)

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

void sleep_ns(__u64 ns);
void sleep_until(__u64 deadline_ns);

int session_open(void);
int session_open_nonblock(void);
int tw_ioctl(int fd, unsigned long command, void *argument);
int tw_info(int fd, struct twheel_info *info);
int tw_setup(int fd, struct twheel_setup setup);
int tw_setup_tick(int fd, __u64 tick_ns);
int tw_start(int fd, __u64 id, __u64 expires_ns, __u64 user_data);
int tw_start_flags(int fd, __u64 id, __u64 expires_ns, __u32 flags,
		   __u64 user_data);
int tw_start_periodic(int fd, __u64 id, __u64 expires_ns, __u64 period_ns);
int tw_start_any(int fd, __u64 expires_ns, __u64 user_data, __u64 *id);
int tw_stop(int fd, __u64 id);
int tw_get(int fd, __u64 id, struct twheel_entry *get);
int tw_state(int fd, __u64 id);
int tw_submit(int fd, struct twheel_op *ops, __u32 count);
int tw_list(int fd, struct twheel_entry *entries, __u32 room, __u64 *cursor);
int tw_drain(int fd, struct twheel_entry *entries, __u32 room);
void start_many(int fd, __u64 first, unsigned int count, __u64 due, __u64 apart);
unsigned int drain_all(int fd);
int tw_stats(int fd, struct twheel_stats *stats);
struct twheel_stats stats_of(int fd);
ssize_t tw_read(int fd, struct twheel_event *events, size_t count);
bool kernel_of_32_bits(void);
unsigned int timers_of_a_piece(void);
bool has_words(void);
void need_words(void);
__u64 *map_words(int fd, __u32 ids);
__u64 tick_ns(int fd);

void expect_stats_at(const char *file, int line, int fd, const char *wanted,
		     const struct twheel_stats *want);

/*
 * Compare every counter of the session except @wakeups and @lateness. Counters that are not given
 * must be 0: EXPECT_STATS(fd, .started = 2, .pending = 2).
 */
#define EXPECT_STATS(fd, ...)						\
	expect_stats_at(__FILE__, __LINE__, fd, #__VA_ARGS__,		\
			&(struct twheel_stats){ __VA_ARGS__ })

/* Wait until a counter is @want. */
#define EXPECT_STAT(fd, counter, want)					\
	expect_stat(fd, offsetof(struct twheel_stats, counter), want)

void expect_balance(int fd);
void expect_readable(int fd);
void expect_nothing(int fd, __u64 ns);
void expect_stat(int fd, size_t offset, __u64 want);
void expect_unread(int fd, __u64 count);
void expect_event(int fd, __u64 id, __u64 user_data);
void expect_no_timer(int fd, __u64 id);

int compare_u64(const void *a, const void *b);
bool is_garbage(const void *data, size_t size);
bool is_zero(const void *data, size_t size);
void *partly_usable(const void *data, size_t size, size_t n, int protection);

void send_fd(int socket, int fd);
int receive_fd(int socket);
void pin_cpu(unsigned int cpu);
void keep_order(int fd);
pthread_t thread_run(void *(*fn)(void *data), void *data);
void *thread_join(pthread_t thread);
void expect_asleep(const pid_t *thread);

/**
 * struct blocked - a read of one event in another thread
 * @fd: the session
 * @thread: id of the thread
 * @result: result of the read, 1 or -errno
 * @event: the event
 */
struct blocked {
	int fd;
	pid_t thread;
	ssize_t result;
	struct twheel_event event;
};

pthread_t run_blocked(struct blocked *blocked);
void expect_child(pid_t pid);
void in_child(void (*fn)(void *data), void *data);

/* Offsets of the clocks in the namespace of children_in_time_ns(), in seconds. */
#define TIMENS_MONOTONIC	1000
#define TIMENS_BOOTTIME		5000

void children_in_time_ns(void);
bool time_is_exact(void);
void alarm_once(__u64 ns, int flags);

#endif /* SESSION_H */
