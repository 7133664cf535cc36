/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR MIT */
/*
 * Timers by the million through one file descriptor
 *
 * open("/dev/twheel") is a session: a set of timers that belongs to that open
 * file only. Timers are started and stopped with the ioctls below. Expiries are
 * read from the descriptor as an array of struct twheel_event, in the order in
 * which they happened. The last close stops everything.
 *
 * All times are nanoseconds. Absolute times are on the session's clock, which is
 * CLOCK_MONOTONIC unless SETUP has asked for another one, as the caller sees it,
 * perhaps in a time namespace.
 *
 * All fields are naturally aligned, so that 32- and 64-bit programs share one
 * layout. A structure may grow at its end. Its size is part of the command's
 * number. The kernel takes shorter structures as if the missing fields were 0. It
 * refuses longer ones with E2BIG unless the part that it does not know is 0.
 * Arrays say the size of their entries, a multiple of 8 of at most
 * %TWHEEL_ENTRY_SIZE_MAX, and grow in the same way. A flag that the kernel does
 * not know and a reserved field that is not 0 are refused with EINVAL.
 *
 * SETUP, START, STOP, SUBMIT and DRAIN need a descriptor that is open for
 * writing, read(2) needs one that is open for reading (EBADF).
 */
#ifndef _UAPI_LINUX_TWHEEL_H
#define _UAPI_LINUX_TWHEEL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define TWHEEL_ABI_VERSION	1

/* Maximum of @op_size, @entry_size and @event_size. */
#define TWHEEL_ENTRY_SIZE_MAX	4096

/**
 * DOC: ids
 *
 * A timer is named by a 64-bit id. An id below &twheel_info.max_timers is
 * the caller's own choice, a small integer like a file descriptor: starting
 * it again while it is pending restarts it. With %TWHEEL_ID_ANY the kernel
 * chooses: such an id has %TWHEEL_ID_KERNEL set and carries a generation, so
 * that an id kept for too long never names a newer timer. The two kinds never
 * meet.
 */
#define TWHEEL_ID_ANY		(~(__u64)0)
#define TWHEEL_ID_KERNEL	((__u64)1 << 63)

/**
 * DOC: words
 *
 * A session that was set up with &twheel_setup.shared_ids can be mapped. Its
 * memory is an array of 64-bit words, one for each id of the caller's choice below
 * that number. The program stores deadlines, and the kernel only reads them.
 *
 * When a pending timer comes due the kernel looks at the word of its id. If the
 * word is later than now, the timer is carried on to that time and is due then.
 * %TWHEEL_WORD_STOP stops the timer, without an event. With anything else,
 * %TWHEEL_WORD_NONE among it, the timer expires. So pushing a timeout back is one
 * store and no system call.
 */
#define TWHEEL_WORD_NONE	((__u64)0)
#define TWHEEL_WORD_STOP	(~(__u64)0)

/* Schemes, tick modes, clocks. */
#define TWHEEL_SCHEME_HIER		0	/* hierarchical wheel (scheme 7) */
#define TWHEEL_SCHEME_HASHED		1	/* hashed wheel (scheme 6) */

#define TWHEEL_MODE_PERIODIC		0	/* a tick every tick_ns */
#define TWHEEL_MODE_TICKLESS		1	/* a tick only where one is due */

/* As in clock_gettime(2). */
#define TWHEEL_CLOCK_MONOTONIC		1	/* stands still during a suspend */
#define TWHEEL_CLOCK_BOOTTIME		7	/* goes on */

