/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace that all timers replay, and how it is replayed
 *
 * A trace is a file: this header, then its records, ordered by step. trace.c writes traces, the
 * same ones on every machine.
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
 * A program, or a module, sleeps until a step comes or a timer is due, in the way of its facility.
 * The steps of a program are one timerfd, which its loop waits for as for a socket. For a step it
 * reads the clock once, and carries the records out: all with a step that has come. Timeouts are
 * from then on. An operation may be put off to the end of its step, for a batch, but not longer.
 *
 * Modes:
 *
 *	empty	everything but the timers: the steps, the clock, the walk through the
 *		records. Its figures are subtracted from those of "count"
 *	count	with the timers. Prints how many have expired
 *	late	as count, and for each expiry takes the time by the clock, as soon as the
 *		program knows of it, less the deadline: the clock of its last OPEN or BEAT, and
 *		the timeout. Prints how many were early, by how much at most, and percentiles
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

#include <linux/types.h>

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
 */
struct trace_header {
	__u32 magic;
	__u32 connections;
	__u32 records;
	__u32 expiries;
	__u32 timeout_ms;
	__u32 pending;
};

/**
 * struct trace_record - what happens to one connection
 * @step: when, in steps since the begin
 * @connection: to which
 * @op: what, of enum trace_op
 * @timeout_ms: with OPEN and BEAT
 */
struct trace_record {
	__u32 step;
	__u32 connection;
	__u32 op;
	__u32 timeout_ms;
};

/* For modules: what the meter does with a word that is written to its file. May sleep. */
int meter_mark(const char *word);

#endif /* COMPARED_TRACE_H */
