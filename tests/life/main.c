// SPDX-License-Identifier: GPL-2.0
/*
 * life [-s SEED] [-n LIVES] [-k KIND] [-i FILE] [-v] [SECONDS]: live many lives, in TAP
 *
 * A life that fails is run again with fewer and fewer steps, as long as it fails. Its last calls
 * are printed. -s sets the first seed, -n the number of lives. -i runs the life that libFuzzer
 * wrote to FILE. -v prints each call.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "life.h"

#define FIRST_USER	1000
#define USERS		2
/* Time limit of a life, longer than any life takes on a slow machine */
#define LIFE_SECONDS	300
/* Number of tries to see a shorter life fail, because a race of threads may end differently. */
#define TRIES		(host_is_virtual ? 1 : 3)
#define SHRINK_NS	(60 * SECOND)

/*
 * Become an ordinary user, one of USERS. anchor_users() keeps a session of each user open, because
 * the kernel forgets a user without sessions, and with that user a charge that was not given back.
 */
static void become_user(const struct plan *plan)
{
	unsigned int id = FIRST_USER + plan->seed % USERS;

	life->sessions_open = 1;
	life->private_open = 0;
	if (setgroups(0, NULL) || setgid(id) || setuid(id) || prctl(PR_SET_DUMPABLE, 1))
		oracle_fail("a user cannot be: %s", strerror(errno));
}

static void anchor_users(void)
{
	unsigned int i;

	if (chmod("/dev/twheel", 0666))
		return;
	for (i = 0; i < USERS; i++)
		if (seteuid(FIRST_USER + i) || open("/dev/twheel", O_RDWR | O_CLOEXEC) < 0 ||
		    seteuid(0))
			err(1, "a session of user %u", FIRST_USER + i);
}

/* Wait for the process of a life to end, or kill it. Returns whether the life was good. */
static bool end_of_life(pid_t pid, const struct plan *plan)
{
	u64 begin = now_ns(), killed = plan->seed % 400 * MS;
	int status;

	while (plan->kind->killed && waitpid(pid, &status, WNOHANG) != pid) {
		poll(NULL, 0, 1);
		if (now_ns() - begin < killed)
			continue;
		kill(-pid, SIGKILL);
		waitpid(pid, &status, 0);
		/* Wait for children of the life, which have its descriptors until they end. */
		while (waitpid(-1, NULL, 0) > 0)
			;
		return !life->failed;
	}
	if (!plan->kind->killed)
		waitpid(pid, &status, 0);
	kill(-pid, SIGKILL);
	if (WIFSIGNALED(status))
		snprintf(life->text, sizeof(life->text), WTERMSIG(status) == SIGALRM ?
			 "a life does not end" : "a life ends with signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) && !life->failed)
		snprintf(life->text, sizeof(life->text), "a life ends with status %d",
			 WEXITSTATUS(status));
	return !status;
}

/*
 * Run the life of @plan in a process of its own. Returns whether it was good. With a virtual clock
 * the process goes on with the lives of the next seeds, until the time @end or up to the seed
 * before @last. Sets life->seed to the seed of the last life: the life that failed, if one did.
 */
static bool lives(struct plan *plan, u64 end, u64 last)
{
	pid_t pid;

	life->failed = false;
	life->sessions_open = 0;
	life->private_open = 0;
	life->seed = plan->seed;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		alarm(LIFE_SECONDS);
		if (plan->kind->users)
			become_user(plan);
		life_run(plan);
		while (host_is_virtual && real_ns() < end && life->seed + 1 < last) {
			alarm(LIFE_SECONDS);
			plan_make(plan, plan->kind, ++life->seed, NULL, 0);
			life_run(plan);
		}
		/* exit() and not _exit(), so that sanitizers look for leaks. */
		exit(0);
	}
	return end_of_life(pid, plan);
}

/*
 * Leave out as many steps as possible, so that the life still fails. Try to leave out half of the
 * steps at once, then a quarter, and so on.
 */
