/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libtwheel: timers by the million through one file descriptor
 *
 * A struct twheel is a session of /dev/twheel, or the same session in the
 * process where there is no /dev/twheel. Its structures and flags come from
 * <linux/twheel.h>, which user-api.rst describes.
 *
 * All times are nanoseconds. A "deadline" is a time on the session's clock, which is
 * CLOCK_MONOTONIC unless its setup has another one. A "delay" begins now. Functions
 * return 0 or more, or a negative errno, and leave errno alone.
 *
 * Threads may use a session together. A batch belongs to one thread at a time.
 *
 * Most programs need: twheel_open(), twheel_fd(), twheel_start(), twheel_stop(),
 * twheel_read(), twheel_close(). A session with words has twheel_refresh() too.
 */
#ifndef TWHEEL_H
#define TWHEEL_H

#include <stddef.h>
#include <time.h>
#include <linux/twheel.h>

#ifdef __cplusplus
extern "C" {
/* A structure and a function may share a name, as stat(2) and its structure do. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/*
 * Inline functions are also in the library, under the same names, for languages
 * that cannot include it. There this is empty, and a structure is as long as in
 * version 1: a caller that passes no size may have that version's structures.
 */
#ifndef TWHEEL_INLINE
#define TWHEEL_INLINE		static inline
#define TWHEEL_SIZE(name)	sizeof(struct twheel_##name)
#endif

/* A command that says how long the structure of its caller is. */
#define TWHEEL_SIZED(command, name) \
	_IOC(_IOC_READ | _IOC_WRITE, TWHEEL_IOC_MAGIC, _IOC_NR(command), TWHEEL_SIZE(name))

/**
 * struct twheel - a session
 * @fd: its descriptor, see twheel_fd()
 * @shared_ids: how many ids have a word
 * @words: their words, or NULL
 * @clock: the clock of its deadlines, for clock_gettime(2)
 *
 * Made by the library alone, and longer than its visible part here. For the
 * inline functions; a program only reads it.
 */
struct twheel {
	int fd;
	__u32 shared_ids;
	__u64 *words;
	int clock;
};

/* Operations that wait to be submitted together. */
struct twheel_batch;

/*
 * The functions under the inline ones, which pass on the sizes of the program's
 * structures. So does a binding for another language: its structures are of its
 * own version.
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
 * @setup: a wheel of its own, a limit, @shared_ids: see struct twheel_setup. Its
 *	@event_size is ignored. NULL for a session with the defaults
 *
 * The descriptor is non-blocking, and closed by execve(2).
 *
 * If there is no /dev/twheel, or it may not be opened, then the session is one
 * in the process. TWHEEL_BACKEND in the environment is "kernel" or "process"
 * for only one of them.
 *
 * Return: 0, or a negative errno of open(2) or of TWHEEL_IOC_SETUP. -EINVAL if
 * TWHEEL_BACKEND is something else
 */
TWHEEL_INLINE int twheel_open(struct twheel **t, const struct twheel_setup *setup)
{
	return twheel_open_sized(t, setup, setup ? TWHEEL_SIZE(setup) : 0,
				 TWHEEL_SIZE(event));
}

/* Flags of twheel_open_flags(). The session is one of /dev/twheel, or it fails. */
#define TWHEEL_OPEN_KERNEL	(1U << 0)
/* The session is one in the process, also where there is a /dev/twheel. */
#define TWHEEL_OPEN_PROCESS	(1U << 1)
/* One thread at a time uses the session: one in the process then takes no lock. */
#define TWHEEL_OPEN_ONE_THREAD	(1U << 2)

/**
 * twheel_open_flags() - open a session, here or there
 * @t: as for twheel_open()
 * @setup: as for twheel_open()
 * @flags: TWHEEL_OPEN_*
 *
 * Return: as twheel_open(). -EINVAL also for flags that do not go together
 */
TWHEEL_INLINE int twheel_open_flags(struct twheel **t, const struct twheel_setup *setup,
				    unsigned int flags)
{
	return twheel_open_flags_sized(t, setup, setup ? TWHEEL_SIZE(setup) : 0,
				       TWHEEL_SIZE(event), flags);
}

/* What twheel_backend() returns. */
#define TWHEEL_BACKEND_KERNEL	1
#define TWHEEL_BACKEND_PROCESS	2

/**
 * twheel_backend() - where a session is
 * @t: the session
 *
 * Return: TWHEEL_BACKEND_KERNEL for one of /dev/twheel, TWHEEL_BACKEND_PROCESS for
 * one in the process
 */
int twheel_backend(const struct twheel *t);

/**
 * twheel_attach() - use a session that is open already
 * @t: out: the session
 * @fd: its descriptor, open for reading and writing. twheel_close() closes it
 *
 * For a descriptor that came over a socket, and for a child: words are not mapped
 * there after fork(2). If the descriptor blocks then so does twheel_read().
 *
 * Return: 0, or a negative errno. -ENOTTY: no session. -EINVAL: its events have
 * another size than the program's. The caller keeps @fd then
 */
TWHEEL_INLINE int twheel_attach(struct twheel **t, int fd)
{
	return twheel_attach_sized(t, fd, TWHEEL_SIZE(event));
}

/**
 * twheel_close() - close a session
 * @t: the session, or NULL. Its timers are stopped if nobody else has it open
 */
void twheel_close(struct twheel *t);

/**
 * twheel_fd() - the descriptor, for poll(2), epoll(7), io_uring
 * @t: the session
 *
 * Return: the descriptor. It is readable when events are unread
 */
TWHEEL_INLINE int twheel_fd(const struct twheel *t)
{
	return t->fd;
}

/* With strict ISO C, <time.h> hides clock_gettime(2). The library has the functions, too. */
#ifdef CLOCK_MONOTONIC
/**
 * twheel_now() - the clock that deadlines are on, unless &twheel_setup.clock is set
 *
 * Return: CLOCK_MONOTONIC
 */
TWHEEL_INLINE __u64 twheel_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec;
}

