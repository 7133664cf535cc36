// SPDX-License-Identifier: GPL-2.0
/*
 * The fuzzer of /dev/twheel
 *
 *	fuzz_ioctl [-f] [-s SEED] [-k KIND [-r ROUND]] [SECONDS]
 *
 * For SECONDS (default 30), processes full of threads make calls on
 * /dev/twheel. Two processes run at a time, and the kinds take turns, or there is
 * only one. The seed is printed, and comes from the clock unless given. The calls
 * of a thread follow from the seed, the kind and the round, so -k and -r repeat one
 * round. The interleaving of the threads is not repeated.
 *
 * Only with -f does the kind faults let anything fail.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

#define SECONDS		30
#define AT_ONCE		2
/* A round takes seconds on a slow kernel. More than this is a hang. */
#define ROUND_NS	(900 * SECOND)

static const struct fuzz_kind kinds[] = {
	{ .name = "garbage", .threads = 1, .own = true, .spoilt = 60 },
	{ .name = "sequences", .threads = 1, .own = true, .spoilt = 8 },
	{ .name = "own_sessions", .threads = 4, .own = true, .spoilt = 15 },
	{ .name = "shared_sessions", .threads = 4, .spoilt = 10 },
	{ .name = "sessions_come_and_go", .threads = 3, .spoilt = 15,
	  .churn = true },
	{ .name = "killed", .threads = 3, .spoilt = 10, .churn = true,
	  .killed = true },
	{ .name = "users", .threads = 3, .spoilt = 10, .users = true },
	{ .name = "words", .threads = 4, .spoilt = 5, .words = 30 },
	{ .name = "faults", .threads = 2, .own = true, .spoilt = 3,
	  .faults = 60 },
};

/**
 * struct child - a round that is running
 * @pid: its process, or 0
 * @round: its number
 * @begin: when it began
 */
struct child {
	pid_t pid;
	unsigned int round;
	__u64 begin;
};

/**
 * struct fuzz_run - rounds of a kind
 * @shared: shared by their processes
 * @kind: the kind
 * @children: the rounds that are running
 * @begin: when they began
 * @seed: what all random numbers follow from
 * @rounds: number of the next round
 */
struct fuzz_run {
	struct fuzz_shared *shared;
	const struct fuzz_kind *kind;
	struct child children[AT_ONCE];
	__u64 begin;
	__u64 seed;
	unsigned int rounds;
};

static __u64 seed_of(const struct fuzz_run *run, unsigned int round)
{
	return run->seed + (run->kind - kinds) * 1000003ULL +
	       round * (__u64)FUZZ_ROUND;
}

static void begin_round(struct fuzz_run *run, struct child *child)
{
	*child = (struct child){
		.round = run->rounds++,
		.begin = now_ns(),
	};
	child->pid = fork();
	if (child->pid)
		return;
	setpgid(0, 0);
	fuzz_round(run->shared, run->kind, seed_of(run, child->round));
}

static void fail_round(struct fuzz_run *run, const struct child *child,
		       const char *what, int number)
{
	struct fuzz_shared *shared = run->shared;

	if (!__atomic_exchange_n(&shared->failed, 1, __ATOMIC_ACQ_REL))
		snprintf(shared->text, sizeof(shared->text), "%s %d", what,
			 number);
	printf("# repeat with: fuzz_ioctl -s %llu -k %s -r %u\n",
	       (unsigned long long)run->seed, run->kind->name, child->round);
}

static void end_round(struct fuzz_run *run, struct child *child, int status)
{
	/* Its children must not outlive it. */
	kill(-child->pid, SIGKILL);
	if (WIFSIGNALED(status))
		fail_round(run, child, "a round was ended by signal",
			   WTERMSIG(status));
	else if (WEXITSTATUS(status))
		fail_round(run, child, "a round has ended with status",
			   WEXITSTATUS(status));
	child->pid = 0;
}

static void watch_round(struct fuzz_run *run, struct child *child)
{
	int status;

	if (!child->pid)
		return;
	if (waitpid(child->pid, &status, WNOHANG) == child->pid) {
		end_round(run, child, status);
	} else if (now_ns() - child->begin > ROUND_NS) {
		fail_round(run, child, "a round does not end; killed with", 9);
		kill(-child->pid, SIGKILL);
		child->begin = now_ns();
	}
}