static void shrink(struct plan *plan)
{
	u64 end = real_ns() + SHRINK_NS;
	unsigned int piece, i, try;
	struct plan *fewer = malloc(sizeof(*fewer));

	for (piece = plan->nr; piece; piece /= 2) {
		for (i = 0; i < plan->nr && real_ns() < end;) {
			*fewer = *plan;
			fewer->nr -= min(piece, plan->nr - i);
			memmove(&fewer->steps[i], &plan->steps[i + plan->nr - fewer->nr],
				(fewer->nr - i) * sizeof(fewer->steps[0]));
			for (try = 0; try < TRIES; try++)
				if (!lives(fewer, 0, 0))
					break;
			if (try < TRIES)
				*plan = *fewer;
			else
				i += piece;
		}
	}
	free(fewer);
}

static void explain(struct plan *plan)
{
	printf("# %s\n", life->text);
	shrink(plan);
	printf("# the fewest steps that fail, of kind %s, seed %llu:\n", plan->kind->name,
	       plan->seed);
	life->notes = true;
	lives(plan, 0, 0);
	life->notes = false;
	printf("# %s\n", life->text);
}

static bool run_kind(const struct kind *kind, u64 seed, u64 nr, u64 ns, unsigned int number)
{
	struct plan *plan = malloc(sizeof(*plan));
	u64 begin = real_ns(), last = nr ? seed + nr : ~0ULL;
	bool good = true;

	life->calls = 0;
	life->events = 0;
	life->lives = 0;
	life->seed = seed;
	do {
		plan_make(plan, kind, life->seed, NULL, 0);
		good = lives(plan, begin + ns, last);
		if (!good)
			plan_make(plan, kind, life->seed, NULL, 0);
		life->seed++;
	} while (good && real_ns() < begin + ns && life->seed < last);
	printf("# %s: %llu lives from seed %llu on in %llu ms, %llu calls, %llu events\n",
	       kind->name, life->lives, seed, (real_ns() - begin) / MS, life->calls, life->events);
	if (!good)
		explain(plan);
	printf("%sok %u - %s\n", good ? "" : "not ", number, kind->name);
	free(plan);
	return good;
}

static bool run_input(const char *path)
{
	struct plan *plan = malloc(sizeof(*plan));
	u8 bytes[4096];
	int fd = open(path, O_RDONLY);
	ssize_t size = read(fd, bytes, sizeof(bytes));

	if (size < 1)
		err(1, "%s", path);
	plan_make(plan, &kinds[bytes[0] % nr_kinds], 0, bytes + 1, size - 1);
	if (lives(plan, 0, 0))
		return true;
	explain(plan);
	return false;
}

int main(int argc, char **argv)
{
	u64 seed = real_ns() / 1000 % 1000000007, nr = 0, ns = 20 * SECOND;
	const char *only = NULL, *input = NULL;
	unsigned int i, chosen = 0, done = 0;
	int option, failed = 0;

	life_begin();
	while ((option = getopt(argc, argv, "s:n:k:i:v")) != -1) {
		switch (option) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			nr = strtoull(optarg, NULL, 0);
			break;
		case 'k':
			only = optarg;
			break;
		case 'i':
			input = optarg;
			break;
		case 'v':
			life->notes = true;
			break;
		default:
			errx(2, "usage: life [-s SEED] [-n LIVES] [-k KIND] [-i FILE] [-v] [SECONDS]");
		}
	}
	if (optind < argc)
		ns = strtoull(argv[optind], NULL, 0) * SECOND;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (input)
		return !run_input(input);
	/* Become the parent of the children of a life that dies, to wait for them. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (i = 0; i < nr_kinds; i++)
		chosen += only ? !strcmp(only, kinds[i].name) : host_has(&kinds[i]);
	if (!chosen)
		errx(2, "no such kind: %s", only);
	printf("TAP version 13\n1..%u\n", chosen);
	anchor_users();
	for (i = 0; i < nr_kinds; i++)
		if (only ? !strcmp(only, kinds[i].name) : host_has(&kinds[i]))
			failed |= !run_kind(&kinds[i], seed, nr, nr ? HOUR : ns / chosen, ++done);
	return failed;
}