/**
 * twheel_now_of() - the clock that the deadlines of a session are on
 * @t: the session
 *
 * Return: CLOCK_MONOTONIC, or the clock that &twheel_setup.clock asked for
 */
TWHEEL_INLINE __u64 twheel_now_of(const struct twheel *t)
{
	struct timespec ts;

	clock_gettime(t->clock, &ts);
	return (__u64)ts.tv_sec * 1000000000 + (__u64)ts.tv_nsec;
}
#else
__u64 twheel_now(void);
__u64 twheel_now_of(const struct twheel *t);
#endif

/**
 * twheel_start() - start a timer, or restart it
 * @t: the session
 * @id: an id of the caller's choice, or one that twheel_start_any() returned
 * @delay_ns: how long it takes from now
 * @user_data: comes back with its event
 *
 * If the id has a word, the deadline is stored there first.
 *
 * Return: 0 if it was started, 1 if it was pending and is restarted. -EALREADY:
 * it has expired, and its event is unread. Other negative errnos as of
 * TWHEEL_IOC_START. Then nothing has changed
 */
int twheel_start(struct twheel *t, __u64 id, __u64 delay_ns, __u64 user_data);

/**
 * twheel_start_at() - start a timer, or restart it, with a deadline
 * @t: the session
 * @id: as for twheel_start()
 * @deadline_ns: when it is due. One that has passed is due at the next tick
 * @user_data: as for twheel_start()
 *
 * Return: as twheel_start()
 */
int twheel_start_at(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 user_data);

/**
 * twheel_start_periodic() - start a timer that goes on
 * @t: the session
 * @id: as for twheel_start()
 * @delay_ns: how long the first expiry takes from now
 * @period_ns: the time between the expiries after that
 * @user_data: as for twheel_start()
 *
 * It is armed again when its event is read.
 *
 * Return: as twheel_start()
 */
