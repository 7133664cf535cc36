// SPDX-License-Identifier: GPL-2.0
/*
 * One process full of threads that make calls
 *
 * A round begins with new sessions. At its end the sessions are drained. Their counters must then
 * balance, and no timer may be left, unless the process is killed before that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

#define CALLS		600
/* Few calls, so that a run has processes of several users. */
#define CALLS_OF_USER	40
#define CALLS_OF_CHILD	20
/* Percentage of calls after which memory is changed. */
#define DISTURB		10
#define SIGNAL_EVERY_MS	3
#define WORDS		600

/* There are no locks: each process runs only one round. */
static struct fuzz_thread threads[THREADS_MAX];
static pthread_t thread_ids[THREADS_MAX];
static unsigned int running;
static int sessions[SESSIONS];

static int session_of(struct fuzz_thread *t)
{
	unsigned int number = t->number;

	if (!t->kind->own)
		number = fuzz_below(t, SESSIONS);
	return __atomic_load_n(&sessions[number], __ATOMIC_ACQUIRE);
}

static void one_call(struct fuzz_thread *t)
{
	int fd = session_of(t);
	unsigned int choice;

	if (fuzz_percent(t, t->kind->words)) {
		fuzz_words(t, fd);
		return;
	}
	/* A session allocates most of its memory once, so use new sessions. */
	if (t->kind->faults && fuzz_percent(t, 30)) {
		fuzz_life(t);
		return;
	}
	choice = fuzz_below(t, 100);
	if (choice < 58)
		fuzz_struct_call(t, fd);
	else if (choice < 73)
		fuzz_read(t, fd);
	else if (choice < 86)
		fuzz_submit(t, fd);
	else if (choice < 89)
		fuzz_list(t, fd);
	else if (choice < 95)
		fuzz_file_call(t, fd);
	else if (choice < 98)
		fuzz_life(t);
	else
		fuzz_stats(t, fd);
}

/* Sessions that are opened, duplicated and closed meanwhile. */

static void replace_session(struct fuzz_thread *t, unsigned int number)
{
	int fd = fuzz_open_again(t);

	if (fd >= 0)
		close(__atomic_exchange_n(&sessions[number], fd, __ATOMIC_ACQ_REL));
}