/* &twheel_info.features */
#define TWHEEL_FEATURE_SETUP		((__u64)1 << 0)
#define TWHEEL_FEATURE_SUBMIT		((__u64)1 << 1)
#define TWHEEL_FEATURE_LIST		((__u64)1 << 2)
#define TWHEEL_FEATURE_DRAIN		((__u64)1 << 3)
#define TWHEEL_FEATURE_STATS		((__u64)1 << 4)
/* %TWHEEL_STOP_WITHDRAW */
#define TWHEEL_FEATURE_WITHDRAW		((__u64)1 << 5)
/* RWF_NOWAIT and io_uring read without a worker thread. */
#define TWHEEL_FEATURE_NOWAIT		((__u64)1 << 6)
/* &twheel_setup.shared_ids and mmap(2). Not where SETUP returns EOPNOTSUPP. */
#define TWHEEL_FEATURE_SHARED		((__u64)1 << 7)
/* &twheel_start.slack_ns */
#define TWHEEL_FEATURE_SLACK		((__u64)1 << 8)
/* &twheel_stats.lateness */
#define TWHEEL_FEATURE_LATENESS		((__u64)1 << 9)
/* &twheel_setup.clock */
#define TWHEEL_FEATURE_CLOCK		((__u64)1 << 10)
/* &twheel_setup.wake_ns */
#define TWHEEL_FEATURE_WAKE		((__u64)1 << 11)
/* Bit 12 is not used again. */
/* %TWHEEL_START_IDLE. Not of a session in the process. */
#define TWHEEL_FEATURE_IDLE		((__u64)1 << 13)
/* Never the module's: this is a session that libtwheel has made in the process. */
#define TWHEEL_FEATURE_PROCESS		((__u64)1 << 63)

/**
 * struct twheel_info - what TWHEEL_IOC_INFO returns
 * @abi_version: %TWHEEL_ABI_VERSION of the module
 * @scheme: scheme of this session's wheel, TWHEEL_SCHEME_*
 * @features: TWHEEL_FEATURE_* of the module
 * @tick_ns: length of a tick of this session's wheel, ns
 * @max_timers: maximum of timers that this session may hold, unread events
 *	included. Ids chosen by the caller are below it
 * @max_interval_ns: longest relative interval and latest absolute time, ns
 * @mode: tick mode of this session's wheel, TWHEEL_MODE_*
 * @slots: slots of a hashed wheel, 0 for a hierarchical one
 * @max_batch: maximum of operations in one TWHEEL_IOC_SUBMIT
 * @event_size: size of the events that read(2) returns to this session
 * @shared_ids: words of this session that mmap(2) maps, 0 if there are none
 * @reserved: 0
 * @clock: clock of this session, TWHEEL_CLOCK_*. 0 from a module without
 *	%TWHEEL_FEATURE_CLOCK
 * @wake_ns: as in &twheel_setup
 * @reserved2: 0
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
	__u32 wake_ns;
	__u64 reserved2;
};

/**
 * struct twheel_setup - what TWHEEL_IOC_SETUP takes
 * @flags: %TWHEEL_SETUP_PRIVATE, or 0 for the default wheel
 * @scheme: TWHEEL_SCHEME_*, with %TWHEEL_SETUP_PRIVATE only
 * @mode: %TWHEEL_MODE_PERIODIC
 * @slots: slots of a hashed wheel, 2 to 2^20, rounded up to a power of two, or
 *	0 for the module's default. 0 for a hierarchical wheel
 * @tick_ns: length of a tick, 50000 (50 us) to 1000000000 (1 s). 0 is the
 *	module's default
 * @max_timers: limit of timers of this session, at most the module's. 0
 *	leaves the module's
 * @event_size: sizeof(struct twheel_event) of the caller: read(2) returns
 *	events of this size, with 0 in what the module does not know. 0 is
 *	%TWHEEL_EVENT_SIZE_V1, for a module of any version
 * @shared_ids: number of words to be mapped, for the ids below it, at most the
 *	limit of timers. 0 for none. Once it is not 0 it does not change. A page
 *	of words takes memory when the program touches it for the first time
 * @clock: TWHEEL_CLOCK_*, with %TWHEEL_SETUP_PRIVATE only. 0 is
 *	%TWHEEL_CLOCK_MONOTONIC
 * @wake_ns: how long an event may wait until readers and pollers are woken for
 *	it. 0 wakes them at the end of its tick
 * @reserved2: 0
 */
struct twheel_setup {
	__u32 flags;
	__u32 scheme;
	__u32 mode;
	__u32 slots;
	__u64 tick_ns;
	__u64 max_timers;
	__u32 event_size;
	__u32 shared_ids;
	__u32 clock;
	__u32 wake_ns;
	__u64 reserved2;
};

#define TWHEEL_SETUP_PRIVATE	((__u32)1 << 0)