int twheel_start_periodic(struct twheel *t, __u64 id, __u64 delay_ns,
			  __u64 period_ns, __u64 user_data);

/**
 * twheel_start_any() - start a new timer, whose id the kernel chooses
 * @t: the session
 * @id: out: its id
 * @delay_ns: as for twheel_start()
 * @user_data: as for twheel_start()
 *
 * Return: 0, or a negative errno as twheel_start()
 */
int twheel_start_any(struct twheel *t, __u64 *id, __u64 delay_ns, __u64 user_data);

/**
 * twheel_start_flags() - start a timer, with all that TWHEEL_IOC_START knows
 * @t: the session
 * @id: in: the id, or TWHEEL_ID_ANY. Out: the id that was started
 * @expires_ns: delay, or with TWHEEL_START_ABS the deadline
 * @period_ns: 0, or the period
 * @user_data: as for twheel_start()
 * @flags: TWHEEL_START_*
 *
 * Return: as twheel_start()
 */
int twheel_start_flags(struct twheel *t, __u64 *id, __u64 expires_ns,
		       __u64 period_ns, __u64 user_data, __u32 flags);

/**
 * twheel_start_slack() - start a timer that may be due later
 * @t: the session
 * @id: as for twheel_start_flags()
 * @expires_ns: as for twheel_start_flags()
 * @period_ns: as for twheel_start_flags(). Only the first expiry has slack, and the
 *	others are a period apart
 * @user_data: as for twheel_start()
 * @flags: as for twheel_start_flags()
 * @slack_ns: the timer may be due by so much later
 *
 * For timers that need not be exact. Of the ticks in that time the wheel takes a round
 * one, so that timers meet, and the reader wakes up less often. A refresh keeps the
 * slack, unless it comes after the expiry: twheel_read() starts an exact timer then.
 *
 * Return: as twheel_start_flags(). -EINVAL: a module that does not know slack
 */
int twheel_start_slack(struct twheel *t, __u64 *id, __u64 expires_ns, __u64 period_ns,
		       __u64 user_data, __u32 flags, __u32 slack_ns);

/**
 * twheel_start_idle() - start a timer that is due when a TCP socket has been silent
 * @t: the session
 * @id: as for twheel_start_flags()
 * @fd: a connected TCP socket
 * @idle_ns: how long it may receive nothing, at most %TWHEEL_IDLE_MAX_NS
 * @user_data: as for twheel_start()
 * @flags: %TWHEEL_START_REPLACE or 0
 *
 * The time counts from the start or from the last data, whichever is later. The program
 * does nothing for it, and must not refresh it. The timer is stopped when the socket is
 * closed.
 *
 * Return: as twheel_start_flags(). -EBADF, -ENOTSOCK, -ENOTCONN: that is no connection.
 * -EOPNOTSUPP: not one of TCP, or a session in the process
 */
static inline int twheel_start_idle(struct twheel *t, __u64 *id, int fd, __u64 idle_ns,
				    __u64 user_data, __u32 flags)
{
	return twheel_start_slack(t, id, idle_ns, 0, user_data, flags | TWHEEL_START_IDLE,
				  (__u32)fd);
}

/**
 * twheel_restart() - start a timer, whatever its state is
 * @t: the session
 * @id: as for twheel_start()
 * @delay_ns: as for twheel_start()
 * @user_data: as for twheel_start()
 *
 * Where twheel_start() says -EALREADY the unread event is withdrawn first.
 *
 * Return: 0 if it was started, 1 if it was pending and is restarted. Negative errnos
 * as of TWHEEL_IOC_START. Then nothing has changed
 */
int twheel_restart(struct twheel *t, __u64 id, __u64 delay_ns, __u64 user_data);

