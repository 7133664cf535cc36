/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR MIT */
/*
 * Timers by the million through one file descriptor
 *
 * open("/dev/twheel") creates a session: a set of timers that belongs to the
 * open file. Start and stop timers with the ioctls below. Read expiries from
 * the descriptor as an array of struct twheel_event, in the order in which they
 * happened. The last close stops all timers.
 *
 * All times are in nanoseconds. Absolute times use the session's clock, as the
 * caller's time namespace shows it.
 *
 * A structure may grow at its end, so its size is part of the command number, and
 * arrays are passed with the size of their entries. Reserved fields, and flags without
 * a name here, are 0.
 */
#ifndef _UAPI_LINUX_TWHEEL_H
#define _UAPI_LINUX_TWHEEL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define TWHEEL_ABI_VERSION	1

/*
 * Sizes of array entries: each is the only value of @op_size, @entry_size or
 * @event_size.
 */
#define TWHEEL_OP_SIZE_V1	48
#define TWHEEL_ENTRY_SIZE_V1	48
#define TWHEEL_EVENT_SIZE_V1	48

/*
 * For %TWHEEL_ID_ANY the kernel chooses an id, with %TWHEEL_ID_KERNEL set.
 * Callers choose ids without that bit.
 */
#define TWHEEL_ID_ANY		(~(__u64)0)
#define TWHEEL_ID_KERNEL	((__u64)1 << 63)

/* Values of a word that are no deadlines: see &twheel_setup.shared_ids. */
#define TWHEEL_WORD_NONE	((__u64)0)	/* nothing stored yet */
#define TWHEEL_WORD_STOP	(~(__u64)0)	/* stop when due, without an event */

#define TWHEEL_SCHEME_HIER		0	/* hierarchical wheel (scheme 7) */
#define TWHEEL_SCHEME_HASHED		1	/* hashed wheel (scheme 6) */

#define TWHEEL_MODE_PERIODIC		0	/* fires every tick_ns */
#define TWHEEL_MODE_TICKLESS		1	/* fires only where needed */

/* Same values as in clock_gettime(2). */
#define TWHEEL_CLOCK_MONOTONIC		1	/* stops during suspend */
#define TWHEEL_CLOCK_BOOTTIME		7	/* continues */

/*
 * Bits of &twheel_info.features, for what only some sessions can do. Bits 0 to
 * 5 and 8 to 13 stay unused, because they had meanings before version 1.0.0.
 */
#define TWHEEL_FEATURE_NOWAIT	((__u64)1 << 6)	/* RWF_NOWAIT, io_uring without a worker */
#define TWHEEL_FEATURE_SHARED	((__u64)1 << 7)	/* &twheel_setup.shared_ids, mmap(2) */
#define TWHEEL_FEATURE_PROCESS	((__u64)1 << 63)	/* a session in the process */

/**
 * struct twheel_info - result of TWHEEL_IOC_INFO
 * @abi_version: %TWHEEL_ABI_VERSION of the module
 * @scheme: scheme of this session's wheel, TWHEEL_SCHEME_*
 * @features: TWHEEL_FEATURE_* of the module
 * @tick_ns: length of a tick of this session's wheel, ns
 * @max_timers: limit of the number of timers and unread events together. The
 *	ids that callers choose are below it
 * @max_interval_ns: longest interval and latest absolute time, ns
 * @mode: tick mode of this session's wheel, TWHEEL_MODE_*
 * @slots: number of slots of a hashed wheel, 0 for a hierarchical one
 * @max_batch: limit of operations in one TWHEEL_IOC_SUBMIT
 * @event_size: size of the events returned by read(2)
 * @shared_ids: number of words to map with mmap(2), 0 for none
 * @reserved: 0
 * @clock: clock of this session, TWHEEL_CLOCK_*
 * @reserved2: 0
 * @reserved3: 0
 */
struct twheel_info {
	__u32 abi_version;
	__u32 scheme;
	__u64 features;
	__u64 tick_ns;
	__u64 max_timers;
	__u64 max_interval_ns;
	__u32 mode;
	__u32 slots;
	__u32 max_batch;
	__u32 event_size;
	__u32 shared_ids;
	__u32 reserved;
	__u32 clock;
	__u32 reserved2;
	__u64 reserved3;
};

