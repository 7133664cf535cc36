/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the shims need of the simulation
 *
 * A point is where another CPU or an interrupt may come between. Most points
 * only move the clock.
 */
#ifndef _SIM_LINUX_SIM_H
#define _SIM_LINUX_SIM_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_CPUS	3

struct sim_task;

/**
 * struct sim_clock - how many stores of each CPU are known
 * @nr: by CPU. See weak.c
 */
struct sim_clock {
	uint32_t nr[SIM_CPUS];
};

enum sim_order {
	SIM_ONCE,
	SIM_ACQUIRE,
	SIM_RELEASE,
	SIM_FULL,
};

/**
 * struct sim_run - the state that is looked at most often
 * @now: the time on the clock of the wheels, ns
 * @behind: what CLOCK_MONOTONIC is behind that. 0 if the wheels are on that
 * @woke: when the system was resumed last, on CLOCK_MONOTONIC, ns
 * @next_event: when something is due on any CPU, ns
 * @left: points before the scheduler decides again
 * @step_ns: what a point takes
 * @cpu: number of the CPU that runs
 */
struct sim_run {
	uint64_t now;
	uint64_t behind;
	uint64_t woke;
	uint64_t next_event;
	int left;
	unsigned int step_ns;
	unsigned int cpu;
};

extern struct sim_run sim;

/* Lockless reads may find older values. */
extern bool sim_weak;

void sim_decide(void);
void sim_relax(void);
void sim_fail(const char *fmt, ...)
	__attribute__((__format__(printf, 1, 2), __noreturn__));

/* weak.c, called in that mode only */
const volatile void *sim_weak_load(const volatile void *address, uint32_t size,
				   uint32_t pointee, enum sim_order how);
void sim_weak_store(volatile void *address, const void *value, uint32_t size,
		    enum sim_order how);
void sim_weak_atomic(volatile void *address, uint32_t size, enum sim_order how);
void sim_weak_changed(volatile void *address, uint32_t size, enum sim_order how);
void sim_weak_mb(void);
void sim_weak_rmb(void);
void sim_weak_wmb(void);

static inline void sim_point(void)
{
	sim.now += sim.step_ns;
	if (--sim.left <= 0 || sim.now >= sim.next_event)
		sim_decide();
}

#endif /* _SIM_LINUX_SIM_H */
