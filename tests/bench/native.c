// SPDX-License-Identifier: GPL-2.0
/*
 * What the schemes cost on real hardware
 *
 * The unmodified sources of the schemes are compiled into a user program, with
 * the headers in tests/native/include. A guest under TCG counts instructions
 * but hides the caches, which matter here. There is one thread, no lock, and no
 * clock except for measuring.
 *
 * For each implementation, number of timers and distribution of intervals:
 *
 *  start stop refresh restart
 *	A pass does the operation on all timers in a random order, which is
 *	another one in each pass. The figure is ns per operation in the fastest
 *	pass. The clock stands still. A refresh is a restart to a later tick of
 *	a timer that was not touched since its start. A restart goes to an
 *	earlier tick.
 *  expire_restart
 *	All timers are started, then the clock goes through RUN_TICKS ticks one
 *	by one. Each timer that expires is started again at once. The figure is
 *	the time of all ticks divided by the number of expiries, in the fastest
 *	run. It is the cost from one expiry to the next, with empty ticks and
 *	moves.
 *  tick_max
 *	The slowest tick, as the 99.99th percentile over as many further runs,
 *	so that interruptions by the host do not count. The runs are separate
 *	because reading the clock in each tick takes time too.
 *  tick_slowest
 *	Another estimate from the same runs. They are all alike, so the minimum
 *	of one tick's times over the runs is its own time. The figure is the
 *	maximum of those.
 *  tick_empty
 *	All timers are due later. The figure is the time per tick of IDLE_TICKS
 *	ticks.
 *  heartbeat
 *	In each tick BEATS_PER_TICK timers, in a random order, are put back to
 *	their interval from now. The figure is the time of all ticks and
 *	refreshes divided by the number of refreshes. It is the cost of a
 *	refresh together with the work that it leaves for later.
 *
 * The program checks that every timer expires at its own tick. It prints rows
 * of build/bench/kernel.csv and, with -x, of crossover.csv. See
 * tests/bench/run.
 *
 * usage: native [-x] [-n TIMERS] [-i IMPLEMENTATION] [-d DISTRIBUTION]
 *	[-r RUNS]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kernel.h>

#include "../include/user.h"
#include "../schemes/schemes.h"
#include "crossover.h"

#define RUN_TICKS	60000U
#define IDLE_TICKS	60000U
#define BEATS_PER_TICK	64U
#define DRAWS		1048576U
#define MAX_RUNS	32
#define EVERYTHING	1000000000
#define LARGE_PAGE	(1UL << 21)
/* Ticks between the three ranges of measure_operations(). */
#define RANGE		1048576U

/* As large as struct twheel_timer. */
struct object {
	struct twheel_node node;
	void *pad[2];
};

/*
 * An implementation: a scheme, its slots, and the maximum number of timers that
 * makes sense. @slow: every start or tick looks at many timers.
 */
struct impl {
	const struct twheel_test_scheme_ops *ops;
	u32 slots;
	u32 top;
	bool slow;
};

struct distribution {
	const char *name;
	u32 (*draw)(void);
};

/* One set of measurements. */
struct run {
	const struct impl *impl;
	const struct distribution *dist;
	const struct twheel_test_scheme_ops *ops;
	struct twheel_test_scheme *scheme;
	u32 nr;
	struct object *objects;
	struct twheel_node **order;
	u32 *interval;
};

static const struct impl impls[] = {
	{ &twheel_test_hier, 0, U32_MAX, false },
	{ &twheel_test_hashed, 65536, U32_MAX, false },
	{ &twheel_test_hashed_sorted, 65536, 1000000, false },
	{ &twheel_test_heap, 0, U32_MAX, false },
	{ &twheel_test_plain, 131072, U32_MAX, false },
	{ &twheel_test_sorted_list, 0, 10000, true },
	{ &twheel_test_list, 0, 1000, true },
};

static u64 seed;
static int runs = 5;

