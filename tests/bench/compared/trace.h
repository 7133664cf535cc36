/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace that all timers replay, and how an adapter replays it
 *
 * A trace is a file: this header, then its records, ordered by step. Numbers are 32 bits,
 * little endian, so that any language reads them. trace.c writes traces, the same ones on every
 * machine.
 *
 * Step 0 comes when the replay begins, and each other step STEP_NS after the one before. STEP_NS
 * is a little more than a millisecond. So steps and deadlines walk through the places between two
 * ticks of wheels and two jiffies of the kernel. A short trace does not come to all of them, so
 * a replay begins at a multiple of 64 s. The records of one step are what a server finds when it
 * wakes up:
 *
 *	OPEN	a connection has come: start its timer, due after timeout_ms
 *	BEAT	it is alive: its timer is due timeout_ms from now on, not before. It
 *		never has expired, and is later than the deadline before
 *	CLOSE	it has gone: stop its timer, which never has expired. The last record
 *		of this connection
 *	FULL	all timers are pending: mark "full", see below
 *	END	all timers have expired or are stopped: mark "end". The last record
 *
 * Connections that fall silent have no CLOSE. Their timers expire, "expiries" of them, and are
 * never started again.
 *
 * An adapter is a program, NAME TRACE MODE:
 *
 *  - It reads the trace into memory, makes what a program makes before its first connection (a
 *    loop, a session, arrays by connection), and writes "begin" to /proc/twheel_meter, which
 *    returns at the next multiple of 64 s of CLOCK_MONOTONIC.
 *  - It sleeps until a step comes, or a timer is due, in the way of its facility. Where a program
 *    waits for sockets, the steps are one timerfd, which the loop waits for as for a socket. It
 *    is set anew at each step, for the next one, on CLOCK_MONOTONIC. A module sleeps.
 *  - For a step it reads the clock once, and carries the records out: all with a step that has
 *    come. Timeouts are from then on. An operation may be put off to the end of its step, for a
 *    batch, but not longer.
 *  - A timer that expires calls a function of the adapter, or its number is read. It counts.
 *  - It writes "full" and "end" when it comes to these records, and then to standard output
 *    lines "NAME VALUE UNIT". It ends with status 1 if something went wrong, after a line for
 *    people on standard error.
 *
 * Modes:
 *
 *	empty	everything but the timers: the steps, the clock, the walk through the
 *		records. Prints nothing. Its figures are subtracted from those of "count"
 *	count	with the timers. Prints "expired N timers"
 *	late	as count, and for each expiry takes the time by the clock, as soon as the
 *		program knows of it, less the deadline: the clock of its last OPEN or BEAT, and
 *		the timeout. Prints "expired N timers", "early N timers" (those before their
 *		deadline), "earliest N ns" (by how much, at most), "p50 N ns", "p99 N ns",
 *		"worst N ns".
 *	busy	as late, while the loop is busy: whenever BUSY_EVERY_MS have passed since the
 *		begin, a handler of the loop computes for BUSY_MS, in a loop that reads the
 *		clock, after the records of its step. This is a step, too, also where there
 *		are no records. Steps are late then, and are carried out together. Where
 *		the facility lets another thread take expiries, the adapter has one
 *
 * The meter (meter.c) measures from "begin" to "end". It counts instructions of program and kernel,
 * in all threads and interrupts, and wake-ups of the process. Memory is from "begin" to "full".
 * Runs with a probe have the longest time with interrupts off, and the longest time in which a
 * program of the highest priority did not run. A module does the same by meter_mark().
 */
#ifndef COMPARED_TRACE_H
#define COMPARED_TRACE_H

#ifdef __KERNEL__
#include <linux/types.h>
typedef u32 trace_u32;
#else
#include <stdint.h>
typedef uint32_t trace_u32;
#endif

#define TRACE_MAGIC	0x43525754	/* "TWRC" */

#define STEP_NS		1001000

#define BUSY_EVERY_MS	100
#define BUSY_MS		20

enum trace_op {
	TRACE_OPEN	= 0,
	TRACE_BEAT	= 1,
	TRACE_CLOSE	= 2,
	TRACE_FULL	= 3,
	TRACE_END	= 4,
};

/**
 * struct trace_header - what a trace begins with
 * @magic: TRACE_MAGIC
 * @connections: in all; they are numbered from 0
 * @records: how many follow, FULL and END included
 * @expiries: how many timers expire
 * @timeout_ms: the timeout of all connections, or 0 if they differ
 * @pending: how many there are at one time
 * @zero: 0
 */
struct trace_header {
	trace_u32 magic;
	trace_u32 connections;
	trace_u32 records;
	trace_u32 expiries;
	trace_u32 timeout_ms;
	trace_u32 pending;
	trace_u32 zero[2];
};

/**
 * struct trace_record - what happens to one connection
 * @step: when, in steps since the begin
 * @connection: to which
 * @op: what, of enum trace_op
 * @timeout_ms: with OPEN and BEAT
 */
struct trace_record {
	trace_u32 step;
	trace_u32 connection;
	trace_u32 op;
	trace_u32 timeout_ms;
};

#endif /* COMPARED_TRACE_H */
