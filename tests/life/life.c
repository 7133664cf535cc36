// SPDX-License-Identifier: GPL-2.0
/* Run one life: open its sessions, run its threads, and record a failure */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "life.h"

struct life *life;
__thread struct task self = { .nth = -1 };

/* Make a new lock, because a life that failed may have left the old one locked. */
static void make_lock(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&life->lock, &attr);
}

void life_begin(void)
{
	size_t size = sizeof(*life) + STARTS * sizeof(struct oracle_start);

	life = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (life == MAP_FAILED)
		abort();
	oracle = &life->records;
}

void life_lock(void)
{
	pthread_mutex_lock(&life->lock);
}

void life_unlock(void)
{
	pthread_mutex_unlock(&life->lock);
}

/* Print a call, so that the calls of a life read like a program. */
void life_note(const char *fmt, ...)
{
	va_list args;

	if (!life->notes)
		return;
	printf("#   ");
	if (self.plan && self.plan->kind->threads > 1)
		printf("thread %u: ", self.nr);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

/* Record the first failure, and end the process. */
void oracle_fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!__atomic_exchange_n(&life->failed, true, __ATOMIC_ACQ_REL))
		vsnprintf(life->text, sizeof(life->text), fmt, args);
	va_end(args);
	fflush(stdout);
	if (life->fuzzes) {
		fprintf(stderr, "%s\n", life->text);
		abort();
	}
	_exit(1);
}

u64 oracle_now(void)
{
	return host_time();
}

s64 oracle_offset(void)
{
	return 0;
}

/* Sessions */

static u64 limit(const char *name)
{
	char path[96], text[24] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/twheel/parameters/%s", name);
	file = fopen(path, "r");
	if (!file || !fgets(text, sizeof(text), file))
		oracle_fail("no parameter %s", name);
	fclose(file);
	return strtoull(text, NULL, 0);
}

/*
 * Open a session. Returns false if that is refused for a good reason: a limit is reached, memory
 * was refused, the user may not set a field of SETUP, or the machine has no words. Fails if it is
 * refused for another reason.
 */
bool life_open(struct twheel **t, const struct twheel_setup *setup)
{
	bool private = setup && setup->flags & TWHEEL_SETUP_PRIVATE;
	unsigned int refused = oracle_refusals();
	int ret = twheel_open(t, setup);

	if (!ret) {
		life_lock();
		life->sessions_open++;
		life->private_open += private;
		life_unlock();
		return true;
	}
	if (ret == -ENOMEM && oracle_refusals() != refused)
		return false;
	/* There are no words on machines of 32 bits. */
	if (ret == -EOPNOTSUPP && setup && setup->shared_ids)
		return false;
	if (self.plan->kind->users) {
		if (ret == -EPERM && private)
			return false;
		if (ret == -ENOSPC && (life->sessions_open >= limit("max_user_sessions") ||
				       (private && life->private_open >= limit("max_user_wheels"))))
			return false;
	}
	oracle_fail("a session cannot be opened: %d, with %u open, %u of them with a wheel", ret,
		    life->sessions_open, life->private_open);
}

void life_close(struct twheel *t, bool private)
{
	twheel_close(t);
	life_lock();
	life->sessions_open--;
	life->private_open -= private;
	life_unlock();
}

static void open_session(struct session *s, const struct twheel_setup *setup)
{
	static const u32 begins[] = { 0, 43, 23040 };
	struct twheel_info info;
	u32 task, i;

	memset(s, 0, sizeof(*s));
	if (!life_open(&s->t, setup)) {
		setup = NULL;
		if (!life_open(&s->t, NULL))
			oracle_fail("the life has no session");
	}
	if (twheel_info(s->t, &info) ||
	    (setup && setup->tick_ns && info.tick_ns != setup->tick_ns))
		oracle_fail("INFO of a new session");
	s->tick_ns = info.tick_ns;
	s->os.nr = s - life->sessions;
	s->os.max_timers = info.max_timers;
	s->os.shared_ids = info.shared_ids;
	s->os.changeable = true;
	for (task = 0; task < ORACLE_TASKS; task++)
		for (i = 0; i < ORACLE_OWN; i++)
			s->os.ids[task][i].id = i < 3 ? begins[i] + task : TWHEEL_ID_ANY;
}

