// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the CPUs that the idle timeouts of many connections take, by the
 * clock
 *
 * A program has a timer for each of its connections. The timer is armed, pushed
 * back HEARTBEATS times before its first deadline, expires, and is collected. The
 * program wakes up when SAMPLE connections have a heartbeat. That is what a server
 * does that epoll wakes up, without its packets.
 *
 * Two figures for each way to keep timers, of all that its connections took:
 *
 *   program	CPU time of the process, user and system
 *   machine	CPU time of the whole machine: beside that, interrupts and softirqs
 *		while nobody else was running
 *
 * Time that a CPU was not idle is what the kernel itself takes for that. Both
 * figures are less what the same program takes with no timers at all. The ways
 * take turns, each in a process of its own, so that other work of the host
 * meets all of them. The median of the turns counts, and its ratio to the
 * median of words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define TIMEOUT_NS	(8 * SECOND)
#define HEARTBEATS	10
/* The last heartbeat comes before the first deadline, on a slow machine, too. */
#define INTERVAL_NS	(TIMEOUT_NS / (HEARTBEATS + 4))
#define TURNS		3
#define WAYS_MAX	8

/**
 * struct job - some timers to arm or to refresh
 * @impl: how
 * @op: what
 * @nr: how many
 */
struct job {
	const struct impl *impl;
	enum operation op;
	unsigned int nr;
};

static struct request requests[SAMPLE];

/* For each way and turn, seconds. */
struct figures {
	double program[WAYS_MAX][TURNS];
	double machine[WAYS_MAX][TURNS];
};

static const struct impl * const ways[] = {
	NULL,			/* no timers */
	&impl_twheel_shared,
	&impl_twheel,
	&impl_timerfd,
#ifdef HAVE_LIBEVENT
	&impl_libevent,
#endif
#ifdef HAVE_LIBUV
	&impl_libuv,
#endif
};

#define NR_WAYS	(sizeof(ways) / sizeof(ways[0]))

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { ns / SECOND, ns % SECOND };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

/* Time that CPUs were not idle, since the machine has started. */
static double busy_seconds(void)
{
	FILE *file = fopen("/proc/uptime", "r");
	double up, idle;

	if (!file || fscanf(file, "%lf %lf", &up, &idle) != 2)
		fail("/proc/uptime");
	fclose(file);
	return up * sysconf(_SC_NPROCESSORS_ONLN) - idle;
}

static void run_job(void *data)
{
	const struct job *job = data;
	unsigned int batch = large_batch(job->impl);

	job->impl->prepare(job->op, requests, job->nr, batch);
	job->impl->run(job->op, job->nr, batch);
}

/* Some timers, each with the whole timeout before it. */
static void work(struct job *job, const uint32_t *ids)
{
	unsigned int i;

	for (i = 0; i < job->nr; i++) {
		requests[i].id = ids[i];
		requests[i].delay_ns = TIMEOUT_NS;
	}
	if (job->impl && job->impl->inside)
		job->impl->inside(run_job, job);
	else if (job->impl)
		run_job(job);
}

static unsigned int part_of(const struct bench *b, unsigned int first)
{
	return b->timers - first < SAMPLE ? b->timers - first : SAMPLE;
}

static void beat(const struct impl *impl, const struct bench *b,
		 enum operation op, uint64_t begin)
{
	struct job job = { .impl = impl, .op = op };
	unsigned int first;

	for (first = 0; first < b->timers; first += job.nr) {
		job.nr = part_of(b, first);
		sleep_until(begin + INTERVAL_NS * first / b->timers);
		work(&job, &b->order[first]);
	}
}

static void live(const struct impl *impl, const struct bench *b)
{
	uint64_t begin = now_ns();
	unsigned int i;

	beat(impl, b, ARM, begin);
	for (i = 1; i <= HEARTBEATS; i++)
		beat(impl, b, REFRESH, begin + i * INTERVAL_NS);
	if (now_ns() > begin + TIMEOUT_NS)
		printf("connections: %s: some expired between heartbeats\n",
		       impl ? impl->name : "no timers");
	/* A call may collect more than it was asked for. */
	for (i = 0; i < b->timers && impl; )
		i += impl->collect(part_of(b, i), impl->reads[1] ? SAMPLE : 1);
	/* All take as long, so that what the machine does anyway is the same. */
	sleep_until(begin + (HEARTBEATS + 1) * INTERVAL_NS + TIMEOUT_NS + SECOND);
}

static void take_turn(const struct impl *impl, const struct bench *b,
		      double *program, double *machine)
{
	double begin_program, begin_machine;

	if (impl)
		impl->open(b->timers);
	if (impl && !impl->created_armed &&
	    impl->create(0, b->timers) < b->timers)
		fail("create");
	/* Memory of the last process may still be on its way back. */
	sleep(2);
	begin_machine = busy_seconds();
	begin_program = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	live(impl, b);
	*program = (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_program) / 1e9;
	*machine = busy_seconds() - begin_machine;
}

static void turn_in_child(struct bench *b, struct figures *figures,
			  unsigned int way, unsigned int turn)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		take_turn(ways[way], b, &figures->program[way][turn],
			  &figures->machine[way][turn]);
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		fail("a turn");
}

static double ns_each(const struct bench *b, double seconds)
{
	return seconds * SECOND / b->timers;
}

/* The figure less the figure of no timers in the same turn. */
static void report(struct bench *b, const char *what, double figures[][TURNS],
		   unsigned int turns)
{
	double ns, words = 0;
	unsigned int way, turn;

	for (way = 1; way < NR_WAYS; way++) {
		for (turn = 0; turn < turns; turn++)
			figures[way][turn] -= figures[0][turn];
		ns = ns_each(b, median(figures[way], turns));
		if (way == 1)
			words = ns;
		b->impl = ways[way];
		row(b, "connections", what, ways[way]->batches ? SAMPLE : 1,
		    "ns", ns);
		printf("connections: %s, %s: %.0f ns each, %.0f to %.0f; %.2f times words\n",
		       what, ways[way]->name, ns, ns_each(b, figures[way][0]),
		       ns_each(b, figures[way][turns - 1]), ns / words);
	}
	printf("connections: %s, no timers: %.0f ns each\n", what,
	       ns_each(b, median(figures[0], turns)));
}

static void shuffle(struct bench *b)
{
	unsigned int i, other;
	uint32_t id;

	for (i = 0; i < b->timers; i++) {
		other = i + random64() % (b->timers - i);
		id = b->order[other];
		b->order[other] = b->order[i];
		b->order[i] = id;
	}
}

void measure_connections(struct bench *b)
{
	struct figures *figures = mmap(NULL, sizeof(*figures),
				       PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int way, turn, turns = b->quick ? 1 : TURNS;

	if (figures == MAP_FAILED)
		fail("mmap");
	shuffle(b);
	for (turn = 0; turn < turns; turn++)
		for (way = 0; way < NR_WAYS; way++)
			turn_in_child(b, figures, way, turn);
	report(b, "program", figures->program, turns);
	report(b, "machine", figures->machine, turns);
}
