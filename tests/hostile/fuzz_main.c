// SPDX-License-Identifier: GPL-2.0
/*
 * The fuzzer of /dev/twheel
 *
 *  fuzz_ioctl [-f] [-s SEED] [-k KIND [-r ROUND]] [SECONDS]
 *
 * For SECONDS (default 30), processes full of threads make calls on /dev/twheel. Two processes
 * run at a time. The kinds of fuzzing take turns, or -k chooses one. The seed is printed, and
 * comes from the clock unless given. The calls of a thread depend only on the seed, the kind and
 * the round, so -k and -r repeat one round. The interleaving of the threads is not repeated.
 *
 * The kind "faults" lets calls fail only with -f.
 */
#define _GNU_SOURCE
#include <err.h>
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
/* A round takes seconds on a slow kernel. Longer than this is a hang. */
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
 * struct child - a running round
 * @pid: its process, or 0
 * @round: its number
 * @begin: time when it began
 */
struct child {
	pid_t pid;
	unsigned int round;
	__u64 begin;
};

/**
 * struct fuzz_run - all rounds of a kind of fuzzing
 * @shared: memory that the processes of the rounds share
 * @kind: the kind of fuzzing
 * @children: the running rounds
 * @begin: time when the rounds began
 * @seed: the seed of all random numbers
 * @rounds: number of the next round
 * @last: number of the first round that does not run any more
 */
struct fuzz_run {
	struct fuzz_shared *shared;
	const struct fuzz_kind *kind;
	struct child children[AT_ONCE];
	__u64 begin;
	__u64 seed;
	unsigned int rounds;
	unsigned int last;
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
		snprintf(shared->text, sizeof(shared->text), "%s %d", what, number);
	printf("# repeat with: fuzz_ioctl -s %llu -k %s -r %u\n", run->seed, run->kind->name,
	       child->round);
}

static void end_round(struct fuzz_run *run, struct child *child, int status)
{
	/* The children of the round must not outlive it. */
	kill(-child->pid, SIGKILL);
	if (WIFSIGNALED(status))
		fail_round(run, child, "a round was ended by signal", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		fail_round(run, child, "a round has ended with status", WEXITSTATUS(status));
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

/*
 * Wait for the children of killed rounds, which die some time later and hold sessions
 * until then. Without this, a later rmmod would find the module in use.
 */
static void reap_orphans(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void run_rounds(struct fuzz_run *run)
{
	bool more = true, running;
	struct child *child;

	do {
		running = false;
		for (child = run->children; child < run->children + AT_ONCE; child++) {
			if (more && !child->pid)
				begin_round(run, child);
			watch_round(run, child);
			running |= child->pid;
			more = fuzz_may_go_on(run->shared) && run->rounds < run->last;
		}
		poll(NULL, 0, 2);
	} while (more || running);
	reap_orphans();
}

static void report(const struct fuzz_run *run, unsigned int number)
{
	const struct fuzz_shared *shared = run->shared;

	printf("# %s: %u rounds in %.1f s, %llu calls, %llu of them successful, %llu events\n",
	       run->kind->name, run->rounds, (double)(now_ns() - run->begin) / SECOND,
	       shared->calls, shared->successes, shared->events);
	if (shared->failed)
		printf("# %s\n", shared->text);
	printf("%sok %u - %s\n", shared->failed ? "not " : "", number, run->kind->name);
}

/*
 * Run a kind with a record of ids of its own: processes of killed rounds may still use the record
 * of the kind before.
 */
static bool run_kind(struct fuzz_run run, __u64 ns, bool faults, unsigned int number)
{
	bool failed;

	run.shared = mmap(NULL, sizeof(*run.shared), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run.shared == MAP_FAILED)
		abort();
	run.begin = now_ns();
	run.shared->faults = faults;
	run.shared->end = run.begin + ns;
	run_rounds(&run);
	report(&run, number);
	failed = run.shared->failed;
	munmap(run.shared, sizeof(*run.shared));
	return failed;
}

static const struct fuzz_kind *find_kind(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	errx(2, "no such kind: %s", name);
}

int main(int argc, char **argv)
{
	struct fuzz_run run = { .kind = kinds, .seed = now_ns() / 1000, .last = ~0U };
	unsigned int nr = ARRAY_SIZE(kinds), i;
	__u64 ns = SECONDS * SECOND;
	bool faults = false;
	int option, failed = 0;

	while ((option = getopt(argc, argv, "fs:k:r:")) != -1) {
		switch (option) {
		case 's':
			run.seed = strtoull(optarg, NULL, 0);
			break;
		case 'k':
			run.kind = find_kind(optarg);
			nr = 1;
			break;
		case 'r':
			run.rounds = strtoul(optarg, NULL, 0);
			run.last = run.rounds + 1;
			break;
		case 'f':
			faults = true;
			break;
		default:
			errx(2, "usage: fuzz_ioctl [-f] [-s SEED] [-k KIND [-r ROUND]] [SECONDS]");
		}
	}
	if (optind < argc)
		ns = strtoul(argv[optind], NULL, 0) * SECOND;
	/* A single round is not cut short by the time. */
	if (run.last != ~0U)
		ns = nr * HOUR;
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Let orphans become our children, see reap_orphans(). */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	printf("TAP version 13\n1..%u\n# seed %llu\n", nr, run.seed);
	for (i = 1; i <= nr; i++, run.kind++)
		failed |= run_kind(run, ns / nr, faults, i);
	return failed;
}