/**
 * twheel_push() - move the deadline of a timer, back or forward
 * @t: the session
 * @id: the id of a timer that runs, or whose event is unread
 * @deadline_ns: its new deadline, earlier or later, less than 2^63
 * @user_data: as for twheel_start(). A timer that is pushed back by a store keeps
 *	what it has
 *
 * If the id has a word, and @deadline_ns is not before it, this is twheel_refresh(): a
 * store. Else the timer is started again. So the deadline that the kernel knows is never
 * after the word, but for the slack of a timer that has some. Two threads must not push
 * one id at the same time.
 *
 * A timer that was stopped, or whose event was read, is one for twheel_restart(): its
 * word is still there, and a store into it starts nothing. So is a periodic timer, whose
 * word stays behind.
 *
 * Return: 0, or a negative errno as twheel_restart()
 */
int twheel_push(struct twheel *t, __u64 id, __u64 deadline_ns, __u64 user_data);

/**
 * twheel_stop() - stop a timer
 * @t: the session
 * @id: its id
 *
 * Return: 0 if it was pending: there will be no event. -EALREADY: it has
 * expired. -ENOENT: no such timer. Other negative errnos as of TWHEEL_IOC_STOP
 */
int twheel_stop(struct twheel *t, __u64 id);

/**
 * twheel_withdraw() - stop a timer, and withdraw its event if that is unread
 * @t: the session
 * @id: its id
 *
 * Return: 0 if it was pending, 1 if its event is withdrawn: nobody is handed its
 * user_data any more. -ENOENT: no such timer, or its event was read
 */
int twheel_withdraw(struct twheel *t, __u64 id);

/**
 * twheel_refresh() - push a timer back by a store
 * @t: a session that was opened with &twheel_setup.shared_ids
 * @id: an id below that number: this is not checked
 * @deadline_ns: its new deadline, later than its present one, less than 2^63
 *
 * No system call. If the timer has expired meanwhile, twheel_read() starts it again.
 * If it is not running at all then nothing happens. twheel_push() takes an earlier
 * deadline, too.
 */
TWHEEL_INLINE void twheel_refresh(struct twheel *t, __u64 id, __u64 deadline_ns)
{
	__atomic_store_n(&t->words[id], deadline_ns, __ATOMIC_RELAXED);
}

/**
 * twheel_stop_by_store() - stop a timer by a store
 * @t: as for twheel_refresh()
 * @id: as for twheel_refresh()
 *
 * No system call. There will be no event. The kernel keeps the timer until it would
 * have been due. The id can be started again at once.
 */
TWHEEL_INLINE void twheel_stop_by_store(struct twheel *t, __u64 id)
{
	__atomic_store_n(&t->words[id], TWHEEL_WORD_STOP, __ATOMIC_RELAXED);
}

/**
 * twheel_word() - the word that was stored last
 * @t: as for twheel_refresh()
 * @id: as for twheel_refresh()
 *
 * Return: the deadline, TWHEEL_WORD_STOP, or TWHEEL_WORD_NONE
 */
TWHEEL_INLINE __u64 twheel_word(const struct twheel *t, __u64 id)
{
	return __atomic_load_n(&t->words[id], __ATOMIC_RELAXED);
}

/**
 * twheel_read() - take the next events
 * @t: the session
 * @events: out: the events, in the order in which the timers expired
 * @count: room for events, at least 1
 *
 * Left out are events of timers that twheel_stop_by_store() stopped, and events
 * after which twheel_refresh() stored a later deadline: such a timer is started
 * again with that. The event of a periodic timer is left out only for a stop.
 *
 * Return: number of events, 0 if there are none, or a negative errno
 */
int twheel_read(struct twheel *t, struct twheel_event *events, unsigned int count);

