/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user benchmark: declarations of its parts
 *
 * An implementation is a way for a program to keep timers: through system calls, or in the
 * process. A run is one implementation with one number of timers, in a process of its own. main.c
 * describes a run.
 *
 * A measurement begins when the arguments are in memory as the call wants them, and ends when its
 * results are in memory. So it includes run(), but not prepare().
 */
#ifndef BENCH_H
#define BENCH_H

#include <err.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../api/selftests/user.h"

/* Number of operations in a sample, and in a call that takes many operations. */
#define SAMPLE		256U
/* Number of timers that expire. All other timers wait, and have lower ids. */
#define EXTRA		4096U

enum operation {
	ARM,
	REFRESH,
	STOP,
	NR_OPERATIONS,
};

/* A request for an operation on one timer. @deadline_ns is about @delay_ns from now. */
struct request {
	uint32_t id;
	uint64_t delay_ns;
	uint64_t deadline_ns;
};

/**
 * struct impl - an implementation
 * @name: its name in the results
 * @batches: flag: measure each operation in large calls, too
 * @large: number of operations of a large call, or 0 if each call takes one
 * @reads: the numbers of expiries that one call may collect, with a 0 at the end
 * @open: make room for this many waiting timers and EXTRA expiring timers
 * @create: create @nr timers from id @first on, or NULL if the first ARM creates a timer
 * @prepare: write the arguments of the request at index @i
 * @run: make the calls for @nr requests, @batch requests in each call
 * @collect: collect at least @nr expiries, at most @batch in each call, and return their number
 * @inside: call @fn in the context in which programs call this implementation, for instance in a
 *	callback, or NULL if the context does not matter
 */
struct impl {
	const char *name;
	bool batches;
	unsigned int large;
	const unsigned int *reads;
	void (*open)(unsigned int timers);
	void (*create)(unsigned int first, unsigned int nr);
	void (*prepare)(enum operation op, unsigned int i, const struct request *r);
	void (*run)(enum operation op, unsigned int nr, unsigned int batch);
	unsigned int (*collect)(unsigned int nr, unsigned int batch);
	void (*inside)(void (*fn)(void *data), void *data);
};

extern const struct impl impl_twheel, impl_twheel_shared, impl_timerfd, impl_process,
	impl_process_shared, impl_libevent;
extern const unsigned int one_and_many[];

static inline unsigned int large_batch(const struct impl *impl)
{
	return impl->large ?: 1;
}

/**
 * struct bench - a run
 * @impl: the implementation
 * @timers: number of waiting timers
 * @order: their ids. Each pick() makes the order more random
 * @quick: take fewer samples
 */
struct bench {
	const struct impl *impl;
	unsigned int timers;
	uint32_t *order;
	bool quick;
};

void *allocate(unsigned int nr, unsigned int size);
uint64_t random64(void);
double median(double *values, unsigned int nr);
void row(const struct bench *b, const char *operation, const char *distribution,
	 unsigned int batch, double value);

/* measure.c */
void measure_operations(struct bench *b);
void measure_lives(struct bench *b);

#endif /* BENCH_H */
