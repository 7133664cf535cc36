// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of the schemes on real hardware
 *
 * The unmodified sources of the schemes are compiled into a user program, with
 * the headers in tests/wheel/shims/native. A guest under TCG counts instructions
 * but hides the caches, which matter here. There is one thread, no lock, and no
 * clock except for measuring.
 *
 * For each implementation, number of timers and distribution of intervals:
 *
 *  start stop refresh restart
 *	A pass does the operation on all timers in a random order, which differs
 *	from pass to pass. The figure is ns per operation in the fastest
 *	pass. The clock does not advance. A refresh is a restart to a later tick,
 *	and the first operation on a timer since its start. A restart is to an
 *	earlier tick.
 *  expire_restart
 *	All timers are started, then the clock moves through RUN_TICKS ticks one
 *	by one. Each timer that expires is started again at once. The figure is
 *	the time of all ticks divided by the number of expiries, in the fastest
 *	run. It is the cost from one expiry to the next, with empty ticks and
 *	moves.
 *  tick_empty
 *	All timers are due later. The figure is ns per tick, over IDLE_TICKS
 *	ticks.
 *
 * With the distribution "one" all intervals have one length. The timers of
 * expire_restart are then started tick by tick over one length, like
 * timeouts of connections at different times.
 *
 * The implementations take turns, run by run, so that other load on the machine
 * slows all of them alike. The program checks that every timer expires at its
 * tick and at no other tick. Prints rows of build/bench/kernel.csv; see
 * tests/bench/run.
 *
 * usage: native [-n TIMERS] [-i IMPLEMENTATIONS]
 *		 [-d DISTRIBUTIONS] [-o OPERATIONS] [-r RUNS]; lists have commas
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kernel.h>

#include "../api/selftests/user.h"
#include "../wheel/schemes/schemes.h"

#define RUN_TICKS	60000U
#define IDLE_TICKS	60000U
#define ONE_LENGTH	30000U
#define DRAWS		1048576U
#define EVERYTHING	1000000000
#define LARGE_PAGE	(1UL << 21)
/* Distance in ticks of the three ranges of measure_operations(). */
#define RANGE		1048576U

/* A timer, with the size of struct twheel_timer. */
struct object {
	struct twheel_node node;
	void *pad[2];
};

/* An implementation: a scheme, its slots, and the largest number of timers worth measuring. */
struct impl {
	const struct twheel_test_scheme_ops *ops;
	u32 slots;
	u32 top;
};

/* A distribution of intervals. @one: all intervals have the same length. */
struct distribution {
	const char *name;
	u32 (*draw)(void);
	bool one;
};

enum {
	OP_start, OP_stop, OP_refresh, OP_restart,
	OP_expire_restart, OP_tick_empty,
	NR_OPS,
};

/* Names of the operations, in the order of the enum. */
static const char * const op_names[NR_OPS] = {
	"start", "stop", "refresh", "restart",
	"expire_restart", "tick_empty",
};

static const struct impl impls[] = {
	{ &twheel_test_hier, 0, U32_MAX },
	{ &twheel_test_hashed, 65536, U32_MAX },
	{ &twheel_test_hashed_sorted, 65536, 1000000 },
	{ &twheel_test_heap, 0, U32_MAX },
	{ &twheel_test_plain, 131072, U32_MAX },
};

/* The result of an implementation: the least time of each operation in all runs. */
struct result {
	double ns[NR_OPS];
};

/* The measurements of one implementation, distribution and number of timers. */
struct run {
	const struct impl *impl;
	const struct distribution *dist;
	struct twheel_test_scheme *scheme;
	struct result *result;
	u32 nr;
	struct object *objects;
	struct twheel_node **order;
	u32 *interval;
};

static u64 seed;
static int runs = 5;
static const char *only;

static void die(const char *what)
{
	fprintf(stderr, "native: %s\n", what);
	exit(1);
}

/*
 * Allocate large pages, because the kernel maps its own memory with large pages. With small
 * pages, each timer that misses the cache would also miss in the page tables.
 */