static void die(const char *what)
{
	fprintf(stderr, "native: %s\n", what);
	exit(1);
}

/*
 * Allocates large pages, because the kernel maps its memory with them. With
 * small ones, each timer that misses the cache would also miss in page tables.
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

static u32 draw_exponential(void)
{
	double u = (random_below(1U << 31) + 1.0) / (1U << 31);

	return 1 + (u32)(-log(u) * 30000);
}

static u32 draw_idle(void)
{
	return 30000 + random_below(30000);
}

static const struct distribution distributions[] = {
	{ "uniform", draw_uniform },
	{ "exponential", draw_exponential },
	{ "idle", draw_idle },
};

/* CPU time of this thread, without the time of others in between. */
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

static void setup(struct run *r, const struct impl *impl,
		  const struct distribution *dist, u32 nr)
{
	u32 i;

	r->impl = impl;
	r->ops = impl->ops;
	r->dist = dist;
	r->nr = nr;
	r->objects = alloc(nr, sizeof(*r->objects));
	r->order = alloc(nr, sizeof(*r->order));
	r->interval = alloc(DRAWS, sizeof(*r->interval));
	random_seed();
	for (i = 0; i < nr; i++) {
		INIT_LIST_HEAD(&r->objects[i].node.link);
		r->order[i] = &r->objects[i].node;
	}
	for (i = 0; i < DRAWS; i++)
		r->interval[i] = dist->draw();
}

static void cleanup(struct run *r)
{
	free(r->objects);
	free(r->order);
	free(r->interval);
}

static void fresh(struct run *r)
{
	r->scheme = r->ops->create(0, r->impl->slots, r->nr);
	if (!r->scheme)
		die("out of memory");
}

static void lower(double *least, double value)
{
	if (!*least || value < *least)
		*least = value;
}

static void row(const struct run *r, const char *operation, double ns)
{
	printf("native,wall,%s,%s,%s,1,1,%u,ns,%.2f\n", r->ops->name,
	       operation, r->dist->name, r->nr, ns);
	fflush(stdout);
}

/* One operation at a time. */

/*
 * Each pass keeps everything that its loop needs in local variables. The fewer
 * instructions there are between two timers, the more timers are fetched from
 * memory at the same time.
 */

static double start_all(struct run *r, u64 from)
{
	typeof(r->ops->start) start = r->ops->start;
	struct twheel_test_scheme *scheme = r->scheme;
	struct twheel_node **node, **end = r->order + r->nr;
	const u32 *interval = r->interval;
	u64 begin;
	u32 i = 0;

	shuffle(r);
	begin = now();
	for (node = r->order; node < end; node++) {
		(*node)->expires = from + interval[i++ % DRAWS];
		start(scheme, *node);
	}
	return (double)(now() - begin) / r->nr;
}

static double stop_all(struct run *r)
{
	typeof(r->ops->stop) stop = r->ops->stop;
	struct twheel_test_scheme *scheme = r->scheme;
	struct twheel_node **node, **end = r->order + r->nr;
	u64 begin;

	shuffle(r);
	begin = now();
	for (node = r->order; node < end; node++)
		stop(scheme, *node);
	return (double)(now() - begin) / r->nr;
}

static double restart_all(struct run *r, u64 from)
{
	typeof(r->ops->restart) restart = r->ops->restart;
	struct twheel_test_scheme *scheme = r->scheme;
	struct twheel_node **node, **end = r->order + r->nr;
	const u32 *interval = r->interval;
	u64 begin;
	u32 i = 0;

	shuffle(r);
	begin = now();
	for (node = r->order; node < end; node++)
		restart(scheme, *node, from + interval[i++ % DRAWS]);
	return (double)(now() - begin) / r->nr;
}