static void use_duplicate(struct fuzz_thread *t)
{
	int fd = fcntl(session_of(t), F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return;
	fuzz_struct_call(t, fd);
	fuzz_read(t, fd);
	close(fd);
}

/*
 * Make calls in a child. It has only this thread, so no signal of the others reaches it, and an
 * alarm ends it if it waits.
 */
static void run_child(struct fuzz_thread *t)
{
	int i;

	signal(SIGALRM, SIG_DFL);
	alarm(1);
	t->forked = true;
	for (i = 0; i < CALLS_OF_CHILD; i++)
		one_call(t);
	_exit(0);
}

static void use_child(struct fuzz_thread *t)
{
	pid_t pid = fork();

	if (!pid)
		run_child(t);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void churn(struct fuzz_thread *t)
{
	unsigned int choice = fuzz_below(t, 100);

	if (choice < 4)
		replace_session(t, fuzz_below(t, SESSIONS));
	else if (choice < 8)
		use_duplicate(t);
	else if (choice < 9)
		use_child(t);
}

/* Functions of the threads. */

bool fuzz_may_go_on(const struct fuzz_shared *shared)
{
	return !shared->failed && now_ns() < shared->end;
}

static void one_step(struct fuzz_thread *t)
{
	struct fuzz_thread *other = &threads[fuzz_below(t, t->kind->threads)];

	one_call(t);
	if (t->kind->churn)
		churn(t);
	/* A change of the mappings takes longer than all other calls on a slow kernel. */
	if (t->kind->words || !fuzz_percent(t, DISTURB))
		return;
	fuzz_area_disturb(t, &other->structs);
	fuzz_area_disturb(t, &other->arrays);
}

static void *run_thread(void *data)
{
	struct fuzz_thread *t = data;
	int i, calls = t->kind->users ? CALLS_OF_USER : CALLS;

	fuzz_fault_open(t);
	for (i = 0; i < calls && fuzz_may_go_on(t->shared); i++)
		one_step(t);
	__atomic_fetch_sub(&running, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

static void start_threads(struct fuzz_shared *shared, const struct fuzz_kind *kind, __u64 seed)
{
	unsigned int i;

	running = kind->threads;
	for (i = 0; i < kind->threads; i++) {
		threads[i] = (struct fuzz_thread){
			.shared = shared,
			.kind = kind,
			.random = (seed + i) * 0x9e3779b97f4a7c15ULL | 1,
			.number = i,
		};
		fuzz_areas_make(&threads[i]);
	}
	/*
	 * Start the threads after all areas exist, because a thread disturbs the memory of the
	 * others.
	 */
	for (i = 0; i < kind->threads; i++)
		if (pthread_create(&thread_ids[i], NULL, run_thread, &threads[i]))
			abort();
}

static void on_signal(int number)
{
	(void)number;
}

/* Send signals, which end calls that wait, and interrupt long calls. */
static void disturb_threads(const struct fuzz_kind *kind, __u64 seed)
{
	unsigned int i = 0;
	unsigned int last = kind->killed ? seed % 100 : ~0U;

	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
		poll(NULL, 0, SIGNAL_EVERY_MS);
		if (!kind->faults)
			pthread_kill(thread_ids[i % kind->threads], SIGUSR1);
		if (i++ == last)
			_exit(0);
	}
	for (i = 0; i < kind->threads; i++)
		pthread_join(thread_ids[i], NULL);
}

/* Drain a session, and check that no timer is left. */

static void drain_session(struct fuzz_shared *shared, int fd)
{
	struct twheel_entry entries[64];
	struct twheel_list drain = {
		.entries = (unsigned long)entries,
		.count = ARRAY_SIZE(entries),
		.entry_size = sizeof(entries[0]),
		.flags = TWHEEL_LIST_DRAIN,
	};
	int got;

	do {
		got = ioctl(fd, TWHEEL_IOC_LIST, &drain);
		/* EBADF: the session was opened only for reading, so nothing was started in it. */
		if (got < 0 && errno != EBADF)
			fuzz_fail(shared, "drain at the end: %s", strerror(errno));
	} while (got > 0);
}

/* Drain a session, which leaves it empty. */
void fuzz_settle(struct fuzz_shared *shared, int fd)
{
	struct twheel_stats stats;

	drain_session(shared, fd);
	if (ioctl(fd, TWHEEL_IOC_STATS, &stats))
		fuzz_fail(shared, "stats at the end: %s", strerror(errno));
	check_stats(shared, &stats);
	if (stats.pending || stats.unread)
		fuzz_fail(shared, "at the end: pending %llu, unread %llu", stats.pending,
			  stats.unread);
}

static int open_session(struct fuzz_shared *shared, const struct fuzz_kind *kind)
{
	struct twheel_setup setup = { .shared_ids = WORDS };
	int fd = fuzz_open(shared, kind, O_RDWR);
	struct twheel_info info;

	/* other processes of the same user may have reached the user's limit */
	if (fd < 0 && errno == ENOSPC && kind->users)
		_exit(0);
	if (fd < 0 || ioctl(fd, TWHEEL_IOC_INFO, &info))
		fuzz_fail(shared, "open: %s", strerror(errno));
	shared->no_words = !(info.features & TWHEEL_FEATURE_SHARED);
	if (kind->words && !shared->no_words && ioctl(fd, TWHEEL_IOC_SETUP, &setup))
		fuzz_fail(shared, "open: %s", strerror(errno));
	return fd;
}

/* Run a round in a process of its own, and exit. */
void fuzz_round(struct fuzz_shared *shared, const struct fuzz_kind *kind, __u64 seed)
{
	struct sigaction action = { .sa_handler = on_signal };
	unsigned int i;

	sigaction(SIGUSR1, &action, NULL);
	if (kind->users)
		fuzz_become(shared, seed);
	for (i = 0; i < SESSIONS; i++)
		sessions[i] = open_session(shared, kind);
	start_threads(shared, kind, seed);
	disturb_threads(kind, seed);
	for (i = 0; i < SESSIONS; i++)
		fuzz_settle(shared, sessions[i]);
	_exit(shared->failed);
}
