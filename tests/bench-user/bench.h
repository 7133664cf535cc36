/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench.h - the user benchmark: what its parts share
 *
 * An implementation is a way for a program to keep timers: through system
 * calls, or in the process. A run is one implementation with one number of
 * timers, in a process of its own; main.c says what a run consists of.
 *
 * What is measured begins when the arguments lie in memory as the call wants
 * them, and ends when its results lie in memory: prepare() and run().
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#define MS		1000000ULL
#define SECOND		1000000000ULL

/* Operations in a sample, unless a batch is larger. */
#define SAMPLE		256U
#define BATCH_MAX	4096U
/* Timers that expire, beside those that wait; their ids come after those. */
#define EXTRA		4096U

enum operation {
	CREATE,
	ARM,
	REFRESH,
	STOP,
	NR_OPERATIONS,
};

/* What is to be done with one timer. */
struct request {
	uint32_t id;
	uint64_t delay_ns;
};

/**
 * struct impl - an implementation
 * @name: as in the results
 * @batches: how many operations one call can take, ends with 0; NULL is 1
 * @reads: how many expiries one call can collect, ends with 0
 * @in_process: there are no calls: CREATE, ARM, REFRESH and STOP stay in the
 *	process
 * @created_armed: there is no creating: the first ARM does it
 * @open: make room for this many timers and EXTRA more, which will expire
 * @create: create @nr timers from id @first on; returns how many there are
 * @prepare: lay out the arguments of @nr requests, which go in calls of @batch
 * @run: carry them out
 * @collect: collect what has expired, @batch to a call, until there have been
 *	@nr; returns how many
 * @inside: call @fn where programs make these calls; NULL: anywhere
 *
 * The last error is left in errno by create().
 */
struct impl {
	const char *name;
	const unsigned int *batches;
	const unsigned int *reads;
	bool in_process;
	bool created_armed;
	void (*open)(unsigned int timers);
	unsigned int (*create)(unsigned int first, unsigned int nr);
	void (*prepare)(enum operation op, const struct request *requests,
			unsigned int nr, unsigned int batch);
	void (*run)(enum operation op, unsigned int nr, unsigned int batch);
	unsigned int (*collect)(unsigned int nr, unsigned int batch);
	void (*inside)(void (*fn)(void *data), void *data);
};

extern const struct impl impl_twheel, impl_timerfd, impl_posix, impl_uring,
	impl_libevent, impl_libuv;
extern const unsigned int all_batches[], one_by_one[];
extern const char * const operation_names[NR_OPERATIONS];

/**
 * struct bench - a run
 * @impl: the implementation
 * @mode: icount or wall
 * @timers: number of timers
 * @order: their ids, more random with every pick()
 * @quick: less samples
 */
struct bench {
	const struct impl *impl;
	const char *mode;
	unsigned int timers;
	uint32_t *order;
	bool quick;
};

void fail(const char *what) __attribute__((noreturn));
void *allocate(unsigned int nr, unsigned int size);
uint64_t now_ns(void);
uint64_t random64(void);
double median(double *values, unsigned int nr);
void row(const struct bench *b, const char *operation, const char *distribution,
	 unsigned int batch, const char *unit, double value);

/* operations.c */
bool fill(struct bench *b);
void measure_operations(struct bench *b);
void pick(struct bench *b, struct request *requests, unsigned int nr,
	  uint64_t from_ns, uint64_t range_ns);

/* expire.c, syscalls.c, limits.c */
void measure_expiry(struct bench *b);
void count_syscalls(struct bench *b);
void find_limit(struct bench *b);

#endif /* BENCH_H */
