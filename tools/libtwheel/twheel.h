/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libtwheel: timers by the million through one file descriptor
 *
 * A struct twheel is a session of /dev/twheel. Without /dev/twheel it is the same session
 * in the process. <linux/twheel.h> has its structures and flags, and user-api.rst
 * describes them.
 *
 * All times are in nanoseconds. A "deadline" is a time on the session's clock,
 * CLOCK_MONOTONIC unless its setup chose another one. A "delay" is relative to now.
 * Functions return 0 or more, or a negative errno, and do not change errno.
 *
 * Threads may share a session. A batch belongs to one thread at a time.
 *
 * A signal handler may call twheel_now(), twheel_now_of(), twheel_fd(), twheel_refresh(),
 * twheel_stop_by_store() and twheel_word(). With a session of /dev/twheel it may call all
 * functions, except the functions of batches and the functions that open or close a
 * session.
 *
 * Most programs need: twheel_open(), twheel_fd(), twheel_start(), twheel_stop(),
 * twheel_read(), twheel_close(), and with words twheel_refresh().
 */
#ifndef TWHEEL_H
#define TWHEEL_H

#include <stddef.h>
#include <time.h>
#include <linux/twheel.h>

#ifdef __cplusplus
extern "C" {
/* A structure and a function may share a name, like stat(2) and struct stat. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/*
 * The library also exports the inline functions, under the same names, for languages that
 * cannot use a header. There TWHEEL_INLINE is empty. A caller without a size may have
 * structures of version 1, so the library assumes the sizes of version 1.
 */
#ifndef TWHEEL_INLINE
#define TWHEEL_INLINE		static inline
#define TWHEEL_SIZE(name)	sizeof(struct twheel_##name)
#endif

/* Command with the size of the caller's structure. */
#define TWHEEL_SIZED(command, name) \
	_IOC(_IOC_READ | _IOC_WRITE, TWHEEL_IOC_MAGIC, _IOC_NR(command), TWHEEL_SIZE(name))

/**
 * struct twheel - a session
 * @fd: descriptor, see twheel_fd()
 * @shared_ids: number of ids with a word
 * @words: words of these ids, or NULL
 * @clock: clock of its deadlines, for clock_gettime(2)
 *
 * Allocated by the library only, and longer than this visible part. Programs must not
 * write it. The fields are for the inline functions.
 */
struct twheel {
	int fd;
	__u32 shared_ids;
	__u64 *words;
	int clock;
};

/* Operations to submit together. */
struct twheel_batch;

/*
 * Implementation of inline functions. The caller passes the sizes of its structures,
 * which depend on its version. Bindings for other languages should call these.
 */
int twheel_command(const struct twheel *t, unsigned long command, void *argument);
int twheel_open_sized(struct twheel **t, const struct twheel_setup *setup,
		      size_t setup_size, size_t event_size);
int twheel_open_flags_sized(struct twheel **t, const struct twheel_setup *setup,
			    size_t setup_size, size_t event_size, unsigned int flags);
int twheel_attach_sized(struct twheel **t, int fd, size_t event_size);

/**
 * twheel_open() - open a session
 * @t: out: the session
 * @setup: settings such as a private wheel, a limit or @shared_ids, or NULL for the
 *	defaults: see struct twheel_setup. @event_size is ignored
 *
 * The descriptor is non-blocking and close-on-exec.
 *
 * If /dev/twheel does not exist or cannot be opened, the session runs in the process. Set
 * TWHEEL_BACKEND in the environment to "kernel" or "process" to force one backend.
 *
 * Return: 0, or a negative errno of open(2) or of TWHEEL_IOC_SETUP. -EINVAL if
 * TWHEEL_BACKEND has another value
 */
TWHEEL_INLINE int twheel_open(struct twheel **t, const struct twheel_setup *setup)
{
	return twheel_open_sized(t, setup, setup ? TWHEEL_SIZE(setup) : 0,
				 TWHEEL_SIZE(event));
}

/* Flag of twheel_open_flags(): use /dev/twheel, or fail. */
#define TWHEEL_OPEN_KERNEL	(1U << 0)
/* Flag of twheel_open_flags(): run the session in the process, even if there is a /dev/twheel. */
#define TWHEEL_OPEN_PROCESS	(1U << 1)

/**
 * twheel_open_flags() - open a session with a chosen backend
 * @t: see twheel_open()
 * @setup: see twheel_open()
 * @flags: TWHEEL_OPEN_*
 *
 * Return: see twheel_open(). -EINVAL also for contradictory flags
 */
TWHEEL_INLINE int twheel_open_flags(struct twheel **t, const struct twheel_setup *setup,
				    unsigned int flags)
{
	return twheel_open_flags_sized(t, setup, setup ? TWHEEL_SIZE(setup) : 0,
				       TWHEEL_SIZE(event), flags);
}

/* Results of twheel_backend(): the session is one of /dev/twheel, or in the process. */
#define TWHEEL_BACKEND_KERNEL	1
#define TWHEEL_BACKEND_PROCESS	2

int twheel_backend(const struct twheel *t);

/**
 * twheel_attach() - use a session that is already open
 * @t: out: the session
 * @fd: descriptor of the session, open for reading and writing. twheel_close() closes it
 *
 * For a descriptor received over a socket, or inherited by a child: fork(2) does not copy
 * mapped words. If the descriptor blocks then so does twheel_read().
 *
 * Return: 0, or a negative errno. -ENOTTY: @fd is not a session. -EINVAL: its events have
 * another size than the program's. After an error @fd remains open
 */
TWHEEL_INLINE int twheel_attach(struct twheel **t, int fd)
{
	return twheel_attach_sized(t, fd, TWHEEL_SIZE(event));
}

/* Close a session or NULL. Its timers are stopped unless another process has it open. */
void twheel_close(struct twheel *t);

/* Returns the descriptor, for poll(2) and the like. It is readable while events are unread. */
TWHEEL_INLINE int twheel_fd(const struct twheel *t)
{
	return t->fd;
}

/* With strict ISO C, <time.h> hides clock_gettime(2). Then call the functions in the library. */
#ifdef CLOCK_MONOTONIC
/* Returns the time of the clock of a session's deadlines. NULL: CLOCK_MONOTONIC. */
TWHEEL_INLINE __u64 twheel_now_of(const struct twheel *t)
{
	struct timespec ts;

	clock_gettime(t ? t->clock : CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec;
}

/* Returns the time of CLOCK_MONOTONIC, the clock of deadlines unless a setup has another. */
TWHEEL_INLINE __u64 twheel_now(void)
{
	return twheel_now_of(NULL);
}
#else
__u64 twheel_now(void);
__u64 twheel_now_of(const struct twheel *t);
#endif

/**
 * twheel_round_deadline() - return a deadline that other timers are likely to share
 * @deadline_ns: earliest acceptable deadline
 * @slack_ns: acceptable delay
 * @tick_ns: &twheel_info.tick_ns of the session
 *
 * For timers that need not be exact, and for words. From @deadline_ns to @deadline_ns +
 * @slack_ns, chooses the tick whose number has the most trailing zero bits. Other timers
 * with slack are likely to get the same tick, and the reader wakes up less often.
 *
 * Return: the deadline, on a tick. @deadline_ns itself if there is no tick in that time
 */
TWHEEL_INLINE __u64 twheel_round_deadline(__u64 deadline_ns, __u64 slack_ns, __u64 tick_ns)
{
	__u64 from = (deadline_ns + tick_ns - 1) / tick_ns, to = ~(__u64)0 >> 1;
	int differs;

	if (deadline_ns > to)
		return deadline_ns;
	if (slack_ns < to - deadline_ns)
		to = deadline_ns + slack_ns;
	/* @from: first tick from the deadline on. @to: last acceptable tick. */
	to /= tick_ns;
	if (from > to)
		return deadline_ns;
	/* Clear all bits of @to below the highest bit where it differs from @from - 1. */
	differs = 63 - __builtin_clzll((from - 1) ^ to);
	return (to >> differs << differs) * tick_ns;
}

/**
 * twheel_start() - start or restart a timer
 * @t: the session
 * @id: id of the caller's choice, or from twheel_start_any()
 * @delay_ns: delay from now
 * @user_data: value to return with its event
 *
 * If the id has a word, its word is set to the deadline first, and a start that fails sets
 * it back. Two threads must not start one such id at the same time.
 *
 * Return: 0 if the id was free, 1 if its timer was pending and has moved, 2 if the timer
 * had expired and its unread event is withdrawn. After 1 and 2 the old user_data is never
 * returned again. Negative errnos as for TWHEEL_IOC_START: nothing changed
 */
int twheel_start(struct twheel *t, __u64 id, __u64 delay_ns, __u64 user_data);

/* Start or restart a timer with a deadline. One in the past is due at the next tick. */
int twheel_start_at(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 user_data);

/**
 * twheel_start_flags() - start a timer, with all options
 * @t: the session
 * @id: id to start, or TWHEEL_ID_ANY. Out: the id that was started
 * @expires_ns: delay, or with %TWHEEL_START_ABS the deadline
 * @period_ns: 0, or the time between later expiries. Reading an event arms the timer for
 *	the next one
 * @user_data: see twheel_start()
 * @flags: %TWHEEL_START_ABS or 0
 *
 * Return: see twheel_start()
 */
int twheel_start_flags(struct twheel *t, __u64 *id, __u64 expires_ns,
		       __u64 period_ns, __u64 user_data, __u32 flags);

TWHEEL_INLINE int twheel_start_periodic(struct twheel *t, __u64 id, __u64 delay_ns,
					__u64 period_ns, __u64 user_data)
{
	return twheel_start_flags(t, &id, delay_ns, period_ns, user_data, 0);
}

/* Start a new timer, with an id chosen by the kernel. */
TWHEEL_INLINE int twheel_start_any(struct twheel *t, __u64 *id, __u64 delay_ns,
				   __u64 user_data)
{
	__u64 any = TWHEEL_ID_ANY;
	int ret = twheel_start_flags(t, &any, delay_ns, 0, user_data, 0);

	if (!ret)
		*id = any;
	return ret;
}

/**
 * twheel_push() - move the deadline of a timer, in either direction
 * @t: the session
 * @id: id of a pending timer, or of one with an unread event
 * @deadline_ns: new deadline, earlier or later, less than 2^63
 * @user_data: see twheel_start(). Ignored if a store refreshes the timer
 *
 * If the id has a word, and @deadline_ns is not earlier, this is twheel_refresh(): one
 * store. Otherwise it starts the timer again. So the deadline known to the kernel is
 * never later than the word. Two threads must not push one id at the same time.
 *
 * After a stop, or after reading the event, use twheel_start(): the word of such an id
 * still exists, but storing to it starts nothing. Also use it for periodic timers, whose
 * words are not updated.
 *
 * Return: 0, or a negative errno, see twheel_start()
 */
int twheel_push(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 user_data);

/**
 * twheel_stop() - stop a timer
 * @t: the session
 * @id: id of the timer
 *
 * Return: 0 if the timer was pending, 1 if it had expired and its unread event is
 * withdrawn. After either its user_data is never returned again. -ENOENT: no such timer,
 * or its event was read. Other negative errnos as for TWHEEL_IOC_STOP
 */
int twheel_stop(struct twheel *t, __u64 id);

/**
 * twheel_refresh() - move the deadline of a timer to a later time, with one store
 * @t: a session with &twheel_setup.shared_ids
 * @id: a timer with a word. Not checked
 * @deadline_ns: new deadline, later than the current one, less than 2^63
 *
 * Takes no system call. If the timer expired in the meantime, twheel_read() starts it
 * again. Does nothing to a timer that is not started. For an earlier deadline use
 * twheel_push().
 */
TWHEEL_INLINE void twheel_refresh(struct twheel *t, __u64 id, __u64 deadline_ns)
{
	__atomic_store_n(&t->words[id], deadline_ns, __ATOMIC_RELAXED);
}

/*
 * Stop a timer with one store. There will be no event, but the kernel keeps the timer until
 * its deadline. The id can be started again at once.
 */
TWHEEL_INLINE void twheel_stop_by_store(struct twheel *t, __u64 id)
{
	__atomic_store_n(&t->words[id], TWHEEL_WORD_STOP, __ATOMIC_RELAXED);
}

/* Returns the word that was stored last: a deadline, TWHEEL_WORD_STOP, TWHEEL_WORD_NONE. */
TWHEEL_INLINE __u64 twheel_word(const struct twheel *t, __u64 id)
{
	return __atomic_load_n(&t->words[id], __ATOMIC_RELAXED);
}

/**
 * twheel_read() - read events
 * @t: the session
 * @events: out: events, in the order in which the timers expired
 * @count: size of @events, at least 1
 *
 * Does not return events of timers that twheel_stop_by_store() stopped. If twheel_refresh()
 * stored a later deadline after the expiry, the session starts the timer again with that
 * deadline, and returns no event, unless the timer is periodic.
 *
 * Return: number of events, 0 if there are none, or a negative errno
 */
int twheel_read(struct twheel *t, struct twheel_event *events, unsigned int count);

/**
 * twheel_wait() - wait for events, and read them
 * @t: the session
 * @events: see twheel_read()
 * @count: see twheel_read()
 * @timeout_ns: longest time to wait. Negative: no limit
 *
 * No event is lost if the thread is cancelled in this call. In twheel_read() events may be.
 *
 * Return: number of events, 0 after a timeout, or a negative errno. -EINTR: interrupted
 * by a signal. For a session in the process also an errno of timerfd_settime(2)
 */
int twheel_wait(struct twheel *t, struct twheel_event *events, unsigned int count,
		__s64 timeout_ns);

/**
 * twheel_get() - query a timer
 * @t: the session
 * @id: id of the timer
 * @entry: out: state in the kernel, without the timer's word
 *
 * Return: 0, or a negative errno. -ENOENT: neither pending nor with an unread event
 */
TWHEEL_INLINE int twheel_get(struct twheel *t, __u64 id, struct twheel_entry *entry)
{
	__builtin_memset(entry, 0, TWHEEL_SIZE(entry));
	entry->id = id;
	return twheel_command(t, TWHEEL_SIZED(TWHEEL_IOC_GET, entry), entry);
}

/* Implementation of twheel_list() and twheel_drain(). @flags: TWHEEL_LIST_* */
TWHEEL_INLINE int twheel_walk(struct twheel *t, __u32 flags, struct twheel_entry *entries,
			      unsigned int count, __u64 *cursor)
{
	struct twheel_list list;
	int ret;

	__builtin_memset(&list, 0, sizeof(list));
	list.entries = (__u64)(unsigned long)entries;
	list.cursor = *cursor;
	list.count = count;
	list.entry_size = TWHEEL_SIZE(entry);
	list.flags = flags;
	ret = twheel_command(t, TWHEEL_IOC_LIST, &list);
	if (ret >= 0)
		*cursor = list.cursor;
	return ret;
}

/**
 * twheel_list() - list the timers of a session, a few at a time
 * @t: the session
 * @entries: out: timers that are pending, or whose event is unread
 * @count: size of @entries, at least 1
 * @cursor: 0 at first, then the value from the last call
 *
 * Return: number of entries, 0 at the end, or a negative errno
 */
TWHEEL_INLINE int twheel_list(struct twheel *t, struct twheel_entry *entries,
			      unsigned int count, __u64 *cursor)
{
	return twheel_walk(t, 0, entries, count, cursor);
}

/*
 * List timers, and end the listed ones: pending timers are stopped, and unread events
 * withdrawn. At the end of the list the session is empty.
 */
TWHEEL_INLINE int twheel_drain(struct twheel *t, struct twheel_entry *entries,
			       unsigned int count, __u64 *cursor)
{
	return twheel_walk(t, TWHEEL_LIST_DRAIN, entries, count, cursor);
}

/* Query the features of the host, and wheel and limits of a session. */
TWHEEL_INLINE int twheel_info(const struct twheel *t, struct twheel_info *info)
{
	__builtin_memset(info, 0, TWHEEL_SIZE(info));
	return twheel_command(t, TWHEEL_SIZED(TWHEEL_IOC_INFO, info), info);
}

/* Query the counters of a session. */
TWHEEL_INLINE int twheel_stats(const struct twheel *t, struct twheel_stats *stats)
{
	__builtin_memset(stats, 0, TWHEEL_SIZE(stats));
	return twheel_command(t, TWHEEL_SIZED(TWHEEL_IOC_STATS, stats), stats);
}

/**
 * twheel_batch_new() - create a batch
 * @t: the session
 * @size: number of operations to submit together, 1 to &twheel_info.max_batch
 * @batch: out: an empty batch
 *
 * Operations wait in the batch until there are @size of them, or until
 * twheel_batch_flush(). One system call carries them out, in order. Results are available
 * until the next operation is added.
 *
 * Return: 0, or -EINVAL, -ENOMEM
 */
int twheel_batch_new(struct twheel *t, unsigned int size, struct twheel_batch **batch);

/* Free a batch or NULL. Operations waiting in it are dropped. */
void twheel_batch_free(struct twheel_batch *batch);

/**
 * twheel_batch_start_flags() - add a twheel_start_flags()
 * @batch: the batch
 * @id: id to start, or TWHEEL_ID_ANY: then twheel_batch_op() returns the id
 * @expires_ns: see twheel_start_flags(). A delay begins with the submission
 * @period_ns: see twheel_start_flags()
 * @user_data: see twheel_start()
 * @flags: see twheel_start_flags()
 *
 * Return: 0 if the operation waits. If it filled the batch, see twheel_batch_flush()
 */
int twheel_batch_start_flags(struct twheel_batch *batch, __u64 id, __u64 expires_ns,
			     __u64 period_ns, __u64 user_data, __u32 flags);

TWHEEL_INLINE int twheel_batch_start(struct twheel_batch *batch, __u64 id, __u64 delay_ns,
				     __u64 user_data)
{
	return twheel_batch_start_flags(batch, id, delay_ns, 0, user_data, 0);
}

TWHEEL_INLINE int twheel_batch_start_at(struct twheel_batch *batch, __u64 id,
					__u64 deadline_ns, __u64 user_data)
{
	return twheel_batch_start_flags(batch, id, deadline_ns, 0, user_data,
					TWHEEL_START_ABS);
}

/* Add a twheel_stop(). Returns the same as twheel_batch_start_flags(). */
int twheel_batch_stop(struct twheel_batch *batch, __u64 id);

/**
 * twheel_batch_flush() - submit the operations of a batch
 * @batch: the batch
 *
 * Return: number of operations carried out, 0 if there were none. If some could not be
 * submitted, a negative errno, which is also the result of each of these operations
 */
int twheel_batch_flush(struct twheel_batch *batch);

/* Returns the number of operations of the last submission with a negative result. */
unsigned int twheel_batch_failed(const struct twheel_batch *batch);

/**
 * twheel_batch_op() - return an operation and, after the submission, its result
 * @batch: the batch
 * @index: number of the operation, in the order in which they were added, from 0
 *
 * The library made the operation, and may be older than the program. A program must not
 * read fields that were added after version 1.
 *
 * Return: the operation: @result is the return value of the single function, @id the id
 * that was started. NULL if @index is too large
 */
const struct twheel_op *twheel_batch_op(const struct twheel_batch *batch,
					unsigned int index);

#undef TWHEEL_SIZED
#undef TWHEEL_SIZE
#undef TWHEEL_INLINE

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif /* TWHEEL_H */