static void *alloc(size_t nr, size_t size)
{
	size_t bytes = (nr * size + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
	void *mem = aligned_alloc(LARGE_PAGE, bytes);

	if (!mem)
		die("out of memory");
	madvise(mem, bytes, MADV_HUGEPAGE);
	return memset(mem, 0, bytes);
}

static void random_seed(void)
{
	seed = 88172645463325252ULL;
}

static u32 random_below(u32 end)
{
	return (xorshift(&seed) >> 32) * end >> 32;
}

static u32 draw_uniform(void)
{
	return 1 + random_below(60000);
}

static u32 draw_one(void)
{
	return ONE_LENGTH;
}

static const struct distribution distributions[] = {
	{ "uniform", draw_uniform, false },
	{ "one", draw_one, true },
};

/* Returns the CPU time of this thread, without the time of other threads. */
static u64 now(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void shuffle(struct run *r)
{
	u32 i, j;

	for (i = r->nr - 1; i; i--) {
		j = random_below(i + 1);
		swap(r->order[i], r->order[j]);
	}
}

static void setup(struct run *r, const struct distribution *dist, u32 nr)
{
	u32 i;

	r->dist = dist;
	r->nr = nr;
	r->objects = alloc(nr, sizeof(*r->objects));
	r->order = alloc(nr, sizeof(*r->order));
	r->interval = alloc(DRAWS, sizeof(*r->interval));
	random_seed();
	for (i = 0; i < nr; i++) {
		r->objects[i].node.link.next = NULL;
		r->order[i] = &r->objects[i].node;
	}
	for (i = 0; i < DRAWS; i++)
		r->interval[i] = dist->draw();
}

static void choose(struct run *r, const struct impl *impl,
		   struct result *result)
{
	r->impl = impl;
	r->result = result;
}

static void cleanup(struct run *r)
{
	free(r->objects);
	free(r->order);
	free(r->interval);
}

static void fresh(struct run *r)
{
	r->scheme = r->impl->ops->create(0, r->impl->slots, r->nr);
	if (!r->scheme)
		die("out of memory");
}

static void lower(struct run *r, int op, double value)
{
	double *least = &r->result->ns[op];

	if (!*least || value < *least)
		*least = value;
}

static void rows(const struct run *r)
{
	int op;

	for (op = 0; op < NR_OPS; op++)
		if (r->result->ns[op])
			printf("native,wall,%s,%s,%s,1,1,%u,ns,%.2f\n",
			       r->impl->ops->name, op_names[op], r->dist->name,
			       r->nr, r->result->ns[op]);
	fflush(stdout);
}

/* Measurements of single operations. */

/*
 * Do @op, which is a constant, on all timers. Copy what the loop needs to local variables,
 * because the fewer instructions there are between two timers, the more timers are fetched from
 * memory at the same time.
 */
static __always_inline double pass(struct run *r, int op, u64 from)
{
	typeof(r->impl->ops->start) start = r->impl->ops->start;
	typeof(r->impl->ops->stop) stop = r->impl->ops->stop;
	typeof(r->impl->ops->restart) restart = r->impl->ops->restart;
	struct twheel_test_scheme *scheme = r->scheme;
	struct twheel_node **node, **end = r->order + r->nr;
	const u32 *interval = r->interval;
	u64 begin;
	u32 i = 0;

	shuffle(r);
	begin = now();
	for (node = r->order; node < end; node++) {
		if (op == OP_stop) {
			stop(scheme, *node);
		} else if (op == OP_restart) {
			restart(scheme, *node, from + interval[i++ % DRAWS]);
		} else {
			/*
			 * The module first reads the timer's base and function, so read the timer
			 * here, too.
			 */
			if (unlikely((*node)->expires == U64_MAX))
				die("a timer at the end of time");
			(*node)->expires = from + interval[i++ % DRAWS];
			start(scheme, *node);
		}
	}
	return (double)(now() - begin) / r->nr;
}

static double start_all(struct run *r, u64 from)
{
	return pass(r, OP_start, from);
}

static double stop_all(struct run *r)
{
	return pass(r, OP_stop, 0);
}

static double restart_all(struct run *r, u64 from)
{
	return pass(r, OP_restart, from);
}

static void measure_operations(struct run *r)
{
	fresh(r);
	start_all(r, RANGE);
	lower(r, OP_refresh, restart_all(r, 2 * RANGE));
	stop_all(r);
	start_all(r, RANGE);
	lower(r, OP_restart, restart_all(r, 0));
	lower(r, OP_stop, stop_all(r));
	lower(r, OP_start, start_all(r, 0));
	r->impl->ops->destroy(r->scheme);
}

/* Measurements of ticks. */

static void check_tick(const struct run *r, const struct twheel_node *node,
		       u64 tick)
{
	if (node->expires == tick)
		return;
	fprintf(stderr, "native: %s: due at %llu, expired at %llu\n",
		r->impl->ops->name, node->expires, tick);
	exit(1);
}

static u32 one_tick(struct run *r, u64 tick, u32 *next)
{
	struct twheel_node *node;
	int work = EVERYTHING;
	u32 expired = 0;

	while ((node = r->impl->ops->pop(r->scheme, tick, &work))) {
		check_tick(r, node, tick);
		node->expires = tick + r->interval[*next];
		*next = (*next + 1) % DRAWS;
		r->impl->ops->start(r->scheme, node);
		expired++;
	}
	return expired;
}

/* Start all timers. Returns the current tick: with "one", the clock moves between the starts. */
static u32 start_load(struct run *r)
{
	u32 i, next = 0, tick = 0;

	fresh(r);
	if (!r->dist->one) {
		start_all(r, 0);
		return 0;
	}
	shuffle(r);
	for (i = 0; i < r->nr; i++) {
		while (tick < (u64)i * ONE_LENGTH / r->nr)
			one_tick(r, ++tick, &next);
		r->order[i]->expires = tick + ONE_LENGTH;
		r->impl->ops->start(r->scheme, r->order[i]);
	}
	return tick;
}

static double expiry_run(struct run *r)
{
	u64 begin, took, expired = 0;
	u32 first = start_load(r), tick, next = 0;

	begin = now();
	for (tick = 1; tick <= RUN_TICKS; tick++)
		expired += one_tick(r, first + tick, &next);
	took = now() - begin;
	r->impl->ops->destroy(r->scheme);
	return (double)took / max(expired, 1ULL);
}

static void measure_expiry(struct run *r)
{
	random_seed();
	lower(r, OP_expire_restart, expiry_run(r));
}

static void measure_idle(struct run *r)
{
	u32 tick, next = 0;
	u64 begin;

	fresh(r);
	start_all(r, IDLE_TICKS + 1);
	begin = now();
	for (tick = 1; tick <= IDLE_TICKS; tick++)
		one_tick(r, tick, &next);
	lower(r, OP_tick_empty, (double)(now() - begin) / IDLE_TICKS);
	r->impl->ops->destroy(r->scheme);
}

/* Choice of runs. */

/* Returns true if @list has @name, or if @list is NULL, which stands for all names. */
static bool named(const char *list, const char *name)
{
	size_t length = strlen(name);
	const char *at = list;

	for (; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, length) &&
		    (!at[length] || at[length] == ','))
			return true;
	}
	return !list;
}