/**
 * struct twheel_setup - argument of TWHEEL_IOC_SETUP
 * @flags: %TWHEEL_SETUP_PRIVATE, or 0 for the default wheel
 * @reserved: 0
 * @tick_ns: length of a tick, 50000 (50 us) to 1000000000 (1 s). 0: tick of the
 *	default wheel
 * @max_timers: limit of timers of this session. 0: limit of the module
 * @event_size: %TWHEEL_EVENT_SIZE_V1 or 0
 * @shared_ids: number of words of 64 bits to map with mmap(2), one for each id
 *	below @shared_ids. A store into the word of an id gives the timer with
 *	this id a later deadline, or stops it, without a call. 0: no words
 * @clock: TWHEEL_CLOCK_*. 0: %TWHEEL_CLOCK_MONOTONIC
 * @reserved2: 0
 * @reserved3: 0
 *
 * Only %TWHEEL_SETUP_PRIVATE allows a @tick_ns or @clock other than 0.
 */
struct twheel_setup {
	__u32 flags;
	__u32 reserved[3];
	__u64 tick_ns;
	__u64 max_timers;
	__u32 event_size;
	__u32 shared_ids;
	__u32 clock;
	__u32 reserved2;
	__u64 reserved3;
};

#define TWHEEL_SETUP_PRIVATE	((__u32)1 << 0)

/**
 * struct twheel_start - argument and result of TWHEEL_IOC_START
 * @id: id to start, or %TWHEEL_ID_ANY. Out: the id that was started
 * @expires_ns: interval from now, or with %TWHEEL_START_ABS the deadline
 * @period_ns: period after the first expiry, 0 for a timer that expires once
 * @user_data: value returned in the timer's events
 * @flags: %TWHEEL_START_ABS or 0
 * @reserved: 0
 *
 * Returns 0 if the id was free, 1 if its timer was pending and is restarted, 2
 * if its timer had expired and the unread event is withdrawn. After 1 and 2 the
 * old @user_data is never returned again.
 */
struct twheel_start {
	__u64 id;
	__u64 expires_ns;
	__u64 period_ns;
	__u64 user_data;
	__u32 flags;
	__u32 reserved;
};

#define TWHEEL_START_ABS	((__u32)1 << 0)	/* @expires_ns is a deadline */

/**
 * struct twheel_stop - argument of TWHEEL_IOC_STOP
 * @id: timer to stop
 * @flags: 0
 * @reserved: 0
 *
 * Returns 0 if the timer was pending, 1 if it had expired and its unread event
 * is withdrawn. In both cases its @user_data is never returned again. Fails
 * with ENOENT if there is no timer @id.
 */