/* Threads */

static pthread_t threads[THREADS];
static unsigned int running;

static void *run_thread(void *data)
{
	const struct plan *plan = data;
	unsigned int i;

	for (i = 0; i < plan->nr; i++)
		if (plan->steps[i].thread == self.nr && !plan->steps[i].part)
			call_step(&plan->steps[i], plan->nr - i - 1);
	return NULL;
}

struct beginning {
	const struct plan *plan;
	unsigned int nr;
};

static void *begin_thread(void *data)
{
	struct beginning *b = data;

	self = (struct task){ .nr = b->nr, .plan = b->plan, .nth = -1 };
	run_thread((void *)b->plan);
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void on_signal(int nr)
{
	(void)nr;
}

/* Run the threads of a plan in parallel, and interrupt their calls with signals. */
static void run_threads(const struct plan *plan)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct beginning begin[THREADS];
	unsigned int i;

	sigaction(SIGUSR1, &action, NULL);
	running = plan->kind->threads;
	for (i = 0; i < plan->kind->threads; i++) {
		begin[i] = (struct beginning){ plan, i };
		if (pthread_create(&threads[i], NULL, begin_thread, &begin[i]))
			abort();
	}
	for (i = 0; __atomic_load_n(&running, __ATOMIC_ACQUIRE); i++) {
		usleep(2000);
		pthread_kill(threads[i % plan->kind->threads], SIGUSR1);
	}
	for (i = 0; i < plan->kind->threads; i++)
		pthread_join(threads[i], NULL);
}

/* Turns */

static unsigned int next;	/* index of the first step that was not taken yet */

/* Take the next steps of thread 1. */
static void run_other(void)
{
	const struct plan *plan = self.plan;
	unsigned int i;

	self.nr = 1;
	self.disturbed = true;
	while (next < plan->nr && (plan->steps[next].thread || plan->steps[next].part)) {
		i = next++;
		if (!plan->steps[i].part)
			call_step(&plan->steps[i], plan->nr - i - 1);
	}
	self.nr = 0;
}

/*
 * Take the steps of both threads in one thread. Just before a step of thread 0 locks a session for
 * the @turn-th time, take the steps of thread 1 that follow it in the plan. If the step locks a
 * session less often, take the steps of thread 1 after it.
 */
static void run_turns(const struct plan *plan)
{
	unsigned int i;

	for (next = 0; next < plan->nr;) {
		run_other();
		if (next == plan->nr)
			break;
		i = next++;
		while (next < plan->nr && plan->steps[next].part)
			next++;
		self.disturbed = false;
		host_interrupt(plan->steps[i].turn, run_other);
		call_step(&plan->steps[i], plan->nr - i - 1);
		host_interrupt(0, NULL);
	}
	self.disturbed = false;
}

void life_run(const struct plan *plan)
{
	unsigned int i;

	self.plan = plan;
	self.nr = 0;
	make_lock();
	host_begin();
	memset(&life->records, 0, sizeof(life->records));
	memset(life->read_at, 0, sizeof(life->read_at));
	oracle->max_starts = STARTS;
	life->lives++;
	for (i = 0; i < SESSIONS; i++)
		open_session(&life->sessions[i], &plan->setups[i]);
	if (plan->kind->turns)
		run_turns(plan);
	else if (plan->kind->threads > 1)
		run_threads(plan);
	else
		run_thread((void *)plan);
	for (i = 0; i < SESSIONS; i++)
		call_settle(&life->sessions[i]);
	oracle_check_ids();
	for (i = 0; i < SESSIONS; i++)
		life_close(life->sessions[i].t, plan->setups[i].flags);
}
