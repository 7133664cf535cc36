// SPDX-License-Identifier: GPL-2.0
/*
 * Processes of other users
 */
#define _GNU_SOURCE
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "session.h"
#include "stranger.h"

#define MANY_FILES	65536

void drop_rights(uid_t uid)
{
	ASSERT_EQ(0, setgroups(0, NULL));
	ASSERT_EQ(0, setresgid(uid, uid, uid));
	ASSERT_EQ(0, setresuid(uid, uid, uid));
}

/* Die with the parent, so that a failed case leaves no processes to the next one. */
void die_with_parent(void)
{
	ASSERT_EQ(0, prctl(PR_SET_PDEATHSIG, SIGKILL));
}

/*
 * Enter a user namespace, and wait until give_ids() has mapped ids there, as newuidmap(1) does. The
 * first id is root of the namespace.
 */
static void take_ids(struct stranger *stranger)
{
	ASSERT_EQ(0, unshare(CLONE_NEWUSER));
	WRITE_ONCE(stranger->apart, true);
	while (!READ_ONCE(stranger->has_ids))
		sleep_ns(MS);
	ASSERT_EQ(0, setresuid(0, 0, 0));
}

static void give_ids(struct stranger *stranger)
{
	char path[64];
	FILE *file;

	while (!READ_ONCE(stranger->apart)) {
		ASSERT_EQ(0, waitpid(stranger->pid, NULL, WNOHANG));
		sleep_ns(MS);
	}
	snprintf(path, sizeof(path), "/proc/%d/uid_map", stranger->pid);
	file = fopen(path, "w");
	ASSERT_TRUE(file);
	ASSERT_LT(0, fprintf(file, "0 %d %d", FIRST_ID, NR_IDS));
	ASSERT_EQ(0, fclose(file));
	WRITE_ONCE(stranger->has_ids, true);
}

static struct stranger *send(uid_t uid, long long (*fn)(void), bool with_ids)
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
		if (with_ids)
			take_ids(stranger);
		stranger->result = fn();
		WRITE_ONCE(stranger->ready, true);
		while (sem_wait(&stranger->go_on))
			;
		_exit(0);
	}
	stranger->pid = pid;
	if (with_ids)
		give_ids(stranger);
	return stranger;
}

/* Run @fn in a process of another user, which then waits for stranger_end(). */
struct stranger *stranger_send(uid_t uid, long long (*fn)(void))
{
	return send(uid, fn, false);
}

/* Like stranger_send(), but runs as root of a user namespace with NR_IDS ids. */
struct stranger *stranger_send_with_ids(uid_t uid, long long (*fn)(void))
{
	return send(uid, fn, true);
}

void stranger_wait(struct stranger *stranger)
{
	while (!READ_ONCE(stranger->ready)) {
		/* If the stranger is gone, it already reported a failed assertion. */
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
