/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The benchmark module: declarations of its parts
 *
 * An implementation is a facility that keeps timers and calls them back:
 *
 *  hier hashed         wheels of twheel.ko, through its interface
 *  timer_list hrtimer  timers of the kernel. timer_list_irqsafe is measured where
 *                      it makes a difference
 *
 * Its operations work on a batch of timers, so that a measurement is a loop of direct calls. The
 * cost of an empty loop is subtracted.
 */
#ifndef _TWHEEL_BENCH_H
#define _TWHEEL_BENCH_H

#include <linux/hrtimer.h>
#include <linux/timer.h>
#include <linux/types.h>

#include <linux/twheel.h>

#define BENCH_BATCH	256
#define BENCH_BATCHES	17
/* Number of intervals drawn in advance, a power of two. */
#define BENCH_DRAWS	65536U
/* Number of slots of the hashed wheels, and the tick of all wheels. */
#define BENCH_SLOTS	65536
#define BENCH_TICK_NS	NSEC_PER_MSEC
/*
 * Number of timers in one allocation, of 32 KiB. kmalloc() finds memory of this size even when
 * memory is fragmented. For a larger one, kvcalloc() could fall back to vmalloc(), which maps small
 * pages, so that timers would miss the TLB more often.
 */
#define BENCH_CHUNK	512U

/* A number of seconds in ns, with 64 bits on every machine. */
#define BENCH_SECONDS(n)	((u64)(n) * NSEC_PER_SEC)

struct bench;

/**
 * struct bench_timer - a timer of any implementation, in a cache line
 * @wheel: timer of a wheel
 * @deadline: deadline of @wheel, which its callback adds to
 * @list: timer of timer_list
 * @hr: timer of hrtimer
 */
struct bench_timer {
	union {
		struct {
			struct twheel_timer wheel;
			u64 deadline;
		};
		struct timer_list list;
		struct hrtimer hr;
	};
} ____cacheline_aligned;

/**
 * struct bench_impl - an implementation
 * @name: its name in the results
 * @wheel: flag: @facility is a wheel of twheel.ko
 * @create: make @facility, or NULL if there is nothing to make
 * @destroy: free @facility when no timer is pending
 * @setup: initialize a timer
 * @absolute: convert a time on CLOCK_MONOTONIC for @start_at and @restart
 * @relative: convert a delay in ns for @start and the callback
 * @start: start each timer of the batch after @when
 * @start_at: start each timer of the batch at @when
 * @restart: give each timer of the batch the deadline @when. All of them are pending
 * @stop: stop each timer of the batch
 */
struct bench_impl {
	const char *name;
	bool wheel;
	int (*create)(struct bench *b);
	void (*destroy)(struct bench *b);
	void (*setup)(struct bench *b, struct bench_timer *timer);
	u64 (*absolute)(u64 ns);
	u64 (*relative)(u64 ns);
	void (*start)(struct bench *b);
	void (*start_at)(struct bench *b);
	void (*restart)(struct bench *b);
	void (*stop)(struct bench *b);
};

/**
 * struct bench_dist - a distribution of intervals
 * @name: its name in the results
 * @mean_ns: mean interval
 * @draw: returns a random interval, less than a minute
 */
struct bench_dist {
	const char *name;
	u64 mean_ns;
	u64 (*draw)(void);
};

/**
 * struct bench - a run: one implementation, distribution and number of timers
 * @impl: the implementation
 * @dist: the distribution
 * @pending: number of timers
 * @chunks: the timers, %BENCH_CHUNK in each
 * @order: the numbers of the timers in random order
 * @facility: private data of the implementation
 * @nr: number of timers in the batch
 * @batch: the batch
 * @when: a time or delay for each timer of the batch
 */
struct bench {
	const struct bench_impl *impl;
	const struct bench_dist *dist;
	u32 pending;
	struct bench_timer **chunks;
	u32 *order;
	void *facility;
	u32 nr;
	struct bench_timer *batch[BENCH_BATCH];
	u64 when[BENCH_BATCH];
};

/**
 * struct bench_expiry - what callbacks do
 * @restart: restart the timer by a delay from the expired deadline
 * @again: use the cheap restart of the implementation, if it has one
 * @expired: number of expiries
 * @delay: delays of restarts, as returned by the implementation's @relative
 */
struct bench_expiry {
	bool restart;
	bool again;
	u32 expired;
	u64 delay[BENCH_DRAWS];
};

extern struct bench_expiry *bench_expiry;

static inline struct bench_timer *bench_timer_at(const struct bench *b, u32 i)
{
	return &b->chunks[i / BENCH_CHUNK][i % BENCH_CHUNK];
}

/* Count an expiry and return the delay of the restart. Called by callbacks. */
static inline u64 bench_next_delay(void)
{
	return bench_expiry->delay[bench_expiry->expired++ & (BENCH_DRAWS - 1)];
}

extern const struct bench_impl bench_hier, bench_hashed, bench_timer_list,
	bench_timer_list_irqsafe, bench_hrtimer;

u32 bench_random_below(u32 end);

void bench_pick(struct bench *b, u32 from, u32 nr);
u32 bench_median(u32 *values, u32 nr);
void bench_fill(struct bench *b);
void bench_empty(struct bench *b);
void bench_row(const struct bench *b, const char *operation, const char *dist, u64 hundredths);

void bench_operations(struct bench *b);
int bench_ticks(struct bench *b);
int bench_worst(struct bench *b);

#endif /* _TWHEEL_BENCH_H */