static void measure_operations(struct run *r)
{
	double start = 0, stop = 0, refresh = 0, restart = 0;
	int i;

	fresh(r);
	start_all(r, 0);
	for (i = 0; i < runs; i++) {
		stop_all(r);
		start_all(r, RANGE);
		lower(&refresh, restart_all(r, 2 * RANGE));
		stop_all(r);
		start_all(r, RANGE);
		lower(&restart, restart_all(r, 0));
		lower(&stop, stop_all(r));
		lower(&start, start_all(r, 0));
	}
	row(r, "start", start);
	row(r, "stop", stop);
	row(r, "refresh", refresh);
	row(r, "restart", restart);
	r->ops->destroy(r->scheme);
}

/* The clock goes on. */

static void check_tick(const struct run *r, const struct twheel_node *node,
		       u64 tick)
{
	if (node->expires == tick)
		return;
	fprintf(stderr, "native: %s: due at %llu, expired at %llu\n",
		r->ops->name, node->expires, tick);
	exit(1);
}

static u32 one_tick(struct run *r, u64 tick, u32 *next)
{
	struct twheel_node *node;
	int work = EVERYTHING;
	u32 expired = 0;

	while ((node = r->ops->pop(r->scheme, tick, &work))) {
		check_tick(r, node, tick);
		node->expires = tick + r->interval[*next];
		*next = (*next + 1) % DRAWS;
		r->ops->start(r->scheme, node);
		expired++;
	}
	return expired;
}

static double expiry_run(struct run *r)
{
	u64 begin, took, expired = 0;
	u32 tick, next = 0;

	fresh(r);
	start_all(r, 0);
	begin = now();
	for (tick = 1; tick <= RUN_TICKS; tick++)
		expired += one_tick(r, tick, &next);
	took = now() - begin;
	r->ops->destroy(r->scheme);
	return (double)took / max(expired, 1ULL);
}

/* The time that reading the clock adds to a measurement. */
static u32 clock_cost(void)
{
	u32 least = U32_MAX;
	u64 begin;
	int i;

	for (i = 0; i < 1000; i++) {
		begin = now();
		least = min(least, (u32)(now() - begin));
	}
	return least;
}

/* Repeats the same run, and records the time of each tick. */
static void tick_run(struct run *r, u32 *took)
{
	u32 tick, next = 0, cost = clock_cost();
	u64 begin, end;

	fresh(r);
	start_all(r, 0);
	begin = now();
	for (tick = 1; tick <= RUN_TICKS; tick++) {
		one_tick(r, tick, &next);
		end = now();
		took[tick - 1] = end - begin - min((u64)cost, end - begin);
		begin = end;
	}
	r->ops->destroy(r->scheme);
}

