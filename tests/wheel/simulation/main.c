// SPDX-License-Identifier: GPL-2.0
/*
 * simulation [seed=N] [seeds=N] [ops=N] [without=SET] [weak=1] [verbose=1]: run
 * seeds
 *
 * Stops at the first seed that fails, with status 1. A seed is the same run again,
 * if @ops, @without and @weak are the same. With @weak memory is weak, see weak.c.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "sim.h"
#include "scenario.h"

static u64 argument(int argc, char **argv, const char *name, u64 value)
{
	size_t len = strlen(name);
	int i;

	for (i = 1; i < argc; i++)
		if (!strncmp(argv[i], name, len) && argv[i][len] == '=')
			value = strtoull(argv[i] + len + 1, NULL, 0);
	return value;
}

struct scenario scenario;

void scenario_pause(u64 tick_ns, u32 far)
{
	u32 below = sim_below(8);

	if (below < 4)
		return;
	if (below < 7)
		sim_sleep(sim_below(2 * tick_ns));
	else
		sim_sleep(tick_ns * sim_below(far));
}

static void user(struct sim_task *task)
{
	unsigned int nr = task->nr - 3 * SIM_CPUS;

	if (nr) {
		sim_wait(&scenario.ready);
	} else {
		scenario_begin();
		scenario.ready = true;
	}
	while (scenario.ops_left > 0) {
		scenario.ops_left--;
		scenario.ops_done++;
		scenario_op(nr);
	}
	scenario.busy--;
	if (!nr)
		scenario_end();
}

/* Returns the number of operations. */
static u64 run_seed(u64 seed)
{
	unsigned int without = sim_options.without;

	sim_options.seed = seed;
	sim_begin(seed);
	scenario = (struct scenario){
		.busy = SIM_USERS,
		.ops_left = sim_options.ops,
	};
	scenario_choose();
	sim_run_tasks(user);
	sim_options.without = without;
	return scenario.ops_done;
}

/* CPU time, so that a slow machine has as much. A seed takes milliseconds. */
static const struct itimerval seed_limit = { .it_value.tv_sec = 60 };

static void crash(int signal)
{
	sim_fail(signal == SIGVTALRM ? "stuck: a loop without decisions" : "a wild pointer");
}

/* A task may have crashed because it had no stack left. */
static void catch_crashes(void)
{
	static char stack[64 * 1024];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = crash, .sa_flags = SA_ONSTACK };

	sigaltstack(&alt, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	sigaction(SIGABRT, &action, NULL);
	sigaction(SIGVTALRM, &action, NULL);
}

int main(int argc, char **argv)
{
	u64 seed = argument(argc, argv, "seed", 1);
	u64 seeds = argument(argc, argv, "seeds", 1);
	u64 ops = 0, last = seed + seeds;

	sim_options.ops = argument(argc, argv, "ops", 100);
	sim_options.without = argument(argc, argv, "without", 0);
	sim_weak = argument(argc, argv, "weak", 0);
	sim_verbose = argument(argc, argv, "verbose", 0);
	catch_crashes();
	for (; seed < last; seed++) {
		setitimer(ITIMER_VIRTUAL, &seed_limit, NULL);
		ops += run_seed(seed);
	}
	printf("# %llu seeds, %llu operations\n", seeds, ops);
	return 0;
}