/**
 * twheel_wait() - wait for events, and take them
 * @t: the session
 * @events: as for twheel_read()
 * @count: as for twheel_read()
 * @timeout_ns: how long to wait at most, or negative: without end
 *
 * Return: number of events, 0 if there were none in that time, or a negative errno.
 * -EINTR: a signal came
 */
int twheel_wait(struct twheel *t, struct twheel_event *events, unsigned int count,
		__s64 timeout_ns);

/**
 * twheel_get() - look at a timer
 * @t: the session
 * @id: its id
 * @entry: out: what the kernel knows of it, which is not its word
 *
 * Return: 0, or a negative errno. -ENOENT: neither pending nor its event unread
 */
TWHEEL_INLINE int twheel_get(struct twheel *t, __u64 id, struct twheel_entry *entry)
{
	__builtin_memset(entry, 0, TWHEEL_SIZE(entry));
	entry->id = id;
	return twheel_command(t, TWHEEL_SIZED(TWHEEL_IOC_GET, entry), entry);
}

TWHEEL_INLINE int twheel_walk(struct twheel *t, unsigned long command,
			      struct twheel_entry *entries, unsigned int count,
			      __u64 *cursor)
{
	struct twheel_list list;
	int ret;

	__builtin_memset(&list, 0, sizeof(list));
	list.entries = (__u64)(unsigned long)entries;
	list.cursor = *cursor;
	list.count = count;
	list.entry_size = TWHEEL_SIZE(entry);
	ret = twheel_command(t, command, &list);
	if (ret >= 0)
		*cursor = list.cursor;
	return ret;
}

/**
 * twheel_list() - the timers of a session, some at a time
 * @t: the session
 * @entries: out: pending timers, and those whose event is unread
 * @count: room for entries, at least 1
 * @cursor: 0 at first, then what the last call left there
 *
 * Return: number of entries, 0 if there are no more, or a negative errno
 */
TWHEEL_INLINE int twheel_list(struct twheel *t, struct twheel_entry *entries,
			      unsigned int count, __u64 *cursor)
{
	return twheel_walk(t, TWHEEL_IOC_LIST, entries, count, cursor);
}

/**
 * twheel_drain() - stop all timers of a session, some at a time
 * @t: the session
 * @entries: out: the timers that were pending, and are stopped now
 * @count: as for twheel_list()
 * @cursor: as for twheel_list()
 *
 * Return: number of entries, 0 if there are no more, or a negative errno
 */
TWHEEL_INLINE int twheel_drain(struct twheel *t, struct twheel_entry *entries,
			       unsigned int count, __u64 *cursor)
{
	return twheel_walk(t, TWHEEL_IOC_DRAIN, entries, count, cursor);
}

/**
 * twheel_info() - what the module can do, and the wheel and limits of a session
 * @t: the session
 * @info: out
 *
 * Return: 0, or a negative errno
 */
TWHEEL_INLINE int twheel_info(const struct twheel *t, struct twheel_info *info)
{
	__builtin_memset(info, 0, TWHEEL_SIZE(info));
	return twheel_command(t, TWHEEL_SIZED(TWHEEL_IOC_INFO, info), info);
}

/**
 * twheel_stats() - the counters of a session
 * @t: the session
 * @stats: out
 *
 * Return: 0, or a negative errno
 */
TWHEEL_INLINE int twheel_stats(const struct twheel *t, struct twheel_stats *stats)
{
	__builtin_memset(stats, 0, TWHEEL_SIZE(stats));
	return twheel_command(t, TWHEEL_SIZED(TWHEEL_IOC_STATS, stats), stats);
}

/**
 * twheel_batch_new() - make a batch
 * @t: the session
 * @size: how many operations are submitted together, 1 to &twheel_info.max_batch
 * @batch: out: the batch, which is empty
 *
 * An operation that is added waits until there are @size of them, or until
 * twheel_batch_flush(). Then all are carried out in order, by one system call. The
 * results can be looked at until the next operation is added.
 *
 * Return: 0, or -EINVAL, -ENOMEM
 */
