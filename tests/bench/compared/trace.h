/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace that all timers replay, and how it is replayed
 *
 * A trace is a file: this header, then its records, ordered by step. trace.c writes traces, the
 * same ones on every machine.
 *
 * Step 0 is due when the replay begins, and each other step STEP_NS after the step before. STEP_NS
 * is a little more than a millisecond, so that steps and deadlines fall at different places between
 * two ticks of a wheel, and between two jiffies. A short trace does not reach all places, so each
 * replay begins at a multiple of 64 s, to reach the same places. The records of one step are what a
 * server finds when it wakes up:
 *
 *	OPEN	a new connection: start its timer, due after timeout_ms
 *	BEAT	the connection is alive: move the deadline of its timer, which is still
 *		pending, to timeout_ms from now. The new deadline is later than the old one
 *	CLOSE	end of the connection: stop its timer, which is still pending. The last
 *		record of this connection
 *	FULL	all timers are pending: mark "full", see below
 *	END	no timer is pending any longer: mark "end". The last record
 *
 * Connections that fall silent have no CLOSE. Their timers expire, "expiries" of them, and are
 * never started again.
 *
 * A program, or a module, sleeps until a step or a timer is due, in the way of its facility. The
 * steps of a program are one timerfd, which its loop waits for as for a socket. It then reads the
 * clock once, and carries out the records of all steps that are due. Timeouts begin at the
 * time that it read. An operation may wait for the end of its step, for a batch, but not longer.
 *
 * Modes:
 *
 *	empty	everything but the timers: the steps, the clock, the walk through the
 *		records. Its figures are subtracted from the figures of "count"
 *	count	everything with the timers. Prints the number of expiries
 *	late	like count, and measures how late each expiry is: the clock when the program
 *		learns of it, less the deadline. A deadline is the clock at the last OPEN or
 *		BEAT, plus the timeout. Prints how many expiries were early, by how much at most,
 *		and percentiles
 *	busy	like late, but the loop is busy: every BUSY_EVERY_MS, a handler reads the clock
 *		for BUSY_MS, after the records of its step. This is a step even if there are no
 *		records. Steps that become due in this time are late, and are carried out together.
 *		If another thread can collect expiries, the adapter has such a thread
 *
 * The meter (meter.c) measures from "begin" to "end". It counts instructions of program and kernel,
 * in all threads and interrupts, and wake-ups of the process. Memory counts from "begin" to "full".
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
 * struct trace_header - the beginning of a trace
 * @magic: TRACE_MAGIC
 * @connections: number of connections, numbered from 0
 * @records: number of records after the header, FULL and END included
 * @expiries: number of expiries
 * @timeout_ms: timeout of all connections, or 0 if they differ
 * @pending: number of connections at one time
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
 * @step: number of the step, from the beginning
 * @connection: number of the connection
 * @op: operation, of enum trace_op
 * @timeout_ms: timeout of OPEN and BEAT
 */
struct trace_record {
	__u32 step;
	__u32 connection;
	__u32 op;
	__u32 timeout_ms;
};

/* For modules: do what writing @word to the meter's file does. May sleep. */
int meter_mark(const char *word);
/* For modules: return whether the meter measures the longest delays in this run. */
int meter_probes(void);

#endif /* COMPARED_TRACE_H */