static bool runs(const struct fuzz_run *run)
{
	unsigned int i;

	for (i = 0; i < AT_ONCE; i++)
		if (run->children[i].pid)
			return true;
	return false;
}

/*
 * The children of a killed round die some time after it, and hold sessions
 * until then. Without this, a later rmmod would find the module in use.
 */
static void reap_orphans(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void run_rounds(struct fuzz_run *run, unsigned int last)
{
	bool more = true;
	unsigned int i;

	do {
		for (i = 0; i < AT_ONCE; i++) {
			if (more && !run->children[i].pid)
				begin_round(run, &run->children[i]);
			watch_round(run, &run->children[i]);
			more = fuzz_may_go_on(run->shared) &&
			       run->rounds < last;
		}
		poll(NULL, 0, 2);
	} while (more || runs(run));
	reap_orphans();
}

static void report(const struct fuzz_run *run)
{
	const struct fuzz_shared *shared = run->shared;

	printf("# %s: %u rounds in %.1f s, %llu calls, %llu of them successful, %llu events\n",
	       run->kind->name, run->rounds,
	       (double)(now_ns() - run->begin) / SECOND,
	       (unsigned long long)shared->calls,
	       (unsigned long long)shared->successes,
	       (unsigned long long)shared->events);
	if (shared->failed)
		printf("# %s\n", shared->text);
}

static bool say(bool good, int number, const char *name)
{
	printf("%s %d - %s\n", good ? "ok" : "not ok", number, name);
	fflush(stdout);
	return good;
}

static struct fuzz_shared *new_shared(void)
{
	struct fuzz_shared *shared;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	return shared;
}

/**
 * struct job - the work of the fuzzer
 * @seed: what all random numbers follow from
 * @ns: how long it takes in all
 * @faults: allocations and copies may fail
 */
struct job {
	__u64 seed;
	__u64 ns;
	bool faults;
};

/*
 * Each kind has its own record of ids, since killed rounds leave some behind.
 */
static bool run_kind(const struct job *job, const struct fuzz_kind *kind,
		     __u64 ns, unsigned int first, unsigned int last)
{
	struct fuzz_run run = {
		.shared = new_shared(),
		.kind = kind,
		.begin = now_ns(),
		.seed = job->seed,
		.rounds = first,
	};
	bool good;

	run.shared->faults = job->faults;
	run.shared->end = run.begin + ns;
	run_rounds(&run, last);
	report(&run);
	good = !run.shared->failed;
	munmap(run.shared, sizeof(*run.shared));
	return good;
}

static void say_plan(const struct job *job, unsigned int nr)
{
	printf("TAP version 13\n1..%u\n# seed %llu\n", nr,
	       (unsigned long long)job->seed);
	fflush(stdout);
}

static int run_all(const struct job *job)
{
	unsigned int i;
	int bad = 0;

	say_plan(job, ARRAY_SIZE(kinds));
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		bad += !say(run_kind(job, &kinds[i],
				     job->ns / ARRAY_SIZE(kinds), 0, ~0U),
			    i + 1, kinds[i].name);
	return bad ? 1 : 0;
}

/* For its time, or one round to its end. */
static int run_one(const struct job *job, const char *name, int round)
{
	unsigned int i;
	bool good;

	say_plan(job, 1);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, name))
			continue;
		good = round < 0 ?
		       run_kind(job, &kinds[i], job->ns, 0, ~0U) :
		       run_kind(job, &kinds[i], HOUR, round, round + 1);
		return !say(good, 1, name);
	}
	printf("# no such kind: %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	struct job job = { .seed = now_ns() / 1000 };
	const char *kind = NULL;
	unsigned int seconds = SECONDS;
	int option, round = -1;

	while ((option = getopt(argc, argv, "fs:k:r:")) != -1) {
		switch (option) {
		case 's':
			job.seed = strtoull(optarg, NULL, 0);
			break;
		case 'k':
			kind = optarg;
			break;
		case 'r':
			round = strtoul(optarg, NULL, 0);
			break;
		case 'f':
			job.faults = true;
			break;
		default:
			fprintf(stderr, "usage: fuzz_ioctl [-f] [-s SEED] [-k KIND [-r ROUND]] [SECONDS]\n");
			return 2;
		}
	}
	if (optind < argc)
		seconds = strtoul(argv[optind], NULL, 0);
	job.ns = seconds * SECOND;
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* See reap_orphans(). */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return kind ? run_one(&job, kind, round) : run_all(&job);
}