int twheel_batch_new(struct twheel *t, unsigned int size, struct twheel_batch **batch);

/**
 * twheel_batch_free() - free a batch
 * @batch: the batch, or NULL. Operations that wait in it are forgotten
 */
void twheel_batch_free(struct twheel_batch *batch);

/**
 * twheel_batch_start() - add what twheel_start() does
 * @batch: the batch
 * @id: as for twheel_start()
 * @delay_ns: how long it takes from the submission on
 * @user_data: as for twheel_start()
 *
 * Return: 0 if it waits. If it has filled the batch, what twheel_batch_flush()
 * returns
 */
int twheel_batch_start(struct twheel_batch *batch, __u64 id, __u64 delay_ns,
		       __u64 user_data);

/**
 * twheel_batch_start_at() - add what twheel_start_at() does
 * @batch: the batch
 * @id: as for twheel_start()
 * @deadline_ns: as for twheel_start_at()
 * @user_data: as for twheel_start()
 *
 * Return: as twheel_batch_start()
 */
int twheel_batch_start_at(struct twheel_batch *batch, __u64 id, __u64 deadline_ns,
			  __u64 user_data);

/**
 * twheel_batch_start_flags() - add what twheel_start_flags() does
 * @batch: the batch
 * @id: the id, or TWHEEL_ID_ANY: then twheel_batch_op() has the id
 * @expires_ns: as for twheel_start_flags()
 * @period_ns: as for twheel_start_flags()
 * @user_data: as for twheel_start()
 * @flags: as for twheel_start_flags()
 *
 * Return: as twheel_batch_start()
 */
int twheel_batch_start_flags(struct twheel_batch *batch, __u64 id, __u64 expires_ns,
			     __u64 period_ns, __u64 user_data, __u32 flags);

/**
 * twheel_batch_start_slack() - add what twheel_start_slack() does
 * @batch: the batch
 * @id: as for twheel_batch_start_flags()
 * @expires_ns: as for twheel_start_flags()
 * @period_ns: as for twheel_start_slack()
 * @user_data: as for twheel_start()
 * @flags: as for twheel_start_flags()
 * @slack_ns: as for twheel_start_slack()
 *
 * Return: as twheel_batch_start()
 */
int twheel_batch_start_slack(struct twheel_batch *batch, __u64 id, __u64 expires_ns,
			     __u64 period_ns, __u64 user_data, __u32 flags,
			     __u32 slack_ns);

/**
 * twheel_batch_stop() - add what twheel_stop() does
 * @batch: the batch
 * @id: the timer's id
 *
 * Return: as twheel_batch_start()
 */
int twheel_batch_stop(struct twheel_batch *batch, __u64 id);

/**
 * twheel_batch_withdraw() - add what twheel_withdraw() does
 * @batch: the batch
 * @id: the timer's id
 *
 * Return: as twheel_batch_start()
 */
int twheel_batch_withdraw(struct twheel_batch *batch, __u64 id);

/**
 * twheel_batch_flush() - submit what waits in a batch
 * @batch: the batch
 *
 * Return: how many operations were carried out, 0 if none waited. A negative errno
 * if they could not be submitted: each that was not carried out then has it as its
 * result
 */
int twheel_batch_flush(struct twheel_batch *batch);

/**
 * twheel_batch_failed() - how many operations of the last submission failed
 * @batch: the batch
 *
 * Return: how many have a negative result
 */
unsigned int twheel_batch_failed(const struct twheel_batch *batch);

/**
 * twheel_batch_op() - an operation, and after the submission its result
 * @batch: the batch
 * @index: which one, in the order in which they were added, from 0
 *
 * The library made the operation, and may be older than the program. A program must not
 * look at a field that came after version 1.
 *
 * Return: the operation: its @result is what the function of its own would have
 * returned, its @id the id that was started. NULL if there are not so many
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