/**
 * struct twheel_start - what TWHEEL_IOC_START takes and returns
 * @id: in: the id to start, or %TWHEEL_ID_ANY. Out: the id that was started
 * @expires_ns: interval from now, or with %TWHEEL_START_ABS the deadline on
 *	the session's clock, at most &twheel_info.max_interval_ns. A timer whose
 *	deadline has passed expires at the next tick
 * @period_ns: 0 for a timer that expires once, else the period of the
 *	expiries that follow the first
 * @user_data: returned in the timer's events
 * @flags: TWHEEL_START_*
 * @slack_ns: by how much later than that it may be due. 0 for exact timers. The
 *	kernel takes a round tick in that time, so that timers meet
 * @fd: in its place, with %TWHEEL_START_IDLE only: a descriptor. Such a timer has no
 *	slack
 */
struct twheel_start {
	__u64 id;
	__u64 expires_ns;
	__u64 period_ns;
	__u64 user_data;
	__u32 flags;
	/* private: for C99 with -pedantic */ __extension__ /* public: */
	union {
		__u32 slack_ns;
		__s32 fd;
	};
};

/* @expires_ns is a deadline on the session's clock, not an interval. */
#define TWHEEL_START_ABS	((__u32)1 << 0)
/*
 * If the id has expired and its event has not been read yet, withdraw that
 * event and start anew. Without this flag such a start is refused with
 * EALREADY, so that no expiry is lost by accident.
 */
#define TWHEEL_START_REPLACE	((__u32)1 << 1)
/*
 * @fd is a connected TCP socket, and @expires_ns an idle time, at most
 * %TWHEEL_IDLE_MAX_NS. The timer is due when the socket has received nothing for that
 * long, counted from the start or from the last data, whichever is later. Without a
 * period and %TWHEEL_START_ABS. The timer is stopped when the socket is closed.
 */
#define TWHEEL_START_IDLE	((__u32)1 << 2)
/* Bits 3 to 6 are not used again. */

#define TWHEEL_IDLE_MAX_NS	((__u64)1 << 49)

/**
 * struct twheel_stop - what TWHEEL_IOC_STOP takes
 * @id: the timer to stop
 * @flags: %TWHEEL_STOP_WITHDRAW or 0
 * @reserved: 0
 */
struct twheel_stop {
	__u64 id;
	__u32 flags;
	__u32 reserved;
};

/*
 * If the timer has expired and its event has not been read yet, withdraw that
 * event and return 1. After 0 and after 1 nobody is handed the timer's @user_data
 * any more. Without this flag such a stop is refused with EALREADY, and the
 * event stays.
 */
#define TWHEEL_STOP_WITHDRAW	((__u32)1 << 0)

/**
 * struct twheel_entry - a timer, as GET, LIST and DRAIN return it
 * @id: its id. TWHEEL_IOC_GET takes it in
 * @user_data: as given at the start
 * @deadline_ns: when it is or was due, on the session's clock
 * @remaining_ns: time until the deadline, 0 once it has passed
 * @period_ns: its period, 0 for a timer that does not go on after its expiry
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
#define TWHEEL_STATE_EXPIRED	2	/* has expired, its event is unread */

/**
 * struct twheel_op - one operation of a TWHEEL_IOC_SUBMIT
 * @opcode: TWHEEL_OP_*
 * @flags: TWHEEL_START_* with %TWHEEL_OP_START, TWHEEL_STOP_* with
 *	%TWHEEL_OP_STOP
 * @id: as in &twheel_start.id or &twheel_stop.id. Out: the id started
 * @expires_ns: as in &twheel_start, 0 with %TWHEEL_OP_STOP
 * @period_ns: as in &twheel_start, 0 with %TWHEEL_OP_STOP
 * @user_data: as in &twheel_start, 0 with %TWHEEL_OP_STOP
 * @result: out: what the single ioctl would have returned: 0, 1 or -errno
 * @slack_ns: as in &twheel_start, 0 with %TWHEEL_OP_STOP
 * @fd: in its place, as in &twheel_start
 */
struct twheel_op {
	__u32 opcode;
	__u32 flags;
	__u64 id;
	__u64 expires_ns;
	__u64 period_ns;
	__u64 user_data;
	__s32 result;
	/* private: for C99 with -pedantic */ __extension__ /* public: */
	union {
		__u32 slack_ns;
		__s32 fd;
	};
};

#define TWHEEL_OP_START		1
#define TWHEEL_OP_STOP		2

/**
 * struct twheel_submit - what TWHEEL_IOC_SUBMIT takes and returns
 * @ops: pointer to an array of struct twheel_op
 * @count: operations in it, 1 to &twheel_info.max_batch
 * @op_size: sizeof(struct twheel_op) of the caller
 * @failed: out: how many of the operations that were carried out have a negative
 *	result
 * @flags: 0
 *
 * The command returns how many operations were carried out, as write(2) does. The
 * first one for which there is no memory ends it, and is not among them.
 */