static int by_time(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

static u32 slowest_tick(const u32 *took)
{
	u32 tick, slowest = 0;
	int i;

	for (tick = 0; tick < RUN_TICKS; tick++) {
		u32 shortest = took[tick];

		for (i = 1; i < runs; i++)
			shortest = min(shortest, took[i * RUN_TICKS + tick]);
		slowest = max(slowest, shortest);
	}
	return slowest;
}

static void measure_expiry(struct run *r)
{
	double each = 0;
	int i;

	for (i = 0; i < runs; i++) {
		random_seed();
		lower(&each, expiry_run(r));
	}
	row(r, "expire_restart", each);
}

static void measure_ticks(struct run *r)
{
	size_t nr = (size_t)runs * RUN_TICKS;
	u32 *took = alloc(nr, sizeof(*took));
	int i;

	for (i = 0; i < runs; i++) {
		random_seed();
		tick_run(r, took + (size_t)i * RUN_TICKS);
	}
	row(r, "tick_slowest", slowest_tick(took));
	qsort(took, nr, sizeof(*took), by_time);
	row(r, "tick_max", took[nr - 1 - nr / 10000]);
	free(took);
}

static void measure_idle(struct run *r)
{
	u32 tick, next = 0;
	double each = 0;
	u64 begin;
	int i;

	for (i = 0; i < runs; i++) {
		fresh(r);
		start_all(r, IDLE_TICKS + 1);
		begin = now();
		for (tick = 1; tick <= IDLE_TICKS; tick++)
			one_tick(r, tick, &next);
		lower(&each, (double)(now() - begin) / IDLE_TICKS);
		r->ops->destroy(r->scheme);
	}
	row(r, "tick_empty", each);
}

/* Each timer has one interval, so a heartbeat always goes to a later tick. */
static void beat(struct run *r, u32 tick, u32 *next)
{
	u32 i;

	for (i = 0; i < BEATS_PER_TICK; i++) {
		r->ops->restart(r->scheme, r->order[*next],
				tick + r->interval[*next % DRAWS]);
		*next = (*next + 1) % r->nr;
	}
}

static double heartbeat_run(struct run *r)
{
	u32 tick, next = 0, draw = 0;
	u64 took, begin;

	fresh(r);
	start_all(r, 0);
	begin = now();
	for (tick = 1; tick <= RUN_TICKS; tick++) {
		beat(r, tick, &next);
		one_tick(r, tick, &draw);
	}
	took = now() - begin;
	r->ops->destroy(r->scheme);
	return (double)took / RUN_TICKS / BEATS_PER_TICK;
}

static void measure_heartbeat(struct run *r)
{
	double each = 0;
	int i;

	for (i = 0; i < runs; i++)
		lower(&each, heartbeat_run(r));
	row(r, "heartbeat", each);
}

/* What is run. */

static void measure(const struct impl *impl, const struct distribution *dist,
		    u32 nr)
{
	struct run r;

	setup(&r, impl, dist, nr);
	measure_operations(&r);
	measure_expiry(&r);
	measure_ticks(&r);
	measure_idle(&r);
	if (!impl->slow)
		measure_heartbeat(&r);
	cleanup(&r);
}

/* With the most timers, one distribution has to do: they take long. */
static bool enough(u32 nr, size_t d, const char *dist)
{
	return nr > 1000000 && d && !dist;
}

static void measure_matching(u32 nr, const char *impl, const char *dist)
{
	size_t i, d;

	for (i = 0; i < ARRAY_SIZE(impls); i++) {
		if (impl && strcmp(impl, impls[i].ops->name))
			continue;
		for (d = 0; d < ARRAY_SIZE(distributions); d++) {
			if (dist && strcmp(dist, distributions[d].name))
				continue;
			if (nr <= impls[i].top && !enough(nr, d, dist))
				measure(&impls[i], &distributions[d], nr);
		}
	}
}

/* Called by crossover.c. */

u64 crossover_begin(void)
{
	return now();
}

u64 crossover_end(u64 begin)
{
	return now() - begin;
}

u32 crossover_random(u32 end)
{
	return random_below(end);
}

void crossover_row(const char *text)
{
	printf("native,wall,%s\n", text);
	fflush(stdout);
}

static int run_crossover(void)
{
	random_seed();
	return crossover() ? 1 : 0;
}

static void usage(void)
{
	die("options: -x, -n TIMERS, -i IMPLEMENTATION, -d DISTRIBUTION, -r RUNS");
}

int main(int argc, char **argv)
{
	static const u32 all[] = { 1000, 10000, 100000, 1000000, 4000000 };
	const char *impl = NULL, *dist = NULL;
	u32 nr = 0;
	size_t i;
	int c;

	while ((c = getopt(argc, argv, "xn:i:d:r:")) != -1) {
		if (c == 'x')
			return run_crossover();
		else if (c == 'n')
			nr = strtoul(optarg, NULL, 0);
		else if (c == 'i')
			impl = optarg;
		else if (c == 'd')
			dist = optarg;
		else if (c == 'r')
			runs = strtol(optarg, NULL, 0);
		else
			usage();
	}
	if (runs < 1 || runs > MAX_RUNS || optind != argc)
		usage();
	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (!nr || nr == all[i])
			measure_matching(all[i], impl, dist);
	return 0;
}
