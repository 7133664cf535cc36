// SPDX-License-Identifier: GPL-2.0
/*
 * How many system calls an operation takes
 *
 * The calls are really counted. A child does the operations, and a parent
 * traces it and counts its system calls between two marks. A mark is a
 * getppid() with two arguments, which getppid() ignores.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define TIMERS		BATCH_MAX
#define MARK		0x7e11
#define EXPIRE		NR_OPERATIONS
#define PHASES_MAX	64

/* The child's work between two marks. */
struct phase {
	unsigned int op;
	unsigned int batch;
	unsigned int nr;
};

static struct phase phases[PHASES_MAX];
static unsigned int nr_phases;

static void add_phase(unsigned int op, unsigned int batch, unsigned int nr)
{
	phases[nr_phases++] = (struct phase) { op, batch, nr };
}

static void plan(const struct impl *impl)
{
	const unsigned int *batch = impl->batches ?: one_by_one;
	unsigned int op;

	if (!impl->created_armed)
		add_phase(CREATE, 1, TIMERS);
	for (; *batch; batch++)
		for (op = REFRESH; op <= NR_OPERATIONS; op++)
			add_phase(op == NR_OPERATIONS ? ARM : op, *batch,
				  *batch > SAMPLE ? *batch : SAMPLE);
	for (batch = impl->reads; *batch; batch++)
		add_phase(EXPIRE, *batch, EXTRA);
}

/* The child. */

static void mark(unsigned int phase)
{
	syscall(SYS_getppid, MARK, phase);
}

static struct request requests[BATCH_MAX];

static void pick_requests(unsigned int first, uint64_t delay_ns)
{
	unsigned int i;

	for (i = 0; i < BATCH_MAX; i++) {
		requests[i].id = first + i;
		requests[i].delay_ns = delay_ns + random64() % (10 * MS);
	}
}

static void expire_phase(struct bench *b, unsigned int phase)
{
	struct timespec second = { 1, 0 };
	unsigned int batch = b->impl->batches ? SAMPLE : 1;

	pick_requests(b->timers, SECOND / 2);
	b->impl->prepare(ARM, requests, EXTRA, batch);
	b->impl->run(ARM, EXTRA, batch);
	while (nanosleep(&second, &second))
		;
	mark(phase);
	b->impl->collect(EXTRA, phases[phase].batch);
	mark(phase);
}

static void operation_phase(struct bench *b, unsigned int phase)
{
	const struct phase *p = &phases[phase];

	pick_requests(0, 1000 * SECOND);
	b->impl->prepare(p->op, requests, p->nr, p->batch);
	mark(phase);
	b->impl->run(p->op, p->nr, p->batch);
	mark(phase);
}

static void arm_all(struct bench *b)
{
	unsigned int batch = b->impl->batches ? SAMPLE : 1;

	pick_requests(0, 1000 * SECOND);
	b->impl->prepare(ARM, requests, TIMERS, batch);
	b->impl->run(ARM, TIMERS, batch);
}

static void create_phase(struct bench *b, unsigned int phase)
{
	mark(phase);
	if (b->impl->create(0, TIMERS) < TIMERS)
		fail("create");
	mark(phase);
	if (b->impl->create(TIMERS, EXTRA) < EXTRA)
		fail("create");
}

static void child(struct bench *b)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	unsigned int i = 0;

	if (setrlimit(RLIMIT_SIGPENDING, &all))
		fail("setrlimit");
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	b->impl->open(TIMERS);
	if (!b->impl->created_armed)
		create_phase(b, i++);
	arm_all(b);
	for (; i < nr_phases; i++) {
		if (phases[i].op == EXPIRE)
			expire_phase(b, i);
		else
			operation_phase(b, i);
	}
	_exit(0);
}

/* The parent. */

static void report(struct bench *b, const struct phase *p, unsigned long calls)
{
	const char *name = p->op == EXPIRE ? "expire" : operation_names[p->op];

	row(b, "syscalls", name, p->batch, "calls", (double)calls / p->nr);
}

/* Returns the phase that a mark names, or -1 if the call is no mark. */
static int marked(const struct __ptrace_syscall_info *info)
{
	if (info->entry.nr != SYS_getppid || info->entry.args[0] != MARK)
		return -1;
	return info->entry.args[1];
}

static void count(struct bench *b, const struct __ptrace_syscall_info *info)
{
	static unsigned long calls;
	static int now = -1;
	int phase = marked(info);

	if (phase < 0) {
		calls++;
	} else if (now < 0) {
		now = phase;
		calls = 0;
	} else {
		report(b, &phases[now], calls);
		now = -1;
	}
}

static void follow(struct bench *b, pid_t pid)
{
	struct __ptrace_syscall_info info;
	int status, signal = 0;

	for (;;) {
		ptrace(PTRACE_SYSCALL, pid, 0, signal);
		if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
			break;
		signal = WSTOPSIG(status);
		if (signal != (SIGTRAP | 0x80))
			continue;
		signal = 0;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY)
			count(b, &info);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "bench: the traced child failed\n");
		exit(1);
	}
}

void count_syscalls(struct bench *b)
{
	pid_t pid;

	b->timers = TIMERS;
	plan(b->impl);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid)
		child(b);
	if (waitpid(pid, NULL, 0) < 0 ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		fail("ptrace");
	follow(b, pid);
}
