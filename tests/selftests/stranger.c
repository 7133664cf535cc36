// SPDX-License-Identifier: GPL-2.0
/*
 * Processes of other users
 */
#define _GNU_SOURCE
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"
#include "stranger.h"

#define MANY_FILES	8192

void drop_rights(uid_t uid)
{
	ASSERT_EQ(0, setgroups(0, NULL));
	ASSERT_EQ(0, setresgid(uid, uid, uid));
	ASSERT_EQ(0, setresuid(uid, uid, uid));
}

/* A case that fails must not leave anything to the next one. */
void die_with_parent(void)
{
	ASSERT_EQ(0, prctl(PR_SET_PDEATHSIG, SIGKILL));
}

/* Runs as another user up to the end of @fn, and then waits. */
struct stranger *stranger_send(uid_t uid, long long (*fn)(void))
{
	struct rlimit files = { MANY_FILES, MANY_FILES };
	struct stranger *stranger;
	pid_t pid;

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	stranger = mmap(NULL, sizeof(*stranger), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(stranger != MAP_FAILED);
	ASSERT_EQ(0, sem_init(&stranger->go_on, 1, 0));
	pid = fork();
	if (!pid) {
		drop_rights(uid);
		die_with_parent();
		stranger->result = fn();
		WRITE_ONCE(stranger->ready, true);
		while (sem_wait(&stranger->go_on))
			;
		_exit(0);
	}
	stranger->pid = pid;
	return stranger;
}

void stranger_wait(struct stranger *stranger)
{
	while (!READ_ONCE(stranger->ready)) {
		/* A failed assertion of its own has been reported. */
		ASSERT_EQ(0, waitpid(stranger->pid, NULL, WNOHANG));
		sleep_ns(MS);
	}
}

struct stranger *stranger_begin(uid_t uid, long long (*fn)(void))
{
	struct stranger *stranger = stranger_send(uid, fn);

	stranger_wait(stranger);
	return stranger;
}

void stranger_end(struct stranger *stranger)
{
	ASSERT_EQ(0, sem_post(&stranger->go_on));
	expect_child(stranger->pid);
}

long long as_stranger(uid_t uid, long long (*fn)(void))
{
	struct stranger *stranger = stranger_begin(uid, fn);
	long long result = stranger->result;

	stranger_end(stranger);
	return result;
}