static bool wanted(int op)
{
	return named(only, op_names[op]);
}

static void measure_round(struct run *r)
{
	if (wanted(OP_start) || wanted(OP_stop) || wanted(OP_refresh) || wanted(OP_restart))
		measure_operations(r);
	if (wanted(OP_expire_restart))
		measure_expiry(r);
	if (wanted(OP_tick_empty))
		measure_idle(r);
}

/*
 * Returns true if @impl takes part. With more than 100,000 timers, only wheels are measured with
 * all distributions.
 */
static bool takes_part(const struct impl *impl, const struct distribution *dist,
		       u32 nr, const char *names)
{
	if (nr > 100000 && dist != distributions && !names && !impl->ops->wheel)
		return false;
	return nr <= impl->top && named(names, impl->ops->name);
}

static void measure(const struct distribution *dist, u32 nr, const char *names)
{
	struct result results[ARRAY_SIZE(impls)] = {};
	struct run r;
	size_t i;
	int round;

	setup(&r, dist, nr);
	for (round = 0; round < runs; round++) {
		for (i = 0; i < ARRAY_SIZE(impls); i++) {
			if (!takes_part(&impls[i], dist, nr, names))
				continue;
			choose(&r, &impls[i], &results[i]);
			measure_round(&r);
		}
	}
	for (i = 0; i < ARRAY_SIZE(impls); i++) {
		choose(&r, &impls[i], &results[i]);
		if (takes_part(&impls[i], dist, nr, names))
			rows(&r);
	}
	cleanup(&r);
}

/*
 * Measure the distributions. With the largest number of timers a distribution takes long, so
 * measure only the first one, unless the user named distributions.
 */
static void measure_matching(u32 nr, const char *names, const char *dist)
{
	size_t d;

	for (d = 0; d < ARRAY_SIZE(distributions); d++)
		if (named(dist, distributions[d].name) && (!d || dist || nr <= 1000000))
			measure(&distributions[d], nr, names);
}

int main(int argc, char **argv)
{
	static const u32 all[] = { 1000, 10000, 100000, 1000000, 4000000 };
	const char *impl = NULL, *dist = NULL;
	u32 nr = 0;
	size_t i;
	int c;

	while ((c = getopt(argc, argv, "n:i:d:o:r:")) != -1) {
		if (c == 'o')
			only = optarg;
		else if (c == 'n')
			nr = strtoul(optarg, NULL, 0);
		else if (c == 'i')
			impl = optarg;
		else if (c == 'd')
			dist = optarg;
		else if (c == 'r')
			runs = strtol(optarg, NULL, 0);
		else
			return 2;
	}
	if (runs < 1 || optind != argc)
		die("usage: see the head of native.c");
	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (!nr || nr == all[i])
			measure_matching(all[i], impl, dist);
	return 0;
}