struct twheel_stop {
	__u64 id;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct twheel_entry - one timer, from GET and LIST
 * @id: id of the timer. In: id for TWHEEL_IOC_GET
 * @user_data: value given at the start
 * @deadline_ns: deadline, on the session's clock
 * @remaining_ns: time until the deadline, 0 after it
 * @period_ns: period, 0 for a timer that ends when it expires
 * @state: TWHEEL_STATE_*
 * @reserved: 0
 */
struct twheel_entry {
	__u64 id;
	__u64 user_data;
	__u64 deadline_ns;
	__u64 remaining_ns;
	__u64 period_ns;
	__u32 state;
	__u32 reserved;
};

#define TWHEEL_STATE_PENDING	1	/* will expire */
#define TWHEEL_STATE_EXPIRED	2	/* expired, event unread */

/**
 * struct twheel_op - one operation of TWHEEL_IOC_SUBMIT
 * @opcode: TWHEEL_OP_*
 * @flags: see &twheel_start, or 0 with %TWHEEL_OP_STOP
 * @id: id to start or stop. Out: the id that was started
 * @expires_ns: see &twheel_start, or 0 with %TWHEEL_OP_STOP
 * @period_ns: see &twheel_start, or 0 with %TWHEEL_OP_STOP
 * @user_data: see &twheel_start, or 0 with %TWHEEL_OP_STOP
 * @result: out: what the ioctl for one timer returns: 0, 1, 2 or -errno
 * @reserved: 0
 */
struct twheel_op {
	__u32 opcode;
	__u32 flags;
	__u64 id;
	__u64 expires_ns;
	__u64 period_ns;
	__u64 user_data;
	__s32 result;
	__u32 reserved;
};

#define TWHEEL_OP_START		1
#define TWHEEL_OP_STOP		2

/**
 * struct twheel_submit - argument and result of TWHEEL_IOC_SUBMIT
 * @ops: pointer to an array of struct twheel_op
 * @count: number of operations in the array, 1 to &twheel_info.max_batch
 * @op_size: %TWHEEL_OP_SIZE_V1
 * @failed: out: number of operations carried out with a negative result
 * @flags: 0
 *
 * Returns the number of operations carried out, as write(2) does.
 */
struct twheel_submit {
	__u64 ops;
	__u32 count;
	__u32 op_size;
	__u32 failed;
	__u32 flags;
};

/**
 * struct twheel_list - argument and result of TWHEEL_IOC_LIST
 * @entries: pointer to an array of struct twheel_entry
 * @cursor: 0 to begin. Out: value for the next call
 * @count: number of entries in the array, at least 1
 * @entry_size: %TWHEEL_ENTRY_SIZE_V1
 * @flags: %TWHEEL_LIST_DRAIN or 0
 * @reserved: 0
 *
 * Returns the number of entries written, 0 if there are none from @cursor on.
 */
struct twheel_list {
	__u64 entries;
	__u64 cursor;
	__u32 count;
	__u32 entry_size;
	__u32 flags;
	__u32 reserved;
};

/* Stop the pending timers that are returned, and withdraw the unread events. */
#define TWHEEL_LIST_DRAIN	((__u32)1 << 0)

#define TWHEEL_STATS_LATENESS	16	/* entries of &twheel_stats.lateness */

/**
 * struct twheel_stats - counters of a session, from TWHEEL_IOC_STATS
 * @started: timers started, without restarts of pending timers
 * @restarted: restarts of pending timers
 * @stopped: pending timers stopped, also by a drain or by their word
 * @expired: expiries
 * @pending: timers pending now
 * @rearmed: timers that read(2) started again, for a period or for a later word
 * @delivered: events read
 * @replaced: unread events withdrawn by a start, or by read(2) for a later word
 * @withdrawn: unread events withdrawn by a stop, a drain, or by read(2) for a word that stops
 * @unread: events waiting to be read
 * @overruns: periods that ended without an event of their own, see
 *	&twheel_event
 * @wakeups: wake-ups of readers and pollers
 * @carried: number of times that a due timer was requeued for the later
 *	deadline in its word, also by read(2)
 * @stopped_by_store: timers stopped by their word, when due or when their event is read
 * @lateness: histogram of the events read, by the time from deadline to expiry.
 *	Entry n counts times below 1024 << n ns that no earlier entry counts,
 *	and the last entry counts all longer times
 *
 * started + rearmed = stopped + expired + pending,
 * expired = delivered + replaced + withdrawn + unread
 */
struct twheel_stats {
	__u64 started;
	__u64 restarted;
	__u64 stopped;
	__u64 expired;
	__u64 pending;
	__u64 rearmed;
	__u64 delivered;
	__u64 replaced;
	__u64 withdrawn;
	__u64 unread;
	__u64 overruns;
	__u64 wakeups;
	__u64 carried;
	__u64 stopped_by_store;
	__u64 lateness[TWHEEL_STATS_LATENESS];
};

/**
 * struct twheel_event - one expiry, from read(2)
 * @id: id of the timer
 * @user_data: value given at the start
 * @deadline_ns: deadline, on the session's clock
 * @expired_ns: time of the expiry, on the same clock, never before @deadline_ns
 * @overruns: number of periods that ended between the deadline and the read,
 *	and have no event of their own
 * @flags: TWHEEL_EVENT_*
 * @reserved: 0
 */
struct twheel_event {
	__u64 id;
	__u64 user_data;
	__u64 deadline_ns;
	__u64 expired_ns;
	__u64 overruns;
	__u32 flags;
	__u32 reserved;
};

#define TWHEEL_EVENT_PERIODIC	((__u32)1 << 0)	/* read() armed the next period */

#define TWHEEL_IOC_MAGIC	0xDC

#define TWHEEL_IOC_INFO		_IOWR(TWHEEL_IOC_MAGIC, 0x00, struct twheel_info)
#define TWHEEL_IOC_SETUP	_IOWR(TWHEEL_IOC_MAGIC, 0x01, struct twheel_setup)
#define TWHEEL_IOC_START	_IOWR(TWHEEL_IOC_MAGIC, 0x02, struct twheel_start)
#define TWHEEL_IOC_STOP		_IOWR(TWHEEL_IOC_MAGIC, 0x03, struct twheel_stop)
#define TWHEEL_IOC_GET		_IOWR(TWHEEL_IOC_MAGIC, 0x04, struct twheel_entry)
#define TWHEEL_IOC_SUBMIT	_IOWR(TWHEEL_IOC_MAGIC, 0x05, struct twheel_submit)
#define TWHEEL_IOC_LIST		_IOWR(TWHEEL_IOC_MAGIC, 0x06, struct twheel_list)
#define TWHEEL_IOC_STATS	_IOWR(TWHEEL_IOC_MAGIC, 0x08, struct twheel_stats)

#endif /* _UAPI_LINUX_TWHEEL_H */