struct twheel_submit {
	__u64 ops;
	__u32 count;
	__u32 op_size;
	__u32 failed;
	__u32 flags;
};

/**
 * struct twheel_list - what TWHEEL_IOC_LIST and TWHEEL_IOC_DRAIN take and return
 * @entries: pointer to an array of struct twheel_entry
 * @cursor: in: 0 to begin, or the value that an earlier call left here. Out:
 *	where to go on
 * @count: room in the array, in entries, at least 1
 * @entry_size: sizeof(struct twheel_entry) of the caller
 * @flags: 0
 * @reserved: 0
 *
 * The commands return how many entries they have written. 0 means that there are
 * no more from @cursor on.
 */
struct twheel_list {
	__u64 entries;
	__u64 cursor;
	__u32 count;
	__u32 entry_size;
	__u32 flags;
	__u32 reserved;
};

/* Entries of &twheel_stats.lateness. */
#define TWHEEL_STATS_LATENESS	16

/**
 * struct twheel_stats - what TWHEEL_IOC_STATS returns of a session
 * @started: timers started (a restart of a pending one is no new start)
 * @restarted: restarts of pending timers
 * @stopped: timers stopped while they were pending, drained ones and those
 *	stopped by a store included
 * @expired: expiries
 * @pending: timers pending now; started + re-armed periods = stopped +
 *	expired + pending
 * @rearmed: periodic timers armed again when their event was read
 * @delivered: events read
 * @replaced: unread events withdrawn by %TWHEEL_START_REPLACE
 * @withdrawn: unread events withdrawn by %TWHEEL_STOP_WITHDRAW
 * @unread: events waiting to be read; expired = delivered + replaced +
 *	withdrawn + unread
 * @overruns: periods that passed without an event of their own
 * @wakeups: wake-ups of readers and pollers
 * @carried: timers that came due and were carried on to their word
 * @stopped_by_store: timers that came due and were stopped by their word
 * @lateness: events read, by the time from their deadline to their expiry. Entry n
 *	counts those with less than 1024 << n ns that no entry before it counts, and
 *	the last entry all others; their sum is @delivered
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
 * struct twheel_event - one expiry, as read(2) returns it
 * @id: the timer's id
 * @user_data: as given at the start
 * @deadline_ns: when it was due, on the session's clock
 * @expired_ns: when it expired, on the same clock, never before @deadline_ns
 * @overruns: periods that passed between this deadline and the read without
 *	an event of their own. 0 for a timer that expires once
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

/* The timer goes on: it was armed for its next period by this read. */
#define TWHEEL_EVENT_PERIODIC	((__u32)1 << 0)

/* sizeof(struct twheel_event) in version 1: the size without SETUP. */
#define TWHEEL_EVENT_SIZE_V1	48

#define TWHEEL_IOC_MAGIC	0xDC

#define TWHEEL_IOC_INFO		_IOWR(TWHEEL_IOC_MAGIC, 0x00, struct twheel_info)
#define TWHEEL_IOC_SETUP	_IOWR(TWHEEL_IOC_MAGIC, 0x01, struct twheel_setup)
#define TWHEEL_IOC_START	_IOWR(TWHEEL_IOC_MAGIC, 0x02, struct twheel_start)
#define TWHEEL_IOC_STOP		_IOWR(TWHEEL_IOC_MAGIC, 0x03, struct twheel_stop)
#define TWHEEL_IOC_GET		_IOWR(TWHEEL_IOC_MAGIC, 0x04, struct twheel_entry)
#define TWHEEL_IOC_SUBMIT	_IOWR(TWHEEL_IOC_MAGIC, 0x05, struct twheel_submit)
#define TWHEEL_IOC_LIST		_IOWR(TWHEEL_IOC_MAGIC, 0x06, struct twheel_list)
#define TWHEEL_IOC_DRAIN	_IOWR(TWHEEL_IOC_MAGIC, 0x07, struct twheel_list)
#define TWHEEL_IOC_STATS	_IOWR(TWHEEL_IOC_MAGIC, 0x08, struct twheel_stats)

#endif /* _UAPI_LINUX_TWHEEL_H */
