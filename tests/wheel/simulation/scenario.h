/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens in the run of a seed: declarations for the simulations of the core and of sessions
 */
#ifndef _SCENARIO_H
#define _SCENARIO_H

#include <linux/twheel.h>

/* The progress of a seed's run, and the choices that hold for the whole run */
struct scenario {
	bool ready;			/* the first task set up all that is shared */
	int busy;			/* number of tasks that have not ended */
	int ops_left;			/* number of operations left for all tasks together */
	struct twheel_config config;	/* the default wheel */
	bool prepared;			/* all CPUs have slots of the wheel from the beginning */
	u32 far;			/* longest of the usual delays, ticks */
};

extern struct scenario scenario;

/* main.c */
u64 scenario_ticks(u64 nr);
u64 scenario_delay(void);
void scenario_hotplug(void);

/*
 * Functions that both programs have, in scenario.c or session_scenario.c. At the
 * beginning of a seed scenario_choose() makes the choices that hold for the whole seed.
 * Then the first task begins and ends the seed, and all tasks do operations.
 */
void scenario_choose(void);
void scenario_begin(void);
void scenario_op(unsigned int user);
void scenario_end(void);

/* part_wheel.c and part_throttle.c */
unsigned long sim_drain(struct twheel *wheel, void (*fn)(struct twheel_timer *timer, void *arg));
void sim_reset_wheel(void);
void sim_reset_throttle(void);

#endif /* _SCENARIO_H */
