// SPDX-License-Identifier: GPL-2.0
/*
 * simulation [seed=N] [seeds=N] [ops=N] [weak=1] [verbose=1]: run seeds. This file is common to
 * the programs of the core and of sessions
 *
 * Stops at the first seed that fails, with status 1. The same seed, ops and weak always make
 * the same run. With weak=1, lockless reads may find older values, see weak.c.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "sim.h"
#include "oracle.h"
#include "scenario.h"
#include "core/wheel.h"
#include "twheel_info.h"

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

u64 scenario_ticks(u64 nr)
{
	return nr * scenario.config.tick_ns;
}

u64 scenario_delay(void)
{
	switch (sim_below(16)) {
	case 0:
		return 0;
	case 1:
		return sim_random() >> (1 + sim_below(63));
	case 2:
		return scenario_ticks(sim_below(70000));
	case 3:
		return scenario_ticks(sim_below(600));
	case 4 ... 6:
		return scenario_ticks(sim_below(scenario.far));
	default:
		return sim_below(scenario_ticks(3));
	}
}

void scenario_hotplug(void)
{
	unsigned int cpu = sim_below(SIM_CPUS);
	bool short_before = sim_memory_short;

	if (sim_chance(2)) {
		sim_cpu_up(cpu);
		return;
	}
	sim_memory_short = true;
	sim_cpu_down(cpu);
	sim_memory_short = short_before;
}

/* Choose a wheel, most often a hierarchical one. */
static void choose_wheel(void)
{
	static const u64 lengths[] = { 50000, 100000, 1000000, 4000000, 999983 };
	static const unsigned int dozes[] = { 0, 2, 8 };
	struct twheel_config *config = &scenario.config;

	config->scheme = sim_chance(4) ? 1 + sim_below(TWHEEL_NR_SCHEMES - 1) : TWHEEL_HIER;
	config->mode = sim_chance(2) ? TWHEEL_TICKLESS : TWHEEL_PERIODIC;
	config->clock = sim.behind ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
	config->tick_ns = lengths[sim_below(ARRAY_SIZE(lengths))];
	if (config->mode == TWHEEL_PERIODIC)
		config->doze = dozes[sim_below(ARRAY_SIZE(dozes))];
	if (!twheel_scheme_info(config->scheme)->slots)
		config->slots = 2 << sim_below(10);
	/*
	 * With weak memory, a CPU without slots may keep the base of a CPU that has gone. That is
	 * rare, so in some seeds more CPUs go, and fewer CPUs have slots.
	 */
	sim_cpus_go = sim_weak && sim_chance(3);
	scenario.prepared = !sim_cpus_go && sim_below(3);
	scenario.far = 2 + sim_below(sim_chance(2) ? 20 : 300);
}

static void make_wheel(void)
{
	const struct twheel_config *config = &scenario.config;
	unsigned int cpu;

	sim_reset_wheel();
	sim_reset_throttle();
	if (twheel_wheel_init(config->tick_ns) || twheel_wheel_create_default(config))
		sim_fail("no wheel");
	for (cpu = 0; scenario.prepared && cpu < SIM_CPUS; cpu++)
		twheel_prepare_cpu(twheel_default(), cpu);
	sim_note("a %s %s wheel, tick %llu, slots %u, doze %u%s",
		 twheel_wheel_mode_name(config->mode), twheel_scheme_info(config->scheme)->name,
		 config->tick_ns, config->slots, config->doze,
		 scenario.prepared ? ", prepared" : "");
}

static void pause(void)
{
	u32 below = sim_below(8);

	if (below == 7)
		sim_sleep(scenario_ticks(sim_below(scenario.far)));
	else if (below >= 4)
		sim_sleep(sim_below(scenario_ticks(2)));
}

static void user(struct sim_task *task)
{
	unsigned int nr = task->nr - SIM_FIRST_USER;

	if (nr) {
		sim_wait(&scenario.ready);
	} else {
		oracle_begin();
		make_wheel();
		scenario_begin();
		scenario.ready = true;
	}
	while (scenario.ops_left > 0) {
		scenario.ops_left--;
		scenario_op(nr);
		pause();
	}
	scenario.busy--;
	if (!nr)
		scenario_end();
}

static void run_seed(u64 seed)
{
	sim_options.seed = seed;
	sim_begin(seed);
	scenario = (struct scenario){ .busy = SIM_USERS, .ops_left = sim_options.ops };
	choose_wheel();
	scenario_choose();
	sim_run_tasks(user);
}

/* Limit of the CPU time of a seed, which takes milliseconds. A busy machine does not use it up. */
static const struct itimerval seed_limit = { .it_value.tv_sec = 60 };

static void crash(int signal)
{
	sim_fail(signal == SIGVTALRM ? "stuck: a loop without decisions" : "a wild pointer");
}

/* Handle crashes on a separate stack, because a task may crash when its own stack overflows. */
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
	u64 last = seed + seeds;

	sim_options.ops = argument(argc, argv, "ops", 100);
	sim_weak = argument(argc, argv, "weak", 0);
	sim_verbose = argument(argc, argv, "verbose", 0);
	catch_crashes();
	for (; seed < last; seed++) {
		setitimer(ITIMER_VIRTUAL, &seed_limit, NULL);
		run_seed(seed);
	}
	printf("# %llu seeds\n", seeds);
	return 0;
}
